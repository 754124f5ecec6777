"""V20: the page made again from report.json is the signed one, byte for byte up to the signature.

The caller renders (this room never draws) and hands in the bytes with the versions it used. Other versions of
renderer or fonts prove nothing either way: the check is then not performed, with both lists.

Source: docs/spec/verification.md (V20).
"""

from __future__ import annotations

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import SlaverifyError, Text
from slaverify.verify.checks import PASSED, Part, failed, refused, skipped
from slaverify.verify.material import Material
from slaverify.verify.trees import MalformedError, obj

_ASK = Text("agregue --rerender", "add --rerender")


def rerender_parts(material: Material) -> list[Part]:
    """Return the parts of V20."""
    again, pdf = material.request.rerendered, material.request.pdf
    if pdf is None:
        return [skipped(Text("no se dio el PDF", "no PDF was given"), Text("agregue el PDF", "add the PDF"))]
    if again is None:
        return [skipped(Text("no se pidió generar la página de nuevo", "the page was not made again"), _ASK)]
    if isinstance(again, SlaverifyError):
        why = refused(again).reason
        return [skipped(Text(f"no se pudo generar: {why.es}", f"it could not be made: {why.en}"), again.fix)]
    if material.report is None:
        return [failed(Text("report.json no se puede leer", "report.json cannot be read"))]
    try:
        stated = obj(material.report, "render")
    except MalformedError as error:
        return [failed(Text(f"report.json: {error}", f"report.json: {error}"))]
    if dict(stated) != dict(again.versions):
        return [_other_versions(stated, again.versions)]
    if not again.unsigned or not pdf.startswith(again.unsigned):
        at = _first_difference(pdf, again.unsigned)
        return [
            failed(
                Text(
                    f"la página firmada no es la que sale de report.json (byte {at})",
                    f"the signed page is not the one that report.json makes (byte {at})",
                )
            )
        ]
    return [PASSED]


def _other_versions(stated: JsonObject, found: JsonObject) -> Part:
    names = sorted(name for name in {*stated, *found} if stated.get(name) != found.get(name))
    theirs = ", ".join(f"{name} {_word(stated.get(name))}" for name in names)
    ours = ", ".join(f"{name} {_word(found.get(name))}" for name in names)
    return skipped(
        Text(
            f"otras versiones; el informe: {theirs}; aquí: {ours}",
            f"other versions; the report: {theirs}; here: {ours}",
        ),
        Text("genere con las versiones del informe", "make it with the versions of the report"),
    )


def _word(value: JsonValue) -> str:
    return "–" if value is None else str(value)[:80]


def _first_difference(one: bytes, other: bytes) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
