"""Sentinels: answers whose mark is known, asked before, during and after, so that a changed judge shows.

The file is JSONL, one canonical object a line, sorted by id, private to the auditor; the contract pins its SHA-256.
The set of a run is that file and every probe of the criteria.

Source: docs/spec/judging.md section 7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, digest_of, loads_jsonl
from slaverify.contract.model.judge import Criterion
from slaverify.errors import JudgeError, Text
from slaverify.judging.criteria import meets, values_of
from slaverify.judging.prompt import Case, Instrument
from slaverify.judging.sentences import split_sentences

SENTINEL_TYPE = "slaverify/sentinel/1"
LEAST_OF_A_KIND = 30
"""Least known-right and known-wrong sentinels per rubric (convention; 0 wrong in 29 bounds the error below 10 %)."""
BASELINE_PASSES = 3
"""Times the whole set is asked before the first item: what agreed every time is the stable set."""

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEYS = {"type", "id", "kind", "rubric", "criterion", "question", "official_text", "answer", "expected"}
KNOWN_RIGHT = "known_right"
KNOWN_WRONG = "known_wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """One known answer. `expected`: admitted values by field; `criterion`: its id, null for a rubric without one."""

    id: str
    kind: str
    criterion: str | None
    question: str
    official_text: str
    answer: str
    expected: Mapping[str, tuple[str | int, ...]]


def read_sentinels(data: bytes, instrument: Instrument, *, digest: str | None = None) -> tuple[Sentinel, ...]:
    """Read a file of sentinels and add the probes of the criteria, sorted by id.

    Raises: JudgeError SLV-J040 (form), SLV-J041 (fewer than 30 of a kind), SLV-J042 (not the file that is pinned).
    """
    if digest is not None and digest_of(data) != digest:
        raise JudgeError(
            "SLV-J042",
            Text("no es el archivo de centinelas que el contrato fija", "not the sentinel file that the contract pins"),
            fix=Text("ponga junto al contrato el archivo pactado", "put the agreed file beside the contract"),
            where="judge.sentinels.digest",
            exit_code=5,
        )
    try:
        lines = loads_jsonl(data)
        found = [_sentinel(line, instrument) for line in lines]
    except (StrictJsonError, KeyError, TypeError, ValueError) as error:
        raise _malformed(repr(error)[:120]) from error
    ids = [one.id for one in found]
    if ids != sorted(set(ids)):
        raise _malformed("order")
    for kind in (KNOWN_RIGHT, KNOWN_WRONG):
        count = sum(one.kind == kind for one in found)
        if count < LEAST_OF_A_KIND:
            raise JudgeError(
                "SLV-J041",
                Text(f"hay {count} centinelas {kind}; hacen falta 30", f"{count} sentinels {kind}; 30 are needed"),
                fix=Text("escriba los que faltan", "write those that are missing"),
                where="judge.sentinels",
            )
    return tuple(sorted((*found, *probes_of(instrument.judge.criteria)), key=lambda one: one.id))


def probes_of(criteria: Sequence[Criterion]) -> list[Sentinel]:
    """Return the probes of the criteria as sentinels; their ids cannot be those of a file."""
    found = []
    for criterion in criteria:
        for number, probe in enumerate(criterion.probes, 1):
            admitted = tuple(value for value in values_of(criterion) if meets(criterion, value) is probe.met)
            found.append(
                Sentinel(
                    id=f"probe:{criterion.id}:{number}",
                    kind=KNOWN_RIGHT if probe.met else KNOWN_WRONG,
                    criterion=criterion.id,
                    question=probe.question or criterion.text,
                    official_text=criterion.text,
                    answer=probe.answer,
                    expected={"score": admitted},
                )
            )
    return found


def case_of_sentinel(sentinel: Sentinel, instrument: Instrument) -> Case:
    """Return what is judged; like any answer's, so that a judge cannot tell a sentinel from one."""
    named = {criterion.id: criterion for criterion in instrument.judge.criteria}
    criterion = None if sentinel.criterion is None else named[sentinel.criterion]
    fields = tuple(field for field in instrument.rubric.asks if field in sentinel.expected)
    return Case(
        question=sentinel.question,
        official_text=sentinel.official_text,
        answer=sentinel.answer,
        asks=fields,
        criterion=criterion,
        sentences=split_sentences(sentinel.answer) if "sentences" in fields else (),
    )


def as_expected(sentinel: Sentinel, values: JsonObject | None) -> bool | None:
    """Say whether a judge's values are those expected; null where it gave none."""
    if values is None:
        return None
    return all(_admitted(values.get(field), admitted) for field, admitted in sentinel.expected.items())


def _admitted(value: JsonValue, admitted: tuple[str | int, ...]) -> bool:
    if isinstance(value, list):
        return all(label in admitted for label in value)
    return any(one == value and type(one) is type(value) for one in admitted)


def passed_wrong(sentinel: Sentinel, values: JsonObject | None) -> bool:
    """Say whether a known-wrong answer was let through."""
    return sentinel.kind == KNOWN_WRONG and as_expected(sentinel, values) is False


def max_drift(stable: int, flips: int, repeated: int) -> int:
    """Return the least c that a Binomial(stable, u) exceeds with probability at most 0.01.

    u is the one-sided 95 % upper limit of the flip rate, `flips` of `repeated`. Raises: StatisticsError.
    """
    from scipy.special import bdtrc

    from slaverify.statistics import exact_bound

    u = exact_bound(flips, repeated, 0.95).high
    return next(c for c in range(stable + 1) if float(bdtrc(c, stable, u)) <= 0.01)


def _sentinel(line: JsonObject, instrument: Instrument) -> Sentinel:
    expected, criterion = line["expected"], line["criterion"]
    if set(line) != _KEYS or line["type"] != SENTINEL_TYPE or not isinstance(expected, dict) or not expected:
        raise ValueError("keys")
    if line["rubric"] != instrument.rubric.name or line["kind"] not in (KNOWN_RIGHT, KNOWN_WRONG):
        raise ValueError("rubric or kind")
    if not _ID.fullmatch(str(line["id"])):
        raise ValueError("id")
    named = {one.id: one for one in instrument.judge.criteria}
    if instrument.rubric.per_criterion and criterion not in named:
        raise ValueError(f"criterion {criterion}")
    return Sentinel(
        id=str(line["id"]),
        kind=str(line["kind"]),
        criterion=None if criterion is None else str(criterion),
        question=str(line["question"]),
        official_text=str(line["official_text"]),
        answer=str(line["answer"]),
        expected={field: _list(values) for field, values in expected.items()},
    )


def _list(values: JsonValue) -> tuple[str | int, ...]:
    if not isinstance(values, list) or not values:
        raise TypeError("expected values")
    return tuple(value for value in values if isinstance(value, str | int))


def _malformed(detail: str) -> JudgeError:
    return JudgeError(
        "SLV-J040",
        Text(f"archivo de centinelas mal formado: {detail}", f"malformed sentinel file: {detail}"),
        why=Text("una línea JSON canónica por centinela, por id", "one canonical JSON line per sentinel, by id"),
        where="judge.sentinels",
    )
