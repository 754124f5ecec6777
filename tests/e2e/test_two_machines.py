"""Custodian and auditor on two machines: nothing passes between them but files, and no private key leaves its owner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from slaverify.canonical import JsonValue
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now
from slaverify.custody import read_ledger
from slaverify.custody.keys import KeyStore
from slaverify.evalset import write_bank
from slaverify.evidence.pades.demo import make_authority
from tests.e2e.conftest import ENGINE
from tests.e2e.line import ORGANISATION, Place, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

ARCHIVE = "Archivo Neutral"


@dataclass(frozen=True)
class Machine:
    """One of the two machines: its keys and its copy of the bank."""

    folder: Path

    @property
    def bank(self) -> Path:
        return self.folder / "custodia" / "banco"

    def type(self, *words: object, code: int = 0) -> str:
        environment = {
            **os.environ,
            "SLAVERIFY_KEYS": str(self.folder / "keys"),
            "SLAVERIFY_LANG": "en",
            "SLAVERIFY_KEY_PASSPHRASE": "",
        }
        command = [sys.executable, "-m", "slaverify", *map(str, words)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr


@dataclass(frozen=True)
class Courier:
    """Carries files between the two."""

    custodian: Machine
    auditor: Machine
    contract: Path

    def ledger_to_custodian(self) -> None:
        """The custodian takes in what the auditor's copy has more, judged line by line."""
        self.custodian.type("custody", "ledger", "accept", self.custodian.bank, self.auditor.bank / "ledger.jsonl")

    def checkpoint(self) -> None:
        self.ledger_to_custodian()
        self.custodian.type("custody", "ledger", "checkpoint", self.custodian.bank, "--contract", self.contract)
        for path in (self.custodian.bank / "checkpoints").iterdir():
            shutil.copy(path, self.auditor.bank / "checkpoints" / path.name)

    def delivery(self, part: str) -> None:
        self.ledger_to_custodian()
        asked, signed = self.custodian.folder / f"{part}.asked", self.auditor.folder / f"{part}.signed"
        words = ["custody", "deliver", self.custodian.bank, "--contract", self.contract, "--part", part]
        self.custodian.type(*words, "--propose", asked, "--yes")
        (self.auditor.bank / "deliveries").mkdir(exist_ok=True)
        name = f"run-0001.{part}.age"
        shutil.copy(self.custodian.bank / "deliveries" / name, self.auditor.bank / "deliveries" / name)
        self.auditor.type("custody", "ledger", "countersign", asked, "--key", "auditor", "--out", signed)
        for machine in (self.custodian, self.auditor):
            machine.type("custody", "ledger", "accept", machine.bank, signed)


def place_of(custodian: Machine, auditor: Machine) -> Place:
    """Seal on the custodian's machine, make the auditor's keys on the other, register them by files."""
    (custodian.folder / "set.jsonl").write_bytes(write_bank(items(60, 20)))
    custodian.type("keys", "new", "--role", "custodian", "--org", ARCHIVE, "--json")
    words = ["custody", "seal", custodian.folder / "set.jsonl", "--id", "banco", "--author", "Autora"]
    sealed = json.loads(custodian.type(*words, "--out", custodian.folder / "custodia", "--yes", "--json"))
    (custodian.folder / "set.jsonl").unlink()
    told = auditor.type("keys", "new", "--role", "auditor", "--org", ORGANISATION, "--json")
    card, asked, signed = (auditor.folder / f"auditor.{kind}" for kind in ("card", "asked", "signed"))
    card.write_text(told)
    custodian.type("custody", "ledger", "keys", custodian.bank, "--invite", card, "--out", asked)
    auditor.type("custody", "ledger", "countersign", asked, "--key", "auditor", "--out", signed)
    custodian.type("custody", "ledger", "accept", custodian.bank, signed)
    KeyStore.open(auditor.folder / "keys").get_or_make_identity("arbitro")
    made = SimpleNamespace(
        manifest=SimpleNamespace(strata=sealed["strata"]),
        bank_digest=sealed["bank_digest"],
        ledger_origin=sealed["origin"],
        ledger_vkey=sealed["vkey"],
    )
    authority = make_authority(now(), name="TSA", policy="1.3.6.1.4.1.99999.1")
    spki = json.loads(told)["spki_sha256"]
    return Place(auditor.folder, auditor.folder / "keys", auditor.bank, made, authority, spki)


@pytest.mark.nightly
def test_a_whole_audit_passes_between_two_machines_by_files_alone(tmp_path: Path) -> None:
    custodian, auditor = Machine(tmp_path / "archivo"), Machine(tmp_path / "auditora")
    for machine in (custodian, auditor):
        machine.folder.mkdir()
    place = place_of(custodian, auditor)
    changes: dict[str, JsonValue] = {**ENGINE, "report.languages": ["es"], "parties.custodian.name": ARCHIVE}
    vendor = Calculator()
    with serve(vendor.respond) as url, tsa(place.authority) as stamp:
        contract = write_contract(place, f"{url}/q", stamp, changes)
        custodian.type("custody", "ledger", "register", custodian.bank, "--contract", contract)
        custodian.type("custody", "ledger", "checkpoint", custodian.bank, "--contract", contract)
        shutil.copytree(custodian.bank, auditor.bank)
        courier = Courier(custodian, auditor, contract)
        words = ["audit", contract, "--bank", auditor.bank, "--out", place.out, "--authorized-by", ORGANISATION]
        assert "SLV-K052" in auditor.type(*words, code=6)
        courier.delivery("query")
        assert "SLV-A036" in auditor.type(*words, "--resume", code=6)
        # Nothing of the bank has left: the start is not anchored yet.
        assert not any("suman" in question for question in vendor.asked)
        courier.checkpoint()
        assert "SLV-K052" in auditor.type(*words, "--resume", code=6)
        assert sum("suman" in question for question in vendor.asked) >= 60
        courier.delivery("reference")
        assert "SLV-A036" in auditor.type(*words, "--resume", code=6)
        courier.checkpoint()
        auditor.type(*words, "--resume")
    assert not list((auditor.folder / "keys").glob("custodian.*"))
    assert not list((custodian.folder / "keys").glob("auditor.*"))
    view = read_ledger((auditor.bank / "ledger.jsonl").read_bytes())
    handed = [entry for entry in view if entry.type == "delivery"]
    assert [len(entry.sigs) for entry in handed] == [2, 2]
    pdf, bundle = place.pdf(), place.bundle()
    found = auditor.type("verify", pdf, "--bundle", bundle, "--contract", contract, "--rerender")
    assert ARCHIVE in found
    # The custodian's copy takes in the rest, and both are one ledger.
    courier.ledger_to_custodian()
    assert (custodian.bank / "ledger.jsonl").read_bytes() == (auditor.bank / "ledger.jsonl").read_bytes()
