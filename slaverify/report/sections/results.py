"""Section 3: every count, rate and interval, per metric and stratum; what would have to change; what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures, runfacts
from slaverify.report.charts_data import bars, panel
from slaverify.report.facts import Facts, Metric, at, integer, objects, text
from slaverify.report.sections.citations import citations
from slaverify.report.sections.paths import paths
from slaverify.report.sections.statement import VERDICTS
from slaverify.report.words import (
    Node,
    bullets,
    chart,
    code,
    column,
    foreign,
    heading,
    paragraph,
    real,
    say,
    section,
    table,
)

RULE_REASONS = frozenset(
    {
        "equal",
        "within_tolerance",
        "null_token",
        "abstained",
        "api_refusal",
        "other_value",
        "other_unit",
        "other_day_kind",
        "other_suffix",
        "other_norm",
        "other_type",
        "sign",
        "scale",
        "negated",
        "absent",
        "missing_element",
        "extra_element",
        "other_order",
        "multiple_answers",
        "contradiction",
        "invented_value",
        "answered_out_of_corpus",
        "answer_malformed",
        "ambiguous_separator",
        "impossible_date",
        "relative_date",
        "unit_missing",
        "qualified",
        "unresolved_candidates",
        "asserted_inside",
        "paraphrase",
        "no_value",
        "no_visible_text",
        "reasoning_not_closed",
        "overlong",
        "wrong_language",
        "class_undetermined",
        "cut_body",
        "no_rule",
        "other_words",
        "hit_by_range",
        "less_precise",
        "norm_not_said",
        "expected_cited",
        "other_cited",
        "some_cited",
        "nothing_cited",
        "no_citation_asked",
        "too_many_cited",
        "phantom_citation",
        "fabrication",
        "answer_schema",
        "causal_ungrounded",
        "evidence_not_cited",
        "horizon",
        "no_answer",
        "no_path",
        "required_never_fetched",
        "right_answer",
        "search_incomplete",
        "valid_state",
        "violation",
        "violation_free",
        "visibility_actor",
        "visibility_subsystem",
        "wrong_answer",
    }
)
"""Reasons of rules that the catalogues put in words; others are printed as their code."""


DISPERSION_REASONS = frozenset({"no_variation", "too_few_items", "not_counted"})


def results(facts: Facts) -> Node:
    """Return section 3."""
    blocks: list[JsonValue] = [heading("section.results", id="results"), *_charts(facts), _table(facts)]
    blocks.extend(_notes(facts))
    blocks.append(heading("results.tipping", 3))
    blocks.append(bullets([_tipping(metric) for metric in facts.metrics], id="tipping"))
    blocks.extend(_funnel(facts))
    blocks.extend(_verdicts(facts))
    blocks.extend(citations(facts))
    blocks.extend(_wrong(facts))
    blocks.extend(paths(facts))
    blocks.append(heading("results.apart", 3))
    blocks.append(bullets([_abstentions(facts), _confidence(facts), _dispersion(facts), *_again(facts)]))
    blocks.extend(_references(facts))
    return section("results", blocks)


def _strata(facts: Facts, metric: Metric) -> list[JsonObject]:
    if not figures.is_measured(metric.result):
        return []
    return [entry for entry in facts.strata if entry.get("id") == metric.id]


def _charts(facts: Facts) -> Iterator[Node]:
    panels: list[JsonValue] = []
    alts: list[JsonValue] = []
    for metric in facts.metrics:
        if not figures.is_measured(metric.result):
            continue
        inside = [(entry, code(str(entry.get("stratum")))) for entry in _strata(facts, metric)]
        panels.append(panel(metric.result, foreign(metric.name), inside if len(inside) > 1 else ()))
        alts.append(
            say(
                "chart.forest_alt",
                metric=foreign(metric.name),
                observed=figures.observed(metric.result),
                interval=figures.interval(metric.result),
                required=figures.required(metric.result),
            )
        )
    if panels:
        yield chart("interval", {"list": alts, "last": "comma"}, {"panels": panels}, id="forest")
    else:
        yield paragraph("summary.no_chart")


def _table(facts: Facts) -> Node:
    rows: list[list[JsonValue]] = []
    marked: list[int] = []
    for metric in facts.metrics:
        marked.append(len(rows))
        state = figures.state_word(metric.state)
        seen = figures.observed(metric.result) if figures.is_measured(metric.result) else say("figure.unmeasured")
        rows.append([foreign(metric.name), seen, *_row(metric.result), state])
        for entry in _strata(facts, metric):
            name = say("results.stratum", stratum=code(str(entry.get("stratum"))))
            rows.append([name, figures.observed(entry), *_row(entry), say("results.descriptive")])
    columns = [
        column("metric_stratum", width=18),
        column("observed", width=18),
        column("exact", width=18),
        column("wilson", width=18),
        column("limit", width=10),
        column("state", width=18),
    ]
    return table(say("results.table"), columns, rows, marked=marked, id="measurements")


def _row(entry: JsonObject) -> list[JsonValue]:
    return [
        figures.interval(entry),
        figures.interval(entry, "wilson"),
        figures.threshold(entry),
    ]


def _notes(facts: Facts) -> Iterator[Node]:
    yield paragraph("results.which_interval", style="note")
    for metric in facts.metrics:
        note = figures.zero_note(metric.result, foreign(metric.name))
        if note is not None:
            yield {"kind": "paragraph", "id": "", "style": "note", "text": note}
        if _disagree(metric.result):
            yield paragraph("results.intervals_disagree", style="note", metric=foreign(metric.name))
        if not figures.is_measured(metric.result):
            yield paragraph("results.unmeasured", style="note", metric=foreign(metric.name), why=figures.shown(metric))
        producer = say("results.producer", metric=foreign(metric.name), **_producer(facts, metric))
        yield {"kind": "paragraph", "id": "", "style": "note", "text": producer}


def _producer(facts: Facts, metric: Metric) -> dict[str, JsonValue]:
    entry = metric.result
    return {
        "version": figures.code_or(facts.agreed("engine.version"), "word.unnamed"),
        "profile": figures.code_or(facts.agreed("method.profile"), "word.unnamed"),
        "observations": integer(entry, "observations"),
        "subjects": integer(entry, "distinct_subjects"),
        "provenance": say(f"provenance.{text(entry, 'provenance')}"),
        "limit": figures.threshold(entry),
    }


def _disagree(entry: JsonObject) -> bool:
    """Tell whether the exact and the Wilson interval fall on different sides of the threshold."""
    if not figures.is_measured(entry):
        return False
    limit = Decimal(text(entry, "threshold"))
    for end in ("low", "high"):
        pair = at(entry, f"exact.{end}"), at(entry, f"wilson.{end}")
        if all(isinstance(value, str) for value in pair) and len({Decimal(str(value)) > limit for value in pair}) > 1:
            return True
    return False


def _tipping(metric: Metric) -> Node:
    tipping = metric.result.get("tipping")
    held: JsonObject = tipping if isinstance(tipping, Mapping) else {}
    change, to_pass, to_breach = (held.get(key) for key in ("to_change", "to_pass", "to_breach"))
    name = foreign(metric.name)
    if change is None and to_pass is None and to_breach is None:
        return say("tipping.none", metric=name)
    return say(
        "tipping.line",
        metric=name,
        change=say("tipping.change", n=change) if isinstance(change, int) else say("tipping.no_change"),
        passing=_reached("pass", to_pass),
        breaching=_reached("breach", to_breach),
    )


def _reached(state: str, more: JsonValue) -> Node:
    """Say how many verdicts lie between the metric and a state: 0 none, null no number of them."""
    if not isinstance(more, int):
        return say(f"tipping.{state}_never")
    return say(f"tipping.to_{state}", n=more) if more else say(f"tipping.{state}_now")


def _funnel(facts: Facts) -> Iterator[Node]:
    yield heading("results.funnel", 3)
    if facts.scores is None:
        yield paragraph("absent.scores")
        return
    scores = facts.scores
    steps: list[tuple[JsonValue, int]] = [
        (say("funnel.planned"), len(scores)),
        (say("funnel.sent"), sum(1 for line in scores if line.get("run_outcome") != "not_sent")),
        (say("funnel.answered"), sum(1 for line in scores if line.get("run_outcome") == "answered")),
        (say("funnel.scored"), sum(1 for line in scores if line.get("verdict") is not None)),
    ]
    counts: dict[str, JsonValue] = {
        name: step[1] for name, step in zip(("planned", "sent", "answered", "scored"), steps, strict=True)
    }
    yield chart("bars", say("funnel.alt", **counts), bars(steps), id="funnel")
    yield table(say("funnel.table"), [column("step"), column("count", "right", 20)], [[label, n] for label, n in steps])


def _verdicts(facts: Facts) -> Iterator[Node]:
    yield heading("results.verdicts", 3)
    if facts.scores is None:
        yield paragraph("absent.scores")
        return
    strata = sorted({text(line, "stratum") for line in facts.scores})
    counts = Counter((str(line.get("verdict") or "none"), text(line, "stratum")) for line in facts.scores)
    totals = runfacts.tally(facts.scores, "verdict")
    rows: list[list[JsonValue]] = [
        [_verdict(verdict), *(counts[verdict, stratum] for stratum in strata), total] for verdict, total in totals
    ]
    shown: list[tuple[JsonValue, int]] = [(_verdict(verdict), total) for verdict, total in totals]
    parts = [say("chart.bar_part", label=label, count=total) for label, total in shown]
    yield chart("bars", {"list": list(parts), "last": "comma"}, bars(shown), id="verdicts")
    heads: list[JsonValue] = [column("verdict")]
    heads += [{"text": code(stratum), "align": "right", "width": None} for stratum in strata]
    yield table(say("results.verdict_table"), [*heads, column("total", "right")], rows)


def _verdict(word: str) -> Node:
    return say(f"verdict.{word}") if word in VERDICTS else code(word)


def _wrong(facts: Facts) -> Iterator[Node]:
    yield heading("results.wrong", 3)
    found = False
    for metric in facts.metrics:
        reasons = metric.result.get("by_reason")
        listed: JsonObject = reasons if isinstance(reasons, Mapping) else {}
        seen = {word: count for word, count in listed.items() if isinstance(count, int) and count > 0}
        if not seen:
            continue
        found = True
        rows: list[list[JsonValue]] = [
            [say(f"why.{word}") if word in RULE_REASONS else code(word), count]
            for word, count in sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        caption = say("results.wrong_table", metric=foreign(metric.name))
        yield table(caption, [column("reason"), column("count", "right", 20)], rows)
    if not found:
        yield paragraph("results.no_wrong")


def _references(facts: Facts) -> Iterator[Node]:
    """Yield the published figures of other corpora that the contract lists: apart, and never compared."""
    listed = objects(facts.agreed("report.references"))
    if not listed:
        return
    yield heading("results.references", 3)
    yield paragraph("results.references_note", style="note")
    yield bullets(
        [
            say(
                "results.reference",
                name=figures.text_or(entry.get("name"), "word.unnamed"),
                figure=figures.text_or(entry.get("figure"), "word.none"),
                source=figures.text_or(entry.get("source"), "word.none"),
                date=figures.text_or(entry.get("as_of"), "absent.period"),
            )
            for entry in listed
        ]
    )


def _confidence(facts: Facts) -> Node:
    """Say what became of the confidence that an engine declares: kept with the answers, which no public page shows."""
    asked = facts.agreed("endpoint.response.confidence") is not None
    return say("results.confidence_kept" if asked else "results.confidence_absent")


def _dispersion(facts: Facts) -> Node:
    times = facts.agreed("repetitions.per_item")
    if isinstance(times, int) and times > 1:
        return say("results.dispersion_seen", n=times)
    if facts.dispersion is not None:
        return say("dispersion.once")
    return say("results.dispersion_absent")


def _again(facts: Facts) -> Iterator[Node]:
    """Say how much the answers to what was asked again varied: nothing of it is counted."""
    found = facts.dispersion
    if found is None:
        return
    yield say("dispersion.asked", items=integer(found, "items"), repeats=integer(found, "repeats"))
    entries = {text(entry, "id"): entry for entry in objects(found.get("metrics"))}
    for metric in facts.metrics:
        entry = entries.get(metric.id)
        if entry is None:
            continue
        reason = str(entry.get("reason"))
        if reason in DISPERSION_REASONS:
            yield say(f"dispersion.{reason}", metric=foreign(metric.name))
        else:
            ends: dict[str, JsonValue] = {name: real(text(entry, name), 2) for name in ("icc", "low", "high")}
            n, undecided = integer(entry, "items"), integer(entry, "undecided")
            yield say("dispersion.metric", metric=foreign(metric.name), items=n, undecided=undecided, **ends)


def _abstentions(facts: Facts) -> Node:
    if facts.scores is None:
        return say("absent.scores")
    seen = Counter(str(line.get("abstention")) for line in facts.scores)
    return say("results.abstentions", necessary=seen["necessary"], unnecessary=seen["unnecessary"])
