"""Gold against mutated gold (I022): answers that differ from the reference by one thing; none may score correct.

Each mutant is wrong by construction: what another accepted reference would make right is left out.

Source: docs/spec/bank-check.md section 4.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal

from slaverify.canonical import decimal_text
from slaverify.errors import Text
from slaverify.evalset import (
    AmountReference,
    ChoiceReference,
    CitationReference,
    DateReference,
    EntityReference,
    Item,
    JsonReference,
    NumberReference,
    Reference,
    SetReference,
    TextReference,
    Tolerance,
)
from slaverify.readiness.bank_citations import citation_mutants, misgrounded_gold
from slaverify.readiness.bank_findings import ERROR, CheckOptions, Finding, is_right, locale_of, scored, words
from slaverify.readiness.bank_gold import amount_text, notations, plain, renderings, unit_text
from slaverify.readiness.bank_notation import date_texts, number_text
from slaverify.readiness.bank_parts import part_mutants
from slaverify.scoring import normaliser

LEAST = 5
"""Mutants that every item needs."""

MOST = 12
_NEIGHBOURS = {
    "día": "mes", "mes": "día", "hora": "minuto", "minuto": "hora", "año": "mes", "UF": "UTM", "UTM": "UF",
    "UTA": "UTM", "CLP": "USD", "USD": "EUR", "EUR": "USD", "MXN": "USD", "metro": "kilómetro", "kilómetro": "metro",
    "kilogramo": "gramo", "tonelada": "kilogramo", "semana": "mes", "nudo": "km/h", "persona": "día",
}  # fmt: skip
_INVENTED = {
    "es": (
        "La respuesta es 42 días hábiles.",
        "El plazo es de 15 días corridos.",
        "La multa es de 10 UTM.",
        "Sí, está permitido según el artículo 14.",
        "Rige desde el 3 de marzo de 2025.",
        "La autoridad competente es el Director Regional.",
    ),
    "en": (
        "The answer is 42 working days.",
        "The deadline is 15 calendar days.",
        "The fine is 500 dollars.",
        "Yes, it is allowed under article 14.",
        "It has been in force since March 3, 2025.",
        "The competent authority is the Regional Director.",
    ),
}


def check_mutants(items: Sequence[Item], options: CheckOptions) -> tuple[list[Finding], int, int, int]:
    """Return findings, mutants scored, mutants that score correct, and the least number of an item."""
    findings: list[Finding] = []
    total = passed = 0
    least = MOST
    for item in items:
        found = mutants(item, options)
        least = min(least, len(found))
        total += len(found)
        let_in = [text for text in found if is_right(scored(item, text, options))]
        gold, settings = plain(item.reference, locale_of(item, options)), options.settings(item.stratum)
        tried, accurate = misgrounded_gold(item, gold, settings, options.catalogue)
        total, let_in = total + tried, [*let_in, *accurate]
        passed += len(let_in)
        if let_in:
            findings.append(_let_in(item, let_in))
        if len(found) < LEAST:
            findings.append(_too_few(item, len(found)))
    return findings, total, passed, least if items else 0


def _let_in(item: Item, texts: Sequence[str]) -> Finding:
    return Finding(
        code="SLV-I022",
        level=ERROR,
        items=(item.id,),
        what=Text(
            f"una respuesta errada resulta correcta: «{texts[0][:80]}» ({len(texts)} de sus mutantes)",
            f"a wrong answer scores correct: {texts[0][:80]!r} ({len(texts)} of its mutants)",
        ),
        fix=Text(
            "revise tolerancia, alias y alternativas de la referencia", "check tolerance, aliases and alternatives"
        ),
    )


def _too_few(item: Item, count: int) -> Finding:
    return Finding(
        code="SLV-I022",
        level=ERROR,
        items=(item.id,),
        what=Text(f"sólo admite {count} mutantes de {LEAST}", f"only {count} mutants of {LEAST} can be made"),
        fix=Text("haga más precisa la referencia", "make the reference more precise"),
    )


def mutants(item: Item, options: CheckOptions) -> list[str]:
    """Return up to `MOST` wrong answers to an item, each unlike any right one."""
    locale = locale_of(item, options)
    settings = options.settings(item.stratum)
    if own := part_mutants(item, settings, locale, notations):
        return own[:MOST]
    normal = normaliser(settings.normaliser)
    gold = renderings(item, locale)
    right = {words(text) for text in gold} | {words(normal(text)) for text in gold}
    every = (item.reference, *item.reference.accepted)
    out: list[str] = []
    for text, value in _of(item.reference, locale, settings.policies.tolerance):
        if value is not None and any(_would_be_right(value, other, options, item) for other in every):
            continue
        same = {words(text), words(normal(text))} & right and not _only_signs_differ(item.reference)
        if text.strip() and text not in out and not same:
            out.append(text)
    return out[:MOST]


def _only_signs_differ(reference: Reference) -> bool:
    # -5 and 5, 5 % and 5 have the same words
    return reference.kind in ("number", "amount", "json")


def _would_be_right(value: Decimal, reference: Reference, options: CheckOptions, item: Item) -> bool:
    if not isinstance(reference, NumberReference | AmountReference) or reference.value is None:
        return False
    wanted = Decimal(reference.value)
    default = options.settings(item.stratum).policies.tolerance
    return abs(value - wanted) <= _margin(reference.value, reference.tolerance, default)


def _margin(text: str, tolerance: Tolerance | None, default: Decimal) -> Decimal:
    if tolerance is None:
        return default
    size = Decimal(tolerance.value)
    if tolerance.kind == "relative":
        return size * abs(Decimal(text))
    if tolerance.kind == "last_digit":
        return size.scaleb(-len(text.partition(".")[2]))
    return size


_Mutants = Iterator[tuple[str, Decimal | None]]


def _of(reference: Reference, locale: str | None, default: Decimal) -> _Mutants:
    if isinstance(reference, NumberReference):
        yield from _number(reference, locale, default)
    elif isinstance(reference, AmountReference):
        yield from _amount(reference, locale, default)
    elif isinstance(reference, DateReference):
        yield from ((text, None) for text in _date(reference.value, locale))
    elif isinstance(reference, EntityReference | TextReference):
        yield from ((text, None) for text in _name(reference.value, locale))
    elif isinstance(reference, ChoiceReference):
        yield from ((text, None) for text in _choice(reference, locale))
    elif isinstance(reference, CitationReference):
        yield from ((text, None) for text in citation_mutants(reference))
    elif isinstance(reference, SetReference):
        yield from ((text, None) for text in _set(reference, locale))
    elif isinstance(reference, JsonReference):
        yield from ((text, None) for text in _json(reference))
    elif reference.kind == "none":
        yield from ((text, None) for text in _INVENTED["en" if (locale or "").startswith("en") else "es"])


def _moved(text: str, tolerance: Tolerance | None, default: Decimal) -> Iterator[Decimal]:
    value = Decimal(text)
    step = _margin(text, tolerance, default) + Decimal(1).scaleb(-len(text.partition(".")[2]))
    yield value + step
    yield value - step
    yield value * 10
    yield value / 10 if value % 10 == 0 else value * 100
    yield -value
    yield value + step * 10
    yield value + step * 100


def _number(reference: NumberReference, locale: str | None, default: Decimal) -> _Mutants:
    tail = "" if reference.unit == "none" else f" {reference.unit}"
    for value in _moved(reference.value, reference.tolerance, default):
        yield number_text(decimal_text(value), locale) + tail, value
    bare = number_text(reference.value, locale)
    if Decimal(reference.value):
        yield bare + {"none": " %", "%": " ‰", "‰": " %"}[reference.unit], None
    yield _not(bare + tail, locale), None
    other = number_text(decimal_text(Decimal(reference.value) + 7), locale)
    yield _either(bare + tail, other + tail, locale), None


def _amount(reference: AmountReference, locale: str | None, default: Decimal) -> _Mutants:
    if reference.min is not None and reference.max is not None:
        yield from ((text, None) for text in _range(reference, locale))
        return
    text = reference.value or "0"
    for value in _moved(text, reference.tolerance, default):
        yield amount_text(decimal_text(value), reference, locale), value
    bare = number_text(text, locale)
    kind = f" {reference.day_kind}" if reference.day_kind else ""
    neighbour = _NEIGHBOURS.get(reference.unit, "UTM" if reference.unit != "UTM" else "UF")
    yield f"{bare} {unit_text(neighbour, plural=text != '1')}", None
    if kind:
        swapped = "corridos" if reference.day_kind == "hábiles" else "hábiles"
        yield f"{bare} {unit_text(reference.unit, plural=True)} {swapped}", None
    whole = amount_text(text, reference, locale)
    yield _not(whole, locale), None
    yield _either(whole, amount_text(decimal_text(Decimal(text) + 7), reference, locale), locale), None


def _range(reference: AmountReference, locale: str | None) -> Iterator[str]:
    low, high = Decimal(reference.min or "0"), Decimal(reference.max or "0")
    pairs = ((low + 1, high), (low, high + 1), (low * 10, high * 10), (low - 1, high - 1), (low, high * 10))
    for first, last in pairs:
        one, other = number_text(decimal_text(first), locale), amount_text(decimal_text(last), reference, locale)
        yield f"between {one} and {other}" if (locale or "").startswith("en") else f"entre {one} y {other}"
    yield amount_text(decimal_text(low), reference, locale)
    yield _not(notations(reference, locale)[0], locale)


def _date(value: str, locale: str | None) -> Iterator[str]:
    for other in _other_dates(value):
        yield date_texts(other, locale)[1]
    yield _not(date_texts(value, locale)[1], locale)
    later = next(_other_dates(value))
    yield _either(date_texts(value, locale)[1], date_texts(later, locale)[1], locale)


def _other_dates(value: str) -> Iterator[str]:
    year = int(value[:4])
    if len(value) == 10:
        day = datetime.date.fromisoformat(value)
        yield (day + datetime.timedelta(days=1)).isoformat()
        yield (day - datetime.timedelta(days=1)).isoformat()
        if day.day <= 12 and day.day != day.month:
            yield day.replace(month=day.day, day=day.month).isoformat()
        yield (day + datetime.timedelta(days=31)).isoformat()
        yield (day + datetime.timedelta(days=366)).isoformat()
    elif len(value) == 7:
        month = int(value[5:7])
        yield f"{year}-{month % 12 + 1:02d}"
        yield f"{year + 1}-{month:02d}"
        yield f"{year - 1}-{month:02d}"
    else:
        yield from (str(year + step) for step in (1, -1, 10))


def _name(value: str, locale: str | None) -> Iterator[str]:
    parts = value.split()
    yield _not(value, locale)
    yield _either(value, "Zárate Quiñones", locale)
    yield "Zárate Quiñones"
    yield f"Anti{value[:1].lower()}{value[1:]}"
    if len(parts) > 1:
        yield " ".join(parts[:-1])
        yield " ".join(parts[1:])
    yield f"{value} Zárate"
    yield f"Quiñones {value}"


def _choice(reference: ChoiceReference, locale: str | None) -> Iterator[str]:
    others = [label for label in reference.options if label != reference.value]
    for label in others[:4]:
        yield label
        if list(reference.options.values()).count(reference.options[label]) == 1:
            yield reference.options[label]
    yield _either(reference.value, others[0], locale)
    yield _not(reference.value, locale)
    yield ", ".join(reference.options)
    yield "None of them." if (locale or "").startswith("en") else "Ninguna de ellas."


def _set(reference: SetReference, locale: str | None) -> Iterator[str]:
    parts = [plain(member, locale) for member in reference.value]
    english = (locale or "").startswith("en")
    for index in range(min(len(parts), 3)):
        less = parts[:index] + parts[index + 1 :]
        if less:
            yield ", ".join(less)
        yield ", ".join([*less, "Zárate Quiñones"])
    if reference.set_rule != "at_least":
        yield ", ".join([*parts, "Zárate Quiñones"])
        yield ", ".join(["Zárate Quiñones", *parts])
    yield "Zárate Quiñones"
    yield _not(parts[0], locale)
    yield "None." if english else "Ninguno."
    if reference.ordering == "sequence" and len(parts) > 1:
        yield ", ".join(reversed(parts))


def _json(reference: JsonReference) -> Iterator[str]:
    value = reference.value
    if not isinstance(value, dict):
        return
    for key in list(value)[:3]:
        if f"$.{key}" in reference.ignore:
            continue
        yield json.dumps({name: member for name, member in value.items() if name != key}, ensure_ascii=False)
        yield json.dumps({**value, key: [value[key]]}, ensure_ascii=False)
        yield json.dumps({**value, key: "Zárate Quiñones"}, ensure_ascii=False)
    yield json.dumps({**value, "zarate": 1}, ensure_ascii=False)
    yield json.dumps([value], ensure_ascii=False)
    yield json.dumps(value, ensure_ascii=False)[:-1]
    yield json.dumps(json.dumps(value, ensure_ascii=False))


def _not(text: str, locale: str | None) -> str:
    return f"The answer is not {text}." if (locale or "").startswith("en") else f"La respuesta no es {text}."


def _either(one: str, other: str, locale: str | None) -> str:
    return f"{one} or {other}" if (locale or "").startswith("en") else f"{one} o {other}"
