"""From score records and the contract to counts, numbers, states, remedies and declared limitations.

Pure: the auditor and the verifier call the same functions and compare bytes. A state never comes from an
exception, a default or a missing file. Formats: docs/spec/decision.md.
"""

from slaverify.decision.calibrated import MetricCalibration
from slaverify.decision.compare import compare_runs, compare_versions
from slaverify.decision.decide import decide
from slaverify.decision.dispersion import dispersion
from slaverify.decision.disputes import Disputed, dispute_states
from slaverify.decision.draws import compare_draws
from slaverify.decision.facts import CalibrationFacts, DispersionFacts, LimitationFacts, MetricFacts, metric_facts
from slaverify.decision.inputs import inputs
from slaverify.decision.limitations import limitations
from slaverify.decision.missing import VENDORS
from slaverify.decision.panels import judged_floor, panel_states
from slaverify.decision.people import external_calibrations, metric_calibrations
from slaverify.decision.plan import plan, worth_of_judged
from slaverify.decision.results import results
from slaverify.decision.stages import leaves_doubt
from slaverify.decision.states import states
from slaverify.decision.words import Reason, RunValidity, State

__all__ = [
    "VENDORS",
    "CalibrationFacts",
    "DispersionFacts",
    "Disputed",
    "LimitationFacts",
    "MetricCalibration",
    "MetricFacts",
    "Reason",
    "RunValidity",
    "State",
    "compare_draws",
    "compare_runs",
    "compare_versions",
    "decide",
    "dispersion",
    "dispute_states",
    "external_calibrations",
    "inputs",
    "judged_floor",
    "leaves_doubt",
    "limitations",
    "metric_calibrations",
    "metric_facts",
    "panel_states",
    "plan",
    "results",
    "states",
    "worth_of_judged",
]
