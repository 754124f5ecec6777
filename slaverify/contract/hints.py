"""How to write each kind of value: the mends that a drafter reads beside a refused value."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from slaverify.canonical import decimal_text
from slaverify.errors import NOTHING, Text

_NUMBER = re.compile(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3})?")

_PATTERNS = (
    ("sha256:", Text("`sha256:` y 64 dígitos hexadecimales en minúscula", "`sha256:` and 64 lower-case hex digits")),
    ("[0-9a-f]{64}", Text("64 dígitos hexadecimales en minúscula", "64 lower-case hex digits")),
    (
        "keyring:",
        Text(
            "no escriba el secreto: diga dónde está, `env:NOMBRE`, `file:RUTA` o `keyring:NOMBRE`",
            "do not write the secret: say where it is, `env:NAME`, `file:PATH` or `keyring:NAME`",
        ),
    ),
    ("@[0-9]", Text("`nombre@versión`, por ejemplo `qa@1`", "`name@version`, for example `qa@1`")),
    ("(es|en)-", Text("idioma y país, por ejemplo `es-CL`", "language and country, for example `es-CL`")),
    ("UTC|", Text("zona de IANA, por ejemplo `America/Santiago`", "IANA zone, for example `America/Santiago`")),
    ("^P(", Text("duración ISO 8601, por ejemplo `P3M`", "ISO 8601 duration, for example `P3M`")),
    ("[A-Z]{3}$", Text("código ISO 4217, por ejemplo `CLP`", "ISO 4217 code, for example `CLP`")),
    ("age1", Text("una clave pública de age, `age1…`", "an age public key, `age1…`")),
    ("BEGIN CERT", Text("un certificado PEM completo, en bloque `|`", "a whole PEM certificate, as a `|` block")),
    ("ssh-ed25519", Text("una línea `ssh-ed25519 …`", "one line `ssh-ed25519 …`")),
    ("://", Text("una dirección completa, `https://…`", "a whole address, `https://…`")),
    (r"\+[0-9a-f]{8}", Text("`nombre+hash+clave` (vkey C2SP)", "`name+hash+key` (C2SP vkey)")),
    (
        "[a-z0-9-]{2,63}",
        Text("minúsculas, dígitos y guiones, 3 a 64", "lower-case letters, digits and hyphens, 3 to 64"),
    ),
    (
        "[a-z][a-z0-9_]",
        Text("minúsculas, dígitos y `_`, primero una letra", "lower-case letters, digits and `_`, first a letter"),
    ),
)


def pattern_hint(pattern: str) -> Text:
    """Return how to write a value of this regular expression, or nothing."""
    return next((hint for part, hint in _PATTERNS if part in pattern), NOTHING)


def decimal_hint(text: str) -> Text:
    """Return the mend of a text that is no decimal: `0,90`, `90 %`, `.9`, `1e-3`, `+0.9`, `00.9`."""
    mended = mended_decimal(text)
    if mended is None:
        return Text(
            'dígitos con punto decimal, entre comillas, por ejemplo "0.90"',
            'digits with a decimal point, in quotes, for example "0.90"',
        )
    if "%" in text:
        return Text(
            f'escriba la proporción: "{mended}", sin signo de porcentaje',
            f'write the share: "{mended}", without a percent sign',
        )
    if "," in text:
        return Text(f'use punto decimal: "{mended}"', f'use a decimal point: "{mended}"')
    return Text(f'escriba "{mended}"', f'write "{mended}"')


def share_hint(text: str) -> Text:
    """Return the mend of a number above 1 where a share is due: 90 was meant as 0.90."""
    value = _decimal(text)
    if value is None or not 1 < value <= 100:
        return Text('una proporción entre "0" y "1"', 'a share between "0" and "1"')
    share = decimal_text(value.scaleb(-2))
    return Text(
        f'una tasa está entre 0 y 1: si quiso decir {text} %, escriba "{share}"',
        f'a rate is between 0 and 1: if you meant {text} %, write "{share}"',
    )


def mended_decimal(text: str) -> str | None:
    """Return the decimal that a badly written text most likely means, or None if that would be guessing."""
    compact = re.sub(r"[\s\u00a0\u202f]", "", text)
    percent = compact.endswith("%")
    compact = compact.removesuffix("%")
    if compact.count(",") == 1 and "." not in compact:
        compact = compact.replace(",", ".")
    value = _decimal(compact.removesuffix(".") if compact.endswith(".") else compact)
    if value is None or abs(value.adjusted()) > 40:
        return None
    return decimal_text(value.scaleb(-2) if percent else value)


def _decimal(text: str) -> Decimal | None:
    if not _NUMBER.fullmatch(text) or len(text) > 60:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
