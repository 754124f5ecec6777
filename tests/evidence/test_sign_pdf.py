"""Signing a finished PDF: what is added, what stays, and what public tools say."""

from __future__ import annotations

import subprocess
from io import BytesIO
from pathlib import Path

import pikepdf
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from slaverify.errors import ReportError
from slaverify.evidence import B_LTA, DEMO_POLICY, cms_problems, token_problems
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.pades import LongTerm, make_authority, make_signer, pdf_facts, sign_pdf
from slaverify.evidence.pades.sign import RESERVED
from slaverify.evidence.pades.xref import chain_of
from slaverify.verify.signature import is_demo
from tests.evidence.pki import (
    MANIFEST,
    NOW,
    REPORT,
    Tsa,
    auditor,
    ca,
    key_of,
    pins_for,
    rsa_key,
    self_signed,
    signed_pdf,
    tsa,
    unsigned_pdf,
)


def test_the_unsigned_file_is_its_beginning() -> None:
    assert signed_pdf()[: len(unsigned_pdf())] == unsigned_pdf()
    assert len(signed_pdf()) - len(unsigned_pdf()) < RESERVED + 4_096


def test_what_is_read_back() -> None:
    facts = pdf_facts(signed_pdf(), pins_for(auditor()))
    assert facts.broken == {}
    assert (facts.regular_signatures, facts.certified, facts.docmdp) == (1, True, 1)
    assert {entry.name: entry.data for entry in facts.attachments} == {"manifest.json": MANIFEST, "report.json": REPORT}
    assert facts.signer.spki_sha256 == auditor().spki_sha256
    assert facts.token.at == NOW
    assert (facts.later_revisions, facts.last_covers_file, facts.gap_problems) == (0, True, ())
    assert facts.structure_problems == ()
    assert len(facts.signed_digest) == 64


def test_metadata_and_version_stay_the_renderers() -> None:
    """The signing library would write its own name, the wall clock and version 2.0."""
    with pikepdf.open(BytesIO(unsigned_pdf())) as before, pikepdf.open(BytesIO(signed_pdf())) as after:
        assert bytes(after.Root.Metadata.read_raw_bytes()) == bytes(before.Root.Metadata.read_raw_bytes())
        assert dict(after.docinfo) == dict(before.docinfo)
        assert after.pdf_version == before.pdf_version
        assert "/Version" not in after.Root


@pytest.mark.parametrize(
    "make",
    [
        lambda: self_signed(ec.generate_private_key(ec.SECP384R1())),
        lambda: self_signed(rsa_key()),
        lambda: ca().issue(),
    ],
    ids=["p384", "rsa3072", "issued"],
)
def test_each_kind_of_key(make) -> None:
    key = make()
    pdf = sign_pdf(unsigned_pdf(), key, tsa().stamper().stamp_digest)
    roots = (ca().pem,) if key.chain else ()
    facts = pdf_facts(pdf, pins_for(key, auditor_roots=roots))
    assert facts.broken == {}
    assert cms_problems(facts.cms) == ()
    assert token_problems(facts.token, ()) == ()


def test_an_issued_key_pinned_alone_is_its_own_root() -> None:
    key = ca().issue()
    facts = pdf_facts(sign_pdf(unsigned_pdf(), key, tsa().stamper().stamp_digest), pins_for(key))
    # The signing certificate is named in what was signed; the issuer's has no place then.
    assert cms_problems(facts.cms) == ("stray_certificate",)


def test_public_tools(tmp_path: Path) -> None:
    path = tmp_path / "signed.pdf"
    path.write_bytes(signed_pdf())
    assert subprocess.run(["qpdf", "--check", path], check=False, capture_output=True).returncode == 0
    said = subprocess.run(["pdfsig", path], check=False, capture_output=True, text=True).stdout
    assert "ETSI.CAdES.detached" in said
    assert "Signature is Valid" in said
    assert "Total document signed" in said


def test_only_classic_unsigned_files_are_signed() -> None:
    out = BytesIO()
    with pikepdf.open(BytesIO(unsigned_pdf())) as pdf:
        pdf.save(out, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    for data in (out.getvalue(), b"", b"%PDF-1.7\n", unsigned_pdf()[:-40]):
        with pytest.raises(ReportError) as caught:
            sign_pdf(data, auditor(), tsa().stamper().stamp_digest)
        assert caught.value.code == "SLV-R023"


def test_demonstration_keys_are_recognised() -> None:
    signer, authority = make_signer(NOW), Tsa(make_authority(NOW), policy=DEMO_POLICY)
    for key, stamps, demo in (
        (key_of(signer), tsa(), True),
        (auditor(), authority, True),
        (auditor(), tsa(), False),
    ):
        pdf = sign_pdf(unsigned_pdf(), key, stamps.stamper().stamp_digest)
        facts = pdf_facts(pdf, pins_for(key, stamps))
        assert is_demo(facts, DEMO_POLICY) is demo
        assert cms_problems(facts.cms) == ()


def test_the_chain_of_revisions() -> None:
    assert len(chain_of(unsigned_pdf())) == 1
    assert len(chain_of(signed_pdf())) == 2


def archived(key: SigningKey, authority: Tsa, roots: tuple[str, ...], crls: tuple[bytes, ...] = ()) -> bytes:
    long_term = LongTerm((*roots, authority.root), NOW, crls)
    return sign_pdf(unsigned_pdf(), key, authority.stamper().stamp_digest, long_term)


def test_b_lta_adds_one_update_under_a_document_timestamp() -> None:
    authority = Tsa(tsa().identity)
    pdf = archived(auditor(), authority, (auditor().certificate_pem.decode(),))
    assert pdf[: len(unsigned_pdf())] == unsigned_pdf()
    assert len(authority.calls) == 2
    assert len(chain_of(pdf)) == 3
    facts = pdf_facts(pdf, pins_for(auditor(), level=B_LTA))
    assert (facts.broken, facts.later_revisions, facts.later_changes, facts.last_covers_file) == ({}, 1, "", True)
    assert [token_problems(token, ()) for token in facts.document_timestamps] == [()]
    assert cms_problems(facts.cms) == ()
    with pikepdf.open(BytesIO(unsigned_pdf())) as before, pikepdf.open(BytesIO(pdf)) as after:
        assert bytes(after.Root.Metadata.read_raw_bytes()) == bytes(before.Root.Metadata.read_raw_bytes())
        assert len(after.Root.DSS.Certs) == 3


def test_b_lta_without_a_revocation_list_fails_closed() -> None:
    key = ca().issue(crl_at="http://crl.example/ca.crl")
    pdf = archived(key, tsa(), (ca().pem,), (ca().crl(NOW),))
    facts = pdf_facts(pdf, pins_for(key, level=B_LTA, auditor_roots=(ca().pem,)))
    assert (facts.broken, facts.later_changes) == ({}, "")
    with pikepdf.open(BytesIO(pdf)) as after:
        assert len(after.Root.DSS.CRLs) == 1
    for crls in ((), (ca().crl(NOW, key.certificate),), (ca(2).crl(NOW),)):
        with pytest.raises(ReportError) as caught:
            archived(key, tsa(), (ca().pem,), crls)
        assert caught.value.code == "SLV-R023"
