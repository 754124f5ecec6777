"""Textbook methods that check ours and MUST NOT decide (role O of the vectors)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy import optimize, special, stats

from slaverify.statistics import exact_interval, two_sided_z


def midp_interval(x: int, n: int, confidence: float) -> dict:
    a = (1 - confidence) / 2

    def upper(p: float) -> float:
        return stats.binom.cdf(x, n, p) - stats.binom.pmf(x, n, p) / 2 - a

    def lower(p: float) -> float:
        return stats.binom.sf(x - 1, n, p) - stats.binom.pmf(x, n, p) / 2 - a

    low = 0.0 if x == 0 else optimize.brentq(lower, 1e-15, 1 - 1e-15, xtol=1e-14)
    high = 1.0 if x == n else optimize.brentq(upper, 1e-15, 1 - 1e-15, xtol=1e-14)
    return {"low": low, "high": high}


def agresti_coull_interval(x: int, n: int, confidence: float) -> dict:
    z = two_sided_z(confidence)
    n_, p = n + z * z, (x + z * z / 2) / (n + z * z)
    half = z * math.sqrt(p * (1 - p) / n_)
    return {"low": max(0.0, p - half), "high": min(1.0, p + half)}


def wilson_continuity_interval(x: int, n: int, confidence: float) -> dict:
    z, p = two_sided_z(confidence), x / n
    correction = min(0.5, abs(x - n * 0.5)) if x * 2 == n else 0.5
    base, scale = 2 * x + z * z, 2 * (n + z * z)
    low = (base - 1 - z * math.sqrt(z * z - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))) / scale
    high = (base + 1 + z * math.sqrt(z * z + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))) / scale
    return {"low": 0.0 if x == 0 else max(0.0, low), "high": 1.0 if x == n else min(1.0, high), "c": correction}


def cluster_standard_error(successes: list[int], sizes: list[int]) -> dict:
    n, g = sum(sizes), len(sizes)
    p = sum(successes) / n
    cr0 = math.sqrt(sum((x - p * m) ** 2 for x, m in zip(successes, sizes, strict=True))) / n
    # statsmodels: G/(G-1) (N-1)/(N-K), K = 1
    return {"mean": p, "se_cr0": cr0, "se_cr1_statsmodels": cr0 * math.sqrt(g / (g - 1))}


def judge_known_rates(k: int, n: int, sensitivity: float, specificity: float, confidence: float = 0.95) -> dict:
    j = sensitivity + specificity - 1
    limits = exact_interval(k, n, confidence)

    def mapped(p: float) -> float:
        return (p + specificity - 1) / j

    return {
        "apparent": k / n,
        "theta": min(1.0, max(0.0, mapped(k / n))),
        "low": min(1.0, max(0.0, mapped(limits.low))),
        "high": min(1.0, max(0.0, mapped(limits.high))),
        "high_raw": mapped(limits.high),
    }


def ppi_mean(human: list, judge_labelled: list, judge_unlabelled: list, confidence: float, lam: float | None) -> dict:
    n, rest = len(human), len(judge_unlabelled)

    def mean(v: list) -> float:
        return math.fsum(v) / len(v)

    def var(v: list) -> float:
        m = mean(v)
        return math.fsum((x - m) ** 2 for x in v) / len(v)

    everyone = [*judge_labelled, *judge_unlabelled]
    if lam is None:
        hm, jm = mean(human), mean(judge_labelled)
        c = math.fsum((h - hm) * (j - jm) for h, j in zip(human, judge_labelled, strict=True)) / n
        lam = c / ((1 + n / rest) * var(everyone))
    estimate = mean(human) + lam * (mean(judge_unlabelled) - mean(judge_labelled))
    rectifier = [h - lam * j for h, j in zip(human, judge_labelled, strict=True)]
    se = math.sqrt(var(rectifier) / n + lam**2 * var(judge_unlabelled) / rest)
    z = two_sided_z(confidence)
    return {"lam": lam, "estimate": estimate, "variance": se**2, "low": estimate - z * se, "high": estimate + z * se}


def mcnemar_chi2(b: int, c: int) -> dict:
    statistic, corrected = (b - c) ** 2 / (b + c), max(0, abs(b - c) - 1) ** 2 / (b + c)
    return {
        "statistic": statistic,
        "p": float(special.chdtrc(1, statistic)),
        "statistic_cc": corrected,
        "p_cc": float(special.chdtrc(1, corrected)),
    }


def mixture_log_e(successes: int, failures: int, a: float, b: float, threshold: float) -> dict:
    log_e = special.betaln(successes + a, failures + b) - special.betaln(a, b)
    return {"log_e": float(log_e - successes * math.log(threshold) - failures * math.log1p(-threshold))}


def wald(x: int, n: int, confidence: float) -> dict:
    p, z = x / n, two_sided_z(confidence)
    half = z * math.sqrt(p * (1 - p) / n)
    return {"low": p - half, "high": p + half}


def _by_name(function: Callable[..., dict]) -> Callable[[Mapping], dict]:
    return lambda inputs: function(**inputs)


_FUNCTIONS = (
    agresti_coull_interval,
    cluster_standard_error,
    judge_known_rates,
    mcnemar_chi2,
    midp_interval,
    mixture_log_e,
    ppi_mean,
    wilson_continuity_interval,
)
ORACLES: Mapping[str, Callable[[Mapping], dict]] = {f.__name__: _by_name(f) for f in _FUNCTIONS}


def needed(t: float, rate: float, alpha: float, side: str, most: int = 4000, power: float = 0.8) -> int:
    """The smallest n from which a state has probability `power` at the rate for every larger n, all looked at."""
    n = np.arange(1, most + 1)
    if side == "PASS":
        # The largest c with P(F <= c) <= alpha, by its quantile.
        c = stats.binom.ppf(alpha, n, 1 - t)
        c = np.where(stats.binom.cdf(c, n, 1 - t) <= alpha, c, c - 1)
        held = np.where(c >= 0, stats.binom.cdf(c, n, 1 - rate), 0.0)
    else:
        r = stats.binom.isf(alpha, n, 1 - t) + 1
        held = np.where(r <= n, stats.binom.sf(r - 1, n, 1 - rate), 0.0)
    return int(n[held < power].max(initial=0)) + 1
