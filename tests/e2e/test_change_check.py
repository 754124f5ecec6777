"""Two versions of an engine on one fresh draw: a comparison with a report of its own, never a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_canonical
from slaverify.cli.demo.servers import serve
from slaverify.custody import read_ledger
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

NEW = "aritmetica-2.0.0"
AGREED: dict[str, JsonValue] = {
    **ENGINE,
    "report.languages": ["es"],
    "evaluation_set.sample.method": "seeded",
    "evaluation_set.sample.per_stratum": {"direct": 60, "out_of_corpus": 20},
    "evaluation_set.sample.reserve": 0,
    "metrics.0.threshold": "0.80",
    "metrics.1.threshold": "0.20",
    "schedule.paired_before_change": True,
    "schedule.change_check": {"max_loss": "0.10", "alpha": "0.025", "metrics": ["accuracy"]},
}


class NewCalculator(Calculator):
    """The new version: it wants its question under another name, and says another version of itself."""

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        asked = json.loads(body)
        return super().respond(json.dumps({"query": asked["ask"]["text"]}).encode())


DISHONEST = """
import sys
import slaverify.audit.changing as changing
from slaverify.cli import main
changing.candidate_entry = lambda new: {"version": "9.9.9", "accepted_echoes": ["9.9.9"], "request_sha256": "00" * 32}
sys.argv = ["slaverify", *sys.argv[1:]]
sys.exit(main())
"""


def carry_out(folder: Path, wrong: int, start: list[str]) -> tuple[Place, Calculator, Calculator, str, str]:
    """Carry out a change check in which the new version errs in one sum of `wrong` (0: in none)."""
    place = make_place(folder, items(130, 42))
    old = Calculator()
    new = NewCalculator(lambda left, right: wrong > 0 and right % wrong == 0)
    new.version = NEW
    with serve(old.respond) as current, serve(new.respond) as candidate, tsa(place.authority) as authority:
        named: dict[str, JsonValue] = {
            "url": f"{candidate}/q",
            "request": {"ask": {"text": "${query}"}},
            "version": NEW,
            "accepted_echoes": [NEW],
        }
        write_contract(place, f"{current}/q", authority, {**AGREED, "endpoint.candidate": named})
        words = [sys.executable, *start, *audit_arguments(place, "--change-check", "--json")]
        done = subprocess.run(words, env=environment(place), capture_output=True, text=True, check=False)
    return place, old, new, done.stdout, done.stderr


def checked(folder: Path, wrong: int) -> tuple[Place, Calculator, Calculator, dict]:
    place, old, new, told, said = carry_out(folder, wrong, ["-m", "slaverify"])
    assert told, said
    return place, old, new, json.loads(told)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Calculator, Calculator, dict]:
    return checked(tmp_path_factory.mktemp("change"), 0)


def test_both_versions_answer_the_same_questions_and_nothing_is_decided(
    accepted: tuple[Place, Calculator, Calculator, dict],
) -> None:
    place, old, new, told = accepted
    assert (told["exit_code"], told["comparison"]["state"], told["state"]) == (0, "accepted", "NOT_MEASURED")
    bank = {str(item.query) for item in items(130, 42)}
    assert {q for q in old.asked if q in bank} == {q for q in new.asked if q in bank}
    assert sum(q in bank for q in old.asked) == 80
    plan = loads_canonical((place.run / "run" / "plan.json").read_bytes())["exchanges"]
    sides = [one["side"] for one in plan]
    assert Counter(sides) == {"current": 80, "candidate": 80}
    # Each pair together, and neither version always first.
    assert all(plan[n]["item_id"] == plan[n + 1]["item_id"] for n in range(0, 160, 2))
    assert 10 < sum(side == "candidate" for side in sides[::2]) < 70
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    opened = next(entry for entry in view if entry.type == "run_opened")
    assert opened.data["purpose"] == "change_check" and opened.data["candidate"]["version"] == NEW
    accuracy = told["comparison"]["metrics"][0]
    assert (accuracy["n"], accuracy["b"], accuracy["c"], accuracy["both_pass"]) == (60, 0, 0, 60)
    model = (place.run / "report" / f"{place.pdf().stem}.json").read_text("utf-8")
    assert "change.state.accepted" in model and "title.change" in model and "statement.overall" not in model
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract)]
    found = slaverify(place, *words, "--identity", str(place.keys / "arbitro.age"))
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_comparison_that_was_embellished_is_found(
    accepted: tuple[Place, Calculator, Calculator, dict], tmp_path: Path
) -> None:
    from slaverify.contract.load import load_contract
    from slaverify.evidence.read import open_folder
    from slaverify.verify.recompute import _comparison

    place = accepted[0]
    contract, bundle = load_contract(place.contract), open_folder(place.run)
    records = list(bundle.lines("scoring/scores.jsonl"))
    assert list(_comparison(bundle, contract, records)) == []
    worse = [
        dict(one, correctness="incorrect", verdict="incorrect") if one["side"] == "candidate" else one
        for one in records
    ]
    assert list(_comparison(bundle, contract, worse))


@pytest.mark.nightly
def test_the_ledger_names_the_version_that_the_contract_names(tmp_path: Path) -> None:
    said = carry_out(tmp_path, 0, ["-c", DISHONEST])[4]
    assert "SLV-R026" in said and "the new version on record is not the contract's" in said


@pytest.mark.nightly
def test_a_new_version_that_loses_is_not_accepted_and_a_contract_without_one_is_refused(tmp_path: Path) -> None:
    place, _, _, told = checked(tmp_path / "worse", 3)
    assert (told["exit_code"], told["comparison"]["state"], told["state"]) == (3, "not_accepted", "NOT_MEASURED")
    assert told["comparison"]["metrics"][0]["change_check"]["state"] == "reverted"
    # The SLA run is still to come: the check used nothing of the contract's budget.
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    assert [entry.data.get("purpose") for entry in view if entry.type == "run_opened"] == ["change_check"]
    other = make_place(tmp_path / "none", items(60, 20))
    write_contract(other, "http://127.0.0.1:9/q", "http://127.0.0.1:9/tsa", ENGINE)
    refused = slaverify(other, *audit_arguments(other, "--change-check"))
    assert refused.returncode == 2 and "SLV-A035" in refused.stderr
