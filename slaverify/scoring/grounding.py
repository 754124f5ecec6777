"""What the citations of an answer come to: grounding, phantom citations, fabrications. Code alone, before any judge.

In this order: a hostile question whose target is cited as existing is a fabrication; a citation that the engine stands
by and that the catalogue lacks is a phantom; then grounding. Whether the text of an article carries a sentence is the
judge's question.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slaverify.evalset import Item
from slaverify.scoring.citations.cited import Citations, Cited
from slaverify.scoring.citations.grammar import NAME
from slaverify.scoring.citations.ids import CitationId, Fit, compare, parse_id
from slaverify.scoring.citations.lookup import Found
from slaverify.scoring.folding import fold
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness, Grounding, Verdict
from slaverify.scoring.result import RuleTrace, Span, Status

_QUOTED = re.compile(r'"([^"\n]{8,2000})"')
_WORDS = re.compile(r"\w+")
_LEAST_WORDS = 4
"""Words from which a quotation has to stand in the official text."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """What was found. `verdict` is set where citations alone decide it: a phantom or a fabrication."""

    grounding: Grounding
    verdict: Verdict | None
    flags: tuple[str, ...]
    trace: RuleTrace


def ground(item: Item, cited: Citations, text: str, *, has_field: bool) -> Grounded:
    """Return what `cited`, from the clean `text`, comes to; `has_field`: the contract maps a citation field."""
    flags = [*_retrieval(cited), *_oddities(item, cited, text, has_field=has_field)]
    target = _target(item)
    fabricated = [row for row in cited.rows if target is not None and _cites(row, target)]
    if fabricated:
        flags.append("fabrication_strict" if any(row.verified for row in fabricated) else "fabrication_wide")
        return _result(Grounding.MISGROUNDED, Verdict.FABRICATION, Reason.FABRICATION, cited, flags)
    if cited.phantoms:
        return _result(Grounding.MISGROUNDED, Verdict.PHANTOM_CITATION, Reason.PHANTOM_CITATION, cited, flags)
    grounding, reason = _grounding(item, cited)
    return _result(grounding, None, reason, cited, flags)


def _grounding(item: Item, cited: Citations) -> tuple[Grounding, Reason]:
    if not cited.expected:
        # where the right thing is to deny, nothing is to be cited; elsewhere only a judge can say
        nothing = Grounding.NOT_APPLICABLE if item.hostile else Grounding.UNDETERMINED
        return nothing, Reason.NO_CITATION_ASKED
    if cited.too_many:
        return Grounding.MISGROUNDED, Reason.TOO_MANY_CITED
    if cited.hit() is not None:
        return Grounding.GROUNDED, Reason.EXPECTED_CITED
    if cited.some():
        return Grounding.UNGROUNDED, Reason.SOME_CITED
    if cited.unsaid():
        return Grounding.UNDETERMINED, Reason.NORM_NOT_SAID
    if all(row.found in (Found.UNRESOLVABLE, Found.UNREAD) for row in cited.rows):
        return Grounding.UNGROUNDED, Reason.NOTHING_CITED
    return Grounding.MISGROUNDED, Reason.OTHER_CITED


def _target(item: Item) -> CitationId | None:
    return None if item.trap is None or not item.hostile else parse_id(item.trap.target)


def _cites(row: Cited, target: CitationId) -> bool:
    # a field that marks it as not verified, beside a text that denies it, cites nothing as existing
    if row.id is None or (row.in_field and row.verified is False and not row.affirmed):
        return False
    if row.in_field and not row.claimed and row.verified is None:
        return False
    level = "article" if target.parts else "norm"
    return any(compare(end, target, level) is Fit.EQUAL for end in (row.id, row.last) if end is not None)


def _retrieval(cited: Citations) -> list[str]:
    if not cited.expected:
        return []
    return [
        name
        for name, in_field in (("expected_in_field", True), ("expected_in_prose", False))
        if cited.hit(in_field=in_field) is not None
    ]


def _oddities(item: Item, cited: Citations, text: str, *, has_field: bool) -> list[str]:
    in_field = {str(row.id) for row in cited.rows if row.in_field}
    prose = {str(row.id) for row in cited.rows if not row.in_field and row.id is not None}
    found = {
        "undeclared_citation": has_field and bool(prose - in_field),
        "citation_cap": cited.too_many,
        "temporal_violation": any(row.claimed and row.found is Found.NOT_IN_FORCE for row in cited.rows),
        "fabricated_quote": _misquotes(item, text),
    }
    return [name for name, holds in found.items() if holds]


def _misquotes(item: Item, text: str) -> bool:
    """Tell whether the answer quotes, in four words or more, what neither the official text nor the question says."""
    if item.official_text is None:
        return False
    sources = " ".join(_WORDS.findall(fold(item.official_text))), " ".join(_WORDS.findall(fold(item.query_text())))
    for match in _QUOTED.finditer(fold(text)):
        for piece in re.split(r"\[?(?:\.\.\.|…)\]?", match.group(1)):
            words = _WORDS.findall(piece)
            if len(words) >= _LEAST_WORDS and not any(f" {' '.join(words)} " in f" {one} " for one in sources):
                return True
    return False


_CORRECTNESS = {
    Grounding.GROUNDED: Correctness.CORRECT,
    Grounding.UNDETERMINED: Correctness.UNDETERMINED,
    Grounding.NOT_APPLICABLE: Correctness.UNDETERMINED,
}
_STATUS = {Grounding.UNDETERMINED: Status.UNDETERMINED, Grounding.NOT_APPLICABLE: Status.NOT_APPLICABLE}


def _result(
    grounding: Grounding, verdict: Verdict | None, reason: Reason, cited: Citations, flags: list[str]
) -> Grounded:
    spans = tuple(sorted({row.span for row in cited.rows if row.span is not None}))
    trace = RuleTrace(
        rule=NAME,
        status=_STATUS.get(grounding, Status.DECIDED),
        correctness=_CORRECTNESS.get(grounding, Correctness.INCORRECT),
        reason=reason,
        extracted="; ".join(row.text for row in cited.rows) or None,
        canonical_answer=", ".join(sorted({str(row.id) for row in cited.rows if row.id is not None})) or None,
        canonical_reference=", ".join(str(one.id) for one in cited.expected) or None,
        spans=tuple(Span(span.start, span.end) for span in spans),
        flags=tuple(flags),
    )
    return Grounded(grounding, verdict, tuple(flags), trace)
