"""Gold against gold (I021): the reference, written as an answer in several notations, has to score correct.

Source: docs/spec/bank-check.md section 3.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from slaverify.contract.words import Outcome
from slaverify.errors import Text
from slaverify.evalset import (
    AmountReference,
    Answer,
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
)
from slaverify.readiness.bank_citations import citation_texts, grounded_gold
from slaverify.readiness.bank_findings import ERROR, CheckOptions, Finding, is_right, locale_of
from slaverify.readiness.bank_notation import date_texts, number_text
from slaverify.readiness.bank_parts import part_renderings
from slaverify.scoring import score

SIGNS = {"CLP": "$", "MXN": "$", "USD": "US$", "EUR": "€"}
_VOWELS = "aeiouáéíóú"
_ABSTAIN = {
    "es": (
        "No consta en el corpus.",
        "No dispongo de información sobre esa materia en las fuentes consultadas.",
        "El corpus no contiene la respuesta a esa pregunta.",
    ),
    "en": (
        "The corpus does not contain that information.",
        "I could not find that in the available sources.",
        "There is no information about that in the corpus.",
    ),
}


def check_gold(items: Sequence[Item], options: CheckOptions) -> tuple[list[Finding], int, int]:
    """Return findings, how many renderings were scored, and how many of them are correct."""
    findings: list[Finding] = []
    total = right = 0
    for item in items:
        settings = options.settings(item.stratum)
        wrong: list[tuple[str, str]] = []
        locale = locale_of(item, options)
        for text in part_renderings(item, settings, locale, notations) or renderings(item, locale):
            result = score(item, Answer(text), Outcome.ANSWERED, settings)
            total += 1
            if is_right(result.record):
                right += 1
            else:
                reason = result.record.rules[0].reason if result.record.rules else result.record.outcome.value
                wrong.append((text, reason))
        gold = plain(item.reference, locale_of(item, options))
        grounded = grounded_gold(item, gold, settings, options.catalogue)
        if grounded is not None:
            total, right = total + 1, right + grounded
            wrong += [] if grounded else [(gold, "citation")]
        if wrong:
            text, reason = wrong[0]
            findings.append(_finding(item, text, reason, len(wrong)))
    return findings, total, right


def _finding(item: Item, text: str, reason: str, count: int) -> Finding:
    return Finding(
        code="SLV-I021",
        level=ERROR,
        items=(item.id,),
        what=Text(
            f"la respuesta correcta, escrita «{text[:80]}», no resulta correcta ({reason}; {count} notaciones)",
            f"the right answer, written {text[:80]!r}, does not score correct ({reason}; {count} notations)",
        ),
        fix=Text(
            "corrija la referencia o la pregunta: así ningún motor podría acertar",
            "mend the reference or the question: no engine could be right as it is",
        ),
    )


def renderings(item: Item, locale: str | None) -> list[str]:
    """Return the reference of an item as answers: three notations, and one of each accepted alternative."""
    out = notations(item.reference, locale)
    for other in item.reference.accepted:
        out += notations(other, locale)[:1]
    return list(dict.fromkeys(out))


def plain(reference: Reference, locale: str | None) -> str:
    """Return the plainest notation of a reference."""
    found = notations(reference, locale)
    return found[0] if found else ""


def notations(reference: Reference, locale: str | None) -> list[str]:
    """Return a reference in three notations; fewer where there are none, empty for a kind of other rooms."""
    if isinstance(reference, NumberReference):
        return _number(reference, locale)
    if isinstance(reference, AmountReference):
        return _amount(reference, locale)
    if isinstance(reference, DateReference):
        iso, words = date_texts(reference.value, locale)
        return [iso, words, _sentence(words, locale)]
    if isinstance(reference, EntityReference | TextReference):
        marker = "Answer:" if _english(locale) else "Respuesta:"
        return [reference.value, f"{marker} {reference.value}", *(reference.aliases or (f"{reference.value}.",))]
    if isinstance(reference, ChoiceReference):
        marker = "Answer:" if _english(locale) else "Respuesta:"
        texts = [reference.options[reference.value]]
        unique = list(reference.options.values()).count(texts[0]) == 1
        return [reference.value, f"{marker} {reference.value}", *(texts if unique else [])]
    if isinstance(reference, CitationReference):
        return citation_texts(reference)
    if isinstance(reference, SetReference):
        return _set(reference, locale)
    if isinstance(reference, JsonReference):
        return _json(reference)
    return list(_ABSTAIN["en" if _english(locale) else "es"]) if reference.kind == "none" else []


def _english(locale: str | None) -> bool:
    return (locale or "").startswith("en")


def _sentence(text: str, locale: str | None) -> str:
    return f"The answer is {text}." if _english(locale) else f"La respuesta es {text}."


def _number(reference: NumberReference, locale: str | None) -> list[str]:
    sign = "" if reference.unit == "none" else reference.unit
    bare = number_text(reference.value, locale)
    tail = f" {sign}" if sign else ""
    plainest = number_text(reference.value, locale, grouped=False)
    return [bare + tail, _sentence(bare + tail, locale), plainest + sign]


def amount_text(value: str, reference: AmountReference, locale: str | None) -> str:
    """Return a value with the unit of a reference."""
    unit = unit_text(reference.unit, plural=value not in ("1", "-1"))
    kind = f" {reference.day_kind}" if reference.day_kind else ""
    return f"{number_text(value, locale)} {unit}{kind}"


def unit_text(unit: str, *, plural: bool) -> str:
    """Return a unit as it is written after a number."""
    if not plural or not unit.islower() or " " in unit or "/" in unit or unit.endswith("s"):
        return unit
    return unit + ("s" if unit[-1] in _VOWELS else "es")


def _amount(reference: AmountReference, locale: str | None) -> list[str]:
    if reference.min is not None and reference.max is not None:
        low, high = number_text(reference.min, locale), amount_text(reference.max, reference, locale)
        joined = f"between {low} and {high}" if _english(locale) else f"entre {low} y {high}"
        other = f"from {low} to {high}" if _english(locale) else f"de {low} a {high}"
        return [joined, other, _sentence(joined, locale)]
    whole = amount_text(reference.value or "0", reference, locale)
    out = [whole, _sentence(whole, locale)]
    if (
        reference.unit in SIGNS
        and (reference.unit != "MXN" or locale == "es-MX")
        and (reference.unit != "CLP" or locale == "es-CL")
    ):
        return [*out, f"{SIGNS[reference.unit]} {number_text(reference.value or '0', locale)}"]
    return [*out, f"{whole}."]


def _set(reference: SetReference, locale: str | None) -> list[str]:
    parts = [plain(member, locale) for member in reference.value]
    last = " and " if _english(locale) else " y "
    joined = ", ".join(parts[:-1]) + (last if len(parts) > 1 else "") + parts[-1]
    return [", ".join(parts), joined, "\n".join(f"- {part}" for part in parts)]


def _json(reference: JsonReference) -> list[str]:
    value = reference.value
    if not isinstance(value, dict):
        return []
    turned = dict(reversed(list(value.items())))
    return [
        json.dumps(value, ensure_ascii=False),
        json.dumps(value, ensure_ascii=True, indent=2),
        json.dumps(turned, ensure_ascii=False),
    ]
