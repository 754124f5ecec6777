"""The rules V01 to V15 over facts alone: each on and off, with and without pins, at both levels."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from slaverify.evidence import (
    B_LTA,
    Attachment,
    CertificateFacts,
    CmsFacts,
    EnvelopeFacts,
    Pins,
    SignatureFacts,
    TokenFacts,
)
from slaverify.verify.checks import Check, Result, exit_code_of, fold
from slaverify.verify.signature import is_demo, signature_parts
from slaverify.verify.signature_envelope import envelope_parts
from slaverify.verify.signature_times import Circumstances, KeyWindow, Revocation

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HOUR = timedelta(hours=1)
KEY = "ab" * 32
PINS = Pins(KEY, ("pem",))


def certificate(spki: str = KEY, usage: tuple[str, ...] = ("digital_signature",), **more: object) -> CertificateFacts:
    return CertificateFacts("CN=x", "cd" * 32, spki, AT - HOUR, AT + HOUR, "EC secp256r1", usage, **more)


def cms(signer: CertificateFacts, **more: object) -> CmsFacts:
    return replace(CmsFacts((), True, True, True, "", True, signer, (), (signer,)), **more)


TSA = certificate("ef" * 32, extended_key_usage=("time_stamping",))
TOKEN = TokenFacts(cms(TSA), AT, 1000, "1.2.3", "1", "00" * 32, True)
CLEAN = SignatureFacts(
    size=1,
    regular_signatures=1,
    subfilter="/ETSI.CAdES.detached",
    certified=True,
    docmdp=1,
    signer=certificate(),
    cms=cms(certificate()),
    token=TOKEN,
    last_covers_file=True,
    signed_digest="12" * 32,
    attachments=(Attachment("report.json", b"{}"), Attachment("manifest.json", b"{}")),
)
GIVEN = Circumstances(
    closed_at=AT - HOUR,
    contract_given=True,
    effective=AT - 99 * HOUR,
    expires=AT + 99 * HOUR,
    keys=(KeyWindow(AT - 9 * HOUR, AT + 9 * HOUR),),
    bundle_given=True,
    started_at=AT - 3 * HOUR,
    first_exchange=AT - 2 * HOUR,
    last_exchange=AT - 2 * HOUR,
    manifest_token_at=AT - timedelta(minutes=1),
)


def check(facts: SignatureFacts, pins: Pins | None = PINS, given: Circumstances = GIVEN) -> dict[str, Check]:
    return {rule: fold(rule, parts, required=True) for rule, parts in signature_parts(facts, pins, given).items()}


def failed(facts: SignatureFacts, pins: Pins | None = PINS, given: Circumstances = GIVEN) -> set[str]:
    return {rule for rule, found in check(facts, pins, given).items() if found.result is Result.FAILED}


def test_the_clean_one_passes_whole() -> None:
    checks = check(CLEAN)
    assert list(checks) == [f"V{number:02d}" for number in range(1, 16)]
    assert {found.result for found in checks.values()} == {Result.PASSED}
    assert "1212" in checks["V12"].reason.es
    assert exit_code_of(checks.values(), demo=False) == 0


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("V01", {"form_problem": "x"}),
        ("V01", {"regular_signatures": 0}),
        ("V01", {"regular_signatures": 2}),
        ("V02", {"signer": certificate("00" * 32)}),
        ("V02", {"signer": None}),
        ("V03", {"subfilter": "/adbe.pkcs7.detached"}),
        ("V04", {"certified": False}),
        ("V04", {"docmdp": 2}),
        ("V04", {"docmdp": None}),
        ("V05", {"cms": None}),
        ("V05", {"cms": cms(certificate(), shape=("frame",))}),
        ("V05", {"cms": cms(certificate(), intact=False)}),
        ("V05", {"cms": cms(certificate(), valid=False)}),
        ("V05", {"cms": cms(certificate(), trusted=False)}),
        ("V05", {"cms": cms(certificate(), vouched=False)}),
        ("V05", {"cms": cms(certificate(), stray=("00",))}),
        ("V05", {"cms": cms(certificate(usage=("key_agreement",)))}),
        ("V05", {"cms": cms(certificate(usage=()))}),
        ("V05", {"token": None}),
        ("V05", {"token": replace(TOKEN, cms=cms(TSA, shape=("sid",)))}),
        ("V06", {"later_revisions": 1}),
        ("V06", {"later_changes": "OTHER"}),
        ("V07", {"token": None}),
        ("V07", {"token": replace(TOKEN, imprint_matches=False)}),
        ("V07", {"token": replace(TOKEN, cms=cms(TSA, trusted=False))}),
        ("V07", {"token": replace(TOKEN, cms=cms(certificate()))}),
        ("V07", {"token": replace(TOKEN, at=AT + 2 * HOUR)}),
        ("V08", {"document_timestamps": (TOKEN,)}),
        ("V09", {"last_covers_file": False}),
        ("V10", {"gap_problems": ("padding",)}),
        ("V11", {"attachments": ()}),
        ("V11", {"attachments": (*CLEAN.attachments, Attachment("x", b""))}),
        ("V11", {"attachment_problems": ("name twice",)}),
        ("V15", {"structure_problems": ("JS",)}),
    ],
)
def test_each_fact_fails_its_rule(rule: str, changes: dict[str, object]) -> None:
    assert rule in failed(replace(CLEAN, **changes))


@pytest.mark.parametrize("rule", [f"V{number:02d}" for number in range(2, 13)] + ["V15"])
def test_what_could_not_be_read_fails_the_rule_that_it_served(rule: str) -> None:
    checks = check(replace(CLEAN, broken={rule: "ValueError: x"}))
    assert checks[rule].result is Result.FAILED
    assert "ValueError" in checks[rule].found
    assert {other for other, found in checks.items() if found.result is Result.FAILED} == {rule}


def test_an_unreadable_file_hides_nothing_and_passes_nothing() -> None:
    checks = check(replace(CLEAN, form_problem="x"))
    assert checks["V01"].result is Result.FAILED
    assert {found.result for rule, found in checks.items() if rule != "V01"} == {Result.NOT_PERFORMED}
    assert exit_code_of(checks.values(), demo=False) == 4


def test_the_empty_facts_pass_nothing() -> None:
    passed = {rule for rule, found in check(SignatureFacts(size=0)).items() if found.result is Result.PASSED}
    assert passed == set()


@pytest.mark.parametrize("pins", [None, Pins("", ())])
def test_without_a_pin_nobody_is_trusted(pins: Pins | None) -> None:
    untrusted = replace(
        CLEAN,
        cms=cms(certificate(), trusted=False, vouched=False, stray=("00",)),
        token=replace(TOKEN, cms=cms(TSA, trusted=False)),
    )
    checks = check(untrusted, pins)
    open_rules = {rule for rule, found in checks.items() if found.result is Result.NOT_PERFORMED}
    assert open_rules == {"V02", "V05", "V07"}
    assert all("--contract" in checks[rule].remedy.es for rule in open_rules)
    assert exit_code_of(checks.values(), demo=False) == 3
    assert "V05" in failed(replace(untrusted, cms=cms(certificate(), intact=False, trusted=False)), pins)


def test_another_key_alone_is_a_mismatch_and_not_broken_evidence() -> None:
    checks = check(replace(CLEAN, signer=certificate("00" * 32)))
    assert exit_code_of(checks.values(), demo=False) == 5
    both = check(replace(CLEAN, signer=certificate("00" * 32), docmdp=2))
    assert exit_code_of(both.values(), demo=False) == 4


def test_level_b_lta() -> None:
    pins = replace(PINS, level=B_LTA)
    stamped = replace(CLEAN, document_timestamps=(TOKEN,), later_revisions=2)
    assert failed(stamped, pins) == set()
    assert failed(replace(stamped, document_timestamps=()), pins) == {"V08"}
    assert failed(replace(stamped, later_changes="OTHER"), pins) == {"V06"}
    foreign = replace(TOKEN, cms=cms(TSA, trusted=False))
    assert failed(replace(stamped, document_timestamps=(TOKEN, foreign)), pins) == {"V08"}


def test_policies_of_tokens() -> None:
    assert failed(CLEAN, replace(PINS, tsa_policy_oids=("1.2.3", "1.2.4"))) == set()
    assert failed(CLEAN, replace(PINS, tsa_policy_oids=("1.2.4",))) == {"V07"}


@pytest.mark.parametrize(
    "changes",
    [
        {"closed_at": AT + HOUR},
        {"closed_at": AT - timedelta(days=31)},
        {"closed_at": AT - HOUR, "max_delay_s": Decimal("60")},
        {"manifest_token_at": AT + timedelta(seconds=1)},
        {"manifest_token_at": AT - 2 * HOUR},
        {"effective": AT},
        {"expires": AT - 9 * HOUR},
        {"started_at": AT},
        {"started_at": None},
    ],
)
def test_dates_that_do_not_agree(changes: dict[str, object]) -> None:
    assert failed(CLEAN, PINS, replace(GIVEN, **changes)) == {"V13"}


def test_tolerance_is_for_clocks() -> None:
    ahead = replace(GIVEN, closed_at=AT + timedelta(seconds=300), manifest_token_at=AT)
    assert failed(CLEAN, PINS, ahead) == set()
    assert failed(CLEAN, PINS, replace(ahead, tolerance_s=Decimal("299.5"))) == {"V13"}


@pytest.mark.parametrize(
    "changes",
    [
        {"keys": ()},
        {"keys": (KeyWindow(AT + HOUR, None),)},
        {"keys": (KeyWindow(None, AT),)},
        {"revocations": (Revocation(KEY, AT),)},
        {"revocations": (Revocation(KEY, AT - HOUR),)},
    ],
)
def test_a_key_that_was_not_valid(changes: dict[str, object]) -> None:
    checks = check(CLEAN, PINS, replace(GIVEN, **changes))
    assert checks["V14"].result is Result.FAILED
    assert exit_code_of(checks.values(), demo=False) == 5


def test_a_certificate_outside_its_term() -> None:
    expired = replace(certificate(), not_after=AT - HOUR)
    assert failed(replace(CLEAN, signer=expired)) == {"V14"}


def test_a_later_revocation_is_printed_and_fails_nothing() -> None:
    given = replace(GIVEN, revocations=(Revocation(KEY, AT + HOUR), Revocation("00" * 32, AT - HOUR)))
    found = check(CLEAN, PINS, given)["V14"]
    assert found.result is Result.PASSED
    assert "revocada después" in found.reason.es


def test_without_contract_and_bundle_the_rest_of_a_rule_still_counts() -> None:
    bare = Circumstances(closed_at=AT - HOUR)
    checks = check(CLEAN, PINS, bare)
    assert checks["V13"].result is checks["V14"].result is Result.PASSED
    assert "--contract" in checks["V13"].remedy.es
    assert failed(CLEAN, PINS, Circumstances(closed_at=AT + HOUR)) == {"V13"}
    assert check(CLEAN, PINS, Circumstances())["V13"].result is Result.NOT_PERFORMED


def test_demonstration() -> None:
    demo = certificate(policies=("2.999.1",))
    assert is_demo(replace(CLEAN, signer=demo), "2.999.1")
    assert is_demo(replace(CLEAN, token=replace(TOKEN, cms=cms(TSA, path=(demo,)))), "2.999.1")
    assert not is_demo(CLEAN, "2.999.1")
    assert not is_demo(SignatureFacts(size=0), "2.999.1")


ENVELOPE = EnvelopeFacts(cms(certificate()), TOKEN)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (ENVELOPE, ""),
        (EnvelopeFacts(), "manifest.p7s: missing"),
        (EnvelopeFacts(None, TOKEN, {"cms": "missing"}), "manifest.p7s: missing"),
        (EnvelopeFacts(cms(certificate()), None, {"token": "ValueError: x"}), "manifest.tsr: it could not be read"),
        (replace(ENVELOPE, cms=cms(certificate("00" * 32))), "manifest.p7s: another key signed"),
        (replace(ENVELOPE, cms=cms(certificate(), intact=False)), "manifest.p7s: what was signed is something else"),
        (replace(ENVELOPE, cms=cms(certificate(usage=()))), "manifest.p7s: the certificate is not for signing"),
        (replace(ENVELOPE, token=replace(TOKEN, reply_shape=("reply",))), "manifest.tsr: the authority's reply"),
        (replace(ENVELOPE, token=replace(TOKEN, imprint_matches=False)), "manifest.tsr: the timestamp is over other"),
    ],
)
def test_the_envelope(facts: EnvelopeFacts, words: str) -> None:
    found = fold("V17", envelope_parts(facts, PINS), required=True)
    assert (found.result is Result.PASSED) is (words == "")
    assert words in found.reason.en


def test_the_envelope_without_a_pin() -> None:
    found = fold("V17", envelope_parts(replace(ENVELOPE, cms=cms(certificate(), trusted=False)), None), required=True)
    assert found.result is Result.NOT_PERFORMED
