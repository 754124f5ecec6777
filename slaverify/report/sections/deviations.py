"""Section 8: what departed from the plan, what was left out, what is disputed, and the parties' own words."""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures, runfacts
from slaverify.report.facts import Facts, text
from slaverify.report.sections.custody import LEDGER_TYPES
from slaverify.report.words import (
    Node,
    bullets,
    code,
    column,
    foreign,
    heading,
    instant,
    paragraph,
    say,
    section,
    table,
)

DEPARTURES = ("run_resumed", "run_aborted", "item_voided", "incident", "draw_defaulted", "key_revoked")


def deviations(facts: Facts) -> Node:
    """Return section 8."""
    return section(
        "deviations",
        [
            heading("section.deviations", id="deviations"),
            heading("deviations.departures", 3),
            *_departures(facts),
            heading("deviations.exclusions", 3),
            bullets(_exclusions(facts), id="exclusions"),
            heading("deviations.disputes", 3),
            *_disputes(facts),
            heading("deviations.reply", 3),
            *_replies(facts),
        ],
    )


def _departures(facts: Facts) -> Iterator[Node]:
    if facts.ledger is None:
        yield paragraph("absent.ledger")
        return
    found = runfacts.entries(facts, *DEPARTURES)
    rows: list[list[JsonValue]] = [
        [runfacts.seq(entry), instant(text(entry, "time")), _event(entry), _why(entry)] for entry in found
    ]
    if rows:
        columns = [column("seq", "right", 10), column("time", width=36), column("event"), column("reason", width=26)]
        yield table(say("deviations.table"), columns, rows, id="departures")
    else:
        yield paragraph("deviations.none", id="departures")


def _event(entry: JsonObject) -> Node:
    kind = text(entry, "type")
    return say(f"ledger.{kind}") if kind in LEDGER_TYPES else code(kind)


def _why(entry: JsonObject) -> Node:
    why = runfacts.data(entry, "reason")
    return foreign(why) if isinstance(why, str) and why else say("word.none")


def _exclusions(facts: Facts) -> Iterator[Node]:
    if facts.outcomes is not None:
        yield say("item.retries", n=runfacts.retries(facts))
    for metric in facts.metrics:
        excluded = metric.result.get("excluded")
        unresolved, left_open = metric.result.get("unresolved"), metric.result.get("open")
        yield say(
            "deviations.metric",
            metric=foreign(metric.name),
            excluded=excluded if isinstance(excluded, int) else 0,
            unresolved=unresolved if isinstance(unresolved, int) else 0,
            open=left_open if isinstance(left_open, int) else 0,
        )


def _disputes(facts: Facts) -> Iterator[Node]:
    rows: list[list[JsonValue]] = []
    for dispute in facts.disputes:
        claim = dispute.get("claim")
        rows.append(
            [
                code(str(dispute.get("item"))),
                foreign(claim) if isinstance(claim, str) else say("word.none"),
                foreign(str(dispute.get("state"))),
            ]
        )
    if rows:
        yield table(say("deviations.dispute_table"), [column("item"), column("claim"), column("state")], rows)
        return
    window = facts.agreed("disputes.window_days")
    yield paragraph("deviations.no_disputes", n=window) if isinstance(window, int) else paragraph("next.no_dispute")


def _replies(facts: Facts) -> Iterator[Node]:
    for role, reply in facts.replies.items():
        if reply.get("status") in ("refused", "silent"):
            yield paragraph(f"deviations.reply_{reply['status']}", id=f"reply-{role}")
            continue
        author, body, time = (reply.get(key) for key in ("author", "text", "time"))
        yield {
            "kind": "quote",
            "id": f"reply-{role}",
            "source": say(
                "deviations.supplied",
                role=say(f"role.{role}"),
                author=figures.text_or(author, "word.unnamed"),
                time=instant(time) if isinstance(time, str) else say("word.none"),
            ),
            "text": foreign(body) if isinstance(body, str) else say("word.none"),
        }
    if "vendor" not in facts.replies:
        days = facts.agreed("report.reply_days")
        yield paragraph("deviations.no_reply", id="reply-vendor", n=days if isinstance(days, int) else 0)
