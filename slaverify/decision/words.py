"""The closed words of the room: states, reasons, and what is known of a run as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of a metric and of the whole."""

    PASS = "PASS"  # noqa: S105 - a state, no password
    BREACH = "BREACH"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_MEASURED = "NOT_MEASURED"
    INVALID_RUN = "INVALID_RUN"


class Reason(StrEnum):
    """Why a metric has its state; absent where the count alone says it."""

    RUN_INVALID = "run_invalid"
    JUDGE_DRIFT = "judge_drift"
    UNRESOLVED_ABOVE_LIMIT = "unresolved_above_limit"
    NO_OBSERVATIONS = "no_observations"
    ONE_CLUSTER = "one_cluster"
    FEW_CLUSTERS = "few_clusters"
    CALIBRATION_TOO_SMALL = "calibration_too_small"
    CALIBRATION_INCONSISTENT = "calibration_inconsistent"
    JUDGE_NOT_INFORMATIVE = "judge_not_informative"
    JUDGE_BELOW_MINIMUM = "judge_below_minimum"
    JUDGE_UNSTABLE = "judge_unstable"
    JUDGE_UNCALIBRATED = "judge_uncalibrated"
    PROVENANCE_DECLARED = "provenance_declared"
    PROVENANCE_INSUFFICIENT = "provenance_insufficient"
    PROVENANCE_NOT_MEASURED = "provenance_not_measured"
    DATA_ABSENT = "data_absent"
    SCORE_OFF_SCALE = "score_off_scale"
    RULE_UNDEFINED = "rule_undefined"
    ENGINE_MISMATCH = "engine_mismatch"
    MANIPULATION_CONFIRMED = "manipulation_confirmed"
    BINDING_PATTERN = "binding_pattern"
    LEAK_SIGNAL = "leak_signal"
    DISPUTE_SENSITIVE = "dispute_sensitive"


@dataclass(frozen=True, slots=True)
class RunValidity:
    """What the evidence says of the run as a whole.

    `valid` is false for a fault of engine version, bank digest, method digest, ledger or clock; `reason` then names
    it in one word. `judge_drift` (failed sentinels) invalidates only the metrics with judged items; `judge_unstable`
    names the criteria whose repeats flip too often (null: a rubric without criteria). `leak_signal`: a leak test says
    that the vendor knew items beforehand. `provenance` is
    `measured` for a run of ours, `declared` for imported results.
    """

    valid: bool
    reason: str | None = None
    judge_drift: bool = False
    judge_unstable: frozenset[str | None] = frozenset()
    leak_signal: bool = False
    provenance: str = "measured"
