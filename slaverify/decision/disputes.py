"""Say whether the verdict rests on disputed items: as scored, with all of them for the vendor, with all against.

1. Items whose dispute was upheld leave numerator and denominator; acceptance numbers follow the remaining n.
2. More upheld items than `disputes.max_upheld` of the sample: INVALID_RUN.
3. The state with every open dispute decided for the vendor, and against; if the three differ: INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from slaverify.canonical import JsonObject
from slaverify.contract import Contract, sample_sizes
from slaverify.decision.calibrated import MetricCalibration
from slaverify.decision.inputs import inputs
from slaverify.decision.states import judge
from slaverify.decision.words import Reason, RunValidity, State


@dataclass(frozen=True, slots=True)
class Disputed:
    """The states of the whole under the three readings, and the one that stands (with its reason, or null)."""

    as_scored: State
    in_favour: State
    against: State
    state: State
    reason: Reason | None = None


def dispute_states(
    contract: Contract,
    records: Sequence[JsonObject],
    run_validity: RunValidity,
    *,
    disputed: Collection[str],
    upheld: Collection[str] = (),
    calibrations: Mapping[str, MetricCalibration] | None = None,
) -> Disputed:
    """Return what disputes do to the verdict. `disputed` and `upheld` are item ids; upheld ones are decided. Pure."""

    def whole(word: str) -> State:
        rulings = {**dict.fromkeys(disputed, word), **dict.fromkeys(upheld, "upheld")}
        counted = inputs(contract, records, rulings)
        return judge(contract, counted, run_validity, calibrations).combined.state

    as_scored, in_favour, against = whole("as_scored"), whole("for"), whole("against")
    share = Fraction(len(set(upheld)), max(1, sum(sample_sizes(contract).values())))
    if share > Fraction(contract.disputes.max_upheld):
        return Disputed(as_scored, in_favour, against, State.INVALID_RUN, Reason.RUN_INVALID)
    if len({as_scored, in_favour, against}) > 1:
        return Disputed(as_scored, in_favour, against, State.INCONCLUSIVE, Reason.DISPUTE_SENSITIVE)
    return Disputed(as_scored, in_favour, against, as_scored)
