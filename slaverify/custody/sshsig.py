"""Signatures made with `ssh-keygen -Y sign` (SSHSIG), Ed25519 keys alone.

A witness attests one checkpoint body and nothing else; no time is taken from such a signature.

Boundary: the armoured text comes from outside. Anything but one signature of the expected key and namespace is
SLV-K030.

Source: OpenSSH PROTOCOL.sshsig, RFC 4253 section 5 (strings), RFC 8709 (ssh-ed25519).
"""

from __future__ import annotations

import hashlib

from slaverify.custody.ed25519 import verifies
from slaverify.custody.faults import fault
from slaverify.custody.shapes import strict_base64

CHECKPOINT_NAMESPACE = "slaverify-checkpoint"
_BEGIN = "-----BEGIN SSH SIGNATURE-----\n"
_END = "\n-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
_KIND = b"ssh-ed25519"
_HASHES = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
_MAX_ARMOUR = 4096


def ssh_public_key(line: str) -> bytes:
    """Return the raw key (32 bytes) of an `ssh-ed25519 AAAA… [comment]` line. Raises: CustodyError SLV-K030."""
    words = line.split()
    blob = strict_base64(words[1]) if len(words) >= 2 and words[0] == "ssh-ed25519" else None
    if blob is None:
        raise _refused("clave pública", "public key")
    kind, rest = _string(blob)
    raw, rest = _string(rest)
    if kind != _KIND or len(raw) != 32 or rest:
        raise _refused("clave pública", "public key")
    return raw


def verify_sshsig(body: bytes, public_key: str, signature: str, namespace: str = CHECKPOINT_NAMESPACE) -> None:
    """Check that `signature` is one of `body` by `public_key` in `namespace`. Raises: CustodyError SLV-K030."""
    expected = ssh_public_key(public_key)
    rest = _unarmour(signature)
    if rest[:6] != _MAGIC or rest[6:10] != b"\x00\x00\x00\x01":
        raise _refused("cabecera", "header")
    key_blob, rest = _string(rest[10:])
    space, rest = _string(rest)
    reserved, rest = _string(rest)
    hash_name, rest = _string(rest)
    signed, rest = _string(rest)
    if rest or hash_name not in _HASHES:
        raise _refused("campos", "fields")
    if key_blob != _pack(_KIND) + _pack(expected):
        raise _refused("es de otra clave", "is by another key")
    if space != namespace.encode():
        raise _refused("es de otro uso (namespace)", "is of another namespace")
    kind, rest = _string(signed)
    raw, rest = _string(rest)
    digest = _HASHES[hash_name](body).digest()
    message = _MAGIC + _pack(space) + _pack(reserved) + _pack(hash_name) + _pack(digest)
    if kind != _KIND or rest or not verifies(expected, raw, message):
        raise _refused("no corresponde al texto", "does not match the text")


def _unarmour(signature: str) -> bytes:
    trimmed = signature.strip("\n")
    if len(signature) > _MAX_ARMOUR or not trimmed.startswith(_BEGIN) or not trimmed.endswith(_END):
        raise _refused("envoltura", "armour")
    data = strict_base64(trimmed.removeprefix(_BEGIN).removesuffix(_END).replace("\n", ""))
    if data is None:
        raise _refused("envoltura", "armour")
    return data


def _string(data: bytes) -> tuple[bytes, bytes]:
    size = int.from_bytes(data[:4], "big")
    if len(data) < 4 or size > len(data) - 4:
        raise _refused("cortada", "cut short")
    return data[4 : 4 + size], data[4 + size :]


def _pack(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _refused(es: str, en: str) -> Exception:
    return fault(30, f"firma SSH rechazada: {es}", f"SSH signature refused: {en}")
