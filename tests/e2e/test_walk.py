"""The walk refuses to be in two places, to sign twice, or to go on with what is not there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slaverify.audit.alone import alone
from slaverify.cli.demo.servers import serve
from slaverify.contract.load import load_contract
from slaverify.custody import read_ledger
from slaverify.errors import ApplicationError
from tests.e2e.conftest import ENGINE
from tests.e2e.line import ORGANISATION, Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a run that is decided and not yet reported."""
    place = make_place(tmp_path_factory.mktemp("walk"), items(40))
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENGINE)
        words = audit_arguments(place)
        words[0] = "run"
        assert slaverify(place, *words).returncode == 0
        assert slaverify(place, "decide", str(place.run)).returncode == 0
    return place


def issued(place: Place) -> list[str]:
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    return [str(entry.data["language"]) for entry in view if entry.type == "report_issued"]


def test_one_process_a_run(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(ApplicationError) as caught, alone(tmp_path):
        pass
    assert caught.value.code == "SLV-A023"
    with alone(tmp_path):
        pass


def test_a_missing_token_leaves_the_run_to_be_reported_and_status_says_the_line(decided: Place) -> None:
    told = slaverify(decided, "status", str(decided.run))
    assert "next      report" in told.stdout
    assert f"slaverify report {decided.run}" in told.stdout


def test_go_on_elsewhere_or_with_nothing_is_refused(decided: Place, tmp_path: Path) -> None:
    words = audit_arguments(decided, "--resume")
    words[words.index("--out") + 1] = str(tmp_path / "elsewhere")
    done = slaverify(decided, *words)
    assert done.returncode == 2
    assert "SLV-A022" in done.stderr
    fresh = make_place(tmp_path / "fresh", items(40))
    write_contract(fresh, "http://127.0.0.1:9/q", "http://127.0.0.1:9/tsa", ENGINE)
    done = slaverify(fresh, *audit_arguments(fresh, "--resume"))
    assert done.returncode == 2
    assert "SLV-A024" in done.stderr
    assert not fresh.out.exists()


def test_a_copied_run_folder_is_not_taken_for_the_run(decided: Place, tmp_path: Path) -> None:
    copied = tmp_path / decided.run.name
    shutil.copytree(decided.run, copied)
    done = slaverify(decided, "status", str(copied))
    assert done.returncode == 2
    assert "SLV-A022" in done.stderr


def test_three_reports_at_once_issue_each_language_once_and_never_again(decided: Place) -> None:
    # The contract names the port of the first authority: the same port answers again.
    port = load_contract(decided.contract).model.report.signature.tsa_urls[0].rpartition(":")[2].partition("/")[0]
    with tsa(decided.authority, int(port)):
        words = ["report", str(decided.run), "--authorized-by", ORGANISATION]
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "slaverify", *words],
                env=environment(decided),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        ends = [(one.communicate()[1], one.returncode) for one in started]
        assert [code for _, code in ends].count(0) >= 1, ends
        assert all(code in (0, 2) for _, code in ends), ends
        assert sorted(issued(decided)) == ["en", "es"]
        decided.pdf("en").unlink()
        again = slaverify(decided, *words)
        assert again.returncode == 4
        assert "SLV-R027" in again.stderr
        assert sorted(issued(decided)) == ["en", "es"]
