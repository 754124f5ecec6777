"""One process a run: whoever walks it holds a lock that the kernel releases, also after a kill."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slaverify.errors import ApplicationError, Text


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a run's private folder. Raises: ApplicationError SLV-A023 if another process holds it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / "walk.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ApplicationError(
                "SLV-A023",
                Text("otro proceso trabaja en esta corrida", "another process works on this run"),
                fix=Text("espere a que termine", "wait until it ends"),
                where=str(folder.parent),
            ) from error
        yield
    finally:
        os.close(descriptor)
