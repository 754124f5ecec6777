"""Write an edition of a bundle, or the two files that close a run folder: whole or not at all.

Each file goes to a temporary name in the same folder, is flushed to disk and then renamed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp, mkstemp
from typing import IO

from slaverify.errors import ApplicationError, Text
from slaverify.evidence.archive import write_zip
from slaverify.evidence.bundle import Bundle, close, edition_files
from slaverify.evidence.layout import MANIFEST, SUMS
from slaverify.evidence.manifest import AnnexEntry, Header
from slaverify.evidence.read import open_folder

_Files = list[tuple[str, int, Callable[[], Iterator[bytes]]]]


def close_folder(run_folder: Path, header: Header, annex: AnnexEntry | None = None) -> Bundle:
    """Write SHA256SUMS and manifest.json of a run folder and return the closed bundle, read again.

    The bytes depend on the folder's files and on `header` alone; closing twice writes the same.
    Raises: EvidenceError SLV-E003 to SLV-E009.
    """
    closing = close(open_folder(run_folder), header, annex)
    for name, data in ((SUMS, closing.sums), (MANIFEST, closing.manifest)):
        with replacing(run_folder / name) as file:
            file.write(data)
    return open_folder(run_folder)


def write_bundle(bundle: Bundle, destination: Path, edition: str) -> None:
    """Write the `public` or `parties` edition to a new folder, or to an archive if the name ends in `.zip`.

    Raises: ApplicationError SLV-A010 if the destination exists; EvidenceError SLV-E003, SLV-E006.
    """
    if destination.exists() or destination.is_symlink():
        raise ApplicationError(
            "SLV-A010",
            Text(
                "el destino ya existe; no se sobrescribe evidencia", "the destination exists; evidence stays as it is"
            ),
            where=str(destination),
        )
    files = edition_files(bundle, edition)
    if destination.suffix == ".zip":
        with replacing(destination) as file:
            write_zip(files, file)
    else:
        _write_folder(files, destination)


@contextmanager
def replacing(destination: Path) -> Iterator[IO[bytes]]:
    """Give a file to write that becomes `destination` at the end, and leaves nothing behind on any error."""
    descriptor, name = mkstemp(dir=destination.parent, prefix=f".{destination.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        temporary.replace(destination)
        _sync(destination.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _write_folder(files: _Files, destination: Path) -> None:
    temporary = Path(mkdtemp(dir=destination.parent, prefix=f".{destination.name}."))
    try:
        for name, _size, chunks in files:
            target = temporary / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as file:
                for chunk in chunks():
                    file.write(chunk)
        temporary.chmod(0o755)
        temporary.rename(destination)
        _sync(destination.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
