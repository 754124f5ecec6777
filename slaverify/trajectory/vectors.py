"""Run the vectors of the path profiles, type `slaverify.vectors.trajectory/1`, against the installed version.

Every case is carried out from its own inputs; no case is known by its id.

Source: docs/spec/trajectory.md, section "Vectors", and the vector file itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from slaverify.statistics.vectors import VectorOutcome
from slaverify.trajectory.preprint_links import preprint_links, preprint_silences
from slaverify.trajectory.preprint_runtime import PreprintEntry, PreprintTools, documents_of, preprint_cone, role_of
from slaverify.trajectory.score_preprint import (
    PreprintCall,
    PreprintScore,
    Tree,
    adjusted,
    aggregate_preprint,
    compliance_factor,
    score_preprint,
    tier,
    violation_rate,
)

FORMAT = "slaverify.vectors.trajectory/1"
_TOLERANCE = 1e-9


def is_vector_file(document: Tree) -> bool:
    """Say whether a document is a file of these vectors."""
    return isinstance(document.get("meta"), Mapping) and _tree(document["meta"]).get("format") == FORMAT


def conformance(document: Tree) -> tuple[VectorOutcome, ...]:
    """Run every case of a file. A case that is malformed or raises has failed. Raises nothing."""
    scored: dict[str, PreprintScore] = {}
    corpus, links = document.get("runtime_fixture"), document.get("derivation_fixture")
    runners: tuple[tuple[str, Callable[[Tree], list[str]]], ...] = (
        ("scoring_cases", lambda case: _scoring(case, scored)),
        ("support_cases", lambda case: _scoring(case, scored)),
        ("aggregate_cases", lambda case: _aggregate(case, scored)),
        ("runtime_cases", lambda case: _runtime(case, _tree(corpus))),
        ("derivation_cases", lambda case: _derivation(case, _tree(links))),
    )
    return tuple(_outcome(case, run) for key, run in runners for case in _cases(document, key))


def _cases(document: Tree, key: str) -> Sequence[object]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _outcome(case: object, run: Callable[[Tree], list[str]]) -> VectorOutcome:
    if not isinstance(case, Mapping) or not isinstance(case.get("id"), str):
        return VectorOutcome("?", "failed", ("not a vector",))
    try:
        found = tuple(run(case))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        found = (f"{type(error).__name__}: {error}",)
    return VectorOutcome(str(case["id"]), "failed" if found else "passed", found)


def _scoring(case: Tree, scored: dict[str, PreprintScore]) -> list[str]:
    trace = _tree(case["trace"])
    calls = [_call(_tree(one)) for one in _items(trace["calls"])]
    score = score_preprint(_tree(case["contract"]), _answer(case), calls, trace.get("cited_artifacts"))
    scored[str(case["id"])] = score
    return _differences(case["expected"], _shown(score)) + _derived(case, score, calls)


def _aggregate(case: Tree, scored: Mapping[str, PreprintScore]) -> list[str]:
    return _differences(case["expected"], aggregate_preprint([scored[str(one)] for one in _items(case["case_ids"])]))


def _runtime(case: Tree, fixture: Tree) -> list[str]:
    contract, expected = _tree(case["contract"]), dict(_tree(case["expected"]))
    cone = preprint_cone(fixture, str(case["policy"]), contract)
    found = _differences(case["visible_artifacts_computed"], cone, "visible_artifacts_computed")
    as_of = contract.get("as_of")
    tools = PreprintTools(
        track=str(contract["track"]),
        as_of=as_of if isinstance(as_of, str) else None,
        cone=frozenset(cone or ()),
        role=role_of(fixture, contract),
        documents=documents_of(_tree(fixture["artifacts"])),
    )
    returned = [_operate(tools, _items(operation)) for operation in _items(case["operations"])]
    found += _differences(expected.pop("returned_to_engine"), returned, "returned_to_engine")
    found += _differences(expected.pop("trace"), [_entry(one) for one in tools.trace], "trace")
    calls = [entry.call for entry in tools.trace]
    score = score_preprint({**contract, "visible_artifacts": cone}, _answer(case), calls, ())
    return found + _differences(expected, _shown(score)) + _derived(case, score, calls)


def _operate(tools: PreprintTools, operation: Sequence[object]) -> object:
    if operation[0] == "fetch":
        document = tools.fetch(str(operation[1]))
        return None if document is None else sorted(document)
    kind = operation[2] if len(operation) > 2 else None
    limit = operation[3] if len(operation) > 3 else 10
    hits = tools.search(str(operation[1]), None if kind is None else str(kind), limit if isinstance(limit, int) else 10)
    return sorted(str(hit["id"]) for hit in hits)


def _entry(entry: PreprintEntry) -> dict[str, object]:
    return {
        "tool": entry.tool,
        "args": dict(entry.arguments),
        "result_ids": list(entry.call.result_ids),
        "horizon_violation": entry.call.horizon,
        "actor_gate_violation": entry.call.actor_gate,
        "subsystem_violation": entry.call.subsystem,
        "returned_empty": entry.call.empty,
        "timestamp_applied": entry.timestamp_applied,
    }


def _derivation(case: Tree, fixture: Tree) -> list[str]:
    events = [_tree(event) for event in _items(fixture["events"])]
    spec = _tree(case["spec"])
    silence = "trigger_event_type" in spec
    got: object = preprint_silences(events, spec) if silence else preprint_links(events, spec)
    return _differences(case["expected"], got)


def _derived(case: Tree, score: PreprintScore, calls: Sequence[PreprintCall]) -> list[str]:
    flagged = sum(call.horizon or call.actor_gate or call.subsystem for call in calls)
    rate = flagged / len(calls) if calls else 0.0
    got = {"v_any": rate, "s_adj_v_any": round(score.combined * (1 - rate) ** 2, 4)}
    return _differences(case.get("derived", {}), got, "derived")


def _shown(score: PreprintScore) -> dict[str, object]:
    rate = violation_rate([score])
    hit, recovered = score.dead_ends
    horizon, actor_gate, subsystem = score.violations
    return {
        "answer_score": score.answer,
        "answer_correct": score.correct,
        "trajectory_score": score.trajectory,
        "combined_score": score.combined,
        "tool_call_count": score.calls,
        "search_space_coverage": score.coverage,
        "overall_violation_rate": round(rate, 4),
        "overall_compliance_tier": tier(rate),
        "overall_violation_adjusted": adjusted([score]),
        "perspective_compliance_factor": compliance_factor(rate) if score.track == "perspective" else None,
        "valid_answer": score.valid_answer,
        "correct_answer_bad_trajectory": score.correct_bad_path,
        "wrong_answer_good_trajectory": score.wrong_good_path,
        "dead_ends": {"hit": hit, "recovered": recovered},
        "violations": {"horizon": horizon, "actor_gate": actor_gate, "subsystem": subsystem},
    }


def _call(tree: Tree) -> PreprintCall:
    return PreprintCall(
        result_ids=tuple(str(one) for one in _items(tree["result_ids"])),
        horizon=tree["horizon_violation"] is True,
        actor_gate=tree["actor_gate_violation"] is True,
        subsystem=tree["subsystem_violation"] is True,
        empty=tree["returned_empty"] is True,
    )


def _answer(case: Tree) -> Tree | None:
    value = case.get("answer")
    return value if isinstance(value, Mapping) else None


def _tree(value: object) -> Tree:
    if not isinstance(value, Mapping):
        raise TypeError("an object is due")
    return value


def _items(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise TypeError("a list is due")
    return value


_SETS = frozenset({"result_ids", "visible_artifacts_computed", "evidence_artifact_ids", "actors", "confirmed"})
"""Keys whose list is a set: its order does not count."""


def _differences(expected: object, got: object, place: str = "") -> list[str]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        found = [f"{place}.{key}: missing" for key in expected if key not in got]
        if not expected and got:
            found.append(f"{place}: expected nothing")
        for key, value in expected.items():
            if key in got:
                found += _differences(value, got[key], f"{place}.{key}" if place else key)
        return found
    if isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            return [f"{place}: expected {expected!r}, got {got!r}"]
        if place.rpartition(".")[2] in _SETS:
            expected, got = sorted(map(str, expected)), sorted(map(str, got))
        pairs = enumerate(zip(expected, got, strict=True))
        return [line for index, (one, other) in pairs for line in _differences(one, other, f"{place}.{index}")]
    if _same(expected, got):
        return []
    return [f"{place}: expected {expected!r}, got {got!r}"]


def _same(expected: object, got: object) -> bool:
    if isinstance(expected, bool | str) or expected is None:
        return type(expected) is type(got) and expected == got
    if isinstance(expected, int | float) and isinstance(got, int | float) and not isinstance(got, bool):
        return abs(expected - got) <= _TOLERANCE
    return False
