"""Numbers of a passage as candidates for an answer: value with sign and unit, and how each stands in its clause.

Source: docs/spec/scoring.md sections 7 and 8.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from slaverify.scoring.assertion import HEDGE, QUALIFIER, Assertion, assertion, bound_of, bounded, last_correction
from slaverify.scoring.data import word_list
from slaverify.scoring.exclusions import Exclusions, exclusions, inside
from slaverify.scoring.numerals import Numeral, scan
from slaverify.scoring.passage import Passage
from slaverify.scoring.result import Span
from slaverify.scoring.settings import Settings
from slaverify.scoring.units import Unitised, unit_at

MAX_CANDIDATES = 400
"""Numbers of one answer that are looked at; a text with more is a dump and holds several answers anyway."""

_MINUS = re.compile(r"(?<![\w)\]%.,])-(?:us\$|[$€])?$|(?<![0-9)%])\s?−\s?(?:us\$|[$€])?$|(?<![\w)\]%])(?:us\$|[$€])-$")
_MINUS_WORD = re.compile(
    r"(?<!\bal )(?<!\blo )(?<!\bo )(?<!\bde )(?<!\bno )\b(?:menos|minus|negative|negativ[oa]s?(?:\sde)?)\s$"
)
_MINUS_AFTER = re.compile(r"\s(?:negativ[oa]s?|negative)\b")
_BRACKETS = re.compile(r"\((?:us\$|[$€])?\s?$")
_PERCENT = re.compile(r"\s?%|\s?(?:por\s?ciento|por\scien|percent|per\scent)\b", re.IGNORECASE)
_PERMILLE = re.compile(r"\s?‰|\s?(?:por\smil|per\smille?|per\sthousand)\b")
_POINTS = re.compile(r"\s?(?:pp|p\.p\.|puntos?\sporcentual(?:es)?|percentage\spoints?)(?![a-z])")
_DEFINITE = re.compile(r"\b(?:los|las|estos|estas|esos|esas|dich[oa]s|ambos|the|these|those|both)\s$")
_NOUN = re.compile(r"\s(?:de\s)?([a-z]{2,30})")
_PLACE = re.compile(
    r"\b(anos?|dia|mes|semana|trimestre|semestre|etapa|fase|nivel|grado|tramo|zona|grupo|tabla|cuadro|turno|linea|clase|tipo"
    r"|categoria|paso|piso|sala|lote|regla|version|year|day|month|week|step|level|phase|table|group|zone|class|type|floor|lot)\s$"
)
_PARTS = re.compile(
    r"(?:terci|cuart|quint|sext|septim|octav|noven|decim|centesim|milesim|vigesim|\w{3,12}av)os?"
    r"|(?:third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|twentieth|hundredth|thousandth)s?"
)
_NO_NOUN = word_list("text.json", "no_nouns")


@dataclass(frozen=True, slots=True)
class Quantity:
    """One candidate. `value` null: unreadable. `percent`: `%`, `‰`, `pp` or null; `noun`: the folded word after it.

    `article`: a lone `un`, `una`, `one` before a noun.
    """

    span: Span
    value: Fraction | None
    percent: str | None
    unit: Unitised | None
    noun: str | None
    words: bool
    assertion: Assertion
    weak: bool
    qualified: bool
    hedged: bool
    superseded: bool
    article: bool = False
    bound: str | None = None
    place: str | None = None

    @property
    def asserted(self) -> bool:
        """Tell whether the value is put forward, surely or perhaps."""
        return self.assertion is not Assertion.NEGATED and not self.superseded


@lru_cache(maxsize=4)
def quantities(passage: Passage, settings: Settings) -> tuple[Quantity, ...]:
    """Return the candidates of `passage`, in order; weak ones only where there is no other."""
    found = every_quantity(passage, settings, exclusions(passage))
    found = _shared_unit(passage, found)
    if any(not quantity.weak for quantity in found):
        found = [quantity for quantity in found if not quantity.weak]
    return tuple(_superseded(passage, found))


_SHARING = re.compile(r"\s?(?:\(|,|/|-|–|\b(?:o|u|y|e|or|and|a|al|to|hasta)\b)\s?(?:(?:o|u|or|y|and|quizas|bien)\s)?")


def _shared_unit(passage: Passage, found: list[Quantity]) -> list[Quantity]:
    # "15 o 30 días", "quince (15) días": a number joined to the next one has its unit
    out = list(found)
    for at in range(len(out) - 2, -1, -1):
        one, following = out[at], out[at + 1]
        bare = one.unit is None and one.percent is None and one.noun is None
        labelled = following.unit is not None or following.percent is not None
        if bare and labelled and _SHARING.fullmatch(passage.folded, one.span.end, following.span.start):
            out[at] = replace(one, unit=following.unit, percent=following.percent)
    return out


def every_quantity(passage: Passage, settings: Settings, excluded: Exclusions) -> list[Quantity]:
    """Return every number outside the strong exclusions."""
    policies = settings.policies
    numerals = scan(
        passage.folded, settings.locale, number_words=policies.number_words, scale_words=policies.scale_words
    )
    kept = [numeral for numeral in numerals if not inside(Span(numeral.start, numeral.end), excluded.strong)]
    return [_quantity(passage, numeral, excluded, settings) for numeral in kept[:MAX_CANDIDATES]]


def _quantity(passage: Passage, numeral: Numeral, excluded: Exclusions, settings: Settings) -> Quantity:
    folded, start, end = passage.folded, numeral.start, numeral.end
    before = folded[max(start - 48, 0) : start]
    # quince (15) días: the bracket closes before the unit
    beyond = end + 1 if folded[end : end + 1] == ")" else end
    unit = unit_at(folded, start, beyond)
    percent, after = _percent(folded, beyond)
    after = max(after if percent is not None else end, unit.end if unit is not None else end)
    value = numeral.value
    if value is not None and _negative(folded, before, after, settings.policies.accounting_brackets):
        value = -value
    noun = _NOUN.match(folded, beyond if percent is None else after)
    # "los dos primeros", "las tres instancias": the number may be there for the grammar alone
    named = numeral.words and unit is None and noun is not None and _DEFINITE.search(before) is not None
    place = _PLACE.search(before)
    span = Span(start, end)
    in_question = passage.in_question(start)
    is_article = numeral.article and unit is None and not _alone(folded, numeral)
    return Quantity(
        span=span,
        value=value,
        percent=percent,
        unit=unit,
        noun=None if noun is None or noun.group(1) in _NO_NOUN else noun.group(1),
        words=numeral.words,
        assertion=assertion(passage, Span(start, after)),
        weak=is_article or in_question or inside(span, excluded.weak),
        qualified=in_question
        or named
        or (noun is not None and _PARTS.fullmatch(noun.group(1)) is not None)
        or (QUALIFIER.search(before) is not None and not bounded(passage, span)),
        hedged=HEDGE.search(before) is not None,
        superseded=False,
        article=is_article and noun is not None and noun.group(1) not in _NO_NOUN,
        bound=bound_of(before, folded, after if unit is not None or percent is not None else beyond),
        place=None if place is None else place.group(1),
    )


def _alone(folded: str, numeral: Numeral) -> bool:
    return not folded[: numeral.start].strip(" ¿¡\"'(") and not folded[numeral.end :].strip(" .!\"')")


def _percent(folded: str, end: int) -> tuple[str | None, int]:
    for sign, pattern in (("%", _PERCENT), ("‰", _PERMILLE), ("pp", _POINTS)):
        match = pattern.match(folded, end)
        if match is not None:
            return sign, match.end()
    return None, end


def _negative(folded: str, before: str, after: int, brackets: bool) -> bool:
    if _MINUS.search(before) or _MINUS_WORD.search(before) or _MINUS_AFTER.match(folded, after):
        return True
    closed = folded[after : after + 2].lstrip()[:1] == ")" or folded[after - 1 : after] == ")"
    return brackets and closed and _BRACKETS.search(before) is not None


def _superseded(passage: Passage, found: list[Quantity]) -> list[Quantity]:
    # explicit correction: what came before it no longer counts. A = B = C: the last member counts
    cut = last_correction(passage)
    out = list(found)
    if cut is not None and any(quantity.span.start >= cut for quantity in found):
        out = [replace(quantity, superseded=quantity.span.start < cut) for quantity in out]
    for index in range(len(out) - 1):
        between = passage.folded[out[index].span.end : out[index + 1].span.start]
        if "=" in between and "\n" not in between and _only_signs(between):
            first = index
            while first > 0 and _only_signs(passage.folded[out[first - 1].span.end : out[first].span.start]):
                first -= 1
            for at in range(first, index + 1):
                out[at] = replace(out[at], superseded=True)
    return out


_SIGNS = re.compile(r"[\s=+\-−×x*/·÷^()$%€a-z]{1,40}")
_WORDY = re.compile(r"[a-wyz]{2,}")


def _only_signs(between: str) -> bool:
    if _SIGNS.fullmatch(between) is None:
        return False
    return all(unit_at(between, match.start(), match.start()) is not None for match in _WORDY.finditer(between))
