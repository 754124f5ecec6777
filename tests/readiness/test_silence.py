"""Exactly these findings and no other, with exactly these numbers."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from slaverify.contract.load import load_contract
from slaverify.readiness import examine
from slaverify.readiness.designs import betting
from slaverify.resources import resource
from tests.contract.support import DEMO, load_tree, raw_tree, set_at

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TREE = raw_tree(DEMO)
RAG = raw_tree(resource("contratos", "asistente-normativo-cl.yaml"))
AGENT = raw_tree(resource("contratos", "agente-crm.yaml"))
SPEECH = raw_tree(resource("contratos", "transcripcion-audiencias.yaml"))


def advice(tree: dict, now: datetime = NOW) -> list[tuple]:
    return [(one.finding.code, one.finding.path) for one in examine(load_tree(tree), now).advice]


def finding(tree: dict, code: str):
    return next(one.finding for one in examine(load_tree(tree), NOW).advice if one.finding.code == code)


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("asistente-normativo-cl", set()),
        ("extraccion-facturas", set()),
        ("atencion-clientes", set()),
        ("transcripcion-audiencias", set()),
        ("codificacion-clinica", set()),
        ("agente-crm", {"SLV-S024"}),
    ],
)
def test_an_example_is_warned_of_this_alone(name: str, codes: set[str]) -> None:
    seen = examine(load_contract(resource("contratos", f"{name}.yaml")), NOW)
    assert {one.finding.code for one in seen.advice} == codes


def test_the_demo_is_warned_of_its_small_sample_alone() -> None:
    found = advice(TREE)
    assert sorted(found) == sorted(
        [
            ("SLV-C080", ("endpoint",)),
            ("SLV-K080", ("evaluation_set", "sample", "method")),
            ("SLV-S027", ("repetitions", "per_item")),
            *((code, ("metrics", index, "threshold")) for code in ("SLV-S020", "SLV-S021") for index in (0, 1)),
        ]
    )


def test_power_is_told_in_numbers_of_both_languages() -> None:
    low = finding(TREE, "SLV-S020")
    assert low.what.es == "`accuracy`: un proveedor con tasa real 95,0 % sólo CUMPLE el 44,2 % de las veces (n 120)"
    assert low.what.en == "`accuracy`: a vendor with a true rate of 95.0 % would PASS only 44.2 % of the time (n 120)"
    assert low.fix.en == "at n = 255 the power reaches 80 %, at 316 90 %"
    assert finding(TREE, "SLV-S021").fix.es == "con n = 432 la potencia llega a 80 %, con 562 a 90 %"
    bank = set_at(TREE, "evaluation_set.estimand", "bank")
    assert (
        finding(set_at(bank, "metrics.1.severity", "reported"), "SLV-S021").fix.en == "raise n or agree another margin"
    )


def test_a_rule_without_a_level_shows_no_sample_size() -> None:
    zero = set_at(set_at(TREE, "metrics.0.threshold", "1"), "metrics.0.decision", {"rule": "zero_observed"})
    seen = examine(load_tree(set_at(zero, "remedies", ...)), NOW).metrics[0]
    assert (seen.pass_max_failures, seen.breach_min_failures) == (0, 1)
    assert (seen.to_pass.at_80, seen.to_breach.at_80) == (None, None)
    assert seen.at_threshold.p_pass == 1.0


def test_family_and_coin_flip_are_told_in_numbers() -> None:
    none = finding(set_at(RAG, "verdict.multiplicity", "none"), "SLV-S031")
    assert "20.0 %" in none.what.en
    one = set_at(TREE, "verdict.multiplicity", "none")
    assert "SLV-S031" not in {code for code, _ in advice(set_at(one, "metrics.1.severity", "reported"))}
    coin = finding(set_at(RAG, "metrics.1.decision.rule", "simple"), "SLV-S023")
    assert re.search(r"\((5[0-9]\.[0-9] %) / (4[0-9]\.[0-9] %)\)", coin.what.en)


def test_what_only_bets_refuse_says_the_smallest_sample() -> None:
    tree = set_at(set_at(AGENT, "metrics.2.severity", "binding"), "metrics.2.threshold", "0.999")
    refused = finding(tree, "SLV-S007")
    needed = int(re.search(r"raise n to ([0-9]+)", refused.fix.en)[1])
    assert betting(needed, 0.999, 0.025, 0.025).can_pass
    assert not betting(needed - 1, 0.999, 0.025, 0.025).can_pass
    assert "n = 960" in refused.what.en
    assert "lower the threshold" in refused.fix.en
    edge = finding(set_at(tree, "metrics.2.threshold", "1"), "SLV-S007")
    assert edge.fix.en == "raise n or lower the threshold"
    errors = set_at(set_at(SPEECH, "metrics.2.severity", "binding"), "metrics.2.threshold", "0.0005")
    assert "raise the threshold" in finding(errors, "SLV-S007").fix.en
    reported = set_at(tree, "metrics.2.severity", "reported")
    assert "SLV-S007" not in {code for code, _ in advice(reported)}


def test_weights_that_leave_too_little_are_refused() -> None:
    # 120 and 30 items, nearly all of the weight on the 30: zero failures are worth 30 items, and 36 are needed.
    tree = set_at(TREE, "evaluation_set.weights", {"direct": "0.01", "out_of_corpus": "0.99"})
    tree = set_at(set_at(tree, "metrics.0.among.stratum", ["direct", "out_of_corpus"]), "remedies", ...)
    assert ("SLV-S007", ("metrics", 0, "threshold")) in advice(tree)
    even = set_at(tree, "evaluation_set.weights", {"direct": "0.8", "out_of_corpus": "0.2"})
    assert "SLV-S007" not in {code for code, _ in advice(even)}
    assert "SLV-S011" not in {code for code, _ in advice(even)}


def test_a_poor_judge_is_warned_of_and_not_refused() -> None:
    tree = set_at(RAG, "judge.calibration", {"min_labels": 60})
    tree = set_at(set_at(tree, "metrics.0.threshold", "0.97"), "metrics.0.among.stratum", ["applied"])
    tree = set_at(tree, "metrics.0.margin", "0.01")
    codes = dict(advice(set_at(tree, "remedies", ...)))
    assert codes["SLV-S029"] == ("metrics", 0, "threshold")
    assert "SLV-S007" not in codes


def test_a_window_in_the_past() -> None:
    window = {"from": "2025-11-01T00:00:00Z", "to": "2026-11-30T00:00:00Z"}
    tree = set_at(TREE, "schedule.window", window)
    assert ("SLV-C055", ("schedule", "window", "from")) in advice(tree)
    assert ("SLV-C055", ("schedule", "window", "to")) not in advice(tree)
    exactly = datetime(2025, 11, 1, tzinfo=UTC)
    assert "SLV-C055" not in {code for code, _ in advice(tree, exactly)}


def test_fresh_items_to_the_last_one() -> None:
    # 240 direct items: 120 now, 120 for the next audit.
    assert "SLV-K081" not in {code for code, _ in advice(TREE)}
    less = set_at(set_at(TREE, "evaluation_set.strata.direct", 239), "evaluation_set.size", 299)
    assert ("SLV-K081", ("evaluation_set", "strata", "direct")) in advice(less)
    assert "119" in finding(less, "SLV-K081").what.en
    reserve = set_at(TREE, "evaluation_set.sample.reserve", 1)
    assert "SLV-K081" in {code for code, _ in advice(reserve)}


def test_one_criterion_has_one_threshold_and_that_is_fine() -> None:
    chat = raw_tree(resource("contratos", "atencion-clientes.yaml"))
    chat["judge"]["criteria"] = chat["judge"]["criteria"][:1]
    chat = set_at(set_at(chat, "metrics.1.severity", "reported"), "remedies", ...)
    assert "SLV-C082" not in {code for code, _ in advice(chat)}


def test_margins_are_read_on_their_own_scale() -> None:
    seen = examine(load_tree(set_at(AGENT, "metrics.2.margin", "0.05")), NOW).metrics[2]
    assert seen.better.rate == pytest.approx(0.80)
    assert seen.worse.rate == pytest.approx(0.70)
    speech = examine(load_tree(set_at(SPEECH, "metrics.2.margin", "0.03")), NOW).metrics[2]
    assert speech.better.rate == pytest.approx(0.05)
    assert speech.worse.rate == pytest.approx(0.11)
    assert Decimal("0.08") == speech.threshold


def test_only_a_bank_knows_a_census() -> None:
    tree = set_at(TREE, "evaluation_set.sample", {"method": "full"})
    assert "SLV-S028" not in {code for code, _ in advice(tree)}


def test_the_family_is_warned_of_once_and_from_two_on() -> None:
    codes = [code for code, _ in advice(set_at(TREE, "verdict.multiplicity", "none"))]
    assert codes.count("SLV-S031") == 1
    codes = [code for code, _ in advice(set_at(RAG, "verdict.multiplicity", "none"))]
    assert codes.count("SLV-S031") == 1


def test_a_stratum_of_one_item_is_fine_without_weights() -> None:
    tree = set_at(TREE, "evaluation_set.sample.per_stratum.out_of_corpus", 1)
    assert "SLV-S011" not in {code for code, _ in advice(tree)}


@pytest.mark.parametrize("threshold", ["0.998", "0.9985", "0.9991", "0.9995", "0.9997"])
def test_the_smallest_sample_of_a_mean_is_the_smallest(threshold: str) -> None:
    tree = set_at(set_at(AGENT, "metrics.2.severity", "binding"), "metrics.2.threshold", threshold)
    tree = set_at(tree, "evaluation_set.sample.per_stratum", {"perspective": 10, "silence": 10, "counterfactual": 10})
    tree = set_at(set_at(tree, "metrics.0.severity", "reported"), "metrics.1.severity", "reported")
    refused = finding(set_at(tree, "remedies", ...), "SLV-S007")
    needed = int(re.search(r"raise n to ([0-9]+)", refused.fix.en)[1])
    assert f"suba n a {needed}" in refused.fix.es
    assert betting(needed, float(threshold), 0.025, 0.025).can_pass
    assert not betting(needed - 1, float(threshold), 0.025, 0.025).can_pass


def test_two_items_of_a_weighted_stratum_are_enough_for_a_variance() -> None:
    tree = set_at(TREE, "evaluation_set.weights", {"direct": "0.9", "out_of_corpus": "0.1"})
    tree = set_at(tree, "evaluation_set.sample.per_stratum.out_of_corpus", 2)
    assert "SLV-S011" not in {code for code, _ in advice(tree)}
