"""The one form of ZIP archive: every byte follows from the names and contents, and any other byte is refused.

Trust boundary: the archive comes from anybody. The reader walks it once from its first byte, rebuilds each header
from what it found and compares. Compression, bombs, two entries of one name, a local header that contradicts the
central one, bytes before, between or after: none can have the rebuilt form.

Source: docs/spec/bundle.md; PKWARE APPNOTE 6.3 (method 0, no extra field, no descriptor, no comment).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import IO

from slaverify.errors import Text
from slaverify.evidence.layout import MAX_ARCHIVE, MAX_NAME
from slaverify.evidence.problems import archive_bytes, bad_name, over_limit

CHUNK = 1024 * 1024

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s4B4HL2L5H2L")
_END = struct.Struct("<4s4H2LH")
_VERSION = 20
_UNIX = 3
_DATE_1980 = (0 << 9) | (1 << 5) | 1
_MODE = 0o100644 << 16


@dataclass(frozen=True)
class ArchiveEntry:
    """One file of an archive: name, size in bytes, CRC-32, offset of its content, SHA-256 (hex)."""

    name: str
    size: int
    crc: int
    offset: int
    sha256: str


def write_zip(files: Sequence[tuple[str, int, Callable[[], Iterator[bytes]]]], out: IO[bytes]) -> None:
    """Write an archive of `files` (name, size, chunks) in the order given; the same input gives the same bytes.

    Raises: EvidenceError SLV-E003 over the archive's limit, SLV-E002 if a file is not of the size announced.
    """
    offset = 0
    central: list[bytes] = []
    for name, size, chunks in files:
        # Two passes over the content: the checksum stands before it, and there is no data descriptor.
        total, crc = 0, 0
        for chunk in chunks():
            total, crc = total + len(chunk), zlib.crc32(chunk, crc)
        if total != size:
            raise archive_bytes(name, Text(f"mide {total}, no {size}", f"{total} bytes, not {size}"))
        header = _local_header(name, size, crc)
        if offset + len(header) + size > MAX_ARCHIVE:
            raise over_limit(name, MAX_ARCHIVE)
        out.write(header)
        for chunk in chunks():
            out.write(chunk)
        central.append(_central_header(name, size, crc, offset))
        offset += len(header) + size
    directory = b"".join(central)
    out.write(directory)
    out.write(_end_record(len(central), len(directory), offset))


def write_zip_of(files: Mapping[str, bytes], order: Sequence[str], out: IO[bytes]) -> None:
    """Write an archive of files held in memory, in the order of the names given."""
    write_zip([(name, len(files[name]), partial(_whole, files[name])) for name in order], out)


def _whole(data: bytes) -> Iterator[bytes]:
    yield data


def read_zip(
    source: IO[bytes], *, max_entries: int, limit_of: Callable[[str], int], is_name: Callable[[str], bool]
) -> tuple[ArchiveEntry, ...]:
    """Check an archive from its first byte to its last and return its entries in order.

    Declared sizes are checked before a byte of content is read. Memory stays at one chunk.
    Raises: EvidenceError SLV-E002 (any byte that is not the rebuilt one), SLV-E003 (limits), SLV-E004 (name).
    """
    total = source.seek(0, 2)
    if total > MAX_ARCHIVE:
        raise over_limit("ZIP", MAX_ARCHIVE)
    source.seek(0)
    entries: list[ArchiveEntry] = []
    central: list[bytes] = []
    seen: set[str] = set()
    offset = 0
    while (head := source.read(_LOCAL.size))[:4] == b"PK\x03\x04":
        if len(entries) >= max_entries:
            raise over_limit("ZIP: entries", max_entries)
        entry = _read_entry(source, head, offset, total, limit_of, is_name)
        if entry.name in seen:
            raise archive_bytes(entry.name, Text("nombre repetido", "name twice"))
        seen.add(entry.name)
        entries.append(entry)
        central.append(_central_header(entry.name, entry.size, entry.crc, offset))
        offset = entry.offset + entry.size
    _check_tail(source, head, central, offset, total)
    return tuple(entries)


def content(source: IO[bytes], entry: ArchiveEntry) -> Iterator[bytes]:
    """Yield the content of an entry that `read_zip` returned, in chunks."""
    position, left = entry.offset, entry.size
    while left:
        source.seek(position)
        chunk = source.read(min(CHUNK, left))
        if not chunk:
            raise archive_bytes(entry.name, Text("el archivo cambió mientras se leía", "the file changed while read"))
        yield chunk
        position, left = position + len(chunk), left - len(chunk)


def _read_entry(
    source: IO[bytes],
    head: bytes,
    offset: int,
    total: int,
    limit_of: Callable[[str], int],
    is_name: Callable[[str], bool],
) -> ArchiveEntry:
    if len(head) != _LOCAL.size:
        raise archive_bytes(f"@{offset}", Text("cabecera cortada", "header cut"))
    fields = _LOCAL.unpack(head)
    size, length = fields[8], fields[9]
    if length > MAX_NAME:
        raise bad_name(f"@{offset}")
    raw = source.read(length)
    name = raw.decode("ascii", "replace")
    if not raw.isascii() or not is_name(name):
        raise bad_name(ascii(name)[1:201])
    if size > limit_of(name):
        raise over_limit(name, limit_of(name))
    start = offset + _LOCAL.size + length
    if start + size > total:
        raise archive_bytes(name, Text("tamaño declarado falso", "declared size is false"))
    digest, found, left = sha256(), 0, size
    while left:
        chunk = source.read(min(CHUNK, left))
        if not chunk:
            raise archive_bytes(name, Text("contenido cortado", "content cut"))
        digest.update(chunk)
        found, left = zlib.crc32(chunk, found), left - len(chunk)
    if head + raw != _local_header(name, size, found):
        raise archive_bytes(name, Text("cabecera distinta de la reconstruida", "header is not the rebuilt one"))
    return ArchiveEntry(name, size, found, start, digest.hexdigest())


def _check_tail(source: IO[bytes], head: bytes, central: list[bytes], offset: int, total: int) -> None:
    directory = b"".join(central)
    expected = directory + _end_record(len(central), len(directory), offset)
    if total - offset != len(expected) or head + source.read(len(expected)) != expected:
        raise archive_bytes(
            f"@{offset}",
            Text("directorio central distinto del reconstruido", "central directory is not the rebuilt one"),
        )


def _local_header(name: str, size: int, crc: int) -> bytes:
    raw = name.encode("ascii")
    return _LOCAL.pack(b"PK\x03\x04", _VERSION, 0, 0, 0, _DATE_1980, crc, size, size, len(raw), 0) + raw


def _central_header(name: str, size: int, crc: int, offset: int) -> bytes:
    raw = name.encode("ascii")
    fixed = (b"PK\x01\x02", _VERSION, _UNIX, _VERSION, 0, 0, 0, 0, _DATE_1980, crc, size, size)
    return _CENTRAL.pack(*fixed, len(raw), 0, 0, 0, 0, _MODE, offset) + raw


def _end_record(count: int, size: int, offset: int) -> bytes:
    return _END.pack(b"PK\x05\x06", 0, 0, count, count, size, offset, 0)
