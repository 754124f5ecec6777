"""Set the stage: a fresh folder with demo keys, a copy of the demo bank, two servers, and a frozen contract."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from slaverify.canonical import JsonValue
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import SIGNING_KEY, now
from slaverify.errors import ApplicationError, Text
from slaverify.resources import resource

BANK = "banco-demo"
KEYS = "banco-demo-claves"
CONTRACTS = {"norm": "demo-normativa-cl.yaml", "agent": "demo-agente-crm.yaml"}


@dataclass(frozen=True)
class Stage:
    """Where everything of a demonstration lies."""

    folder: Path
    bank: Path
    keys: Path
    contract: Path
    out: Path
    signing_key: Path
    arbitrator_identity: Path
    signatory: str


@contextmanager
def stage(folder: Path, engine: str, lang: str, kind: str = "norm") -> Iterator[Stage]:
    """Make the folder and the servers, and yield the stage. Raises: ApplicationError SLV-A010 if it is not empty."""
    from slaverify.cli.demo.agent import Agent
    from slaverify.cli.demo.agent_bank import seal_agent_bank
    from slaverify.cli.demo.engine import DemoEngine
    from slaverify.custody.keys import install_demo_keys
    from slaverify.evidence.pades.demo import demo_tsa_reply, make_authority

    place = _fresh(folder)
    store = install_demo_keys(resource("custodia", KEYS), place / "claves")
    changes: dict[str, JsonValue] = {}
    if kind == "agent":
        changes["method.trajectory.state_contract_digest"] = seal_agent_bank(place, store, BANK)
        vendor = Agent(engine).respond
    else:
        shutil.copytree(resource("custodia", BANK), place / BANK)
        vendor = DemoEngine(engine).respond
    signing = _signing_key(place / "claves")
    authority = make_authority(now())

    def stamp(request: bytes) -> tuple[int, str, bytes]:
        reply = demo_tsa_reply(request, authority.key_pem, authority.certificate_pem, now())
        return 200, "application/timestamp-reply", reply

    with serve(stamp) as tsa_url, serve(vendor) as vendor_url:
        recipients = {name: store.get_or_make_identity(name) for name in ("arbitro",)}
        changes |= _pins(place, lang, tsa_url, vendor_url, authority.root_pem.decode(), recipients)
        contract = _contract(place, CONTRACTS[kind], changes)
        yield Stage(
            folder=place,
            bank=place / BANK,
            keys=place / "claves",
            contract=contract,
            out=place / "auditoria",
            signing_key=signing,
            arbitrator_identity=store.identity_path("arbitro"),
            signatory=_signatory(contract),
        )


def _fresh(folder: Path) -> Path:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ApplicationError(
            "SLV-A010",
            Text("la carpeta de la demostración ya tiene algo", "the folder of the demonstration is not empty"),
            fix=Text("dé otra con --out", "give another one with --out"),
            where=str(folder),
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def _signing_key(keys: Path) -> Path:
    from slaverify.cli.files import write_new
    from slaverify.evidence.pades.demo import make_signer

    made = make_signer(now())
    path = keys / SIGNING_KEY
    write_new(path, made.key_pem + made.certificate_pem, mode=0o600)
    return path


def _pins(
    place: Path, lang: str, tsa_url: str, vendor_url: str, tsa_root: str, identities: dict[str, str]
) -> dict[str, JsonValue]:
    from slaverify.canonical import digest_of
    from slaverify.cli.files import read
    from slaverify.custody import read_ledger
    from slaverify.custody.keys import age_recipient
    from slaverify.evidence.envelope import load_key

    view = read_ledger(read(place / BANK / "ledger.jsonl"), None)
    spki = load_key(place / "claves" / SIGNING_KEY, str).spki_sha256
    changes: dict[str, JsonValue] = {
        "endpoint.url": f"{vendor_url}/consulta",
        "evaluation_set.bank_digest": digest_of(read(place / BANK / "manifest.json")),
        "ledger.origin": view.origin,
        "ledger.vkey": view.log_vkey,
        "parties.auditor.keys.0.spki_sha256": spki,
        "report.reply_days": 0,
        "report.signature.auditor_spki_sha256": spki,
        "report.signature.tsa_urls": [f"{tsa_url}/tsa"],
        "report.signature.tsa_roots": [tsa_root],
        "report.annex_recipients": {name: age_recipient(secret) for name, secret in identities.items()},
    }
    if lang:
        changes["report.languages"] = [lang]
    return changes


def _contract(place: Path, name: str, changes: dict[str, JsonValue]) -> Path:
    from slaverify.cli.files import read, write_new
    from slaverify.contract import edited, freeze
    from slaverify.contract.load import dump_yaml, load_contract, parse_contract

    draft = load_contract(resource("contratos", name))
    pinned = parse_contract(dump_yaml(edited(draft.tree, changes)).encode(), name)
    catalogue = f"{pinned.model.contract.id}.catalogue.jsonl"
    if pinned.model.scope.catalogue is not None:
        write_new(place / catalogue, read(resource("contratos", catalogue)))
    target = place / "contrato.yaml"
    write_new(target, dump_yaml(freeze(pinned.model)).encode())
    return target


def _signatory(contract: Path) -> str:
    from slaverify.contract.load import load_contract

    return load_contract(contract).model.report.signature.signatories[0]
