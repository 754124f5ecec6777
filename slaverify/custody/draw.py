"""The draw: which items a run sends, recomputable by anybody from index and ledger.

Source: docs/spec/ledger.md (draw).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from slaverify.canonical import JsonObject, JsonValue, jcs, sha256_hex
from slaverify.custody.arms import ARM_NAMES, Arms, select_arms
from slaverify.custody.entries import Entry
from slaverify.custody.exposure import ExposureEvent, eligible, exposure_tree, remaining_audits
from slaverify.custody.faults import fault
from slaverify.custody.index import PROBE, Index
from slaverify.custody.runs import RunRecord
from slaverify.custody.seeds import ticket
from slaverify.custody.shapes import counts, integer, integers, text
from slaverify.custody.terms import Terms
from slaverify.custody.type_rules import beacon_randomness, seed_of
from slaverify.custody.view import LedgerView
from slaverify.errors import Text


@dataclass(frozen=True)
class Selection:
    """The ids of a sample and its ordered reserve, by stratum, in ticket order."""

    sample: dict[str, tuple[str, ...]]
    reserve: dict[str, tuple[str, ...]]
    extension: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The items of a second stage, which come after the reserve in the same order."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the sample, strata ascending, in ticket order."""
        return tuple(item for stratum in sorted(self.sample) for item in self.sample[stratum])

    @property
    def all_ids(self) -> tuple[str, ...]:
        """The ids of the sample, then of the reserve and of the second stage."""
        spare = tuple(item for stratum in sorted(self.reserve) for item in self.reserve[stratum])
        return self.ids + spare + self.extension_ids

    @property
    def extension_ids(self) -> tuple[str, ...]:
        """The ids of the second stage, strata ascending, in ticket order."""
        return tuple(item for stratum in sorted(self.extension) for item in self.extension[stratum])

    @property
    def sha256(self) -> str:
        """The SHA-256 of the sample's ids, LF after each, hex."""
        return sha256_hex("".join(item + "\n" for item in self.ids).encode())


@dataclass(frozen=True)
class Draw:
    """The draw of one run. `seed` is hex; `at_size` is the ledger size that fixed what was eligible."""

    contract_digest: str
    run: int
    method: str
    seed: str
    at_size: int
    n_per_stratum: dict[str, int]
    reserve_per_stratum: int
    selection: Selection
    remaining_audits: int
    """How many such samples are left after this one."""
    beacon: JsonValue = None
    """The beacon's round, signature and randomness, if one was used."""
    arms: Arms | None = None
    """What is sent beside the sample; None where the contract asks for no arm."""

    @property
    def sample_sha256(self) -> str:
        """The SHA-256 that the ledger records."""
        return self.selection.sha256

    @property
    def beside(self) -> Arms:
        """The arms, empty where there are none."""
        return self.arms or Arms()

    @property
    def all_ids(self) -> tuple[str, ...]:
        """Every item that may leave: sample, reserve and arms."""
        return self.selection.all_ids + self.beside.ids


def select(
    available: Mapping[str, Sequence[str]],
    seed: bytes,
    n_per_stratum: Mapping[str, int],
    reserve: int,
    arm: str = "fresh",
    extension: Mapping[str, int] | None = None,
) -> Selection:
    """Sort what is eligible by ticket and take the first n of each stratum, then the reserve, then a second stage.

    Raises: CustodyError SLV-K050 if any stratum has too few for all of them together.
    """
    sample, spare, later = {}, {}, {}
    more = extension or {}
    for stratum, n in sorted(n_per_stratum.items()):
        ids, kept = available.get(stratum, ()), n + reserve
        needed = kept + more.get(stratum, 0)
        if len(ids) < needed:
            left = remaining_audits({name: len(found) for name, found in available.items()}, n_per_stratum)
            raise fault(
                50,
                f"en «{stratum}» quedan {len(ids)} ítems y hacen falta {needed}; quedan {left} auditorías",
                f"`{stratum}` has {len(ids)} unused items and {needed} are needed; {left} audits left",
                fix=Text("selle un banco nuevo", "seal a new bank"),
            )
        order = sorted(ids, key=lambda item: (ticket(seed, arm, item), item))
        sample[stratum], spare[stratum] = tuple(order[:n]), tuple(order[n:kept])
        if more.get(stratum, 0):
            later[stratum] = tuple(order[kept:needed])
    return Selection(sample, spare, later)


def draw_run(index: Index, view: LedgerView, terms: Terms, run: int, *, light: JsonObject | None = None) -> Draw:
    """Compute the draw of a run: as the ledger recorded it, or, where it has none yet, as it results now.

    `light` is the beacon's round of a draw that is not on record yet.

    Raises: CustodyError SLV-K040 (no such run), SLV-K050 (too few items), SLV-K053 (the recorded draw is another),
    SLV-K054 (a stratum or arm that cannot be drawn).
    """
    record = _record(view, terms, run)
    entry = record.draw
    at_size = view.size if entry is None else integer(entry.data, "at_size")
    beacon = light if entry is None else entry.data.get("beacon")
    seed = _seed(view, record, beacon)
    events = [event for event in ledger_events(index, view, terms.exposure_group) if event.seq < at_size]
    planned = _planned(index, terms)
    available = _available(index, events, terms)
    reserve, extension = (0, {}) if terms.method == "full" else (terms.reserve, _extension(terms))
    selection = select(available, seed, planned, reserve, extension=extension)
    left = {name: len(ids) - planned.get(name, 0) for name, ids in available.items()}
    # A comparison of two versions asks no control questions.
    asks = record.purpose is None and any(terms.arms.values())
    found = Draw(
        contract_digest=terms.contract_digest,
        run=run,
        method=terms.method,
        seed=seed.hex(),
        at_size=at_size,
        n_per_stratum=planned,
        reserve_per_stratum=reserve,
        selection=selection,
        remaining_audits=remaining_audits(left, planned),
        beacon=beacon,
        arms=select_arms(index, events, seed, terms.arms, planned) if asks else None,
    )
    if entry is not None and (_recorded(entry), _later(entry), _arm_counts(entry)) != (
        (found.seed, found.method, planned, found.sample_sha256),
        (extension, reserve) if extension else ({}, 0),
        found.beside.counts,
    ):
        raise fault(
            53,
            "el sorteo del libro no es el que resulta del índice y del contrato",
            "the draw in the ledger is not the one that results from index and contract",
            where=f"ledger.jsonl:{entry.seq + 1}",
        )
    return found


def _recorded(entry: Entry) -> tuple[str, str, dict[str, int], str]:
    data = entry.data
    planned = dict(sorted(counts(data, "n_per_stratum").items()))
    return text(data, "seed"), text(data, "method"), planned, text(data, "sample_sha256")


def arms_left(index: Index, view: LedgerView, terms: Terms) -> dict[str, int]:
    """Return how many items each arm could draw now for the vendor of a contract, whatever it asks for."""
    events, planned = ledger_events(index, view, terms.exposure_group), _planned(index, terms)
    # Each arm by itself: together they would compete for the items that were sent.
    most = len(index.leaves)
    return {arm: select_arms(index, events, bytes(32), {arm: most}, planned).counts[arm] for arm in ARM_NAMES}


def _arm_counts(entry: Entry) -> dict[str, int]:
    recorded = counts(entry.data, "arms")
    return {name: recorded.get(name, 0) for name in ARM_NAMES}


def _extension(terms: Terms) -> dict[str, int]:
    unknown = sorted(set(terms.extension) - set(terms.per_stratum))
    if unknown:
        raise fault(54, f"la segunda etapa pide {unknown[0]}", f"the second stage asks for {unknown[0]}")
    return {stratum: n for stratum, n in sorted(terms.extension.items()) if n}


def _later(entry: Entry) -> tuple[dict[str, int], int]:
    # what the entry says of a second stage, and the reserve that lies before it
    extension = dict(sorted(counts(entry.data, "extension").items()))
    return extension, integer(entry.data, "reserve") if "reserve" in entry.data else 0


def _record(view: LedgerView, terms: Terms, run: int) -> RunRecord:
    record = view.run(terms.contract_digest, run)
    if record is None:
        raise fault(40, f"no hay corrida {run} de este contrato", f"this contract has no run {run}")
    return record


def _seed(view: LedgerView, record: RunRecord, beacon: JsonValue) -> bytes:
    contract = view.contract(record.contract_digest)
    bank = None if contract is None else view.bank(text(contract.data, "bank_digest"))
    if contract is None or bank is None:
        raise fault(40, "el contrato no está registrado", "the contract is not registered")
    banks, contracts = {text(bank.data, "bank_digest"): bank}, {record.contract_digest: contract}
    return seed_of(banks, contracts, record, beacon_randomness(beacon, "draw"))


def _planned(index: Index, terms: Terms) -> dict[str, int]:
    if any(terms.arms.values()) and (terms.method == "full" or terms.reuse):
        raise fault(
            54,
            "los brazos necesitan una muestra de ítems sin enviar, que «full» y «reuse» no dan",
            "arms need a sample of unsent items, which `full` and `reuse` do not give",
        )
    if terms.method == "full":
        return {stratum: n for stratum, n in index.strata.items() if stratum != PROBE}
    unknown = [stratum for stratum in terms.per_stratum if stratum not in index.strata or stratum == PROBE]
    if unknown:
        raise fault(54, f"estrato que no se sortea: {unknown[0]}", f"stratum that cannot be drawn: {unknown[0]}")
    return dict(sorted(terms.per_stratum.items()))


def _available(index: Index, events: Sequence[ExposureEvent], terms: Terms) -> dict[str, list[str]]:
    if terms.method == "full" and any(leaf.twin_of is not None for leaf in index.leaves):
        raise fault(50, "«full» no admite un banco con gemelos", "`full` does not go with a bank that has twins")
    return eligible(index, events, reuse=terms.reuse)


def ledger_events(index: Index, view: LedgerView, group: str) -> list[ExposureEvent]:
    """Return what the ledger says of the items of this bank, for one exposure group, in order.

    Each draw is recomputed; the digest that the ledger records says whether its contract allowed reuse.
    Raises: CustodyError SLV-K053 if a recorded sample is not the one that results, SLV-K018 for a leaf that does
    not exist.
    """
    root, banks, groups = index.root.hex(), set(), {}
    events: list[ExposureEvent] = []
    for entry in view:
        if entry.type == "bank_sealed" and entry.data["root"] == root:
            banks.add(entry.data["bank_digest"])
        elif entry.type == "contract_registered" and entry.data["bank_digest"] in banks:
            groups[entry.contract_digest] = entry.data["exposure_group"]
        elif entry.type in ("item_opened", "spot_check", "exposure"):
            events.extend(_disclosures(index, entry))
        elif entry.type == "blind":
            events.extend(_perhaps_started(events, entry))
        elif entry.run is not None and groups.get(entry.contract_digest) == group:
            events.extend(_run_events(index, entry, events))
        elif entry.type == "item_voided" and entry.contract_digest in groups:
            events.append(_event("voided", entry, (text(entry.data, "item"),)))
    return events


def _event(kind: str, entry: Entry, items: Iterable[str] = ()) -> ExposureEvent:
    return ExposureEvent(kind, entry.seq, (entry.contract_digest or "", entry.run or 0), tuple(items))


def _disclosures(index: Index, entry: Entry) -> list[ExposureEvent]:
    if entry.type == "item_opened":
        return [_event("disclosed", entry, (text(entry.data, "item"),))]
    # A judge's provider is printed, not counted; whatever a vendor was shown is disclosed.
    if entry.type == "exposure" and entry.data["role"] != "vendor":
        return []
    return [_event("disclosed", entry, index.ids(integers(entry.data, "items")))]


def _run_events(index: Index, entry: Entry, before: Sequence[ExposureEvent]) -> list[ExposureEvent]:
    if entry.type == "draw":
        return [_event("draw", entry, _redraw(index, entry, before))]
    if entry.type == "run_started":
        return [_event("run_started", entry)]
    if entry.type == "batch":
        return [_event("batch", entry, index.ids(integers(entry.data, "items")))]
    if entry.type in ("run_ended", "run_aborted"):
        left = (*integers(entry.data, "sent"), *integers(entry.data, "in_flight"))
        return [_event("ended", entry, index.ids(left))]
    if entry.type == "item_voided":
        return [_event("voided", entry, (text(entry.data, "item"),))]
    return []


def _perhaps_started(before: Sequence[ExposureEvent], entry: Entry) -> list[ExposureEvent]:
    # A closed entry may be the start of any run that was drawn: until its end is on record its sample counts as sent.
    runs = {event.run for event in before if event.kind == "draw"} - {e.run for e in before if e.kind == "ended"}
    return [ExposureEvent("run_started", entry.seq, run) for run in sorted(runs)]


def _redraw(index: Index, entry: Entry, before: Sequence[ExposureEvent]) -> tuple[str, ...]:
    known = [event for event in before if event.seq < integer(entry.data, "at_size")]
    seed, planned = bytes.fromhex(text(entry.data, "seed")), counts(entry.data, "n_per_stratum")
    extension, reserve = _later(entry)
    for reuse in (False, True):
        available = eligible(index, known, reuse=reuse)
        needed = {stratum: n + reserve + extension.get(stratum, 0) for stratum, n in planned.items()}
        if any(len(available.get(stratum, ())) < n for stratum, n in needed.items()):
            continue
        found = select(available, seed, planned, reserve, extension=extension)
        if found.sha256 == entry.data["sample_sha256"]:
            arms = select_arms(index, known, seed, _arm_counts(entry), planned)
            if arms.counts != _arm_counts(entry):
                break
            return found.ids + found.extension_ids + arms.ids
    raise fault(
        53,
        "la muestra del libro no es la que resulta del índice",
        "the sample in the ledger is not the one that results from the index",
        where=f"ledger.jsonl:{entry.seq + 1}",
    )


def draw_json(found: Draw) -> bytes:
    """Return the bytes of `draw.json`."""
    arms: JsonObject = {} if found.arms is None else {"arms": found.arms.to_json()}
    later = found.selection.extension
    return jcs(
        {
            **arms,
            **({"extension": {name: list(ids) for name, ids in later.items()}} if later else {}),
            "type": "slaverify/draw/1",
            "run": found.run,
            "method": found.method,
            "seed": found.seed,
            "beacon": found.beacon,
            "at_size": found.at_size,
            "n_per_stratum": found.n_per_stratum,
            "reserve_per_stratum": found.reserve_per_stratum,
            "sample": {name: list(ids) for name, ids in found.selection.sample.items()},
            "reserve": {name: list(ids) for name, ids in found.selection.reserve.items()},
            "sample_sha256": found.sample_sha256,
        }
    )


def draw_data(found: Draw) -> JsonObject:
    """Return the data of the ledger entry `draw`."""
    later = {name: len(ids) for name, ids in found.selection.extension.items()}
    return {
        **({"extension": later, "reserve": found.reserve_per_stratum} if later else {}),
        "contract_digest": found.contract_digest,
        "run": found.run,
        "seed": found.seed,
        "method": found.method,
        "beacon": found.beacon,
        "at_size": found.at_size,
        "n_per_stratum": found.n_per_stratum,
        "sample_sha256": found.sample_sha256,
        "arms": {"fresh": len(found.selection.ids), **({} if found.arms is None else found.arms.counts)},
    }


def exposure_json(index: Index, view: LedgerView, terms: Terms) -> bytes:
    """Return the bytes of `exposure.json` for the vendor of a contract, at the size of `view`."""
    return jcs(
        exposure_tree(
            index,
            ledger_events(index, view, terms.exposure_group),
            _planned(index, terms),
            group=terms.exposure_group,
            at_size=view.size,
            reuse=terms.reuse,
        )
    )


def check_sent(index: Index, view: LedgerView, terms: Terms, run: int) -> Draw:
    """Check one run's draw and that nothing was sent outside what it gave.

    Raises: as `draw_run`, and CustodyError SLV-K061 for an item sent outside it.
    """
    found, record = draw_run(index, view, terms, run), _record(view, terms, run)
    allowed = set(found.all_ids)
    for entry in (*record.batches, *([record.terminal] if record.terminal else [])):
        numbers = (*integers(entry.data, "items"), *integers(entry.data, "sent"), *integers(entry.data, "in_flight"))
        stray = [item for item in index.ids(numbers) if item not in allowed]
        if stray:
            raise fault(
                61,
                f"{stray[0]} se envió sin haber salido en el sorteo",
                f"{stray[0]} was sent without having been drawn",
                where=f"ledger.jsonl:{entry.seq + 1}",
            )
    return found
