"""A token of SoftHSM2 with two keys, for tests that sign inside one; skipped with its reason where it is absent."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from slaverify.evidence.envelope import SigningKey
from tests.evidence.pki import rsa_key, self_signed

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
    pytest.importorskip("pkcs11")
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
        certificates = {name: key.certificate.public_bytes(Encoding.DER) for name, key in keys.items()}
        # In a process of its own: the module of a token keeps its login for all who load it in one process.
        worker = get_context("spawn").Process(target=_store_certificates, args=(module, certificates))
        worker.start()
        worker.join(60)
        assert worker.exitcode == 0
        yield Hsm(module, keys)
    finally:
        os.environ.pop("SOFTHSM2_CONF") if before is None else os.environ.update(SOFTHSM2_CONF=before)


def _import(tool: str, folder: Path, name: str, number: int, key: SigningKey) -> None:
    path = folder / f"{name}.pem"
    path.write_bytes(key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    words = [tool, "--import", path, "--token", LABEL, "--label", name, "--id", f"{number:02x}", "--pin", PIN]
    subprocess.run(words, check=True, capture_output=True)
    path.unlink()


def _store_certificates(module: str, certificates: dict[str, bytes]) -> None:
    import pkcs11

    with pkcs11.lib(module).get_token(token_label=LABEL).open(rw=True, user_pin=PIN) as session:
        for name, data in certificates.items():
            session.create_object(
                {
                    pkcs11.Attribute.CLASS: pkcs11.ObjectClass.CERTIFICATE,
                    pkcs11.Attribute.CERTIFICATE_TYPE: pkcs11.CertificateType.X_509,
                    pkcs11.Attribute.TOKEN: True,
                    pkcs11.Attribute.LABEL: name,
                    pkcs11.Attribute.SUBJECT: x509.load_der_x509_certificate(data).subject.public_bytes(),
                    pkcs11.Attribute.VALUE: data,
                }
            )
