"""The steps up to the first request: register, preflight, open, draw, deliver, plan, start, anchor.

The order is fixed: nothing private leaves before the start lies under an anchored checkpoint.
"""

from __future__ import annotations

from pathlib import Path

from slaverify.audit.catalogue import CATALOGUE
from slaverify.audit.changing import candidate_of
from slaverify.audit.environment import environment
from slaverify.audit.session import Session, put, put_json, write_pointers
from slaverify.audit.witnessing import await_witnesses
from slaverify.canonical import JsonObject, jcs, loads_canonical, sha256_hex
from slaverify.contract import LoadedContract, Role, method_digest
from slaverify.custody import BlindSecret, Draw, Entry, Part, RunPermit, authorise, draw_json, draw_run
from slaverify.custody.append import RunStart, open_run, register_contract, register_key, start_data, start_run
from slaverify.custody.blinding import blind_start, open_blinds, standing_start
from slaverify.custody.checkpoints import covering
from slaverify.custody.deliver import DeliveredItem, deliver, delivery_path, open_delivery
from slaverify.custody.drawing import settle_draw
from slaverify.engine import compile_endpoint
from slaverify.engine.wire import Secrets, read_secrets
from slaverify.evalset import write_catalogue
from slaverify.run import PLAN, Plan, again_of, build_plan, in_stages, on_both_sides, plan_bytes, plan_sha256, read_plan
from slaverify.run.journal import Journal, RunHeader
from slaverify.run.rules import stamp
from slaverify.run.runner import PreflightRecord, probe_endpoint
from slaverify.trajectory.loop import tool_probe
from slaverify.version import __version__

_MAX_SIGNATURE = 64 * 1024
"""Largest file of a party's signature, bytes."""


def secrets_of(session: Session) -> Secrets:
    """Read the endpoint's secret, once, from where the contract says. Raises: EndpointError SLV-N020 to N022."""
    auth = session.contract.model.endpoint.auth
    return read_secrets([] if auth is None else [auth.secret])


def probe(session: Session, side: str = "current") -> PreflightRecord:
    """Do the preflight of a version: public items alone. Raises: EndpointError SLV-N040 (6), SLV-N041, SLV-N042 (5)."""
    spec = compile_endpoint(session.contract.model).of(side)
    return probe_endpoint(spec, secrets_of(session), session.ports.clock, tools=tool_probe(session.contract.model))


def open_next_run(session: Session, *, change: bool = False) -> tuple[int, PreflightRecord]:
    """Register contract and auditor, do the preflight, and open a run; the ledger gives its number.

    `change`: a change check, which the contract's new version answers too.
    Raises: what the preflight raises (then no number is used), ApplicationError SLV-A035 (the contract agrees on no
    change check), CustodyError SLV-K041, SLV-K045.
    """
    candidate = candidate_of(session.contract.model) if change else None
    _register(session)
    found = probe(session)
    if candidate is not None:
        probe(session, side="candidate")
    record = open_run(session.ledger, session.auditor, session.terms, candidate=candidate)
    return record.number, found


def _register(session: Session) -> None:
    """Register auditor and contract; where the custodian is on another machine, what was registered there stands."""
    view, terms = session.ledger.refresh(), session.terms
    known = view.contract(terms.contract_digest)
    if session.custodian_here is None and known is not None and session.auditor.key_id in view.keys:
        return
    register_key(session.ledger, session.custodian, session.auditor, now=session.ports.clock())
    registered = register_contract(session.ledger, session.custodian, terms)
    if covering(session.bank_folder, registered.seq) is None:
        session.checkpoint()


def prepare(session: Session, number: int, found: PreflightRecord | None) -> None:
    """Draw, deliver the queries, write plan, contract and environment, and make the journal."""
    folder = session.run_folder(number)
    write_pointers(folder, session.bank_folder, session.keys.folder, session.out)
    put(folder / "contract" / "contract.json", jcs(session.contract.tree))
    if session.catalogue is not None:
        put(folder / CATALOGUE, write_catalogue(session.catalogue.entries.values()))
    _put_signatures(session.contract, folder)
    drawn = settle_draw(
        session.ledger,
        session.bank.index,
        session.terms,
        number,
        custodian=session.custodian_here,
        auditor=session.auditor,
        now=session.ports.clock(),
    )
    put(folder / "custody" / "draw.json", draw_json(drawn))
    deliver_part(session, drawn, Part.QUERY)
    plan = _plan(session, folder, drawn)
    if not (folder / "environment" / "environment.json").is_file():
        plugins = [one.name for one in session.contract.model.method.plugins]
        put_json(folder / "environment" / "environment.json", environment(plugins))
    journal = journal_path(folder)
    if not journal.is_file():
        record = found or probe(session)
        header = header_of(session, drawn, plan)
        Journal.create(journal, header, plan, events=[("preflight", record.to_json())]).close()


def _put_signatures(contract: LoadedContract, folder: Path) -> None:
    """Copy the parties' signatures that stand beside the contract; what they are worth is judged by who reads them."""
    beside = Path(contract.source).resolve().parent / f"{contract.model.contract.id}.signatures"
    for role in Role:
        for suffix in (".p7s", ".tsr", ".sshsig"):
            path = beside / f"{role.value}{suffix}"
            if path.is_file() and path.stat().st_size <= _MAX_SIGNATURE:
                put(folder / "contract" / "signatures" / path.name, path.read_bytes())


def start(session: Session, number: int) -> RunPermit:
    """Record the start, anchor it as the contract asks, and return the permit to send.

    Raises: CustodyError SLV-K040 (a blind start whose place is not due: exit 6), ReportError SLV-R020 (no token: exit
    6, resumable).
    """
    seq, hidden = _started(session, number)
    stamped = session.terms.start_anchor in ("timestamp", "both")
    evidence = covering(session.bank_folder, seq, token=stamped)
    if evidence is None:
        # A checkpoint without its token may lie there from a walk that broke off: it gets it now.
        evidence = session.checkpoint(seq, stamp=stamped)
    if session.terms.start_anchor in ("witness", "both"):
        await_witnesses(session, evidence)
    return authorise(
        session.ledger.refresh(),
        session.terms,
        number,
        evidence.evidence,
        now=session.ports.clock(),
        timestamps=session.ports.timestamps,
        hidden=hidden,
    )


def _started(session: Session, number: int) -> tuple[int, tuple[Entry, BlindSecret] | None]:
    """Record the start, open or blind as agreed; return its place in the ledger, and what opens it while closed."""
    record, drawn = session.record(number), drawn_of(session, number)
    if record.started is not None:
        return record.started.seq, None
    start = _start(session, session.run_folder(number))
    if not session.terms.blind:
        return start_run(session.ledger, session.auditor, drawn, start).seq, None
    hidden = blind_start(
        session.ledger,
        session.auditor,
        session.terms,
        number,
        start_data(drawn, start),
        keys=session.keys.folder,
        now=session.ports.clock(),
    )
    return hidden[0].seq, hidden


def has_started(session: Session, number: int) -> bool:
    """Tell whether the start of a run is on record, open or blind."""
    if session.record(number).started is not None:
        return True
    blind = session.terms.blind
    return blind and standing_start(session.ledger, session.terms, number, session.keys.folder) is not None


def open_blind_entries(session: Session) -> None:
    """Open every blind entry of the ledger, where the contract agrees on them; nothing counts while one is closed."""
    if session.terms.blind:
        open_blinds(session.ledger, session.auditor, session.keys.folder)


def drawn_of(session: Session, number: int) -> Draw:
    """Return the draw of a run, computed again from ledger and index."""
    return draw_run(session.bank.index, session.ledger.refresh(), session.terms, number)


def deliver_part(session: Session, drawn: Draw, part: Part) -> None:
    """Deliver one part of the drawn items to the auditor, once."""
    deliver(
        session.ledger,
        session.bank,
        session.terms,
        drawn,
        part,
        custodian=session.custodian_here,
        auditor=session.auditor,
        private=private(session, drawn.run),
    )


def delivered(session: Session, drawn: Draw, part: Part) -> tuple[DeliveredItem, ...]:
    """Open a delivery and return its items, each checked against its commitment."""
    path = delivery_path(session.bank_folder, session.ledger.refresh(), drawn, part)
    return open_delivery(path, session.auditor.age_identity, session.bank, drawn, part, private(session, drawn.run))


def private(session: Session, number: int) -> Path:
    """Return the private folder of a run (0700); nothing of it is ever bundled."""
    return session.run_folder(number) / "private"


def journal_path(folder: Path) -> Path:
    """Return where the journal of a run folder lies."""
    return folder / f"{folder.name}.journal"


def header_of(session: Session, drawn: Draw, plan: Plan) -> RunHeader:
    """Return the identity that the journal must have."""
    return RunHeader(
        run_id=plan.run_id,
        contract_digest=session.contract.digest,
        bank_digest=session.bank.digest,
        sample_sha256=drawn.sample_sha256,
        plan_sha256=plan_sha256(plan),
        method_digest=method_digest(session.contract.tree),
        product_version=__version__,
        started_at=stamp(session.ports.clock()),
    )


def plan_of(folder: Path) -> Plan:
    """Read the plan of a run folder."""
    return read_plan((folder / PLAN).read_bytes())


def _plan(session: Session, folder: Path, drawn: Draw) -> Plan:
    agreed, seed = session.contract.model.repetitions, bytes.fromhex(drawn.seed)
    repetitions, sample, change = agreed.per_item, drawn.selection.sample, session.record(drawn.run).is_change_check
    again = None if change else again_of(folder.name, sample, seed, agreed.dispersion_sample)
    plan = build_plan(
        folder.name, sample, repetitions, seed, beside=drawn.beside.ids, apart=drawn.beside.twin, again=again
    )
    if change:
        plan = on_both_sides(plan, seed)
    elif drawn.selection.extension:
        plan = in_stages(plan, build_plan(folder.name, drawn.selection.extension, repetitions, seed))
    put(folder / PLAN, plan_bytes(plan))
    return plan


def _start(session: Session, folder: Path) -> RunStart:
    known: JsonObject = loads_canonical((folder / "environment" / "environment.json").read_bytes())
    spec = compile_endpoint(session.contract.model)
    return RunStart(
        plan_sha256=plan_sha256(plan_of(folder)),
        engine_version=session.contract.model.engine.version,
        harness_version=str(known["harness_version"]),
        lock_sha256=str(known["lock_sha256"]),
        python=str(known["python"]),
        os=str(known["os"]),
        endpoint_host_sha256=sha256_hex(spec.address.host.encode("utf-8")),
    )
