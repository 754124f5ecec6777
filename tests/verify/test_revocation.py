"""V14 reads revocation lists: who revoked what, and from when, against the time of the token."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from slaverify.evidence import B_LTA, B_T, SignatureFacts
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.pades import LongTerm, pdf_facts, sign_pdf
from slaverify.evidence.pades.revocation import read_list
from slaverify.verify.checks import PASSED, Check, Result, fold
from slaverify.verify.revocation import revocation_parts
from tests.evidence.pki import NOW, Ca, auditor, ca, pins_for, tsa, unsigned_pdf

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
AT = NOW
"""The time of every token here."""


@cache
def issued() -> SigningKey:
    return ca(1).issue(crl_at="http://crl.example/ca.crl")


@cache
def facts(level: str = B_T, kept: tuple[bytes, ...] = ()) -> SignatureFacts:
    lasting = LongTerm((ca(1).pem, tsa().root), AT, kept) if level == B_LTA else None
    pdf = sign_pdf(unsigned_pdf(), issued(), tsa().stamper().stamp_digest, lasting)
    return pdf_facts(pdf, pins_for(issued(), auditor_roots=(ca(1).pem,), level=level))


def listed(
    since=None, *, by: Ca | None = None, this=AT - HOUR, until=AT + DAY, suspect=None, extension=None, pem=False
) -> bytes:
    """A list of the authority that revokes the key from `since` (None: it does not)."""
    signer = by or ca(1)
    builder = x509.CertificateRevocationListBuilder().issuer_name(signer.certificate.subject)
    builder = builder.last_update(this).next_update(until)
    if since is not None:
        row = x509.RevokedCertificateBuilder().serial_number(issued().certificate.serial_number).revocation_date(since)
        if suspect is not None:
            row = row.add_extension(x509.InvalidityDate(suspect.replace(tzinfo=None)), False)
        builder = builder.add_revoked_certificate(row.build())
    if extension is not None:
        builder = builder.add_extension(extension, True)
    return builder.sign(signer.key, hashes.SHA256()).public_bytes(Encoding.PEM if pem else Encoding.DER)


def judged(*lists: bytes, found: SignatureFacts | None = None, level: str = B_T) -> Check:
    return fold("V14", [PASSED, *revocation_parts(found or facts(), lists, level)], required=True)


@pytest.mark.parametrize("pem", [False, True])
def test_a_current_list_without_the_key_proves_it(pem: bool) -> None:
    check = judged(listed(pem=pem))
    assert (check.result, check.reason.en) == (Result.PASSED, "")


def test_without_a_list_nothing_is_said_of_revocation() -> None:
    check = judged()
    assert "no revocation list was consulted" in check.reason.en
    assert "--crl" in check.remedy.en


def test_a_key_revoked_before_the_token_fails_with_a_pin_s_exit() -> None:
    for data in (listed(AT - HOUR), listed(AT), listed(AT - HOUR, this=AT + HOUR)):
        check = judged(data)
        assert (check.result, check.exit_code) == (Result.FAILED, 5)
        assert "revoked before the token" in check.reason.en


def test_a_key_revoked_later_is_said_and_fails_nothing() -> None:
    check = judged(listed(AT + HOUR, this=AT + 2 * HOUR))
    assert check.result is Result.PASSED
    assert "revoked later" in check.reason.en


def test_a_key_suspect_before_the_token_fails_though_it_was_revoked_later() -> None:
    check = judged(listed(AT + HOUR, this=AT + 2 * HOUR, suspect=AT - HOUR))
    assert check.result is Result.FAILED


def test_an_old_list_proves_nothing_but_still_revokes() -> None:
    old = {"this": AT - 9 * DAY, "until": AT - 2 * DAY}
    check = judged(listed(**old))
    assert check.result is Result.NOT_PERFORMED
    assert "does not reach the time" in check.reason.en
    assert judged(listed(AT - 9 * DAY, **old)).result is Result.FAILED


def test_a_list_from_after_the_certificate_s_end_proves_nothing() -> None:
    after = issued().certificate.not_valid_after_utc + DAY
    assert judged(listed(this=after, until=after + DAY)).result is Result.NOT_PERFORMED


def _scope(**names: object) -> x509.IssuingDistributionPoint:
    given = dict.fromkeys(("full_name", "relative_name", "only_some_reasons"))
    flags = dict.fromkeys(
        ("only_contains_user_certs", "only_contains_ca_certs", "indirect_crl", "only_contains_attribute_certs"), False
    )
    return x509.IssuingDistributionPoint(**{**given, **flags, **names})


@pytest.mark.parametrize(
    "data",
    [
        lambda: b"list",
        lambda: b"",
        lambda: listed()[:-1],
        lambda: listed(AT - HOUR, by=ca(2)),
        lambda: listed(extension=x509.DeltaCRLIndicator(1)),
        lambda: listed(extension=_scope(only_contains_ca_certs=True)),
        lambda: listed(extension=_scope(indirect_crl=True)),
        lambda: listed(extension=_scope(only_some_reasons=frozenset([x509.ReasonFlags.superseded]))),
        lambda: listed(extension=x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")),
    ],
    ids=["junk", "empty", "cut", "same_name_other_key", "delta", "other_scope", "indirect", "some_reasons", "critical"],
)
def test_a_list_of_no_use_is_never_a_pass_nor_dropped(data) -> None:
    check = judged(data())
    assert check.result is Result.NOT_PERFORMED
    assert "is no use" in check.reason.en


def test_a_scope_that_holds_the_key_is_read() -> None:
    assert judged(listed(extension=_scope(only_contains_user_certs=True))).result is Result.PASSED


def test_a_self_signed_key_has_no_list() -> None:
    found = pdf_facts(sign_pdf(unsigned_pdf(), auditor(), tsa().stamper().stamp_digest), pins_for(auditor()))
    assert judged(listed(), found=found).result is Result.NOT_PERFORMED


def test_b_lta_keeps_its_list_and_is_judged_by_it() -> None:
    kept = listed()
    found = facts(B_LTA, (kept,))
    assert found.archived_lists == (kept,)
    check = judged(found=found, level=B_LTA)
    assert (check.result, check.reason.en) == (Result.PASSED, "")
    # One published since then, handed in beside it, still shows what the issuer learnt later.
    later = judged(listed(AT - HOUR, this=AT + DAY, until=AT + 2 * DAY), found=found, level=B_LTA)
    assert (later.result, later.exit_code) == (Result.FAILED, 5)


def test_b_lta_without_the_list_that_its_certificate_names_stays_open() -> None:
    check = judged(level=B_LTA)
    assert check.result is Result.NOT_PERFORMED
    assert "B-LTA without the revocation list" in check.reason.en


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_changed_byte_makes_a_revoking_list_a_pass(position: int, mask: int) -> None:
    data = bytearray(listed(AT - HOUR))
    data[position % len(data)] ^= mask
    assert judged(bytes(data)).result is not Result.PASSED


@given(st.binary(max_size=400))
def test_bytes_of_anybody_raise_nothing(data: bytes) -> None:
    path = facts().cms.path
    assert read_list(data, path).problem
