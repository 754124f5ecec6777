"""The decidability lint: refusals, warnings and the operating table of a contract, in one value.

There is one entry for those who must refuse (`refuse_undecidable`) and one for those who show (`examine`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slaverify.contract import Contract, Finding, LoadedContract
from slaverify.errors import ProblemsError, SlaverifyError
from slaverify.readiness.advice import advice
from slaverify.readiness.outlook import CLUSTER_SIZE, MetricOutlook, outlook
from slaverify.readiness.refusals import refusals


class Level(StrEnum):
    """What a finding does."""

    REFUSED = "refused"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Advice:
    """A finding with its level and its place in the file."""

    level: Level
    finding: Finding
    where: str


@dataclass(frozen=True, slots=True)
class Whole:
    """The risks of the whole contract, probabilities in [0, 1], over its binding metrics.

    `false_pass`: the largest chance of PASS where one metric sits at its threshold. `false_breach`: the sum of the
    chances of BREACH with every metric at its threshold. `passes_low`, `passes_high`: bounds of the chance that a
    vendor a margin better than every threshold passes them all.
    """

    binding: int
    false_pass: float
    false_breach: float
    passes_low: float
    passes_high: float


@dataclass(frozen=True, slots=True)
class Readiness:
    """What a contract can decide, and what stands against it."""

    metrics: tuple[MetricOutlook, ...]
    whole: Whole
    advice: tuple[Advice, ...]

    @property
    def refused(self) -> bool:
        """Whether anything is refused."""
        return any(entry.level is Level.REFUSED for entry in self.advice)


def examine(loaded: LoadedContract, now: datetime, cluster_size: int = CLUSTER_SIZE) -> Readiness:
    """Return the outlook of every metric, the risks of the whole, and every finding in the order of the file.

    `now` is aware; `cluster_size` the items of a cluster while no bank says it.
    Raises: StatisticsError, ContractError for numbers that the loader would have refused.
    """
    contract = loaded.model
    metrics = tuple(outlook(contract, index, cluster_size) for index in range(len(contract.metrics)))
    found = [Advice(Level.REFUSED, finding, loaded.place(finding.path)) for finding in refusals(contract, now)]
    found += [Advice(Level.WARNING, finding, loaded.place(finding.path)) for finding in advice(contract, metrics)]
    return Readiness(metrics, _whole(contract, metrics), tuple(sorted(found, key=_order)))


def refuse_undecidable(loaded: LoadedContract, now: datetime) -> None:
    """Refuse a contract that can never decide. Raises: ProblemsError with every refusal, exit 2."""
    problems: list[SlaverifyError] = [
        finding.error(loaded.place(finding.path)) for finding in refusals(loaded.model, now)
    ]
    if problems:
        raise ProblemsError(problems)


def _whole(contract: Contract, metrics: tuple[MetricOutlook, ...]) -> Whole:
    binding = [metric for metric in metrics if metric.binding]
    misses = sum(1.0 - metric.better.p_pass for metric in binding)
    return Whole(
        binding=len(binding),
        false_pass=max((metric.at_threshold.p_pass for metric in binding), default=0.0),
        false_breach=min(1.0, sum(metric.at_threshold.p_breach for metric in binding)),
        passes_low=max(0.0, 1.0 - misses) if binding else 0.0,
        passes_high=min((metric.better.p_pass for metric in binding), default=0.0),
    )


def _order(entry: Advice) -> tuple[str, int, int, str]:
    name, line, column = entry.where.rsplit(":", 2)
    return name, int(line), int(column), entry.finding.code
