"""Bad input: each is refused with its code, its place and its mend, and leaves nothing half-written."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue
from slaverify.cli import run as command
from slaverify.cli.demo.servers import serve
from slaverify.custody import read_ledger
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, stamping, tsa, write_contract
from tests.simulator.arithmetic import VERSION, Calculator, items

ENDPOINT_CHANGES: dict[str, JsonValue] = {**ENGINE, "report.languages": ["es"], "endpoint.call.attempts": 2}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path, items(40))


def run_opened(place: Place) -> bool:
    return any(entry.type == "run_opened" for entry in read_ledger((place.bank / "ledger.jsonl").read_bytes()))


def spoiled(place: Place, old: str, new: str) -> int:
    """Replace one text of the frozen contract and return the line (from 1) where it stood."""
    text = place.contract.read_text(encoding="utf-8")
    assert old in text
    line = text[: text.index(old)].count("\n") + 1
    place.contract.write_text(text.replace(old, new, 1), encoding="utf-8")
    return line


@pytest.mark.parametrize(
    ("old", "new", "code", "mend"),
    [
        ("  url: ", "  urll: ", "SLV-C0", "url"),
        ('threshold: "0.90"', "threshold: 0.90", "SLV-C0", "quote it"),
        ('threshold: "0.90"', 'threshold: "0,90"', "SLV-C0", "0.90"),
        ("  adapter: json_http@1\n", "", "SLV-C0", "adapter"),
    ],
    ids=["misspelt", "unquoted", "comma", "missing"],
)
def test_a_fault_of_the_contract_is_shown_at_its_line(
    finished: Place,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    new: str,
    code: str,
    mend: str,
) -> None:
    monkeypatch.setenv("SLAVERIFY_LANG", "en")
    contract = tmp_path / "contract.yaml"
    shutil.copy(finished.contract, contract)
    text = contract.read_text(encoding="utf-8")
    assert old in text, text[:3000]
    line = text[: text.index(old)].count("\n") + 1
    contract.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert command(["contract", "check", str(contract)]) == 2
    said = capsys.readouterr().err
    assert code in said
    assert mend in said
    places = [int(match[1]) for match in re.finditer(r"contract\.yaml:(\d+):\d+", said)]
    # A missing key is shown at the block that lacks it, at most a few lines above.
    assert any(abs(found - line) <= 3 for found in places), said


def test_a_bank_that_is_not_the_contracts_is_refused(place: Place) -> None:
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, {**ENGINE, "evaluation_set.bank_digest": "sha256:" + "ab" * 32})
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 5
    assert "SLV-K010" in done.stderr
    assert not place.out.exists()


def test_another_identity_opens_nothing(place: Place) -> None:
    other = make_place(place.folder / "other", items(3))
    shutil.copy(other.keys / "custodian.age", place.keys / "custodian.age")
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 5
    assert "SLV-K015" in done.stderr


def test_a_signing_key_that_the_contract_does_not_pin_is_refused_before_anything_runs(place: Place) -> None:
    other = make_place(place.folder / "other", items(3))
    calculator = Calculator()
    with serve(calculator.respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place, "--key", str(other.keys / "auditor.signing.pem")))
    assert done.returncode == 5
    assert "SLV-R024" in done.stderr
    assert not calculator.asked


def test_an_endpoint_that_is_down_uses_up_no_run(place: Place) -> None:
    with tsa(place.authority) as authority:
        write_contract(place, "http://127.0.0.1:9/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 6
    assert "SLV-N040" in done.stderr
    assert "--resume" not in done.stderr
    assert not run_opened(place)


def test_an_endpoint_that_answers_html_uses_up_no_run(place: Place) -> None:
    page = b"<html><head><title>Mantenimiento</title></head><body>vuelva luego</body></html>"
    with serve(lambda _: (200, "text/html", page)) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 6
    assert "SLV-N040" in done.stderr
    assert not run_opened(place)


def test_another_engine_version_is_refused_before_a_private_item_leaves(place: Place) -> None:
    calculator = Calculator()
    calculator.version = "aritmetica-2.0.0"
    with serve(calculator.respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 5
    assert "SLV-N041" in done.stderr
    assert not run_opened(place)
    assert not [question for question in calculator.asked if "suman" in question]


def test_an_engine_that_changes_version_in_the_middle_is_an_invalid_run(place: Place) -> None:
    calculator = Calculator(delay_s=0.02)

    def respond(body: bytes) -> tuple[int, str, bytes]:
        status, kind, data = calculator.respond(body)
        if len(calculator.bodies) > 20:
            tree = json.loads(data)
            tree["engine"]["version"] = "aritmetica-1.0.1"
            data = json.dumps(tree).encode()
        return status, kind, data

    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 3, done.stderr
    assert "INVALID RUN" in done.stdout
    verified = slaverify(place, "verify", str(place.pdf()), str(place.bundle()), "--contract", str(place.contract))
    assert verified.returncode == 0, verified.stdout
    assert "INVALID RUN" in verified.stdout


def test_a_vendor_that_fails_on_everything_is_in_breach_never_inconclusive(place: Place) -> None:
    probe = "reglamento"

    def respond(body: bytes) -> tuple[int, str, bytes]:
        question = str(json.loads(body)["query"])
        if probe in question:
            tree = {"answer": "El de transporte.", "engine": {"version": VERSION}}
            return 200, "application/json", json.dumps(tree).encode()
        return 500, "application/json", b'{"error":{"code":"boom"}}'

    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 1, done.stderr
    assert "BREACH" in done.stdout


def test_without_a_timestamp_nothing_private_leaves_and_the_walk_goes_on_later(place: Place) -> None:
    calculator = Calculator()
    with serve(calculator.respond) as vendor:
        with tsa(place.authority) as authority:
            write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        done = slaverify(place, *audit_arguments(place))
        assert done.returncode == 6, done.stderr
        assert "SLV-R020" in done.stderr
        assert "--resume" in done.stderr
        assert not [question for question in calculator.asked if "suman" in question]
        # The same port again: the authority is back.
        port = int(authority.rpartition(":")[2].partition("/")[0])
        with serve(stamping(place.authority), port):
            done = slaverify(place, *audit_arguments(place, "--resume"))
    assert done.returncode == 0, done.stderr


def test_a_timestamp_authority_that_goes_away_before_the_report_leaves_no_half_written_file(place: Place) -> None:
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        words = audit_arguments(place)
        words[0] = "run"
        assert slaverify(place, *words).returncode == 0
        run = str(place.run)
        assert slaverify(place, "score", run).returncode == 0
        assert slaverify(place, "decide", run).returncode == 0
    failed = slaverify(place, "report", run, "--authorized-by", "Auditora de Prueba Ltda.")
    assert failed.returncode == 6
    assert "SLV-R020" in failed.stderr
    assert not list((place.run / "report").glob("*.pdf")) if (place.run / "report").exists() else True
    assert not (place.run / "manifest.tsr").exists()
    assert not [path for path in place.run.rglob(".*") if path.is_file()]


def test_who_may_not_authorise_is_told_so(place: Place) -> None:
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        words = [*audit_arguments(place)]
        words[words.index("--authorized-by") + 1] = "Fulana"
        done = slaverify(place, *words)
    assert done.returncode == 2
    assert "SLV-R025" in done.stderr


def test_a_draft_is_not_audited(place: Place) -> None:
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENDPOINT_CHANGES)
        spoiled(place, "status: frozen", "status: draft")
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 2
    assert "SLV-C053" in done.stderr
