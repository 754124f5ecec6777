"""Draft a contract from the answers of somebody who knows no statistics: thresholds, sample and risks follow from them.

Pure: the template is handed in as text, and the draft comes back as text with its comments.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.canonical import decimal_text
from slaverify.errors import ContractError, Text
from slaverify.statistics import min_n_power

POWER = 0.8
ALPHA = Decimal("0.025")
_MARK = re.compile(r"@@([a-z_]+)@@")
_IF = re.compile(r"^@@if ([a-z_]+)@@\n(.*?)^@@end@@\n", re.M | re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the buyer answered. Shares in (0, 1); `invented` null: no questions without an answer.

    `doubt` is `vendor`, `buyer` or `more`; `source` a word of `evaluation_set.frame.source`; `months` between audits.
    """

    title: str
    buyer: str
    purpose: str
    population: str
    source: str
    wrong: Decimal
    expected: Decimal
    invented: Decimal | None
    doubt: str
    amount: Decimal | None
    currency: str
    credit: Decimal
    months: int


def draft_text(template: str, answers: Answers) -> str:
    """Return the draft that the answers make of a template with `@@name@@` marks and `@@if name@@ … @@end@@` parts.

    Raises: ContractError SLV-C058 for answers that cannot be decided by any sample of a sensible size.
    """
    n = sample_for(answers.wrong, answers.expected)
    n_hostile = 0 if answers.invented is None else sample_for(answers.invented, answers.invented / 4)
    # Two audits without repeating a question, a second stage included.
    bank = (4 if answers.doubt == "more" else 2) * n + 20
    values: dict[str, str] = {
        "id": slug(answers.title),
        "title": quoted(answers.title),
        "buyer": quoted(answers.buyer),
        "purpose": quoted(answers.purpose),
        "population": quoted(answers.population),
        "source": answers.source,
        "threshold": decimal_text(1 - answers.wrong),
        "wrong": _hundred(answers.wrong),
        "expected": _hundred(answers.expected),
        "margin": decimal_text(answers.wrong - answers.expected),
        "n": str(n),
        "bank": str(bank),
        "n_hostile": str(n_hostile),
        "bank_hostile": str(2 * n_hostile + 20),
        "size": str(bank + (2 * n_hostile + 20 if n_hostile else 0)),
        "invented": "" if answers.invented is None else decimal_text(answers.invented),
        "invented_margin": "" if answers.invented is None else decimal_text(answers.invented * 3 / 4),
        "months": str(answers.months),
        "amount": "" if answers.amount is None else decimal_text(answers.amount),
        "currency": answers.currency,
        "credit": decimal_text(answers.credit),
    }
    parts = {
        "hostile": answers.invented is not None,
        "answerable_only": answers.invented is None,
        "money": answers.amount is not None,
        **{word: answers.doubt == word for word in ("vendor", "buyer", "more")},
    }
    return _filled(template, values, parts)


def sample_for(limit: Decimal, expected: Decimal) -> int:
    """Return the n at which a vendor with the failure rate `expected` passes `limit` 8 times of 10, to the next ten.

    Raises: ContractError SLV-C058 unless 0 < expected < limit < 1 and the n is one that somebody would run.
    """
    n = None
    if 0 < expected < limit < 1:
        n = min_n_power(1 - Fraction(limit), 1 - Fraction(expected), ALPHA, POWER, "pass")
    if n is None or n > 100_000:
        raise ContractError(
            "SLV-C058",
            Text(
                f"ninguna muestra razonable distingue {_hundred(expected)} de {_hundred(limit)} malas por 100",
                f"no sensible sample tells {_hundred(expected)} from {_hundred(limit)} wrong of 100",
            ),
            fix=Text(
                "acepte más errores, o espere menos de un buen proveedor",
                "accept more errors, or expect fewer of a good vendor",
            ),
        )
    return 10 * math.ceil(n / 10)


def slug(title: str) -> str:
    """Return an identifier made of a title: lower-case letters, digits and hyphens, 3 to 64."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:48].strip("-")
    return made if len(made) >= 3 else "contrato-sla"


def quoted(text: str) -> str:
    """Return a text as a YAML scalar in double quotes, on one line."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _filled(template: str, values: Mapping[str, str], parts: Mapping[str, bool]) -> str:
    text = _IF.sub(lambda part: part[2] if parts[part[1]] else "", template)
    return _MARK.sub(lambda mark: values[mark[1]], text)


def _hundred(share: Decimal) -> str:
    return f"{(share * 100).normalize():f}"
