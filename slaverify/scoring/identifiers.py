"""Identifiers with a check digit: Chilean RUT, Spanish NIF, IBAN. One that does not check has no canonical form.

Source: modulo 11 of the Chilean tax service and of the Spanish NIF table (*unverified* against the primary text);
ISO 13616 and ISO 7064 MOD 97-10 for the IBAN.
"""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[\s.\-–‑_]")
_NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_NIE = str.maketrans("XYZ", "012")

SCHEMES = ("cl.rut", "es.nif", "iban")
"""The schemes that are checked."""


def canonical_identifier(text: str, scheme: str) -> str | None:
    """Return the identifier without separators in capitals, null if its form or its check digit is wrong.

    An unknown scheme is compared without a check.
    """
    bare = _SEPARATORS.sub("", text.strip().strip(".,;:()\"'")).upper()
    if not bare.isascii() or not bare.isalnum() or len(bare) > 40:
        return None
    if scheme == "cl.rut":
        return bare if re.fullmatch(r"[0-9]{6,9}[0-9K]", bare) and _rut_digit(bare[:-1]) == bare[-1] else None
    if scheme == "es.nif":
        digits = bare.translate(_NIE)[:-1] if bare[:1] in "XYZ" else bare[:-1]
        matches = re.fullmatch(r"[XYZ0-9][0-9]{7}[A-Z]", bare)
        return bare if matches and _NIF_LETTERS[int(digits) % 23] == bare[-1] else None
    if scheme == "iban":
        return bare if re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}", bare) and _iban_checks(bare) else None
    return bare


def _rut_digit(body: str) -> str:
    total = sum(int(digit) * (2 + index % 6) for index, digit in enumerate(reversed(body)))
    return "0K987654321"[total % 11]


def _iban_checks(bare: str) -> bool:
    turned = bare[4:] + bare[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1
