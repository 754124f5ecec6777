"""How long a decision of many records takes: 20 metrics, a third of them clustered.

Usage: python -m tests.bench.decision_speed [--write]; writes docs/validation/decision-speed.md.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from slaverify.decision import RunValidity, decide, inputs, results
from tests.decision.build import ACCURACY, HALLUCINATION, WRONG, build, record

METRICS = 20
SIZES = (1_000, 10_000, 100_000, 1_000_000)
TARGET = Path(__file__).resolve().parents[2] / "docs" / "validation" / "decision-speed.md"


def contract_of(n: int):
    """Return a contract of 20 metrics over n items."""
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
    """Return the least processor time (seconds) of a few decisions, scipy already imported."""
    import scipy.optimize
    import scipy.special  # noqa: F401 - its import is not what is measured

    contract = contract_of(n)
    records = [record(i, cluster=f"c-{i // 8:06d}", **(WRONG if i % 33 == 0 else {})) for i in range(n)]
    records.append(record(10**7, "out_of_corpus"))
    found = []
    for _ in range(times):
        start = time.process_time()
        numbers = results(contract, inputs(contract, records), RunValidity(True))
        state = decide(contract, numbers, RunValidity(True))["state"]
        found.append(time.process_time() - start)
        if state not in ("PASS", "INCONCLUSIVE"):
            raise AssertionError(state)
    return min(found)


def table() -> str:
    """Measure each size and return the page."""
    rows = [(n, seconds(n, 1 if n > 100_000 else 3)) for n in SIZES]
    unit = next(taken / n for n, taken in rows if n == 10_000)
    lines = [f"| {n:,} | {taken:.3f} | {taken / n / unit:.2f} |".replace(",", " ") for n, taken in rows]
    return "\n".join(
        (
            "# Time of a decision",
            "",
            "`python -m tests.bench.decision_speed --write`: score records to decision, 20 metrics, 7 of them",
            "clustered (8 items each), one process on one core, processor time, scipy already imported. The last",
            "column is the time of one record beside that of 10 000 records in the same process: 1 is linear.",
            "",
            "| records | seconds | time of one record, ratio |",
            "|---:|---:|---:|",
            *lines,
            "",
        )
    )


if __name__ == "__main__":
    page = table()
    print(page)
    if "--write" in sys.argv:
        TARGET.write_text(page, encoding="utf-8")
