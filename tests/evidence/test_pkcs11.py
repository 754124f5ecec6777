"""A key that never leaves its token signs PDF and manifest as a key in a file does (SoftHSM2)."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from slaverify.errors import ReportError
from slaverify.evidence import Bundle, cms_problems, token_problems
from slaverify.evidence.dsse import envelope, statement
from slaverify.evidence.envelope import sign_manifest
from slaverify.evidence.pades import envelope_facts, pdf_facts, sign_pdf
from slaverify.evidence.pkcs11 import load_token_key, parse_uri
from tests.evidence.pki import MANIFEST, pins_for, tsa, unsigned_pdf
from tests.evidence.softhsm import LABEL, PIN, Hsm, hsm  # noqa: F401 - a fixture
from tests.verify.sample import closed, line


@pytest.mark.parametrize(
    ("change", "pin"),
    [
        (lambda uri: uri, "000000"),
        (lambda uri: uri.replace("object=ec", "object=otra"), PIN),
        (lambda uri: uri.replace("token=", "token=x"), PIN),
        (lambda uri: uri.replace("libsofthsm2", "nada"), PIN),
    ],
    ids=["pin", "key", "token", "module"],
)
def test_what_is_not_there_is_refused_in_words(hsm: Hsm, change, pin: str) -> None:  # noqa: F811 - the fixture
    with pytest.raises(ReportError) as caught:
        load_token_key(change(hsm.uri("ec")), lambda _: pin)
    assert caught.value.code == "SLV-R022"
    assert pin not in str(caught.value)


@pytest.mark.parametrize("name", ["ec", "rsa"])
def test_a_key_of_a_token_signs_pdf_manifest_and_statement(hsm: Hsm, name: str) -> None:  # noqa: F811 - the fixture
    key = load_token_key(hsm.uri(name), lambda label: PIN if label == LABEL else "")
    assert key.spki_sha256 == hsm.keys[name].spki_sha256
    facts = pdf_facts(sign_pdf(unsigned_pdf(), key, tsa().stamper().stamp_digest), pins_for(key))
    assert facts.broken == {}
    assert (cms_problems(facts.cms), token_problems(facts.token, ())) == ((), ())
    signature = sign_manifest(MANIFEST, key)
    found = envelope_facts(MANIFEST, signature, tsa().stamper().stamp(signature), pins_for(key))
    assert (found.broken, cms_problems(found.cms)) == ({}, ())
    assert envelope(statement(Bundle.of_files(closed(line(0))), {"a.pdf": "00" * 32}), key)
    with pytest.raises(NotImplementedError):
        key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    "uri",
    [
        "pkcs11:",
        "pkcs11:token=a;object=b",
        "pkcs11:token=a?module-path=/x.so",
        "pkcs11:object=b?module-path=/x.so",
        "pkcs11:token=a;token=b;object=c?module-path=/x.so",
        "pkcs11:token=a;object=b;color=c?module-path=/x.so",
        "pkcs11:token=a;object=b?module-path=/x.so&pin-value=1234",
        "pkcs11:token=a;id=%zz?module-path=/x.so",
    ],
)
def test_a_uri_of_another_form_is_refused_and_a_pin_in_it_not_repeated(uri: str) -> None:
    with pytest.raises(ReportError) as caught:
        parse_uri(uri)
    assert caught.value.code == "SLV-R022"
    assert "1234" not in "".join(caught.value.lines("en"))


def test_a_uri_names_token_key_and_module() -> None:
    found = parse_uri("pkcs11:token=a%20b;object=c;id=%01%aB?module-path=/x.so")
    assert (found.token, found.label, found.id, found.module) == ("a b", "c", b"\x01\xab", "/x.so")
