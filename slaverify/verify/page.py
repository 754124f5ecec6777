"""V19, the page: what report.json prints is what the evidence makes, or at least the verdict that its data declare.

With a bundle the caller builds report.json again (this room never writes pages) and the bytes are compared. Without
one, page 1 must at least name the states of its own `decision`: sentences and other figures are then not compared.

Source: docs/spec/verification.md (V19, page and data).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import SlaverifyError, Text
from slaverify.verify.checks import Part, failed, noted, refused, skipped
from slaverify.verify.material import Material
from slaverify.verify.trees import obj, objects, text

_STATE = re.compile(r"(?:^|\.)(PASS|BREACH|INCONCLUSIVE|NOT_MEASURED|INVALID_RUN)(?:\.|$)")


def page_of_bundle(material: Material) -> Iterator[Part]:
    """Compare the attached report.json with the one that the bundle makes."""
    again = material.request.page_data
    attached = None if material.facts is None else material.facts.attachment("report.json")
    if attached is None:
        return
    if again is None:
        yield skipped(
            Text("report.json no se derivó del paquete", "report.json was not derived from the bundle"),
            Text("verifique con la orden «slaverify verify»", "verify with the command `slaverify verify`"),
            optional=True,
        )
    elif isinstance(again, SlaverifyError):
        yield refused(again, "report.json")
    elif again != attached:
        yield failed(
            Text(
                "lo que dice la página no sale del paquete: report.json es otro",
                "what the page says does not follow from the bundle: report.json is another",
            )
        )


def page_alone(report: JsonObject) -> Iterator[Part]:
    """Compare the states that page 1 names with the decision of the same report. Raises: MalformedError."""
    decision = obj(report, "decision")
    state = text(decision, "state")
    summary = next(section for section in objects(report, "sections") if section.get("id") == "summary")
    named: set[str] = set()
    for block in objects(summary, "blocks"):
        if block.get("id") == "metrics":
            yield from _table(block, decision)
        else:
            named |= set(_states(block))
    if named != {state}:
        yield failed(
            Text("la página 1 declara otro estado que sus datos", "page 1 declares another state than its data"),
            expected=state,
            found=", ".join(sorted(named)),
        )
    yield noted(
        Text(
            "sin el paquete, de la página solo se comparan los estados",
            "without the bundle only the states of the page are compared",
        )
    )


def _table(block: JsonObject, decision: JsonObject) -> Iterator[Part]:
    rows = block.get("rows")
    shown = [tuple(_states(row)) for row in rows] if isinstance(rows, list) else []
    due = [(text(row, "state"),) for row in objects(decision, "metrics") if row.get("binding") is True]
    if sorted(shown) != sorted(due):
        yield failed(
            Text(
                "la tabla de la página 1 no dice lo que sus datos", "the table of page 1 does not say what its data do"
            ),
            expected=str(due),
            found=str(shown),
        )


def _states(node: JsonValue) -> Iterator[str]:
    """Yield the states that a block names: the key of a message, or a field `state`."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            if key in ("key", "state") and isinstance(value, str):
                yield from _STATE.findall(value)
            else:
                yield from _states(value)
    elif isinstance(node, list | tuple):
        for member in node:
            yield from _states(member)
