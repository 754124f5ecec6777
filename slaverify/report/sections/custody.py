"""Section 7: who kept the set, what the ledger says happened, leak tests, every run that was started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures, runfacts
from slaverify.report.facts import Facts, text
from slaverify.report.sections.leaks import leaks
from slaverify.report.words import (
    Node,
    bullets,
    chart,
    code,
    column,
    fact,
    fact_table,
    foreign,
    heading,
    instant,
    listing,
    paragraph,
    say,
    section,
    table,
)

QUIET = frozenset({"batch", "key_added"})
"""Entries too many to list one by one: they are counted."""
MOST_LINES = 40


def custody(facts: Facts) -> Node:
    """Return section 7."""
    return section(
        "custody",
        [
            heading("section.custody", id="custody"),
            *_level(facts),
            fact_table(_rows(facts), id="custody-facts"),
            *leaks(facts),
            heading("custody.runs", 3),
            *_runs(facts),
            heading("custody.timeline", 3),
            *_timeline(facts),
        ],
    )


def _level(facts: Facts) -> Iterator[Node]:
    level = facts.custody_level
    if level is None:
        yield paragraph("custody.no_level", id="level")
        return
    yield paragraph(f"custody.level.{level.number}", id="level", style="lead")
    rows: list[list[JsonValue]] = [[say(f"custody.fact.{name}"), _evidence(entries)] for name, entries in level.held]
    rows += [[say(f"custody.fact.{name}"), say("custody.missing")] for name in level.missing]
    if rows:
        yield table(say("custody.fact_table"), [column("fact"), column("held", width=40)], rows, id="level-facts")


def _evidence(entries: tuple[int, ...]) -> Node:
    return say("custody.entries", entries=listing(list(entries), "and")) if entries else say("custody.held")


def _rows(facts: Facts) -> Iterator[Node]:
    bank = facts.bank
    yield fact("custodian", figures.organisation(facts, "custodian"), id="custodian")
    if bank is not None:
        yield fact("bank_name", say("custody.bank", name=foreign(text(bank, "name")), id=code(text(bank, "bank_id"))))
        yield fact("bank_author", foreign(text(bank, "author")))
    yield fact("bank_digest", code(text(facts.manifest, "bank_digest")), id="bank-digest")
    yield fact("plaintext_access", _access(bank))
    yield fact("openings", say("custody.openings", n=len(runfacts.entries(facts, "item_opened"))), id="openings")
    yield fact("exposure", _exposure(facts), id="exposure")
    if runfacts.entries(facts, "exposure"):
        yield fact("shown_to", listing(list(_shown_to(facts))), id="shown-to")
    yield fact("left", _left(facts), id="left")
    if facts.agreed("ledger.blind") == "on":
        yield fact("blind", say("custody.blind", n=len(runfacts.entries(facts, "blind"))), id="blind")
    ledger = facts.manifest.get("ledger")
    if isinstance(ledger, Mapping):
        yield fact("ledger", say("custody.ledger", origin=code(text(ledger, "origin")), size=ledger.get("size")))
        yield fact("root", code(text(ledger, "root")), id="root")


def _access(bank: JsonObject | None) -> Node:
    if bank is None:
        return say("absent.bank")
    access = bank.get("plaintext_access")
    names = [str(entry.get("organisation")) for entry in access] if isinstance(access, list | tuple) else []
    return listing([foreign(name) for name in names]) if names else say("custody.no_access")


def _exposure(facts: Facts) -> Node:
    if facts.exposure is None:
        return say("absent.exposure")
    states = facts.exposure.get("states")
    held = states if isinstance(states, Mapping) else {}
    counts = {key: held.get(key) if isinstance(held.get(key), int) else 0 for key in ("unused", "sent", "disclosed")}
    return say("custody.exposure", **counts)


def _shown_to(facts: Facts) -> Iterator[Node]:
    """Name who else saw questions, in what part, as the ledger has it."""
    for entry in runfacts.entries(facts, "exposure"):
        items, role = runfacts.data(entry, "items"), str(runfacts.data(entry, "role"))
        yield say(
            "custody.shown",
            party=foreign(str(runfacts.data(entry, "party"))),
            role=say(f"role.{role}") if role in {*figures.ROLES, "judge"} else code(role),
            n=len(items) if isinstance(items, list) else 0,
        )


def _left(facts: Facts) -> Node:
    left = None if facts.exposure is None else facts.exposure.get("remaining_audits")
    if facts.exposure is None or not isinstance(left, int):
        return say("absent.exposure")
    return say("custody.left", n=left)


def _runs(facts: Facts) -> Iterator[Node]:
    opened = runfacts.of_contract(facts, "run_opened")
    if facts.ledger is None:
        yield paragraph("absent.ledger")
        return
    budget = facts.agreed("ledger.run_budget")
    yield paragraph("custody.run_count", n=len(opened), budget=budget if isinstance(budget, int) else len(opened))
    rows: list[list[JsonValue]] = []
    for entry in opened:
        number = runfacts.data(entry, "run")
        purpose = runfacts.data(entry, "purpose")
        rows.append(
            [
                number if isinstance(number, int) else code(str(number)),
                instant(text(entry, "time")),
                _ending(facts, number),
                say("custody.purpose_other") if purpose == "change_check" else say("custody.purpose_sla"),
            ]
        )
    columns = [column("run", width=12), column("opened", width=38), column("ending"), column("purpose", width=20)]
    yield table(say("custody.run_table"), columns, rows, id="runs")


def _ending(facts: Facts, number: JsonValue) -> Node:
    ended = [e for e in runfacts.of_contract(facts, "run_ended", "run_aborted") if runfacts.data(e, "run") == number]
    if not ended:
        return say("custody.open")
    last = ended[-1]
    return say(f"ledger.{text(last, 'type')}")


def _timeline(facts: Facts) -> Iterator[Node]:
    if facts.ledger is None:
        yield paragraph("absent.ledger")
        return
    listed = [entry for entry in facts.ledger if entry.get("type") not in QUIET]
    quiet = len(facts.ledger) - len(listed)
    shown = listed[-MOST_LINES:]
    points: list[JsonValue] = [
        {"at": text(entry, "time"), "label": _event(entry), "seq": runfacts.seq(entry)} for entry in shown
    ]
    if len(points) > 1:
        alt = say("chart.timeline_alt", n=len(points), start=instant(_time(shown[0])), end=instant(_time(shown[-1])))
        yield chart("timeline", alt, {"points": points}, id="timeline")
    rows: list[list[JsonValue]] = [[runfacts.seq(e), instant(_time(e)), _event(e)] for e in shown]
    columns = [column("seq", "right", 12), column("time", width=44), column("event")]
    yield table(say("custody.timeline_table"), columns, rows, style="dense", id="events")
    remarks = [say("custody.quiet", n=quiet)]
    if len(shown) < len(listed):
        remarks.append(say("custody.earlier", n=len(listed) - len(shown)))
    yield bullets(remarks)


def _time(entry: JsonObject) -> str:
    return text(entry, "time")


LEDGER_TYPES = frozenset(
    {
        "genesis",
        "key_added",
        "key_revoked",
        "bank_sealed",
        "deposit",
        "contract_registered",
        "run_opened",
        "draw_commit",
        "draw_reveal",
        "draw_defaulted",
        "draw",
        "delivery",
        "custody_transfer",
        "run_started",
        "batch",
        "run_resumed",
        "run_ended",
        "run_aborted",
        "item_voided",
        "scored",
        "calibration",
        "dispute",
        "dispute_resolved",
        "item_opened",
        "exposure",
        "spot_check",
        "report_issued",
        "bank_rotated",
        "blind",
        "unblind",
        "drill",
        "incident",
        "destruction",
    }
)


def _event(entry: JsonObject) -> Node:
    kind = text(entry, "type")
    if kind not in LEDGER_TYPES:
        return code(kind)
    part = runfacts.data(entry, "part")
    if kind == "delivery" and part in ("query", "reference"):
        return say(f"ledger.delivery_{part}")
    return say(f"ledger.{kind}")
