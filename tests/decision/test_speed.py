"""Deciding 10 000 records with 20 metrics takes under half a second of processor, and grows linearly."""

from __future__ import annotations

import time

import pytest

from slaverify.decision import RunValidity, decide, inputs, results
from tests.decision.build import ACCURACY, HALLUCINATION, WRONG, build, record

METRICS = 20


def contract_of(n: int):
    metrics = []
    for index in range(METRICS):
        base = HALLUCINATION if index % 2 else ACCURACY
        metric = {**base, "id": f"m{index:02d}", "among": {"stratum": ["direct"]}}
        metrics.append({**metric, "cluster": {"by": "norm", "icc_floor": "0.2"}} if index % 3 == 0 else metric)
    strata = {"direct": n, "out_of_corpus": 1}
    return build(
        metrics,
        evaluation_set={"size": n + 1, "strata": strata, "sample": {"method": "seeded", "per_stratum": strata}},
    )


def seconds(n: int, times: int = 3) -> float:
    """Return the least processor time of a few decisions, scipy already imported."""
    import scipy.optimize
    import scipy.special  # noqa: F401 - its import is not what is measured

    contract = contract_of(n)
    records = [record(i, cluster=f"c-{i // 8:06d}", **(WRONG if i % 33 == 0 else {})) for i in range(n)]
    records.append(record(10**7, "out_of_corpus"))
    found = []
    for _ in range(times):
        start = time.process_time()
        numbers = results(contract, inputs(contract, records), RunValidity(True))
        assert decide(contract, numbers, RunValidity(True))["state"] in ("PASS", "INCONCLUSIVE")
        found.append(time.process_time() - start)
    return min(found)


def test_ten_thousand_records() -> None:
    assert seconds(10_000) < 0.5


@pytest.mark.nightly
def test_growth_is_linear() -> None:
    assert seconds(200_000, times=2) < 30 * seconds(10_000)
