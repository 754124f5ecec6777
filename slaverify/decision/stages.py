"""Whether the first stage of a run leaves the doubt that the contract agreed a second one for. Pure.

Source: docs/spec/decision.md, section 3 (second stage).
"""

from __future__ import annotations

from collections.abc import Sequence

from slaverify.canonical import JsonObject
from slaverify.contract import RUN_PATTERNS, Contract
from slaverify.decision.decide import decide
from slaverify.decision.inputs import inputs
from slaverify.decision.results import results
from slaverify.decision.words import RunValidity, State


def leaves_doubt(contract: Contract, records: Sequence[JsonObject]) -> bool:
    """Tell whether the scores of the first stage alone are INCONCLUSIVE, at the levels of the first stage.

    Asked before the run is over, so of a run without faults: one that turns out to be invalid decides nothing anyway.
    For the same reason patterns, which are of the whole run, have no part in it: more questions would not undo them.
    """
    valid = RunValidity(valid=True)
    counted = inputs(contract, [_alone(record) for record in records])
    return decide(contract, results(contract, counted, valid, {}), valid)["state"] == State.INCONCLUSIVE


def _alone(record: JsonObject) -> JsonObject:
    """Return a record without the events of the whole run."""
    events = record.get("events")
    if not isinstance(events, list | tuple):
        return record
    kept = [one for one in events if not (isinstance(one, dict) and one.get("code") in RUN_PATTERNS)]
    return {**record, "events": kept}
