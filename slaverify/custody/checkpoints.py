"""The folder of checkpoints: `<size:08d>.checkpoint`, the same name with `.tsr` (token) or `.<witness>.sshsig` added.

Not pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slaverify.custody.files import read_bounded
from slaverify.custody.permit import StartEvidence

_NAME = re.compile(r"([0-9]{8})\.checkpoint")
_MAX_FILE = 64 * 1024


@dataclass(frozen=True)
class CheckpointFile:
    """One checkpoint as it lies on disk, not verified. `size` is in entries; `token` a whole RFC 3161 reply."""

    size: int
    path: Path
    data: bytes
    token: bytes | None = None
    ssh_signatures: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The three lines that tokens and witnesses sign."""
        return self.data.partition(b"\n\n")[0] + b"\n"

    @property
    def evidence(self) -> StartEvidence:
        """What this file puts forward to anchor a start."""
        return StartEvidence(self.data, self.token, self.ssh_signatures)


def checkpoint_path(folder: Path, size: int) -> Path:
    """Return where the checkpoint of `size` entries lies in a bank's folder."""
    return folder / "checkpoints" / f"{size:08d}.checkpoint"


def token_path(path: Path) -> Path:
    """Return where the token of a checkpoint lies, beside it."""
    return path.with_name(path.name + ".tsr")


def read_checkpoint(path: Path, size: int) -> CheckpointFile:
    """Read one checkpoint with what lies beside it. Raises: CustodyError SLV-K027 for a file that cannot be read."""
    token = token_path(path)
    signatures = {
        found.name.removeprefix(path.name + ".").removesuffix(".sshsig"): read_bounded(found, _MAX_FILE, 27).decode(
            "ascii", "replace"
        )
        for found in sorted(path.parent.glob(f"{path.name}.*.sshsig"))
    }
    return CheckpointFile(
        size=size,
        path=path,
        data=read_bounded(path, _MAX_FILE, 27),
        token=read_bounded(token, _MAX_FILE, 27) if token.is_file() else None,
        ssh_signatures=signatures,
    )


def read_checkpoints(folder: Path) -> tuple[CheckpointFile, ...]:
    """Return the checkpoints of a bank's folder, smallest first. Raises: CustodyError SLV-K027."""
    found = []
    for path in (folder / "checkpoints").glob("*.checkpoint"):
        name = _NAME.fullmatch(path.name)
        if name is not None:
            found.append(read_checkpoint(path, int(name[1])))
    return tuple(sorted(found, key=lambda one: one.size))


def covering(folder: Path, seq: int, *, token: bool = False) -> CheckpointFile | None:
    """Return the smallest checkpoint on disk that covers entry `seq` (with a `token`, if asked), or None."""
    found = [one for one in read_checkpoints(folder) if one.size > seq and (one.token is not None or not token)]
    return found[0] if found else None
