"""Propose a typed reference for answers that came in as plain text: number, percentage, amount or date.

A proposal is made only if the cell's own text, taken as an answer, scores correct under it by the rules of this
version; a person confirms it row by row.

Source: docs/spec/import.md section 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.words import Outcome
from slaverify.errors import ProblemsError
from slaverify.evalset import Answer, Item, parse_item
from slaverify.readiness.bank_notation import UNITS, decimal_signs, month_number
from slaverify.scoring import default_settings, score

_NUMBER = r"[-−]?[0-9][0-9.,  ]{0,30}"
_ALONE = re.compile(rf"({_NUMBER})\s?(%|‰)?\.?")
_MONEY = re.compile(rf"(\$|US\$|UF|UTM|UTA|€|CLP)\s?({_NUMBER})\.?")
_UNIT = re.compile(rf"({_NUMBER})\s(?:de\s)?([^\W\d_][^\d]{{0,40}}?)\.?")
_RANGE = re.compile(
    rf"(?:de|entre|from|between)\s({_NUMBER})\s(?:a|y|to|and)\s({_NUMBER})\s([^\W\d_][^\d]{{0,40}}?)\.?", re.I
)
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LONG = re.compile(r"([0-9]{1,2})°? de ([a-z]+) de ([0-9]{4})", re.IGNORECASE)
_DAY_KINDS = {"hábiles": "hábiles", "corridos": "corridos", "habiles": "hábiles"}


def suggest_kinds(items: Sequence[Item]) -> Mapping[str, JsonObject]:
    """Return id → proposed reference for the items whose reference is a `text` that a grammar reads whole."""
    out: dict[str, JsonObject] = {}
    for item in items:
        reference = item.reference
        if reference.kind != "text" or reference.aliases or reference.accepted:
            continue
        for proposal in _proposals(reference.value.strip(), item.locale):
            if _holds(item, proposal, reference.value):
                out[item.id] = proposal
                break
    return out


def _holds(item: Item, proposal: JsonObject, text: str) -> bool:
    try:
        typed = parse_item({**item.to_json(), "reference": proposal})
    except ProblemsError:
        return False
    settings = default_settings("qa@1", item.locale)
    return score(typed, Answer(text), Outcome.ANSWERED, settings).record.correctness == "correct"


def _proposals(text: str, locale: str | None) -> Iterable[JsonObject]:
    if _ISO.fullmatch(text):
        yield {"kind": "date", "value": text}
    long = _LONG.fullmatch(text)
    if long is not None and (month := month_number(long.group(2))):
        yield {"kind": "date", "value": f"{long.group(3)}-{month:02d}-{int(long.group(1)):02d}"}
    alone = _ALONE.fullmatch(text)
    if alone is not None and (value := _decimal(alone.group(1), locale)) is not None:
        yield {"kind": "number", "value": value, **({"unit": alone.group(2)} if alone.group(2) else {})}
    money = _MONEY.fullmatch(text)
    if money is not None and (value := _decimal(money.group(2), locale)) is not None:
        yield from ({"kind": "amount", "value": value, "unit": unit} for unit in _units(money.group(1)))
    unit = _UNIT.fullmatch(text)
    if unit is not None and (value := _decimal(unit.group(1), locale)) is not None:
        yield from ({"kind": "amount", "value": value, **tail} for tail in _tails(unit.group(2)))
    span = _RANGE.fullmatch(text)
    if span is not None:
        low, high = _decimal(span.group(1), locale), _decimal(span.group(2), locale)
        if low is not None and high is not None:
            yield from ({"kind": "amount", "min": low, "max": high, **tail} for tail in _tails(span.group(3)))


def _tails(words: str) -> Iterable[Mapping[str, JsonValue]]:
    head, _, last = words.strip().rpartition(" ")
    kind = _DAY_KINDS.get(last.lower())
    if kind is not None and head:
        yield from ({"unit": unit, "day_kind": kind} for unit in _units(head))
    yield from ({"unit": unit} for unit in _units(words))


def _units(words: str) -> Iterable[str]:
    yield from UNITS.get(words.strip().lower(), ())


def _decimal(text: str, locale: str | None) -> str | None:
    """Return the decimal that the digits mean in the locale; null without a locale if a sign could be either."""
    plain = re.sub(r"[  \s]", "", text).replace("−", "-").rstrip(".,")
    if locale is None:
        return plain if re.fullmatch(r"-?[0-9]+", plain) else None
    point, group = decimal_signs(locale)
    whole, sign, fraction = plain.partition(point)
    if group in whole and not re.fullmatch(rf"-?[0-9]{{1,3}}(?:{re.escape(group)}[0-9]{{3}})+", whole):
        return None
    bare = whole.replace(group, "") + ("." + fraction if sign else "")
    return bare if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", bare) else None
