"""What the run adds to a score: cluster, keyed digest, latency, attempts, who decided. Shared by auditor and verifier.

Source: docs/spec/score-record.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from slaverify.contract import Outcome
from slaverify.contract.words import PatternEvent
from slaverify.evalset import Item
from slaverify.run import DerivedExchange
from slaverify.scoring import AnswerClass, Event, ScoreRecord

RULE = "rule"
PATTERN = "pattern"
"""Level of the events that a record has from the whole run."""
Patterns = Mapping[tuple[str, int, str], tuple[str, ...]]
"""The patterns of each exchange that has some, by item id, repetition and side."""
_WITH_ANSWER = frozenset((Outcome.ANSWERED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.EMPTY))


def cluster_names(items: Iterable[Item]) -> dict[str, str | None]:
    """Return the opaque cluster of each item id: `c-0001`… by first item id; None for an item without one."""
    names: dict[str, str] = {}
    found: dict[str, str | None] = {}
    for item in sorted(items, key=lambda item: item.id):
        if item.cluster is None:
            found[item.id] = None
        else:
            found[item.id] = names.setdefault(item.cluster, f"c-{len(names) + 1:04d}")
    return found


def finished(record: ScoreRecord, exchange: DerivedExchange, cluster: str | None, patterns: Patterns) -> ScoreRecord:
    """Return the record that scoring made with what the run knows of its exchange, before any judge or person."""
    planned = exchange.planned
    seen = run_patterns(record, patterns.get((planned.item_id, planned.repetition, planned.side), ()))
    events = (*record.events, *(Event(code, PATTERN, True) for code in seen))
    return replace(
        record,
        item_id=planned.item_id,
        repetition=planned.repetition,
        side=planned.side,
        events=tuple(sorted(events, key=lambda event: event.code)) if seen else record.events,
        cluster=cluster,
        decided_by=None if record.verdict is None else RULE,
        answer_mac=answer_mac(exchange),
        latency_ms=exchange.latency_ms,
        attempts=exchange.attempts,
        # What the wire saw stays with the answer: a body that was cut counts both ways in the decision.
        flags=tuple(sorted({*record.flags, *exchange.flags})),
    )


def run_patterns(record: ScoreRecord, seen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns of an exchange that its record has as events.

    One sentence for every abstention is no constant output: it asserts nothing, and abstentions have metrics of theirs.
    """
    abstains = record.answer_class is AnswerClass.ABSTENTION
    return tuple(code for code in seen if not (abstains and code == PatternEvent.CONSTANT_OUTPUT))


def answer_mac(exchange: DerivedExchange) -> str | None:
    """Return the keyed digest of the response that gave the answer, None where the exchange ended without one."""
    return exchange.response_mac if exchange.outcome in _WITH_ANSWER else None
