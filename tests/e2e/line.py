"""Sets the line up for a test: keys, a sealed bank, a timestamp authority, a frozen contract. All of it real."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from slaverify.canonical import JsonValue, jcs
from slaverify.cli.demo.servers import Respond, serve
from slaverify.cli.wiring import now
from slaverify.contract import edited, freeze
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.custody.keys import KeyStore, age_recipient
from slaverify.custody.seal import SealedBank, SealItem, SealTerms, seal
from slaverify.evalset import Item, item_schema_sha256, split
from slaverify.evidence.envelope import load_key
from slaverify.evidence.pades.demo import Identity, demo_tsa_reply, make_authority, make_signer
from slaverify.resources import resource
from tests.tools.plain_draft import plain

ROOT = Path(__file__).resolve().parents[2]
ORGANISATION = "Auditora de Prueba Ltda."
DRAFT = "demo-normativa-cl.yaml"


@dataclass(frozen=True)
class Place:
    """Where the parts of one audit lie."""

    folder: Path
    keys: Path
    bank: Path
    sealed: SealedBank
    authority: Identity
    spki: str

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def contract(self) -> Path:
        return self.folder / "contract.yaml"

    @property
    def run(self) -> Path:
        """The folder of the only run."""
        (found,) = [path for path in self.out.iterdir() if path.name.endswith("-0001")]
        return found

    def pdf(self, language: str = "es") -> Path:
        (found,) = (self.run / "report").glob(f"*.{language}.pdf")
        return found

    def bundle(self, edition: str = "parties") -> Path:
        (found,) = (self.run / "report").glob(f"*.{edition}.zip")
        return found


def make_place(folder: Path, items: list[Item], attachments: dict[str, bytes] | None = None) -> Place:
    """Make keys and seal the items, with attachments by digest (hex)."""
    store = KeyStore.create(folder / "keys")
    custodian = store.make("custodian", organisation=ORGANISATION, roles=["custodian"], now=now())
    store.make("auditor", organisation=ORGANISATION, roles=["auditor"], now=now())
    store.get_or_make_identity("arbitro")
    signer = make_signer(now(), name=ORGANISATION, policy=None)
    path = folder / "keys" / "auditor.signing.pem"
    path.write_bytes(signer.key_pem + signer.certificate_pem)
    path.chmod(0o600)
    parts = [split(item) for item in items]
    sealed = seal(
        [
            SealItem(item.id, item.stratum, part.query, part.reference, item.twin_of, item.cluster)
            for item, part in zip(items, parts, strict=True)
        ],
        folder / "custodia",
        SealTerms(
            bank_id="banco",
            name="banco",
            item_schema_sha256=item_schema_sha256(),
            author="Autoría",
            attachments=attachments or {},
        ),
        custodian=custodian,
        clock=now,
    )
    authority = make_authority(now(), name="TSA de prueba", policy="1.3.6.1.4.1.99999.1")
    return Place(folder, folder / "keys", sealed.folder, sealed, authority, load_key(path, str).spki_sha256)


def write_contract(
    place: Place, vendor_url: str, tsa_url: str, changes: dict[str, JsonValue] | None = None, draft_name: str = DRAFT
) -> Path:
    """Freeze a contract over the sealed bank; `changes` are dotted paths of the draft."""
    draft = load_contract(resource("contratos", draft_name))
    strata = {name: n for name, n in place.sealed.manifest.strata.items() if name != "probe"}
    recipient = age_recipient(KeyStore.open(place.keys).identity("arbitro"))
    among: dict[str, JsonValue] = {
        f"metrics.{index}.among": {"stratum": [name for name in wanted if name in strata]}
        for index, wanted in enumerate((("direct",), ("direct", "out_of_corpus")) if draft_name == DRAFT else ())
    }
    base: dict[str, JsonValue] = {
        "contract.id": "prueba-lineal",
        "endpoint.url": vendor_url,
        "endpoint.call.backoff": {"base_s": "0.01", "jitter_s": "0.01", "cap_s": "0.05"},
        "evaluation_set.bank_digest": place.sealed.bank_digest,
        "evaluation_set.size": sum(strata.values()),
        "evaluation_set.strata": strata,
        "evaluation_set.sample.method": "full",
        "evaluation_set.sample.per_stratum": None,
        "ledger.origin": place.sealed.ledger_origin,
        "ledger.vkey": place.sealed.ledger_vkey,
        "parties.auditor.name": ORGANISATION,
        "parties.custodian.name": ORGANISATION,
        "parties.auditor.keys.0.spki_sha256": place.spki,
        "report.languages": ["es"],
        "report.reply_days": 0,
        "report.annex_recipients": {"arbitro": recipient},
        "report.signature.auditor_spki_sha256": place.spki,
        "report.signature.tsa_urls": [tsa_url],
        "report.signature.tsa_roots": [place.authority.root_pem.decode()],
        "report.signature.signatories": [ORGANISATION],
        **among,
    }
    written = plain(draft.tree) if draft_name == DRAFT else draft.tree
    tree = edited(written, {**base, **(changes or {})})
    frozen = freeze(parse_contract(jcs(tree), "draft").model)
    place.contract.write_text(dump_yaml(frozen), encoding="utf-8")
    return place.contract


def stamping(authority: Identity) -> Respond:
    """Return what a timestamp authority answers."""

    def stamp(request: bytes) -> tuple[int, str, bytes]:
        reply = demo_tsa_reply(
            request, authority.key_pem, authority.certificate_pem, now(), policy="1.3.6.1.4.1.99999.1"
        )
        return 200, "application/timestamp-reply", reply

    return stamp


@contextmanager
def tsa(authority: Identity, port: int = 0) -> Iterator[str]:
    """Serve a timestamp authority on loopback and yield its URL."""
    with serve(stamping(authority), port) as url:
        yield f"{url}/tsa"


def environment(place: Place) -> dict[str, str]:
    """Return the environment of a command of this audit."""
    return {**os.environ, "SLAVERIFY_KEYS": str(place.keys), "SLAVERIFY_LANG": "en"}


def slaverify(
    place: Place, *arguments: str, check: bool = False, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """Run one command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "slaverify", *arguments],
        env=environment(place),
        capture_output=True,
        text=True,
        check=check,
        timeout=timeout,
    )


def audit_arguments(place: Place, *more: str) -> list[str]:
    """Return the words of `slaverify audit` for this place."""
    return [
        "audit",
        str(place.contract),
        "--bank",
        str(place.bank),
        "--out",
        str(place.out),
        "--authorized-by",
        ORGANISATION,
        *more,
    ]
