"""Page 1: the verdict and everything that a reader needs who reads nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures, runfacts
from slaverify.report.charts_data import panel
from slaverify.report.facts import Facts, Metric, at, integer, text
from slaverify.report.sections.judge import hangs_on_one, opinion_decides
from slaverify.report.sections.next_steps import next_steps
from slaverify.report.words import (
    Node,
    bullets,
    chart,
    code,
    column,
    day,
    fact,
    fact_table,
    foreign,
    paragraph,
    say,
    section,
    share,
    table,
)

COMMAND = {
    "es": "slaverify verify informe.pdf --contract contrato.yaml",
    "en": "slaverify verify report.pdf --contract contract.yaml",
}
MOST_ROWS = 4
"""Binding metrics whose row and interval fit on page 1; the others follow in section 3."""


def summary(facts: Facts) -> Node:
    """Return page 1."""
    shown = _shown(facts)
    return section(
        "summary",
        [
            {"kind": "title", "id": "title", "text": say(_title(facts)), "number": code(report_id(facts))},
            paragraph("summary.date", id="date", day=day(text(facts.manifest, "closed_at"))),
            *_amends(facts),
            who(facts),
            keys_table(facts),
            _band(facts),
            *_opinion(facts),
            _table(facts, shown),
            *_chart(shown),
            bullets([say(f"means.{facts.state}.{n}", **_args(facts)) for n in (1, 2, 3)], id="means"),
            bullets([say(f"means_not.{facts.state}.{n}", **_args(facts)) for n in (1, 2, 3)], id="means_not"),
            bullets(next_steps(facts), id="next"),
            parties_table(facts),
            check_block(facts),
        ],
    )


def _amends(facts: Facts) -> Iterator[Node]:
    """Say on page 1 which report this one replaces, and why."""
    if facts.amendment is not None:
        yield paragraph(
            "summary.amends",
            id="amends",
            report=code(text(facts.amendment, "report_id")),
            digest=code(text(facts.amendment, "signed_digest")[:16]),
            reason=foreign(text(facts.amendment, "reason")),
        )


def _opinion(facts: Facts) -> Iterator[Node]:
    """Say beside the verdict that it rests on a judge whose agreement nobody measured, or on one judge of several."""
    for id_, said in (("opinion", opinion_decides(facts)), ("hangs-on-one", hangs_on_one(facts))):
        if said is not None:
            yield {"kind": "paragraph", "id": id_, "text": said, "style": ""}


def _title(facts: Facts) -> str:
    """Return the key of the title: a pilot has no verdict and must not look as if it had."""
    return "title.pilot" if facts.agreed("contract.purpose") == "pilot" else "title.report"


def report_id(facts: Facts) -> str:
    """Return the number of the report: that of its bundle, one per run, and `-A<k>` for an amendment."""
    number = text(facts.manifest, "bundle_id")
    return number if facts.amendment is None else f"{number}-A{integer(facts.amendment, 'number')}"


def short_digest(facts: Facts) -> str:
    """Return the first 16 hex digits of the bundle digest in groups of four."""
    digits = facts.bundle_digest.removeprefix("sha256:")[:16]
    return " ".join(digits[start : start + 4] for start in range(0, 16, 4))


def payload(facts: Facts) -> str:
    """Return the text of the QR mark: no address, so that nobody is led anywhere."""
    return f"slaverify:{report_id(facts)}:{facts.bundle_digest}"


def sentence(facts: Facts) -> Node:
    """Return the one sentence of the verdict, of at most 30 words."""
    metric = figures.deciding(facts)
    if metric is None:
        return say("sentence.no_metric")
    entry = metric.result
    name, limit = foreign(metric.name), figures.threshold(entry)
    if facts.state in ("NOT_MEASURED", "INVALID_RUN"):
        why = figures.reason(metric.reason)
        answered = sum(times for outcome, _, times in runfacts.final_outcomes(facts) if outcome == "answered")
        return say(f"sentence.{facts.state}", metric=name, reason=why, x=answered, total=_planned(facts), limit=limit)
    if not figures.is_measured(entry):
        return say("sentence.other", metric=name, reason=figures.reason(metric.reason))
    key = f"sentence.{facts.state}.{text(entry, 'direction')}"
    if facts.state == "INCONCLUSIVE":
        key = "sentence.INCONCLUSIVE"
    return say(
        key,
        metric=name,
        observed=figures.observed(entry),
        interval=figures.interval(entry),
        low=_bound(entry, "low", "down"),
        high=_bound(entry, "high", "up"),
        required=figures.required(entry),
        limit=limit,
    )


def _bound(entry: JsonObject, end: str, rounding: str) -> Node:
    value = at(entry, f"exact.{end}")
    if not isinstance(value, str) or (figures.is_share(entry) and value in ("0.000000000", "1.000000000")):
        return say("figure.none")
    return figures.valued(entry, value, rounding)


def _planned(facts: Facts) -> int:
    if facts.scores is not None:
        return sum(line.get("side") != "candidate" for line in facts.scores)
    return max((integer(metric.result, "n") for metric in facts.metrics), default=0)


def _shown(facts: Facts) -> list[Metric]:
    binding = [metric for metric in facts.metrics if metric.binding]
    first = figures.deciding(facts)
    ordered = sorted(binding, key=lambda metric: metric is not first)
    return ordered[:MOST_ROWS] if len(binding) > MOST_ROWS else binding


def _table(facts: Facts, shown: list[Metric]) -> Node:
    first = figures.deciding(facts)
    rows: list[list[JsonValue]] = []
    for metric in shown:
        label = say("summary.decides", metric=foreign(metric.name)) if metric is first else foreign(metric.name)
        entry = metric.result
        rows.append(
            [
                label,
                figures.required(entry),
                figures.observed(entry) if figures.is_measured(entry) else say("figure.unmeasured"),
                figures.interval(entry),
                figures.numbers_short(metric.decision),
                figures.state_word(metric.state),
            ]
        )
    hidden = sum(1 for metric in facts.metrics if metric.binding) - len(shown)
    caption = say("summary.table_part", n=hidden) if hidden else say("summary.table")
    columns = [
        column("metric", width=17),
        column("required", width=14),
        column("observed", width=20),
        column("interval", width=17),
        column("failures", width=16),
        column("state", width=16),
    ]
    marked = [row for row, metric in enumerate(shown) if metric is first]
    return table(caption, columns, rows, marked=marked, id="metrics")


def _chart(shown: list[Metric]) -> Iterator[Node]:
    measured = [metric for metric in shown if figures.is_measured(metric.result)]
    if not measured:
        yield paragraph("summary.no_chart", id="plot")
        return
    panels: list[JsonValue] = [panel(metric.result, foreign(metric.name)) for metric in measured]
    alts = [
        say(
            "chart.interval_alt",
            metric=foreign(metric.name),
            observed=figures.observed(metric.result),
            interval=figures.interval(metric.result),
            required=figures.required(metric.result),
        )
        for metric in measured
    ]
    yield chart("interval", {"list": list(alts), "last": "comma"}, {"panels": panels}, id="plot")


def who(facts: Facts) -> Node:
    """Say whose engine was asked, for whom and by whom."""
    return paragraph(
        "summary.who" if facts.comparison is None else "change.who",
        id="who",
        vendor=figures.organisation(facts, "vendor"),
        buyer=figures.organisation(facts, "buyer"),
        auditor=figures.organisation(facts, "auditor"),
        engine=figures.text_or(facts.agreed("engine.name"), "word.unnamed"),
    )


def _band(facts: Facts) -> Node:
    return {
        "kind": "band",
        "id": "band",
        "state": facts.state,
        "text": figures.state_word(facts.state),
        "sentence": sentence(facts),
    }


def check_block(facts: Facts) -> Node:
    """Say how to check the report: mark, digest, command."""
    return {
        "kind": "check",
        "id": "check",
        "payload": payload(facts),
        "digest": code(short_digest(facts)),
        "lines": [say("check.word"), say("check.read")],
        "command": code(COMMAND[facts.language]),
    }


def keys_table(facts: Facts) -> Node:
    """Say of which contract, version, days and bank it speaks."""
    return fact_table(_keys(facts), id="keys")


def _keys(facts: Facts) -> Iterator[Node]:
    clause = facts.agreed("contract.parent_agreement.clause")
    contract = code(text(facts.manifest, "contract_id"))
    version = facts.agreed("contract.version")
    args: dict[str, JsonValue] = {"contract": contract, "version": version if isinstance(version, int) else 1}
    yield fact(
        "contract",
        say("summary.contract_clause", **args, clause=foreign(clause))
        if isinstance(clause, str)
        else say("summary.contract", **args),
        id="contract",
    )
    yield fact("engine_seen", say("summary.engine", version=runfacts.versions(facts)), id="engine")
    yield fact("run_dates", runfacts.period(facts, exact=False), id="dates")
    yield fact("bank", _bank(facts), id="bank")


def _bank(facts: Facts) -> Node:
    size = facts.agreed("evaluation_set.size")
    drawn = _planned(facts)
    name = at(facts.bank, "name") if facts.bank is not None else None
    shown = foreign(name) if isinstance(name, str) else say("word.bank")
    return say("summary.bank", name=shown, n=drawn, size=size if isinstance(size, int) else 0)


def parties_table(facts: Facts) -> Node:
    """Name the parties and who pays."""
    return fact_table(_parties(facts), id="parties")


def _parties(facts: Facts) -> Iterator[Node]:
    for role in ("buyer", "vendor", "auditor", "custodian"):
        yield fact(f"role.{role}", figures.organisation(facts, role), id=role)
    yield fact("payer", figures.payer(facts.agreed("parties.independence.payer")), id="payer")


def _args(facts: Facts) -> dict[str, JsonValue]:
    metric = figures.deciding(facts)
    if metric is None:
        return {
            "version": figures.code_or(facts.agreed("engine.version"), "word.unnamed"),
            "failures": 0,
            "total": 0,
            "metric": say("word.unnamed"),
            "numbers": say("numbers.none"),
            "alpha_pass": say("figure.none"),
            "alpha_breach": say("figure.none"),
            "reason": say("reason.no_binding_metric"),
        }
    entry = metric.result
    return {
        "version": figures.code_or(facts.agreed("engine.version"), "word.unnamed"),
        "failures": figures.failures(entry),
        "total": figures.calls(entry),
        "metric": foreign(metric.name),
        "numbers": figures.numbers(metric.decision),
        "alpha_pass": share(text(entry, "alpha_pass"), "exact"),
        "alpha_breach": share(text(entry, "alpha_breach"), "exact"),
        "reason": figures.reason(metric.reason),
    }
