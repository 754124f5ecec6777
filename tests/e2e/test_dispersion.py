"""The dispersion sample, from the plan to the report and its verification: told, and no part of what is decided."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_jsonl, loads_object
from slaverify.cli.demo.servers import serve
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

AGREED: dict[str, JsonValue] = {
    **ENGINE,
    "report.languages": ["es"],
    "repetitions.dispersion_sample": {"items": 12, "repeats": 4},
}


class Tired(Calculator):
    """Right at the first call of each question; wrong at the second and fourth of sums with an even first term."""

    def answer(self, question: str) -> str:
        again = self.asked[question] - 1
        left = re.search(r"suman? (\d+)", question)
        self.errs = lambda *_: left is not None and int(left[1]) % 2 == 0 and again in (1, 3)
        return super().answer(question)


def audited(place: Place, start: list[str]) -> tuple[int, str]:
    with serve(Tired().respond) as url, tsa(place.authority) as authority:
        # One connection: the engine counts its calls, so their order must be the plan's.
        write_contract(place, f"{url}/q", authority, {**AGREED, "endpoint.call.concurrency": 1})
        words = [sys.executable, *start, *audit_arguments(place)]
        done = subprocess.run(words, env=environment(place), capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.nightly
def test_what_is_asked_again_is_told_and_never_counted(tmp_path: Path) -> None:
    place = make_place(tmp_path, items(60, 20))
    code, told = audited(place, ["-m", "slaverify"])
    assert code == 0, told
    plan = loads_object((place.run / "run" / "plan.json").read_bytes())["exchanges"]
    assert len(plan) == 80 + 12 * 4
    assert {one["repetition"] for one in plan[:80]} == {0} and {one["repetition"] for one in plan[80:]} == {1, 2, 3, 4}
    scores = loads_jsonl((place.run / "scoring" / "scores.jsonl").read_bytes())
    again = loads_jsonl((place.run / "scoring" / "arms.jsonl").read_bytes())
    assert len(scores) == 80 and len(again) == 48 and {line["arm"] for line in again} == {"repeat"}
    decision = json.loads((place.run / "decision" / "decision.json").read_bytes())
    assert [(one["n"], one["failures"]) for one in decision["metrics"]] == [(60, 0), (80, 0)]

    found = json.loads((place.run / "statistics" / "dispersion.json").read_bytes())
    right: Counter[str] = Counter()
    for line in again:
        right[line["record"]["item_id"]] += line["record"]["correctness"] == "correct"
    (accuracy, _) = found["metrics"]
    sums = {line["record"]["item_id"] for line in again if line["record"]["stratum"] == "direct"}
    histogram = Counter(str(right[item]) for item in sums)
    assert set(histogram) == {"2", "4"} and accuracy["histogram"] == dict(histogram)
    assert (accuracy["items"], accuracy["undecided"], accuracy["reason"]) == (len(sums), 0, None)
    assert -1 / 3 <= float(accuracy["icc"]) < 1
    limits = json.loads((place.run / "decision" / "limitations.json").read_bytes())["items"]
    third = next(one["args"] for one in limits if one["code"] == "L03")
    assert (third["repetitions"], third["sample"]["items"], third["sample"]["repeats"]) == (1, 12, 4)
    page = next((place.run / "report").glob("*.es.json")).read_text("utf-8")
    assert "dispersion.metric" in page and "L03.sampled" in page

    for edition, more in (("parties", ("--identity", str(place.keys / "arbitro.age"))), ("public", ())):
        words = ["verify", str(place.bundle(edition)), "--contract", str(place.contract), *more]
        done = slaverify(place, *words)
        assert done.returncode == 0, done.stdout + done.stderr


FLATTERED = """
import sys
import slaverify.audit.deciding as deciding
from slaverify.cli import main
true = deciding.dispersion_of
deciding.dispersion_of = lambda *given: {**true(*given), "metrics": [
    {**one, "icc": "1.000000000"} for one in true(*given)["metrics"]]}
sys.argv = ["slaverify", *sys.argv[1:]]
sys.exit(main())
"""


@pytest.mark.nightly
def test_an_auditor_who_flatters_the_dispersion_gets_no_report(tmp_path: Path) -> None:
    place = make_place(tmp_path, items(60, 20))
    code, told = audited(place, ["-c", FLATTERED])
    assert code == 4 and "statistics/dispersion.json" in told
