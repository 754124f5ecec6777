"""The operating table: its numbers are those of the vectors, of the decision, and of exact enumeration."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.contract.load import parse_contract
from slaverify.readiness import examine, outlook
from slaverify.readiness.designs import Counted, OfBank, Staged, betting, effective
from slaverify.readiness.outlook import Needed
from slaverify.resources import resource
from slaverify.statistics import acceptance_numbers, stage_risks, two_stage
from tests.contract.support import DEMO, load_tree, raw_tree, set_at
from tests.tools.plain_draft import plain

TREE = plain(raw_tree(DEMO))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def one(path: str, value: object, tree: dict | None = None) -> object:
    return outlook(load_tree(set_at(tree or TREE, path, value)).model, 0)


def vectors(folder: Path, method: str) -> list[dict]:
    file = folder / "statistics.json"
    if not file.is_file():
        pytest.skip("tests/vectors/statistics.json is not there")
    return [case for case in json.loads(file.read_text("utf-8")) if case["method"] == method]


def test_the_demo_has_the_published_plan() -> None:
    seen = outlook(load_tree(TREE).model, 0)
    assert (seen.basis, seen.n, seen.pass_max_failures, seen.breach_min_failures) == ("integers", 120, 5, 21)
    assert (seen.to_pass.at_80, seen.to_pass.at_90) == (255, 316)
    assert seen.better.rate == pytest.approx(0.95)
    assert seen.at_threshold.p_pass <= 0.025
    assert seen.at_threshold.p_breach <= 0.0125
    assert [point.rate for point in seen.curve] == sorted(point.rate for point in seen.curve)


def test_every_acceptance_number_of_the_vectors(vectors_dir: Path) -> None:
    checked = 0
    for case in vectors(vectors_dir, "acceptance_numbers"):
        given_, due = case["inputs"], case["expected"]
        if given_.get("rule", "guarded") not in ("guarded", "simple", "guarded_rejection") or given_["n"] > 20_000:
            continue
        tree = set_at(TREE, "evaluation_set.strata.direct", given_["n"] or 1)
        if given_["n"] < 1:
            continue
        tree = set_at(tree, "evaluation_set.size", given_["n"] + 60)
        tree = set_at(tree, "evaluation_set.sample.per_stratum.direct", given_["n"])
        tree = set_at(set_at(tree, "metrics.1.severity", "reported"), "remedies", ...)
        tree = set_at(tree, "contract.purpose", "pilot")  # what can never PASS is refused elsewhere
        errors = given_.get("direction") == "at_most"
        for key, value in {
            "threshold": given_["threshold"],
            "library": ...,
            "count": {"verdict": ["incorrect"]} if errors else {"verdict": ["accurate"]},
            "direction": "at_most" if errors else "at_least",
            "decision": {
                "rule": given_.get("rule", "guarded"),
                "alpha_pass": given_["alpha_pass"],
                "alpha_breach": given_["alpha_breach"],
            },
        }.items():
            tree = set_at(tree, f"metrics.0.{key}", value)
        seen = outlook(load_tree(tree).model, 0)
        assert seen.pass_max_failures == due["pass_max_failures"], case["id"]
        assert seen.breach_min_failures == due["breach_min_failures"], case["id"]
        if "risk_false_pass" in due:
            assert seen.at_threshold.p_pass == pytest.approx(due["risk_false_pass"], abs=1e-6), case["id"]
        checked += 1
    assert checked > 10


def test_the_curve_is_that_of_the_vectors(vectors_dir: Path) -> None:
    for case in vectors(vectors_dir, "oc_accept"):
        given_ = case["inputs"]
        found = Counted(given_["n"], given_["c"], None).chances(1 - float(given_["p_nonconforming"]))[0]
        assert found == pytest.approx(case["expected"]["accept"], abs=max(case["tolerance"], 1e-9)), case["id"]


def test_two_stages_are_the_joint_binomial() -> None:
    pair = (Fraction("0.005"), Fraction("0.0225"))
    stages = two_stage(250, 250, Fraction("0.95"), pair, pair)
    for rate in ("0.90", "0.93", "0.95", "0.97", "0.99"):
        exact = stage_risks(stages, Fraction(rate))
        assert Staged(stages).chances(float(rate)) == pytest.approx(
            (float(exact.p_pass), float(exact.p_breach)), abs=1e-9
        )


def test_a_bank_knows_more_than_a_population() -> None:
    bank = one("evaluation_set.estimand", "bank")
    assert bank.basis == "bank"
    assert bank.pass_max_failures > 5
    assert bank.at_threshold.p_pass <= 0.05  # the bank's rate at the threshold, rounded to whole items
    census = OfBank(size=100, n=100, accept=10, reject=11)
    assert census.chances(0.90) == (1.0, 0.0)
    assert census.chances(0.89) == (0.0, 1.0)


def test_an_effective_sample_of_whole_items_is_the_binomial() -> None:
    numbers = acceptance_numbers(Decimal("0.9"), 300, Decimal("0.025"), Decimal("0.025"))
    real = effective(300.0, 0.9, 0.025, 0.025)
    assert numbers.pass_max_failures <= real.accept < numbers.pass_max_failures + 1
    assert numbers.breach_min_failures - 1 < real.reject <= numbers.breach_min_failures
    assert effective(20.0, 0.9, 0.025, 0.025).can_pass is False
    assert effective(1.0, 0.9, 0.025, 0.025).can_breach is False


@settings(max_examples=40, deadline=None)
@given(n=st.integers(5, 800), t=st.integers(50, 98), size=st.integers(1, 9))
def test_chances_are_chances_and_better_vendors_pass_more(n: int, t: int, size: int) -> None:
    for design in (effective(n / size, t / 100, 0.025, 0.0125), betting(n, t / 100, 0.025, 0.0125)):
        rates = sorted([0.0, 0.3, 0.6, t / 100, 0.97, 1.0])
        found = [design.chances(rate) for rate in rates]
        assert all(0.0 <= p <= 1.0 + 1e-12 and 0.0 <= b <= 1.0 + 1e-12 for p, b in found)
        assert [p for p, _ in found] == sorted(p for p, _ in found)
        assert [b for _, b in found] == sorted((b for _, b in found), reverse=True)
        at = design.chances(t / 100)
        assert at[0] <= 0.025 + 1e-9
        assert at[1] <= 0.0125 + 1e-9


def test_clusters_and_judge_cost_items() -> None:
    cluster = one("metrics.0.cluster", {"by": "norm", "icc_floor": "0.2"})
    assert cluster.basis == "clusters"
    assert cluster.n_eff < 120 / (1 + 4 * 0.2) + 1
    alone = outlook(load_tree(set_at(TREE, "metrics.0.cluster", {"by": "norm", "icc_floor": "0.2"})).model, 0, 1)
    assert alone.n_eff == pytest.approx(120)
    assert cluster.to_pass.at_80 > alone.to_pass.at_80 >= 255
    repeats = set_at(TREE, "repetitions.per_item", 3)
    assert one("repetitions.aggregate", "each_call", repeats).n_eff == 120
    even = set_at(TREE, "evaluation_set.weights", {"direct": "0.5", "out_of_corpus": "0.5"})
    weights = outlook(load_tree(even).model, 1)
    assert (weights.basis, weights.n_eff) == ("weights", pytest.approx(96))  # 1 / (0.25/120 + 0.25/30)


def test_what_no_judge_can_move_keeps_its_integers() -> None:
    """Latency in a judged contract is counted; a judge that knows nothing leaves the judged metric undecidable."""
    rag = set_at(raw_tree(resource("contratos", "asistente-normativo-cl.yaml")), "remedies", ...)
    rag["metrics"].append({
        "id": "latencia", "name": {"es": "Latencia", "en": "Latency"}, "library": "latency_quantile@1",
        "limit_s": "4", "threshold": "0.95", "severity": "reported", "decision": {},
    })  # fmt: skip
    latency = outlook(load_tree(rag).model, len(rag["metrics"]) - 1)
    due = acceptance_numbers(Decimal("0.95"), latency.n, Decimal("0.025"), Decimal("0.025"))
    assert (latency.basis, latency.direction) == ("integers", "at_least")
    assert (latency.n_judged, latency.labels_worth) == (0, None)
    assert (latency.pass_max_failures, latency.breach_min_failures) == (due.pass_max_failures, due.breach_min_failures)
    grouped = set_at(rag, f"metrics.{len(rag['metrics']) - 1}.cluster", {"by": "norm", "icc_floor": "0.2"})
    seen = outlook(load_tree(grouped).model, len(rag["metrics"]) - 1)
    assert (seen.basis, seen.n_judged, seen.labels_worth) == ("clusters", 0, None)
    blind = set_at(rag, "judge.calibration", {"min_labels": 60, "min_sensitivity": "0.5", "min_specificity": "0.5"})
    seen = outlook(load_tree(set_at(blind, "contract.purpose", "pilot")).model, 0)
    assert (seen.basis, seen.n_eff, seen.labels_worth) == ("judge", 1.0, 0)
    assert not seen.can_pass
    assert not seen.can_breach


FULL = raw_tree(Path(__file__).parents[1] / "contract" / "data" / "full.yaml")


def rates(tree: dict, name: str) -> list[float]:
    """The three rates at which power is told, as a reader sees them: better, promised, worse."""
    index = [metric["id"] for metric in tree["metrics"]].index(name)
    seen = outlook(load_tree(tree).model, index)
    return [seen.better.rate, seen.at_threshold.rate, seen.worse.rate]


def test_rates_are_told_on_the_scale_of_the_contract() -> None:
    """Without a margin, half the way from the promise to perfection, and as far to the other side."""
    assert rates(FULL, "puntaje") == pytest.approx([0.9, 0.8, 0.7])
    assert rates(FULL, "errores") == pytest.approx([0.04, 0.08, 0.12])
    golf = set_at(set_at(FULL, "metrics.2.scale", ["0", "10"]), "metrics.2.threshold", "2")
    assert rates(set_at(golf, "metrics.2.direction", "at_most"), "puntaje") == pytest.approx([1, 2, 3])
    cut = set_at(set_at(FULL, "metrics.3.scale", ["1", "5"]), "metrics.3.cut", "4")
    assert rates(cut, "puntaje_corte") == pytest.approx([0.9, 0.8, 0.7])


def test_a_quantile_is_the_rate_within_the_limit_whatever_its_sense() -> None:
    tree = set_at(FULL, "metrics.5", {
        "id": "latencia", "name": {"es": "Latencia", "en": "Latency"}, "kind": "quantile", "limit_s": "4",
        "among": {}, "direction": "at_most", "threshold": "0.95", "severity": "reported", "decision": {},
    })  # fmt: skip
    assert outlook(load_tree(tree).model, 5).direction == "at_least"
    assert rates(tree, "latencia") == pytest.approx([0.975, 0.95, 0.925])


def test_a_promise_a_hair_below_perfection_names_no_size() -> None:
    """Nine nines need more items than anybody plans: the table says nothing rather than a number."""
    tree = set_at(set_at(TREE, "metrics.0.threshold", "0.999999999"), "contract.purpose", "pilot")
    seen = outlook(load_tree(set_at(tree, "remedies", ...)).model, 0)
    assert (seen.to_pass, seen.to_breach) == (Needed(None, None), Needed(None, None))


def test_a_bet_counts_items_unless_the_contract_names_groups() -> None:
    speech = raw_tree(resource("contratos", "transcripcion-audiencias.yaml"))
    grouped = outlook(load_tree(speech).model, 2)
    alone = outlook(load_tree(set_at(speech, "metrics.2.cluster", ...)).model, 2)
    assert (grouped.basis, grouped.n_eff) == (alone.basis, alone.n_eff / 5) == ("bets", 320)


def test_twenty_metrics_in_under_two_seconds() -> None:
    tree = set_at(TREE, "remedies", ...)
    tree["metrics"] = [{**TREE["metrics"][index % 2], "id": f"m{index}"} for index in range(20)]
    text = json.dumps(tree).encode()
    examine(parse_contract(text, "warm.json"), NOW)
    start = time.process_time()
    examine(parse_contract(text, "c.json"), NOW)
    assert time.process_time() - start < 2
