"""From a decided run to its report: draft, the vendor's reply, exports, public history."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pikepdf
import pytest

from slaverify.audit.replying import PATH, Reply, add_reply, await_reply
from slaverify.audit.session import Session
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import session_of_run
from slaverify.errors import ReportError
from slaverify.evidence.envelope import load_key, sign_manifest
from tests.e2e.conftest import ENGINE
from tests.e2e.line import ORGANISATION, Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

SAID = "La pregunta 12 del anexo admite dos lecturas.\nPedimos que conste. \u202e<b>x</b>"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return an audit that stopped at its draft: the contract gives the vendor five days to reply."""
    place = make_place(tmp_path_factory.mktemp("issue"), items(40))
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        changes = {**ENGINE, "report.languages": ["es"], "report.reply_days": 5}
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
    port = int(_tsa_url(waiting).rpartition(":")[2].partition("/")[0])
    with tsa(waiting.authority, port):
        done = slaverify(waiting, *report_words(waiting), "--reply", str(reply), "--reply-author", "Ana Pérez")
    assert done.returncode == 0, done.stderr
    return waiting


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
    found = json.loads(slaverify(issued, *words, "--rerender", "--strict", "--json").stdout)
    assert found["outcome"] == "VERIFIED", found
    model = json.loads((issued.run / "report" / "prueba-lineal.1.es.json").read_bytes())
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


def test_the_exports_of_the_issued_report(issued: Place) -> None:
    done = slaverify(issued, *report_words(issued), "--export", "dsse,receipt")
    assert done.returncode == 0, done.stderr
    (line,) = [row.strip() for row in done.stderr.splitlines() if "accuracy.receipt.json --expected-root" in row]
    words = line.split()
    client = Path(sys.executable).with_name("proofbundle")
    checked = subprocess.run([client, *words[1:]], capture_output=True, text=True, check=False, env=environment(issued))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert json.loads(next((issued.run / "report").glob("*.dsse.json")).read_bytes())["payloadType"]
    assert slaverify(issued, *report_words(issued), "--export", "docx").returncode == 2
