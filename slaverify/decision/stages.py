"""Whether the first stage of a run leaves the doubt that the contract agreed a second one for. Pure.

Source: docs/spec/decision.md, section 3 (second stage).
"""

from __future__ import annotations

from collections.abc import Sequence

from slaverify.canonical import JsonObject
from slaverify.contract import Contract
from slaverify.decision.decide import decide
from slaverify.decision.inputs import inputs
from slaverify.decision.results import results
from slaverify.decision.words import RunValidity, State


def leaves_doubt(contract: Contract, records: Sequence[JsonObject]) -> bool:
    """Tell whether the scores of the first stage alone are INCONCLUSIVE, at the levels of the first stage.

    Asked before the run is over, so of a run without faults: one that turns out to be invalid decides nothing anyway.
    """
    valid = RunValidity(valid=True)
    return (
        decide(contract, results(contract, inputs(contract, records), valid, {}), valid)["state"] == State.INCONCLUSIVE
    )
