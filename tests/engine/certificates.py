"""A private authority for tests, with servers' certificates of chosen keys."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from slaverify.engine.connect import spki_sha256


class Authority:
    """Signs certificates for 127.0.0.1; `pem` is its root."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test root")])
        self._root = self._sign(self._name, self._key, ca=True)
        self.pem = self._root.public_bytes(Encoding.PEM).decode()
        self._contexts: dict[str, tuple[ssl.SSLContext, str]] = {}

    def _sign(self, name: x509.Name, key: ec.EllipticCurvePrivateKey, *, ca: bool, days: int = 1) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=2))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if not ca:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def server(self, label: str, *, days: int = 1) -> ssl.SSLContext:
        """The context of the server key `label`; negative days: expired."""
        if label not in self._contexts:
            key = ec.generate_private_key(ec.SECP256R1())
            certificate = self._sign(
                x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, label)]), key, ca=False, days=days
            )
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "server.pem"
                private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
                file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(file)
            self._contexts[label] = (context, spki_sha256(certificate.public_bytes(Encoding.DER)))
        return self._contexts[label][0]

    def spki(self, label: str) -> str:
        self.server(label)
        return self._contexts[label][1]

    def chooser(self, given: dict[str, Any]) -> Callable[[int], ssl.SSLContext]:
        """The certificate by the number of the request that a new connection will carry."""

        def choose(request: int) -> ssl.SSLContext:
            entry = [one for one in given["tls"] if one["from_request"] <= request][-1]
            if entry["certificate"] == "trusted":
                return self.server(entry["key"])
            if entry["certificate"] == "expired":
                return self.server("expired-" + entry["key"], days=-1)
            return Authority().server(entry["key"])

        return choose
