"""Where a journal may lie: a private folder on a local disk, locked for one process."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from pathlib import Path

from slaverify.run import schema
from slaverify.run.faults import busy_error, network_disk_error, old_sqlite_error

_REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afs", "ceph", "9p"}


def locked(path: Path) -> int:
    """Take the lock of a journal; a second process is refused. Raises: EndpointError SLV-N031."""
    handle = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise busy_error(str(path)) from error
    return handle


def unlock(handle: int) -> None:
    """Give a lock up."""
    os.close(handle)


def local_folder(folder: Path) -> None:
    """Make the folder private and refuse a network disk, where neither locks nor syncs can be trusted.

    Raises: EndpointError SLV-N033, SLV-N036 (SQLite older than 3.40).
    """
    if not schema.is_supported():
        raise old_sqlite_error(sqlite3.sqlite_version)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    kind = _file_system(folder)
    if kind in _REMOTE:
        raise network_disk_error(kind, str(folder))


def _file_system(folder: Path) -> str:
    mounts = Path("/proc/self/mounts")
    if not mounts.is_file():
        return ""
    real = folder.resolve()
    best, kind = -1, ""
    for line in mounts.read_text("utf-8", "replace").splitlines():
        words = line.split(" ")
        if len(words) > 2:
            point = Path(words[1].replace("\\040", " "))
            if (real == point or point in real.parents) and len(point.parts) >= best:
                best, kind = len(point.parts), words[2]
    return kind


def sync_folder(folder: Path) -> None:
    """Make the names of a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
