"""The bundle as an object: files behind one small door, the manifest's claims, and what does not agree with them.

Nothing here opens a path: a `Source` gives sizes and chunks (a folder, an archive, or memory), and whoever
writes an edition gets an ordered list of files.

Source: docs/spec/bundle.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Protocol

from slaverify.canonical import JsonObject, StrictJsonError, loads_canonical
from slaverify.errors import EvidenceError, Text
from slaverify.evidence.layout import (
    ANNEX,
    ENVELOPE,
    ENVELOPE_FILES,
    MANIFEST,
    MAX_DEPTH,
    MAX_FILE,
    MAX_FILES,
    MAX_LINE,
    SUMS,
    TOKEN,
    Disclosure,
    path_order,
)
from slaverify.evidence.manifest import (
    AnnexEntry,
    FileEntry,
    Header,
    Manifest,
    build_manifest,
    bundle_digest,
    file_entry,
    has_nonce_line,
    parse_manifest,
    sums_bytes,
)
from slaverify.evidence.problems import bad_record, differs, over_limit

PUBLIC = "public"
PARTIES = "parties"
MAX_READ = 64 * 1024**2
"""Most bytes that `Bundle.read` holds at once (index and plan of 100,000 items); record files are read by `lines`."""
MAX_JSON = 16 * 1024**2
"""Most bytes of a `.json` file that is parsed whole."""
MAX_KEPT = 24 * 1024**2
"""Most bytes of record files whose parsed lines are kept: those of some 12,000 answers. More are parsed again."""


class Source(Protocol):
    """Where the bytes of a bundle come from: names, sizes, chunks."""

    def paths(self) -> tuple[str, ...]:
        """Return the files that are there."""

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file."""


class MemorySource:
    """Files held in memory (tests, small bundles, the opened annex)."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)

    def paths(self) -> tuple[str, ...]:
        """Return the files that are there."""
        return tuple(self._files)

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
        return len(self._files[path])

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of a file."""
        yield self._files[path]


@dataclass(frozen=True)
class Finding:
    """What does not agree inside a bundle: the file and the refusal that names its code."""

    path: str
    error: EvidenceError


class Bundle:
    """A run's evidence, before it is closed (no manifest yet) or after.

    Bytes leave `read`, `json` and `lines` only if they are those that the manifest names, where there is one.
    """

    def __init__(self, source: Source, manifest_bytes: bytes | None = None) -> None:
        self._source = source
        self._paths = frozenset(source.paths())
        self.manifest_bytes = manifest_bytes
        self.manifest: Manifest | None = None if manifest_bytes is None else parse_manifest(manifest_bytes)
        listed = () if self.manifest is None else self.manifest.files
        self._entries = {entry.path: entry for entry in listed}
        self._canonical: set[str] = set()
        self._kept: dict[str, tuple[JsonObject, ...]] = {}
        self._room = MAX_KEPT

    @classmethod
    def of_files(cls, files: Mapping[str, bytes]) -> Bundle:
        """Return a bundle over files in memory; it is closed if they hold a manifest."""
        return cls(MemorySource(files), files.get(MANIFEST))

    @property
    def digest(self) -> str:
        """The bundle's identity, `sha256:<hex>` of its manifest. Raises: ValueError before it is closed."""
        if self.manifest_bytes is None:
            raise ValueError("the bundle has no manifest yet")
        return bundle_digest(self.manifest_bytes)

    def paths(self) -> tuple[str, ...]:
        """Return the files that can be read here, less the envelope's, sorted by path bytes."""
        return tuple(sorted(self._paths.difference(ENVELOPE_FILES), key=path_order))

    def has(self, path: str) -> bool:
        """Say whether the bytes of `path` are here."""
        return path in self._paths

    def withheld(self, path: str) -> bool:
        """Say whether the manifest names `path` and this edition leaves it out."""
        return path in self._entries and path not in self._paths

    def withheld_paths(self) -> tuple[str, ...]:
        """Return every path that the manifest names and this edition leaves out."""
        return tuple(path for path in self._entries if path not in self._paths)

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the bytes of `path`, uncounted and unchecked: for writing and hashing only."""
        if path not in self._paths:
            raise self._absent(path)
        return self._source.chunks(path)

    def size(self, path: str) -> int:
        """Return the size of `path` in bytes. Raises: EvidenceError SLV-E006 if it is not here."""
        if path not in self._paths:
            raise self._absent(path)
        return self._source.size(path)

    def read(self, path: str, limit: int = MAX_READ) -> bytes:
        """Return the bytes of `path`, which are those that the manifest names.

        Raises: EvidenceError SLV-E006 (absent, withheld, other bytes), SLV-E003 (more than `limit` bytes).
        """
        if self.size(path) > limit:
            raise over_limit(path, limit)
        data = b"".join(_capped(self._source.chunks(path), path, limit))
        self._check(path, len(data), sha256(data).hexdigest())
        return data

    def json(self, path: str) -> JsonObject:
        """Return a `.json` file, which must be RFC 8785 bytes. Raises: EvidenceError SLV-E006, SLV-E003, SLV-E009."""
        try:
            return loads_canonical(self.read(path, MAX_JSON), max_depth=MAX_DEPTH)
        except StrictJsonError as error:
            raise bad_record(path, str(error)) from error

    def lines(self, path: str) -> Iterator[JsonObject]:
        """Yield the records of a `.jsonl` file, the nonce line too, each canonical; a large one is never held whole.

        The digest is compared after the last line: a caller uses what it got only once the iteration ended.
        Raises: EvidenceError SLV-E006, SLV-E003, SLV-E009.
        """
        return iter(self.records(path)) if path in self._kept or self._fits(path) else self._stream(path)

    def _stream(self, path: str) -> Iterator[JsonObject]:
        digest, size = sha256(), 0
        # Read whole before under the digest of the manifest: these are the same bytes, or the digest says so below.
        parse = _parsed if path in self._canonical else partial(loads_canonical, max_depth=MAX_DEPTH)
        for number, line in enumerate(_split(self.chunks(path), path), 1):
            digest.update(line)
            size += len(line)
            try:
                yield parse(line[:-1])
            except StrictJsonError as error:
                raise bad_record(f"{path}:{number}", str(error)) from error
        self._check(path, size, digest.hexdigest())
        if path in self._entries:
            self._canonical.add(path)

    def records(self, path: str) -> tuple[JsonObject, ...]:
        """Return all records of a `.jsonl` file, as `lines` yields them. They are shared: nobody changes them.

        Of a closed bundle they are parsed once, up to `MAX_KEPT` bytes in all. Raises: as `lines`.
        """
        kept = self._kept.get(path)
        if kept is None:
            kept = tuple(self._stream(path))
            if self._fits(path):
                self._kept[path] = kept
                self._room -= self.size(path)
        return kept

    def _fits(self, path: str) -> bool:
        return self.manifest is not None and path in self._paths and self.size(path) <= self._room

    def envelope(self) -> tuple[bytes | None, bytes | None]:
        """Return the detached signature of the manifest and its token, None where one is absent."""
        return tuple(self.read(path) if self.has(path) else None for path in (ENVELOPE, TOKEN))  # type: ignore[return-value]  # two names, two members

    def findings(self, edition: str | None = None) -> list[Finding]:
        """Return all that does not agree with the manifest: missing, other bytes, record form, counts, SHA256SUMS.

        `edition` is what the holder should have: `parties` misses no file but by loss; `public` and None allow the
        withheld ones to be absent. Raises: ValueError before the bundle is closed.
        """
        if self.manifest is None:
            raise ValueError("the bundle has no manifest yet")
        found = [
            Finding(path, self._absent(path))
            for path, entry in self._entries.items()
            if path not in self._paths and (edition == PARTIES or entry.disclosure is Disclosure.PUBLIC)
        ]
        for path in self.paths():
            try:
                self._examine(path)
            except EvidenceError as error:
                found.append(Finding(path, error))
        return found

    def entry_of(self, path: str) -> FileEntry:
        """Return the manifest's line that `path` would have, computed from its bytes. Raises: EvidenceError."""
        digest, size, lines = sha256(), 0, 0
        for chunk in _capped(self.chunks(path), path, MAX_FILE):
            digest.update(chunk)
            size += len(chunk)
            lines += chunk.count(b"\n")
        return file_entry(path, size, digest.hexdigest(), lines)

    def _examine(self, path: str) -> None:
        listed = self._entries.get(path)
        if listed is None:
            raise differs(path, Text("el manifiesto no lo nombra", "the manifest does not name it"))
        if self.entry_of(path) != listed:
            raise differs(path, Text("otro tamaño, digesto o número de registros", "other size, digest or records"))
        if path == SUMS and self.read(path) != sums_bytes(self._entries.values()):
            raise differs(path, Text("no coincide con el manifiesto", "does not agree with the manifest"))
        if path.endswith(".json"):
            self.json(path)
        elif path.endswith(".jsonl"):
            _check_nonce(path, self.lines(path))

    def _check(self, path: str, size: int, digest: str) -> None:
        entry = self._entries.get(path)
        if self.manifest is None or path in ENVELOPE_FILES:
            return
        if entry is None or (entry.size, entry.sha256) != (size, digest):
            raise differs(path, Text("otro tamaño o digesto", "other size or digest"))

    def _absent(self, path: str) -> EvidenceError:
        if self.withheld(path):
            return differs(path, Text("no está en esta edición", "not in this edition"))
        return differs(path, Text("falta el archivo", "the file is missing"))


@dataclass(frozen=True)
class Closing:
    """The two files that close a bundle: SHA256SUMS and manifest.json."""

    sums: bytes
    manifest: bytes


def close(bundle: Bundle, header: Header, annex: AnnexEntry | None = None) -> Closing:
    """Return SHA256SUMS and manifest.json of an open bundle: a pure function of its files and `header`.

    Raises: EvidenceError SLV-E003, SLV-E004, SLV-E007, SLV-E009 (a record file that a verifier would refuse).
    """
    paths = [path for path in bundle.paths() if path != SUMS]
    if len(paths) >= MAX_FILES:
        raise over_limit("manifest.json: files", MAX_FILES)
    entries = [bundle.entry_of(path) for path in paths]
    for path in paths:
        if path.endswith(".json"):
            bundle.json(path)
        elif path.endswith(".jsonl"):
            _check_nonce(path, bundle.lines(path))
    sums = sums_bytes(entries)
    listed = file_entry(SUMS, len(sums), sha256(sums).hexdigest(), 0)
    return Closing(sums, build_manifest(header, [*entries, listed], annex))


def edition_files(bundle: Bundle, edition: str) -> list[tuple[str, int, Callable[[], Iterator[bytes]]]]:
    """Return the files of an edition of a closed bundle, in the archive's order: name, size, chunks.

    `public` leaves out what the manifest marks `parties` and the annex; `parties` carries all.
    Raises: EvidenceError SLV-E006 if a file of the edition is not here; ValueError for another edition.
    """
    if edition not in (PUBLIC, PARTIES) or bundle.manifest is None:
        raise ValueError(edition)
    names = list(ENVELOPE_FILES)
    names += [
        entry.path for entry in bundle.manifest.files if edition == PARTIES or entry.disclosure is Disclosure.PUBLIC
    ]
    return [(name, bundle.size(name), partial(bundle.chunks, name)) for name in names]


def _parsed(line: bytes) -> JsonObject:
    """Return a line whose form was proven under the same digest. Raises: StrictJsonError for what is no object."""
    try:
        tree = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StrictJsonError("syntax", str(error)[:100]) from error
    if not isinstance(tree, dict):
        raise StrictJsonError("syntax", "no object")
    return tree


def _check_nonce(path: str, lines: Iterator[JsonObject]) -> None:
    first = True
    for line in lines:
        nonce = line.get("nonce") if set(line) == {"nonce"} else None
        keyed = isinstance(nonce, str) and len(nonce) == 64 and all(digit in "0123456789abcdef" for digit in nonce)
        if first and has_nonce_line(path) and not keyed:
            raise bad_record(f"{path}:1", "nonce")
        first = False
    if first and has_nonce_line(path):
        raise bad_record(f"{path}:1", "nonce")


def _capped(chunks: Iterator[bytes], path: str, limit: int) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise over_limit(path, limit)
        yield chunk


def _split(chunks: Iterator[bytes], path: str) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if len(line) > MAX_LINE:
                raise over_limit(path, MAX_LINE)
            yield line + b"\n"
        if len(rest) > MAX_LINE:
            raise over_limit(path, MAX_LINE)
    if rest:
        raise bad_record(path, "last line without LF")


__all__ = [
    "ANNEX",
    "PARTIES",
    "PUBLIC",
    "Bundle",
    "Closing",
    "Finding",
    "MemorySource",
    "Source",
    "close",
    "edition_files",
]
