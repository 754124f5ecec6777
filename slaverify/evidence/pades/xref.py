"""The cross-reference chain of a PDF, read from its bytes alone: classic tables or nothing.

Trust boundary: this runs before the PDF library opens the file. Cross-reference and object streams are refused
here because they inflate without a cap there, and because an object inside one escapes a reader's eye.

Source: ISO 32000-1 7.5.4, 7.5.5 (file trailer), 7.5.8.4 (hybrid files).
"""

from __future__ import annotations

import re

from slaverify.evidence.layout import MAX_PDF

MAX_REVISIONS = 64
_TRAILER_SIZE = 8_192
_START = re.compile(rb"startxref[ \r\n\t]+([0-9]{1,10})[ \r\n\t]+%%EOF")
_TABLE = re.compile(rb"xref[ ]*(?:\r\n|\r|\n)")
_SECTION = re.compile(rb"([0-9]{1,10}) ([0-9]{1,7})[ ]*(?:\r\n|\r|\n)")
_ENTRY = 20
_TRAILER = re.compile(rb"trailer[ \r\n\t]*<<")
_TOKEN = re.compile(rb"<<|>>|<[0-9A-Fa-f \r\n\t]*>|[\[\]]|\(|/[^\s()<>\[\]{}/%]*|[^\s()<>\[\]{}/%]+|[ \r\n\t]+")


def classic_problem(pdf: bytes) -> str:
    """Return why `pdf` is not a plain file of classic tables, in a few words; empty if it is one."""
    try:
        chain_of(pdf)
    except ValueError as error:
        return str(error)
    return ""


def chain_of(pdf: bytes) -> list[int]:
    """Return the offsets of the cross-reference tables, newest first. Raises: ValueError with the reason."""
    if len(pdf) > MAX_PDF:
        raise ValueError("over 16 MiB")
    if not pdf.startswith(b"%PDF-1.") and not pdf.startswith(b"%PDF-2."):
        raise ValueError("not a PDF")
    offset: int | None = last_table(pdf)
    chain: list[int] = []
    while offset is not None:
        # Each table stands before the one that names it: no loop, no table twice.
        if (chain and offset >= chain[-1]) or len(chain) >= MAX_REVISIONS:
            raise ValueError("chain of cross-reference tables")
        chain.append(offset)
        offset = _previous(pdf, offset)
    return chain


def last_table(pdf: bytes) -> int:
    """Return the offset that the last `startxref` names. Raises: ValueError if there is none."""
    starts = list(_START.finditer(pdf))
    if not starts:
        raise ValueError("no startxref")
    return int(starts[-1].group(1))


def _previous(pdf: bytes, offset: int) -> int | None:
    table = _TABLE.match(pdf, offset)
    if table is None:
        raise ValueError("cross-reference stream, or no table where one is named")
    position = table.end()
    while section := _SECTION.match(pdf, position):
        position = section.end() + _ENTRY * int(section.group(2))
    trailer = _TRAILER.match(pdf, position)
    if trailer is None:
        raise ValueError("no trailer after the table")
    keys = _trailer_keys(pdf, trailer.end())
    if {"/XRefStm", "/Encrypt"} & keys.keys():
        raise ValueError("hybrid or encrypted file")
    previous = keys.get("/Prev")
    if previous is None:
        return None
    if re.fullmatch(rb"[0-9]{1,10}", previous) is None:
        raise ValueError("trailer: /Prev")
    return int(previous)


def _trailer_keys(pdf: bytes, position: int) -> dict[str, bytes]:
    """Return the top-level names of a trailer, each with the plain text that follows it."""
    end = min(len(pdf), position + _TRAILER_SIZE)
    depth, name, keys = 0, "", dict[str, bytes]()
    while position < end:
        token = _TOKEN.match(pdf, position, end)
        if token is None:
            raise ValueError("trailer: token")
        position, text = token.end(), token.group()
        if text == b">>":
            depth -= 1
            if depth < 0:
                return keys
        elif text == b"<<":
            depth += 1
        elif text == b"(":
            position = _after_string(pdf, position, end)
        elif text.startswith(b"/") and depth == 0:
            name = text.decode("latin-1")
            if name in keys or "#" in name:
                # A name may spell a key by its codes (#50rev); none of ours does.
                raise ValueError("trailer: name")
            keys[name] = b""
        elif (
            depth == 0
            and name
            and not text.isspace()
            and text not in (b"[", b"]")
            and not text.startswith((b"<", b"/"))
        ):
            keys[name] += text
    raise ValueError("trailer without end")


def _after_string(pdf: bytes, position: int, end: int) -> int:
    depth = 1
    while position < end:
        byte = pdf[position : position + 1]
        position += 2 if byte == b"\\" else 1
        depth += {b"(": 1, b")": -1}.get(byte, 0)
        if depth == 0:
            return position
    raise ValueError("trailer: string")
