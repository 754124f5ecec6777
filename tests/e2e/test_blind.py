"""A run that starts blind, over HTTP: in the place of a heartbeat, opened before it ends, verified whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue
from slaverify.cli import run as command
from slaverify.cli.demo.servers import serve
from slaverify.custody import read_ledger
from tests.e2e.line import Place, audit_arguments, make_place, tsa, write_contract
from tests.simulator.arithmetic import VERSION, Calculator, items

BLIND: dict[str, JsonValue] = {
    "engine.version": VERSION,
    "engine.accepted_echoes": [VERSION],
    "ledger.blind": "on",
    "ledger.heartbeat_hours": 1,
}


class Past:
    """A clock of so many hours ago, which the test turns to now."""

    def __init__(self, hours: int) -> None:
        self.behind = timedelta(hours=hours)

    def __call__(self) -> datetime:
        return datetime.now(tz=UTC) - self.behind


class Door(Calculator):
    """A vendor that shuts its door after so many questions, and says that the key is not good."""

    shut_after: int | None = None

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        if self.shut_after is not None and len(self.bodies) >= self.shut_after:
            return 401, "application/json", b"{}"
        return super().respond(body)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Past:
    past = Past(3)
    monkeypatch.setattr("slaverify.cli.wiring.now", past)
    monkeypatch.setattr("tests.e2e.line.now", past)
    monkeypatch.setenv("SLAVERIFY_LANG", "en")
    return past


def place_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = make_place(folder, items(60, 20))
    monkeypatch.setenv("SLAVERIFY_KEYS", str(place.keys))
    return place


def types(place: Place) -> list[str]:
    return [entry.type for entry in read_ledger((place.bank / "ledger.jsonl").read_bytes())]


@pytest.mark.nightly
def test_a_blind_start_takes_the_place_of_a_heartbeat(
    tmp_path: Path, clock: Past, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place, vendor = place_of(tmp_path, monkeypatch), Door()
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        contract = str(write_contract(place, f"{url}/q", authority, BLIND))
        beat = ["custody", "ledger", "heartbeat", str(place.bank), "--contract", contract, "--json"]
        for appended in (True, False):
            capsys.readouterr()
            assert command(beat) == 0
            assert json.loads(capsys.readouterr().out)["appended"] is appended
        assert command(["custody", "verify", str(place.bank), "--contract", contract, "--json"]) == 3
        assert json.loads(capsys.readouterr().out)["blind_entries_closed"] == 1
        # an hour has not gone by: the start waits, and no question leaves
        assert command(audit_arguments(place)) == 6
        told = capsys.readouterr().err
        assert "SLV-K040" in told and "--resume" in told
        assert sum(vendor.asked.values()) == 3 and types(place).count("blind") == 1
        clock.behind = timedelta(0)
        # stopped by the vendor after the start: another folder is not where it goes on
        vendor.shut_after = len(vendor.bodies) + 20
        assert command(audit_arguments(place, "--resume")) == 6
        assert types(place).count("blind") == 2 and "unblind" not in types(place)
        words = audit_arguments(place, "--resume")
        words[words.index("--out") + 1] = str(tmp_path / "elsewhere")
        assert command(words) != 0 and "SLV-A022" in capsys.readouterr().err
        vendor.shut_after = None
        assert command(audit_arguments(place, "--resume")) == 0
    found = types(place)
    assert "run_started" not in found and found.count("blind") == found.count("unblind") == 2
    assert found.index("draw") < len(found) - 1 - found[::-1].index("blind") < found.index("batch")
    assert found.index("unblind") < found.index("run_ended")
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", contract, "--json"]
    capsys.readouterr()
    command(words)
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] == "VERIFIED" and said["verdict"]["state"] == "PASS"
    (ledger,) = [one for one in said["checks"] if one["id"] == "V18"]
    assert ledger["result"] == "passed"
    assert "run_started" in json.dumps(said["times"])
