"""The numbers that follow from the text: n of a metric, size of the family, acceptance and rejection numbers.

Source: docs/spec/contract.md section 4; the rules themselves stand in `slaverify.statistics`.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

from slaverify.contract.model.metrics import Derived, Extend, Metric
from slaverify.contract.model.root import Contract
from slaverify.errors import ContractError, Text
from slaverify.statistics import TwoPoint, acceptance_numbers, min_n_zero_failures

TESTED_RULES = ("guarded", "guarded_rejection")
"""Rules with a test: only they enter the family of the multiplicity correction."""

_EXACT = Context(prec=60)


def sample_sizes(contract: Contract) -> dict[str, int]:
    """Return the items drawn per stratum: `sample.per_stratum`, or the whole bank if the draw is full."""
    bank = contract.evaluation_set
    return dict(bank.strata if bank.sample.per_stratum is None else bank.sample.per_stratum)


def metric_strata(contract: Contract, metric: Metric) -> tuple[str, ...]:
    """Return the strata of the metric's denominator, sorted; every drawn stratum if it names none."""
    sizes = sample_sizes(contract)
    named = metric.among.get("stratum")
    return tuple(sorted(sizes if named is None else (str(name) for name in named if name in sizes)))


def metric_n(contract: Contract, metric: Metric) -> int:
    """Return n: the items of the sample in the strata of the metric, whatever was answered."""
    sizes = sample_sizes(contract)
    return sum(sizes[name] for name in metric_strata(contract, metric))


def family_size(contract: Contract) -> int:
    """Return k: the binding metrics whose rule has a test (at least 1)."""
    return max(1, sum(_in_family(metric) for metric in contract.metrics))


def breach_level(contract: Contract, metric: Metric) -> Fraction:
    """Return the one-sided level of the metric's rejection number: alpha_breach over k, or as written.

    A metric outside the family (reported, or with a rule that has no test), or a contract without
    correction, is tested at alpha_breach itself.
    """
    alpha = Fraction(metric.decision.alpha_breach)
    corrected = contract.verdict.multiplicity == "holm" and _in_family(metric)
    return alpha / family_size(contract) if corrected else alpha


def has_integers(contract: Contract, metric: Metric) -> bool:
    """Return whether the state of the metric is an integer comparison.

    No integers exist for means without a cut, corpus rates, clusters, weights, judged strata, and several calls per
    item that are not counted as all of k.
    """
    if metric.kind == "corpus_rate" or (metric.kind == "mean" and metric.cut is None) or metric.cluster is not None:
        return False
    aggregate = metric.aggregate or contract.repetitions.aggregate
    if contract.repetitions.per_item > 1 and aggregate == "each_call":
        return False
    judged = contract.judge is not None and set(contract.method.judge_stage.strata) & set(
        metric_strata(contract, metric)
    )
    return contract.evaluation_set.weights is None and not judged


def derived_numbers(contract: Contract, metric: Metric) -> Derived:
    """Return n, acceptance and rejection number of a metric, as freeze writes them.

    Raises: StatisticsError for a threshold or level outside its domain; ContractError SLV-C051 for a finite bank or
    a second stage, whose numbers this version does not compute.
    """
    n = metric_n(contract, metric)
    if not has_integers(contract, metric):
        return Derived(n=n)
    estimand = metric.estimand or contract.evaluation_set.estimand
    if estimand == "bank" or isinstance(contract.verdict.inconclusive, Extend):
        raise ContractError(
            "SLV-C051",
            Text(
                "esta versión no calcula los números de un banco finito ni de una segunda etapa",
                "this version does not compute the numbers of a finite bank or of a second stage",
            ),
            fix=Text(
                "use `estimand: population` y otra consecuencia que `extend`",
                "use `estimand: population` and another consequence than `extend`",
            ),
        )
    rule = metric.decision
    numbers = acceptance_numbers(
        metric.threshold,
        n,
        rule.alpha_pass,
        breach_level(contract, metric),
        "at_least" if metric.kind == "quantile" else metric.direction,
        rule.rule,
        _two_point(metric),
    )
    return Derived(n=n, pass_max_failures=numbers.pass_max_failures, breach_min_failures=numbers.breach_min_failures)


def smallest_n(metric: Metric) -> int:
    """Return the smallest n at which zero failures can PASS. Raises: StatisticsError SLV-S001, SLV-S003."""
    return min_n_zero_failures(_success(metric), metric.decision.alpha_pass)


def nearest_threshold(metric: Metric, n: int) -> Decimal | None:
    """Return the strictest threshold, on the grid of the one written (2 places at least), that n items can show.

    None if there is none. It is below the written one for `at_least` and above it for `at_most`.
    """
    exponent = metric.threshold.as_tuple().exponent
    step = Decimal(1).scaleb(min(exponent if isinstance(exponent, int) else -2, -2))
    alpha = Fraction(metric.decision.alpha_pass)
    success = _EXACT.quantize(_success(metric), step)
    steps = 0
    while success > 0 and Fraction(success) ** n > alpha and steps < 10_000:
        success = _EXACT.subtract(success, step)
        steps += 1
    if success <= 0 or steps == 10_000:
        return None
    return success if metric.direction == "at_least" else _EXACT.subtract(Decimal(1), success)


def default_margin(metric: Metric) -> Decimal | None:
    """Return half the distance between the threshold and perfection; None for means and corpus rates."""
    if metric.kind in ("mean", "corpus_rate"):
        return None
    return _EXACT.divide(_EXACT.subtract(Decimal(1), _success(metric)), Decimal(2))


def _success(metric: Metric) -> Decimal:
    if metric.direction == "at_least" or metric.kind == "quantile":
        return metric.threshold
    return _EXACT.subtract(Decimal(1), metric.threshold)


def _in_family(metric: Metric) -> bool:
    return metric.severity == "binding" and metric.decision.rule in TESTED_RULES


def _two_point(metric: Metric) -> TwoPoint | None:
    rule = metric.decision
    if rule.f0 is None or rule.r0 is None or rule.f1 is None or rule.r1 is None:
        return None
    return TwoPoint(f0=rule.f0, r0=rule.r0, f1=rule.f1, r1=rule.r1)
