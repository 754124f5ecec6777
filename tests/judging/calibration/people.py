"""Runs whose truth is known: a judge of given sensitivity and specificity, and people who read what they are given."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import date

from slaverify.contract import Contract
from slaverify.judging import RUBRICS
from slaverify.judging.calibration import (
    Kind,
    Label,
    Labelled,
    Shown,
    UnitKey,
    label_seed,
    legible,
    plan_of,
    select,
    units_of,
)
from tests.decision.build import ACCURACY, JUDGE, build, merged, record

DIGEST = "sha256:" + "a" * 64
SEED = label_seed(DIGEST, 1, b"end of the run")
RIGHT = Label("answer", (("correctness", "correct"), ("grounding", "grounded")))
WRONG = Label("answer", (("correctness", "incorrect"), ("grounding", "grounded")))
ABSTAINS = Label("abstention")
MET, NOT_MET = Label("answer", (("met", "met"),)), Label("answer", (("met", "not_met"),))

POINTS = [
    {"value": "met", "fraction": "1", "anchor": "Se cumple"},
    {"value": "not_met", "fraction": "0", "anchor": "No se cumple"},
]


def criterion(name: str, text: str, carve_out: str) -> dict:
    return {
        "id": name,
        "version": 1,
        "tier": "compliance",
        "text": text,
        "carve_outs": [{"id": "salvedad", "text": carve_out}],
        "scale": {"kind": "binary", "points": POINTS},
        "threshold": "0.9",
        "probes": [
            {"carve_out": "salvedad", "answer": "uno", "met": True},
            {"carve_out": "salvedad", "answer": "dos", "met": False},
        ],
    }


CRITERIA = [
    criterion("correcta", "Dice lo que dice la base.", "Puede omitir lo que no se pregunta."),
    criterion("trato", "Es respetuosa.", "Puede ser breve: «escalar» se admite."),
]


def contract(
    *, criteria: bool = False, design: str = "stratified_audit", n: int = 300, **calibration: object
) -> Contract:
    """A judged contract over `n` items of stratum `direct`."""
    rubric: dict = (
        {"rubric": None, "criteria": CRITERIA}
        if criteria
        else {"rubric": {"name": "reglab@1", "digest": RUBRICS["reglab@1"].digest}}
    )
    judge = merged(JUDGE["judge"], {**rubric, "calibration": {"design": design, **calibration}})
    metric = merged(ACCURACY, {"among": {"stratum": ["direct"]}})
    metrics = [metric]
    if criteria:
        metrics = [merged(metric, {"id": one["id"], "count": {"criteria": [f"{one['id']}:met"]}}) for one in CRITERIA]
        for one in metrics:
            one["count"] = {"criteria": one["count"]["criteria"]}
    sample = {"direct": n, "out_of_corpus": 30}
    return build(
        metrics,
        engine=JUDGE["engine"],
        judge=judge,
        method={
            "verdict_table": "reglab@1",
            "judge_stage": {
                "strata": ["direct"],
                "ask": ["criteria" if criteria else "correctness", *([] if criteria else ["grounding"])],
            },
        },
        evaluation_set={
            "size": 10 * n,
            "strata": {"direct": 9 * n, "out_of_corpus": n},
            "sample": {"per_stratum": sample},
        },
    )


def judged(number: int, positive: bool, stratum: str = "direct", **changes: object) -> dict:
    """A record that the judge decided."""
    words = (
        {"verdict": "accurate", "correctness": "correct", "grounding": "grounded"}
        if positive
        else {"verdict": "incorrect", "correctness": "incorrect", "grounding": "grounded"}
    )
    return record(number, stratum, decided_by="judge", **{**words, **changes})


def by_criteria(number: int, met: dict[str, bool], stratum: str = "direct") -> dict:
    words = {name: "met" if one else "not_met" for name, one in met.items()}
    return record(number, stratum, decided_by="judge", verdict=None, correctness="undetermined", criteria=words)


def simulated(
    rng: random.Random, n: int, rate: float, sensitivity: float, specificity: float
) -> tuple[list[dict], dict[UnitKey, bool]]:
    """Return judged records and what is true of them, drawn anew."""
    records, truth = [], {}
    for number in range(n):
        right = rng.random() < rate
        said = rng.random() < (sensitivity if right else 1 - specificity)
        records.append(judged(number, said))
        truth[UnitKey(f"i-{number:06d}", 0, "")] = right
    return records, truth


def others(count: int = 30) -> list[dict]:
    """Abstentions of the stratum that no judge sees."""
    return [
        record(900_000 + i, "out_of_corpus", verdict="abstention", abstention="necessary", **{"class": "abstention"})
        for i in range(count)
    ]


Reads = Callable[[UnitKey], Label]


def labelled(
    agreed: Contract,
    records: list[dict],
    reads: Reads,
    second: Reads | None = None,
    third: Reads | None = None,
    *,
    only: Callable[[UnitKey], bool] = lambda _: True,
    seed: bytes = SEED,
) -> Labelled:
    """Give the drawn rows of a run to people; `only` says which rows they got to."""
    units = units_of(agreed, records)
    assert agreed.judge is not None
    selection = select(units, plan_of(agreed.judge.calibration), seed)
    book: dict[UnitKey, dict[int, Label]] = {}
    for unit, _ in selection.rows:
        if not legible(unit) or not only(unit.key):
            continue
        labels = {1: reads(unit.key)}
        if unit.key in selection.twice:
            labels[2] = (second or reads)(unit.key)
            if not labels[1].says(labels[2]) and third is not None:
                labels[3] = third(unit.key)
        book[unit.key] = labels
    return Labelled(contract=agreed, units=units, seed=seed, book=book, sheets=(), closed_on=date(2026, 11, 30))


def truthful(truth: dict[UnitKey, bool]) -> Reads:
    """A person who knows: what is not in `truth` abstains."""

    def read(key: UnitKey) -> Label:
        if key not in truth:
            return ABSTAINS
        if key.subject:
            return MET if truth[key] else NOT_MET
        return RIGHT if truth[key] else WRONG

    return read


def texts(keys: Iterable[UnitKey]) -> dict[tuple[str, int], Shown]:
    return {
        (key.item_id, key.repetition): Shown(
            question=f"¿Qué dice {key.item_id}?",
            answer=f"Respuesta de {key.item_id}\nsegunda línea",
            hidden_marks="",
            official_text=f"Texto oficial {key.item_id}",
        )
        for key in keys
    }


def kinds(run: Labelled) -> dict[Kind, int]:
    found: dict[Kind, int] = {}
    for unit in run.units:
        found[unit.kind] = found.get(unit.kind, 0) + 1
    return found
