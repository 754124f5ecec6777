"""What a metric of a contract can decide: numbers, chances of each state, power, and the n that more power needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.contract import (
    Contract,
    Metric,
    bank_size,
    breach_level,
    derived_numbers,
    has_integers,
    judged_strata,
    metric_n,
    of_bank,
    sample_sizes,
    stages_of,
    success_rate,
    unequal_weights,
)
from slaverify.contract.model.judge import Calibration
from slaverify.readiness.designs import Counted, Design, OfBank, Staged, betting, clustered_n_eff, effective
from slaverify.statistics import equivalent_labels, min_n_power

CLUSTER_SIZE = 5
"""Items of a cluster that are assumed while no bank says it (convention)."""
ASSUMED_JUDGE = 0.9
"""Sensitivity and specificity that are assumed of a judge where the contract asks for none (convention)."""
CURVE_POINTS = 11
POWERS = (0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Point:
    """The chance of each state at a true rate, given in the contract's own sense (maybe an error rate)."""

    rate: float
    p_pass: float
    p_breach: float

    @property
    def p_inconclusive(self) -> float:
        """The chance of neither."""
        return max(0.0, 1.0 - self.p_pass - self.p_breach)


@dataclass(frozen=True, slots=True)
class Needed:
    """Items at which a state reaches 80 % and 90 % power; null where no size below the planning limit does."""

    at_80: int | None
    at_90: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutlook:
    """What one metric can decide. Rates are in the contract's own sense; counts in items.

    `basis` says how it is decided: `integers`, `bank`, `stages`, `clusters`, `repeats`, `weights`, `judge`, `bets`.
    `better`, `worse`: chances a margin on the good and on the bad side of the threshold. `labels_worth`: how many
    perfect labels its judged items are worth; null without a judge.
    """

    index: int
    id: str
    direction: str
    threshold: Decimal
    rule: str
    binding: bool
    basis: str
    n: int
    n_eff: float
    pass_max_failures: int | None
    breach_min_failures: int | None
    can_pass: bool
    can_breach: bool
    better: Point
    at_threshold: Point
    worse: Point
    curve: tuple[Point, ...]
    to_pass: Needed
    to_breach: Needed
    labels_worth: int | None = None
    n_judged: int = 0
    cluster_size: int | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """How a success share in [0, 1] reads in the contract's own sense, and the share that is promised."""

    t: Fraction
    low: float
    high: float

    def rate(self, success: float) -> float:
        """Return the figure in the contract's own sense."""
        return self.low + (self.high - self.low) * success


def outlook(contract: Contract, index: int, cluster_size: int = CLUSTER_SIZE) -> MetricOutlook:
    """Return what metric number `index` of a completed contract can decide. Raises: StatisticsError, ContractError."""
    metric = contract.metrics[index]
    scale, margin = scale_of(metric), margin_of(metric)
    plan = design_of(contract, metric, cluster_size)
    design, numbers = plan.design, derived_numbers(contract, metric)
    t = float(scale.t)
    up, down = min(1.0, t + margin), max(0.0, t - margin)
    return MetricOutlook(
        index=index,
        id=metric.id,
        direction="at_least" if metric.kind == "quantile" else metric.direction,
        threshold=metric.threshold,
        rule=metric.decision.rule,
        binding=binds(contract, metric),
        basis=plan.basis,
        n=numbers.n,
        n_eff=plan.n_eff,
        pass_max_failures=numbers.pass_max_failures,
        breach_min_failures=numbers.breach_min_failures,
        can_pass=design.can_pass,
        can_breach=design.can_breach,
        better=_point(design, scale, up),
        at_threshold=_point(design, scale, t),
        worse=_point(design, scale, down),
        curve=_curve(design, scale, margin),
        to_pass=_needed(contract, metric, plan, up, "pass"),
        to_breach=_needed(contract, metric, plan, down, "breach"),
        labels_worth=plan.labels_worth,
        n_judged=plan.n_judged,
        cluster_size=None if metric.cluster is None else cluster_size,
    )


@dataclass(frozen=True, slots=True)
class Planned:
    """A design and what it came from."""

    design: Design
    basis: str
    n_eff: float
    labels_worth: int | None = None
    n_judged: int = 0


def design_of(contract: Contract, metric: Metric, cluster_size: int = CLUSTER_SIZE) -> Planned:
    """Return how a metric is decided. Raises: StatisticsError, ContractError."""
    n, t = metric_n(contract, metric), float(scale_of(metric).t)
    alpha_pass, alpha_breach = float(metric.decision.alpha_pass), float(breach_level(contract, metric))
    if is_bet(metric):
        units = n if metric.cluster is None else max(1, n // cluster_size)
        return Planned(betting(units, t, alpha_pass, alpha_breach), "bets", float(units))
    if has_integers(contract, metric):
        return _by_integers(contract, metric, n)
    n_eff, basis = _n_eff(contract, metric, n, min(alpha_pass, alpha_breach), cluster_size)
    judged, judge = _judged(contract, metric), contract.judge
    if judge is None or not judged:
        return Planned(effective(n_eff, t, alpha_pass, alpha_breach), basis, n_eff)
    share = judged / n
    worth = _labels_worth(judge.calibration, max(1, round(judged * n_eff / n)), t)
    # The variance of a mix: the judged part counts for its labels' worth, the rest for its own items.
    n_judge = max(1.0, 1.0 / (share**2 / worth + (1 - share) / n_eff)) if worth else 1.0
    return Planned(effective(n_judge, t, alpha_pass, alpha_breach), "judge", n_judge, int(worth), judged)


def best_design(contract: Contract, metric: Metric) -> Design:
    """Return the design at its best: every item by itself, a judge without error. What it cannot PASS, nothing can."""
    t, alpha_pass = float(scale_of(metric).t), float(metric.decision.alpha_pass)
    alpha_breach, n = float(breach_level(contract, metric)), metric_n(contract, metric)
    if is_bet(metric):
        return betting(n, t, alpha_pass, alpha_breach)
    return effective(_n_eff(contract, metric, n, min(alpha_pass, alpha_breach), 1)[0], t, alpha_pass, alpha_breach)


def scale_of(metric: Metric) -> Scale:
    """Return the promised success share and how it reads: a rate, a share of a mean's scale, errors over weight."""
    if metric.kind == "corpus_rate" and metric.r_max:
        ratio = Fraction(metric.r_max)
        return Scale(1 - Fraction(metric.threshold) / ratio, float(ratio), 0.0)
    if is_bet(metric) and metric.scale is not None:
        low, high = (Fraction(limit) for limit in metric.scale)
        share = (Fraction(metric.threshold) - low) / (high - low)
        if metric.direction == "at_least":
            return Scale(share, float(low), float(high))
        return Scale(1 - share, float(high), float(low))
    errors = metric.direction == "at_most" and metric.kind != "quantile"
    return Scale(Fraction(success_rate(metric)), 1.0 if errors else 0.0, 0.0 if errors else 1.0)


def margin_of(metric: Metric) -> float:
    """Return the distance from the promised share at which power is told: as written, or half the way to perfection."""
    scale = scale_of(metric)
    if metric.margin is None:
        return float((1 - scale.t) / 2)
    width = abs(scale.high - scale.low)
    return float(metric.margin) / width


def is_bet(metric: Metric) -> bool:
    """Return whether a metric is decided by bets: a mean without a cut, or a corpus rate."""
    return metric.kind == "corpus_rate" or (metric.kind == "mean" and metric.cut is None)


def binds(contract: Contract, metric: Metric) -> bool:
    """Return whether a metric moves the verdict: in a pilot none does."""
    return metric.severity == "binding" and contract.contract.purpose != "pilot"


def _by_integers(contract: Contract, metric: Metric, n: int) -> Planned:
    stages = stages_of(contract, metric)
    if stages is not None:
        return Planned(Staged(stages), "stages", float(n))
    numbers = derived_numbers(contract, metric)
    accept, reject = numbers.pass_max_failures, numbers.breach_min_failures
    if of_bank(contract, metric):
        return Planned(OfBank(bank_size(contract, metric), n, accept, reject), "bank", float(n))
    return Planned(Counted(n, accept, reject), "integers", float(n))


def _n_eff(contract: Contract, metric: Metric, n: int, alpha: float, cluster_size: int) -> tuple[float, str]:
    size, basis = float(n), "repeats"
    weights = unequal_weights(contract, metric)
    if weights is not None:
        sizes = sample_sizes(contract)
        spread = sum(float(weight) ** 2 / sizes[name] for name, weight in weights.items())
        size, basis = min(size, 1.0 / spread), "weights"
    if metric.cluster is not None:
        size *= clustered_n_eff(n, cluster_size, metric.cluster.icc_floor, alpha) / n
        basis = "clusters"
    return size, basis


def _judged(contract: Contract, metric: Metric) -> int:
    sizes = sample_sizes(contract)
    return sum(sizes[name] for name in judged_strata(contract, metric))


def _labels_worth(calibration: Calibration, judged: int, t: float) -> float:
    each = max(calibration.min_per_class, calibration.min_labels // 2)
    sensitivity = float(calibration.min_sensitivity) or ASSUMED_JUDGE
    specificity = float(calibration.min_specificity) or ASSUMED_JUDGE
    return equivalent_labels(judged, sensitivity, specificity, t, each, each) or 0.0


def _needed(contract: Contract, metric: Metric, plan: Planned, rate: float, side: str) -> Needed:
    if metric.decision.rule != "guarded" or plan.basis in ("bank", "bets"):
        return Needed(None, None)
    level = Fraction(metric.decision.alpha_pass) if side == "pass" else breach_level(contract, metric)
    inflation = metric_n(contract, metric) / plan.n_eff
    found = [min_n_power(scale_of(metric).t, rate, level, power, side) for power in POWERS]
    sizes = [None if n is None else math.ceil(n * inflation) for n in found]
    return Needed(sizes[0], sizes[1])


def _point(design: Design, scale: Scale, success: float) -> Point:
    passes, breaches = design.chances(success)
    return Point(scale.rate(success), passes, breaches)


def _curve(design: Design, scale: Scale, margin: float) -> tuple[Point, ...]:
    """Return the operating curve from three margins below the threshold to perfection."""
    low = max(0.0, float(scale.t) - 3 * margin)
    step = (1.0 - low) / (CURVE_POINTS - 1)
    return tuple(_point(design, scale, min(1.0, low + step * index)) for index in range(CURVE_POINTS))
