"""The numbers that follow from the text: n of a metric, size of the family, acceptance and rejection numbers.

Source: docs/spec/contract.md section 4; the rules themselves stand in `slaverify.statistics`.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

from slaverify.contract.model.metrics import Derived, Extend, Metric, Stage
from slaverify.contract.model.root import Contract
from slaverify.errors import ContractError, Text
from slaverify.statistics import (
    Numbers,
    TwoPoint,
    TwoStage,
    acceptance_numbers,
    bank_tails,
    check_spending,
    finite_bank_acceptance_numbers,
    first_true,
    min_n_zero_failures,
    two_stage,
)

TESTED_RULES = ("guarded", "guarded_rejection")
"""Rules with a test: only they enter the family of the multiplicity correction."""

JUDGE_FIELDS = frozenset({"verdict", "correctness", "grounding", "criteria", "decided_by"})
"""Fields of a score record that a judge may fill in."""

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

    No integers exist for means without a cut, corpus rates, clusters, unequal weights, judged strata, and several calls
    per item that are not counted as all of k.
    """
    if metric.kind == "corpus_rate" or (metric.kind == "mean" and metric.cut is None) or metric.cluster is not None:
        return False
    aggregate = metric.aggregate or contract.repetitions.aggregate
    if contract.repetitions.per_item > 1 and aggregate == "each_call":
        return False
    return unequal_weights(contract, metric) is None and not judged_strata(contract, metric)


def rests_on_judge(contract: Contract, metric: Metric) -> bool:
    """Return whether what a judge says of an item can move the figure: latency and availability never are.

    Nor is a criterion that code checks.
    """
    if metric.kind == "mean" or metric.cut is not None:
        return True
    criteria = () if contract.judge is None else contract.judge.criteria
    by_code = {criterion.id for criterion in criteria if criterion.check is not None}
    pairs = [*(metric.count or {}).items(), *metric.among.items()]
    named = {key for key, accepted in pairs if key != "criteria" or not _names(accepted) <= by_code}
    return not JUDGE_FIELDS.isdisjoint(named)


def _names(accepted: tuple[str | int | bool, ...]) -> set[str]:
    """Return the criteria that a filter on criteria (`<id>:<mark>`) names."""
    return {str(word).rpartition(":")[0] for word in accepted}


def judged_strata(contract: Contract, metric: Metric) -> tuple[str, ...]:
    """Return the strata of the metric in which a judge may settle an item that counts for it, sorted."""
    if contract.judge is None or not rests_on_judge(contract, metric):
        return ()
    return tuple(s for s in metric_strata(contract, metric) if s in contract.method.judge_stage.strata)


def unequal_weights(contract: Contract, metric: Metric) -> dict[str, Fraction] | None:
    """Return the declared weights over the strata of the metric, scaled to sum 1; None if the draw carries them.

    It does where none are declared, of one stratum alone, and where each n_s lies within one item of n W_s, at every
    stage.
    """
    declared, strata = contract.evaluation_set.weights, metric_strata(contract, metric)
    if declared is None or len(strata) < 2:
        return None
    shares = {name: Fraction(declared.get(name, Decimal(0))) for name in strata}
    whole = sum(shares.values(), Fraction(0))
    if whole == 0:
        return None
    weights = {name: share / whole for name, share in shares.items()}
    stages, extend = [sample_sizes(contract)], contract.verdict.inconclusive
    if isinstance(extend, Extend):
        stages.append({name: n + extend.extend.per_stratum.get(name, 0) for name, n in stages[0].items()})
    for sizes in stages:
        n = sum(sizes[name] for name in strata)
        if any(abs(sizes[name] - n * weights[name]) > 1 for name in strata):
            return weights
    return None


def derived_numbers(contract: Contract, metric: Metric) -> Derived:
    """Return n, acceptance and rejection number of a metric, as freeze writes them; with `extend`, of both stages.

    The numbers beside n are those of the n items of the sample: of a frozen bank (hypergeometric) under the estimand
    `bank`, of stage 1 under `extend`.
    Raises: StatisticsError for a threshold or level outside its domain, SLV-S009 where two stages spend too much;
    ContractError SLV-C051 for a rule that two stages cannot have.
    """
    n = metric_n(contract, metric)
    if not has_integers(contract, metric):
        return Derived(n=n)
    if isinstance(contract.verdict.inconclusive, Extend):
        return _staged(contract, metric, n, contract.verdict.inconclusive)
    rule = metric.decision
    numbers = _numbers(contract, metric, n, Fraction(rule.alpha_pass), breach_level(contract, metric))
    return Derived(n=n, pass_max_failures=numbers.pass_max_failures, breach_min_failures=numbers.breach_min_failures)


def of_bank(contract: Contract, metric: Metric) -> bool:
    """Return whether the rate is that of the frozen bank, decided by a rule with a test."""
    estimand = metric.estimand or contract.evaluation_set.estimand
    return estimand == "bank" and metric.decision.rule in TESTED_RULES


def bank_size(contract: Contract, metric: Metric) -> int:
    """Return the items of the bank in the strata of the metric."""
    return sum(contract.evaluation_set.strata.get(name, 0) for name in metric_strata(contract, metric))


def _numbers(contract: Contract, metric: Metric, n: int, alpha_pass: Fraction, alpha_breach: Fraction) -> Numbers:
    rule = metric.decision.rule
    if not of_bank(contract, metric):
        direction = "at_least" if metric.kind == "quantile" else metric.direction
        return acceptance_numbers(metric.threshold, n, alpha_pass, alpha_breach, direction, rule, two_point_of(metric))
    size, success = bank_size(contract, metric), success_rate(metric)
    numbers = finite_bank_acceptance_numbers(size, n, success, alpha_pass, alpha_breach).numbers
    reject = numbers.breach_min_failures
    if rule == "guarded":
        return numbers
    if reject is None:
        return Numbers(None, None, Fraction(0), Fraction(0))
    risk = bank_tails(reject - 1, reject, n, size, success).p_greater
    return Numbers(reject - 1, reject, risk, numbers.risk_false_breach)


def _staged(contract: Contract, metric: Metric, n: int, extend: Extend) -> Derived:
    if metric.decision.rule != "guarded" or of_bank(contract, metric):
        raise ContractError(
            "SLV-C051",
            Text(
                "una segunda etapa sólo tiene números con la regla `guarded` y `estimand: population`",
                "a second stage has numbers with the rule `guarded` and `estimand: population` alone",
            ),
            fix=Text(
                "cambie la regla, o use otra consecuencia que `extend`",
                "change the rule, or use another consequence than `extend`",
            ),
        )
    design = stages_of(contract, metric)
    if design is None:
        levels = spending(contract, metric, extend)
        numbers = _numbers(contract, metric, n, levels[0][0], levels[1][0])
        stages = (
            Stage(n=n, pass_max_failures=numbers.pass_max_failures, breach_min_failures=numbers.breach_min_failures),
        )
        return Derived(
            n=n,
            pass_max_failures=numbers.pass_max_failures,
            breach_min_failures=numbers.breach_min_failures,
            stages=stages,
        )
    success = Fraction(success_rate(metric))
    check_spending(design, success, Fraction(metric.decision.alpha_pass), breach_level(contract, metric))
    first, pooled = design.first, design.pooled
    return Derived(
        n=n,
        pass_max_failures=first.pass_max_failures,
        breach_min_failures=first.breach_min_failures,
        stages=(
            Stage(n=n, pass_max_failures=first.pass_max_failures, breach_min_failures=first.breach_min_failures),
            Stage(
                n=design.n,
                pass_max_failures=pooled.pass_max_failures,
                breach_min_failures=pooled.breach_min_failures,
            ),
        ),
    )


def stages_of(contract: Contract, metric: Metric) -> TwoStage | None:
    """Return the two stages of a metric under `extend`; None without it, or where stage 2 has no items of the metric.

    Raises: StatisticsError SLV-S001, SLV-S002, SLV-S003.
    """
    extend = contract.verdict.inconclusive
    if not isinstance(extend, Extend):
        return None
    more = sum(extend.extend.per_stratum.get(name, 0) for name in metric_strata(contract, metric))
    if more == 0:
        return None
    for_pass, for_breach = spending(contract, metric, extend)
    return two_stage(metric_n(contract, metric), more, Fraction(success_rate(metric)), for_pass, for_breach)


def spending(
    contract: Contract, metric: Metric, extend: Extend
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Return the levels of both stages for PASS and for BREACH.

    What the contract writes is for 0.025 a side: it is scaled to the metric's own levels (over k for BREACH).
    """
    first, pooled = (Fraction(level) for level in extend.extend.spending)
    scales = (Fraction(metric.decision.alpha_pass) * 40, breach_level(contract, metric) * 40)
    for_pass, for_breach = ((first * scale, pooled * scale) for scale in scales)
    return for_pass, for_breach


def smallest_n(contract: Contract, metric: Metric) -> int | None:
    """Return the smallest n at which zero failures can PASS; None if not even the whole bank can show it.

    Raises: StatisticsError SLV-S001, SLV-S003.
    """
    if not of_bank(contract, metric):
        return min_n_zero_failures(success_rate(metric), metric.decision.alpha_pass)
    size, success, alpha = bank_size(contract, metric), success_rate(metric), metric.decision.alpha_pass
    found = first_true(
        lambda n: finite_bank_acceptance_numbers(size, n, success, alpha, alpha).numbers.pass_max_failures is not None,
        0,
        size + 1,
    )
    return found if found <= size else None


def nearest_threshold(metric: Metric, n: int) -> Decimal | None:
    """Return the strictest threshold, on the grid of the one written (2 places at least), that n items can show.

    None if there is none. It is below the written one for `at_least` and above it for `at_most`.
    """
    exponent = metric.threshold.as_tuple().exponent
    step = Decimal(1).scaleb(min(exponent if isinstance(exponent, int) else -2, -2))
    alpha = Fraction(metric.decision.alpha_pass)
    success = _EXACT.quantize(success_rate(metric), step)
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
    return _EXACT.divide(_EXACT.subtract(Decimal(1), success_rate(metric)), Decimal(2))


def success_rate(metric: Metric) -> Decimal:
    """Return the success rate that a rate promises: T, or 1 - T where errors are limited."""
    if metric.direction == "at_least" or metric.kind == "quantile":
        return metric.threshold
    return _EXACT.subtract(Decimal(1), metric.threshold)


def _in_family(metric: Metric) -> bool:
    return metric.severity == "binding" and metric.decision.rule in TESTED_RULES


def two_point_of(metric: Metric) -> TwoPoint | None:
    """Return the plan of a `two_point` rule, None if one of its four numbers is not written."""
    rule = metric.decision
    if rule.f0 is None or rule.r0 is None or rule.f1 is None or rule.r1 is None:
        return None
    return TwoPoint(f0=rule.f0, r0=rule.r0, f1=rule.f1, r1=rule.r1)
