"""Hold a number together with what produced it: no value without a provenance, no missing value without a reason.

Used by every room above. Only `measured` and `derived` may drive a decision; nothing replaces a null by a default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from slaverify.canonical import JsonObject, JsonValue, decimal_text
from slaverify.errors import Text
from slaverify.statistics import domain


class Provenance(StrEnum):
    """Where a value comes from, from best to worst."""

    MEASURED = "measured"
    DERIVED = "derived"
    DECLARED = "declared"
    INSUFFICIENT = "insufficient"
    NOT_MEASURED = "not_measured"


class Unit(StrEnum):
    """What one unit of a value is."""

    SHARE = "share"
    COUNT = "count"
    SCORE = "score"
    SECONDS = "seconds"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Ratio:
    """x of n, kept as the two counts."""

    x: int
    n: int

    def __post_init__(self) -> None:
        domain.counts(self.x, self.n)


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval with how it was made: `confidence` in (0, 1), `sides` 1 or 2, `method` a name of the vectors."""

    low: Decimal
    high: Decimal
    confidence: Decimal
    method: str
    sides: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One figure.

    `value` null exactly when `provenance` is `not_measured`; `scale` declared, never inferred; `observations` calls or
    judgements; `distinct_subjects` independent units behind them; `required_subjects` under which it is
    `insufficient`; `reason` set exactly when it is `insufficient` or `not_measured`.

    Raises: StatisticsError SLV-S005 (off the scale), SLV-S010 (value without scale), SLV-S002 (rules above broken).
    """

    value: Decimal | Ratio | None
    unit: Unit
    scale: tuple[Decimal, Decimal] | None
    provenance: Provenance
    producer: str
    observations: int
    distinct_subjects: int
    required_subjects: int | None = None
    dispersion: Decimal | None = None
    dispersion_reason: str | None = None
    interval: Limits | None = None
    interval_reason: str | None = None
    reference: str | None = None
    assumptions: tuple[str, ...] = ()
    reason: str | None = None

    def __post_init__(self) -> None:
        domain.count(self.observations, "observations")
        domain.count(self.distinct_subjects, "distinct_subjects")
        explained = self.provenance in (Provenance.INSUFFICIENT, Provenance.NOT_MEASURED)
        _require((self.value is None) == (self.provenance is Provenance.NOT_MEASURED), "value")
        _require((self.reason is not None) == explained, "reason")
        _require(self.producer != "", "producer")
        _require(self.distinct_subjects <= self.observations, "distinct_subjects")
        self._on_scale()

    def _on_scale(self) -> None:
        if not isinstance(self.value, Decimal):
            return
        if not self.value.is_finite():
            raise domain.refusal("SLV-S002", Text("valor no finito", "value not finite"), "value")
        if self.scale is None:
            raise domain.refusal("SLV-S010", Text("escala no declarada", "scale not declared"), "scale")
        low, high = self.scale
        if not low <= self.value <= high:
            raise domain.refusal(
                "SLV-S005",
                Text(f"{self.value} fuera de la escala [{low}, {high}]", f"{self.value} off the scale [{low}, {high}]"),
                "value",
                Text("corrija la escala declarada", "mend the declared scale"),
            )

    @property
    def is_actionable(self) -> bool:
        """Tell whether a decision may rest on it: measured or derived, and nothing else."""
        return self.provenance in (Provenance.MEASURED, Provenance.DERIVED)

    def to_json(self) -> JsonObject:
        """Return it as it stands in files: decimals as text, counts as integers."""
        return {
            "value": _value(self.value),
            "unit": self.unit.value,
            "scale": None if self.scale is None else [decimal_text(limit) for limit in self.scale],
            "provenance": self.provenance.value,
            "producer": self.producer,
            "observations": self.observations,
            "distinct_subjects": self.distinct_subjects,
            "required_subjects": self.required_subjects,
            "dispersion": None if self.dispersion is None else decimal_text(self.dispersion),
            "dispersion_reason": self.dispersion_reason,
            "interval": _interval(self.interval),
            "interval_reason": self.interval_reason,
            "reference": self.reference,
            "assumptions": [*self.assumptions],
            "reason": self.reason,
        }


def measured(measurement: Measurement) -> Measurement:
    """Return the measurement, `insufficient` if fewer subjects stand behind it than it requires. The value is kept."""
    required = measurement.required_subjects
    if not measurement.is_actionable or required is None or measurement.distinct_subjects >= required:
        return measurement
    from dataclasses import replace

    return replace(measurement, provenance=Provenance.INSUFFICIENT, reason="too_few_subjects")


def worst_provenance(parts: Sequence[Measurement]) -> Provenance:
    """Return the provenance of a value computed from others: the worst of them, and never better than derived.

    Nothing at all is `not_measured`.
    """
    order = list(Provenance)
    worst = max((order.index(part.provenance) for part in parts), default=order.index(Provenance.NOT_MEASURED))
    return order[max(worst, order.index(Provenance.DERIVED))]


def combined(
    parts: Sequence[Measurement], value: Decimal | None, unit: Unit, scale: tuple[Decimal, Decimal], producer: str
) -> Measurement:
    """Return a value that code computed from others: worst provenance, fewest subjects, every reason kept."""
    provenance = worst_provenance(parts)
    if value is None:
        provenance = Provenance.NOT_MEASURED
    reasons = sorted({part.reason for part in parts if part.reason is not None})
    unexplained = provenance in (Provenance.INSUFFICIENT, Provenance.NOT_MEASURED)
    return Measurement(
        value=None if provenance is Provenance.NOT_MEASURED else value,
        unit=unit,
        scale=scale,
        provenance=provenance,
        producer=producer,
        observations=sum(part.observations for part in parts),
        distinct_subjects=min((part.distinct_subjects for part in parts), default=0),
        assumptions=tuple(sorted({key for part in parts for key in part.assumptions})),
        dispersion_reason="derived",
        interval_reason="derived",
        reason=("; ".join(reasons) or "no_value") if unexplained else None,
    )


def _require(holds: bool, where: str) -> None:
    if not holds:
        raise domain.refusal(
            "SLV-S002", Text(f"medición incoherente: {where}", f"inconsistent measurement: {where}"), where
        )


def _value(value: Decimal | Ratio | None) -> JsonValue:
    if isinstance(value, Ratio):
        return {"x": value.x, "n": value.n}
    return None if value is None else decimal_text(value)


def _interval(limits: Limits | None) -> JsonValue:
    if limits is None:
        return None
    return {
        "low": decimal_text(limits.low),
        "high": decimal_text(limits.high),
        "confidence": decimal_text(limits.confidence),
        "method": limits.method,
        "sides": limits.sides,
    }
