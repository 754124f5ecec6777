"""One laptop, every party with keys of its own, the custody verbs alone: from a set file to custody level 3.

Recovery by shares and its drill, a spot check, commit and reveal of buyer and vendor, an SSH witness, the audit.
"""

from __future__ import annotations

import json
import os
import pty
import secrets
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from slaverify.audit.disputes import amended
from slaverify.cli import run as command
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now, session_of_run
from slaverify.contract.load import load_contract
from slaverify.custody import read_ledger
from slaverify.custody.keys import KeyStore
from slaverify.evalset import write_bank
from slaverify.evidence.pades.demo import make_authority
from slaverify.evidence.read import open_folder
from slaverify.report.level import custody_level
from tests.e2e.conftest import ENGINE
from tests.e2e.line import ORGANISATION, Place, audit_arguments, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
PARTIES = {"custodian": "Archivo Neutral", "auditor": ORGANISATION, "buyer": "Comprador", "vendor": "Proveedor SpA"}


def ssh_key(folder: Path) -> Path:
    key = folder / "testigo"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    return key


class Table:
    """Runs custody verbs with the keys of one of the parties, and reads their JSON."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._patch, self._capture = folder, monkeypatch, capsys
        self.bank = str(folder / "custodia" / "banco")
        monkeypatch.setenv("SLAVERIFY_LANG", "en")
        monkeypatch.setenv("SLAVERIFY_KEY_PASSPHRASE", "")
        self.printed = ""
        self.cards: dict[str, dict] = {}

    def type(self, party: str, *words: str, code: int = 0) -> dict:
        self._patch.setenv("SLAVERIFY_KEYS", str(self.folder / f"keys-{party}"))
        self._capture.readouterr()
        found = command([*words, "--json"])
        told = self._capture.readouterr()
        self.printed += told.out + told.err
        assert found == code, f"{words}: {found}\n{told.out}{told.err}"
        return json.loads(told.out) if told.out else {"error": told.err}

    def custody(self, party: str, *words: str, code: int = 0) -> dict:
        return self.type(party, "custody", *words, code=code)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Table:
    return Table(tmp_path, monkeypatch, capsys)


def seal(table: Table) -> tuple[Place, dict]:
    """Make the keys of every party and seal the set with shared recovery."""
    folder = table.folder
    (folder / "set.jsonl").write_bytes(write_bank(items(60)))
    keys = {
        role: table.type("custodian", "keys", "new", "--role", role, "--org", PARTIES[role])
        for role in ("custodian", "auditor")
    }
    for role in ("buyer", "vendor"):
        table.cards[role] = table.type(role, "keys", "new", "--role", role, "--org", PARTIES[role])
    words = [
        "seal",
        str(folder / "set.jsonl"),
        "--id",
        "banco",
        "--author",
        "Autora",
        "--out",
        str(folder / "custodia"),
    ]
    words += ["--recovery", "slip39:2of3", "--yes"]
    assert table.custody("custodian", *words, "--dry-run")["dry_run"] is True
    assert not (folder / "custodia").exists()
    sealed = table.custody("custodian", *words)
    manifest = SimpleNamespace(strata=sealed["strata"])
    made = SimpleNamespace(
        manifest=manifest,
        bank_digest=sealed["bank_digest"],
        ledger_origin=sealed["origin"],
        ledger_vkey=sealed["vkey"],
    )
    KeyStore.open(folder / "keys-custodian").get_or_make_identity("arbitro")
    authority = make_authority(now(), name="TSA", policy="1.3.6.1.4.1.99999.1")
    bank = folder / "custodia" / "banco"
    place = Place(folder, folder / "keys-custodian", bank, made, authority, keys["auditor"]["spki_sha256"])
    return place, sealed


def register(table: Table, party: str) -> None:
    """Register a key that stays with its party: card, proposal, countersignature, entry."""
    card, asked, signed = (table.folder / f"{party}.{kind}" for kind in ("card", "asked", "signed"))
    card.write_text(json.dumps(table.cards[party]))
    table.custody("custodian", "ledger", "keys", table.bank, "--invite", str(card), "--out", str(asked))
    key = {"notary": "witness"}.get(party, party)
    table.custody(party, "ledger", "countersign", str(asked), "--key", key, "--out", str(signed))
    assert table.custody("custodian", "ledger", "accept", table.bank, str(signed))["kind"] == "key_added"


def test_two_of_three_shares_open_the_bank_with_the_age_command(table: Table) -> None:
    seal(table)
    shares = sorted((table.folder / "keys-custodian" / "shares-banco").iterdir())
    assert len(shares) == 3 and all(path.stat().st_mode & 0o077 == 0 for path in shares)
    secret_words = shares[0].read_text().splitlines()[1].split()
    identity = table.folder / "recovered.age"
    for few in ([0], [0, 0]):
        words = [word for one in few for word in ("--share", str(shares[one]))]
        assert "SLV-K070" in table.custody("custodian", "recover", table.bank, *words, "--drill", code=5)["error"]
    mistyped = table.folder / "mistyped.txt"
    other = shares[1].read_text().split()
    other[-6] = "academic" if other[-6] != "academic" else "acid"
    mistyped.write_text(" ".join(other[other.index("2-of-3") + 1 :]))
    pair = ["--share", str(shares[0]), "--share"]
    assert (
        "SLV-K070"
        in table.custody("custodian", "recover", table.bank, *pair, str(mistyped), "--drill", code=5)["error"]
    )
    drilled = table.custody("custodian", "recover", table.bank, *pair, str(shares[2]), "--drill")
    assert drilled["drill"] is True and drilled["plan"] == "2-of-3"
    table.custody("custodian", "recover", table.bank, *pair, str(shares[2]), "--out", str(identity), "--yes")
    assert identity.stat().st_mode & 0o077 == 0
    assert " ".join(secret_words[:4]) not in table.printed and "AGE-SECRET" not in table.printed
    if shutil.which("age") is None:
        pytest.skip("age is not installed: the bank was recovered, not opened by another program")
    opened = subprocess.run(["age", "-d", "-i", identity, f"{table.bank}/bank.age"], check=True, capture_output=True)
    assert json.loads(opened.stdout.splitlines()[0])["type"] == "slaverify/bank"


@pytest.mark.skipif(shutil.which("age") is None, reason="age is not installed")
def test_public_tools_alone_recover_the_identity(table: Table) -> None:
    """`shamir recover` gives the secret, `age -d` asks for it as a passphrase, `age -d -i` opens the bank."""
    seal(table)
    shares = sorted((table.folder / "keys-custodian" / "shares-banco").iterdir())
    shamir = Path(os.sys.executable).parent / "shamir"
    if not shamir.is_file():
        pytest.skip("shamir is not installed")
    words = [path.read_text().splitlines()[1] for path in shares[1:]]
    told = subprocess.run(
        [shamir, "recover"], input="\n".join([*words, ""]), capture_output=True, text=True, check=True
    )
    secret = told.stdout.split()[-1]
    assert len(bytes.fromhex(secret)) == 32
    identity = table.folder / "identity.txt"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("age", ["age", "-d", "-o", str(identity), f"{table.bank}/recovery.identity.age"])
    os.read(terminal, 100)
    os.write(terminal, secret.encode() + b"\n")
    assert os.waitpid(pid, 0)[1] == 0
    opened = subprocess.run(["age", "-d", "-i", identity, f"{table.bank}/bank.age"], check=True, capture_output=True)
    assert opened.stdout.startswith(b'{"canary":')


@pytest.mark.timeout(900)
def test_from_a_set_to_level_3_with_the_verbs_alone(table: Table, tmp_path: Path) -> None:
    place, _ = seal(table)
    bank, shares = table.bank, sorted((place.keys / "shares-banco").iterdir())
    given = [word for path in shares[:2] for word in ("--share", str(path))]
    table.custody("custodian", "recover", bank, *given, "--drill")
    nonce = secrets.token_hex(32)
    checked = table.custody(
        "custodian", "open", bank, "--spot-check", "5", "--nonce", nonce, "--findings", "0", "--yes"
    )
    assert len(checked["items"]) == 5 and float(checked["bad_rate_bound"]) > 0.3
    script = subprocess.run(
        ["bash", f"{bank}/verify_item.sh", f"{bank}/openings/{checked['items'][0]}.query"],
        capture_output=True,
        text=True,
    )
    assert script.returncode == 0 and "OK" in script.stdout, script.stdout + script.stderr
    notary = table.type("notary", "keys", "new", "--role", "witness", "--org", "Notaría")
    table.cards["notary"] = notary
    table.custody("custodian", "ledger", "keys", bank, "--add", "auditor")
    for role in ("buyer", "vendor", "notary"):
        register(table, role)
    key = ssh_key(tmp_path)
    shown = table.custody("custodian", "ledger", "keys", bank)["keys"]
    notary_id = next(one["key_id"] for one in shown if one["organisation"] == "Notaría")
    changes = ENGINE | {
        "report.languages": ["es"],
        "evaluation_set.sample.method": "commit_reveal",
        "evaluation_set.sample.per_stratum": {"direct": 45},
        "parties.custodian.name": "Archivo Neutral",
        "parties.vendor.name": "Proveedor SpA",
        "parties.buyer.name": "Comprador",
        "disputes.adjudicator": {"name": "Notaría", "key_id": notary_id},
        "disputes.disclosure": [{"part": "query", "to": "vendor"}, {"part": "reference", "to": "vendor"}],
        "ledger.quorum": 2,
        "ledger.start_anchor": "both",
        "ledger.witnesses": [
            {"name": "Comprador", "role": "buyer", "ssh": key.with_suffix(".pub").read_text().strip()},
            {"name": "Notaría", "role": "witness", "vkey": notary["ledger_key"]},
        ],
    }
    with serve(Calculator().respond) as url, tsa(place.authority) as authority:
        contract = str(write_contract(place, f"{url}/q", authority, changes))

        def audit(code: int, says: str, *more: str) -> str:
            done = slaverify(place, *audit_arguments(place, *more))
            assert (done.returncode, says in done.stderr) == (code, True), done.stderr + done.stdout
            return done.stderr

        def witness(seen: int) -> int:
            """Carry the last checkpoint to both witnesses and back, by files alone."""
            size = max(int(path.stem) for path in (place.bank / "checkpoints").glob("*.checkpoint"))
            letters = tmp_path / f"letters-{size}"
            letters.mkdir()
            table.custody("custodian", "witness", "request", bank, "--old", str(seen), "--out", str(letters))
            body, asked, signed = letters / f"{size:08d}.body", letters / f"{size:08d}.request", letters / "signed"
            sign = ["ssh-keygen", "-q", "-Y", "sign", "-n", "slaverify-checkpoint", "-f", key, body]
            subprocess.run(sign, check=True, stderr=subprocess.DEVNULL)
            words = ["witness", "sign", str(asked), "--contract", contract, "--out", str(signed)]
            assert table.custody("notary", *words, "--dry-run")["cosignature"] == ""
            table.custody("notary", *words)
            for file in (f"{body}.sig", str(signed)):
                found = table.custody("custodian", "witness", "add", bank, file, "--contract", contract)
            assert [one["kind"] for one in found["signed"]] == ["sshsig", "cosignature"]
            return size

        said = audit(6, "SLV-K052")
        assert "--commit" in said and "buyer, vendor" in said
        # The buyer never writes in the custodian's folder: it signs an entry over a copy and sends it.
        told = ["draw", bank, "--contract", contract, "--commit", "--role", "buyer", "--propose"]
        table.custody("buyer", *told, str(tmp_path / "entry"))
        table.custody("custodian", "ledger", "accept", bank, str(tmp_path / "entry"))
        again = table.custody("custodian", "ledger", "accept", bank, str(tmp_path / "entry"), code=4)
        assert "SLV-K021" in again["error"]
        refused = table.custody("buyer", "draw", bank, "--contract", contract, "--reveal", "--role", "buyer", code=4)
        assert "SLV-K052" in refused["error"]
        audit(6, "vendor", "--resume")
        table.custody("vendor", "draw", bank, "--contract", contract, "--commit", "--role", "vendor")
        refused = table.custody("buyer", "draw", bank, "--contract", contract, "--reveal", "--role", "buyer", code=4)
        assert "checkpoint" in refused["error"]
        audit(6, "--reveal", "--resume")
        for role in ("vendor", "buyer"):
            table.custody(role, "draw", bank, "--contract", contract, "--reveal", "--role", role)
        said = audit(6, "SLV-K029", "--resume")
        assert "Notaría" in said and not list(place.run.rglob("outcomes.jsonl"))
        start = witness(0)
        audit(6, "SLV-K029", "--resume")
        assert not list(place.run.rglob("decision.json"))
        witness(start)
        done = slaverify(place, *audit_arguments(place, "--resume"))
        assert done.returncode == 0, done.stderr
    files = ["verify", str(place.pdf()), str(place.bundle()), "--contract", contract]
    verified = table.type("auditor", *files)
    assert verified["outcome"] == "VERIFIED"
    v18 = next(check for check in verified["checks"] if check["id"] == "V18")
    assert "Comprador, Notaría" in v18["reason"]
    manifest = json.loads((place.run / "manifest.json").read_text())
    level = custody_level(open_folder(place.run), load_contract(place.contract).tree, manifest)
    assert level is not None and (level.number, level.missing) == (3, ())
    looked = table.custody("auditor", "inspect", bank, "--contract", contract)
    assert looked["level"] == 3 and looked["remaining_audits"] == 0
    exposed = table.custody("auditor", "expose", bank, "--contract", contract)
    assert exposed["states"]["sent"] == 45 and exposed["states"]["disclosed"] == 5
    point = sorted((place.bank / "checkpoints").glob("*.checkpoint"))[-1]
    assert table.custody("auditor", "verify", bank, "--contract", contract, code=3)["pinned"] is True
    own = ["verify", bank, "--contract", contract, "--checkpoint", str(point)]
    assert table.custody("auditor", *own, code=3)["checkpoint_from_elsewhere"] is None
    copy = shutil.copy(point, tmp_path / "from-the-witness.checkpoint")
    found = table.custody("auditor", "verify", bank, "--contract", contract, "--checkpoint", str(copy))
    assert found["holder"] == "Archivo Neutral"
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    assert view.find("draw").data["method"] == "commit_reveal"
    disputed(table, place, contract)


def disputed(table: Table, place: Place, contract: str) -> None:
    """The vendor disputes an answer; while that is open the verdict is not told; upheld, the item leaves the count."""
    run, items_drawn = str(place.run), json.loads((place.run / "custody" / "draw.json").read_text())["sample"]["direct"]
    claim = place.folder / "claim.txt"
    claim.write_text("La referencia usa otra operación.", encoding="utf-8")
    for path in (place.folder / "keys-vendor").iterdir():
        if path.is_file() and path.name.startswith("vendor."):
            # Whoever disputes types it where the run is: here the vendor sits at the auditor's desk.
            shutil.copy2(path, place.keys / path.name)
    opened = ["dispute", "open", run, items_drawn[0], "--by", "vendor", "--claim", str(claim)]
    before = table.custody("custodian", "dispute", "status", run)
    assert (before["state"], before["days_left"] > 0, before["disputes"]) == ("PASS", True, [])
    assert "SLV-A026" in table.custody("custodian", *opened, code=2)["error"]
    table.custody("custodian", *opened, "--yes")
    assert {path.name for path in (place.bank / "openings").glob(f"{items_drawn[0]}.*")} == {
        f"{items_drawn[0]}.query",
        f"{items_drawn[0]}.reference",
    }
    during = table.custody("custodian", "dispute", "status", run)
    assert (during["as_scored"], during["all_for_vendor"]) == ("PASS", "PASS")
    assert (during["all_against_vendor"], during["state"]) == ("INCONCLUSIVE", "INCONCLUSIVE")
    assert during["reason"] == "dispute_sensitive"
    resolve = ["dispute", "resolve", run, items_drawn[0], "--outcome", "upheld", "--reason", "tiene razón"]
    assert "SLV-A028" in table.custody("custodian", *resolve, "--key", "vendor", code=2)["error"]
    table.custody("notary", *resolve, "--key", "witness")
    assert "SLV-A028" in table.custody("notary", *resolve, "--key", "witness", code=2)["error"]
    stray = ["dispute", "open", run, "it-000000000000", "--by", "buyer", "--claim", str(claim), "--yes"]
    assert "SLV-A027" in table.custody("custodian", *stray, code=5)["error"]
    after = table.custody("custodian", "dispute", "status", run)
    assert (after["state"], [one["state"] for one in after["disputes"]]) == ("PASS", ["upheld"])
    table._patch.setenv("SLAVERIFY_KEYS", str(place.keys))
    session, number = session_of_run(place.run)
    again = amended(session, number)
    assert again.decision["state"] == "PASS"
    metric = next(one for one in again.results["metrics"] if one["id"] == "accuracy")
    assert metric["n"] == 44
    (line,) = again.disputes.splitlines()
    assert json.loads(line) == {"claim": claim.read_text(), "item": items_drawn[0], "state": "upheld"}
    # The report that was issued stands as it was.
    verified = table.type("auditor", "verify", str(place.pdf()), str(place.bundle()), "--contract", contract)
    assert verified["outcome"] == "VERIFIED"
