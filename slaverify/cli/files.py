"""Write a file of the user's whole or not at all, and never over another one."""

from __future__ import annotations

import os
from pathlib import Path

from slaverify.errors import ApplicationError, Text


def write_new(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Create `path` with `data`, flushed to disk. Raises: ApplicationError SLV-A010 if it exists or cannot be made."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as error:
        raise ApplicationError(
            "SLV-A010",
            Text("el archivo ya existe; no se sobrescribe", "the file exists and is not overwritten"),
            fix=Text("elija otro nombre o borre el anterior", "choose another name or remove the old one"),
            where=str(path),
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path, limit: int = 512 * 1024 * 1024) -> bytes:
    """Return the bytes of a file of at most `limit` bytes. Raises: ApplicationError SLV-A011."""
    try:
        if path.stat().st_size > limit:
            raise ApplicationError(
                "SLV-A011",
                Text(f"el archivo supera {limit} bytes", f"the file has more than {limit} bytes"),
                where=str(path),
            )
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> ApplicationError:
    """Return the error of a file that cannot be read or written, with the system's reason."""
    reason = error.strerror or type(error).__name__
    return ApplicationError(
        "SLV-A011",
        Text(f"no se puede leer o escribir: {reason}", f"cannot be read or written: {reason}"),
        fix=Text("revise la ruta y los permisos", "check the path and the permissions"),
        where=str(path),
    )
