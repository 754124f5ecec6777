"""The vendor's self-check: the parties' contract on a practice set, alone, with nothing that anybody could rely on.

The contract is unchanged but for bank, roles and signatures: purpose `self_check`, one organisation in every role, a
ledger that nobody anchors, no timestamp, no key. The bank is sealed once a folder, so that two self-checks in one
folder ask the same items and can be compared pair by pair. No bank of an audit is ever read.

Source: docs/spec/self-check.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slaverify.audit.closing import provisional_manifest
from slaverify.audit.opening import open_next_run, prepare
from slaverify.audit.replying import Unclosed
from slaverify.audit.session import Ports, Session, open_session, put
from slaverify.audit.walk import Step, go
from slaverify.canonical import JsonObject, JsonValue, jcs, loads_canonical, sha256_hex
from slaverify.contract import LoadedContract, edited, freeze, method_digest
from slaverify.contract.load import parse_contract
from slaverify.custody import Clock
from slaverify.custody.keys import KeyStore
from slaverify.custody.seal import SealItem, SealTerms, seal
from slaverify.errors import ApplicationError, Text
from slaverify.evalset import Item, item_schema_sha256, split
from slaverify.evidence.read import open_folder
from slaverify.report import build
from slaverify.report.pdf import render, renderer

_PLACE = "practice.json"
_RUNS = 100_000
"""Runs that a rehearsal's ledger bears: a pipeline asks as often as it likes."""


@dataclass(frozen=True)
class Rehearsed:
    """One self-check: its run, what was left out, and whether the method is the contract's."""

    session: Session
    number: int
    folder: Path
    pdfs: tuple[Path, ...]
    left_out: tuple[str, ...]
    same_method: bool


def rehearse(
    agreed: LoadedContract, items: Sequence[Item], out: Path, clock: Clock, ports: Ports, version: str
) -> Rehearsed:
    """Walk one self-check to its decision and its pages. `version` empty: the contract's.

    Raises: ApplicationError SLV-A031 (another set in that folder, no item of any metric), SLV-A032 (a judge), and what
    the steps raise.
    """
    if agreed.model.judge is not None:
        raise ApplicationError(
            "SLV-A032",
            Text("un ensayo con juez todavía no se hace", "a self-check with a judge is not carried out yet"),
            why=Text("las métricas juzgadas quedarían sin medir", "judged metrics would stay unmeasured"),
            where="judge",
        )
    store, place = _practice(agreed, items, out, clock)
    contract, left_out = _contract(agreed, items, place, version)
    alone = replace(ports, timestamper=None)
    session = open_session(contract, out / str(place["folder"]), out, store, alone, rehearsal=True)
    number, found = open_next_run(session)
    prepare(session, number, found)
    go(session, number, Step.DECIDE)
    return Rehearsed(
        session,
        number,
        session.run_folder(number),
        tuple(_pages(session, number)),
        left_out,
        method_digest(contract.tree) == method_digest(agreed.tree),
    )


def _practice(agreed: LoadedContract, items: Sequence[Item], out: Path, clock: Clock) -> tuple[KeyStore, JsonObject]:
    """Return keys and sealed bank of the folder, made on first use; another set there is refused."""
    digest = sha256_hex(b"".join(jcs(part) for item in items for part in _parts(item)))
    path = out / _PLACE
    if path.is_file():
        place = loads_canonical(path.read_bytes())
        if place["set_sha256"] != digest:
            raise ApplicationError(
                "SLV-A031",
                Text("esta carpeta es de otro conjunto", "this folder is of another set"),
                why=Text("dos conjuntos no se comparan", "two sets are not compared"),
                fix=Text("dé otra carpeta en --out", "give another folder with --out"),
                where=str(out),
            )
        return KeyStore.open(out / "keys"), place
    vendor = agreed.model.parties.vendor.name
    store = KeyStore.create(out / "keys")
    custodian = store.get_or_make("custodian", organisation=vendor, roles=["custodian"], now=clock())
    store.get_or_make("auditor", organisation=vendor, roles=["auditor"], now=clock())
    sealed = seal(
        [_sealed(item) for item in items],
        out / "practice",
        SealTerms(bank_id="practice", name="practice", item_schema_sha256=item_schema_sha256(), author=vendor),
        custodian=custodian,
        clock=clock,
    )
    place = {
        "set_sha256": digest,
        "folder": str(sealed.folder.relative_to(out)),
        "bank_digest": sealed.bank_digest,
        "origin": sealed.ledger_origin,
        "vkey": sealed.ledger_vkey,
    }
    put(path, jcs(place))
    return store, place


def _parts(item: Item) -> tuple[JsonObject, JsonObject]:
    parts = split(item)
    return parts.query, parts.reference


def _sealed(item: Item) -> SealItem:
    query, reference = _parts(item)
    return SealItem(item.id, item.stratum, query, reference, item.twin_of, item.cluster)


def _contract(
    agreed: LoadedContract, items: Sequence[Item], place: JsonObject, version: str
) -> tuple[LoadedContract, tuple[str, ...]]:
    """Return the contract of the self-check, frozen, and the metrics of which the set has no item."""
    strata = {name: sum(item.stratum == name for item in items) for name in sorted({item.stratum for item in items})}
    kept, left_out = _metrics(agreed.tree, strata)
    if not kept:
        raise ApplicationError(
            "SLV-A031",
            Text("el conjunto no tiene preguntas de ninguna métrica", "the set has no item of any metric"),
            fix=Text("use los estratos del contrato", "use the strata of the contract"),
            where=", ".join(strata),
        )
    vendor, pinned = agreed.model.parties.vendor.name, agreed.model.report.signature.auditor_spki_sha256
    changes: dict[str, JsonValue] = {
        "contract.status": "draft",
        "contract.purpose": "self_check",
        "evaluation_set.bank_digest": place["bank_digest"],
        "evaluation_set.size": len(items),
        "evaluation_set.strata": {**strata},
        "evaluation_set.exposure": "reuse",
        "evaluation_set.sample": {"method": "full"},
        "ledger": {
            "origin": place["origin"],
            "vkey": place["vkey"],
            "start_anchor": "none",
            "run_budget": _RUNS,
        },
        "metrics": kept,
        "parties.auditor.name": vendor,
        "parties.custodian": {"name": vendor},
        "report.reply_days": 0,
        "report.annex_recipients": {},
        "report.signature": {"level": "B-T", "auditor_spki_sha256": pinned, "signatories": [vendor]},
    }
    if version:
        changes |= {"engine.version": version, "engine.accepted_echoes": [version]}
    draft = parse_contract(jcs(edited(_without(agreed.tree), changes)), agreed.source)
    return parse_contract(jcs(freeze(draft.model)), agreed.source), left_out


def _without(tree: JsonObject) -> JsonObject:
    """Return the contract less what a rehearsal has no use for: money, dates, a schedule, signatures."""
    left = {key: value for key, value in tree.items() if key not in ("remedies", "schedule")}
    head = left["contract"]
    assert isinstance(head, Mapping)  # noqa: S101 - of a contract that was loaded
    gone = ("effective", "expires", "supersedes")
    return {**left, "contract": {key: value for key, value in head.items() if key not in gone}}


def _metrics(tree: JsonObject, strata: Mapping[str, int]) -> tuple[list[JsonValue], tuple[str, ...]]:
    metrics = tree.get("metrics")
    kept: list[JsonValue] = []
    left_out: list[str] = []
    for metric in metrics if isinstance(metrics, list) else []:
        assert isinstance(metric, Mapping)  # noqa: S101 - of a contract that was loaded
        among = metric.get("among")
        named = among.get("stratum") if isinstance(among, Mapping) else None
        wanted = [named] if isinstance(named, str) else [*named] if isinstance(named, list | tuple) else None
        here = None if wanted is None else [name for name in wanted if name in strata]
        if here == []:
            left_out.append(str(metric["id"]))
            continue
        asked = among if here is None or not isinstance(among, Mapping) else {**among, "stratum": here}
        kept.append({**metric, "derived": None, **({} if asked is None else {"among": asked})})
    return kept, tuple(left_out)


def _pages(session: Session, number: int) -> list[Path]:
    """Write the pages of a report, unsigned, marked as without contractual value."""
    folder = session.run_folder(number)
    manifest, name = provisional_manifest(session, number)
    found = []
    for language in session.contract.model.report.languages:
        path = folder / "report" / f"{name}.{language}.self-check.pdf"
        model = build(Unclosed(open_folder(folder), manifest), language, renderer())
        put(path, render(model, manifest))
        found.append(path)
    return found
