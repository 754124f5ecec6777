"""Several candidates, one slot: which of them is the answer, if any.

1 what a correction or an equals sign superseded and what is negated is no assertion. 2 Without an asserted value
that equals the reference the answer is wrong. 3 With one, every other asserted value has to be explained: one that
the question states itself, of another kind, is no rival. A list, a disjunction or a range around the right value
is `multiple_answers`; a rival of the same kind is a `contradiction`; three values or more are a dump. What is
left is undetermined, never correct. Source: docs/spec/scoring.md section 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from itertools import pairwise

from slaverify.scoring.asked import Asked
from slaverify.scoring.assertion import Assertion, alternative
from slaverify.scoring.passage import Passage
from slaverify.scoring.quantities import Quantity
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.result import Span
from slaverify.scoring.units import NAMES, exact_ratio

_SHORT = 20
"""Words of an answer that may hold an aside; a longer one states what it was not asked."""

DUMP = 3
"""Distinct values from which an answer is a list, whatever parts them."""


class Fit(Enum):
    """How one candidate compares with the reference."""

    EQUAL = auto()
    OTHER = auto()
    OPEN = auto()


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate with its comparison and the reason of it."""

    quantity: Quantity
    fit: Fit
    reason: Reason


@dataclass(frozen=True, slots=True)
class Finding:
    """What the candidates come to; `chosen` is the one that decided, `at` and `canonical` where it is no quantity."""

    correctness: Correctness
    reason: Reason
    chosen: Quantity | None
    flags: tuple[str, ...] = ()
    at: Span | None = None
    canonical: str | None = None


_JOINED = re.compile(
    r"[)%‰]?(?:\s[a-z]{1,20}){0,3}?[)%‰]?\s?(?:,|;|/|-|–|—|−|\n|•|\.\.+|\b(?:y/o|and/or|y|e|o|u|or|and|a|al|hasta|to|through)\b)\s?"
    r"(?:(?:de|los|las|el|la|unos|unas|bien|acaso|quizas?|tal\svez|incluso|entre|hasta|maybe|perhaps|even|o|or|y)\s){0,3}"
    r"(?:[-•*(]\s?)?(?:us\$|[$€])?\s?"
)
_ADDED = re.compile(
    r"\b(?:prorrog\w{1,8}|ampli\w{1,8}|renov\w{1,8}|extend\w{0,5}|extens\w{1,5}|renew\w{0,5}|adicional(?:es)?"
    r"|(?:por|en|con|mas|y)\sotr[oa]s?"
    r"|additional|another|further)\b"
)
_MORE = re.compile(
    r"\s(?:[a-z]{1,20}\s){0,2}(?:adicionales|adicional|mas|additional|more|de\s(?:prorroga|ampliacion|gracia)|of\sgrace)\b(?!\s(?:tard|que|o\s))"
)
_MORE_ASKED = re.compile(
    r"\b(?:adicional\w{0,2}|mas|otros?|otras?|gracia|prorrog\w{1,6}|additional|more|extra|grace)\b"
)
_FROM_TO = re.compile(
    r"\b(?:del?|desde\s(?:el|la)|from|articles|articulos)\s([0-9]{1,4})\s(?:al?|hasta\s(?:el|la)|to|through)\s([0-9]{1,4})\b"
)
_EITHER = re.compile(r"[)%]?(?:\s[a-z]{1,20}){0,4}\s(?:o|u|or|y/o|o\sbien|o\squizas)\s(?:[a-z]{1,12}\s){0,2}[(]?")
_SUBJECT = re.compile(
    r"(?:[.;,:]\s(?:y\s|and\s)?|\sy\s|\sand\s)(?:el|la|los|las|su|sus|the|its|a|an|un|una)\s([a-z]{3,20})"
)
_SUBJECTS = frozenset({"plazo", "termino", "respuesta", "total", "resultado", "term", "deadline", "answer", "period"})
_SAME = frozenset(
    {
        "habiles",
        "corridos",
        "naturales",
        "judiciales",
        "jornadas",
        "noches",
        "fechas",
        "maximos",
        "minimos",
        "totales",
        "otros",
    }
    | {
        "otras",
        "mas",
        "adicionales",
        "laborales",
        "utiles",
        "seguidos",
        "consecutivos",
        "completos",
        "calendarios",
        "veces",
    }
)
_ABOUT: dict[tuple[str, str], tuple[tuple[int, int], ...]] = {
    ("semana", "día"): ((5, 5), (6, 6), (7, 7)),
    ("mes", "día"): ((20, 23), (28, 31)),
    ("año", "día"): ((365, 366), (240, 260)),
    ("día", "hora"): ((8, 8), (24, 24)),
    ("año", "mes"): ((12, 12),),
    ("mes", "semana"): ((4, 5),),
    ("quincena", "día"): ((14, 15), (10, 11)),
    ("trimestre", "día"): ((90, 92),),
    ("semestre", "día"): ((180, 184),),
}
_RESULT = re.compile(
    r"(?:=|->|→|\b(?:es|son|da|dan|suman|resultan?|resultado|equivalen?|igual\sa|total|is|are|gives?|makes?|equals?|get))"
    r"(?:\s(?:de|a|un|una|el|la|total|igual|to|the|in)){0,3}:?\s?$"
)
_LIKENESS = (Reason.SIGN, Reason.SCALE, Reason.OTHER_DAY_KIND, Reason.OTHER_UNIT, Reason.AMBIGUOUS_SEPARATOR)


def resolve(
    passage: Passage, found: Sequence[Quantity], compare: Callable[[Quantity], tuple[Fit, Reason]], question: Asked
) -> Finding:
    """Return what `found`, which is not empty, comes to."""
    asserted = [Compared(quantity, *compare(quantity)) for quantity in found if quantity.asserted]
    if not asserted:
        return Finding(Correctness.INCORRECT, Reason.NEGATED, found[0])
    equal = [one for one in asserted if one.fit is Fit.EQUAL]
    if not equal:
        return _without_equal(asserted)
    rivals = [
        one
        for one in asserted
        if one.fit is not Fit.EQUAL
        and not _restated(one.quantity, equal, question)
        and not _operand(passage, one, equal, asserted, question)
    ]
    rivals = _unexplained(passage, rivals, equal, question)
    best = next((one for one in equal if _plain(one.quantity) and _unbound(one.quantity, question)), equal[0])
    if alternative(passage.folded, best.quantity.span):
        return Finding(Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, best.quantity)
    if rivals:
        return Finding(*_against(passage, equal, rivals, asserted, question), best.quantity)
    added = _added(passage, best.quantity, question)
    if not _plain(best.quantity) or not _unbound(best.quantity, question) or added:
        return Finding(Correctness.UNDETERMINED, Reason.QUALIFIED, best.quantity)
    flags = ("hedged",) if best.quantity.hedged else ()
    return Finding(Correctness.CORRECT, best.reason, best.quantity, flags)


def _added(passage: Passage, quantity: Quantity, question: Asked) -> bool:
    # "otros 15 días", "15 días de prórroga": what comes on top is the answer only to who asks for it
    if _ADDED.search(question.words) or _MORE_ASKED.search(question.words):
        return False
    before = passage.folded[max(quantity.span.start - 8, 0) : quantity.span.start]
    return _adds(passage, quantity) or re.search(r"\botr[oa]s?\s$", before) is not None


def _plain(quantity: Quantity) -> bool:
    return quantity.assertion is Assertion.ASSERTED and not quantity.qualified


def _without_equal(asserted: Sequence[Compared]) -> Finding:
    opens = [one for one in asserted if one.fit is Fit.OPEN]
    if opens:
        return Finding(Correctness.UNDETERMINED, opens[0].reason, opens[0].quantity)
    chosen = next((one for reason in _LIKENESS for one in asserted if one.reason is reason), asserted[0])
    return Finding(Correctness.INCORRECT, chosen.reason, chosen.quantity)


def _restated(quantity: Quantity, equal: Sequence[Compared], question: Asked) -> bool:
    if any(same_amount(quantity, one.quantity) for one in equal):
        return True  # 48 horas (2 días)
    kinds_differ = all(not _bare(one.quantity) and not _same_kind(quantity, one.quantity) for one in equal)
    return kinds_differ and question.states(quantity)


def _unbound(quantity: Quantity, question: Asked) -> bool:
    # "al menos 15 días" is the value only if the question asks for such a bound
    return quantity.bound is None or quantity.bound in question.bounds


def _elsewhere(passage: Passage, rival: Quantity, equal: Sequence[Compared], question: Asked) -> bool:
    # "15 días hábiles. La multa es de 3 UTM.": a number that counts what was not asked, beside one that counts it
    right = [one.quantity for one in equal if _as_asked(one.quantity, question)]
    between = [(passage.folded[slice(*_between(rival, one))], one) for one in right]
    if not right or any(_EITHER.fullmatch(text) for text, _ in between):
        return False
    if any(joined(passage.folded, *_between(rival, one)) and _may_be_same(rival, one) for _, one in between):
        return False
    if rival.unit is not None or rival.percent is not None:
        apart = _other_subject(passage, rival, question)
        return all(not _same_kind(rival, one) or _about(rival, one) or (apart and _units(rival, one)) for one in right)
    if rival.place is not None:
        return all(one.unit is None or NAMES.get(rival.place) != one.unit.unit for one in right)
    if _ordinals(passage, rival, right):
        return True
    other = rival.noun is not None and rival.noun.endswith("s") and rival.noun not in _SAME
    return other and rival.noun != question.noun and not _adds(passage, rival)


def _as_asked(quantity: Quantity, question: Asked) -> bool:
    if question.unit is not None:
        return quantity.unit is not None and quantity.unit.unit == question.unit
    if question.percent is not None:
        return quantity.percent is not None
    if question.noun is None and question.dimension is not None:
        return quantity.unit is not None and quantity.unit.unit.dimension == question.dimension
    return question.noun is not None and quantity.noun == question.noun


def _between(left: Quantity, right: Quantity) -> tuple[int, int]:
    first, last = sorted((left.span, right.span))
    return first.end, max(last.start, first.end)


def _about(rival: Quantity, right: Quantity) -> bool:
    # "15 días hábiles (3 semanas)"
    if rival.unit is None or right.unit is None or rival.value is None or right.value is None:
        return False
    rates = _ABOUT.get((rival.unit.unit.name, right.unit.unit.name), ())
    slack = Fraction(1, 8) if rival.bound == "near" else Fraction(0)
    return any(
        low * rival.value * (1 - slack) <= right.value <= high * rival.value * (1 + slack) for low, high in rates
    )


def _units(rival: Quantity, right: Quantity) -> bool:
    return rival.unit is not None and right.unit is not None and rival.unit.unit != right.unit.unit


def _other_subject(passage: Passage, rival: Quantity, question: Asked) -> bool:
    # "15 días hábiles, la audiencia dura 3 horas": a sentence of its own about something else
    found = list(_SUBJECT.finditer(passage.folded, max(rival.span.start - 80, 0), rival.span.start))
    return bool(found) and found[-1].group(1) not in _SUBJECTS and found[-1].group(1) not in question.words


def _ordinals(passage: Passage, rival: Quantity, right: Sequence[Quantity]) -> bool:
    # "doce artículos, del 20 al 31": the numbers of the first and the last of what was counted
    for match in _FROM_TO.finditer(passage.folded):
        if match.start() <= rival.span.start < match.end():
            size = abs(int(match.group(2)) - int(match.group(1))) + 1
            return any(one.value == size for one in right)
    return False


def _unexplained(
    passage: Passage, rivals: Sequence[Compared], equal: Sequence[Compared], question: Asked
) -> list[Compared]:
    # one number of something else is an aside; several are a text that states everything, not an answer
    left = [one for one in rivals if not _elsewhere(passage, one.quantity, equal, question)]
    aside = {
        one.quantity.value
        for one in rivals
        if one not in left and one.quantity.place is None and not _same_again(passage, one.quantity, equal)
    }
    if aside and len(passage.folded.split()) > _SHORT:
        return list(rivals)
    return left if len(aside) < DUMP - 1 else list(rivals)


def _same_again(passage: Passage, rival: Quantity, equal: Sequence[Compared]) -> bool:
    right = [one.quantity for one in equal]
    return _ordinals(passage, rival, right) or any(_about(rival, one) for one in right)


def _operand(
    passage: Passage, one: Compared, equal: Sequence[Compared], asserted: Sequence[Compared], question: Asked
) -> bool:
    # "100 y 3 suman 103": what the question itself puts in is quoted, unless it stands in one list with the answer
    if not question.echoed(one.quantity) or _claimed(passage, one, equal, asserted):
        return False
    if any(right.quantity.value in question.values for right in equal) and not _result(
        passage, equal, asserted, question
    ):
        return False
    ordered = sorted(asserted, key=lambda other: other.quantity.span.start)
    at = ordered.index(one)
    for left, right in ((at - 1, at), (at, at + 1)):
        if left < 0 or right >= len(ordered) or Fit.EQUAL not in (ordered[left].fit, ordered[right].fit):
            continue
        if joined(passage.folded, ordered[left].quantity.span.end, ordered[right].quantity.span.start):
            return False
    return True


def _claimed(passage: Passage, one: Compared, equal: Sequence[Compared], asserted: Sequence[Compared]) -> bool:
    # "Son 30. Son 15.": a number of the question put forward as the result, or alone in a sentence, is no operand
    start = one.quantity.span.start
    if _RESULT.search(passage.folded[max(start - 40, 0) : start]):
        return True
    sentence = passage.sentence_at(start)
    beside = [other for other in asserted if sentence.start <= other.quantity.span.start < sentence.end]
    return len(beside) < 2 and not any(other in equal for other in beside)


def _result(passage: Passage, equal: Sequence[Compared], asserted: Sequence[Compared], question: Asked) -> bool:
    # "9 por 1 es 9": the question holds the right value too, so only a result that it does not state counts
    last = max(asserted, key=lambda one: one.quantity.span.start)
    times = sum(one.quantity.value == last.quantity.value for one in asserted)
    before = passage.folded[max(last.quantity.span.start - 40, 0) : last.quantity.span.start]
    beyond = last.quantity.value is not None and times > question.values[last.quantity.value]
    return last in equal and beyond and _RESULT.search(before) is not None and _said(passage) not in question.words


def _said(passage: Passage) -> str:
    return " ".join(passage.folded.split()).strip(" .!¿?")


def _against(
    passage: Passage,
    equal: Sequence[Compared],
    rivals: Sequence[Compared],
    asserted: Sequence[Compared],
    question: Asked,
) -> tuple[Correctness, Reason]:
    if len({(one.quantity.value, one.quantity.percent) for one in (*equal, *rivals)}) >= DUMP:
        return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    if all(_adds(passage, one.quantity) for one in rivals):
        return Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES
    ordered = sorted(asserted, key=lambda one: one.quantity.span.start)
    for left, right in pairwise(ordered):
        if (left.fit is Fit.EQUAL) == (right.fit is Fit.EQUAL) or not _may_be_same(left.quantity, right.quantity):
            continue
        if passage.folded[left.quantity.span.end : right.quantity.span.start].strip() == "(":
            return Correctness.INCORRECT, Reason.CONTRADICTION  # quince (20) días
        if joined(passage.folded, left.quantity.span.end, right.quantity.span.start):
            return Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS
    for one in rivals:
        if _of_something_else(passage, one.quantity, question):
            continue
        if one.fit is Fit.OTHER and any(_contradicts(one.quantity, other.quantity) for other in equal):
            return Correctness.INCORRECT, Reason.CONTRADICTION
    return Correctness.UNDETERMINED, Reason.UNRESOLVED_CANDIDATES


_GENERAL = re.compile(
    r"\b(?:(?:la\s|por\s)?regla\sgeneral|en\sgeneral|generalmente|normalmente|en\s(?:los\sdemas|otros)\scasos|de\slo\scontrario"
    r"|in\sgeneral|generally|normally|in\sother\scases|otherwise)\b"
)


def _of_something_else(passage: Passage, rival: Quantity, question: Asked) -> bool:
    # "15 días; la Junta resuelve en 30 días", "la regla general son 30, pero aquí 15": no contradiction, no answer
    clause = passage.clause_at(rival.span.start)
    general = _GENERAL.search(passage.folded, clause.start, clause.end)
    return general is not None or _other_subject(passage, rival, question)


def _adds(passage: Passage, quantity: Quantity) -> bool:
    # "15 días, prorrogables por otros 5": what may be added is no second answer, nor the first one any more
    clause = passage.clause_at(quantity.span.start)
    before = passage.folded[max(clause.start, quantity.span.start - 60) : quantity.span.start]
    return _ADDED.search(before) is not None or _MORE.match(passage.folded, quantity.span.end) is not None


def joined(folded: str, start: int, end: int) -> bool:
    """Tell whether what parts two values makes them members of a list, a disjunction or a range."""
    return _JOINED.fullmatch(folded, start, end) is not None


def _same_kind(left: Quantity, right: Quantity) -> bool:
    if left.unit is not None and right.unit is not None:
        return left.unit.unit.dimension == right.unit.unit.dimension
    return (left.percent, left.noun) == (right.percent, right.noun)


def same_amount(left: Quantity, right: Quantity) -> bool:
    """Tell whether two values are one in two units that convert exactly, such as 48 hours and 2 days."""
    if left.unit is None or right.unit is None or left.value is None or right.value is None:
        return False
    if left.unit.day_kind is not None or right.unit.day_kind is not None:
        return False
    ratio = exact_ratio(left.unit.unit, right.unit.unit)
    return ratio is not None and left.value * ratio == right.value


def _bare(quantity: Quantity) -> bool:
    return quantity.unit is None and quantity.noun is None and quantity.percent is None


def _may_be_same(left: Quantity, right: Quantity) -> bool:
    return _same_kind(left, right) or _bare(left) or _bare(right)


def _contradicts(rival: Quantity, right: Quantity) -> bool:
    return _plain(rival) and (_same_kind(rival, right) or (_bare(rival) and _bare(right)))
