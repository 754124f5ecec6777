"""The numbers that freeze writes are those that the decision uses."""

from __future__ import annotations

import pytest

from slaverify.contract import derived_numbers
from slaverify.decision import RunValidity, inputs, results
from tests.decision.build import ACCURACY, HALLUCINATION, build, record, run
from tests.decision.test_methods import EXTEND, LATENCY

RULES = [
    {},
    {"rule": "guarded_rejection"},
    {"rule": "simple"},
    {"rule": "zero_observed"},
    {"rule": "two_point", "f0": "0.02", "r0": "0.05", "f1": "0.12", "r1": "0.05"},
    {"alpha_pass": "0.05", "alpha_breach": "0.01"},
]
LATE = {**LATENCY, "threshold": "0.80"}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "changes", [{}, {"verdict": {"multiplicity": "none"}}, {"evaluation_set": {"estimand": "bank"}}]
)
def test_numbers_agree(rule: dict, changes: dict) -> None:
    contract = build([{**ACCURACY, "decision": rule}, HALLUCINATION, LATE], **changes)
    found = results(contract, inputs(contract, run(3)), RunValidity(True))["metrics"]
    for metric, entry in zip(contract.metrics, found, strict=True):
        due = derived_numbers(contract, metric)
        assert (entry["n"], entry["pass_max_failures"], entry["breach_min_failures"]) == (
            due.n,
            due.pass_max_failures,
            due.breach_min_failures,
        )


def test_stages_agree() -> None:
    contract = build([ACCURACY, HALLUCINATION], verdict=EXTEND)
    both = [record(i) for i in range(240)] + [record(1000 + i, "out_of_corpus") for i in range(60)]
    for stage, records in enumerate((run(0), both)):
        found = results(contract, inputs(contract, records), RunValidity(True))["metrics"]
        for metric, entry in zip(contract.metrics, found, strict=True):
            due = derived_numbers(contract, metric).stages[stage]
            assert (entry["n"], entry["pass_max_failures"], entry["breach_min_failures"]) == (
                due.n,
                due.pass_max_failures,
                due.breach_min_failures,
            )
