"""Bytes to text, strictly: byte order mark, then UTF-8, then an encoding that a person named. Never a guess.

cp1252 and latin-1 accept almost any byte, so that they fit is no evidence: they are shown with decoded lines and
chosen by a person only.

Trust boundary: see `reading`. Source: docs/spec/import.md section 3.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from slaverify.errors import SetError, Text
from slaverify.evalset.importers.options import ImportOptions, Proposal, UndecidedError
from slaverify.evalset.problems import problem

ENCODINGS = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "cp1252",
    "latin-1",
    "iso8859-15",
    "mac-roman",
    "cp850",
    "cp437",
)
"""Encodings that may be named."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SHOWN = ("cp1252", "latin-1")


class Decoded(NamedTuple):
    """The text of a file, its encoding, and how that is known: `byte order mark`, `strict decoding`, `option`."""

    text: str
    encoding: str
    known_by: str


def decode(data: bytes, name: str, options: ImportOptions) -> Decoded:
    """Return the text. Raises: SetError SLV-I016; UndecidedError where a person has to name the encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_strict(data[len(mark) :], encoding, name), encoding, "byte order mark")
    if options.encoding is not None:
        return _named(data, name, options.encoding)
    if b"\0" not in data[:65_536]:
        try:
            return Decoded(data.decode("utf-8"), "utf-8", "strict decoding")
        except UnicodeDecodeError:
            pass
    raise UndecidedError(_proposals(data), name)


def _named(data: bytes, name: str, encoding: str) -> Decoded:
    wanted = encoding.lower().replace("_", "-")
    if wanted not in ENCODINGS:
        known = ", ".join(ENCODINGS)
        what = Text(f"codificación desconocida: {encoding}", f"unknown encoding: {encoding}")
        raise SetError("SLV-I016", what, fix=Text(f"use una de: {known}", f"use one of: {known}"), where=name)
    text = _strict(data, wanted, name)
    controls = sorted({character for character in text if "\x80" <= character <= "\x9f"})
    if controls and wanted != "utf-8":
        codes = ", ".join(f"U+{ord(character):04X}" for character in controls[:4])
        what = Text(
            f"con {wanted} salen caracteres de control ({codes})", f"{wanted} gives control characters ({codes})"
        )
        raise SetError("SLV-I016", what, fix=Text("pruebe con cp1252", "try cp1252"), where=name)
    return Decoded(text, wanted, "option")


def _strict(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        what = Text(f"el byte {error.start} no es {encoding}", f"byte {error.start} is not {encoding}")
        raise problem(
            "SLV-I016", what, name, Text("indique la codificación con --encoding", "name it with --encoding")
        ) from error


def _proposals(data: bytes) -> list[Proposal]:
    if b"\0" in data[:65_536]:
        why = Text("hay bytes nulos y ninguna marca BOM; puede ser UTF-16", "zero bytes and no mark; perhaps UTF-16")
        return [Proposal("--encoding", "utf-16-le", why, ())]
    why = Text(
        "no es UTF-8 y no trae marca BOM; estas dos nunca fallan, así que decida usted mirando las líneas",
        "not UTF-8 and no byte order mark; these two never fail, so decide by looking at the lines",
    )
    out: list[Proposal] = []
    for encoding in _SHOWN:
        lines = data.decode(encoding, "replace").splitlines()
        seen = tuple(line[:100] for line in lines if not line.isascii())[:3]
        if not any("\x80" <= character <= "\x9f" for line in lines for character in line):
            out.append(Proposal("--encoding", encoding, why, seen))
    return out or [Proposal("--encoding", "cp1252", why, ())]
