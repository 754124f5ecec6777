"""Section 6, the judge: who it is, whether it stayed the same, and how well it agrees with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures
from slaverify.report.facts import Facts, at, objects
from slaverify.report.words import (
    Node,
    code,
    column,
    fact,
    fact_table,
    foreign,
    listing,
    paragraph,
    real,
    say,
    share,
    table,
)


def judge(facts: Facts) -> Iterator[Node]:
    """Yield the blocks of the judge: none, not asked, or panel, instrument and calibration."""
    if facts.agreed("judge") is None:
        yield paragraph("method.no_judge", id="judge")
        return
    panel = facts.panel
    if panel is None:
        yield paragraph("method.judge_not_asked", id="judge")
        return
    yield paragraph("method.judge_rule", id="judge")
    yield fact_table(_facts(facts, panel), id="judge-facts")
    yield _members(panel)
    yield _sentinels(panel)
    yield from _repeats(panel)
    yield from _without_one(facts)
    yield from _calibration(facts)


def hangs_on_one(facts: Facts) -> Node | None:
    """Return the sentence of page 1 where a state would be another one without one judge or family, or None."""
    names: list[JsonValue] = [code(str(row.get("name"))) for row in _rows_without(facts) if _words(row.get("changed"))]
    return say("summary.hangs_on_one", names=listing(names, "and")) if names else None


def _rows_without(facts: Facts) -> list[JsonObject]:
    limitation = facts.limitation("L01")
    return [] if limitation is None else list(objects(limitation.get("without_one")))


def _without_one(facts: Facts) -> Iterator[Node]:
    """Say of each judge and each family whether a state would be another one without it."""
    named = {metric.id: metric.name for metric in facts.metrics}
    rows: list[list[JsonValue]] = [
        [
            code(str(row.get("name"))),
            say(f"method.left_out_{row.get('kind')}"),
            listing([foreign(named.get(name, name)) for name in changed], "and")
            if (changed := _words(row.get("changed")))
            else say("method.none_changes"),
        ]
        for row in _rows_without(facts)
    ]
    if rows:
        yield table(
            say("method.without_one"),
            [column("left_out", width=30), column("left_out_how", width=24), column("other_state")],
            rows,
            id="without-one",
        )


def opinion_decides(facts: Facts) -> Node | None:
    """Return the sentence of page 1 where a judge that nobody measured has a part in a state, or None."""
    accepted = facts.agreed("judge.on_uncalibrated") == "declared_limitation"
    limitation = facts.limitation("L01")
    if not accepted or limitation is None or limitation.get("calibrated") is True:
        return None
    names: list[JsonValue] = [
        foreign(metric.name)
        for metric in facts.metrics
        if "judge_taken_as_truth" in _words(metric.result.get("assumptions"))
    ]
    return say("summary.opinion", metrics=listing(names, "and")) if names else None


def _words(value: JsonValue) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list | tuple) else []


def _facts(facts: Facts, panel: JsonObject) -> Iterator[Node]:
    yield fact("rubric", code(f"{at(panel, 'rubric.name')} {at(panel, 'rubric.digest')}"), id="rubric")
    yield fact(
        "aggregation",
        say("method.aggregation", rule=code(str(panel.get("aggregation"))), votes=_count(facts.agreed("judge.votes"))),
    )
    yield fact("parser", code(str(facts.agreed("judge.parser"))))
    yield fact("judge_digest", code(str(panel.get("judge_digest"))), id="judge-digest")
    yield fact(
        "calls",
        say(
            "method.calls",
            distinct=_at(panel, "calls.distinct"),
            attempts=_at(panel, "calls.attempts"),
            failed=_failed(panel),
        ),
    )
    yield fact(
        "differential",
        say(
            "method.differential",
            raw=_at(panel, "differential.raw"),
            raw_differ=_at(panel, "differential.raw_differ"),
            cut=_at(panel, "differential.cut"),
            cut_differ=_at(panel, "differential.cut_differ"),
        ),
    )
    yield fact(
        "counterfactual",
        say("method.of", x=_at(panel, "counterfactual.judge_insensitive"), n=_at(panel, "counterfactual.asked")),
    )
    tried: list[JsonValue] = [
        say("method.trivial", name=code(str(row.get("name"))), x=_count(row.get("good")), n=_count(row.get("answers")))
        for row in objects(panel.get("trivial"))
    ]
    if tried:
        yield fact("trivial", listing(tried))
    yield fact("shadow", say("method.of", x=_at(panel, "shadow.against_code"), n=_at(panel, "shadow.compared")))
    for row in objects(panel.get("agreement")):
        pair = " · ".join(_words(row.get("members")))
        yield fact(
            "agreement",
            say("method.agreement", members=code(pair), x=_count(row.get("equal")), n=_count(row.get("answers"))),
        )


def _members(panel: JsonObject) -> Node:
    rows: list[list[JsonValue]] = [
        [
            code(str(one.get("id"))),
            foreign(str(one.get("provider"))),
            code(f"{one.get('family')} · {one.get('snapshot')}"),
            say(
                "method.parameters",
                temperature=code(str(at(one, "parameters.temperature"))),
                top_p=code(str(at(one, "parameters.top_p"))),
            ),
        ]
        for one in objects(panel.get("members"))
    ]
    columns = [
        column("member", width=14),
        column("provider", width=26),
        column("model", width=36),
        column("parameters"),
    ]
    return table(say("method.panel"), columns, rows)


def _sentinels(panel: JsonObject) -> Node:
    rows: list[list[JsonValue]] = [
        [
            code(str(one.get("member"))),
            say("method.known", n=_count(one.get("sentinels")), wrong=_count(one.get("known_wrong"))),
            say(
                "method.three",
                before=_count(one.get("let_through_before")),
                during=_count(one.get("let_through_during")),
                after=_count(one.get("let_through_after")),
            ),
            say(
                "method.changes",
                during=_count(one.get("changes_during")),
                after=_count(one.get("changes_after")),
                most=_count(one.get("max_drift")),
            ),
            say("method.drifted" if one.get("drift") is not False else "method.steady"),
        ]
        for one in objects(panel.get("sentinels"))
    ]
    columns = [
        column("member", width=14),
        column("sentinels", width=24),
        column("let_through", width=24),
        column("changes", width=24),
        column("steady"),
    ]
    return table(say("method.sentinels"), columns, rows)


def _repeats(panel: JsonObject) -> Iterator[Node]:
    rows: list[list[JsonValue]] = []
    for one in objects(panel.get("repeats")):
        upper, icc = one.get("upper"), one.get("icc")
        rows.append(
            [
                say("method.whole_rubric") if one.get("criterion") is None else code(str(one.get("criterion"))),
                say("method.of", x=_count(one.get("flipped")), n=_count(one.get("complete"))),
                share(upper, "up") if isinstance(upper, str) else say("figure.none"),
                share(str(one.get("cap")), "exact"),
                real(icc, 2) if isinstance(icc, str) else say("figure.none"),
            ]
        )
    if rows:
        columns = [column("criterion", width=30), column("flips"), column("upper"), column("cap"), column("icc")]
        yield table(say("method.repeats"), columns, rows)


def _calibration(facts: Facts) -> Iterator[Node]:
    record = facts.calibration
    if record is None:
        yield paragraph("method.uncalibrated", id="calibration")
        return
    rows: list[list[JsonValue]] = []
    for one in objects(record.get("subjects")):
        gate = one.get("gate")
        met = isinstance(gate, Mapping) and gate.get("met") is True
        rows.append(
            [
                say("method.whole_rubric") if one.get("subject") is None else code(str(one.get("subject"))),
                say("method.of", x=_count(one.get("labels")), n=_count(one.get("judged"))),
                _figure(one, "sensitivity"),
                _figure(one, "specificity"),
                _real(one, "kappa"),
                _real(one, "ac1"),
                say("method.gate_met") if met else figures.reason(str(at(one, "gate.reason"))),
            ]
        )
    columns = [
        column("criterion", width=18),
        column("labels"),
        column("sensitivity"),
        column("specificity"),
        column("kappa"),
        column("ac1"),
        column("gate"),
    ]
    yield table(say("method.calibration"), columns, rows)
    agreed = facts.agreed("judge.calibration.min_kappa")
    if isinstance(agreed, str):
        yield paragraph("method.min_kappa", id="min-kappa", least=real(agreed, 2))
    yield _matrix(record)
    yield paragraph(
        "method.detector", recall=_recall(at(record, "detector.recall.value")), labels=_at(record, "detector.labels")
    )
    yield paragraph(
        "method.people",
        id="calibration",
        rows=_at(record, "people.rows"),
        differences=_at(record, "people.differences"),
        adjudicated=_at(record, "people.adjudicated"),
    )


def _matrix(record: JsonObject) -> Node:
    """Judge by people in counts, what the judge alone would say, what follows once its error is measured."""
    rows: list[list[JsonValue]] = [
        [
            say("method.whole_rubric") if one.get("subject") is None else code(str(one.get("subject"))),
            *[say("method.count", n=_at(one, f"matrix.counts.{name}")) for name in _QUADRANTS],
            _share(one.get("uncorrected")),
            _corrected(one),
            real(worth, 0) if isinstance(worth := one.get("equivalent_labels"), str) else say("figure.none"),
        ]
        for one in objects(record.get("subjects"))
    ]
    names = ("criterion", "yes_yes", "yes_no", "no_yes", "no_no", "judge_alone", "corrected", "worth")
    return table(say("method.matrix"), [column(name) for name in names], rows)


_QUADRANTS = ("positive_positive", "positive_negative", "negative_positive", "negative_negative")


def _corrected(one: JsonObject) -> Node:
    value, low, high = (at(one, f"corrected.{key}") for key in ("value", "low", "high"))
    if not isinstance(value, str) or not isinstance(low, str) or not isinstance(high, str):
        return say("figure.none")
    return say("method.with_limits", value=_share(value), low=_limit(low, "down"), high=_limit(high, "up"))


def _recall(value: JsonValue) -> Node:
    if isinstance(value, str) and Decimal(value) == 1:
        return say("figure.no_error_seen")
    return _share(value)


def _share(value: JsonValue) -> Node:
    """Say a share; one of which nothing, or everything, was seen is a plain 0 or 1, no percentage."""
    return _limit(value, "near") if isinstance(value, str) else say("figure.none")


def _figure(tree: JsonObject, name: str) -> Node:
    value, low, high = (at(tree, f"{name}.{key}") for key in ("value", "low", "high"))
    if not isinstance(value, str) or not isinstance(low, str) or not isinstance(high, str):
        return say("figure.none")
    # What the figure is a share of: positives by people for the sensitivity, the others for the specificity.
    right, wrong = _PARTS[name]
    seen, of = _at(tree, f"matrix.counts.{right}"), _at(tree, f"matrix.counts.{wrong}")
    if Decimal(value) >= 1:
        return say("method.all_of", x=seen, n=seen + of, low=_limit(low, "down"))
    if Decimal(value) <= 0:
        return say("method.none_of", n=seen + of, high=_limit(high, "up"))
    return say("method.with_limits", value=share(value), low=_limit(low, "down"), high=_limit(high, "up"))


_PARTS = {
    "sensitivity": ("positive_positive", "negative_positive"),
    "specificity": ("negative_negative", "positive_negative"),
}


def _limit(value: str, rounding: str) -> Node:
    return share(value, rounding) if 0 < Decimal(value) < 1 else real(value, 0)


def _real(tree: JsonObject, name: str) -> Node:
    value, low, high = (at(tree, f"{name}.{key}") for key in ("value", "low", "high"))
    if not isinstance(value, str) or not isinstance(low, str) or not isinstance(high, str):
        return say("figure.none")
    return say("method.with_limits", value=real(value, 2), low=real(low, 2), high=real(high, 2))


def _failed(panel: JsonObject) -> int:
    failures = at(panel, "calls.failures")
    return sum(_count(value) for value in failures.values()) if isinstance(failures, Mapping) else 0


def _at(tree: JsonObject, path: str) -> int:
    return _count(at(tree, path))


def _count(value: JsonValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
