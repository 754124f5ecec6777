"""The rarer custody verbs: what each writes, that its dry run writes nothing, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from slaverify.custody import read_ledger
from slaverify.custody.keys import age_recipient, new_age_identity
from slaverify.evalset import write_bank
from tests.e2e.test_custody_line import Table, seal, table
from tests.simulator.arithmetic import items

__all__ = ["table"]


def lines(bank: str) -> int:
    return len((Path(bank) / "ledger.jsonl").read_bytes().splitlines())


def kinds(bank: str) -> list[str]:
    return [entry.type for entry in read_ledger((Path(bank) / "ledger.jsonl").read_bytes())]


ACTS = {
    "incident": ["--set", "what=se cortó la luz"],
    "deposit": ["--set", "place=bóveda 3", "--set", "medium=disco"],
    "exposure": ["--set", "party=Juez SA", "--set", "role=judge_operator", "--set", "channel=api"],
    "bank_rotated": ["--set", "new_digest=sha256:" + "ab" * 32],
    "destruction": ["--set", "what=identidades", "--set", "method=borrado", "--set", "clause=12"],
    "key_revoked": ["--set", "key_id=" + "cd" * 32, "--set", "reason=robada"],
}


def test_every_act_writes_one_entry_and_its_dry_run_none(table: Table) -> None:
    seal(table)
    bank = table.bank
    for kind, words in ACTS.items():
        before = lines(bank)
        told = table.custody("custodian", "ledger", "append", bank, kind, *words, "--dry-run")
        assert told["dry_run"] is True and lines(bank) == before
        told = table.custody("custodian", "ledger", "append", bank, kind, *words)
        assert told["seq"] == before and lines(bank) == before + 1 and kinds(bank)[-1] == kind
        assert told["did"] and told["who_could_still_cheat"]
    shown = table.custody("custodian", "ledger", "show", bank)
    assert [entry["type"] for entry in shown["entries"]] == kinds(bank)
    point = table.custody("custodian", "ledger", "checkpoint", bank, "--dry-run")
    assert not list((Path(bank) / "checkpoints").glob(f"{point['size']:08d}*"))
    point = table.custody("custodian", "ledger", "checkpoint", bank)
    assert list((Path(bank) / "checkpoints").glob(f"{point['size']:08d}.checkpoint"))


def test_a_transfer_moves_the_bank_and_a_gap_is_named(table: Table) -> None:
    seal(table)
    bank, keys = table.bank, table.folder / "keys-custodian"
    table.type("second", "keys", "new", "--role", "custodian", "--org", "Otro Archivo")
    for kind in ("ed25519.pem", "age", "json"):
        data = (table.folder / "keys-second" / f"custodian.{kind}").read_bytes()
        path = keys / f"heir.{kind}"
        path.write_bytes(data.replace(b'"name":"custodian"', b'"name":"heir"'))
        path.chmod(0o600)
    table.custody("custodian", "ledger", "keys", bank, "--add", "heir")
    words = ["ledger", "append", bank, "custody_transfer", "--set", "purpose=relevo", "--to", "heir"]
    table.custody("custodian", *words)
    assert kinds(bank)[-1] == "custody_transfer"
    assert table.custody("custodian", "verify", bank, code=3)["holder"] == "Otro Archivo"
    # The old custodian opens an item: nobody recorded that the bank came back.
    item = json.loads((Path(bank) / "index.jsonl").read_bytes().splitlines()[0])["id"]
    table.custody("custodian", "open", bank, item, "--purpose", "dispute", "--to", "buyer", "--yes")
    assert "SLV-K060" in table.custody("custodian", "verify", bank, code=4)["error"]


def test_opening_is_asked_for_and_checked_by_bash_and_openssl_alone(table: Table) -> None:
    seal(table)
    bank = table.bank
    item = json.loads((Path(bank) / "index.jsonl").read_bytes().splitlines()[3])["id"]
    words = ["open", bank, item, "--part", "reference", "--purpose", "dispute", "--to", "vendor"]
    assert "SLV-A026" in table.custody("custodian", *words, code=2)["error"]
    assert table.custody("custodian", *words, "--dry-run")["dry_run"] is True
    assert not (Path(bank) / "openings").exists()
    told = table.custody("custodian", *words, "--yes")
    done = subprocess.run(["bash", f"{bank}/verify_item.sh", told["folder"]], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert table.custody("custodian", "open", bank, "it-000000000000", "--purpose", "x", "--yes", code=5)["error"]
    assert table.custody("custodian", "open", bank, item, "--part", "answer", "--purpose", "x", code=2)["error"]


@pytest.mark.parametrize("nonce", ["00", "zz" * 32, ""])
def test_a_spot_check_needs_the_counterpartys_nonce(table: Table, nonce: str) -> None:
    seal(table)
    words = ["open", table.bank, "--spot-check", "3", "--nonce", nonce, "--dry-run"]
    assert "64 hex" in table.custody("custodian", *words, code=2)["error"]


def test_keys_are_never_made_among_the_banks(table: Table) -> None:
    file = table.folder / "set.jsonl"
    file.write_bytes(write_bank(items(4)))
    words = ["seal", str(file), "--out", str(table.folder), "--yes"]
    assert "SLV-K071" in table.custody("custodian", *words, code=5)["error"]
    assert not (table.folder / "keys-custodian").exists()
    more = age_recipient(new_age_identity())
    words = ["seal", str(file), "--out", str(table.folder / "custodia"), "--recipient", more, "--yes"]
    told = table.custody("custodian", *words)
    manifest = json.loads((Path(told["folder"]) / "manifest.json").read_bytes())
    assert [one["role"] for one in manifest["recipients"]] == ["custodian", "recovery", "recovery"]
    assert manifest["recipients"][2]["age"] == more


def test_what_is_asked_for_in_vain(table: Table) -> None:
    seal(table)
    bank = table.bank
    assert "unknown type" in table.custody("custodian", "ledger", "append", bank, "genesis", code=2)["error"]
    assert "--set what" in table.custody("custodian", "ledger", "append", bank, "incident", code=2)["error"]
    table.custody("custodian", "witness", "request", bank, "--size", "99", code=5)
    words = ["seal", str(table.folder / "set.jsonl"), "--id", "otro", "--recovery", "slip39:1of3", "--yes"]
    assert "SLV-K070" in table.custody("custodian", *words, code=5)["error"]


def test_what_opens_a_bank_is_destroyed_and_what_still_opens_it_is_said(table: Table) -> None:
    seal(table)
    bank, keys = table.bank, table.folder / "keys-custodian"
    item = json.loads((Path(bank) / "index.jsonl").read_bytes().splitlines()[3])["id"]
    table.custody("custodian", "open", bank, item, "--purpose", "dispute", "--to", "vendor", "--yes")
    secret = next(line for line in (keys / "custodian.age").read_text().splitlines() if line.startswith("AGE-SECRET"))
    words = ["destroy", bank, "--clause", "12.3"]
    size, shares = lines(bank), sorted((keys / "shares-banco").iterdir())
    assert "SLV-A026" in table.custody("custodian", *words, code=2)["error"]
    told = table.custody("custodian", *words, "--dry-run")
    assert told["dry_run"] is True and lines(bank) == size and secret in (keys / "custodian.age").read_text()
    # One share was carried away by the person who keeps it.
    shares[0].rename(table.folder / "share-1.txt")
    told = table.custody("custodian", *words, "--yes")
    assert [one["role"] for one in told["destroyed"]] == ["custodian"] and told["shares"] == 2
    assert [one["role"] for one in told["still_open_to"]] == ["recovery"]
    assert "recovery" in told["who_could_still_cheat"] and "1 openings are public" in told["who_could_still_cheat"]
    assert not any(secret.encode() in path.read_bytes() for path in table.folder.rglob("*") if path.is_file())
    assert not list((keys / "shares-banco").iterdir())
    entry = list(read_ledger((Path(bank) / "ledger.jsonl").read_bytes()))[-1]
    assert (entry.type, entry.data["clause"]) == ("destruction", "12.3")
    # Nothing opens any more; the ledger is still signed and verified.
    refused = table.custody("custodian", "open", bank, item, "--part", "reference", "--purpose", "x", "--yes", code=5)
    assert "SLV-K071" in refused["error"] and "destroyed" in refused["error"]
    table.custody("custodian", "ledger", "checkpoint", bank)
    table.custody("custodian", "verify", bank, code=3)
    assert "SLV-K071" in table.custody("custodian", *words, "--yes", code=5)["error"]


def test_a_copy_of_the_ledger_is_taken_in_line_by_line_and_a_fork_is_not(table: Table) -> None:
    seal(table)
    bank, copy = Path(table.bank), table.folder / "copia"
    shutil.copytree(bank, copy)
    for what in ("uno", "dos"):
        table.custody("custodian", "ledger", "append", str(copy), "incident", "--set", f"what={what}")
    size = lines(table.bank)
    told = table.custody("custodian", "ledger", "accept", table.bank, str(copy / "ledger.jsonl"), "--dry-run")
    assert (told["accepted"], lines(table.bank)) == (2, size)
    assert table.custody("custodian", "ledger", "accept", table.bank, str(copy / "ledger.jsonl"))["accepted"] == 2
    assert (bank / "ledger.jsonl").read_bytes() == (copy / "ledger.jsonl").read_bytes()
    # Both write on their own: the two histories are not one any more.
    for place, what in ((table.bank, "aquí"), (str(copy), "allá")):
        table.custody("custodian", "ledger", "append", place, "incident", "--set", f"what={what}")
    before = (bank / "ledger.jsonl").read_bytes()
    refused = table.custody("custodian", "ledger", "accept", table.bank, str(copy / "ledger.jsonl"), code=4)
    assert "SLV-K021" in refused["error"] and (bank / "ledger.jsonl").read_bytes() == before
