"""Run the vectors of the parser against the installed version: one reply each, with its one result.

Two shapes: a line of `judge_output.jsonl`, and a line of `scoring.jsonl` of kind `judge`, whose reply is `output` and
whose question stands in `settings`. A malformed line, or one of a rubric that nobody knows, has failed.

Source: docs/spec/judging.md section 5 and the vector files themselves.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from slaverify.canonical import JsonValue
from slaverify.judging.parse import PARSERS, Asked, Reply, parse
from slaverify.judging.records import Judgement
from slaverify.judging.rubrics import RUBRICS
from slaverify.statistics.vectors import VectorOutcome


def is_judge(case: object) -> bool:
    """Tell whether a vector belongs to this room."""
    return isinstance(case, dict) and ("expected_nonce" in case or case.get("kind") == "judge")


def conformance(cases: Sequence[object]) -> tuple[VectorOutcome, ...]:
    """Run every case. Raises nothing."""
    return tuple(_outcome(case, number) for number, case in enumerate(cases))


def _outcome(case: object, number: int) -> VectorOutcome:
    if not isinstance(case, dict) or not isinstance(case.get("id"), str):
        return VectorOutcome(f"#{number}", "failed", ("not a vector",))
    name = str(case["id"])
    try:
        found = vector_differences(case)
    except (KeyError, TypeError, ValueError) as error:
        found = [f"{type(error).__name__}: {error}"[:200]]
    return VectorOutcome(name, "failed" if found else "passed", tuple(found))


def vector_differences(case: Mapping[str, JsonValue]) -> list[str]:
    """Return one line per key that a vector expects and does not get; none if it passes.

    Raises: KeyError, TypeError, ValueError for a malformed vector.
    """
    expected = case["expected"]
    if not isinstance(expected, dict) or not expected:
        raise ValueError("expected")
    settings = case.get("settings")
    given = {**case, **settings} if isinstance(settings, dict) else case
    found = _found(given)
    return [
        f"{key}: expected {want!r}, got {found.get(key)!r}"
        for key, want in expected.items()
        if key not in found or found[key] != want
    ]


def _found(case: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    rubric, parser = RUBRICS[str(case["rubric"])], str(case["parser"])
    if parser not in PARSERS:
        raise ValueError(parser)
    count, criterion = case.get("sentence_count"), case.get("criterion")
    asked = Asked(
        nonce=str(case["expected_nonce"]),
        scales=_scales(case),
        parser=parser,
        criterion=None if criterion is None else str(criterion),
        sentences=count if isinstance(count, int) else None,
        table=rubric.table or None,
    )
    refused = case.get("api_refusal") is True
    result = parse(Reply(raw=_raw(case), stop=str(case.get("stop", "complete")), refused=refused), asked)
    if not isinstance(result, Judgement):
        kind = result.kind.value
        return {"result": "failure", "judgement": "failure", "failure": kind, "alarm": result.alarm}
    values = dict(result.values)
    cells = rubric.table.get(str(values.get("correctness")), {})
    return {
        "result": "judgement",
        "judgement": "judgement",
        "values": values,
        "derived_verdict": cells.get(str(values.get("grounding"))),
        "flags": list(result.flags),
    }


def _scales(case: Mapping[str, JsonValue]) -> dict[str, tuple[str | int, ...]]:
    scale, asks = case["scale"], case["ask"]
    if not isinstance(scale, dict) or not isinstance(asks, list):
        raise TypeError("scale")
    return {str(field): _values(scale["values"] if "values" in scale else scale[str(field)]) for field in asks}


def _values(values: JsonValue) -> tuple[str | int, ...]:
    if not isinstance(values, list) or not values:
        raise TypeError("values")
    return tuple(value for value in values if isinstance(value, str | int))


def _raw(case: Mapping[str, JsonValue]) -> bytes:
    parts, encoded = case.get("raw_parts"), case.get("raw_base64")
    if isinstance(parts, list):
        return b"".join(_part(part) for part in parts)
    if isinstance(encoded, str):
        return base64.b64decode(encoded, validate=True)
    written = case["raw"] if "raw" in case else case["output"]
    if not isinstance(written, str):
        raise TypeError("raw")
    return written.encode("utf-8", "surrogatepass")


def _part(part: JsonValue) -> bytes:
    if not isinstance(part, dict) or not isinstance(part["repeat"], int):
        raise TypeError("raw_parts")
    return str(part["text"]).encode("utf-8", "surrogatepass") * part["repeat"]
