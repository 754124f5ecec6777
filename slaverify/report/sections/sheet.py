"""Section 4: the technical sheet, in the order of the AAPOR disclosure elements (unverified paraphrase)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonValue
from slaverify.custody import SECOND_STAGE
from slaverify.report import figures, runfacts
from slaverify.report.facts import Facts
from slaverify.report.words import (
    Node,
    code,
    day,
    fact,
    fact_table,
    foreign,
    heading,
    listing,
    say,
    section,
    span,
)


def sheet(facts: Facts) -> Node:
    """Return section 4."""
    return section("sheet", [heading("section.sheet", id="sheet"), fact_table(_rows(facts), id="technical")])


def _rows(facts: Facts) -> Iterator[Node]:
    yield fact("payer", figures.payer(facts.agreed("parties.independence.payer")), id="payer")
    yield fact("customer", _party(facts, "buyer"), id="customer")
    yield fact("laboratory", _party(facts, "auditor"), id="laboratory")
    yield fact("location", say("sheet.location"), id="location")
    yield fact("author", _author(facts), id="author")
    yield fact("interests", figures.text_or(facts.agreed("parties.independence.interests"), "absent.interests"))
    yield fact("instrument", say("sheet.instrument", profile=_code(facts, "method.profile"), digest=_method(facts)))
    yield fact("population", _population(facts), id="population")
    yield fact("sampling", _sampling(facts), id="sampling")
    yield from _stages(facts)
    yield fact("drawn", _drawn(facts), id="drawn")
    yield fact("mode", say("sheet.mode", adapter=_code(facts, "endpoint.adapter"), url=_code(facts, "endpoint.url")))
    yield fact("performed", runfacts.period(facts, exact=True), id="performed")
    yield fact("received", _received(facts), id="received")
    yield fact("issued", say("sheet.issued", day=day(str(facts.manifest.get("closed_at")))), id="issued")
    yield fact("precision", _precision(facts), id="precision")
    yield fact("weights", _weights(facts))
    yield fact("processing", _processing(facts))
    yield fact("excluded", say("sheet.excluded"), id="excluded")
    yield fact("external", say("sheet.external"), id="external")
    yield fact("next_audit", _cadence(facts))
    yield fact("limits", say("sheet.limits"))


def _author(facts: Facts) -> Node:
    """Say who wrote the questions: the contract's author, else the one that the sealed bank names."""
    if facts.agreed("parties.author.name") is None and facts.bank is not None:
        return figures.text_or(facts.bank.get("author"), "party.none")
    return figures.organisation(facts, "author")


def _party(facts: Facts, role: str) -> Node:
    contact = figures.text_or(facts.agreed(f"parties.{role}.contact"), "absent.contact")
    return say("sheet.party", name=figures.organisation(facts, role), contact=contact)


def _code(facts: Facts, path: str) -> Node:
    return figures.code_or(facts.agreed(path), "absent.agreed")


def _method(facts: Facts) -> Node:
    return code(str(facts.manifest.get("method_digest")))


def _population(facts: Facts) -> Node:
    frame = facts.agreed("evaluation_set.frame")
    if not isinstance(frame, Mapping):
        return say("absent.frame")
    source = str(frame.get("source"))
    known = source in ("real_traffic", "written", "generated")
    return say(
        "sheet.population",
        population=figures.text_or(frame.get("population"), "absent.agreed"),
        source=say(f"source.{source}") if known else foreign(source),
        period=figures.text_or(frame.get("period"), "absent.period"),
        selection=figures.text_or(frame.get("selection"), "absent.selection"),
    )


def _sampling(facts: Facts) -> Node:
    if facts.draw is None:
        return say("absent.draw")
    per_stratum = facts.draw.get("n_per_stratum")
    parts: list[JsonValue] = []
    if isinstance(per_stratum, Mapping):
        parts = [
            say("sheet.stratum", stratum=code(name), count=n) for name, n in per_stratum.items() if isinstance(n, int)
        ]
    method = str(facts.draw.get("method"))
    known = method in ("full", "seeded", "commit_reveal")
    return say(
        "sheet.sampling",
        method=say(f"sampling.{method}") if known else code(method),
        strata=listing(parts) if parts else say("absent.agreed"),
        seed=code(str(facts.draw.get("seed"))),
    )


def _stages(facts: Facts) -> Iterator[Node]:
    """Say whether the second stage was sent, where the contract agrees on one."""
    later = None if facts.draw is None else facts.draw.get("extension")
    if not isinstance(later, Mapping):
        return
    n = sum(len(ids) for ids in later.values() if isinstance(ids, list | tuple))
    run = facts.manifest.get("run_number")
    opened = any(
        runfacts.data(entry, "reason") == SECOND_STAGE and runfacts.data(entry, "run") == run
        for entry in runfacts.entries(facts, "run_resumed")
    )
    yield fact("stages", say("sheet.stage_sent" if opened else "sheet.stage_kept", n=n), id="stages")


def _drawn(facts: Facts) -> Node:
    drawn = runfacts.entries(facts, "draw")
    if not drawn:
        return say("absent.delivery")
    return say("sheet.received", day=day(str(drawn[-1].get("time"))), seq=runfacts.seq(drawn[-1]))


def _received(facts: Facts) -> Node:
    for entry in runfacts.entries(facts, "delivery"):
        if runfacts.data(entry, "part") == "query":
            return say("sheet.received", day=day(str(entry.get("time"))), seq=runfacts.seq(entry))
    return say("absent.delivery")


def _precision(facts: Facts) -> Node:
    parts: list[JsonValue] = [
        say("sheet.precision", metric=foreign(metric.name), interval=figures.interval(metric.result))
        for metric in facts.metrics
        if figures.is_measured(metric.result)
    ]
    return listing(parts) if parts else say("figure.no_interval")


def _weights(facts: Facts) -> Node:
    return say("sheet.weighted") if facts.agreed("evaluation_set.weights") else say("sheet.unweighted")


def _processing(facts: Facts) -> Node:
    return say(
        "sheet.processing",
        normaliser=_code(facts, "method.normaliser"),
        table=_code(facts, "method.verdict_table"),
    )


def _cadence(facts: Facts) -> Node:
    cadence = facts.agreed("schedule.cadence")
    return say("next.cadence", every=span(cadence)) if isinstance(cadence, str) else say("next.no_cadence")
