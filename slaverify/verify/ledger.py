"""V18: the custody ledger is the pinned one, coherent, complete up to its checkpoint, and says what the bundle says.

Order, each step only where the ones before hold:
1. ledger: lines, chain, keys, signatures, rules of the types, against origin and key of the pinned contract and
   against size and root of the signed manifest (SLV-K020 to K026, K034); no blind entry unopened (K042);
2. checkpoints: each of the bundle holds and lies on this ledger, the last one under the contract's quorum; the one
   that the caller obtained elsewhere is consistent with it (K025 to K031);
3. bank: manifest, index and checkpoint agree with the contract's digest (K010, K013, K018, K028);
4. run: registered, complete, first to end, closed when the manifest says; no entry rests on a revoked key;
5. draw and exposure are those that follow from index and ledger, byte for byte (K050 to K054, K061);
6. plan, outcomes and batches agree with the ledger; no exchange before the anchor (`run_records`, K040, K044).

Source: docs/spec/verification.md (V18), docs/spec/ledger.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from slaverify.custody import (
    LedgerView,
    Terms,
    check_bank,
    check_blinds_opened,
    check_draw_order,
    check_holders,
    check_sent,
    check_spot_checks,
    disputes_of,
    draw_json,
    exposure_json,
    longest_gap,
    read_ledger,
    terms_of,
    verify_checkpoint,
)
from slaverify.errors import CustodyError, EvidenceError, SlaverifyError, Text
from slaverify.evidence import Bundle, Header
from slaverify.verify.anchors import checkpoint_parts, proven_sizes, stamped_times
from slaverify.verify.checks import Part, failed, no_bundle, noted, refused, skipped
from slaverify.verify.custody_set import CustodySet
from slaverify.verify.material import Material
from slaverify.verify.run_records import record_parts

LEDGER = "custody/ledger.jsonl"


def ledger_parts(material: Material, custody: CustodySet | Part | None) -> list[Part]:
    """Return the parts of V18; `custody` is what `read_custody` gave."""
    if custody is None:
        return [no_bundle(given=material.request.bundle is not None)]
    if isinstance(custody, Part):
        return [custody]
    return [part for step in _STEPS for part in _guarded(step, material, custody)]


def read_custody(material: Material) -> CustodySet | Part | None:
    """Return the verified ledger of the bundle (step 1), the failure that it is, or None without a bundle."""
    if material.bundle is None:
        return None
    if material.contract is None:
        return failed(Text("sin contrato legible no hay libro que fijar", "no readable contract pins a ledger"))
    try:
        return custody_set(material)
    except Exception as error:  # noqa: BLE001 - bytes from anybody: whatever a reader raises fails the check
        return refused(error, LEDGER)


def custody_set(material: Material) -> CustodySet:
    """Read the ledger of a bundle and verify it line by line (step 1).

    Raises: CustodyError, EvidenceError, ValueError.
    """
    bundle, contract = material.bundle, material.contract
    if bundle is None or bundle.manifest is None or contract is None:
        raise ValueError("no bundle or contract")
    terms = _pinned(material, terms_of(contract.tree, contract.digest))
    header = bundle.manifest.header
    view = _view(bundle, header, terms)
    check_blinds_opened(view)
    record = view.run(contract.digest, header.run_number)
    if record is None:
        raise _no_run(header)
    return CustodySet(bundle=bundle, header=header, contract=contract, terms=terms, view=view, run=record)


def _pinned(material: Material, terms: Terms) -> Terms:
    """Return the terms of the bundle's contract with the ledger, witnesses and roots that came from outside."""
    outer = material.request.trust.contract
    if outer is not None:
        given = terms_of(outer.tree, outer.digest)
        return replace(
            terms,
            origin=given.origin,
            vkey=given.vkey,
            witnesses=given.witnesses,
            quorum=given.quorum,
            start_anchor=given.start_anchor,
            tsa_roots=given.tsa_roots,
        )
    roots = material.request.trust.tsa_roots
    return replace(terms, tsa_roots=roots) if roots else terms


def _view(bundle: Bundle, header: Header, terms: Terms) -> LedgerView:
    view = read_ledger(bundle.read(LEDGER), terms.trust)
    view.against(header.ledger.size, bytes.fromhex(header.ledger.root))
    if view.size != header.ledger.size or view.origin != header.ledger.origin:
        raise ValueError("the ledger goes beyond the checkpoint of the manifest")
    return view


def _no_run(header: Header) -> SlaverifyError:
    number = header.run_number
    return EvidenceError(
        "SLV-E050",
        Text(f"el libro no conoce la corrida {number} de este contrato", f"the ledger knows no run {number}"),
        where=LEDGER,
    )


def _guarded(
    step: Callable[[Material, CustodySet], Iterator[Part]], material: Material, custody: CustodySet
) -> list[Part]:
    found: list[Part] = []
    try:
        found.extend(step(material, custody))
    except Exception as error:  # noqa: BLE001 - whatever a reader raises fails the check that it served
        found.append(refused(error))
    return found


def _checkpoints(material: Material, custody: CustodySet) -> Iterator[Part]:
    yield from checkpoint_parts(custody, material.request.now)


def _elsewhere(material: Material, custody: CustodySet) -> Iterator[Part]:
    given = material.request.checkpoint
    if given is None:
        yield skipped(
            Text(
                "el libro se comparó con el punto de control que firmó el auditor, no con uno obtenido aparte",
                "the ledger was compared with the checkpoint that the auditor signed, not with one obtained elsewhere",
            ),
            Text(
                "agregue --checkpoint con uno que le haya dado un testigo u otra parte",
                "add --checkpoint with one that a witness or another party gave you",
            ),
            optional=True,
        )
        return
    proven = verify_checkpoint(given, custody.terms.checkpoint_policy(quorum=0), material.request.now)
    if proven.size <= custody.view.size:
        custody.view.against(proven.size, proven.root)
        yield noted(
            Text(f"coherente con el punto de control {proven.size}", f"consistent with checkpoint {proven.size}")
        )
        return
    yield skipped(
        Text(
            f"el punto de control dado es posterior ({proven.size} entradas; el paquete llega a {custody.view.size})",
            f"the checkpoint given is later ({proven.size} entries; the bundle ends at {custody.view.size})",
        ),
        Text(
            "compare con uno de tamaño igual o menor, o pida al custodio el libro hasta ese punto",
            "compare with one of that size or less, or ask the custodian for the ledger up to it",
        ),
    )


def _bank(material: Material, custody: CustodySet) -> Iterator[Part]:
    read = custody.bundle.read
    bank = check_bank(
        read("custody/bank_manifest.json"),
        read("custody/index.jsonl"),
        read("custody/bank.checkpoint"),
        bank_digest=custody.contract.model.evaluation_set.bank_digest,
        log_vkey=custody.terms.vkey,
    )
    registered = custody.view.bank(bank.digest)
    if registered is None or registered.data["root"] != bank.manifest.root:
        yield failed(Text("el libro no registra este banco", "the ledger does not register this bank"))
    check_holders(custody.view)
    check_spot_checks(bank.index, custody.view)
    yield from _draw(material, custody.with_bank(bank))


def _draw(material: Material, custody: CustodySet) -> Iterator[Part]:
    bank = custody.known_bank
    found = check_sent(bank.index, custody.view, custody.terms, custody.run.number)
    yield from _order(material, custody)
    for path, computed in (
        ("custody/draw.json", draw_json(found)),
        ("custody/exposure.json", exposure_json(bank.index, custody.view, custody.terms)),
    ):
        if custody.bundle.read(path) != computed:
            yield failed(
                Text(f"{path} no es lo que resulta del índice y del libro", f"{path} is not what index and ledger give")
            )
    yield from record_parts(replace(custody, draw=found), material.request.now)


def _order(material: Material, custody: CustodySet) -> Iterator[Part]:
    try:
        check_draw_order(custody.run, custody.terms, proven_sizes(custody, material.request.now))
    except CustodyError as error:
        if error.code != "SLV-K072":
            raise
        # Not checked is not passed: the beacon's signature needs an optional library.
        yield skipped(error.what, error.fix)


def _run(material: Material, custody: CustodySet) -> Iterator[Part]:
    contract, run, view = custody.contract, custody.run, custody.view
    registered = view.contract(contract.digest)
    budget = contract.model.ledger.run_budget
    if registered is None or registered.data["bank_digest"] != contract.model.evaluation_set.bank_digest:
        yield failed(Text("el libro no registra el contrato con su banco", "the ledger does not register the contract"))
    elif registered.data["run_budget"] != budget or registered.data["exposure_group"] != custody.terms.exposure_group:
        yield failed(
            Text(
                "el registro del contrato dice otra cosa que el contrato", "the registration departs from the contract"
            ),
            expected=f"run_budget {budget}",
            found=f"run_budget {registered.data['run_budget']}",
        )
    yield from _ends(custody)
    yield from _blind(custody)
    disputes_of(run, custody.terms.adjudicator)
    tainted = set(view.tainted(stamped_times(custody, material.request.now)))
    mine = {entry.seq for entries in run.by_type.values() for entry in entries} | {run.opened.seq}
    for seq in sorted(tainted & mine):
        yield failed(
            Text(
                f"la entrada {seq} la firmó una clave que después se revocó, sin ancla anterior",
                f"entry {seq} was signed by a key revoked later, with no anchor before",
            )
        )
    runs = [f"{one.number}{' (abortada)' if one.aborted else ''}" for one in view.runs(contract.digest)]
    english = [f"{one.number}{' (aborted)' if one.aborted else ''}" for one in view.runs(contract.digest)]
    yield noted(Text(f"corridas del contrato: {', '.join(runs)}", f"runs of the contract: {', '.join(english)}"))


def _blind(custody: CustodySet) -> Iterator[Part]:
    """Check that the start was blind if, and only if, the contract agrees on it; say how regular the cadence was."""
    started, view = custody.run.started, custody.view
    if started is None:
        return
    blind = view[started.seq].type == "blind"
    if blind is not custody.terms.blind:
        yield failed(
            Text("el inicio no es como el contrato lo pacta", "the start is not as the contract agrees"),
            expected=f"ledger.blind {'on' if custody.terms.blind else 'off'}",
            found="blind" if blind else "run_started",
        )
    gap = longest_gap(view, started.seq) if blind else None
    if gap is not None:
        hours, agreed = gap.total_seconds() / 3600, custody.terms.heartbeat_hours
        yield noted(
            Text(
                f"inicio ciego; entre latidos, hasta {hours:.1f} h (pactadas {agreed}); la cadencia se ve",
                f"blind start; up to {hours:.1f} h between heartbeats ({agreed} agreed); the cadence is visible",
            )
        )
    elif blind:
        yield failed(Text("inicio ciego sin latido anterior", "a blind start without a heartbeat before it"))


def _ends(custody: CustodySet) -> Iterator[Part]:
    run, header = custody.run, custody.header
    if run.started is None or run.terminal is None:
        yield failed(Text("la corrida no consta como terminada", "the run is not on record as over"))
        return
    if run.purpose is None and not run.aborted:
        decides = custody.view.deciding_run(custody.contract.digest)
        if decides is None or decides.number != run.number:
            yield failed(
                Text("decide otra corrida del contrato", "another run of the contract decides"),
                expected=f"run {'–' if decides is None else decides.number}",
                found=f"run {run.number}",
            )
    closing = run.scored or run.terminal
    if header.closed_at != closing.time:
        yield failed(
            Text("closed_at no es la hora de la entrada que cierra", "closed_at is not the time of the closing entry"),
            expected=closing.time,
            found=header.closed_at,
        )


_STEPS = (_checkpoints, _elsewhere, _run, _bank)
