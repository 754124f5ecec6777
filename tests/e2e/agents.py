"""Sets the line up for an engine with tools: questions of the example state contract, sealed, and its contract."""

from __future__ import annotations

import secrets
from pathlib import Path

from slaverify.canonical import JsonValue, jcs, sha256_hex
from slaverify.cli.demo.agent import VERSION
from slaverify.contract import edited, freeze
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.custody.keys import KeyStore, age_recipient
from slaverify.resources import resource
from slaverify.trajectory import StateContract, generate
from slaverify.trajectory.items import question_items
from slaverify.trajectory.state_files import read_state_files
from tests.e2e.line import ORGANISATION, Place, make_place

DRAFT = "demo-agente-crm.yaml"
CHAT: dict[str, JsonValue] = {
    "endpoint.adapter": "openai_chat@1",
    "endpoint.request": {"model": VERSION, "messages": "${messages}", "tools": "${tools}", "tool_choice": "auto"},
    "endpoint.response": {},
}


def state() -> tuple[StateContract, str]:
    """Return the example state contract and its locale."""
    root = Path(str(resource("contratos", "estado-crm")))
    return read_state_files({one.relative_to(root).as_posix(): one.read_bytes() for one in root.rglob("*.*")})


def make_agent_place(folder: Path) -> Place:
    """Make keys and seal the 40 questions with their state contract."""
    contract, locale = state()
    nonce = secrets.token_bytes(32)
    items = question_items(contract, generate(contract, locale, nonce), locale, nonce, lambda: secrets.token_hex(8))
    return make_place(folder, list(items), {sha256_hex(contract.content): contract.content})


def write_agent_contract(
    place: Place, vendor_url: str, tsa_url: str, changes: dict[str, JsonValue] | None = None
) -> Path:
    """Freeze the demo contract over the sealed questions."""
    draft = load_contract(resource("contratos", DRAFT))
    base: dict[str, JsonValue] = {
        "contract.id": "prueba-agente",
        "endpoint.url": vendor_url,
        "endpoint.call.backoff": {"base_s": "0.01", "jitter_s": "0.01", "cap_s": "0.05"},
        "evaluation_set.bank_digest": place.sealed.bank_digest,
        "method.trajectory.state_contract_digest": state()[0].digest,
        "ledger.origin": place.sealed.ledger_origin,
        "ledger.vkey": place.sealed.ledger_vkey,
        "parties.auditor.name": ORGANISATION,
        "parties.custodian.name": ORGANISATION,
        "parties.auditor.keys.0.spki_sha256": place.spki,
        "report.languages": ["es"],
        "report.reply_days": 0,
        "report.annex_recipients": {"arbitro": age_recipient(KeyStore.open(place.keys).identity("arbitro"))},
        "report.signature.auditor_spki_sha256": place.spki,
        "report.signature.tsa_urls": [tsa_url],
        "report.signature.tsa_roots": [place.authority.root_pem.decode()],
        "report.signature.signatories": [ORGANISATION],
    }
    tree = edited(draft.tree, {**base, **(changes or {})})
    place.contract.write_text(dump_yaml(freeze(parse_contract(jcs(tree), "draft").model)), encoding="utf-8")
    return place.contract
