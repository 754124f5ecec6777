"""Section 2: per clause, what was required, by which rule it was decided, with which risks, and what came out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonValue
from slaverify.report import figures
from slaverify.report.facts import Facts, Metric, at, integer, text, texts
from slaverify.report.words import (
    Node,
    code,
    fact,
    fact_table,
    foreign,
    heading,
    listing,
    paragraph,
    say,
    section,
    share,
)

RULES = frozenset({"guarded", "guarded_rejection", "simple", "two_point", "zero_observed"})
VERDICTS = frozenset(
    {"accurate", "incomplete", "misgrounded", "incorrect", "abstention", "phantom_citation", "fabrication", "none"}
)


def statement(facts: Facts) -> Node:
    """Return section 2."""
    blocks: list[JsonValue] = [heading("section.statement", id="statement")]
    blocks.append(paragraph("statement.overall", id="overall", style="lead", state=figures.state_word(facts.state)))
    blocks.append(paragraph(f"statement.combine.{facts.state}", id="combine", n=_binding(facts)))
    blocks.append(paragraph(f"statement.multiplicity.{_multiplicity(facts)}", id="multiplicity", n=_binding(facts)))
    for metric in facts.metrics:
        blocks.extend(_metric(facts, metric))
    blocks.append(paragraph("statement.assumptions", id="assumptions"))
    return section("statement", blocks)


def _binding(facts: Facts) -> int:
    return sum(1 for metric in facts.metrics if metric.binding)


def _multiplicity(facts: Facts) -> str:
    return "holm" if facts.agreed("verdict.multiplicity") == "holm" else "none"


def _metric(facts: Facts, metric: Metric) -> Iterator[Node]:
    yield heading("statement.metric", 3, id=f"statement-{metric.id}", metric=foreign(metric.name))
    yield fact_table(_rows(facts, metric), id=f"rule-{metric.id}")


def _rows(facts: Facts, metric: Metric) -> Iterator[Node]:
    entry = metric.result
    yield fact("requirement", figures.required(entry), id="requirement")
    clause = facts.agreed("contract.parent_agreement.clause")
    yield fact("clause", figures.text_or(clause, "absent.clause"), id="clause")
    yield fact("counted", _filter(metric.spec.get("count")))
    yield fact("among", say("filter.total", filter=_filter(metric.spec.get("among")), n=integer(entry, "n")))
    yield fact("rule", _rule(metric), id="decision-rule")
    yield fact("formula", _formula(metric), id="formula")
    yield fact("risks", _risks(metric), id="risks")
    yield fact("estimand", say(f"estimand.{_estimand(metric)}"), id="estimand")
    yield fact("found", _found(metric), id="found")
    yield fact("tails", _tails(metric), id="tails")
    yield fact(
        "state_reason",
        say("statement.state", state=figures.state_word(metric.state), reason=figures.why(metric)),
        id="state",
    )


def _filter(tree: JsonValue) -> Node:
    if not isinstance(tree, Mapping) or not tree:
        return say("filter.all")
    parts = [
        say("filter.part", field=_field(key), values=listing([_word(key, value) for value in _values(values)]))
        for key, values in tree.items()
    ]
    return listing(list(parts), "and")


def _values(values: JsonValue) -> list[str]:
    found = texts(values)
    if found:
        return found
    return [str(value) for value in values] if isinstance(values, list | tuple) and values else [str(values)]


def _field(key: str) -> Node:
    return say(f"field.{key}") if key in ("verdict", "stratum", "outcome") else code(key)


def _word(key: str, value: str) -> Node:
    if key == "verdict" and value in VERDICTS:
        return say(f"verdict.{value}")
    return code(value)


def _rule(metric: Metric) -> Node:
    rule = text(metric.result, "rule")
    key = rule if rule in RULES else "other"
    if metric.decision.get("pass_max_failures") is None and metric.decision.get("breach_min_failures") is None:
        return say("rule.by_tail", name=code(rule))
    return say(f"rule.{key}", name=code(rule), numbers=figures.numbers(metric.decision), n=integer(metric.result, "n"))


def _formula(metric: Metric) -> Node:
    return say("statement.formula", n=integer(metric.result, "n"), promised=_promised(metric))


def _promised(metric: Metric) -> Node:
    limit = figures.threshold(metric.result)
    return limit if metric.lower_is_better else say("statement.complement", limit=limit)


def _risks(metric: Metric) -> Node:
    entry = metric.result
    return say(
        "statement.risks",
        alpha_pass=share(text(entry, "alpha_pass"), "exact"),
        alpha_breach=share(text(entry, "alpha_breach"), "exact"),
        risk_pass=figures.risk(entry.get("risk_false_pass")),
        risk_breach=figures.risk(entry.get("risk_false_breach")),
    )


def _estimand(metric: Metric) -> str:
    return "bank" if metric.result.get("estimand") == "bank" else "population"


def _found(metric: Metric) -> Node:
    entry = metric.result
    if not figures.is_measured(entry):
        return figures.shown(metric)
    counts = {
        key: value if isinstance(value := entry.get(key), int) else 0
        for key in ("failures", "failures_vendor", "unresolved", "open")
    }
    return say("statement.found", observed=figures.observed(entry), **counts)


def _tails(metric: Metric) -> Node:
    entry = metric.result
    if not isinstance(at(entry, "p_pass"), str):
        return say("statement.no_tails")
    return say(
        "statement.tails",
        p_pass=figures.probability(entry.get("p_pass"), entry.get("alpha_pass")),
        p_breach=figures.probability(entry.get("p_breach"), entry.get("alpha_breach")),
        adjusted=figures.probability(entry.get("p_breach_adjusted"), entry.get("alpha_breach")),
    )
