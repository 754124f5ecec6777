"""One small audit from seal to signed evidence, made with the rooms' own functions; then taken apart by the tests.

Thirty items are sealed, twenty-six drawn, asked of an engine in memory, scored, decided, bundled and signed. Nothing
here opens a socket; keys and times are made on the spot.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from slaverify.canonical import jcs, jsonl, sha256_hex
from slaverify.contract import LoadedContract, freeze, method_digest, run_id
from slaverify.contract.load import parse_contract
from slaverify.custody import (
    DRAWERS,
    LedgerView,
    Part,
    draw_json,
    exposure_json,
    terms_of,
)
from slaverify.custody.acts import record_dispute, record_resolution
from slaverify.custody.append import (
    LedgerFile,
    RunStart,
    Tally,
    end_run,
    open_run,
    record_batch,
    record_draw,
    record_scored,
    register_contract,
    register_key,
    revoke_key,
    start_run,
)
from slaverify.custody.deliver import deliver, open_delivery
from slaverify.custody.drawing import commit_nonce, reveal_nonce
from slaverify.custody.keys import KeyStore, PartyKey
from slaverify.custody.seal import SealedBank, SealItem, SealTerms, seal
from slaverify.custody.vault import load_bank
from slaverify.decision import decide, inputs, limitations, results
from slaverify.engine import RequestIds, compile_endpoint
from slaverify.evalset import Item, item_schema_sha256, join, parse_item, split
from slaverify.evidence import (
    Bundle,
    Header,
    LedgerHead,
    Tool,
    close,
    dispute_rulings,
    edition_files,
    limitation_facts,
    run_validity,
)
from slaverify.evidence.annex import seal_annex
from slaverify.evidence.envelope import SigningKey, sign_manifest
from slaverify.resources import resource
from slaverify.run import (
    AttemptKey,
    AttemptRecord,
    batches_of,
    build_plan,
    derive_outcomes,
    patterns_of,
    plan_bytes,
    rules_of,
    signals_json,
)
from slaverify.run.attribution import end_exchange, read_attempt
from slaverify.run.records import exchange_line, outcome_line
from slaverify.scoring import score, settings_for
from slaverify.verify import AnnexItem, annex_index, cluster_names, finished
from tests.evidence.pki import NOW, Tsa, auditor, tsa
from tests.tools.plain_draft import plain

PACKAGES = {"slaverify": "0.1.0"}
LOCK = sha256_hex(jcs(PACKAGES))
ENVIRONMENT = {
    "type": "slaverify/environment/1",
    "harness_version": "0.1.0",
    "lock_sha256": LOCK,
    "python": "3.11",
    "os": "Linux",
    "clock_offset_ms": None,
    "packages": PACKAGES,
}

START = NOW + timedelta(hours=1)
DIRECT, OUTSIDE = 24, 6
DRAWN = {"direct": 20, "out_of_corpus": 6}
ENGINE = "asistente-demo-1.0.0"
CUSTODY = "Custodia Ltda."
ABSTAIN = "No lo sé; no tengo esa información."
SECRET = hashlib.sha256(b"run secret of the sample").digest()


class Clock:
    """A clock that moves one second each time it is read."""

    def __init__(self, start: datetime = START) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass(frozen=True)
class Line:
    """What an audit left: contract, files of the bundle but its closing ones, the plain annex, header, keys."""

    contract: LoadedContract
    files: Mapping[str, bytes]
    annex: Mapping[str, bytes]
    header: Header
    custodian: PartyKey
    examiner: PartyKey
    view: LedgerView
    closing_time: datetime
    parties: tuple[PartyKey, ...] = ()


def items() -> list[Item]:
    """Questions whose answers are numbers, and questions that the text does not answer."""
    out = []
    for number in range(DIRECT):
        tree = {
            "schema": "item/1",
            "id": f"directo-{number:02d}",
            "stratum": "direct",
            "query": f"¿Cuántas fojas tiene el anexo número {number + 1}?",
            "reference": {"kind": "number", "value": str(100 + 7 * number)},
            "cluster": f"anexo-{number // 4}",
        }
        out.append(parse_item(tree))
    for number in range(OUTSIDE):
        tree = {
            "schema": "item/1",
            "id": f"fuera-{number:02d}",
            "stratum": "out_of_corpus",
            "query": f"¿De qué color es la puerta número {number + 1}?",
            "reference": {"kind": "none", "because": "out_of_corpus"},
        }
        out.append(parse_item(tree))
    return out


def contract_tree(bank: SealedBank, signer: SigningKey, authority: Tsa, ages: dict) -> dict:
    """The demo contract cut to the size of the sample, with the keys that were made."""
    from slaverify.contract.read_yaml import read_yaml

    path = resource("contratos", "demo-normativa-cl.yaml")
    tree = plain(read_yaml(path.read_text("utf-8"), path.name).tree)
    spki = signer.spki_sha256
    tree["parties"]["auditor"]["keys"] = [{"spki_sha256": spki}]
    tree["evaluation_set"].update(bank_digest=bank.bank_digest, size=DIRECT + OUTSIDE)
    tree["evaluation_set"]["strata"] = {"direct": DIRECT, "out_of_corpus": OUTSIDE}
    tree["evaluation_set"]["sample"]["per_stratum"] = dict(DRAWN)
    accuracy, hallucination = tree["metrics"]
    accuracy["threshold"], hallucination["threshold"] = "0.60", "0.40"
    tree["remedies"]["credits"] = [{"metric": "accuracy", "below": "0.60", "share": "0.05"}]
    signature = tree["report"]["signature"]
    signature.update(auditor_spki_sha256=spki, tsa_roots=[authority.root], tsa_urls=["https://tsa.example/tsa"])
    tree["report"]["annex_recipients"] = ages
    tree["ledger"].update(origin=bank.ledger_origin, vkey=bank.ledger_vkey)
    tree["parties"]["custodian"] = {"name": CUSTODY, "legal_id": "76.000.003-5"}
    return tree


@cache
def line(
    wrong: int = 0,
    silent: int = 0,
    revoked_after: timedelta | None = None,
    early: bool = False,
    upheld: int = 0,
    commit: str = "",
) -> Line:
    """The sample audit with `wrong` wrong answers and `silent` failures of the vendor among the direct questions.

    `revoked_after`: the ledger revokes the auditor's signing key from so long after its beginning. `early`: the
    questions were asked before the run was on record. `upheld`: so many disputes over direct items were upheld before
    the evidence was closed again, as an amended report does. `commit`: buyer and vendor drew by
    commit and reveal, `both` of them, or with the vendor said to have defaulted at once (`hasty`).
    """
    with TemporaryDirectory(prefix="slaverify-sample-") as folder:
        return build(Path(folder), wrong, silent, revoked_after, early, upheld, commit)


def build(
    folder: Path,
    wrong: int,
    silent: int,
    revoked_after: timedelta | None,
    early: bool,
    upheld: int = 0,
    commit: str = "",
) -> Line:
    """Walk the whole line once."""
    clock, signer, authority = Clock(), auditor(), tsa()
    store = KeyStore.create(folder / "keys")
    custodian = store.make("custodian", organisation=CUSTODY, roles=["custodian"], now=clock())
    examiner = store.make("auditor", organisation="Auditora Demo Ltda. (ficticia)", roles=["auditor"], now=clock())
    sealed_items = [
        SealItem(item.id, item.stratum, parts.query, parts.reference, cluster=item.cluster)
        for item in items()
        for parts in [split(item)]
    ]
    terms_seal = SealTerms("banco-muestra", "Banco de muestra", item_schema_sha256(), "Autora de prueba")
    bank_seal = seal(
        sealed_items, folder / "custodia", terms_seal, custodian=custodian, clock=clock, register=[examiner]
    )
    draft = contract_tree(bank_seal, signer, authority, {"auditora": examiner.age_recipient})
    if commit:
        draft["evaluation_set"]["sample"]["method"] = "commit_reveal"
    frozen = jcs(freeze(parse_contract(jcs(draft), "muestra.json").model))
    contract = parse_contract(frozen, "contract.json")
    terms = terms_of(contract.tree, contract.digest)
    bank = load_bank(bank_seal.folder, terms)
    ledger = LedgerFile.open(bank_seal.folder, clock, trust=terms.trust)

    def checkpoint() -> None:
        authority_now = Tsa(authority.identity, clock())
        ledger.checkpoint(custodian, authority_now.stamper())

    register_contract(ledger, custodian, terms)
    parties = [store.make(role, organisation=f"Parte {role}", roles=[role], now=clock()) for role in DRAWERS if commit]
    for party in parties:
        register_key(ledger, custodian, party, now=clock())
    record = open_run(ledger, examiner, terms)
    for act in (commit_nonce, reveal_nonce):
        for role, party in zip(DRAWERS, parties, strict=False):
            if commit == "hasty" and (act, role) == (reveal_nonce, "vendor"):
                data = {"contract_digest": contract.digest, "run": record.number, "role": role}
                ledger.append("draw_defaulted", data, [custodian])
            else:
                act(ledger, party, terms, record.number, role, store.folder)
        if commit and act is commit_nonce:
            checkpoint()
    drawn = record_draw(ledger, examiner, bank.index, terms, record.number)
    private = folder / "private"
    private.mkdir(mode=0o700)
    query_at = deliver(ledger, bank, terms, drawn, Part.QUERY, custodian=custodian, auditor=examiner, private=private)
    queries = open_delivery(query_at.path, examiner.age_identity, bank, drawn, Part.QUERY, private)
    number = run_id(contract.digest, record.number)
    plan = build_plan(number, drawn.selection.sample, 1, bytes.fromhex(drawn.seed))
    start = RunStart(
        plan_sha256=sha256_hex(plan_bytes(plan)),
        engine_version=ENGINE,
        harness_version="0.1.0",
        lock_sha256=LOCK,
        python="3.11",
        os="Linux",
        endpoint_host_sha256="cd" * 32,
    )
    start_run(ledger, examiner, drawn, start)
    checkpoint()
    asked = {one.id: one for one in queries}
    outcomes, exchanges = _ask(contract, plan, asked, clock, wrong, silent, early)
    for batch in batches_of(plan, outcomes):
        record_batch(
            ledger,
            examiner,
            contract.digest,
            record.number,
            number=batch.number,
            first=batch.first,
            last=batch.last,
            items=[bank.index.by_id[item].i for item in batch.items],
            root=bytes.fromhex(batch.root),
        )
    derived = derive_outcomes(compile_endpoint(contract.model), rules_of(contract.model), plan, outcomes, exchanges)
    assert derived.mismatches == ()
    signals = signals_json(number, derived.signals)
    patterns = patterns_of(signals, plan)
    counts = {outcome.value: n for outcome, n in derived.counts.items()}
    end_run(ledger, examiner, contract.digest, record.number, Tally(outcomes=counts))
    answers_at = deliver(
        ledger, bank, terms, drawn, Part.REFERENCE, custodian=custodian, auditor=examiner, private=private
    )
    references = open_delivery(answers_at.path, examiner.age_identity, bank, drawn, Part.REFERENCE, private)
    annex_items = _annex_items(queries, references)
    whole = {
        query.id: join(query.content, reference.content, query.id, query.stratum, query.twin_of)
        for query, reference in zip(queries, references, strict=True)
    }
    clusters = cluster_names(whole.values())
    records = [
        finished(
            score(
                whole[one.planned.item_id],
                one.answer,
                one.outcome,
                settings_for(contract.model, whole[one.planned.item_id].stratum),
            ).record,
            one,
            clusters[one.planned.item_id],
            patterns,
        )
        for one in derived.exchanges
    ]
    records.sort(key=lambda one: (one.item_id, one.repetition, one.side))
    scores = jsonl(one.to_json() for one in records)
    if revoked_after is not None:
        revoke_key(ledger, custodian, signer.spki_sha256, since=START + revoked_after, reason="prueba")
    record_scored(ledger, examiner, contract.digest, record.number, sha256_hex(scores))
    checkpoint()
    for item in drawn.selection.sample["direct"][:upheld]:
        of_item = {"item": item, "part": "reference", "role": "auditor", "claim": "sha256:" + "00" * 32}
        record_dispute(ledger, examiner, contract.digest, record.number, **of_item)
        record_resolution(
            ledger, examiner, contract.digest, record.number, item=item, outcome="upheld", reason="prueba"
        )
    if upheld:
        checkpoint()
    view = ledger.refresh()
    files = {
        "contract/contract.json": frozen,
        "custody/draw.json": draw_json(drawn),
        "custody/exposure.json": exposure_json(bank.index, view, terms),
        "run/plan.json": plan_bytes(plan),
        "run/outcomes.jsonl": outcomes,
        "run/exchanges.jsonl": exchanges,
        "run/signals.json": jcs(signals),
        "scoring/scores.jsonl": scores,
        "environment/environment.json": jcs(ENVIRONMENT),
        **_custody(bank_seal.folder),
    }
    files |= decided(contract, files, record.number)
    scored = view.find("scored")
    assert scored is not None
    header = Header(
        contract_id=contract.model.contract.id,
        contract_digest=contract.digest,
        bank_digest=bank_seal.bank_digest,
        method_digest=method_digest(contract.tree),
        run_id=number,
        run_number=record.number,
        closed_at=scored.time,
        ledger=LedgerHead(view.origin, view.size, view.root.hex()),
        tool=Tool("slaverify", "0.1.0", LOCK),
    )
    annex = {"index.jsonl": annex_index(nonce("index.jsonl"), annex_items)}
    return Line(contract, files, annex, header, custodian, examiner, view, clock(), tuple(parties))


def decided(contract: LoadedContract, files: Mapping[str, bytes], number: int) -> dict[str, bytes]:
    """The files of statistics and decision that follow from the others, as the auditor computes them."""
    bundle = Bundle.of_files(files)
    validity = run_validity(bundle, contract, number)
    records = [json.loads(row) for row in files["scoring/scores.jsonl"].splitlines()]
    counted = inputs(contract.model, records, dispute_rulings(bundle, contract, number))
    measured = results(contract.model, counted, validity)
    out = {
        "statistics/inputs.json": jcs(counted),
        "statistics/results.json": jcs(measured),
        "decision/decision.json": jcs(decide(contract.model, measured, validity)),
    }
    facts = limitation_facts(Bundle.of_files({**files, **out}), contract, number)
    return {**out, "decision/limitations.json": jcs(limitations(contract.model, facts))}


def nonce(path: str) -> str:
    return hmac.digest(SECRET, path.encode(), "sha256").hex()


def _custody(folder: Path) -> dict[str, bytes]:
    names = {
        "custody/bank_manifest.json": "manifest.json",
        "custody/bank.checkpoint": "bank.checkpoint",
        "custody/index.jsonl": "index.jsonl",
        "custody/ledger.jsonl": "ledger.jsonl",
    }
    found = {path: (folder / name).read_bytes() for path, name in names.items()}
    for path in sorted((folder / "checkpoints").iterdir()):
        if not path.name.startswith("."):
            found[f"custody/checkpoints/{path.name}"] = path.read_bytes()
    return found


def _annex_items(queries, references) -> list[AnnexItem]:
    return [
        AnnexItem(query.id, jcs(query.content), bytes.fromhex(query.salt), jcs(ref.content), bytes.fromhex(ref.salt))
        for query, ref in zip(queries, references, strict=True)
    ]


def _ask(contract, plan, queries, clock, wrong, silent, early) -> tuple[bytes, bytes]:
    """Both files of a run: every planned question asked once, in order, of an engine that we know."""
    spec, rules, key = (
        compile_endpoint(contract.model),
        rules_of(contract.model),
        bytes.fromhex(nonce("run/exchanges.jsonl")),
    )
    truth = {item.query_text(): item for item in items()}
    lines, wires, asked = [], [], 0
    for exchange in plan.exchanges:
        query = queries[exchange.item_id].content
        item = truth[str(query["query"])]
        at = clock() - timedelta(hours=1 if early else 0)
        fault, body = None, None
        if item.stratum == "direct":
            asked += 1
        if item.stratum != "direct":
            text = ABSTAIN
        elif asked <= wrong:
            text = "Tiene 9999 fojas."
        else:
            text = f"Tiene {item.reference.value} fojas."
        body = json.dumps({"answer": text, "engine": {"version": ENGINE}}, ensure_ascii=False).encode()
        status = 200
        if item.stratum == "direct" and wrong < asked <= wrong + silent:
            status, body = 500, b"{}"
        record = AttemptRecord(
            key=AttemptKey(exchange.item_id, 0, "current", 0, 1),
            started_at=_ms(at),
            ended_at=_ms(at + timedelta(milliseconds=120)),
            first_byte_ms=100,
            last_byte_ms=120,
            status=status,
            wire_fault=fault,
            headers={"content-type": "application/json"},
            request=spec.template.render(query, RequestIds("00" * 16, "11" * 16)),
            response=body,
            peer="192.0.2.1",
            spki=None,
        )
        reading = read_attempt(spec, rules, record)
        ended = end_exchange([record], [reading])
        batch = exchange.position // 25 + 1
        lines.append((record.key.order, outcome_line(record, reading, ended.ending, batch, key)))
        wires.append((record.key.order, exchange_line(record)))
    ordered = [row for _, row in sorted(lines, key=lambda one: one[0])]
    return jsonl(ordered), jsonl([{"nonce": key.hex()}, *(row for _, row in sorted(wires, key=lambda one: one[0]))])


def _ms(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def closed(
    made: Line,
    changes: Mapping[str, bytes | None] | None = None,
    *,
    header: Header | None = None,
    signer: SigningKey | None = None,
    authority: Tsa | None = None,
    at: datetime | None = None,
    with_annex: bool = True,
) -> dict[str, bytes]:
    """Every file of the closed and signed bundle of the parties; `changes` are made before closing (None removes)."""
    files = {**made.files}
    for path, data in (changes or {}).items():
        files.pop(path, None)
        if data is not None:
            files[path] = data
    entry = None
    if with_annex:
        recipients = dict(made.contract.model.report.annex_recipients)
        sealed = _sealed(made, tuple(recipients.items()))
        files["sealed/annex.age"], entry = sealed.ciphertext, sealed.entry
    closing = close(Bundle.of_files(files), header or made.header, entry)
    files |= {"SHA256SUMS": closing.sums, "manifest.json": closing.manifest}
    return signed(files, signer=signer, authority=authority, at=at or made.closing_time)


def signed(
    files: Mapping[str, bytes],
    *,
    signer: SigningKey | None = None,
    authority: Tsa | None = None,
    at: datetime | None = None,
) -> dict[str, bytes]:
    """The files with an envelope over the manifest that they hold."""
    stamper = Tsa((authority or tsa()).identity, at or START).stamper()
    envelope = sign_manifest(files["manifest.json"], signer or auditor())
    return {**files, "manifest.p7s": envelope, "manifest.tsr": stamper.stamp(envelope)}


@cache
def _sealed_of(annex: tuple[tuple[str, bytes], ...], recipients: tuple[tuple[str, str], ...]):
    return seal_annex(dict(annex), dict(recipients))


def _sealed(made: Line, recipients: tuple[tuple[str, str], ...]):
    return _sealed_of(tuple(made.annex.items()), recipients)


def public(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The public edition of a closed bundle."""
    kept = {name for name, _, _ in edition_files(Bundle.of_files(files), "public")}
    return {name: data for name, data in files.items() if name in kept}


Edit = Callable[[dict], None]


def edited(data: bytes, edit: Edit) -> bytes:
    """A JSON file with an edit made to its tree, canonical again."""
    tree = json.loads(data)
    edit(tree)
    return jcs(tree)


def edited_line(data: bytes, number: int, edit: Edit) -> bytes:
    """A record file with an edit made to one line (from 0)."""
    rows = [json.loads(row) for row in data.splitlines()]
    edit(rows[number])
    return jsonl(rows)


def forced(files: Mapping[str, bytes], path: str, data: bytes) -> dict[str, bytes]:
    """A bundle whose manifest and SHA256SUMS name `data` as it is, signed: what no honest closing would write."""
    tree = json.loads(files["manifest.json"])
    changed = {**files, path: data}
    entries = {entry["path"]: entry for entry in tree["files"]}
    _measure(entries[path], data)
    rows = [f"{entry['sha256']}  {name}\n" for name, entry in entries.items() if name != "SHA256SUMS"]
    changed["SHA256SUMS"] = "".join(rows).encode()
    _measure(entries["SHA256SUMS"], changed["SHA256SUMS"])
    changed["manifest.json"] = jcs(tree)
    return signed(changed, at=START + timedelta(hours=1))


def _measure(entry: dict, data: bytes) -> None:
    entry["size"], entry["sha256"] = len(data), sha256_hex(data)
    if entry["records"] is not None:
        entry["records"] = data.count(b"\n") - (entry["path"] == "run/exchanges.jsonl")
