"""A process that is a fork of this one: it ends with it, and what this one holds is not the fork's to finish.

Where a system has no such thing (anything but Linux), whoever asks for one does the work in this process.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux."""


def can_fork() -> bool:
    """Say whether a process of ours can have a fork that ends with it."""
    return sys.platform == "linux"


def forked(work: Callable[[], None]) -> int:
    """Begin a process that does `work` and ends; return its number. Its exit status is 1 if `work` raised."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    # Never returns: no clean-up, buffer or lock of the parent may run a second time here.
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() == parent:
            # Pages that the parent has too stay shared: the collector leaves alone what was there before.
            gc.freeze()
            work()
            status = 0
    finally:
        os._exit(status)


def ended(pid: int, *, wait: bool = True) -> bool:
    """Say whether a fork of this process has ended, `wait` until it has; nothing of an ended one is left.

    Where whoever began this process has it ignore its children, the system clears them away by itself.
    """
    try:
        return os.waitpid(pid, 0 if wait else os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def close_all_but(kept: int) -> None:
    """Close every open file of this fork but the standard ones and the descriptor `kept`.

    A lock is then free as soon as its holder is gone. Not where the fork opens a journal: SQLite opens again what it
    has not closed.
    """
    for file in [*Path("/proc/self/fd").iterdir()]:
        if int(file.name) not in (0, 1, 2, kept):
            # The one that lists them is closed already.
            with suppress(OSError):
                os.close(int(file.name))
