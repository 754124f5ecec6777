"""How much memory a process took at most."""

from __future__ import annotations

from pathlib import Path


def peak_mb() -> float:
    """Return the peak of this process, MB: of its own program, not of the larger one that began it."""
    rows = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("VmHWM:")) / 1024
