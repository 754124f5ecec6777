"""What each word of the signature facts means to a person."""

from __future__ import annotations

from slaverify.errors import Text

WORDS = {
    "digest": Text("lo firmado es otra cosa", "what was signed is something else"),
    "signature": Text("la firma no es de esa clave", "the signature is not by that key"),
    "path": Text("el certificado no llega a una raíz pactada", "the certificate leads to no agreed root"),
    "certificate_not_covered": Text(
        "ninguna firma ni digesto cubre el certificado entero", "no signature or digest covers the whole certificate"
    ),
    "stray_certificate": Text("lleva un certificado que sobra", "it holds a certificate that has no place there"),
    "imprint": Text("el sello es de otros bytes", "the timestamp is over other bytes"),
    "policy": Text("la política del sello no está admitida", "the timestamp's policy is not allowed"),
    "extended_key_usage": Text(
        "el certificado de la autoridad sirve para algo más que sellar",
        "the authority's certificate is not for timestamps alone",
    ),
    "validity": Text("un certificado no era válido en ese momento", "a certificate was not valid at that moment"),
    "reply": Text("la respuesta de la autoridad trae otros bytes", "the authority's reply holds other bytes"),
    "key_usage": Text("el certificado no es para firmar", "the certificate is not for signing"),
    "missing": Text("falta", "missing"),
}

UNTRUSTED = frozenset({"path", "certificate_not_covered", "stray_certificate"})
"""The words that speak of trust, which needs a pin from outside."""

NO_PIN = Text("nada externo fija qué clave es la pactada", "nothing outside says which key was agreed")
GIVE_PIN = Text(
    "agregue --contract, o --auditor-spki con --tsa-root", "add --contract, or --auditor-spki with --tsa-root"
)
NOT_READ = Text("el archivo no se pudo leer (V01)", "the file could not be read (V01)")


def sentence(word: str, prefix: str = "") -> Text:
    """Return what a word means, after `prefix` and a colon. `shape:…` names a part of the signature's frame."""
    if word.startswith("shape:"):
        part = word.removeprefix("shape:")
        text = Text(
            f"no tiene la forma en que se escribió ({part})", f"not in the form in which it was written ({part})"
        )
    else:
        text = WORDS.get(word, Text(word, word))
    return Text(f"{prefix}: {text.es}", f"{prefix}: {text.en}") if prefix else text
