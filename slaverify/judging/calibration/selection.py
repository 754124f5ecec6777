"""Draw what people read: strata of the judge's verdict by those of the contract, each with a known probability.

1. Cells: subject, kind, the judge's verdict, stratum of the contract, and whether the answer is suspect. A cell of
   one unit joins its neighbour: one label shows no spread.
2. Allocation. `stratified_audit`: at least 50 (or all) of each of the judge's verdicts, the rest where the judge
   accepts, inside a verdict by size, suspect answers at twice their share, two of each cell at least.
   `random_audit`: one number over everything, drawn whole.
3. Every unit of the queue and every undetermined one; at most 20 abstentions.
4. Inside a cell the units with the least tickets (keyed by the seed): a simple random sample.
The seed comes from the ledger's entry that ends the run: fixed when the answers are, and not before.

Source: docs/spec/calibration.md section 2.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slaverify.judging.calibration.units import ANSWER, Kind, Unit, UnitKey

EACH_VERDICT = 50
"""Labels of each of the judge's verdicts, or all that there are (convention)."""
ABSTENTIONS = 20
"""Abstentions that join the sheet at most, to measure their detector (convention)."""
SUSPECT_WEIGHT = 2
"""How many times its share a suspect answer gets (convention)."""
WHOLE_SECOND_READ = 150
"""Rows up to which the second person reads all of them; above it, 30 % (convention)."""
_DOMAIN = b"slaverify/label-draw/1\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the contract asks of the labels. Counts; `design` a word of `judge.calibration.design`."""

    design: str
    min_labels: int
    min_per_class: int
    annotators: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCell:
    """One cell of the draw. `positive`, `flagged` null where units of both are in it; `drawn` of `size` units."""

    subject: str
    kind: Kind
    positive: bool | None
    strata: tuple[str, ...]
    flagged: bool | None
    size: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The cells with all of their units, the drawn ones each with the number of its cell, and which are read twice."""

    cells: tuple[LabelCell, ...]
    members: tuple[tuple[Unit, ...], ...]
    rows: tuple[tuple[Unit, int], ...]
    twice: frozenset[UnitKey]


def label_seed(contract_digest: str, run: int, ended: bytes) -> bytes:
    """Return the seed (32 bytes) of a run's draw; `ended` is the hash of the ledger line that ends the run."""
    return hashlib.sha256(
        _DOMAIN + bytes.fromhex(contract_digest.removeprefix("sha256:")) + run.to_bytes(8, "big") + ended
    ).digest()


def select(units: Sequence[Unit], plan: Plan, seed: bytes) -> Selection:
    """Return what is to be read. The same units, plan and seed give the same rows. Raises nothing."""
    whole = plan.design == "random_audit" and all(unit.key.subject == ANSWER for unit in units)
    cells: list[LabelCell] = []
    inside: list[tuple[Unit, ...]] = []
    rows: list[tuple[Unit, int]] = []

    def draw(groups: Iterable[_Group]) -> None:
        for cell, members in groups:
            if cell.size:
                ranked = sorted(members, key=lambda unit: _ticket(seed, b"row", unit.key))
                rows.extend((unit, len(cells)) for unit in ranked[: cell.drawn])
                cells.append(cell)
                inside.append(tuple(members))

    for subject in sorted({unit.key.subject for unit in units}):
        own = [unit for unit in units if unit.key.subject == subject]
        if whole:
            # People have to be able to find what rules and judge got wrong alike: all that counts is in the draw.
            draw([_cell(Kind.SETTLED, own, min(len(own), plan.min_labels))])
            drawn = {unit.key for unit, _ in rows}
            left = [unit for unit in own if unit.kind is Kind.QUEUE and unit.key not in drawn]
            draw([_cell(Kind.QUEUE, left, len(left))])
        else:
            judged = [unit for unit in own if unit.kind is Kind.JUDGED]
            draw(_simple(judged, plan) if plan.design == "random_audit" else _stratified(judged, plan))
            draw(_beside(own))
    rows.sort(key=lambda row: row[0].key)
    return Selection(tuple(cells), tuple(inside), tuple(rows), _twice(rows, plan, seed))


def legible(unit: Unit) -> bool:
    """Say whether there is a text to read."""
    return unit.kind is not Kind.SILENT


def _twice(rows: Sequence[tuple[Unit, int]], plan: Plan, seed: bytes) -> frozenset[UnitKey]:
    keys = [unit.key for unit, _ in rows if legible(unit)]
    if plan.annotators < 2:
        return frozenset()
    if len(keys) <= WHOLE_SECOND_READ:
        return frozenset(keys)
    ranked = sorted(keys, key=lambda key: _ticket(seed, b"twice", key))
    return frozenset(ranked[: -(-3 * len(keys) // 10)])


def _ticket(seed: bytes, what: bytes, key: UnitKey) -> bytes:
    named = "\x00".join((key.item_id, str(key.repetition), key.subject)).encode()
    return hmac.digest(seed, what + b"\x00" + named, "sha256")


_Group = tuple[LabelCell, list[Unit]]


def _simple(judged: list[Unit], plan: Plan) -> list[_Group]:
    return [_cell(Kind.JUDGED, judged, min(len(judged), plan.min_labels))]


def _stratified(judged: list[Unit], plan: Plan) -> list[_Group]:
    classes = [[unit for unit in judged if unit.positive is verdict] for verdict in (False, True)]
    wanted = _classes(len(classes[0]), len(classes[1]), plan)
    return [
        group for members, labels in zip(classes, wanted, strict=True) for group in _allocated(_cells(members), labels)
    ]


def _classes(rejected: int, accepted: int, plan: Plan) -> tuple[int, int]:
    """Return the labels of each verdict: the floor of both, the rest by size, and what one lacks to the other."""
    floor = max(EACH_VERDICT, plan.min_per_class)
    total = max(1, rejected + accepted)
    low = min(rejected, max(floor, round(plan.min_labels * rejected / total)))
    high = min(accepted, max(floor, plan.min_labels - low))
    return min(rejected, max(low, plan.min_labels - high)), high


def _cells(members: list[Unit]) -> list[list[Unit]]:
    """Return the units of one verdict by stratum and suspicion, cells of one unit joined to a neighbour."""
    cells: list[list[Unit]] = []
    for stratum in sorted({unit.stratum for unit in members}):
        own = [unit for unit in members if unit.stratum == stratum]
        suspect = [unit for unit in own if unit.flagged]
        plain = [unit for unit in own if not unit.flagged]
        cells += [plain, suspect] if len(plain) > 1 and len(suspect) > 1 else [own]
    cells = [cell for cell in cells if cell]
    while len(cells) > 1 and any(len(cell) == 1 for cell in cells):
        lonely = next(index for index, cell in enumerate(cells) if len(cell) == 1)
        alone = cells.pop(lonely)
        largest = max(range(len(cells)), key=lambda index: len(cells[index]))
        cells[largest] = [*cells[largest], *alone]
    return cells


def _allocated(cells: list[list[Unit]], labels: int) -> list[_Group]:
    if not cells:
        return []
    weights = [len(cell) * (SUSPECT_WEIGHT if all(unit.flagged for unit in cell) else 1) for cell in cells]
    counts = [min(2, len(cell)) for cell in cells]
    while sum(counts) < labels:
        # Each further label goes where the allocation lags most behind the weights: largest remainder, one by one.
        open_cells = [index for index, cell in enumerate(cells) if counts[index] < len(cell)]
        if not open_cells:
            break
        counts[min(open_cells, key=lambda index: ((counts[index] + 1) / weights[index], index))] += 1
    return [_cell(Kind.JUDGED, cell, count) for cell, count in zip(cells, counts, strict=True)]


def _beside(units: list[Unit]) -> list[_Group]:
    """Return the units that join the sheet whatever the judge said: the queue, and those that try the detector."""
    of = {kind: [unit for unit in units if unit.kind is kind] for kind in Kind}
    queue, vague, abstentions = of[Kind.QUEUE], of[Kind.UNDETERMINED], of[Kind.ABSTENTION]
    return [
        _cell(Kind.QUEUE, queue, len(queue)),
        _cell(Kind.UNDETERMINED, vague, len(vague)),
        _cell(Kind.ABSTENTION, abstentions, min(ABSTENTIONS, len(abstentions))),
    ]


def _cell(kind: Kind, members: list[Unit], drawn: int) -> _Group:
    marks = {unit.flagged for unit in members}
    verdicts = {unit.positive for unit in members}
    cell = LabelCell(
        subject=members[0].key.subject if members else ANSWER,
        kind=kind,
        positive=verdicts.pop() if kind is Kind.JUDGED and len(verdicts) == 1 else None,
        strata=tuple(sorted({unit.stratum for unit in members})),
        flagged=marks.pop() if len(marks) == 1 else None,
        size=len(members),
        drawn=drawn,
    )
    return cell, members
