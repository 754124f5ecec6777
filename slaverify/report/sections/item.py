"""Section 5: the engine that was tested, as pinned and as observed, and how its exchanges ended."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonValue
from slaverify.report import figures, runfacts
from slaverify.report.facts import Facts, at, objects, texts
from slaverify.report.sections.service import service
from slaverify.report.sections.signals import signals
from slaverify.report.words import (
    Node,
    bullets,
    code,
    column,
    day,
    fact,
    fact_table,
    foreign,
    heading,
    listing,
    paragraph,
    say,
    section,
    table,
)

OUTCOMES = frozenset(
    {
        "answered",
        "refused",
        "truncated",
        "empty",
        "malformed",
        "vendor_failure",
        "auditor_failure",
        "engine_mismatch",
        "unresolved",
        "not_sent",
    }
)
ATTRIBUTIONS = frozenset({"vendor", "auditor", "unresolved", "none"})


def item(facts: Facts) -> Node:
    """Return section 5."""
    return section(
        "item",
        [
            heading("section.item", id="item"),
            fact_table(_rows(facts), id="engine-facts"),
            heading("item.outcomes", 3),
            *_outcomes(facts),
            bullets(_remarks(facts)),
            *service(facts),
            *signals(facts),
        ],
    )


def _rows(facts: Facts) -> Iterator[Node]:
    yield fact("engine", figures.text_or(facts.agreed("engine.name"), "word.unnamed"), id="engine-name")
    yield fact("version_agreed", figures.code_or(facts.agreed("engine.version"), "word.unnamed"), id="version-agreed")
    yield fact("version_seen", runfacts.versions(facts), id="version-seen")
    yield fact("identity", _identity(facts), id="identity")
    yield fact("endpoint", figures.code_or(facts.agreed("endpoint.url"), "absent.agreed"), id="endpoint")
    yield fact("region", say("absent.region"))
    yield fact("purpose", figures.text_or(facts.agreed("scope.intended_purpose"), "absent.agreed"))
    yield fact("corpus", _corpus(facts))
    yield fact("condition", say("item.condition"), id="condition")
    yield fact("performed", runfacts.period(facts, exact=True))


def _identity(facts: Facts) -> Node:
    kinds = [str(entry.get("kind")) for entry in objects(facts.agreed("engine.attestation"))]
    if not kinds:
        return say("item.identity_none")
    return say("item.identity", proofs=listing([code(kind) for kind in kinds]))


def _corpus(facts: Facts) -> Node:
    corpus = facts.agreed("scope.corpus")
    name = at(corpus, "name")
    if not isinstance(name, str):
        return say("absent.corpus")
    date = at(corpus, "as_of")
    return say("item.corpus", name=foreign(name), date=day(date)) if isinstance(date, str) else foreign(name)


def _outcomes(facts: Facts) -> Iterator[Node]:
    if facts.outcomes is None:
        yield paragraph("absent.outcomes")
        return
    rows: list[list[JsonValue]] = []
    for outcome, whose, count in runfacts.final_outcomes(facts):
        rows.append(
            [
                say(f"outcome.{outcome}") if outcome in OUTCOMES else code(outcome),
                say(f"whose.{whose}") if whose in ATTRIBUTIONS else code(whose),
                count,
            ]
        )
    if rows:
        columns = [column("outcome"), column("whose", width=30), column("count", "right", 20)]
        yield table(say("item.outcome_table"), columns, rows, id="outcomes")
    else:
        yield paragraph("item.no_outcomes")


def _remarks(facts: Facts) -> Iterator[Node]:
    if facts.outcomes is not None:
        yield say("item.retries", n=runfacts.retries(facts))
    if facts.scores is not None:
        unsent = [line for line in facts.scores if line.get("run_outcome") == "not_sent"]
        yield say("item.not_sent", n=len(unsent))
        stopped = sum("vendor_stop" in texts(line.get("flags")) for line in unsent)
        if stopped:
            yield say("item.vendor_stop", n=stopped)
    yield say("item.tokens")
    yield say("item.only_this")
