"""Annex D: the chain-of-custody checklist. What each demand is met by, and the entries of the ledger that show it.

Source: demands of ISO/IEC 27037, RFC 3227, NIST SP 800-86, FRE 902(14) and UNE 71505, in own words; *unverified*
against the licensed texts.
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonValue
from slaverify.report import runfacts
from slaverify.report.facts import Facts
from slaverify.report.words import Node, column, heading, listing, paragraph, say, section, table

DEMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("identifier", ()),
    ("access", ("deposit", "delivery", "item_opened")),
    ("authority", ("delivery", "custody_transfer")),
    ("transfers", ("custody_transfer",)),
    ("changes", ("incident", "item_voided", "run_aborted")),
    ("everything", ()),
    ("clock", ()),
    ("digests", ("bank_sealed", "deposit", "delivery")),
    ("tools", ("run_started",)),
    ("repeatable", ()),
    ("complete", ("run_opened", "run_ended", "run_aborted")),
    ("handlers", ("genesis", "key_added")),
    ("contemporaneous", ("run_started", "batch")),
    ("layers", ()),
    ("declaration", ()),
    ("retention", ("destruction",)),
)
"""Each demand, and the entries of the ledger that show it; () where form or place of the evidence shows it."""
MOST = 8
"""Entries named in a row; of more, the first ones and how many there are."""


def checklist(facts: Facts) -> Node:
    """Return annex D."""
    rows: list[list[JsonValue]] = [
        [say(f"chain.{name}"), say(f"chain.{name}_met"), _shown(facts, kinds)] for name, kinds in DEMANDS
    ]
    columns = [column("demand", width=26), column("met_by"), column("entries", width=22)]
    return section(
        "annex_custody",
        [
            heading("annex.custody", id="annex-custody"),
            paragraph("chain.intro"),
            table(say("chain.table"), columns, rows, id="chain"),
            heading("chain.declaration_title", 3),
            paragraph("chain.declaration_text", id="declaration"),
            paragraph("chain.declaration_lines"),
        ],
    )


def _shown(facts: Facts, kinds: tuple[str, ...]) -> Node:
    if not kinds:
        return say("chain.by_form")
    if facts.ledger is None:
        return say("absent.ledger")
    found = list(_numbers(facts, kinds))
    if not found:
        # No entry makes no claim: neither that it happened nor that it did not.
        return say("chain.no_entry")
    if len(found) <= MOST:
        return say("chain.entries", entries=listing(list(found)))
    return say("chain.more", entries=listing(list(found[:MOST])), n=len(found))


def _numbers(facts: Facts, kinds: tuple[str, ...]) -> Iterator[int]:
    # A start that was blind stands in the entry that opened it.
    blind = [e for e in runfacts.entries(facts, "unblind") if "run_started" in kinds and runfacts.opens_start(e)]
    for entry in sorted([*runfacts.entries(facts, *kinds), *blind], key=runfacts.seq):
        seq = entry.get("seq")
        if isinstance(seq, int):
            yield seq
