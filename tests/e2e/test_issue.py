"""From a decided run to its report: draft, the vendor's reply, exports, public history."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pikepdf
import pytest

from slaverify.audit.replying import PATH, Reply, add_reply, await_reply
from slaverify.audit.session import Session
from slaverify.canonical import jcs
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now, session_of_run
from slaverify.custody import read_ledger
from slaverify.custody.keys import KeyStore
from slaverify.errors import ReportError
from slaverify.evidence.envelope import load_key, sign_manifest
from slaverify.report.history import check_history, read_history
from tests.e2e.conftest import ENGINE
from tests.e2e.line import ORGANISATION, Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

THOUGHT = "A nuestro juicio, conviene repetir con más preguntas."
SAID = "La pregunta 12 del anexo admite dos lecturas.\nPedimos que conste. \u202e<b>x</b>"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return an audit that stopped at its draft: the contract gives the vendor five days to reply."""
    place = make_place(tmp_path_factory.mktemp("issue"), items(40))
    KeyStore.open(place.keys).make("adjudicator", organisation="Notaría", roles=["witness"], now=now())
    one_wrong = Calculator(lambda left, _: left == 107)
    with serve(one_wrong.respond) as vendor, tsa(place.authority) as authority:
        notary = {"name": "Notaría", "key_id": None}
        changes = {**ENGINE, "report.languages": ["es"], "report.reply_days": 5, "disputes.adjudicator": notary}
        write_contract(place, f"{vendor}/q", authority, changes)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 6, done.stderr
    assert "SLV-R031" in done.stderr
    assert "--resume" in done.stderr
    return place


@pytest.fixture(scope="module")
def issued(waiting: Place) -> Place:
    """Return the same audit, issued with the vendor's reply."""
    reply = waiting.folder / "replica.txt"
    reply.write_text(SAID, encoding="utf-8")
    copy = waiting.folder / "copia.pdf"
    opinion = waiting.folder / "opinion.txt"
    opinion.write_text(THOUGHT, encoding="utf-8")
    words = [*report_words(waiting), "--lang", "es-CL", "--out", str(copy), "--opinion", str(opinion)]
    # The contract's authority is down: another URL of it answers, under the same pinned roots.
    with tsa(waiting.authority) as elsewhere:
        done = slaverify(waiting, *words, "--tsa", elsewhere, "--reply", str(reply), "--reply-author", "Ana Pérez")
    # One wrong answer of forty: neither kept nor broken.
    assert done.returncode == 3, done.stderr
    assert copy.read_bytes() == waiting.pdf().read_bytes()
    return waiting


def test_a_language_that_the_contract_does_not_name_is_refused(waiting: Place) -> None:
    done = slaverify(waiting, *report_words(waiting), "--lang", "en")
    assert done.returncode == 2 and "SLV-R002" in done.stderr


@contextmanager
def authority_of(place: Place) -> Iterator[str]:
    """Serve the place's timestamp authority again, on the port that the contract names."""
    with tsa(place.authority, int(_tsa_url(place).rpartition(":")[2].partition("/")[0])) as url:
        yield url


def _tsa_url(place: Place) -> str:
    from slaverify.contract.load import load_contract

    return load_contract(place.contract).model.report.signature.tsa_urls[0]


def report_words(place: Place) -> list[str]:
    return ["report", str(place.run), "--authorized-by", ORGANISATION]


def session_of(place: Place, monkeypatch: pytest.MonkeyPatch) -> tuple[Session, int]:
    monkeypatch.setenv("SLAVERIFY_KEYS", str(place.keys))
    return session_of_run(place.run)


def test_the_audit_stops_at_a_draft_that_no_page_lets_pass_for_a_report(waiting: Place) -> None:
    (draft,) = (waiting.run / "report" / "drafts").glob("*.pdf")
    told = slaverify(waiting, "status", str(waiting.run))
    with pikepdf.open(draft) as pdf:
        assert "/AcroForm" not in pdf.Root
    if not list((waiting.run / "report").glob("*.pdf")):
        assert "waits for the vendor's reply until" in told.stdout
        assert "--reply FILE" in told.stdout


def test_silence_is_only_said_once_the_days_are_over(
    waiting: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if (waiting.run / PATH).is_file():
        pytest.skip("the reply is there already")
    session, number = session_of(waiting, monkeypatch)
    with pytest.raises(ReportError) as caught:
        await_reply(session, number)
    assert (caught.value.code, caught.value.exit_code) == ("SLV-R031", 6)
    now = session.ports.clock
    late = replace(session, ports=replace(session.ports, clock=lambda: now() + timedelta(days=5, seconds=1)))
    await_reply(late, number)
    said = json.loads((waiting.run / PATH).read_bytes())
    assert (said["status"], said["text"]) == ("silent", None)
    (waiting.run / PATH).unlink()


@pytest.mark.parametrize("text", ["", "   ", "x" * 5_001])
def test_a_reply_is_a_text_of_a_page(waiting: Place, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    if (waiting.run / "manifest.json").is_file():
        pytest.skip("the evidence is closed already")
    with pytest.raises(ReportError) as caught:
        add_reply(*session_of(waiting, monkeypatch), Reply("Ana", text))
    assert caught.value.code == "SLV-R035"


def test_a_signature_by_a_key_that_the_contract_does_not_name_is_refused(
    waiting: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (waiting.run / "manifest.json").is_file():
        pytest.skip("the evidence is closed already")
    stranger = load_key(waiting.keys / "auditor.signing.pem", str)
    with pytest.raises(ReportError) as caught:
        add_reply(*session_of(waiting, monkeypatch), Reply("Ana", SAID, sign_manifest(SAID.encode(), stranger)))
    assert caught.value.code == "SLV-R035"
    assert not (waiting.run / PATH).exists()


def test_the_reply_stands_verbatim_in_page_and_evidence_and_the_report_verifies(issued: Place) -> None:
    said = json.loads((issued.run / PATH).read_bytes())
    assert (said["status"], said["text"], said["author"]) == ("given", SAID, "Ana Pérez")
    words = ["verify", str(issued.pdf()), "--bundle", str(issued.bundle()), "--contract", str(issued.contract)]
    found = json.loads(slaverify(issued, *words, "--json").stdout)
    assert found["outcome"] == "VERIFIED", found
    model = json.loads((issued.run / "report" / "prueba-lineal.1.es.json").read_bytes())
    thought = json.loads((issued.run / "replies" / "auditor.json").read_bytes())
    assert (thought["author"], thought["text"]) == (ORGANISATION, THOUGHT)
    assert THOUGHT in _texts(model)
    assert SAID in json.dumps(model, ensure_ascii=False).encode().decode() or SAID in _texts(model)


def _texts(node: object) -> list[str]:
    if isinstance(node, dict):
        return [text for value in node.values() for text in _texts(value)]
    if isinstance(node, list):
        return [text for value in node for text in _texts(value)]
    return [node] if isinstance(node, str) else []


def test_after_the_closing_no_reply_is_taken(issued: Place) -> None:
    done = slaverify(issued, *report_words(issued), "--reply-refused", "--reply-author", "Ana")
    assert done.returncode == 2
    assert "SLV-R036" in done.stderr


def test_a_report_that_says_neither_exports_as_a_warning_and_gets_no_receipt(issued: Place) -> None:
    done = slaverify(issued, *report_words(issued), "--export", "dsse,receipt")
    assert done.returncode == 3, done.stderr
    assert "no receipt: accuracy is INCONCLUSIVE" in done.stderr
    envelope = json.loads(next((issued.run / "report").glob("*.dsse.json")).read_bytes())
    said = json.loads(base64.b64decode(envelope["payload"]))
    assert said["predicate"]["result"] == "WARNED"
    assert "accuracy" in said["predicate"]["warnedTests"]
    assert slaverify(issued, *report_words(issued), "--export", "docx").returncode == 2


def history_of(place: Place) -> Path:
    return place.out / "history" / "prueba-lineal.jsonl"


def history(place: Place, *more: str, out: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = ["history", str(place.contract), "--out", str(out or place.out), "--bank", str(place.bank), *more]
    return slaverify(place, *words)


@pytest.fixture(scope="module")
def amended(issued: Place) -> Place:
    """Return the same audit after the dispute over the one wrong answer was upheld, and the report amended."""
    rows = [json.loads(row) for row in (issued.run / "scoring" / "scores.jsonl").read_bytes().splitlines()]
    (wrong,) = [row["item_id"] for row in rows if row["verdict"] == "incorrect"]
    claim = issued.folder / "claim.txt"
    claim.write_text("La referencia suma mal.", encoding="utf-8")
    amend = [*report_words(issued), "--amends", str(issued.pdf()), "--reason", "Referencia errada"]
    with authority_of(issued):
        added = slaverify(issued, "custody", "ledger", "keys", str(issued.bank), "--add", "adjudicator")
        assert added.returncode == 0, added.stderr
        opened = ["custody", "dispute", "open", str(issued.run), wrong, "--by", "auditor", "--claim", str(claim)]
        assert slaverify(issued, *opened, "--yes").returncode == 0
        waits = slaverify(issued, *amend)
        assert (waits.returncode, "SLV-A028" in waits.stderr) == (6, True), waits.stderr
        resolved = ["custody", "dispute", "resolve", str(issued.run), wrong, "--outcome", "upheld", "--reason", "error"]
        assert slaverify(issued, *resolved).returncode == 0
        done = slaverify(issued, *amend)
    assert done.returncode == 0, done.stderr
    return issued


def amended_files(place: Place) -> tuple[Path, Path]:
    folder = place.run / "amended" / "1"
    return next(folder.rglob("*-A1.es.pdf")), next(folder.rglob("*-A1.parties.zip"))


def test_the_amended_report_is_another_that_names_the_first_and_both_verify(amended: Place) -> None:
    pdf, bundle = amended_files(amended)
    for paper, evidence, state in ((amended.pdf(), amended.bundle(), "INCONCLUSIVE"), (pdf, bundle, "PASS")):
        words = ["verify", str(paper), "--bundle", str(evidence), "--contract", str(amended.contract)]
        found = json.loads(slaverify(amended, *words, "--json").stdout)
        assert found["outcome"] == "VERIFIED", [c for c in found["checks"] if c["result"] == "failed"]
        assert found["verdict"]["state"] == state
    alone = json.loads(slaverify(amended, "verify", str(pdf), "--contract", str(amended.contract), "--json").stdout)
    assert alone["outcome"] == "VERIFIED"
    model = json.loads(next(pdf.parent.glob("*.json")).read_bytes())
    assert model["report_id"] == "prueba-lineal.1-A1"
    assert model["amends"]["report_id"] == "prueba-lineal.1"
    fields = {change["field"]: (change["old"], change["new"]) for change in model["amends"]["changes"]}
    assert fields["state"] == ("INCONCLUSIVE", "PASS")
    assert fields["metrics.accuracy.n"] == (40, 39)
    page = json.dumps(model["sections"][1], ensure_ascii=False)
    assert "Referencia errada" in page


def test_a_published_figure_never_changes_and_both_stand_in_the_history(amended: Place) -> None:
    done = history(amended, "--check", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    first, second = told["lines"]
    assert (first["state"], second["state"]) == ("INCONCLUSIVE", "PASS")
    assert {one["n"] for one in first["metrics"]} == {40}
    assert second["amends"] == {"report_id": "prueba-lineal.1", "signed_digest": first["signed_digest"]}
    assert told["changes"][0]["comparable"] is True
    assert {one["kind"] for one in told["changes"][0]["findings"]} == {"resolved"}
    shown = history(amended).stdout
    assert "prueba-lineal.1 " in shown and "prueba-lineal.1-A1" in shown
    assert "1/40" in shown or "39/40" in shown


def _copy(place: Place, folder: Path, change) -> subprocess.CompletedProcess[str]:
    target = folder / "history" / "prueba-lineal.jsonl"
    target.parent.mkdir()
    target.write_bytes(b"".join(row + b"\n" for row in change(history_of(place).read_bytes().splitlines())))
    return history(place, "--check", out=folder)


def _edited(rows: list[bytes]) -> list[bytes]:
    """Edit the last line: no line after it shows that by its chain, the ledger does."""
    return [*rows[:-1], jcs({**json.loads(rows[-1]), "state": "BREACH"})]


def _relinked(rows: list[bytes]) -> list[bytes]:
    """Take the first line out and join the chain again."""
    return [jcs({**json.loads(rows[1]), "seq": 0, "prev_sha256": None})]


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("h01_history_line_edited", _edited, "SLV-R042"),
        ("h01_history_line_edited_in_the_middle", lambda rows: [_edited(rows[:1])[0], rows[1]], "SLV-R041"),
        ("h02_history_line_removed", lambda rows: rows[:-1], "SLV-R042"),
        ("h02_history_line_removed_and_joined", _relinked, "SLV-R042"),
        ("h02_first_line_removed", lambda rows: rows[1:], "SLV-R041"),
    ],
)
def test_h01_h02_an_edited_or_removed_line_shows(amended: Place, tmp_path: Path, name: str, change, code: str) -> None:
    done = _copy(amended, tmp_path, change)
    assert (done.returncode, code in done.stderr) == (5, True), (name, done.stderr)


def test_h03_a_published_state_does_not_change_without_a_ground_in_the_ledger(amended: Place) -> None:
    """The dispute never happened: the same amendment over a ledger without it is refused, in history and evidence."""
    view = read_ledger((amended.bank / "ledger.jsonl").read_bytes())
    lines = read_history(history_of(amended).read_bytes())
    digest = lines[0].text("contract_digest") or ""
    check_history(lines, view, digest)

    class Without:
        """The ledger less its resolutions."""

        def find_all(self, kind: str, **data: object):
            return () if kind == "dispute_resolved" else view.find_all(kind, **data)

        def runs(self, contract_digest: str):
            return view.runs(contract_digest)

    with pytest.raises(ReportError) as caught:
        check_history(lines, Without(), digest)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.exit_code) == ("SLV-R030", 5)


def test_what_was_not_issued_here_is_not_amended(amended: Place, tmp_path: Path) -> None:
    words = report_words(amended)
    other = tmp_path / "otro.pdf"
    other.write_bytes(b"%PDF-1.7\n")
    done = slaverify(amended, *words, "--amends", str(other), "--reason", "x")
    assert (done.returncode, "SLV-R037" in done.stderr) == (2, True)
    done = slaverify(amended, *words, "--amends", str(amended.pdf()))
    assert (done.returncode, "SLV-R037" in done.stderr) == (2, True)
