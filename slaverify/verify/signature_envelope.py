"""The part of V17 that judges a bundle's envelope: the CMS over the manifest and the token over that CMS.

Source: docs/spec/bundle.md section 3.
"""

from __future__ import annotations

from slaverify.errors import Text
from slaverify.evidence import EnvelopeFacts, Pins, cms_problems, token_problems
from slaverify.verify.checks import PASSED, Part, Result, failed
from slaverify.verify.signature import SIGNING_USAGES, by_words
from slaverify.verify.signature_words import sentence

_FILES = {"cms": "manifest.p7s", "token": "manifest.tsr"}


def envelope_parts(facts: EnvelopeFacts, pins: Pins | None) -> list[Part]:
    """Return the envelope's parts of V17: both files there, whole, valid, by the agreed key and authority."""
    known = pins if pins is not None and pins.auditor_spki else None
    absent = {name: "missing" for name, found in (("cms", facts.cms), ("token", facts.token)) if found is None}
    parts = [_broken(part, detail) for part, detail in {**absent, **facts.broken}.items()]
    if facts.cms is not None:
        words = list(cms_problems(facts.cms))
        if not SIGNING_USAGES & set(facts.cms.signer.key_usage):
            words.append("key_usage")
        parts += by_words(words, known, prefix=_FILES["cms"], found=facts.cms.trust_problem)
        if known is not None and facts.cms.signer.spki_sha256 != known.auditor_spki:
            reason = Text("manifest.p7s: firmó otra clave", "manifest.p7s: another key signed")
            parts.append(failed(reason, expected=known.auditor_spki, found=facts.cms.signer.spki_sha256))
    if facts.token is not None:
        found = (*token_problems(facts.token, () if known is None else known.tsa_policy_oids), *facts.token.reply_shape)
        parts += by_words(found, known, prefix=_FILES["token"], found=facts.token.cms.trust_problem)
    kept = [part for part in parts if part.result is not Result.PASSED]
    return list(dict.fromkeys(kept)) or [PASSED]


def _broken(part: str, detail: str) -> Part:
    if detail == "missing":
        return failed(sentence("missing", _FILES[part]))
    file = _FILES[part]
    return failed(Text(f"{file}: no se pudo leer", f"{file}: it could not be read"), found=detail)
