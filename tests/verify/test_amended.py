"""Evidence closed again after disputes: verification reads the rulings from the ledger and leaves those items out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from slaverify.canonical import jcs
from slaverify.decision import RunValidity, decide, inputs, results
from slaverify.verify import Outcome
from tests.verify.checking import check, failures, said
from tests.verify.sample import closed, line


@pytest.mark.parametrize(("upheld", "n", "state"), [(1, 19, "PASS"), (2, 18, "INVALID_RUN")])
def test_upheld_items_leave_the_count_and_too_many_the_whole_run(upheld: int, n: int, state: str) -> None:
    audit = line(upheld=upheld)
    found = check(audit, closed(audit), annex=audit.annex)
    assert found.outcome is Outcome.VERIFIED, [(one.id, one.reason.en, one.found) for one in found.failed()]
    assert found.verdict is not None and found.verdict.state == state
    metric = next(one for one in found.verdict.metrics if one.id == "accuracy")
    assert metric.n == n


def test_a_report_that_forgets_what_was_upheld_is_found() -> None:
    audit = line(wrong=1, upheld=1)
    model = audit.contract.model
    records = [json.loads(row) for row in audit.files["scoring/scores.jsonl"].splitlines()]
    counted = inputs(model, records)
    measured = results(model, counted, RunValidity(valid=True))
    stale = {
        "statistics/inputs.json": jcs(counted),
        "statistics/results.json": jcs(measured),
        "decision/decision.json": jcs(decide(model, measured, RunValidity(valid=True))),
    }
    found = check(audit, closed(replace(audit, files={**audit.files, **stale})))
    assert failures(found) == {"V19"} and "statistics/inputs.json" in said(found, "V19")
