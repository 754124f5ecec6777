"""What carrying out a contract takes: calls, judge calls, labels of people, time, money, and the items that are burnt.

Estimates, each from what the contract pins; what it does not pin is an assumption that the reader can replace.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from slaverify.contract import Contract, Extend, instant, sample_sizes
from slaverify.judging.calibration import WHOLE_SECOND_READ

ANSWER_S = Decimal(5)
"""Seconds that an answer takes while nobody measured it (convention)."""
LABEL_MINUTES = Decimal(3)
"""Minutes of one person for one label (convention)."""
_PERIOD = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


@dataclass(frozen=True, slots=True)
class Burn:
    """Fresh items of one stratum: those of the bank, and those of one audit (reserve and stage 2 included)."""

    stratum: str
    bank: int
    per_audit: int

    @property
    def audits(self) -> int:
        """Audits that the stratum lasts for."""
        return self.bank // self.per_audit if self.per_audit else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlan:
    """The work of one audit. Counts are ints, times seconds, money in the currency of the judge's budget."""

    items: int
    calls: int
    most_calls: int
    judged_items: int
    judge_calls: int
    labels: int
    label_hours: Decimal
    exchange_s: int
    judge_cost: Decimal | None
    burns: tuple[Burn, ...]
    audits_until_expiry: int | None


def work_plan(contract: Contract, now: datetime, answer_s: Decimal = ANSWER_S) -> WorkPlan:
    """Return the work of one audit of a completed contract; `answer_s` is what one answer is held to take, seconds."""
    sample, repetitions = contract.evaluation_set.sample, contract.repetitions
    sizes = sample_sizes(contract)
    items = sum(sizes.values())
    # of a twin the original is asked too
    arms = sample.arms.anchor + 2 * sample.arms.twin + sample.arms.probe
    calls = (items + arms) * repetitions.per_item
    if repetitions.dispersion_sample is not None:
        calls += repetitions.dispersion_sample.items * repetitions.dispersion_sample.repeats
    extend = contract.verdict.inconclusive
    more = dict(extend.extend.per_stratum) if isinstance(extend, Extend) else {}
    most = (calls + sum(more.values()) * repetitions.per_item) * contract.endpoint.call.attempts
    judged, judge_calls = _judge_calls(contract, sizes)
    labels = _labels(contract, judged)
    price = None if contract.judge is None or contract.judge.budget is None else contract.judge.budget.price_per_call
    return WorkPlan(
        items=items,
        calls=calls,
        most_calls=most,
        judged_items=judged,
        judge_calls=judge_calls,
        labels=labels,
        label_hours=labels * LABEL_MINUTES / 60,
        exchange_s=_exchange_s(contract, calls, answer_s),
        judge_cost=None if price is None else price * judge_calls,
        burns=tuple(
            Burn(name, contract.evaluation_set.strata.get(name, 0), n + sample.reserve + more.get(name, 0))
            for name, n in sorted(sizes.items())
        ),
        audits_until_expiry=_audits(contract, now),
    )


def _judge_calls(contract: Contract, sizes: dict[str, int]) -> tuple[int, int]:
    judge = contract.judge
    if judge is None:
        return 0, 0
    judged = sum(sizes.get(name, 0) for name in contract.method.judge_stage.strata) * contract.repetitions.per_item
    asked = max(1, len(judge.criteria)) * len(judge.panel) * judge.votes
    extra = 1 + float(judge.differential.random_share) + float(judge.differential.counterfactual_share)
    calls = math.ceil(judged * asked * extra)
    calls += (judge.repeats.sample or 0) * (judge.repeats.per_item - 1) * asked
    return judged, calls + calls // judge.sentinels.every


def _labels(contract: Contract, judged: int) -> int:
    """Return the readings of people: each criterion's rows, and those that a second person reads too."""
    if contract.judge is None:
        return 0
    terms = contract.judge.calibration
    if terms.design == "external":
        return terms.min_labels * terms.annotators
    rows = min(terms.min_labels, judged) * max(1, len(contract.judge.criteria))
    twice = rows if rows <= WHOLE_SECOND_READ else math.ceil(rows * Fraction(3, 10))
    return rows + (twice if terms.annotators > 1 else 0)


def _exchange_s(contract: Contract, calls: int, answer_s: Decimal) -> int:
    call = contract.endpoint.call
    rate = Decimal(call.concurrency) / answer_s if answer_s > 0 else Decimal(call.concurrency)
    if call.rate_per_s is not None and call.rate_per_s > 0:
        rate = min(rate, call.rate_per_s)
    return math.ceil(calls / rate)


def _audits(contract: Contract, now: datetime) -> int | None:
    cadence, expires = contract.schedule.cadence, contract.contract.expires
    if cadence is None or expires is None:
        return None
    parts = _PERIOD.fullmatch(cadence)
    if parts is None:
        return None
    years, months, weeks, days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    period = timedelta(days=365 * years + 30 * months + 7 * weeks + days, hours=hours, minutes=minutes, seconds=seconds)
    effective = contract.contract.effective
    start = now if effective is None else max(now, instant(effective))
    left = instant(expires) - start
    return None if period <= timedelta(0) or left < timedelta(0) else left // period + 1
