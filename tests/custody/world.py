"""A small world of parties for the tests of custody: clock, keys, a sealed bank, contract terms, signed lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from slaverify.custody import Bank, Terms, TokenTime, terms_of
from slaverify.custody.append import LedgerFile, RunStart, open_run, record_draw, register_contract, start_run
from slaverify.custody.keys import KeyStore, PartyKey
from slaverify.custody.manifest import Recipient
from slaverify.custody.seal import SealedBank, SealItem, SealTerms, seal
from slaverify.custody.vault import load_bank
from slaverify.errors import EvidenceError, Text

CONTRACT = "sha256:" + "c0" * 32
SCHEMA = "5c" * 32
START = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


class TestClock:
    """A clock that moves one second each time it is read, and by hand."""

    __test__ = False

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Authority:
    """A stand-in for the port of timestamps: a token is the digest of its data and a time."""

    def __init__(self, clock: TestClock, accuracy_ms: int = 1000) -> None:
        self.clock = clock
        self.accuracy_ms = accuracy_ms
        self.asked = 0

    def stamp(self, data: bytes) -> bytes:
        self.asked += 1
        from hashlib import sha256

        return sha256(data).hexdigest().encode() + b" " + self.clock().isoformat().encode()

    def time(self, data: bytes, tsr: bytes, roots_pem: object) -> TokenTime:
        from hashlib import sha256

        digest, _, at = tsr.partition(b" ")
        if not roots_pem or digest != sha256(data).hexdigest().encode():
            raise EvidenceError("SLV-E001", Text("sello de otra cosa", "token of something else"))
        return TokenTime(datetime.fromisoformat(at.decode()), self.accuracy_ms)


@dataclass
class World:
    folder: Path
    keys: Path
    private: Path
    clock: TestClock
    store: KeyStore
    custodian: PartyKey
    auditor: PartyKey
    sealed: SealedBank
    terms: Terms

    @property
    def bank_folder(self) -> Path:
        return self.sealed.folder

    def bank(self) -> Bank:
        return load_bank(self.bank_folder, self.terms)

    def ledger(self) -> LedgerFile:
        return LedgerFile.open(self.bank_folder, self.clock, trust=self.terms.trust)

    def started(self, ledger: LedgerFile, terms: Terms | None = None) -> int:
        """Walk a run to its start and return its number."""
        agreed = terms or self.terms
        register_contract(ledger, self.custodian, agreed)
        number = open_run(ledger, self.auditor, agreed).number
        drawn = record_draw(ledger, self.auditor, self.bank().index, agreed, number)
        start_run(ledger, self.auditor, drawn, run_start())
        return number


def run_start(plan: str = "aa" * 32) -> RunStart:
    return RunStart(
        plan_sha256=plan,
        engine_version="engine-1",
        harness_version="0.1.0",
        lock_sha256=None,
        python="3.11",
        os="Linux",
        endpoint_host_sha256="bb" * 32,
    )


def items(count: int, *, stratum: str = "direct", prefix: str = "q") -> list[SealItem]:
    return [
        SealItem(
            source_id=f"{prefix}-{number}",
            stratum=stratum,
            query={"schema": "item/1", "locale": "es-CL", "query": f"¿Qué plazo fija el artículo {number}?"},
            reference={
                "schema": "item/1",
                "source_id": f"{prefix}-{number}",
                "reference": {"kind": "number", "value": str(number), "unit": "días"},
            },
            cluster=f"c{number // 3}",
        )
        for number in range(count)
    ]


def contract_tree(sealed: SealedBank, **changes: object) -> dict:
    tree = {
        "contract": {"id": "demo-contract", "purpose": "audit"},
        "parties": {
            "buyer": {"name": "Servicio Comprador"},
            "vendor": {"name": "Proveedor SpA", "legal_id": "76.000.000-0"},
            "auditor": {"name": "Auditora Ltda."},
            "custodian": {"name": "Archivo Neutral"},
        },
        "evaluation_set": {
            "bank_digest": sealed.bank_digest,
            "sample": {"method": "seeded", "per_stratum": {"direct": 6, "trap": 2}, "reserve": 1},
        },
        "ledger": {"origin": sealed.ledger_origin, "vkey": sealed.ledger_vkey, "run_budget": 2},
        "report": {"signature": {"tsa_roots": ["-----BEGIN CERTIFICATE-----"]}},
    }
    for path, value in changes.items():
        block, *rest = path.split("__")
        target = tree
        for key in (block, *rest)[:-1]:
            target = target[key]
        target[(block, *rest)[-1]] = value
    return tree


def make_world(tmp_path: Path, count: int = 20, traps: int = 8) -> World:
    clock = TestClock()
    store = KeyStore.create(tmp_path / "keys")
    custodian = store.make("custodian", organisation="Archivo Neutral", roles=["custodian"], now=clock())
    auditor = store.make("auditor", organisation="Auditora Ltda.", roles=["auditor"], now=clock())
    recovery = store.get_or_make_identity("recovery")
    from slaverify.custody.keys import age_recipient

    sealed = seal(
        items(count) + items(traps, stratum="trap", prefix="t"),
        tmp_path / "custodia",
        SealTerms(
            bank_id="bank-one",
            name="Banco de prueba",
            item_schema_sha256=SCHEMA,
            author="Autora Independiente",
            recipients=[Recipient("recovery", age_recipient(recovery))],
        ),
        custodian=custodian,
        clock=clock,
        register=[auditor],
    )
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    terms = terms_of(contract_tree(sealed), CONTRACT)
    return World(tmp_path, tmp_path / "keys", private, clock, store, custodian, auditor, sealed, terms)


def other_terms(world: World, digest: str, **changes: object) -> Terms:
    return replace(terms_of(contract_tree(world.sealed, **changes), digest))
