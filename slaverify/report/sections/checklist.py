"""Annex D: the chain-of-custody checklist. What each demand is met by, and the entries of the ledger that show it.

Source: demands of ISO/IEC 27037, RFC 3227, NIST SP 800-86, FRE 902(14) and UNE 71505, in own words; *unverified*
against the licensed texts.
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonValue
from slaverify.report.facts import Facts
from slaverify.report.words import Node, column, heading, listing, paragraph, say, table

DEMANDS = (
    "identifier",
    "access",
    "authority",
    "transfers",
    "changes",
    "everything",
    "clock",
    "digests",
    "tools",
    "repeatable",
    "complete",
    "handlers",
    "contemporaneous",
    "layers",
    "declaration",
    "retention",
)
BY_FORM = frozenset({"repeatable", "layers", "declaration"})
"""What form and place of the evidence answer, and no entry of the ledger."""
MOST = 8
"""Entries named in a row; of more, the first ones and how many there are."""


def checklist(facts: Facts) -> Iterator[Node]:
    """Yield the blocks of annex D."""
    rows: list[list[JsonValue]] = [
        [say(f"chain.{name}"), say(f"chain.{name}_met"), _shown(facts, name)] for name in DEMANDS
    ]
    columns = [column("demand", width=26), column("met_by"), column("entries", width=22)]
    yield paragraph("chain.intro")
    yield table(say("chain.table"), columns, rows, id="chain")
    yield heading("chain.declaration_title", 3)
    yield paragraph("chain.declaration_text", id="declaration")
    yield paragraph("chain.declaration_lines")


def _shown(facts: Facts, name: str) -> Node:
    if name in BY_FORM:
        return say("chain.by_form")
    if facts.ledger is None:
        return say("absent.ledger")
    if facts.demands is None:
        return say("chain.not_held")
    demand = facts.demands[name]
    if demand.state == "broken":
        return say("chain.broken")
    if not demand.evidence:
        # No entry makes no claim: neither that it happened nor that it did not.
        return say("chain.no_entry")
    if len(demand.evidence) <= MOST:
        return say("chain.entries", entries=listing(list(demand.evidence)))
    return say("chain.more", entries=listing(list(demand.evidence[:MOST])), n=len(demand.evidence))
