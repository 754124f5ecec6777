"""Freezing: every key, the derived numbers, and promises that can never be kept."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from slaverify.contract import breach_level, completed, family_size, freeze, has_integers, metric_n, sample_sizes
from slaverify.contract.load import dump_yaml
from slaverify.contract.numbers import nearest_threshold, smallest_n
from slaverify.errors import ProblemsError
from slaverify.statistics import acceptance_numbers, finite_bank_acceptance_numbers
from tests.contract.support import DEMO, errors, load, load_tree, place, problems, raw_tree, set_at
from tests.tools.plain_draft import plain

TREE = plain(raw_tree(DEMO))
TEXT = dump_yaml(TREE)


def test_the_demo_has_the_agreed_numbers() -> None:
    frozen = freeze(load(TEXT).model)
    assert frozen["contract"]["status"] == "frozen"
    derived = [metric["derived"] for metric in frozen["metrics"]]
    assert [(d["n"], d["pass_max_failures"], d["breach_min_failures"]) for d in derived] == [(120, 5, 21), (150, 7, 25)]


def test_what_depends_on_other_keys_is_written() -> None:
    tree = TREE
    for path in ("method.normaliser", "method.abstention", "parties.vendor.exposure_group", "ledger.start_anchor"):
        tree = set_at(tree, path, ...)
    frozen = freeze(load_tree(tree).model)
    assert frozen["method"]["normaliser"] == "es-legal@1"
    assert frozen["method"]["abstention"] == ["abstain-es@1"]
    assert frozen["method"]["verdict_table"] == "plain@1"
    assert frozen["method"]["answer"]["language"] == "es-CL"
    assert frozen["method"]["policies"]["granularity"] == "article"
    assert frozen["parties"]["vendor"]["exposure_group"] == "76.000.001-9"
    assert frozen["ledger"]["start_anchor"] == "timestamp"
    assert [metric["margin"] for metric in frozen["metrics"]] == ["0.05", "0.05"]
    assert {metric["unit"] for metric in frozen["metrics"]} == {"item"}
    no_id = freeze(load_tree(set_at(tree, "parties.vendor.legal_id", ...)).model)
    assert no_id["parties"]["vendor"]["exposure_group"] == "Proveedor Demo SpA (ficticio)"
    self_check = set_at(set_at(tree, "contract.purpose", "self_check"), "report.signature.tsa_roots", ...)
    assert freeze(load_tree(self_check).model)["ledger"]["start_anchor"] == "none"
    english = freeze(load_tree(set_at(tree, "contract.locale", "en-US")).model)
    assert (english["method"]["normaliser"], english["method"]["abstention"]) == ("en-basic@1", ["abstain-en@1"])


def test_a_metric_of_the_library_alone() -> None:
    tree = TREE
    for key in ("kind", "count", "among", "direction"):
        tree = set_at(set_at(tree, f"metrics.0.{key}", ...), f"metrics.1.{key}", ...)
    assert freeze(load_tree(tree).model) == freeze(load(TEXT).model)


def test_freezing_twice() -> None:
    loaded = load(dump_yaml(freeze(load(TEXT).model)))
    with pytest.raises(ProblemsError) as caught:
        freeze(loaded.model)
    assert caught.value.code == "SLV-C052"


def test_an_undecidable_promise_is_refused_with_the_smallest_mend() -> None:
    text = TEXT.replace('direction: at_least\n    threshold: "0.90"', 'direction: at_least\n    threshold: "0.98"')
    (error,) = errors(text)
    line, _ = place(text, 'threshold: "0.98"')
    assert (error.code, error.where) == ("SLV-S007", f"c.yaml:{line}:16")
    assert "n = 120" in error.what.en
    assert error.fix.en == "raise n to 183 or lower the threshold to 0.96"
    # The model alone says the same when it is frozen.
    model = load(TEXT).model
    metric = model.metrics[0].model_copy(update={"threshold": Decimal("0.98")})
    with pytest.raises(ProblemsError) as caught:
        freeze(model.model_copy(update={"metrics": (metric, model.metrics[1])}))
    assert (caught.value.code, caught.value.where) == ("SLV-S007", "metrics[0].threshold")
    # Reported, or in a pilot, it may stand.
    assert problems(text.replace("purpose: audit", "purpose: pilot")) == []


def test_an_undecidable_limit_of_errors() -> None:
    text = TEXT.replace('direction: at_most\n    threshold: "0.10"', 'direction: at_most\n    threshold: "0.01"')
    (error,) = errors(text.replace('above: "0.10"', 'above: "0.01"'))
    assert error.code == "SLV-S007"
    assert error.fix.en == "raise n to 368 or raise the threshold to 0.03"
    assert error.fix.es == "suba n a 368 o suba el umbral a 0.03"


def test_the_nearest_threshold_is_the_strictest_that_can_pass() -> None:
    model = load(TEXT).model
    metric = model.metrics[0]
    for threshold, n in (("0.98", 100), ("0.999", 500), ("0.9", 20), ("0.9875", 64)):
        harder = metric.model_copy(update={"threshold": Decimal(threshold)})
        found = nearest_threshold(harder, n)
        assert found is not None
        assert smallest_n(model, harder.model_copy(update={"threshold": found})) <= n
        step = Decimal(1).scaleb(min(-2, Decimal(threshold).as_tuple().exponent))
        assert smallest_n(model, harder.model_copy(update={"threshold": found + step})) > n


def test_numbers_of_a_frozen_contract_are_computed_again() -> None:
    frozen = freeze(load(TEXT).model)
    for path, value in (
        ("metrics.0.derived.pass_max_failures", 6),
        ("metrics.0.derived.breach_min_failures", None),
        ("metrics.1.derived.n", 151),
        ("metrics.1.derived", None),
        ("metrics.0.decision.alpha_breach", "0.05"),
        ("verdict.multiplicity", "none"),
        ("evaluation_set.sample.per_stratum.direct", 121),
    ):
        found = problems(dump_yaml(set_at(frozen, path, value)))
        assert {code for code, *_ in found} == {"SLV-S008"}, (path, found)
    text = dump_yaml(set_at(frozen, "metrics.0.derived.pass_max_failures", 6))
    first = text.index("    derived:")
    line = text.count("\n", 0, first) + 2  # the block's first key
    assert problems(text) == [("SLV-S008", line, 7)]


def test_the_family_counts_binding_metrics_with_a_test() -> None:
    model = load(TEXT).model
    assert family_size(model) == 2
    assert breach_level(model, model.metrics[0]) == Decimal("0.0125")
    reported = model.metrics[1].model_copy(update={"severity": "reported"})
    alone = model.model_copy(update={"metrics": (model.metrics[0], reported)})
    assert (family_size(alone), breach_level(alone, alone.metrics[0])) == (1, Decimal("0.025"))
    assert breach_level(alone, reported) == Decimal("0.025")
    simple = model.metrics[1].model_copy(
        update={"decision": model.metrics[1].decision.model_copy(update={"rule": "simple"})}
    )
    assert family_size(model.model_copy(update={"metrics": (model.metrics[0], simple)})) == 1
    free = model.model_copy(update={"verdict": model.verdict.model_copy(update={"multiplicity": "none"})})
    assert breach_level(free, free.metrics[0]) == Decimal("0.025")


def test_n_is_that_of_the_sample_or_of_the_bank() -> None:
    model = load(TEXT).model
    assert [metric_n(model, metric) for metric in model.metrics] == [120, 150]
    tree = set_at(set_at(TREE, "evaluation_set.sample.method", "full"), "evaluation_set.sample.per_stratum", ...)
    full = load_tree(tree).model
    assert sample_sizes(full) == {"direct": 240, "out_of_corpus": 60}
    assert [metric_n(full, metric) for metric in full.metrics] == [240, 300]


def test_where_no_integers_exist() -> None:
    model = completed(load(TEXT).model)
    metric = model.metrics[0]
    assert has_integers(model, metric)
    for path, value, index in (
        ("repetitions.per_item", 3, 0),
        ("evaluation_set.weights", {"direct": "0.5", "out_of_corpus": "0.5"}, 1),
        ("metrics.0.cluster", {"by": "norm", "icc_floor": "0.2"}, 0),
    ):
        loaded = load_tree(set_at(TREE, path, value))
        assert not has_integers(loaded.model, loaded.model.metrics[index]), path
        assert loaded.model.metrics[index].derived.pass_max_failures is None
    repeated = set_at(set_at(TREE, "repetitions.per_item", 3), "repetitions.aggregate", "all_of_k")
    assert load_tree(repeated).model.metrics[0].derived.pass_max_failures == 5


def test_weights_that_the_draw_carries_leave_the_integers() -> None:
    # 120 of 150 drawn from `direct`: its share is 0.8, and within one item also 0.806.
    for share in ("0.8", "0.806"):
        rest = str(1 - Decimal(share))
        model = load_tree(set_at(TREE, "evaluation_set.weights", {"direct": share, "out_of_corpus": rest})).model
        assert [metric.derived.pass_max_failures for metric in model.metrics] == [
            metric.derived.pass_max_failures for metric in load(TEXT).model.metrics
        ]
    beyond = load_tree(set_at(TREE, "evaluation_set.weights", {"direct": "0.81", "out_of_corpus": "0.19"})).model
    assert [has_integers(beyond, metric) for metric in beyond.metrics] == [True, False]


def test_a_finite_bank_has_hypergeometric_numbers() -> None:
    bank = set_at(set_at(TREE, "evaluation_set.estimand", "bank"), "metrics.1.severity", "reported")
    derived = load_tree(bank).model.metrics[0].derived
    numbers = finite_bank_acceptance_numbers(240, 120, Decimal("0.90"), Decimal("0.025"), Decimal("0.025")).numbers
    assert (derived.pass_max_failures, derived.breach_min_failures) == (
        numbers.pass_max_failures,
        numbers.breach_min_failures,
    )
    assert derived.pass_max_failures > 5  # half of the bank was seen: less is left to doubt


def test_a_second_stage_has_numbers_of_both_stages() -> None:
    extend = {"extend": {"per_stratum": {"direct": 100}, "spending": ["0.005", "0.0225"]}}
    staged = set_at(set_at(TREE, "verdict.inconclusive", extend), "evaluation_set.sample.release", "at_start")
    first, second = load_tree(staged).model.metrics
    assert [stage.n for stage in first.derived.stages] == [120, 220]
    alone = acceptance_numbers(Decimal("0.90"), 120, Decimal("0.005"), Fraction("0.005") / 2)
    pooled = acceptance_numbers(Decimal("0.90"), 220, Decimal("0.0225"), Fraction("0.0225") / 2)
    assert [(stage.pass_max_failures, stage.breach_min_failures) for stage in first.derived.stages] == [
        (alone.pass_max_failures, alone.breach_min_failures),
        (pooled.pass_max_failures, pooled.breach_min_failures),
    ]
    assert first.derived.pass_max_failures == alone.pass_max_failures
    assert [stage.n for stage in second.derived.stages] == [150, 250]
    greedy = set_at(staged, "verdict.inconclusive.extend.spending", ["0.025", "0.025"])
    assert {code for code, *_ in problems(dump_yaml(greedy))} == {"SLV-S009"}
    simple = set_at(staged, "metrics.0.decision.rule", "simple")
    assert {code for code, *_ in problems(dump_yaml(simple))} == {"SLV-C051"}


def _vectors(folder: Path) -> list[dict]:
    file = folder / "statistics.json"
    if not file.is_file():
        pytest.skip("tests/vectors/statistics.json is not there")
    return [case for case in json.loads(file.read_text("utf-8")) if case["method"] == "acceptance_numbers"]


def test_acceptance_numbers_equal_the_vectors(vectors_dir: Path) -> None:
    for case in _vectors(vectors_dir):
        inputs, expected = case["inputs"], case["expected"]
        tree = set_at(TREE, "evaluation_set.strata", {"direct": inputs["n"]})
        tree = set_at(tree, "evaluation_set.size", inputs["n"])
        tree = set_at(tree, "evaluation_set.sample.per_stratum", {"direct": inputs["n"]})
        tree = set_at(tree, "remedies.credits", [])
        metric = set_at(TREE["metrics"][0], "library", ...)
        good = inputs["direction"] == "at_least"
        metric = set_at(metric, "direction", inputs["direction"])
        metric = set_at(metric, "count", {"verdict": ["accurate" if good else "incorrect"]})
        metric = set_at(metric, "threshold", inputs["threshold"])
        metric = set_at(metric, "severity", "reported")
        metric = set_at(
            metric,
            "decision",
            {"rule": inputs["rule"], "alpha_pass": inputs["alpha_pass"], "alpha_breach": inputs["alpha_breach"]},
        )
        tree = set_at(set_at(tree, "metrics", [metric]), "contract.purpose", "pilot")
        derived = load_tree(tree).model.metrics[0].derived
        assert derived.pass_max_failures == expected["pass_max_failures"], case["id"]
        assert derived.breach_min_failures == expected["breach_min_failures"], case["id"]
