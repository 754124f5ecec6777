"""Criteria: one requirement each, with its exceptions inside the text that the judge and the people read.

The model of a criterion is the contract's; here stand its digest, its whole text, whether a value of its scale meets
it. To which items it applies, and what code says of it by itself, is in scoring. A changed letter is a new version.

Source: docs/spec/judging.md section 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from slaverify.canonical import JsonValue, digest_of, jcs
from slaverify.contract.model.judge import Criterion
from slaverify.errors import JudgeError, Text

DEFAULT_THRESHOLDS = {"compliance": Decimal("0.9"), "quality": Decimal("0.7")}
"""Least fraction at which one answer meets a criterion of each tier (convention)."""


def criterion_json(criterion: Criterion) -> dict[str, JsonValue]:
    """Return the criterion as JSON, as the contract writes it, with its probes."""
    tree: dict[str, JsonValue] = criterion.model_dump(mode="json")
    return tree


def criterion_digest(criterion: Criterion) -> str:
    """Return the digest of a criterion without its probes: what a label or a judgement was given for."""
    tree = criterion_json(criterion)
    del tree["probes"]
    return digest_of(jcs(tree))


def probes_digest(criterion: Criterion) -> str:
    """Return the digest of the probes alone."""
    return digest_of(jcs(criterion_json(criterion)["probes"]))


def whole_text(criterion: Criterion) -> str:
    """Return the requirement with its exceptions after it, each a sentence: what is read, by judge and by people."""
    return " ".join((criterion.text, *(one.text for one in criterion.carve_outs)))


def values_of(criterion: Criterion) -> tuple[str | int, ...]:
    """Return the values of the scale, in its order."""
    return tuple(point.value for point in criterion.scale.points)


def fraction_of(criterion: Criterion, value: str | int) -> Decimal:
    """Return the fraction that the scale's table gives to a value. Raises: KeyError for a value off the scale."""
    for point in criterion.scale.points:
        # True == 1 in Python: types are compared too.
        if point.value == value and type(point.value) is type(value):
            return point.fraction
    raise KeyError(value)


def meets(criterion: Criterion, value: str | int) -> bool:
    """Say whether one answer with this value meets the criterion. Raises: KeyError for a value off the scale."""
    return fraction_of(criterion, value) >= criterion.threshold


def same_versions(criteria: Iterable[Criterion]) -> None:
    """Refuse two criteria of one id and version that differ in a letter. Raises: JudgeError SLV-J003."""
    known: dict[tuple[str, int], str] = {}
    for criterion in criteria:
        digest = criterion_digest(criterion)
        if known.setdefault((criterion.id, criterion.version), digest) != digest:
            raise JudgeError(
                "SLV-J003",
                Text(
                    f"dos textos distintos se llaman {criterion.id} versión {criterion.version}",
                    f"two different texts are called {criterion.id} version {criterion.version}",
                ),
                why=Text("una letra cambiada es otra versión", "a changed letter is another version"),
                fix=Text("suba la versión del nuevo", "raise the version of the new one"),
                where=criterion.id,
            )
