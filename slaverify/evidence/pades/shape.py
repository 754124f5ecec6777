"""The frame of a CMS signature, rebuilt from its free parts and compared byte for byte.

Free are the certificates (each must be on the validated path or pinned), the signed attributes (the signature
covers them), the content of a token (its digest is among them), the signature, and in a PDF the one unsigned
attribute. All other bytes follow; a reader that tolerates variants would let some of them be flipped unseen.

Source: RFC 5652 sections 3, 5.1, 5.3; RFC 3161 section 2.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from slaverify.evidence.pades.der import (
    CONTEXT_0,
    CONTEXT_1,
    INTEGER,
    OCTETS,
    SEQUENCE,
    SET,
    DerError,
    Value,
    children,
    encode,
    first,
    only,
)

_NULL = bytes.fromhex("0500")
_SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
_DATA = bytes.fromhex("06092a864886f70d010701")
_TST_INFO = bytes.fromhex("060b2a864886f70d0109100104")
_TOKEN_ATTRIBUTE = bytes.fromhex("060b2a864886f70d010910020e")
_SHA = {
    name: bytes.fromhex("06096086480165030402" + last) for name, last in (("256", "01"), ("384", "02"), ("512", "03"))
}
_RSA = bytes.fromhex("06092a864886f70d010101")
_RSA_SHA = {
    name: bytes.fromhex("06092a864886f70d0101" + last) for name, last in (("256", "0b"), ("384", "0c"), ("512", "0d"))
}
_RSA_PSS = bytes.fromhex("06092a864886f70d01010a")
_EC_SHA = {
    name: bytes.fromhex("06082a8648ce3d0403" + last) for name, last in (("256", "02"), ("384", "03"), ("512", "04"))
}


class Kind(Enum):
    """Who wrote the signature: the PDF signer, the envelope's signer, or a timestamp authority."""

    PDF = "pdf"
    ENVELOPE = "envelope"
    TOKEN = "token"  # noqa: S105 - a kind of signature


@dataclass(frozen=True)
class Frame:
    """The free parts of one signature and how its other bytes differ from those that its writer would have put."""

    problems: tuple[str, ...]
    certificates: tuple[bytes, ...]
    signer: bytes | None
    token: bytes | None


def read_frame(data: bytes, kind: Kind) -> Frame:
    """Take a signature apart and rebuild it. Raises: DerError if it cannot be taken apart at all."""
    info = children(only(data, SEQUENCE).content)
    signed = _members(only(info[1].content, SEQUENCE), 5)
    signer = children(only(signed[4].content, SEQUENCE).content)
    if len(signer) not in (6, 7):
        raise DerError("signer")
    certificates = tuple(value.whole for value in children(signed[3].content))
    problems = [*_algorithm_problems(signed[1], signer, kind), *_certificate_problems(certificates)]
    token = None
    if len(signer) == 7:
        token = _token_of(signer[6].content)
    if (token is not None) != (kind is Kind.PDF):
        problems.append("unsigned_attrs")
    if _rebuilt(signed, signer, certificates, token, kind) != data:
        problems.append("frame")
    named = next((entry for entry in certificates if _issuer_and_serial(entry) == signer[1].whole), None)
    if named is None:
        problems.append("sid")
    return Frame(tuple(problems), certificates, named, token)


def reply_problems(data: bytes, token: bytes) -> tuple[str, ...]:
    """Say how a timestamp reply differs from `granted` and the token alone."""
    granted = encode(SEQUENCE, encode(INTEGER, b"\x00"))
    return () if data == encode(SEQUENCE, granted + token) else ("reply",)


def plain_reply(token: bytes) -> bytes:
    """Return the reply that says `granted` and holds `token`, nothing else: the form in which we keep one."""
    return encode(SEQUENCE, encode(SEQUENCE, encode(INTEGER, b"\x00")) + token)


def token_of_reply(data: bytes) -> bytes:
    """Return the token of a timestamp reply that was granted (status 0 or 1). Raises: DerError."""
    parts = children(only(data, SEQUENCE).content)
    if len(parts) != 2 or parts[0].tag != SEQUENCE:
        raise DerError("no token in the reply")
    if first(parts[0].content).whole not in (encode(INTEGER, b"\x00"), encode(INTEGER, b"\x01")):
        raise DerError("not granted")
    return parts[1].whole


def certificate_is_plain(data: bytes) -> bool:
    """Say whether a certificate's outer algorithm repeats the inner one and nothing else frames its signature."""
    parts = _members(only(data, SEQUENCE), 3)
    inner = children(parts[0].content)
    algorithm = inner[2 if inner[0].tag == CONTEXT_0 else 1].whole
    signature = parts[2].content
    rebuilt = parts[0].whole + algorithm + encode(0x03, b"\x00" + signature[1:])
    return encode(SEQUENCE, rebuilt) == data


def _members(value: Value, count: int) -> list[Value]:
    parts = children(value.content)
    if len(parts) != count:
        raise DerError("number of members")
    return parts


def _rebuilt(
    signed: list[Value], signer: list[Value], certificates: tuple[bytes, ...], token: bytes | None, kind: Kind
) -> bytes:
    inner = (
        encode(INTEGER, b"\x01")
        + signer[1].whole
        + signer[2].whole
        + encode(CONTEXT_0, signer[3].content)
        + signer[4].whole
        + encode(OCTETS, signer[5].content)
    )
    if token is not None:
        inner += encode(CONTEXT_1, encode(SEQUENCE, _TOKEN_ATTRIBUTE + encode(SET, token)))
    return encode(
        SEQUENCE,
        _SIGNED_DATA
        + encode(
            CONTEXT_0,
            encode(
                SEQUENCE,
                encode(INTEGER, b"\x03" if kind is Kind.TOKEN else b"\x01")
                + encode(SET, children(signed[1].content)[0].whole)
                + _content(signed[2], kind)
                + encode(CONTEXT_0, b"".join(certificates))
                + encode(SET, encode(SEQUENCE, inner)),
            ),
        ),
    )


def _content(value: Value, kind: Kind) -> bytes:
    if kind is not Kind.TOKEN:
        return encode(SEQUENCE, _DATA)
    octets = only(children(value.content)[1].content)
    return encode(SEQUENCE, _TST_INFO + encode(CONTEXT_0, encode(OCTETS, octets.content)))


def _token_of(content: bytes) -> bytes:
    attribute = only(content, SEQUENCE)
    parts = _members(attribute, 2)
    if parts[0].whole != _TOKEN_ATTRIBUTE:
        raise DerError("unsigned attribute")
    return only(parts[1].content, SEQUENCE).whole


def _algorithm_problems(digests: Value, signer: list[Value], kind: Kind) -> list[str]:
    hashes = ("256", "384", "512") if kind is Kind.TOKEN else ("256",)
    named = children(digests.content)
    size = next((name for name in hashes if signer[2].whole in _digest_forms(name)), None)
    if size is None or len(named) != 1 or named[0].whole not in _digest_forms(size):
        return ["digest_algorithm"]
    allowed = [encode(SEQUENCE, _EC_SHA[size]), encode(SEQUENCE, _RSA_SHA[size] + _NULL)]
    if kind is not Kind.PDF:
        allowed.append(encode(SEQUENCE, _RSA + _NULL))
    if kind is Kind.TOKEN:
        allowed.append(encode(SEQUENCE, _RSA))
        if signer[4].content.startswith(_RSA_PSS):
            return []
    return [] if signer[4].whole in allowed else ["signature_algorithm"]


def _digest_forms(size: str) -> tuple[bytes, bytes]:
    return encode(SEQUENCE, _SHA[size]), encode(SEQUENCE, _SHA[size] + _NULL)


def _certificate_problems(certificates: tuple[bytes, ...]) -> list[str]:
    if len(set(certificates)) != len(certificates) or not certificates:
        return ["certificates"]
    return [] if all(certificate_is_plain(entry) for entry in certificates) else ["certificate_frame"]


def _issuer_and_serial(certificate: bytes) -> bytes:
    inner = children(_members(only(certificate, SEQUENCE), 3)[0].content)
    start = 1 if inner[0].tag == CONTEXT_0 else 0
    return encode(SEQUENCE, inner[start + 2].whole + inner[start].whole)
