"""A signing key inside a PKCS#11 token: it signs there, and stands here as a private key that cannot be exported.

Named by an RFC 7512 URI: `pkcs11:token=LABEL;object=LABEL?module-path=/usr/lib/…/libsofthsm2.so`. The PIN is asked
through a callable and never stands in the URI. The token must hold the certificate beside the key, under the same
label or id. Needs the extra `[pkcs11]`.

Source: PKCS#11 v2.40 (CKM_ECDSA, CKM_SHA256_RSA_PKCS), RFC 7512, RFC 3279 (ECDSA-Sig-Value).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias, cast
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric import utils as asymmetric_utils

from slaverify.errors import ReportError, Text
from slaverify.evidence.envelope import SigningKey, fit_key
from slaverify.evidence.problems import unfit_key, unreadable_key

if TYPE_CHECKING:
    import pkcs11

_Buffer: TypeAlias = bytes | bytearray | memoryview

SCHEME = "pkcs11:"
_PATH = frozenset({"token", "object", "id", "serial", "manufacturer", "model"})


class _Signs(Protocol):
    """What this module needs of a private key of a token."""

    def sign(self, data: bytes, *, mechanism: pkcs11.Mechanism) -> bytes:
        """Return the raw signature."""


@dataclass(frozen=True)
class TokenUri:
    """What a URI names: the token by its label, the key by its label or its id, the module by its path."""

    token: str
    module: str
    label: str | None
    id: bytes | None


def load_token_key(uri: str, pin: Callable[[str], str]) -> SigningKey:
    """Open the token and return its key. `pin` is called with the token's label.

    Raises: ReportError SLV-R022 (URI, module, token, PIN, key), SLV-R021 (not fit to sign), SLV-R034 (extra missing).
    """
    named = parse_uri(uri)
    try:
        import pkcs11
    except ImportError as error:
        raise ReportError(
            "SLV-R034",
            Text("falta el soporte de PKCS#11", "PKCS#11 support is not installed"),
            fix=Text("instale slaverify[pkcs11]", "install slaverify[pkcs11]"),
            where=uri,
        ) from error
    try:
        token = pkcs11.lib(named.module).get_token(token_label=named.token)
        session = _opened(token, pin)
        found = list(session.get_objects(_template(named, pkcs11.ObjectClass.PRIVATE_KEY)))
        certificates = _certificates(session, named)
    except (pkcs11.PKCS11Error, RuntimeError, OSError) as error:
        detail = type(error).__name__
        raise unreadable_key(uri, Text(detail, detail)) from error
    if len(found) != 1:
        raise unreadable_key(uri, Text(f"{len(found)} claves con ese nombre", f"{len(found)} keys of that name"))
    private = cast("_Signs", found[0])
    leaf = next(iter(certificates), None)
    if leaf is None:
        raise unfit_key(Text("el token no trae su certificado", "the token does not hold its certificate"), uri)
    public = leaf.public_key()
    if isinstance(public, ec.EllipticCurvePublicKey):
        return fit_key(_EcKey(private, public), certificates, uri)
    if isinstance(public, rsa.RSAPublicKey):
        return fit_key(_RsaKey(private, public), certificates, uri)
    raise unfit_key(Text("tipo de clave", "kind of key"), uri)


def _opened(token: pkcs11.Token, pin: Callable[[str], str]) -> pkcs11.Session:
    import pkcs11

    try:
        return token.open(user_pin=pin(token.label))
    except pkcs11.UserAlreadyLoggedIn:
        # A token is opened once a process: the PIN was given for the first key.
        return token.open()


def parse_uri(uri: str) -> TokenUri:
    """Read a URI of RFC 7512. Raises: ReportError SLV-R022 for another form, an unknown attribute or a PIN in it."""
    path, _, query = uri.removeprefix(SCHEME).partition("?")
    parts = _attributes(path, ";", uri)
    asked = _attributes(query, "&", uri)
    if "pin-value" in asked or "pin-value" in parts:
        raise unreadable_key(
            uri.partition("pin-value")[0],
            Text("el PIN no va en la orden: use SLAVERIFY_PKCS11_PIN", "no PIN in a command: use SLAVERIFY_PKCS11_PIN"),
        )
    unknown = [*(set(parts) - _PATH), *(set(asked) - {"module-path"})]
    if not uri.startswith(SCHEME) or unknown or "token" not in parts or not asked.get("module-path"):
        detail = Text(
            "se espera pkcs11:token=…;object=…?module-path=…", "expected pkcs11:token=…;object=…?module-path=…"
        )
        raise unreadable_key(uri, detail)
    if "object" not in parts and "id" not in parts:
        raise unreadable_key(uri, Text("falta object o id de la clave", "object or id of the key is missing"))
    return TokenUri(
        token=unquote(parts["token"]),
        module=unquote(asked["module-path"]),
        label=unquote(parts["object"]) if "object" in parts else None,
        id=_id(parts["id"], uri) if "id" in parts else None,
    )


def _attributes(text: str, separator: str, uri: str) -> dict[str, str]:
    pairs = [entry.partition("=") for entry in text.split(separator) if entry]
    if len({name for name, _, _ in pairs}) != len(pairs):
        raise unreadable_key(uri, Text("atributo repetido", "attribute twice"))
    return {name: value for name, _, value in pairs}


def _id(text: str, uri: str) -> bytes:
    try:
        return bytes.fromhex(text.replace("%", ""))
    except ValueError as error:
        raise unreadable_key(uri, Text("id no hexadecimal", "id is not hexadecimal")) from error


def _template(named: TokenUri, kind: pkcs11.ObjectClass) -> dict[pkcs11.Attribute, object]:
    import pkcs11

    asked: dict[pkcs11.Attribute, object] = {pkcs11.Attribute.CLASS: kind}
    if named.label is not None:
        asked[pkcs11.Attribute.LABEL] = named.label
    if named.id is not None:
        asked[pkcs11.Attribute.ID] = named.id
    return asked


def _certificates(session: pkcs11.Session, named: TokenUri) -> list[x509.Certificate]:
    import pkcs11

    found = session.get_objects(_template(named, pkcs11.ObjectClass.CERTIFICATE))
    return [x509.load_der_x509_certificate(bytes(entry[pkcs11.Attribute.VALUE])) for entry in found]


def _kept(*_: object, **__: object) -> NoReturn:
    raise NotImplementedError("the key never leaves its token")


class _EcKey(ec.EllipticCurvePrivateKey):
    """A private EC key of a token."""

    exchange = private_numbers = private_bytes = _kept

    def __init__(self, inside: _Signs, public: ec.EllipticCurvePublicKey) -> None:
        self._inside, self._public = inside, public

    def __copy__(self) -> _EcKey:
        return self

    def __deepcopy__(self, _: dict[int, object]) -> _EcKey:
        return self

    @property
    def curve(self) -> ec.EllipticCurve:
        """The curve."""
        return self._public.curve

    @property
    def key_size(self) -> int:
        """Bits of the key."""
        return self._public.key_size

    def public_key(self) -> ec.EllipticCurvePublicKey:
        """Return the public key, of the certificate."""
        return self._public

    def sign(self, data: _Buffer, signature_algorithm: ec.EllipticCurveSignatureAlgorithm) -> bytes:
        """Return the signature over SHA-256(`data`) in DER; the token gives r ‖ s."""
        import pkcs11

        algorithm = signature_algorithm.algorithm
        if not isinstance(algorithm, hashes.SHA256):
            _kept()
        digest = hashes.Hash(hashes.SHA256())
        digest.update(data)
        raw = bytes(self._inside.sign(digest.finalize(), mechanism=pkcs11.Mechanism.ECDSA))
        half = len(raw) // 2
        return asymmetric_utils.encode_dss_signature(
            int.from_bytes(raw[:half], "big"), int.from_bytes(raw[half:], "big")
        )


class _RsaKey(rsa.RSAPrivateKey):
    """A private RSA key of a token."""

    decrypt = private_numbers = private_bytes = _kept

    def __init__(self, inside: _Signs, public: rsa.RSAPublicKey) -> None:
        self._inside, self._public = inside, public

    def __copy__(self) -> _RsaKey:
        return self

    def __deepcopy__(self, _: dict[int, object]) -> _RsaKey:
        return self

    @property
    def key_size(self) -> int:
        """Bits of the modulus."""
        return self._public.key_size

    def public_key(self) -> rsa.RSAPublicKey:
        """Return the public key, of the certificate."""
        return self._public

    def sign(self, data: _Buffer, padding: padding.AsymmetricPadding, algorithm: object) -> bytes:
        """Return the PKCS#1 v1.5 signature over SHA-256(`data`)."""
        import pkcs11

        if not isinstance(algorithm, hashes.SHA256) or padding.name != "EMSA-PKCS1-v1_5":
            _kept()
        return bytes(self._inside.sign(bytes(data), mechanism=pkcs11.Mechanism.SHA256_RSA_PKCS))
