"""The twenty checks of a verification: names, how one ends, and how the parts of one fold.

A part passed, failed, or was not performed and says why and how. One failure fails the check; a needed part that
was not performed leaves it open; a reader that broke is a failure of the part that it served. A check is never an
exception.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from slaverify.errors import NOTHING, SlaverifyError, Text

EXIT_EVIDENCE = 4
EXIT_PIN = 5
EXIT_OPEN = 3
MAX_NAMED = 12
"""Most places that one check names; the rest are counted."""
_MAX_SHOWN = 2_000


class Result(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_PERFORMED = "not_performed"


class Level(StrEnum):
    """What a claim rests on: anybody can derive it, the auditor signed it, or somebody said so."""

    RE_DERIVABLE = "re_derivable"
    ATTESTED = "attested"
    DECLARED = "declared"


class Outcome(StrEnum):
    """What a verification says as a whole."""

    VERIFIED = "VERIFIED"
    NOT_VERIFIED = "NOT_VERIFIED"
    INDETERMINATE = "INDETERMINATE"
    DEMO = "DEMO"


@dataclass(frozen=True, slots=True)
class Rule:
    """One of the twenty rules: identifier, title and what a pass rests on."""

    id: str
    title: Text
    level: Level = Level.RE_DERIVABLE


@dataclass(frozen=True, slots=True)
class Check:
    """How one rule ended. `exit_code` is what its failure costs, else null; `required`: the outcome needs it."""

    id: str
    title: Text
    result: Result
    required: bool
    level: Level
    reason: Text = NOTHING
    remedy: Text = NOTHING
    expected: str = ""
    found: str = ""
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a check. `expected` and `found` are printed when it failed; `exit_code` is what that costs.

    `optional`: not performing it leaves the check as the other parts say.
    """

    result: Result
    reason: Text = NOTHING
    remedy: Text = NOTHING
    expected: str = ""
    found: str = ""
    exit_code: int = EXIT_EVIDENCE
    optional: bool = False


PASSED = Part(Result.PASSED)


def noted(note: Text) -> Part:
    """Return a part that passed and has something to say."""
    return Part(Result.PASSED, note)


def failed(
    reason: Text, *, expected: str = "", found: str = "", exit_code: int = EXIT_EVIDENCE, remedy: Text = NOTHING
) -> Part:
    """Return a part that failed: what is wrong, what was expected and what was found."""
    return Part(Result.FAILED, reason, remedy, expected, found, exit_code)


def skipped(reason: Text, remedy: Text = NOTHING, *, optional: bool = False) -> Part:
    """Return a part that was not performed: why, and how to perform it."""
    return Part(Result.NOT_PERFORMED, reason, remedy, optional=optional)


def no_bundle(*, given: bool) -> Part:
    """Return the part of a check that needs the bundle: none was given, or its reader refused it (V17)."""
    if given:
        return skipped(Text("el paquete no se pudo leer (V17)", "the bundle could not be read (V17)"))
    remedy = Text("agregue --bundle con el paquete de evidencia", "add --bundle with the evidence bundle")
    return skipped(Text("no se dio el paquete", "no bundle was given"), remedy)


def refused(error: Exception, place: str = "", exit_code: int = EXIT_EVIDENCE) -> Part:
    """Return the failure that an exception of a reader means for the part that it served."""
    if isinstance(error, SlaverifyError):
        where = error.where or place
        detail = [sentence for sentence in (error.what, error.why) if sentence != NOTHING]
        es, en = "; ".join(one.es for one in detail), "; ".join(one.en for one in detail)
        prefix = f"{error.code}{f' {where}' if where else ''}: "
        return failed(Text(prefix + es, prefix + en), remedy=error.fix, exit_code=exit_code)
    at = f"{place}: " if place else ""
    name = f"{type(error).__name__}: {error}"[:200]
    return failed(Text(f"{at}ilegible ({name})", f"{at}unreadable ({name})"), exit_code=exit_code)


def fold(rule: str, parts: Sequence[Part], *, required: bool) -> Check:
    """Return the check of a rule, `V01` to `V20`, that its parts make.

    One failure fails it, one needed part not performed leaves it open. No part at all is not performed: an empty
    list never passes.
    """
    failures = [part for part in parts if part.result is Result.FAILED]
    open_parts = [part for part in parts if part.result is Result.NOT_PERFORMED]
    needed = [part for part in open_parts if not part.optional]
    if failures:
        # Another contract, key or bank (5) says something only where the evidence itself holds together.
        return _check(rule, Result.FAILED, failures, required, min(part.exit_code for part in failures))
    if needed or not parts or len(open_parts) == len(parts):
        return _check(rule, Result.NOT_PERFORMED, needed or open_parts, required, None)
    notes = [part for part in parts if part.result is Result.PASSED]
    return _check(rule, Result.PASSED, [*notes, *open_parts], required, None)


def outcome_of(checks: Iterable[Check], *, demo: bool) -> Outcome:
    """Return what the checks amount to. `demo`: keys or authority of the demonstration took part.

    1. one that failed, required or not: NOT_VERIFIED; 2. a required one not performed, or none at all: INDETERMINATE;
    3. demonstration keys: DEMO; 4. else VERIFIED. Source: docs/spec/verification.md.
    """
    known = list(checks)
    if any(check.result is Result.FAILED for check in known):
        return Outcome.NOT_VERIFIED
    if not known or any(check.required and check.result is not Result.PASSED for check in known):
        return Outcome.INDETERMINATE
    return Outcome.DEMO if demo else Outcome.VERIFIED


def exit_code_of(checks: Iterable[Check], *, demo: bool, allow_demo: bool = False) -> int:
    """Return the exit code: 0 verified, 4 or 5 by what failed (5 only if no 4), 3 open or demonstration."""
    known = list(checks)
    outcome = outcome_of(known, demo=demo)
    if outcome is Outcome.NOT_VERIFIED:
        return min(check.exit_code or EXIT_EVIDENCE for check in known if check.result is Result.FAILED)
    return 0 if outcome is Outcome.VERIFIED or (outcome is Outcome.DEMO and allow_demo) else EXIT_OPEN


def _check(rule: str, result: Result, parts: Sequence[Part], required: bool, exit_code: int | None) -> Check:
    return Check(
        id=rule,
        title=RULES[rule].title,
        result=result,
        required=required,
        level=RULES[rule].level,
        reason=_sentences([part.reason for part in parts]),
        remedy=_sentences([part.remedy for part in parts]),
        expected=_joined([part.expected for part in parts]),
        found=_joined([part.found for part in parts]),
        exit_code=exit_code,
    )


def _sentences(texts: Sequence[Text]) -> Text:
    kept = [one for one in dict.fromkeys(texts) if one != NOTHING]
    more = len(kept) - MAX_NAMED
    shown = kept[:MAX_NAMED]
    if more > 0:
        shown.append(Text(f"y {more} más", f"and {more} more"))
    return Text("; ".join(one.es for one in shown), "; ".join(one.en for one in shown))


def _joined(values: Sequence[str]) -> str:
    return "; ".join(value for value in values if value)[:_MAX_SHOWN]


_TITLES = (
    ("V01", "el archivo se lee sin ambigüedad y lleva una sola firma", "the file reads one way and has one signature"),
    ("V02", "firmó la clave pactada en el contrato", "the key agreed in the contract signed"),
    ("V03", "la firma es PAdES", "the signature is PAdES"),
    ("V04", "la firma certifica el documento y no permite cambios", "the signature certifies and permits no change"),
    ("V05", "la firma es válida, byte a byte", "the signature is valid, byte by byte"),
    ("V06", "nada cambió después de firmar", "nothing changed after signing"),
    ("V07", "el sello de tiempo es de una autoridad pactada", "the timestamp is by an agreed authority"),
    ("V08", "no hay sellos de documento ajenos", "no foreign document timestamps"),
    ("V09", "la última firma cubre el archivo entero", "the last signature covers the whole file"),
    ("V10", "el espacio de la firma no esconde nada", "the signature's gap hides nothing"),
    ("V11", "lo firmado adjunta report.json y manifest.json", "report.json and manifest.json are attached and signed"),
    ("V12", "identidad del informe", "identity of the report"),
    ("V13", "las fechas concuerdan", "the dates agree"),
    ("V14", "la clave era válida al firmar", "the key was valid when it signed"),
    ("V15", "el documento no contiene programas, capas ni acciones", "the document has no programs, layers or actions"),
    ("V16", "contrato, banco, método y corrida son los fijados", "contract, bank, method and run are the pinned ones"),
    ("V17", "el paquete de evidencia está íntegro", "the evidence bundle is intact"),
    ("V18", "el libro de custodia es coherente y está completo", "the custody ledger is coherent and complete"),
    ("V19", "el veredicto se recalcula y es el mismo", "the verdict is computed again and is the same"),
    ("V20", "la página se genera de nuevo y es la misma", "the page is made again and is the same"),
)
_ATTESTED = ("V13", "V14")

RULES: dict[str, Rule] = {
    id_: Rule(id_, Text(es, en), Level.ATTESTED if id_ in _ATTESTED else Level.RE_DERIVABLE) for id_, es, en in _TITLES
}
"""The rules in order, V01 to V20."""
