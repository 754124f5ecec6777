"""A key that never leaves its token signs PDF and manifest as a key in a file does (SoftHSM2)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from slaverify.errors import ReportError
from slaverify.evidence import Bundle, cms_problems, token_problems
from slaverify.evidence.dsse import envelope, statement
from slaverify.evidence.envelope import SigningKey, sign_manifest
from slaverify.evidence.pades import envelope_facts, pdf_facts, sign_pdf
from slaverify.evidence.pkcs11 import load_token_key, parse_uri
from tests.evidence.pki import MANIFEST, pins_for, rsa_key, self_signed, tsa, unsigned_pdf
from tests.verify.sample import closed, line

MODULES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
)
LABEL, PIN = "auditora de prueba", "271828"


@dataclass(frozen=True)
class Hsm:
    module: str
    keys: dict[str, SigningKey]

    def uri(self, name: str) -> str:
        return f"pkcs11:token={LABEL.replace(' ', '%20')};object={name}?module-path={self.module}"


@pytest.fixture(scope="module")
def hsm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hsm]:
    """A token of its own in a folder of its own, with one EC and one RSA key and their certificates."""
    module = next((path for path in MODULES if Path(path).is_file()), None)
    tool = shutil.which("softhsm2-util")
    if module is None or tool is None:
        pytest.skip("SoftHSM2 is not installed (apt-get install softhsm2)")
    pkcs11 = pytest.importorskip("pkcs11")
    folder = tmp_path_factory.mktemp("softhsm")
    (folder / "tokens").mkdir()
    (folder / "softhsm2.conf").write_text(f"directories.tokendir = {folder / 'tokens'}\nlog.level = ERROR\n")
    before = os.environ.get("SOFTHSM2_CONF")
    os.environ["SOFTHSM2_CONF"] = str(folder / "softhsm2.conf")
    try:
        run = [tool, "--init-token", "--free", "--label", LABEL, "--so-pin", "314159", "--pin", PIN]
        subprocess.run(run, check=True, capture_output=True)
        keys = {"ec": self_signed(ec.generate_private_key(ec.SECP256R1())), "rsa": self_signed(rsa_key())}
        for number, (name, key) in enumerate(keys.items(), 1):
            _import(tool, folder, name, number, key)
        with pkcs11.lib(module).get_token(token_label=LABEL).open(rw=True, user_pin=PIN) as session:
            for name, key in keys.items():
                _store_certificate(pkcs11, session, name, key.certificate)
        yield Hsm(module, keys)
    finally:
        os.environ.pop("SOFTHSM2_CONF") if before is None else os.environ.update(SOFTHSM2_CONF=before)


def _import(tool: str, folder: Path, name: str, number: int, key: SigningKey) -> None:
    path = folder / f"{name}.pem"
    path.write_bytes(key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    words = [tool, "--import", path, "--token", LABEL, "--label", name, "--id", f"{number:02x}", "--pin", PIN]
    subprocess.run(words, check=True, capture_output=True)
    path.unlink()


def _store_certificate(pkcs11, session, name: str, certificate: x509.Certificate) -> None:
    session.create_object(
        {
            pkcs11.Attribute.CLASS: pkcs11.ObjectClass.CERTIFICATE,
            pkcs11.Attribute.CERTIFICATE_TYPE: pkcs11.CertificateType.X_509,
            pkcs11.Attribute.TOKEN: True,
            pkcs11.Attribute.LABEL: name,
            pkcs11.Attribute.SUBJECT: certificate.subject.public_bytes(),
            pkcs11.Attribute.VALUE: certificate.public_bytes(Encoding.DER),
        }
    )


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
def test_what_is_not_there_is_refused_in_words(hsm: Hsm, change, pin: str) -> None:
    with pytest.raises(ReportError) as caught:
        load_token_key(change(hsm.uri("ec")), lambda _: pin)
    assert caught.value.code == "SLV-R022"
    assert pin not in str(caught.value)


@pytest.mark.parametrize("name", ["ec", "rsa"])
def test_a_key_of_a_token_signs_pdf_manifest_and_statement(hsm: Hsm, name: str) -> None:
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
