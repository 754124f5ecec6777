"""Labels of another run of the same judge: pinned, drawn at random, not too old, and carried over as counts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from slaverify.canonical import digest_of, jcs, loads_strict
from slaverify.cli import run as typed
from slaverify.contract import Contract
from slaverify.contract.model.judge import Judge
from slaverify.decision import RunValidity, external_calibrations, inputs, results
from slaverify.errors import JudgeError
from slaverify.judging.calibration import Label, UnitKey, calibration_record, external_record, units_of
from tests.decision.build import record
from tests.e2e.line import audit_arguments
from tests.judging.calibration.people import contract, judged, labelled, simulated, truthful
from tests.judging.line import judge_block, judged_audit
from tests.simulator.judges import Clerk, JudgeServer, perfect, sentinel_lines

CLOSED = date(2026, 11, 30)


def labels_of(sensitivity: float = 0.96, specificity: float = 0.9, design: str = "random_audit") -> dict[str, Any]:
    """The calibration record of an older run: 700 answers, 600 labels, 30 % wrong."""
    records, truth = simulated(random.Random(21), 700, 0.7, sensitivity, specificity)
    run = labelled(contract(n=700, design=design, min_labels=600), records, truthful(truth))
    found: dict[str, Any] = loads_strict(jcs(calibration_record(run)))
    return found


def agreed(source: dict[str, Any], n: int = 600, **changes: object) -> Contract:
    return contract(n=n, design="external", labels_digest=digest_of(jcs(source)), **changes)


def decided(model: Contract, records: list[dict], record_: dict[str, Any]) -> dict[str, Any]:
    found = results(model, inputs(model, records), RunValidity(valid=True), external_calibrations(model, record_))
    metric: dict[str, Any] = found["metrics"][0]
    return metric


def carried(model: Contract, source: dict[str, Any], records: list[dict]) -> dict[str, Any]:
    found: dict[str, Any] = external_record(model, source, units_of(model, records), CLOSED)
    return found


def test_the_run_is_decided_with_the_error_measured_elsewhere() -> None:
    source = labels_of()
    model = agreed(source)
    records, truth = simulated(random.Random(22), 600, 0.97, 0.96, 0.9)
    whole = [*records, *(record(9000 + n, "out_of_corpus", verdict="abstention") for n in range(30))]
    record_ = carried(model, source, whole)
    (subject,) = record_["subjects"]
    assert subject["gate"]["met"] is True
    assert subject["labels"] == 600
    metric = decided(model, whole, record_)
    right = sum(truth.values()) / 600
    assert metric["method"] == "judge_corrected"
    assert float(metric["exact"]["low"]) < right < float(metric["exact"]["high"])
    assert metric["state"] == "PASS"
    shown = [float(subject["corrected"][key]) for key in ("value", "low", "high")]
    assert shown == pytest.approx(
        [float(metric["rate"]), float(metric["exact"]["low"]), float(metric["exact"]["high"])]
    )
    assert jcs(external_record(model, record_["source"], units_of(model, whole), CLOSED)) == jcs(record_)


def test_a_judge_that_was_refused_there_decides_nothing_here() -> None:
    source = labels_of(0.6, 0.4)
    model = agreed(source)
    records, _ = simulated(random.Random(22), 600, 0.97, 0.6, 0.4)
    metric = decided(model, records, carried(model, source, records))
    assert (metric["state"], metric["reason"]) == ("NOT_MEASURED", "judge_not_informative")


def test_a_metric_that_counts_more_than_accurate_is_not_corrected() -> None:
    source = labels_of()
    model = agreed(source)
    metric = model.metrics[0].model_copy(update={"count": {"verdict": ("accurate", "incomplete")}})
    model = model.model_copy(update={"metrics": (metric,)})
    records, _ = simulated(random.Random(22), 600, 0.97, 0.96, 0.9)
    found = decided(model, records, carried(model, source, records))
    assert (found["state"], found["reason"]) == ("NOT_MEASURED", "data_absent")


@pytest.mark.parametrize(
    "make,word",
    [
        (lambda s: (agreed(s), {**s, "closed_on": "2026-11-01"}), "pins"),
        (lambda s: (agreed(labels_of(design="stratified_audit")), labels_of(design="stratified_audit")), "at random"),
        (lambda s: (agreed({**s, "complete": False}), {**s, "complete": False}), "at random"),
        (lambda s: (agreed({**s, "judge_id": "0" * 64}), {**s, "judge_id": "0" * 64}), "another judge"),
        (lambda s: (agreed({**s, "closed_on": "2025-01-01"}), {**s, "closed_on": "2025-01-01"}), "days old"),
        (lambda s: (agreed({**s, "closed_on": "2027-01-01"}), {**s, "closed_on": "2027-01-01"}), "days old"),
    ],
)
def test_other_labels_than_the_agreed_ones_are_refused(
    make: Callable[[dict], tuple[Contract, dict]], word: str
) -> None:
    model, source = make(labels_of())
    with pytest.raises(JudgeError) as caught:
        carried(model, source, [])
    assert (caught.value.code, caught.value.exit_code) == ("SLV-J074", 5)
    assert word in caught.value.why.en


def test_a_malformed_record_of_others_is_refused() -> None:
    source = labels_of()
    source["rows"][0]["labels"] = 3
    with pytest.raises(JudgeError) as caught:
        carried(agreed(source), source, [])
    assert caught.value.code == "SLV-J069"


def test_an_audit_with_agreed_labels_of_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = JudgeServer(perfect)
    block = {**judge_block("http://127.0.0.1:9/v1", sentinel_lines()), "calibration": {"min_labels": 600}}
    judge = Judge.model_validate_json(
        json.dumps({**block, "calibration": {"design": "random_audit", "min_labels": 600}})
    )
    older = contract(n=700, min_labels=600).model_copy(update={"judge": judge})
    # The demo's profile grounds nothing: the people of the older run were asked of correctness alone.
    older = older.model_copy(update={"method": older.method.model_copy(update={"verdict_table": None})})
    rng = random.Random(31)
    truth = {UnitKey(f"i-{n:06d}", 0, ""): rng.random() < 0.7 for n in range(700)}
    records = [judged(n, truth[UnitKey(f"i-{n:06d}", 0, "")], grounding="not_applicable") for n in range(700)]
    right, wrong = (Label("answer", (("correctness", word),)) for word in ("correct", "incorrect"))
    source = calibration_record(labelled(older, records, lambda key: right if truth[key] else wrong))
    monkeypatch.setattr("slaverify.audit.asking.FIRST_WAIT_S", 0.01)
    monkeypatch.setenv("SLAVERIFY_LANG", "en")
    pinned = {"design": "external", "labels_digest": digest_of(jcs(source))}
    changes: dict[str, Any] = {"on_uncalibrated": "not_measured", "calibration": pinned}
    with judged_audit(tmp_path, server, Clerk(lambda number: number % 20 == 0), **changes) as place:
        monkeypatch.setenv("SLAVERIFY_KEYS", str(place.keys))
        assert typed(audit_arguments(place)) == 6
        assert f"slaverify calibrate {place.run} --external FILE" in capsys.readouterr().err
        assert typed(["label", "export", str(place.run), "--annotator", "ana"]) == 2
        other, own = tmp_path / "other.json", tmp_path / "own.json"
        other.write_bytes(jcs({**source, "closed_on": "2026-11-29"}))
        own.write_bytes(jcs({**source, "closed_on": source["closed_on"]}))
        assert typed(["calibrate", str(place.run), "--external", str(other)]) == 5
        assert typed(["calibrate", str(place.run), "--external", str(own)]) == 0
        assert typed(audit_arguments(place, "--resume")) in (0, 1, 3)
        results_ = json.loads((place.run / "statistics/results.json").read_bytes())
        assert results_["metrics"][0]["method"] in ("judge_corrected", "mixed")
        limits = json.loads((place.run / "decision/limitations.json").read_bytes())["items"]
        assert "L14" in [item["code"] for item in limits]
        words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract)]
        assert typed(words) == 0
