"""Write ledger lines of any kind, right or wrong, signed with real keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slaverify.canonical import sha256_hex
from slaverify.custody import NoteKey, Trust, draw_seed, genesis_prev, key_id
from slaverify.custody.entries import write_line
from slaverify.custody.shapes import time_text

CONTRACT = "sha256:" + "c1" * 32
BANK = "sha256:" + "ba" * 32
ROOT = "7e" * 32
T0 = datetime.fromisoformat("2026-03-02T12:00:00+00:00")


@dataclass(frozen=True)
class Key:
    """A real Ed25519 key made from a word."""

    word: str
    private: Ed25519PrivateKey = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "private", Ed25519PrivateKey.from_private_bytes(sha256(self.word.encode()).digest()))

    @property
    def public(self) -> bytes:
        return self.private.public_key().public_bytes_raw()

    @property
    def id(self) -> str:
        return key_id(self.public)

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data)

    def vkey(self, name: str, algorithm: int = 1) -> str:
        return NoteKey(name, algorithm, self.public).vkey()


LOG, AUDITOR, BUYER, VENDOR, STRANGER = (Key(w) for w in ("log", "auditor", "buyer", "vendor", "stranger"))
ORIGIN = "archive.example/ledger/00c0ffee"


class Forge:
    """A growing list of lines. `add` writes the next one rightly but for what it is told to write otherwise."""

    def __init__(self, log: Key = LOG, origin: str = ORIGIN) -> None:
        self.log, self.origin = log, origin
        self.lines: list[bytes] = []
        self.trust = Trust(origin, log.vkey(origin))
        self.add(
            "genesis",
            {"origin": origin, "log_vkey": log.vkey(origin), "organisation": "archive.example"},
            [log],
            prev=genesis_prev(origin, log.public),
        )

    def add(self, kind: str, data: dict, signers: list[Key], **otherwise: object) -> bytes:
        tree = {
            "v": 1,
            "seq": len(self.lines),
            "type": kind,
            "actor": signers[0].id,
            "time": time_text(T0 + timedelta(minutes=len(self.lines))),
            "clock_offset_ms": None,
            "prev": sha256_hex(self.lines[-1]) if self.lines else "",
            "data": data,
        } | otherwise
        line = write_line(tree, signers)
        self.lines.append(line)
        return line

    def key(self, key: Key, roles: list[str], organisation: str, **otherwise: object) -> Forge:
        name = f"{organisation}/{key.word}"
        data = {
            "key_id": key.id,
            "name": name,
            "roles": roles,
            "organisation": organisation,
            "vkey": key.vkey(name),
            "age": None,
            "ssh": None,
            "valid_from": "2026-01-01T00:00:00Z",
            "valid_until": None,
        } | otherwise
        self.add("key_added", data, [self.log, key])
        return self

    def base(self, budget: int = 2) -> Forge:
        """Keys of everybody, a bank and a contract."""
        self.key(AUDITOR, ["auditor"], "auditor.example").key(BUYER, ["buyer"], "buyer.example")
        self.key(VENDOR, ["vendor"], "vendor.example")
        self.add("bank_sealed", {"bank_digest": BANK, "root": ROOT, "n": 12, "ciphertext_sha256": "0c" * 32}, [LOG])
        self.contract(CONTRACT, budget)
        return self

    def contract(self, digest: str, budget: int = 2) -> bytes:
        data = {
            "contract_digest": digest,
            "bank_digest": BANK,
            "vendor": "vendor.example",
            "exposure_group": "vendor.example",
            "run_budget": budget,
        }
        return self.add("contract_registered", data, [LOG])

    def run(self, kind: str, run: int = 1, *, by: Key = AUDITOR, **data: object) -> bytes:
        return self.add(kind, {"contract_digest": CONTRACT, "run": run, **data}, [by])

    def draw(self, run: int = 1, **data: object) -> bytes:
        nonces = data.pop("nonces", {})
        seed = draw_seed(bytes.fromhex(ROOT), CONTRACT, run, nonces)
        fields = {
            "seed": seed.hex(),
            "method": "seeded",
            "beacon": None,
            "at_size": len(self.lines),
            "n_per_stratum": {"direct": 2},
            "sample_sha256": "5a" * 32,
            "arms": {"fresh": 2},
        } | data
        return self.run("draw", run, **fields)

    def start(self, run: int = 1, **data: object) -> bytes:
        return self.run("run_started", run, **({"sample_sha256": "5a" * 32, "plan_sha256": "9a" * 32} | data))

    def batch(self, number: int = 1, run: int = 1, **data: object) -> bytes:
        fields = {"number": number, "first": 0, "last": 1, "items": [1, 4], "root": "00" * 32}
        return self.run("batch", run, **(fields | data))

    def started(self, budget: int = 2) -> Forge:
        self.base(budget)
        self.run("run_opened")
        self.draw()
        self.start()
        return self
