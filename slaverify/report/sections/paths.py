"""Part of section 3 for engines with tools: right answers against valid paths, reasons, rates, trivial engines.

Everything is read from `trajectory/summary.json`, which the verifier derives again; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, at, integer, objects, text, texts
from slaverify.report.words import (
    Node,
    bullets,
    code,
    column,
    fact,
    fact_table,
    heading,
    listing,
    paragraph,
    real,
    say,
    table,
)

REASONS = frozenset(
    {
        *("NO_ANSWER", "ANSWER_SCHEMA", "VISIBILITY_ACTOR", "VISIBILITY_SUBSYSTEM", "HORIZON", "NO_PATH"),
        *("SEARCH_INCOMPLETE", "CAUSAL_UNGROUNDED", "REQUIRED_NEVER_FETCHED", "PHANTOM_CITATION"),
        "EVIDENCE_NOT_CITED",
    }
)
"""Reasons that the catalogues put in words."""
PATTERNS = frozenset(
    {
        *("no_calls", "constant_answer", "junk_calls", "fishing", "cites_unopened", "pries"),
        "right_without_path",
    }
)
GROUPS = frozenset(
    {
        *("perspective", "counterfactual", "silence", "negative_participation", "negative_temporal"),
        *("negative_permission", "positive", "linked", "adjacent_unlinked", "present", "absent"),
    }
)
_DIGITS = 3


def paths(facts: Facts) -> Iterator[Node]:
    """Yield the blocks; nothing for an engine without tools."""
    summary = facts.paths
    if summary is None:
        return
    yield heading("paths.title", 3, id="paths")
    yield paragraph("paths.lead", n=integer(summary, "questions"), void=integer(summary, "void"))
    yield _cross(summary)
    yield from _reasons(summary)
    yield _rates(summary)
    yield _groups(summary, "tracks")
    yield _groups(summary, "kinds")
    yield from _baselines(summary)
    yield from _patterns(summary)
    yield from _worst(summary)
    yield bullets([say(f"paths.limit.{word}") for word in _limits(facts)], id="path-limits")


def _cross(summary: JsonObject) -> Node:
    counts = _tree(summary.get("table"))
    rows: list[list[JsonValue]] = [
        [say(f"paths.{row}"), integer(counts, f"{row}_valid"), integer(counts, f"{row}_invalid")]
        for row in ("correct", "wrong")
    ]
    heads = [column("answer"), column("valid_path", "right"), column("invalid_path", "right")]
    return table(say("paths.cross"), heads, rows, id="path-cross")


def _reasons(summary: JsonObject) -> Iterator[Node]:
    counts = _tree(summary.get("reasons"))
    if not counts:
        yield paragraph("paths.no_reason")
        return
    rows: list[list[JsonValue]] = [
        [say(f"path_reason.{word.lower()}") if word in REASONS else code(word), count]
        for word, count in sorted(counts.items(), key=lambda pair: (-_int(pair[1]), pair[0]))
    ]
    yield table(say("paths.reasons"), [column("reason"), column("questions", "right", 20)], rows, id="path-reasons")


def _rates(summary: JsonObject) -> Node:
    rates, flags, fishing = (_tree(summary.get(key)) for key in ("rates", "flags", "fishing"))
    rows = [
        fact("s_answer", _real(rates, "s_answer")),
        fact("s_trajectory", _real(rates, "s_trajectory")),
        fact("s_adj", _real(rates, "s_adj")),
        fact("s_adj_pooled", _real(rates, "s_adj_pooled")),
        fact(
            "violation_rate",
            say(
                "paths.rates",
                pooled=_real(rates, "v_pooled"),
                largest=_real(rates, "v_max"),
                actor=_real(rates, "v_actor"),
            ),
        ),
        fact(
            "violations",
            say(
                "paths.flags",
                horizon=integer(flags, "horizon"),
                subsystem=integer(flags, "subsystem"),
                actor=integer(flags, "actor_gate"),
            ),
        ),
        fact(
            "fishing",
            say(
                "paths.fishing",
                share=_real(fishing, "fetched_per_required"),
                calls=integer(fishing, "calls"),
                largest=integer(fishing, "calls_max"),
            ),
        ),
    ]
    return fact_table(rows, caption=say("paths.rates_table"), id="path-rates")


def _groups(summary: JsonObject, key: str) -> Node:
    rows: list[list[JsonValue]] = [
        [
            say(f"path_group.{text(one, 'name')}") if text(one, "name") in GROUPS else code(text(one, "name")),
            integer(one, "n"),
            integer(one, "correct"),
            integer(one, "valid"),
            _real(one, "s_adj"),
        ]
        for one in objects(summary.get(key))
    ]
    heads = [
        column("path_group"),
        column("questions", "right"),
        column("right_answers", "right"),
        column("right_and_valid", "right"),
        column("s_adj", "right"),
    ]
    return table(say(f"paths.{key}"), heads, rows, id=f"path-{key}")


def _baselines(summary: JsonObject) -> Iterator[Node]:
    skill = _tree(summary.get("skill"))
    rows: list[list[JsonValue]] = [
        [code(text(one, "name")), _real(one, "valid"), _real(one, "s_adj")] for one in objects(summary.get("baselines"))
    ]
    heads = [column("trivial_engine"), column("right_and_valid", "right"), column("s_adj", "right")]
    yield table(say("paths.baselines"), heads, rows, id="path-baselines", style="dense")
    if isinstance(skill.get("valid_state"), str) and isinstance(skill.get("s_adj"), str):
        yield paragraph("paths.skill", valid=_real(skill, "valid_state"), adjusted=_real(skill, "s_adj"))


def _patterns(summary: JsonObject) -> Iterator[Node]:
    found = [word for word in texts(summary.get("patterns")) if word in PATTERNS]
    if found:
        yield paragraph("paths.patterns_lead")
        yield bullets([say(f"path_pattern.{word}") for word in found], id="path-patterns")
    else:
        yield paragraph("paths.no_pattern", id="path-patterns")


def _worst(summary: JsonObject) -> Iterator[Node]:
    for one in objects(summary.get("worst")):
        caption = say(
            "paths.worst",
            item=code(text(one, "item_id")),
            adjusted=_real(one, "s_adj"),
            reasons=_listed([code(word) for word in texts(one.get("reasons"))]),
        )
        rows: list[list[JsonValue]] = [
            [
                integer(step, "turn") + 1,
                code(text(step, "at")[11:23]),
                code(text(step, "tool")),
                code(text(step, "status")),
                _listed([code(word) for word in (*texts(step.get("result_ids")), *texts(step.get("withheld_ids")))]),
                _listed([say(f"paths.gate.{gate}") for gate in _gates(step)]),
            ]
            for step in objects(one.get("steps"))
        ]
        heads = [column(name) for name in ("turn", "time_utc", "tool", "call_status", "ids", "gates")]
        yield table(caption, heads, rows, style="dense")


def _listed(parts: list[Node]) -> Node:
    return listing(parts) if parts else say("word.none")


def _gates(step: JsonObject) -> list[str]:
    return [gate for gate in ("horizon", "subsystem", "actor_gate") if step.get(f"{gate}_violation") is True]


def _limits(facts: Facts) -> list[str]:
    found = ["policy", "memory", "ids"]
    if at(facts.contract, "method.trajectory.mode") == "context":
        found.append("context")
    summary = facts.paths or {}
    if texts(summary.get("lopsided")) or any(one.get("weak") is True for one in objects(summary.get("baselines"))):
        found.append("weak")
    return found


def _real(tree: JsonObject, key: str) -> Node:
    value = tree.get(key)
    return real(value, _DIGITS) if isinstance(value, str) else say("word.none")


def _tree(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _int(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
