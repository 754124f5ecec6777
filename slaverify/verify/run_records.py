"""V18, step 6: plan, outcomes and batches of the run are those that the ledger recorded as it happened.

1. plan: its digest is the ledger's, it covers exactly the drawn sample and arms, in the order that the seed gives;
2. outcomes: one per planned exchange, in order; their counts are those of `run_ended`;
3. batches: each root recomputed over the lines it names; every exchange that was sent stands in a batch;
4. start: anchored, and no exchange before the anchor (SLV-K040, K044); a run that broke this is INVALID_RUN;
5. scores: the file is the one whose digest the ledger took before any result was shown;
6. environment: the versions printed are those that the ledger took before the first request;
7. stages: a second stage was sent if, and only if, the scores of the first leave the doubt that it is agreed for.

Source: docs/spec/verification.md (V18), docs/spec/run.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from slaverify.canonical import JsonObject, JsonValue, jcs, loads_object, sha256_hex
from slaverify.custody import SECOND_STAGE, Entry, check_not_early
from slaverify.decision import leaves_doubt
from slaverify.engine import candidate_entry
from slaverify.errors import CustodyError, Text
from slaverify.evidence import ARM_SCORES
from slaverify.run import (
    OUTCOMES,
    PLAN,
    SIDES,
    Batch,
    DerivedRun,
    Plan,
    again_of,
    batches_of,
    build_plan,
    in_stages,
    on_both_sides,
    plan_bytes,
    read_plan,
    recorded_run,
)
from slaverify.verify.anchors import start_permit
from slaverify.verify.checks import Part, failed, noted, refused
from slaverify.verify.custody_set import CustodySet
from slaverify.verify.trees import count, counts, integers, text, text_or_none

SCORES = "scoring/scores.jsonl"
ENVIRONMENT = "environment/environment.json"
_DECISION = "decision/decision.json"
_INVALID = "INVALID_RUN"


def record_parts(custody: CustodySet, now: datetime) -> Iterator[Part]:
    """Yield the parts of step 6; the caller turns what a reader raises into a failure."""
    started = custody.run.started
    if started is None:
        return
    data = custody.bundle.read(PLAN)
    if sha256_hex(data) != started.data["plan_sha256"]:
        yield failed(
            Text("run/plan.json no es el plan que el libro anotó", "run/plan.json is not the plan on record"),
            expected=text(started.data, "plan_sha256"),
            found=sha256_hex(data),
        )
        return
    plan = read_plan(data)
    yield from _plan(custody, plan, data)
    yield from _candidate(custody)
    outcomes = custody.bundle.records(OUTCOMES)
    run = recorded_run(plan, outcomes)
    yield from _counts(custody, run)
    yield from _batches(custody, batches_of(plan, outcomes), outcomes)
    yield from _start(custody, outcomes, now)
    yield from _scores(custody)
    yield from _environment(custody, started)
    yield from _stages(custody, plan, run)


def _plan(custody: CustodySet, plan: Plan, data: bytes) -> Iterator[Part]:
    swaps, known = _swaps(custody), custody.known_draw
    sample, later = _swapped(known.selection.sample, swaps), _swapped(known.selection.extension, swaps)
    beside, agreed = known.beside, custody.contract.model.repetitions
    change, repetitions, seed = custody.run.is_change_check, agreed.per_item, bytes.fromhex(known.seed)
    again = None if change else again_of(plan.run_id, sample, seed, agreed.dispersion_sample)
    later = {} if change else later
    sides = SIDES if change else SIDES[:1]
    planned = Counter((one.item_id, one.repetition, one.side) for one in plan.exchanges if not one.shadow)
    items = [item for ids in (*sample.values(), *later.values(), beside.ids) for item in ids]
    drawn = Counter((item, number, side) for item in items for number in range(repetitions) for side in sides)
    if again is not None:
        more = range(repetitions, repetitions + again.calls)
        drawn += Counter((item, number, SIDES[0]) for item in again.items for number in more)
    if planned != drawn or plan.run_id != custody.header.run_id:
        extra, lacking = sum((planned - drawn).values()), sum((drawn - planned).values())
        yield failed(
            Text(
                f"el plan no cubre la muestra: sobran {extra} consultas y faltan {lacking}",
                f"the plan does not cover the sample: {extra} exchanges too many, {lacking} missing",
            )
        )
        return
    due = build_plan(plan.run_id, sample, repetitions, seed, beside=beside.ids, apart=beside.twin, again=again)
    if change:
        due = on_both_sides(due, seed)
    elif later:
        due = in_stages(due, build_plan(plan.run_id, later, repetitions, seed))
    if plan_bytes(due) != data:
        yield failed(Text("el orden del plan no sale del sorteo", "the order of the plan does not come from the draw"))


def _candidate(custody: CustodySet) -> Iterator[Part]:
    """The version that a change check asked beside the current one is the one that the contract names."""
    if not custody.run.is_change_check:
        return
    new = custody.contract.model.endpoint.candidate
    if new is None or jcs(custody.run.opened.data.get("candidate")) != jcs(candidate_entry(new)):
        yield failed(
            Text(
                "la versión nueva que el libro anotó no es la del contrato",
                "the new version on record is not the contract's",
            )
        )


def _swaps(custody: CustodySet) -> dict[str, str | None]:
    """Return the substitute of each item that was voided before the start; None where it has none."""
    started = custody.run.started
    swaps: dict[str, str | None] = {}
    for entry in custody.run.all("item_voided"):
        if started is not None and entry.seq < started.seq:
            swaps[text(entry.data, "item")] = text_or_none(entry.data, "substitute")
    return swaps


def _swapped(drawn: Mapping[str, Sequence[str]], swaps: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    found = {}
    for stratum, ids in drawn.items():
        kept = (swaps.get(item, item) for item in ids)
        found[stratum] = tuple(item for item in kept if item is not None)
    return found


def _stages(custody: CustodySet, plan: Plan, run: DerivedRun) -> Iterator[Part]:
    """Whoever could choose to send the second stage, or not to, would choose the result."""
    extended = custody.known_draw.selection.extension and not custody.run.is_change_check
    if not extended or not custody.bundle.has(SCORES):
        return
    first = {one.item_id for one in plan.exchanges if one.stage == 1}
    records = [line for line in custody.bundle.lines(SCORES) if line.get("item_id") in first]
    sent = any(one.planned.stage > 1 for one in run.exchanges)
    due = leaves_doubt(custody.contract.model, records)
    opened = [one.seq for one in custody.run.all("run_resumed") if one.data.get("reason") == SECOND_STAGE]
    second = min((one.position for one in plan.exchanges if one.stage > 1), default=0)
    later = [one.seq for one in custody.run.batches if count(one.data, "last") >= second]
    if sent and not (due and opened and all(seq > opened[0] for seq in later)):
        yield failed(
            Text(
                "se envió una segunda etapa que no correspondía, o que el libro no anotó",
                "a second stage was sent that was not due, or that the ledger does not hold",
            )
        )
    terminal = custody.run.terminal
    if due and not sent and terminal is not None:
        note = Text("la segunda etapa correspondía y no se envió", "the second stage was due and was not sent")
        yield failed(note) if terminal.data.get("reason") == "done" else noted(note)


def _counts(custody: CustodySet, run: DerivedRun) -> Iterator[Part]:
    terminal = custody.run.terminal
    if terminal is None or "outcomes" not in terminal.data:
        return
    recorded = counts(terminal.data, "outcomes")
    found = {outcome.value: number for outcome, number in run.counts.items()}
    if {name: n for name, n in recorded.items() if n} != {name: n for name, n in found.items() if n}:
        yield failed(
            Text("los resultados no suman lo que el libro anotó al terminar", "the outcomes are not those on record"),
            expected=str(dict(sorted(recorded.items()))),
            found=str(dict(sorted(found.items()))),
        )


def _batches(custody: CustodySet, found: tuple[Batch, ...], outcomes: Sequence[JsonObject]) -> Iterator[Part]:
    bank = custody.known_bank
    number_of = {leaf.id: leaf.i for leaf in bank.index.leaves}
    computed = {
        batch.number: (batch.first, batch.last, sorted(number_of.get(item, -1) for item in batch.items), batch.root)
        for batch in found
    }
    recorded = {}
    for entry in custody.run.batches:
        data = entry.data
        recorded[data["number"]] = (data["first"], data["last"], integers(data, "items"), data["root"])
    for number in sorted({*computed, *(one for one in recorded if isinstance(one, int))}):
        if computed.get(number) != recorded.get(number):
            yield failed(
                Text(
                    f"el lote {number} de run/outcomes.jsonl no es el que el libro anotó",
                    f"batch {number} of run/outcomes.jsonl is not the one on record",
                )
            )
    loose = {str(line["item_id"]) for line in outcomes if line["batch"] is None}
    terminal = custody.run.terminal
    stated = () if terminal is None else (*integers(terminal.data, "sent"), *integers(terminal.data, "in_flight"))
    unnamed = sorted(item for item in loose if number_of.get(item, -1) not in stated)
    if unnamed:
        yield failed(
            Text(
                f"{len(unnamed)} ítems enviados no están en ningún lote ni en el cierre ({unnamed[0]})",
                f"{len(unnamed)} items sent stand in no batch nor in the terminal entry ({unnamed[0]})",
            )
        )


def _start(custody: CustodySet, outcomes: Sequence[JsonObject], now: datetime) -> Iterator[Part]:
    try:
        permit = start_permit(custody, now)
        times = [datetime.fromisoformat(text(line, "started_at")) for line in outcomes]
        if times:
            check_not_early(permit, min(times))
    except CustodyError as error:
        if _declared_invalid(custody):
            note = refused(error).reason
            yield noted(Text(f"{note.es}; el informe lo dice", f"{note.en}; the report says so"))
        else:
            yield refused(error)


def _declared_invalid(custody: CustodySet) -> bool:
    return custody.bundle.has(_DECISION) and custody.bundle.json(_DECISION).get("state") == _INVALID


def _scores(custody: CustodySet) -> Iterator[Part]:
    scored = custody.run.scored
    if scored is None:
        if custody.bundle.has(SCORES):
            yield failed(Text("hay puntajes que el libro no anotó", "there are scores that the ledger never took"))
        return
    found = custody.bundle.entry_of(SCORES).sha256
    if found != scored.data["scores_sha256"]:
        yield failed(
            Text(f"{SCORES} no es el que el libro anotó", f"{SCORES} is not the one on record"),
            expected=text(scored.data, "scores_sha256"),
            found=found,
        )
    # The ledger takes the scores of the arms with those of the sample: neither without the other.
    arms = sha256_hex(custody.bundle.read(ARM_SCORES)) if custody.bundle.has(ARM_SCORES) else None
    if arms != scored.data.get("arms_sha256"):
        yield failed(
            Text(f"{ARM_SCORES} no es el que el libro anotó", f"{ARM_SCORES} is not the one on record"),
            expected=str(scored.data.get("arms_sha256")),
            found=str(arms),
        )


def _environment(custody: CustodySet, started: Entry) -> Iterator[Part]:
    stated, tool = custody.bundle.json(ENVIRONMENT), custody.header.tool
    packages: JsonValue = stated.get("packages")
    due: dict[str, tuple[JsonValue, JsonValue]] = {
        name: (started.data.get(name), stated.get(name)) for name in ("harness_version", "lock_sha256", "python", "os")
    }
    due["clock_offset_ms"] = (loads_object(started.line).get("clock_offset_ms"), stated.get("clock_offset_ms"))
    due["packages"] = (sha256_hex(jcs(packages)), stated.get("lock_sha256"))
    due["tool"] = ([tool.version, tool.lock_sha256], [stated.get("harness_version"), stated.get("lock_sha256")])
    for name, (recorded, found) in due.items():
        if recorded != found:
            yield failed(
                Text(
                    f"{ENVIRONMENT}: {name} no es lo que el libro anotó", f"{ENVIRONMENT}: {name} is not on record so"
                ),
                expected=str(recorded)[:200],
                found=str(found)[:200],
            )
