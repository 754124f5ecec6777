"""Measure whole calibrations: seeded audits with a judge of known error and people, from the draw to the interval.

`python -m tests.bench.calibration` writes docs/validation/calibration.md. Each audit draws its own run, its own
sample of labels and its own readers, and goes through the functions of the product.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

from slaverify.decision import RunValidity, inputs, metric_calibrations, results
from slaverify.judging.calibration import Label, UnitKey, calibration_record, label_seed
from slaverify.version import __version__
from tests.judging.calibration.people import (
    ABSTAINS,
    DIGEST,
    RIGHT,
    WRONG,
    contract,
    labelled,
    others,
    simulated,
    truthful,
)

AUDITS = 500
SECOND_ERRS = 0.04
"""Share of rows that the second person gets wrong; the third settles them."""
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "validation" / "calibration.md"


@dataclass(frozen=True)
class Setting:
    """One population: items, true rate, the judge's sensitivity and specificity, labels, design."""

    n: int
    rate: str
    sensitivity: float
    specificity: float
    labels: int
    design: str = "stratified_audit"

    @property
    def name(self) -> str:
        return (
            f"{self.design}, N {self.n}, rate {self.rate}, se {self.sensitivity} sp {self.specificity}, "
            f"{self.labels} labels"
        )


SETTINGS = (
    Setting(300, "0.92", 0.95, 0.85, 100),
    Setting(300, "0.90", 0.98, 0.80, 100),
    Setting(600, "0.92", 0.95, 0.85, 150),
    Setting(600, "0.90", 0.98, 0.50, 200),
    Setting(600, "0.95", 0.95, 0.90, 200),
    Setting(600, "0.88", 0.97, 0.90, 400, "random_audit"),
)


@dataclass
class Seen:
    """What the audits of one setting gave. Counts of audits; sums of rates."""

    audits: int = 0
    refused: int = 0
    covered: int = 0
    naive_covered: int = 0
    low_above: int = 0
    passes: int = 0
    breaches: int = 0
    sensitivity: int = 0
    specificity: int = 0
    naive: float = 0.0
    width: float = 0.0


def measure(setting: Setting, audits: int) -> Seen:
    """Carry out seeded audits whose threshold is the true rate: any PASS or BREACH is a false one."""
    seen = Seen()
    rate = float(setting.rate)
    agreed = contract(n=setting.n, design=setting.design, min_labels=setting.labels)
    metric = agreed.metrics[0].model_copy(update={"threshold": type(agreed.metrics[0].threshold)(setting.rate)})
    agreed = agreed.model_copy(update={"metrics": (metric,)})
    for number in range(audits):
        rng = random.Random(f"{setting.name} {number}")
        records, truth = simulated(rng, setting.n, rate, setting.sensitivity, setting.specificity)
        whole = [*records, *others(30)]
        reads = truthful(truth)

        def second(key: UnitKey, rng: random.Random = rng, truth: dict[UnitKey, bool] = truth) -> Label:
            if key not in truth or rng.random() >= SECOND_ERRS:
                return RIGHT if truth.get(key) else WRONG if key in truth else ABSTAINS
            return WRONG if truth[key] else RIGHT

        run = labelled(agreed, whole, reads, second, reads, seed=label_seed(DIGEST, number, setting.name.encode()))
        _tally(seen, setting, calibration_record(run))
        found = results(agreed, inputs(agreed, whole), RunValidity(valid=True), metric_calibrations(run, whole))
        _judge(seen, rate, found["metrics"][0])
        naive = sum(one["verdict"] == "accurate" for one in records) / setting.n
        seen.naive += naive
        half = 1.959964 * (naive * (1 - naive) / setting.n) ** 0.5
        seen.naive_covered += naive - half <= rate <= naive + half
    return seen


def _tally(seen: Seen, setting: Setting, record: dict) -> None:
    subject = record["subjects"][0]
    for name, true in (("sensitivity", setting.sensitivity), ("specificity", setting.specificity)):
        low, high = subject[name]["low"], subject[name]["high"]
        covered = low is not None and float(low) <= true <= float(high)
        setattr(seen, name, getattr(seen, name) + covered)


def _judge(seen: Seen, rate: float, metric: dict) -> None:
    seen.audits += 1
    if metric["exact"] is None or metric["state"] == "NOT_MEASURED":
        seen.refused += 1
        return
    low, high = float(metric["exact"]["low"]), float(metric["exact"]["high"])
    seen.covered += low <= rate <= high
    seen.low_above += low > rate
    seen.width += high - low
    seen.passes += metric["state"] == "PASS"
    seen.breaches += metric["state"] == "BREACH"


def _share(part: float, whole: int) -> str:
    return "-" if whole == 0 else f"{100 * part / whole:.1f} %"


HEAD = f"""# Calibrations, measured whole

Written by `python -m tests.bench.calibration`; seeded, so that the same versions give the same file.
slaverify {__version__}. {{audits}} audits a row: each draws a run, a judge with that error, the rows that people read,
two readers (the second errs in {round(100 * SECOND_ERRS)} % of the rows) and one who settles; then record, gate and
decision of the product. The threshold is the true rate: every PASS or BREACH is false.

Covers: the interval of the decision holds the true rate (goal: at least 94 %). Judge alone: what it says uncorrected,
and how often its own 95 % interval holds the true rate. Refused: the gate was not met; such audits decide nothing.

| {{columns}} |
|---|{{rules}}|
"""
COLUMNS = (
    *("setting", "covers", "low > rate", "width", "false PASS", "false BREACH", "judge alone", "its interval covers"),
    *("se covered", "sp covered", "refused"),
)


def document(audits: int) -> str:
    """Return the table of all settings."""
    head = HEAD.format(audits=audits, columns=" | ".join(COLUMNS), rules="|".join(["---:"] * (len(COLUMNS) - 1)))
    return head + "".join(f"| {' | '.join(_row(setting, measure(setting, audits)))} |\n" for setting in SETTINGS)


def _row(setting: Setting, seen: Seen) -> list[str]:
    decided = seen.audits - seen.refused
    return [
        setting.name,
        _share(seen.covered, decided),
        _share(seen.low_above, decided),
        f"{seen.width / max(1, decided):.3f}",
        _share(seen.passes, seen.audits),
        _share(seen.breaches, seen.audits),
        f"{seen.naive / seen.audits:.3f}",
        _share(seen.naive_covered, seen.audits),
        _share(seen.sensitivity, seen.audits),
        _share(seen.specificity, seen.audits),
        _share(seen.refused, seen.audits),
    ]


if __name__ == "__main__":
    text = document(int(sys.argv[1]) if len(sys.argv) > 1 else AUDITS)
    if len(sys.argv) > 1:
        print(text)
    else:
        DOCUMENT.write_text(text, encoding="utf-8")
