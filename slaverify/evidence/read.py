"""Open a bundle (a folder or an archive) or a run folder.

Trust boundary: all of it comes from anybody. Links, devices, unlisted files, names outside the table, sizes over
the limits are refused before a byte of content is read; nothing is ever written.

Source: docs/spec/bundle.md.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from slaverify.errors import Text
from slaverify.evidence.archive import CHUNK, ArchiveEntry, content, read_zip
from slaverify.evidence.bundle import Bundle, Source
from slaverify.evidence.layout import (
    ENVELOPE_FILES,
    FOLDERS,
    MANIFEST,
    MAX_ARCHIVE,
    MAX_FILES,
    MAX_MANIFEST,
    SUMS,
    disclosure_of,
    is_name,
    limit_of,
    path_order,
)
from slaverify.evidence.problems import archive_bytes, bad_name, differs, not_a_bundle, not_listed, over_limit

_ENTRIES = MAX_FILES + len(ENVELOPE_FILES)


def open_bundle(path: Path) -> Bundle:
    """Open a closed bundle, a folder or a `.zip`, and read its manifest; nothing is believed yet.

    Raises: EvidenceError SLV-E001 to SLV-E007.
    """
    kind = _mode(path)
    if stat.S_ISDIR(kind):
        source: Source = _FolderSource(path, tuple(_walk(path, path)))
    elif stat.S_ISREG(kind):
        source = _ArchiveSource(path)
    else:
        raise not_listed(path.name)
    if MANIFEST not in source.paths():
        raise not_a_bundle(path.name, Text("no contiene manifest.json", "it holds no manifest.json"))
    bundle = Bundle(source, _manifest_of(source))
    _refuse_unlisted(bundle)
    return bundle


def open_folder(run_folder: Path) -> Bundle:
    """Open the evidence of a run folder, closed or not: the bundle's own folders, without journal, `private`, `report`.

    Raises: EvidenceError SLV-E005 for a file there that no bundle has, SLV-E003, SLV-E004, SLV-E007.
    """
    names: list[str] = []
    for folder in FOLDERS:
        if (run_folder / folder).is_symlink():
            raise not_listed(folder)
        if (run_folder / folder).is_dir():
            names.extend(_walk(run_folder, run_folder / folder))
    for name in names:
        if disclosure_of(name) is None:
            raise not_listed(name)
    names += [name for name in (*ENVELOPE_FILES, SUMS) if (run_folder / name).is_file()]
    source = _FolderSource(run_folder, tuple(names))
    return Bundle(source, _manifest_of(source) if MANIFEST in names else None)


class _FolderSource:
    def __init__(self, root: Path, names: tuple[str, ...]) -> None:
        self._root = root
        self._names = names
        if len(names) > _ENTRIES:
            raise over_limit(root.name, MAX_FILES)
        sizes = {name: self.size(name) for name in names}
        for name, size in sizes.items():
            if size > limit_of(name):
                raise over_limit(name, limit_of(name))
        if sum(sizes.values()) > MAX_ARCHIVE:
            raise over_limit(root.name, MAX_ARCHIVE)

    def paths(self) -> tuple[str, ...]:
        return self._names

    def size(self, path: str) -> int:
        return (self._root / path).lstat().st_size

    def chunks(self, path: str) -> Iterator[bytes]:
        descriptor = os.open(self._root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk


class _ArchiveSource:
    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            entries = read_zip(file, max_entries=_ENTRIES, limit_of=limit_of, is_name=is_name)
        names = [entry.name for entry in entries]
        first = [name for name in ENVELOPE_FILES if name in names]
        rest = sorted((name for name in names if name not in ENVELOPE_FILES), key=path_order)
        if names != first + rest:
            raise archive_bytes(path.name, Text("orden de las entradas", "order of the entries"))
        self._entries: dict[str, ArchiveEntry] = {entry.name: entry for entry in entries}

    def paths(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def size(self, path: str) -> int:
        return self._entries[path].size

    def chunks(self, path: str) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            yield from content(file, self._entries[path])


def _walk(root: Path, folder: Path, depth: int = 0) -> Iterator[str]:
    if depth > 4:
        raise bad_name(folder.relative_to(root).as_posix())
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    for entry in ordered:
        name = Path(entry.path).relative_to(root).as_posix()
        if entry.is_symlink():
            raise not_listed(ascii(name)[1:201])
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, Path(entry.path), depth + 1)
        elif not entry.is_file(follow_symlinks=False):
            raise not_listed(ascii(name)[1:201])
        elif not is_name(name):
            raise bad_name(ascii(name)[1:201])
        else:
            yield name


def _manifest_of(source: Source) -> bytes:
    data = b""
    for chunk in source.chunks(MANIFEST):
        data += chunk
        if len(data) > MAX_MANIFEST:
            raise over_limit(MANIFEST, MAX_MANIFEST)
    return data


def _refuse_unlisted(bundle: Bundle) -> None:
    if bundle.manifest is None:
        raise differs(MANIFEST, Text("falta", "missing"))
    listed = {entry.path for entry in bundle.manifest.files}
    for path in bundle.paths():
        if path not in listed:
            raise not_listed(path)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError as error:
        raise not_a_bundle(path.name, Text("no se puede leer", "it cannot be read")) from error
