"""An audit whose contract asks for witnesses waits for them, twice, and names them; ssh-keygen is one of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now
from slaverify.contract.load import load_contract
from slaverify.custody.keys import KeyStore
from slaverify.evidence.read import open_folder
from slaverify.report.level import custody_level
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def ssh_key(folder: Path) -> Path:
    key = folder / "testigo"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    return key


def witnessed(place: Place, elsewhere: Place, key: Path, size: int, seen: int) -> None:
    """Carry one checkpoint to both witnesses and back, by files alone."""
    letters = place.folder / f"letters-{size}"
    letters.mkdir()
    bank, contract = str(place.bank), str(place.contract)
    slaverify(place, "custody", "witness", "request", bank, "--old", str(seen), "--out", str(letters), check=True)
    body, request = letters / f"{size:08d}.body", letters / f"{size:08d}.request"
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", "slaverify-checkpoint", "-f", key, body], check=True, stderr=-3
    )
    cosignature = letters / "cosignature"
    words = ["custody", "witness", "sign", str(request), "--contract", contract, "--out", str(cosignature)]
    slaverify(elsewhere, *words, check=True)
    for file in (Path(f"{body}.sig"), cosignature):
        slaverify(place, "custody", "witness", "add", bank, str(file), "--contract", contract, check=True)


def last_size(place: Place) -> int:
    return max(int(path.stem) for path in (place.bank / "checkpoints").glob("*.checkpoint"))


def test_the_audit_waits_for_its_witnesses(tmp_path: Path) -> None:
    place = make_place(tmp_path / "audit", items(40))
    key = ssh_key(tmp_path)
    elsewhere = replace(place, keys=tmp_path / "witness-keys")
    notary = KeyStore.create(elsewhere.keys).make("witness", organisation="Notaría", roles=["witness"], now=now())
    changes = ENGINE | {
        "report.languages": ["es"],
        "ledger.quorum": 2,
        "ledger.start_anchor": "both",
        "ledger.witnesses": [
            {"name": "Servicio Comprador", "role": "buyer", "ssh": key.with_suffix(".pub").read_text().strip()},
            {"name": "Notaría", "role": "witness", "vkey": notary.vkey},
        ],
    }
    vendor = Calculator()
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        write_contract(place, f"{url}/q", authority, changes)
        done = slaverify(place, *audit_arguments(place))
        assert (done.returncode, "SLV-K029" in done.stderr) == (6, True), done.stderr
        assert "Notaría" in done.stderr
        assert "--resume" in done.stderr
        start = last_size(place)
        assert not any(path.name == "outcomes.jsonl" for path in place.run.rglob("*"))
        witnessed(place, elsewhere, key, start, 0)
        done = slaverify(place, *audit_arguments(place, "--resume"))
        assert (done.returncode, "SLV-K029" in done.stderr) == (6, True), done.stderr
        assert not (place.run / "decision" / "decision.json").is_file()
        witnessed(place, elsewhere, key, last_size(place), start)
        done = slaverify(place, *audit_arguments(place, "--resume"))
    assert done.returncode == 0, done.stderr
    checked = slaverify(
        place, "verify", str(place.pdf()), str(place.bundle()), "--contract", str(place.contract), "--json"
    )
    assert checked.returncode == 0, checked.stdout
    v18 = next(check for check in json.loads(checked.stdout)["checks"] if check["id"] == "V18")
    assert "Notaría" in v18["reason"] and "Servicio Comprador" in v18["reason"]
    manifest = json.loads((place.run / "manifest.json").read_text())
    level = custody_level(open_folder(place.run), load_contract(place.contract).tree, manifest)
    assert level is not None and "opposed_witness" in dict(level.held)
