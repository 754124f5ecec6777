"""The verification: V01 to V20 over one request, offline, without a clock, a file or a judge.

Order:
1. read what was given, once (`gather`); whatever is malformed stands beside it as a problem of its check;
2. V01 to V15 over the signature of the PDF; of a bundle alone, V13 and V14 over the token of its envelope;
3. V16 what agrees with what, and with the pins; V17 files and envelope; V18 ledger; V19 verdict; V20 page;
4. outcome and exit code from the checks alone.
A check that failed hides no other that can still run. An exception of ours in one check fails that check.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from slaverify.errors import Text
from slaverify.evidence import B_T, DEMO_POLICY, CertificateFacts, EnvelopeFacts, SignatureFacts
from slaverify.run import EXCHANGES
from slaverify.verify.anchors import witnesses_of
from slaverify.verify.checks import RULES, Part, exit_code_of, fold, outcome_of, refused, skipped
from slaverify.verify.circumstances import circumstances
from slaverify.verify.claims import NON_CLAIMS, digests_of, identities_of, names_of, times_of, verdict_of
from slaverify.verify.custody_set import CustodySet
from slaverify.verify.files import files_parts, withheld_files
from slaverify.verify.identity import identity_parts
from slaverify.verify.ledger import ledger_parts, read_custody
from slaverify.verify.material import Material, gather
from slaverify.verify.recompute import verdict_parts
from slaverify.verify.request import VerifyRequest
from slaverify.verify.rerender import rerender_parts
from slaverify.verify.revocation import revocation_parts
from slaverify.verify.signature import signature_parts
from slaverify.verify.signature_envelope import envelope_parts
from slaverify.verify.signature_times import Circumstances, key_parts, time_parts
from slaverify.verify.verification import Verification, why_open

_SIGNATURE = tuple(RULES)[:15]


def verify(request: VerifyRequest) -> Verification:
    """Verify a report, a bundle or both. Raises: ValueError if neither was given; nothing for what is in them."""
    if request.pdf is None and request.bundle is None:
        raise ValueError("give a PDF or a bundle")
    material = gather(request)
    envelope = _envelope(material)
    ledger = read_custody(material)
    custody = ledger if isinstance(ledger, CustodySet) else None
    parts = _parts(material, envelope, ledger)
    checks = tuple(fold(rule, parts[rule], required=_required(rule, request)) for rule in RULES)
    demo = _is_demo(material, envelope)
    outcome = outcome_of(checks, demo=demo)
    return Verification(
        outcome=outcome,
        exit_code=exit_code_of(checks, demo=demo, allow_demo=request.allow_demo),
        verdict=verdict_of(material),
        checks=checks,
        names=names_of(material),
        identities=identities_of(material, envelope, custody, _witnesses(custody, request.now)),
        times=times_of(material, envelope, custody),
        digests=digests_of(material),
        withheld=withheld_files(material.bundle),
        non_claims=NON_CLAIMS,
        rescored=_rescored(material),
        why=why_open(checks, outcome, pinned=material.outside),
    )


def _rescored(material: Material) -> bool:
    return material.annex is not None and material.bundle is not None and material.bundle.has(EXCHANGES)


def _required(rule: str, request: VerifyRequest) -> bool:
    """Say whether the outcome needs a rule: V01 to V15 of a PDF, V17 and V18 of a bundle, V16 of both, V20 if strict.

    V19 is needed of a bundle, and of a PDF alone where a contract was given to count by.
    """
    if rule in _SIGNATURE:
        return request.pdf is not None
    if rule == "V19":
        return request.bundle is not None or request.trust.contract is not None
    if rule == "V20":
        return request.strict
    return rule == "V16" or request.bundle is not None


def _parts(
    material: Material, envelope: EnvelopeFacts | None, ledger: CustodySet | Part | None
) -> dict[str, list[Part]]:
    given = circumstances(material, envelope, ledger if isinstance(ledger, CustodySet) else None)
    parts = _signature(material, envelope, given)
    steps: dict[str, Callable[[], list[Part]]] = {
        "V16": lambda: identity_parts(material),
        "V17": lambda: [*files_parts(material), *_envelope_parts(material, envelope)],
        "V18": lambda: ledger_parts(material, ledger),
        "V19": lambda: verdict_parts(material),
        "V20": lambda: rerender_parts(material),
    }
    for rule, step in steps.items():
        try:
            parts[rule] = step()
        except Exception as error:  # noqa: BLE001 - a check that broke has failed; it never passes nor leaves
            parts[rule] = [refused(error)]
    return parts


def _signature(material: Material, envelope: EnvelopeFacts | None, given: Circumstances) -> dict[str, list[Part]]:
    pins = material.pins if material.outside else None
    if material.facts is not None:
        try:
            parts = signature_parts(material.facts, pins, given)
            parts["V14"] = [*parts["V14"], *_lists(material, material.facts)]
            return parts
        except Exception as error:  # noqa: BLE001 - as above
            return {rule: [refused(error, "PDF")] for rule in _SIGNATURE}
    absent = skipped(Text("no se dio el PDF", "no PDF was given"), Text("agregue el PDF", "add the PDF"))
    parts = {rule: [absent] for rule in _SIGNATURE}
    if material.request.pdf is not None:
        parts["V01"] = list(material.problems.get("V01", (absent,)))
    elif envelope is not None and envelope.token is not None:
        # A bundle alone: its envelope bears the same key and the same kind of token.
        signer = None if envelope.cms is None else envelope.cms.signer
        alone = SignatureFacts(size=0, token=envelope.token, signer=signer, cms=envelope.cms)
        parts["V13"] = time_parts(alone, given)
        parts["V14"] = [*key_parts(alone, given), *_lists(material, alone)]
    return parts


def _lists(material: Material, facts: SignatureFacts) -> list[Part]:
    level = B_T if material.pins is None else material.pins.level
    return revocation_parts(facts, material.request.crls, level)


def _envelope(material: Material) -> EnvelopeFacts | None:
    bundle = material.bundle
    if bundle is None or bundle.manifest_bytes is None:
        return None
    # pyHanko is loaded only where there is an envelope to read.
    from slaverify.evidence.pades import envelope_facts

    try:
        return envelope_facts(bundle.manifest_bytes, *bundle.envelope(), material.pins if material.outside else None)
    except Exception as error:  # noqa: BLE001 - bytes from anybody: the parts then say that it could not be read
        return EnvelopeFacts(broken={"cms": f"{type(error).__name__}: {error}"[:200]})


def _envelope_parts(material: Material, envelope: EnvelopeFacts | None) -> list[Part]:
    if envelope is None:
        return []
    return envelope_parts(envelope, material.pins if material.outside else None)


def _witnesses(custody: CustodySet | None, now: datetime) -> tuple[str, ...]:
    if custody is None:
        return ()
    try:
        return witnesses_of(custody, now)
    except Exception:  # noqa: BLE001 - V18 reports it; nobody is named as a witness
        return ()


def _is_demo(material: Material, envelope: EnvelopeFacts | None) -> bool:
    """Say whether a certificate of the demonstration took part in any signature or token."""
    return any(DEMO_POLICY in certificate.policies for certificate in _certificates(material, envelope))


def _certificates(material: Material, envelope: EnvelopeFacts | None) -> list[CertificateFacts]:
    facts = material.facts
    found: list[CertificateFacts] = []
    for one in (facts, envelope):
        if one is None:
            continue
        for cms in (one.cms, None if one.token is None else one.token.cms):
            found += [] if cms is None else [cms.signer, *cms.path]
    return found
