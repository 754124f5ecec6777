"""Signals of the run again: from the bytes where they are here, else those that the public lines show.

1. `run/signals.json` holds the signals that result, no more and no fewer, with the same exchanges;
2. each pattern among them is an event of the score records of its exchanges, and of no other.

Source: docs/spec/run.md, section "Signals"; docs/spec/verification.md (V19).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slaverify.canonical import JsonObject, JsonValue, jcs
from slaverify.contract import RUN_PATTERNS
from slaverify.errors import Text
from slaverify.evidence import Bundle
from slaverify.run import PUBLIC, SIGNALS, Plan, Signal, patterns_of, signals_json
from slaverify.scoring import ScoreRecord
from slaverify.verify.checks import Part, failed
from slaverify.verify.records import Patterns, run_patterns
from slaverify.verify.trees import first_difference


class Signals:
    """The signals of a bundle as stored. Raises: ValueError, EvidenceError for a file that is not of its form."""

    def __init__(self, plan: Plan, bundle: Bundle) -> None:
        self._run_id = plan.run_id
        self._stored = bundle.json(SIGNALS)
        self.known: Patterns = patterns_of(self._stored, plan)

    def parts(self, derived: Sequence[Signal], from_bytes: bool) -> Iterator[Part]:
        """Yield what is wrong with the file; of public lines alone, only what follows from them is compared."""
        again = signals_json(self._run_id, [one for one in derived if from_bytes or one.code in PUBLIC])
        stored = self._stored if from_bytes else _public(self._stored)
        if jcs(stored) != jcs(again):
            path, there, here = first_difference(stored, again) or ("", "", "")
            yield failed(
                Text(f"{SIGNALS}: {path} no sale de las respuestas", f"{SIGNALS}: {path} is not what the answers show"),
                expected=here,
                found=there,
            )

    def event_parts(self, records: Sequence[ScoreRecord]) -> Iterator[Part]:
        """Yield the records whose patterns are not those of their exchange."""
        for record in records:
            found = sorted(event.code for event in record.events if event.code in RUN_PATTERNS)
            seen = self.known.get((record.item_id, record.repetition, record.side), ())
            due = sorted(run_patterns(record, seen))
            if found != due:
                yield failed(
                    Text(
                        f"{record.item_id}: sus patrones no son los de la corrida",
                        f"{record.item_id}: its patterns are not those of the run",
                    ),
                    expected=", ".join(due),
                    found=", ".join(found),
                )


def _public(stored: JsonObject) -> JsonObject:
    listed: JsonValue = stored.get("signals")
    entries = listed if isinstance(listed, list | tuple) else ()
    return {**stored, "signals": [one for one in entries if isinstance(one, dict) and one.get("code") in PUBLIC]}
