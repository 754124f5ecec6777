"""Cuts work over a long journal into slices; processes of their own carry them out, the results come in order.

What comes out is what one process alone would give: a slice depends on nothing but its number, and one that no
other process delivers (it failed, it was killed) is done here, where its error is raised too. The processes are
forks that end with their parent, so that no lock outlives it; a full pipe bounds what waits.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from slaverify.run.forks import can_fork, ended, forked

Work = Callable[[int], Sequence[bytes]]

SIZE = 256
"""Exchanges of a slice (convention): some tenths of a second of work, one or two MB of results."""
FIRST = 16
"""Exchanges of the first slice (convention): it is done by one process while the others wait."""
FEWEST = 4
"""Slices below which one process does it all: a fork costs more than it saves."""
_COUNT = struct.Struct("!I")
_LENGTH = struct.Struct("!Q")


def carried_out(work: Work, count: int, processes: int | None = None) -> Iterator[Sequence[bytes]]:
    """Yield `work(0)` … `work(count - 1)`, by `processes` processes (None: one for each core that we may use)."""
    many = min(_cores() if processes is None else processes, count - 1)
    if many < 2 or count < FEWEST or not can_fork():
        yield from map(work, range(count))
        return
    # The first one is done here: what a slice loads when it is first needed, the forks then share.
    yield work(0)
    children: list[_Child] = []
    try:
        for first in range(1, many + 1):
            children.append(_Child(work, range(first, count, many), children))
        for index in range(1, count):
            delivered = children[(index - 1) % many].take()
            yield work(index) if delivered is None else delivered
    finally:
        for child in children:
            child.end()


class _Child:
    """A fork that carries out some slices and writes them to its pipe."""

    _file: BinaryIO

    def __init__(self, work: Work, indexes: Sequence[int], elder: Sequence[_Child]) -> None:
        reading, writing = os.pipe()

        def deliver() -> None:
            os.close(reading)
            for child in elder:
                child._file.close()
            with os.fdopen(writing, "wb") as file:
                for index in indexes:
                    _write(file, work(index))

        # Where `work` raises, the parent does this slice again, and raises.
        self._pid = forked(deliver)
        os.close(writing)
        self._file = os.fdopen(reading, "rb")
        self._whole = True

    def take(self) -> Sequence[bytes] | None:
        """Return the next slice, None once one was not delivered whole."""
        found = _read(self._file) if self._whole else None
        self._whole = found is not None
        return found

    def end(self) -> None:
        """Close the pipe, which ends the process if it still works, and wait for it."""
        self._file.close()
        ended(self._pid)


def _write(file: BinaryIO, blobs: Sequence[bytes]) -> None:
    file.write(_COUNT.pack(len(blobs)))
    for blob in blobs:
        file.write(_LENGTH.pack(len(blob)))
        file.write(blob)
    file.flush()


def _read(file: BinaryIO) -> Sequence[bytes] | None:
    head = file.read(_COUNT.size)
    if len(head) < _COUNT.size:
        return None
    blobs: list[bytes] = []
    for _ in range(_COUNT.unpack(head)[0]):
        length = file.read(_LENGTH.size)
        if len(length) < _LENGTH.size:
            return None
        blob = file.read(_LENGTH.unpack(length)[0])
        if len(blob) < _LENGTH.unpack(length)[0]:
            return None
        blobs.append(blob)
    return blobs


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
