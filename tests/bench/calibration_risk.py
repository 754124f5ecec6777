"""The exact risk of a corrected interval, summed over every outcome: no simulation, and no noise of one.

`python -m tests.bench.calibration_risk` writes docs/validation/calibration-risk.md. The threshold is the true rate, so
that every PASS or BREACH is a false one. Of N answers the judge accepts a binomial number; of those and of the others
so many are read as `stratified_audit` draws, and people find a binomial number of each right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binom

from slaverify.statistics import Cell, limits_at, stratified_audit

SIDE = 0.025
LEAST = 50
"""Labels of each verdict at least (docs/spec/calibration.md section 2)."""
_RARE = 1e-7
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "validation" / "calibration-risk.md"


@dataclass(frozen=True)
class Population:
    """Items, true rate, the judge's sensitivity and specificity, labels planned."""

    n: int
    rate: float
    sensitivity: float
    specificity: float
    labels: int


@dataclass(frozen=True)
class Risk:
    """Probability of a false PASS and of a false BREACH, each at 2.5 % a side."""

    false_pass: float
    false_breach: float


POPULATIONS = tuple(
    Population(n, rate, se, sp, labels)
    for n, labels in ((300, 100), (600, 200))
    for rate in (0.90, 0.95)
    for se, sp in ((0.95, 0.9), (0.98, 0.8), (0.98, 0.5))
)


@dataclass(frozen=True)
class _Drawn:
    """What was drawn: sizes and labels of both verdicts, and how many of the rejected people found right."""

    rejected: Cell
    accepted: int
    labels: int

    def limits(self, right: int) -> tuple[float, float]:
        """Return the limits of the corrected rate with so many accepted ones found right."""
        found = stratified_audit((self.rejected, Cell(self.accepted, self.labels, right)))
        assert found.theta is not None and found.n_eff is not None
        limits = limits_at(min(found.theta * found.n_eff, found.n_eff), found.n_eff, SIDE)
        return limits.low, limits.high

    def first(self, holds: Callable[[float, float], bool]) -> int:
        """Return the least count from which a monotone condition on the limits holds, one too many if none."""
        low, high = 0, self.labels + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(*self.limits(middle)) else (middle + 1, high)
        return low


def risk(population: Population) -> Risk:
    """Return the exact risks of a population."""
    n, rate = population.n, population.rate
    accepts = rate * population.sensitivity + (1 - rate) * (1 - population.specificity)
    right = rate * population.sensitivity / accepts
    missed = rate * (1 - population.sensitivity) / (1 - accepts)
    false_pass = false_breach = 0.0
    for accepted in range(1, n):
        chance, rejected = float(binom.pmf(accepted, n, accepts)), n - accepted
        if chance < _RARE:
            continue
        of_rejected = min(rejected, max(LEAST, round(population.labels * rejected / n)))
        of_accepted = min(accepted, max(LEAST, population.labels - of_rejected))
        for found in range(of_rejected + 1):
            both = chance * float(binom.pmf(found, of_rejected, missed))
            if both >= _RARE:
                drawn = _Drawn(Cell(rejected, of_rejected, found), accepted, of_accepted)
                above, below = drawn.first(lambda low, _: low > rate), drawn.first(lambda _, high: high >= rate)
                false_pass += both * float(binom.sf(above - 1, of_accepted, right))
                false_breach += both * float(binom.cdf(below - 1, of_accepted, right))
    return Risk(false_pass, false_breach)


HEAD = """# The exact risk of a calibrated rate

Written by `python -m tests.bench.calibration_risk`: sums over every outcome of `stratified_audit`, nothing drawn. The
threshold is the true rate; each side is meant to err in at most 2.5 %. A simulation of 500 audits of one of these rows
(calibration.md) shows anything from 0.8 to 3.6 % by chance alone.

| N | rate | se | sp | labels | false PASS | false BREACH |
|---:|---:|---:|---:|---:|---:|---:|
"""


def main() -> None:
    """Write the document."""
    rows = []
    for one in POPULATIONS:
        found = risk(one)
        shown = f"{one.n} | {one.rate:.2f} | {one.sensitivity} | {one.specificity} | {one.labels}"
        rows.append(f"| {shown} | {100 * found.false_pass:.2f} % | {100 * found.false_breach:.2f} % |")
    DOCUMENT.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
