"""The header of an age file: how many recipients can open it.

Boundary: a hidden extra recipient could read the bank. `X25519` stanzas are counted, `*-grease` stanzas ignored, any
other kind refused (SLV-K014).

Source: C2SP age.md (header).
"""

from __future__ import annotations

from slaverify.custody.faults import fault

MAX_HEADER = 64 * 1024
"""Bytes of a header that are looked at."""
_VERSION = b"age-encryption.org/v1"


def recipient_count(head: bytes) -> int:
    """Return the number of `X25519` recipients of an age file that begins with `head`.

    Raises: CustodyError SLV-K014 for a malformed header or another kind of recipient.
    """
    lines = head[:MAX_HEADER].split(b"\n")
    if lines[0] != _VERSION:
        raise _refused("no es un archivo age", "not an age file")
    found = 0
    for line in lines[1:]:
        if line.startswith(b"--- "):
            return found
        if not line.startswith(b"-> "):
            continue
        kind = line.split(b" ")[1]
        if kind == b"X25519":
            found += 1
        elif not kind.endswith(b"-grease"):
            name = kind.decode("ascii", "replace")[:40]
            raise _refused(f"destinatario de otra clase: {name}", f"recipient of another kind: {name}")
    raise _refused("cabecera sin fin", "header without an end")


def check_recipients(head: bytes, declared: int) -> None:
    """Refuse an age file that more or fewer can open than its manifest declares. Raises: CustodyError SLV-K014."""
    found = recipient_count(head)
    if found != declared:
        raise _refused(
            f"la abren {found} destinatarios y el manifiesto declara {declared}",
            f"{found} recipients can open it and the manifest declares {declared}",
        )


def _refused(es: str, en: str) -> Exception:
    return fault(14, f"destinatarios del cifrado: {es}", f"recipients of the ciphertext: {en}", where="bank.age")
