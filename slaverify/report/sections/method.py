"""Section 6: the rules, by name and version; the judge, or that there was none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonValue
from slaverify.report import figures
from slaverify.report.facts import Facts, text
from slaverify.report.sections.judge import judge
from slaverify.report.words import (
    Node,
    code,
    column,
    fact,
    fact_table,
    heading,
    listing,
    paragraph,
    say,
    section,
    table,
)


def method(facts: Facts) -> Node:
    """Return section 6."""
    return section(
        "method",
        [
            heading("section.method", id="method"),
            paragraph("method.order", id="method-order"),
            fact_table(_rows(facts), id="method-facts"),
            *_rules(facts),
            heading("method.judge", 3),
            *judge(facts),
        ],
    )


def _rows(facts: Facts) -> Iterator[Node]:
    for label, path in (
        ("profile", "method.profile"),
        ("normaliser", "method.normaliser"),
        ("abstention", "method.abstention"),
        ("citations", "method.citation_grammar"),
        ("verdict_table", "method.verdict_table"),
    ):
        yield fact(label, figures.code_or(facts.agreed(path), "absent.not_used"), id=label)
    per_item = facts.agreed("repetitions.per_item")
    yield fact("repetitions", say("method.repetitions", n=per_item if isinstance(per_item, int) else 1))
    yield fact("method_digest", code(text(facts.manifest, "method_digest")), id="method-digest")
    yield fact("conditions", _conditions(facts), id="conditions")


def _conditions(facts: Facts) -> Node:
    return say(
        "method.conditions",
        attempts=_count(facts, "endpoint.call.attempts"),
        timeout=figures.text_or(facts.agreed("endpoint.call.total_timeout_s"), "absent.agreed"),
        concurrency=_count(facts, "endpoint.call.concurrency"),
    )


def _count(facts: Facts, path: str) -> JsonValue:
    value = facts.agreed(path)
    return value if isinstance(value, int) and not isinstance(value, bool) else say("absent.agreed")


def _rules(facts: Facts) -> Iterator[Node]:
    rules = facts.agreed("method.rules")
    if not isinstance(rules, Mapping) or not rules:
        yield paragraph("method.rules_by_profile")
        return
    rows: list[list[JsonValue]] = []
    for stratum, names in rules.items():
        listed = [code(str(name)) for name in names] if isinstance(names, list | tuple) else [code(str(names))]
        rows.append([code(stratum), listing(listed) if listed else say("absent.not_used")])
    yield table(say("method.rule_table"), [column("stratum", width=30), column("rules")], rows)
