"""Annexes: each item with its outcome and verdict, the words explained, and what answers which public text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, objects, text
from slaverify.report.sections.checklist import checklist
from slaverify.report.sections.item import OUTCOMES
from slaverify.report.sections.statement import VERDICTS
from slaverify.report.words import Node, code, column, heading, paragraph, say, section, table

MOST_ITEMS = 500
MOST_FAILURES = 200
DIGITS = 16
"""Hex digits of a keyed digest in the table; the whole stands in `scoring/scores.jsonl`."""

TERMS = (
    "bank",
    "stratum",
    "metric",
    "threshold",
    "interval",
    "bound",
    "risk",
    "acceptance",
    "holm",
    "abstention",
    "hallucination",
    "digest",
    "timestamp",
    "ledger",
    "seal",
    "judge",
)
SOURCES = ("measure_2_1", "measure_2_3", "measure_2_5", "ai_600_1", "llm09", "ai_act_15")


def annexes(facts: Facts) -> list[Node]:
    """Return annexes A (items), B (glossary), C (mapping) and D (chain of custody).

    One that the contract leaves out (`report.annexes`) keeps its letter and says so.
    """
    return [
        _annex(facts, "items", "items", lambda: _items(facts)),
        _annex(facts, "glossary", "glossary", lambda: iter([_glossary()])),
        _annex(facts, "mapping", "correspondence", _mapping),
        _annex(facts, "custody", "custody_checklist", lambda: checklist(facts)),
    ]


def _annex(facts: Facts, name: str, agreed: str, blocks: Callable[[], Iterator[Node]]) -> Node:
    wanted = facts.agreed("report.annexes")
    left_out = isinstance(wanted, list | tuple) and agreed not in wanted
    body = [paragraph("annex.left_out")] if left_out else list(blocks())
    return section(f"annex_{name}", [heading(f"annex.{name}", id=f"annex-{name}"), *body])


def _items(facts: Facts) -> Iterator[Node]:
    if facts.scores is None:
        yield paragraph("absent.scores")
        return
    scores = list(facts.scores)
    if len(scores) > MOST_ITEMS:
        failures = [line for line in scores if line.get("correctness") != "correct"]
        yield paragraph("annex.failures_only", n=min(len(failures), MOST_FAILURES), total=len(scores))
        scores = failures[:MOST_FAILURES]
    else:
        yield paragraph("annex.items_intro", n=len(scores))
    yield paragraph("annex.scores_digest", style="note", digest=_scores_digest(facts))
    columns = [
        column("item", width=24),
        column("stratum", width=18),
        column("outcome", width=18),
        column("verdict", width=18),
        column("mac", width=22),
    ]
    yield table(say("annex.items_table"), columns, [_row(line) for line in scores], style="dense", id="items")


def _row(line: JsonObject) -> list[JsonValue]:
    outcome, verdict, mac = text(line, "outcome"), str(line.get("verdict") or "none"), line.get("answer_mac")
    return [
        code(text(line, "item_id")),
        code(text(line, "stratum")),
        say(f"outcome.{outcome}") if outcome in OUTCOMES else code(outcome),
        say(f"verdict.{verdict}") if verdict in VERDICTS else code(verdict),
        code(mac[:DIGITS]) if isinstance(mac, str) else say("word.none"),
    ]


def _scores_digest(facts: Facts) -> Node:
    for entry in objects(facts.manifest.get("files")):
        if entry.get("path") == "scoring/scores.jsonl":
            return code(text(entry, "sha256"))
    return say("word.none")


def _glossary() -> Node:
    rows: list[list[JsonValue]] = [[say(f"glossary.{term}"), say(f"glossary.{term}_means")] for term in TERMS]
    return table(say("annex.glossary_table"), [column("term", width=26), column("means")], rows, id="glossary")


def _mapping() -> Iterator[Node]:
    yield paragraph("annex.mapping_intro")
    rows: list[list[JsonValue]] = [
        [say(f"mapping.{name}"), say(f"mapping.{name}_asks"), say(f"mapping.{name}_answered")] for name in SOURCES
    ]
    columns = [column("source", width=34), column("asks"), column("answered", width=24)]
    yield table(say("annex.mapping_table"), columns, rows, id="mapping")
