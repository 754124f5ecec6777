"""A report of its own for a change check: two versions on the same items. Never a statement of conformity.

Page 1 and sections 2 and 3 take the place of those of an audit: nothing here is required by a threshold. Everything
is read from `statistics/comparison.json`, which the verifier derives again.
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, at, integer, objects, text
from slaverify.report.sections.statement import VERDICTS
from slaverify.report.sections.summary import check_block, keys_table, parties_table, report_id, who
from slaverify.report.words import (
    Node,
    bullets,
    code,
    column,
    day,
    foreign,
    heading,
    paragraph,
    real,
    say,
    section,
    share,
    table,
)

_OUTCOMES = frozenset({"accepted", "reverted", "not_shown"})


def change_summary(facts: Facts) -> Node:
    """Return page 1."""
    state = _state(facts)
    return section(
        "summary",
        [
            {"kind": "title", "id": "title", "text": say("title.change"), "number": code(report_id(facts))},
            paragraph("summary.date", id="date", day=day(text(facts.manifest, "closed_at"))),
            who(facts),
            keys_table(facts),
            {
                "kind": "band",
                "id": "band",
                "state": facts.state,
                "text": say(f"change.state.{state}"),
                "sentence": say(f"change.sentence.{state}", **_args(facts)),
            },
            _table(facts),
            bullets([say(f"change.means.{n}", **_args(facts)) for n in (1, 2)], id="means"),
            bullets([say(f"change.means_not.{n}") for n in (1, 2, 3)], id="means_not"),
            bullets([say(f"change.next.{state}")], id="next"),
            parties_table(facts),
            check_block(facts),
        ],
    )


def change_statement() -> Node:
    """Return section 2: there is none."""
    blocks = [heading("section.statement", id="statement"), paragraph("change.no_statement", id="overall")]
    return section("statement", blocks)


def change_results(facts: Facts) -> Node:
    """Return section 3: the test of each metric, and which verdict became which."""
    blocks: list[JsonValue] = [heading("section.results", id="results"), paragraph("change.lead", id="change-lead")]
    for metric in _metrics(facts):
        blocks.extend(_metric(facts, metric))
    return section("results", blocks)


def _comparison(facts: Facts) -> JsonObject:
    return facts.comparison or {}


def _metrics(facts: Facts) -> list[JsonObject]:
    return objects(_comparison(facts).get("metrics"))


def _state(facts: Facts) -> str:
    """Return `accepted` only where the comparison says so of a run without faults."""
    if facts.state == "INVALID_RUN":
        return "invalid"
    return "accepted" if _comparison(facts).get("state") == "accepted" else "not_accepted"


def _args(facts: Facts) -> dict[str, JsonValue]:
    new, agreed = facts.agreed("endpoint.candidate.version"), facts.agreed("schedule.change_check")
    return {
        "new": code(str(new)),
        "old": code(str(facts.agreed("engine.version"))),
        "loss": share(str(at(agreed, "max_loss")), "exact"),
        "alpha": share(str(at(agreed, "alpha")), "exact"),
    }


def _name(facts: Facts, metric: JsonObject) -> Node:
    found = next((one for one in facts.metrics if one.id == metric.get("id")), None)
    return code(text(metric, "id")) if found is None else foreign(found.name)


def _table(facts: Facts) -> Node:
    rows = [
        [
            _name(facts, one),
            say("figure.bare", x=integer(one, "both_pass") + integer(one, "b"), total=integer(one, "n")),
            say("figure.bare", x=integer(one, "both_pass") + integer(one, "c"), total=integer(one, "n")),
            say("figure.count", value=integer(one, "b")),
            say("figure.count", value=integer(one, "c")),
            _outcome(one),
        ]
        for one in _metrics(facts)
    ]
    columns = [
        column("metric", width=24),
        column("old_version", width=16),
        column("new_version", width=16),
        column("lost", width=13),
        column("gained", width=13),
        column("change", width=18),
    ]
    return table(say("change.table"), columns, rows, id="comparison")


def _outcome(metric: JsonObject) -> Node:
    word = at(metric, "change_check.state")
    return say(f"change.metric.{word}" if word in _OUTCOMES else "change.metric.none")


def _metric(facts: Facts, metric: JsonObject) -> Iterator[Node]:
    yield heading("change.of_metric", 3, id=f"change-{text(metric, 'id')}", metric=_name(facts, metric))
    z = at(metric, "change_check.z")
    yield paragraph(
        "change.pairs",
        id=f"pairs-{text(metric, 'id')}",
        pairs=integer(metric, "n"),
        unknown=integer(metric, "unknown"),
        p=real(text(metric, "mcnemar_midp"), 3),
    )
    if isinstance(z, str):
        yield paragraph("change.test", id=f"test-{text(metric, 'id')}", z=real(z, 3), outcome=_outcome(metric))
    rows = [
        [_verdict(one.get("from")), _verdict(one.get("to")), say("figure.count", value=integer(one, "n"))]
        for one in objects(metric.get("transitions"))
    ]
    columns = [column("old_version", width=40), column("new_version", width=40), column("count", width=20)]
    yield table(say("change.transitions"), columns, rows, id=f"transitions-{text(metric, 'id')}")


def _verdict(word: JsonValue) -> Node:
    return say(f"verdict.{word}") if word in VERDICTS else code(str(word))
