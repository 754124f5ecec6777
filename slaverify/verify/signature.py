"""The rules V01 to V12 and V15: one signed PDF, judged from facts that were read elsewhere.

Order of the rules, each on its own so that one failure hides no other:
 1. V01 the file reads one way and has one signature; where it does not, the others are not performed.
 2. V02 to V04 who signed, and with what kind of signature.
 3. V05, V07, V08 the signature, its token, other tokens; V06, V09, V10 that nothing stands outside of it.
 4. V11, V12 what is attached and what identifies the report.
 5. V13, V14 (in `signature_times`) dates and the key's validity.
 6. V15 that the signed document holds nothing but pages.

Source: docs/spec/verification.md; ETSI EN 319 142-1, ISO 32000-1 12.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slaverify.errors import Text
from slaverify.evidence import B_LTA, B_T, Pins, SignatureFacts, cms_problems, token_problems
from slaverify.verify.checks import EXIT_EVIDENCE, EXIT_PIN, PASSED, Part, failed, noted, skipped
from slaverify.verify.signature_times import Circumstances, key_parts, time_parts
from slaverify.verify.signature_words import GIVE_PIN, NO_PIN, NOT_READ, UNTRUSTED, sentence

SUBFILTER = "/ETSI.CAdES.detached"
ATTACHED = ("manifest.json", "report.json")
SIGNING_USAGES = frozenset({"digital_signature", "content_commitment"})
_EXITS = {"V02": EXIT_PIN, "V14": EXIT_PIN}


def signature_parts(facts: SignatureFacts, pins: Pins | None, given: Circumstances) -> dict[str, list[Part]]:
    """Apply V01 to V15 and return the parts of each. `pins` None or without a key: nobody says whom to trust."""
    known = pins if pins is not None and pins.auditor_spki else None
    parts = {"V01": _v01(facts)}
    readable = parts["V01"] == [PASSED]
    for rule, judge in _RULES.items():
        if not readable:
            parts[rule] = [skipped(NOT_READ)]
        elif rule in facts.broken:
            parts[rule] = [_unread(rule, facts.broken[rule])]
        else:
            parts[rule] = judge(facts, known)
    for rule, found in (("V13", time_parts(facts, given)), ("V14", key_parts(facts, given))):
        unread = [_unread(rule, facts.broken[rule])] if rule in facts.broken else []
        parts[rule] = [*found, *unread] if readable else [skipped(NOT_READ)]
    return dict(sorted(parts.items()))


def is_demo(facts: SignatureFacts, policy: str) -> bool:
    """Say whether a certificate of the policy `policy` took part in the signature or in its token."""
    token = facts.token
    paths = [cms.path for cms in (facts.cms, None if token is None else token.cms) if cms is not None]
    signers = [entry for entry in (facts.signer, None if token is None else token.cms.signer) if entry is not None]
    return any(policy in entry.policies for path in (*paths, signers) for entry in path)


def by_words(words: Sequence[str], pins: Pins | None, *, prefix: str = "", found: str = "") -> list[Part]:
    """Return the parts that the words of `cms_problems` or `token_problems` mean.

    Without pins the words about trust are left out, and a signature that holds otherwise is not performed.
    """
    grave = [word for word in words if pins is not None or word not in UNTRUSTED]
    if not grave:
        return [PASSED] if pins is not None else [skipped(NO_PIN, GIVE_PIN)]
    return [failed(sentence(word, prefix), found=found) for word in grave]


def _v01(facts: SignatureFacts) -> list[Part]:
    if facts.form_problem:
        reason = Text("el archivo no se lee de una sola manera", "the file does not read in one way")
        return [failed(reason, found=facts.form_problem)]
    if facts.regular_signatures != 1:
        count = facts.regular_signatures
        return [failed(Text(f"lleva {count} firmas", f"it has {count} signatures"), expected="1", found=str(count))]
    return [PASSED]


def _v02(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if pins is None:
        return [skipped(NO_PIN, GIVE_PIN)]
    found = "" if facts.signer is None else facts.signer.spki_sha256
    if found == pins.auditor_spki:
        return [PASSED]
    reason = Text("firmó otra clave", "another key signed")
    return [failed(reason, expected=pins.auditor_spki, found=found, exit_code=EXIT_PIN)]


def _v03(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if facts.subfilter == SUBFILTER:
        return [PASSED]
    return [
        failed(Text("es otro tipo de firma", "another kind of signature"), expected=SUBFILTER, found=facts.subfilter)
    ]


def _v04(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    parts = []
    if not facts.certified:
        parts.append(failed(Text("la firma no certifica el documento", "the signature does not certify")))
    if facts.docmdp != 1:
        parts.append(failed(Text("permite cambios", "it permits changes"), expected="P=1", found=f"P={facts.docmdp}"))
    return parts or [PASSED]


def _v05(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if facts.cms is None:
        return [_unread("V05", "")]
    words = list(cms_problems(facts.cms))
    if not SIGNING_USAGES & set(facts.cms.signer.key_usage):
        words.append("key_usage")
    if facts.token is None:
        words.append("shape:unsigned_attrs")
    else:
        # The token stands inside this signature, so each of its bytes counts here; whom to trust is V07's.
        words += [word for word in cms_problems(facts.token.cms) if word != "path" and word not in words]
    return by_words(words, pins, found=facts.cms.trust_problem)


def _v06(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if _level(pins) == B_T and facts.later_revisions:
        reason = Text("el archivo se actualizó después de firmar", "the file was updated after signing")
        return [failed(reason, expected="0", found=str(facts.later_revisions))]
    if facts.later_changes:
        reason = Text("hay cambios que la firma no admite", "there are changes that the signature does not permit")
        return [failed(reason, found=facts.later_changes)]
    return [PASSED]


def _v07(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if facts.token is None:
        return [failed(Text("no lleva sello de tiempo", "it has no timestamp"))]
    words = token_problems(facts.token, () if pins is None else pins.tsa_policy_oids)
    return by_words(words, pins, found=facts.token.cms.trust_problem)


def _v08(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    count = len(facts.document_timestamps)
    if _level(pins) == B_T:
        reason = Text("lleva un sello de documento que nadie pactó", "it has a document timestamp that nobody agreed")
        return [failed(reason, expected="0", found=str(count))] if count else [PASSED]
    policies = () if pins is None else pins.tsa_policy_oids
    words = [word for token in facts.document_timestamps for word in token_problems(token, policies)]
    return by_words(words if count else ["missing"], pins, found=str(count))


def _v09(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if facts.last_covers_file:
        return [PASSED]
    return [failed(Text("hay bytes que ninguna firma cubre", "there are bytes that no signature covers"))]


def _v10(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if not facts.gap_problems:
        return [PASSED]
    reason = Text("el espacio reservado trae otros bytes", "the reserved gap holds other bytes")
    return [failed(reason, found=", ".join(facts.gap_problems))]


def _v11(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    parts = []
    names = tuple(sorted(entry.name for entry in facts.attachments))
    if names != ATTACHED:
        found = ", ".join(ascii(name)[1:-1][:60] for name in names)
        reason = Text("los adjuntos son otros", "the attachments are others")
        parts.append(failed(reason, expected=", ".join(ATTACHED), found=found))
    if facts.attachment_problems:
        reason = Text("los adjuntos cambiaron o se repiten", "attachments changed, or occur twice")
        parts.append(failed(reason, found=", ".join(facts.attachment_problems)))
    return parts or [PASSED]


def _v12(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    digest = f"sha256:{facts.signed_digest}"
    return [noted(Text(digest, digest))]


def _v15(facts: SignatureFacts, pins: Pins | None) -> list[Part]:
    if not facts.structure_problems:
        return [PASSED]
    reason = Text("contiene lo que una página impresa no necesita", "it holds what a printed page has no need of")
    return [failed(reason, found=", ".join(facts.structure_problems))]


def _unread(rule: str, detail: str) -> Part:
    exit_code = _EXITS.get(rule, EXIT_EVIDENCE)
    return failed(Text("no se pudo leer", "it could not be read"), found=detail, exit_code=exit_code)


def _level(pins: Pins | None) -> str:
    return B_LTA if pins is not None and pins.level == B_LTA else B_T


_RULES: dict[str, Callable[[SignatureFacts, Pins | None], list[Part]]] = {
    "V02": _v02,
    "V03": _v03,
    "V04": _v04,
    "V05": _v05,
    "V06": _v06,
    "V07": _v07,
    "V08": _v08,
    "V09": _v09,
    "V10": _v10,
    "V11": _v11,
    "V12": _v12,
    "V15": _v15,
}
