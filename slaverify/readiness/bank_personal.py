"""Personal data outside the fields that declare it (I029): identifiers with a valid check digit, e-mail, telephone.

Source: docs/spec/bank-check.md section 2; check digits: RUT (modulo 11), NIF (modulo 23), IBAN (ISO 13616, modulo 97).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from slaverify.canonical import jcs
from slaverify.errors import Text
from slaverify.evalset import EntityReference, Item
from slaverify.readiness.bank_findings import ERROR, CheckOptions, Finding

_RUT = re.compile(r"(?<![\w.])([0-9]{1,2}\.?[0-9]{3}\.?[0-9]{3})-([0-9kK])(?![\w-])")
_NIF = re.compile(r"(?<!\w)([0-9]{8})-?([A-HJ-NP-TV-Z])(?!\w)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}[0-9]{2}(?:\s?[A-Z0-9]{4}){3,7}(?:\s?[A-Z0-9]{1,3})?(?!\w)")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}")
_PHONE = re.compile(r"(?<!\w)(?:\+[0-9]{1,3}(?:[\s-]?[0-9]){8,11}|9\s[0-9]{4}\s[0-9]{4})(?!\w)")
_NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def check_personal(items: Sequence[Item], options: CheckOptions) -> list[Finding]:
    """Return each item with personal data, by what it looks like, never with the data itself."""
    out: list[Finding] = []
    for item in items:
        found = sorted(set(_found(_texts(item))))
        if found:
            kinds = ", ".join(found)
            out.append(
                Finding(
                    code="SLV-I029",
                    level=ERROR,
                    items=(item.id,),
                    what=Text(f"parece haber datos personales: {kinds}", f"personal data, it seems: {kinds}"),
                    fix=Text(
                        f"reemplácelos por inventados, o acéptelos: --accept SLV-I029:{item.id}=motivo",
                        f"replace them by invented ones, or accept: --accept SLV-I029:{item.id}=reason",
                    ),
                    accepted=options.accepted.get(("SLV-I029", item.id)),
                )
            )
    return out


def _texts(item: Item) -> str:
    parts = [item.query or "", item.official_text or "", *(message.content for message in item.messages)]
    reference = item.reference
    if not (isinstance(reference, EntityReference) and reference.identifier is not None):
        tree = reference.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        parts.append(jcs(tree).decode("utf-8"))
    if item.ext is not None:
        parts.append(str(item.ext))
    return "\n".join(parts)


def _found(text: str) -> Iterator[str]:
    if any(_rut(match.group(1), match.group(2)) for match in _RUT.finditer(text)):
        yield "RUT"
    if any(_NIF_LETTERS[int(match.group(1)) % 23] == match.group(2) for match in _NIF.finditer(text)):
        yield "NIF"
    if any(_iban(match.group()) for match in _IBAN.finditer(text)):
        yield "IBAN"
    if _MAIL.search(text):
        yield "e-mail"
    if _PHONE.search(text):
        yield "teléfono"


def _rut(body: str, digit: str) -> bool:
    total = sum(int(figure) * (2 + at % 6) for at, figure in enumerate(reversed(body.replace(".", ""))))
    check = 11 - total % 11
    return digit.lower() == {11: "0", 10: "k"}.get(check, str(check))


def _iban(text: str) -> bool:
    plain = text.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1
