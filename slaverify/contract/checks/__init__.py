"""Checks across fields, each a generator of findings over the valid blocks. Private to the room."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.contract.blocks import Blocks
from slaverify.contract.checks import bank, endpoint, integrity, judge, metrics, parties, terms
from slaverify.contract.findings import Finding


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield every problem that lies between fields, block by block."""
    for room in (parties, endpoint, bank, metrics, integrity, judge, terms):
        yield from room.findings(blocks)
