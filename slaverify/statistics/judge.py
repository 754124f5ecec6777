"""Correct what a judge says by what people say: an audit in the same run, an older calibration, rules and judge mixed.

Each design returns a real-valued sample (`estimate`, `n_eff`) for the exact tails, or limits with a guard. A guard
means that nothing was measured, never PASS.

Sources: Angelopoulos et al. 2023 (arXiv 2311.01453, PPI++) with two added pairs; Lang and Reiczigel 2014 and Lee et
al. 2025 (arXiv 2511.21140) for the calibrated judge, all *unverified* against the primary text; guards and bounds:
docs/spec/decision.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from slaverify.errors import Text
from slaverify.statistics import domain
from slaverify.statistics.intervals import limits_at, two_sided_z

MIN_PER_CLASS = 30
"""Labels that each class of a calibration needs at least; a contract may raise it."""

Z_MAX = 8.0
"""Largest z at which a level is sought: beyond it the tail is below 1e-15."""


@dataclass(frozen=True, slots=True)
class HumanAudit:
    """A rate corrected by an audit of the same run; `lam` in [0, 1], `n_eff` in [n_h, n_h + N], exact limits."""

    lam: float
    estimate: float
    variance: float
    n_eff: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class JudgeCorrected:
    """A rate corrected by known confusion counts.

    `theta` the point shown, in [0, 1], null if the judge carries no information; `center` and `half` of the raw
    interval; `low`, `high` clipped; `guard` a reason that makes the metric NOT_MEASURED, or null.
    """

    theta: float | None
    center: float | None
    half: float | None
    low_raw: float | None
    high_raw: float | None
    low: float | None
    high: float | None
    guard: str | None


@dataclass(frozen=True, slots=True)
class Mixed:
    """A rate of which rules decided one part and a judge the other; limits clipped, `center` not."""

    center: float | None
    low: float | None
    high: float | None
    guard: str | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a stratified audit: `size` of its items in the run, `labels` of them read, `right` found accurate."""

    size: int
    labels: int
    right: int


@dataclass(frozen=True, slots=True)
class AuditedRate:
    """A rate and its effective sample, or a guard."""

    theta: float | None
    n_eff: float | None
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """Labels for truly wrong (`m0`) and truly accurate (`m1`) answers, in counts."""

    m0: int
    m1: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """Calibration counts: `y1` of `m1` truly accurate and `y0` of `m0` truly wrong answers judged rightly."""

    y0: int
    m0: int
    y1: int
    m1: int


def human_audit(
    human: Sequence[float], judge_labelled: Sequence[float], judge_unlabelled: Sequence[float], confidence: float
) -> HumanAudit:
    """Return the rate corrected by people who read a random part of this very run.

    Values 0 or 1 per item; at least two audited items. The two added pairs keep a judge that happened to agree on
    every audited item from counting as perfect. Raises: StatisticsError SLV-S002, SLV-S003, SLV-S006.
    """
    h, j = domain.finites(human, "human"), domain.finites(judge_labelled, "judge_labelled")
    u = domain.finites(judge_unlabelled, "judge_unlabelled")
    if len(h) != len(j) or len(h) < 2 or any(value not in (0.0, 1.0) for value in (*h, *j, *u)):
        raise domain.refusal(
            "SLV-S006",
            Text("se necesitan dos o más pares de 0 y 1", "two or more pairs of 0 and 1 are needed"),
            "human",
        )
    n, rest = len(h), len(u)
    h_mean, j_mean = _mean(h), _mean(j)
    u_mean = _mean(u) if u else j_mean
    lam = _tuned(h, j, u)
    estimate = min(1.0, max(0.0, h_mean + lam * (u_mean - j_mean)))
    corrected = [right - lam * judged for right, judged in zip(h, j, strict=True)]
    variance = _variance([*corrected, 1.0, -lam]) / n
    if rest > 1:
        variance += lam**2 * _variance(u) / rest
    # The added pairs leave no variance of 0; at an estimate of 0 or 1 the audited items alone count.
    n_eff = min(float(n + rest), max(float(n), estimate * (1.0 - estimate) / variance))
    limits = limits_at(estimate * n_eff, n_eff, (1.0 - domain.confidence(confidence)) / 2.0)
    return HumanAudit(lam, estimate, variance, n_eff, limits.low, limits.high)


def judge_corrected(
    k: float, n: float, confusion: Confusion, confidence: Decimal | float, min_per_class: int = MIN_PER_CLASS
) -> JudgeCorrected:
    """Return the rate of `n` judged items of which `k` were judged accurate, corrected by a calibration.

    k and n real where clusters shrink them. Raises: StatisticsError SLV-S002, SLV-S003.
    """
    _confusion(confusion)
    z = two_sided_z(confidence)
    k, n = domain.finite(k, "k"), domain.finite(n, "n")
    if not 0.0 <= k <= n or n <= 0.0:
        raise domain.refusal("SLV-S002", Text(f"se exige 0 <= k <= n: {k} de {n}", f"0 <= k <= n: {k} of {n}"), "k")
    guard = _guard(confusion, confidence, min_per_class)
    moments = _moments(k, n, confusion, z)
    if moments is None:
        nothing = guard or "judge_not_informative"
        return JudgeCorrected(_point(k, n, confusion), None, None, None, None, None, None, nothing)
    center, half = moments
    low, high = center - half, center + half
    if guard is None and (low >= 1.0 or high <= 0.0):
        guard = "calibration_inconsistent"
    return JudgeCorrected(_point(k, n, confusion), center, half, low, high, _clip(low), _clip(high), guard)


def mixed_interval(
    x_rule: float,
    n_rule: float,
    k: float,
    n_judged: float,
    confusion: Confusion,
    confidence: Decimal | float,
    min_per_class: int = MIN_PER_CLASS,
) -> Mixed:
    """Return the interval of a metric of which rules decided `n_rule` items and a judge `n_judged`.

    Raises: StatisticsError SLV-S002, SLV-S003.
    """
    judged = judge_corrected(k, n_judged, confusion, confidence, min_per_class)
    if judged.center is None or judged.half is None:
        return Mixed(None, None, None, judged.guard)
    if n_rule <= 0:
        return Mixed(judged.center, judged.low, judged.high, judged.guard)
    share = n_rule / (n_rule + n_judged)
    p = x_rule / n_rule
    rule = limits_at(x_rule, n_rule, (1.0 - domain.confidence(confidence)) / 2.0)
    spread = ((1.0 - share) * judged.half) ** 2
    center = share * p + (1.0 - share) * judged.center
    low = center - math.sqrt((share * (p - rule.low)) ** 2 + spread)
    high = center + math.sqrt((share * (rule.high - p)) ** 2 + spread)
    return Mixed(center, _clip(low), _clip(high), judged.guard)


def limit_levels(limits: Callable[[float], tuple[float, float]], threshold: Fraction) -> tuple[float, float]:
    """Return (p_pass, p_breach): the one-sided levels at which a raw limit meets the threshold.

    `limits` gives (low, high) at a z in [0, Z_MAX]. Where the limit at z = 0 lies on the other side, the level is the
    complement of the other one's.
    """
    t = float(threshold)
    p_breach = _level(lambda z: t - limits(z)[1])
    if p_breach is not None:
        return 1.0 - p_breach, p_breach
    p_pass = _level(lambda z: limits(z)[0] - t)
    return (0.5, 0.5) if p_pass is None else (p_pass, 1.0 - p_pass)


def stratified_audit(cells: Sequence[Cell]) -> AuditedRate:
    """Return the rate of a run from labels drawn within cells (judge verdict by contract stratum).

    A cell without items counts for nothing; one with items and fewer than one label (two, if there are more than two
    cells) measures nothing. Raises: StatisticsError SLV-S002.
    """
    used = [cell for cell in cells if domain.count(cell.size, "size") > 0]
    for cell in used:
        domain.counts(cell.right, cell.labels, least=0)
        if cell.labels > cell.size:
            raise domain.refusal("SLV-S002", Text("más etiquetas que ítems", "more labels than items"), "labels")
    least = 1 if len(used) <= 2 else 2
    if not used or any(cell.labels < least for cell in used):
        return AuditedRate(None, None, "calibration_too_small")
    n = sum(cell.size for cell in used)
    weights = [cell.size / n for cell in used]
    smooth = [(cell.right + 1) / (cell.labels + 2) for cell in used]
    theta = math.fsum(w * cell.right / cell.labels for w, cell in zip(weights, used, strict=True))
    centre = math.fsum(w * p for w, p in zip(weights, smooth, strict=True))
    within = math.fsum(w**2 * p * (1 - p) / cell.labels for w, p, cell in zip(weights, smooth, used, strict=True))
    between = math.fsum(w * (p - centre) ** 2 for w, p in zip(weights, smooth, strict=True)) / n
    variance = within + between
    labels = sum(cell.labels for cell in used)
    n_eff = min(float(n), centre * (1 - centre) / variance, max(theta * (1 - theta) / variance, float(labels)))
    return AuditedRate(theta, n_eff)


def equivalent_labels(
    n: int, sensitivity: float, specificity: float, true_rate: float, m0: int | None = None, m1: int | None = None
) -> float | None:
    """Return how many perfect labels n judged items are worth at a true rate; null at rate 0 or 1 or no information.

    Rates in [0, 1]; m0, m1 labels of the calibration, null = rates known. Raises: StatisticsError SLV-S002.
    """
    domain.count(n, "n", least=1)
    se, sp = domain.finite(sensitivity, "sensitivity"), domain.finite(specificity, "specificity")
    theta = domain.finite(true_rate, "true_rate")
    informative = se + sp - 1.0
    if informative <= 0.0 or not 0.0 < theta < 1.0:
        return None
    p = theta * se + (1.0 - theta) * (1.0 - sp)
    spread = p * (1.0 - p) / n
    if m0 is not None:
        spread += (1.0 - theta) ** 2 * sp * (1.0 - sp) / domain.count(m0, "m0", least=1)
    if m1 is not None:
        spread += theta**2 * se * (1.0 - se) / domain.count(m1, "m1", least=1)
    return theta * (1.0 - theta) * informative**2 / spread  # p lies inside (0, 1): so spread > 0


def calibration_allocation(m: int, p: float, q0_pilot: float, q1_pilot: float, m_pilot: int) -> Allocation:
    """Split a budget of m labels between truly wrong and truly accurate answers.

    `p` the share judged accurate in (0, 1]; pilot specificity and sensitivity from `m_pilot` labels each.
    Raises: StatisticsError SLV-S002. Source: Lee et al. 2025 (arXiv 2511.21140, *unverified*).
    """
    domain.count(m, "m")
    domain.count(m_pilot, "m_pilot", least=1)
    share = domain.finite(p, "p")
    if not 0.0 < share <= 1.0 or 2 * m_pilot > m:
        raise domain.refusal("SLV-S002", Text("p en (0, 1] y m >= 2 m_pilot", "p in (0, 1] and m >= 2 m_pilot"), "p")
    ratio = (m_pilot * (1.0 - q0_pilot) + 1.0) / (m_pilot * (1.0 - q1_pilot) + 1.0)
    m1 = round(m / (1.0 + (1.0 / share - 1.0) * math.sqrt(ratio)))
    m1 = min(max(m1, m_pilot), m - m_pilot)
    return Allocation(m - m1, m1)


def _moments(k: float, n: float, c: Confusion, z: float) -> tuple[float, float] | None:
    """Return centre t + d and half-width z SE of the corrected rate, null if the judge is no better than chance."""
    p = (k + z * z / 2.0) / (n + z * z)
    q0, q1 = (c.y0 + 1.0) / (c.m0 + 2.0), (c.y1 + 1.0) / (c.m1 + 2.0)
    informative = q0 + q1 - 1.0
    if informative <= 0.0:
        return None
    t = (p + q0 - 1.0) / informative
    v0, v1 = q0 * (1.0 - q0) / (c.m0 + 2.0), q1 * (1.0 - q1) / (c.m1 + 2.0)
    d = 2.0 * z * z * (-(1.0 - t) * v0 + t * v1)
    se = math.sqrt(p * (1.0 - p) / (n + z * z) + (1.0 - t) ** 2 * v0 + t**2 * v1) / informative
    return t + d, z * se


def corrected_limits(k: float, n: float, confusion: Confusion, z: float) -> tuple[float, float] | None:
    """Return the raw limits at a one-sided z, null if the judge carries no information."""
    moments = _moments(k, n, confusion, z)
    return None if moments is None else (moments[0] - moments[1], moments[0] + moments[1])


def _point(k: float, n: float, c: Confusion) -> float | None:
    if c.m0 == 0 or c.m1 == 0:
        return None
    specificity, sensitivity = c.y0 / c.m0, c.y1 / c.m1
    informative = specificity + sensitivity - 1.0
    return None if informative <= 0.0 else _clip((k / n + specificity - 1.0) / informative)


def _guard(c: Confusion, confidence: Decimal | float, min_per_class: int) -> str | None:
    if c.m0 < min_per_class or c.m1 < min_per_class:
        return "calibration_too_small"
    tail = (1.0 - domain.confidence(confidence)) / 2.0
    lowest = limits_at(c.y0, c.m0, tail).low + limits_at(c.y1, c.m1, tail).low
    return "judge_not_informative" if lowest <= 1.0 else None


def _confusion(c: Confusion) -> None:
    domain.counts(c.y0, c.m0, least=0)
    domain.counts(c.y1, c.m1, least=0)


def _tuned(h: list[float], j: list[float], u: list[float]) -> float:
    """Return the weight of the judge that makes the variance least, in [0, 1]; 0 where the judge never varies."""
    n, rest = len(h), len(u)
    everyone = [*j, *u]
    v = _variance(everyone)
    if v <= 0.0 or rest == 0:
        return 0.0
    h_mean, j_mean = _mean(h), _mean(j)
    c = math.fsum((right - h_mean) * (judged - j_mean) for right, judged in zip(h, j, strict=True)) / n
    return min(1.0, max(0.0, c / ((1.0 + n / rest) * v)))


def _level(distance: Callable[[float], float]) -> float | None:
    """Return the upper tail of the z at which a limit meets the threshold; null if at z = 0 it is not beyond it."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    if distance(0.0) <= 0.0:
        return None
    if distance(Z_MAX) > 0.0:
        return float(ndtr(-Z_MAX))
    return float(ndtr(-brentq(distance, 0.0, Z_MAX, xtol=1e-12)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
