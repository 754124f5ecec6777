"""Files written whole or not at all, and private ones that nobody else can read.

Not pure: stands behind the second doors of this room.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from slaverify.custody.faults import fault
from slaverify.errors import Text

PUBLIC = 0o644
PRIVATE = 0o600


def write_whole(path: Path, data: bytes, mode: int = PUBLIC) -> None:
    """Write a file: temporary file in the same folder, fsync, atomic rename, fsync of the folder.

    Raises: CustodyError SLV-K072 (exit 6) if the disk refuses; nothing of the file then stands under its name.
    """
    with staged(path, mode) as stream:
        stream.write(data)


@contextlib.contextmanager
def staged(path: Path, mode: int = PUBLIC) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the name `path` when the block ends without an error, and is deleted else.

    Raises: CustodyError SLV-K072 (exit 6) if the disk refuses.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise disk_fault(error, path) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise disk_fault(error, path) from error
        raise


def sync_folder(folder: Path) -> None:
    """Make the names of a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def private_folder(folder: Path) -> Path:
    """Return a folder of mode 0700, made if it is not there. Raises: CustodyError SLV-K071 if it is looser."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    require_private(folder)
    return folder


def require_private(path: Path) -> None:
    """Refuse a file or folder that group or others may touch, or a link. Raises: CustodyError SLV-K071."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or found.st_mode & 0o077:
        folder = stat.S_ISDIR(found.st_mode)
        mode = "700" if folder else "600"
        raise fault(
            71,
            "otros usuarios del equipo pueden leer lo que debe ser privado",
            "other users of the machine can read what must be private",
            where=str(path),
            fix=Text(f"ejecute: chmod {mode} {path}", f"run: chmod {mode} {path}"),
        )


def read_bounded(path: Path, limit: int, number: int) -> bytes:
    """Read a file of at most `limit` bytes.

    Raises: CustodyError SLV-K<number> if it is not there, not a plain file, or larger.
    """
    try:
        with path.open("rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise fault(number, "no es un archivo", "not a plain file", where=str(path))
            data = stream.read(limit + 1)
    except OSError as error:
        raise fault(number, "no se puede leer el archivo", "the file cannot be read", where=str(path)) from error
    if len(data) > limit:
        raise fault(number, "archivo demasiado grande", "file too large", where=str(path))
    return data


def disk_fault(error: OSError, path: Path) -> Exception:
    """Return the refusal for a disk that does not write: exit 6, the work can be resumed."""
    reason = error.strerror or type(error).__name__
    return fault(72, f"el disco no responde: {reason}", f"the disk does not answer: {reason}", where=str(path))
