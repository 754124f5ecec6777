"""Exactly these findings and no other, with exactly these numbers."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, log

import pytest

from slaverify.contract.load import load_contract
from slaverify.readiness import Needed, Point, amendment, examine, outlook
from slaverify.readiness.designs import Effective, OfBank, Staged, betting, clustered_n_eff, effective
from slaverify.resources import resource
from slaverify.statistics import (
    clustered_decision,
    equivalent_labels,
    log_wealth,
    min_n_power,
    oc_accept,
    stage_risks,
    two_stage,
)
from tests.contract.support import DEMO, load_tree, raw_tree, set_at
from tests.tools.plain_draft import plain

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TREE = plain(raw_tree(DEMO))
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


def test_two_criteria_of_one_threshold_are_pointed_at() -> None:
    chat = raw_tree(resource("contratos", "atencion-clientes.yaml"))
    for criterion in chat["judge"]["criteria"]:
        criterion["threshold"] = "0.8"
    first, second = chat["judge"]["criteria"][:2]
    chat["judge"]["criteria"] = [first, second]
    chat = set_at(set_at(chat, "metrics.1.severity", "reported"), "remedies", ...)
    assert "SLV-C082" in {code for code, _ in advice(chat)}


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


def drawn_up_to(most: int, n: int, wrong: int, size: int) -> float:
    return sum(comb(wrong, i) * comb(size - wrong, n - i) for i in range(most + 1)) / comb(size, n)


def test_a_draw_from_a_bank_is_hypergeometric_on_both_sides() -> None:
    passes, breaches = drawn_up_to(1, 8, 5, 20), 1 - drawn_up_to(3, 8, 5, 20)
    for accept, reject in ((1, 4), (None, 4), (1, None), (None, None)):
        design = OfBank(20, 8, accept, reject)
        assert design.chances(0.75) == pytest.approx((passes if accept else 0, breaches if reject else 0), abs=1e-12)
        assert (design.can_pass, design.can_breach) == (accept is not None, reject is not None)


@pytest.mark.parametrize(
    ("first", "second", "t"),
    [
        (2, 2, "0.6"),
        (2, 3, "0.9"),
        (2, 60, "0.9"),
        (400, 24, "0.95"),
        (30, 90, "0.95"),
        (150, 50, "0.95"),
        (5, 5, "0.5"),
        (2, 20, "0.2"),
    ],
)
def test_small_stages_are_the_joint_binomial(first: int, second: int, t: str) -> None:
    pair = (Fraction("0.005"), Fraction("0.0225"))
    stages = two_stage(first, second, Fraction(t), pair, pair)
    for rate in ("0", "0.2", t, "0.97", "1"):
        exact = stage_risks(stages, Fraction(rate))
        assert Staged(stages).chances(float(rate)) == pytest.approx(
            (float(exact.p_pass), float(exact.p_breach)), abs=1e-12
        )
    assert Staged(stages).can_pass is (stage_risks(stages, Fraction(1)).p_pass > 0)
    assert Staged(stages).can_breach is (stage_risks(stages, Fraction(0)).p_breach > 0)


@pytest.mark.parametrize(("n_eff", "t"), [(300.0, 0.9), (61.7, 0.55), (88.25, 0.97), (40.0, 0.9), (2.0, 0.9)])
def test_an_effective_sample_spends_its_whole_risk(n_eff: float, t: float) -> None:
    design = effective(n_eff, t, 0.025, 0.0125)
    if design.can_pass:
        assert design.chances(t)[0] == pytest.approx(0.025, abs=1e-9)
    assert design.chances(t)[1] == pytest.approx(0.0125, abs=1e-9)
    assert design.can_pass is (t**n_eff <= 0.025)


def test_an_effective_sample_at_its_ends() -> None:
    assert Effective(10.0, 10.0, 0.0).chances(0.5) == (1.0, 1.0)
    assert Effective(10.0, None, None).chances(0.5) == (0.0, 0.0)
    assert Effective(10.0, None, 1.0).chances(0.5)[1] == pytest.approx(1 - 0.5**10, abs=1e-12)
    assert Effective(10.0, 0.0, 10.0).chances(0.5) == pytest.approx((0.5**10, 0.5**10))
    assert Effective(10.0, 0.5, 0.5).chances(0.5)[0] + Effective(10.0, 0.5, 1.5).chances(0.5)[1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("n", "t"), [(120, 0.9), (121, 0.9), (500, 0.9), *((n, 0.5) for n in range(1, 16)), (2, 0.001), (2, 0.999)]
)
def test_bets_give_the_last_count_that_speaks(n: int, t: float) -> None:
    design = betting(n, t, 0.025, 0.0125)

    def passes(failures: int) -> bool:
        return log_wealth({1.0: n - failures, 0.0: failures}, t) >= -log(0.025)

    def breaches(failures: int) -> bool:
        return log_wealth({1.0: failures, 0.0: n - failures}, 1 - t) >= -log(0.0125)

    assert design.accept == max((f for f in range(n + 1) if passes(f)), default=None)
    assert design.reject == min((f for f in range(n + 1) if breaches(f)), default=None)
    for end in (0.0, 1.0):
        assert (betting(n, end, 0.025, 0.0125).accept, betting(n, end, 0.025, 0.0125).reject) == (None, None)


def test_the_items_beyond_whole_clusters_go_to_the_last_one() -> None:
    floor = Decimal("0.2")
    assert clustered_n_eff(9, 5, floor, 0.025) == 1.0
    for n, sizes in ((10, [5.0, 5.0]), (14, [5.0, 9.0]), (32, [5.0] * 5 + [7.0])):
        assert clustered_n_eff(n, 5, floor, 0.025) == clustered_decision(sizes, sizes, floor, 0.025).n_eff


def test_the_clusters_that_are_assumed_have_five_items() -> None:
    tree = set_at(TREE, "metrics.0.cluster", {"by": "norm", "icc_floor": "0.2"})
    tree = set_at(tree, "metrics.0.decision.alpha_breach", "0.05")
    seen = outlook(load_tree(tree).model, 0)
    assert seen.cluster_size == examine(load_tree(tree), NOW).metrics[0].cluster_size == 5
    assert seen.n_eff == clustered_n_eff(120, 5, Decimal("0.2"), 0.025)
    need = min_n_power(Fraction("0.9"), 0.95, Fraction("0.025"), 0.8, "pass")
    assert seen.to_pass.at_80 == ceil(need * 120 / seen.n_eff)
    assert outlook(load_tree(TREE).model, 0).cluster_size is None
    speech = outlook(load_tree(SPEECH).model, 2)
    assert (speech.basis, speech.n_eff) == ("bets", 320.0)
    assert outlook(load_tree(SPEECH).model, 2, 2000).n_eff == 1.0


def test_what_is_left_is_inconclusive() -> None:
    assert Point(0.9, 0.25, 0.5).p_inconclusive == 0.25
    assert Point(0.9, 0.75, 0.5).p_inconclusive == 0.0


def test_the_curve_goes_from_three_margins_below_to_perfection() -> None:
    seen = outlook(load_tree(set_at(TREE, "metrics.0.margin", "0.04")).model, 0)
    rates = [point.rate for point in seen.curve]
    assert (len(rates), rates[0], rates[-1]) == (11, pytest.approx(0.78), pytest.approx(1.0))
    assert {round(b - a, 9) for a, b in pairwise(rates)} == {0.022}
    assert [point.p_pass for point in seen.curve] == pytest.approx([oc_accept(120, 5, 1 - rate) for rate in rates])
    wide = outlook(load_tree(set_at(TREE, "metrics.0.margin", "0.31")).model, 0)
    assert (wide.curve[0].rate, wide.better.rate) == (0.0, 1.0)
    # No margin is written: half the way from the promise to perfection.
    assert outlook(load_tree(set_at(TREE, "metrics.0.threshold", "0.80")).model, 0).better.rate == pytest.approx(0.9)


def test_weights_cost_items() -> None:
    tree = set_at(TREE, "evaluation_set.weights", {"direct": "0.5", "out_of_corpus": "0.5"})
    tree = set_at(tree, "metrics.0.among.stratum", ["direct", "out_of_corpus"])
    seen = outlook(load_tree(tree).model, 0)
    assert (seen.basis, seen.n) == ("weights", 150)
    assert seen.n_eff == pytest.approx(1 / (0.25 / 120 + 0.25 / 30))
    both = outlook(load_tree(set_at(tree, "metrics.0.cluster", {"by": "norm", "icc_floor": "0.2"})).model, 0)
    assert both.basis == "clusters"
    assert both.n_eff == pytest.approx(seen.n_eff * clustered_n_eff(150, 5, Decimal("0.2"), 0.0125) / 150)


@pytest.mark.parametrize(
    ("calibration", "sensitivity", "specificity", "each"),
    [
        ({"min_labels": 600, "min_sensitivity": "0.95", "min_specificity": "0.94"}, 0.95, 0.94, 300),
        ({"min_labels": 601}, 0.9, 0.9, 300),
        ({"min_labels": 100, "min_per_class": 60, "min_sensitivity": "0.95"}, 0.95, 0.9, 60),
    ],
)
def test_judged_items_are_worth_fewer_labels(
    calibration: dict, sensitivity: float, specificity: float, each: int
) -> None:
    tree = set_at(set_at(RAG, "judge.calibration", calibration), "remedies", ...)
    seen = outlook(load_tree(tree).model, 0)
    worth = equivalent_labels(500, sensitivity, specificity, 0.85, each, each)
    assert (seen.basis, seen.n, seen.n_judged, seen.labels_worth) == ("judge", 1000, 500, int(worth))
    assert seen.n_eff == pytest.approx(1 / (0.25 / worth + 0.25 / 500))
    alone = outlook(load_tree(set_at(tree, "metrics.0.among.stratum", ["applied"])).model, 0)
    assert alone.n_eff == pytest.approx(worth)


def test_bets_and_banks_are_told_no_sample_size() -> None:
    for tree, index in ((set_at(TREE, "evaluation_set.estimand", "bank"), 0), (AGENT, 2)):
        seen = outlook(load_tree(tree).model, index)
        assert (seen.to_pass, seen.to_breach) == (Needed(None, None), Needed(None, None))


@pytest.mark.parametrize(
    ("changes", "en", "es"),
    [
        ({"engine.version": "9"}, None, None),
        ({"evaluation_set.bank_digest": "sha256:" + "9" * 64}, None, None),
        ({"engine.version": "9", "contract.title": "Otro"}, None, None),
        (
            {"engine.version": "9", "evaluation_set.bank_digest": "sha256:" + "9" * 64},
            "and the bank change",
            "y el banco",
        ),
        ({"engine.version": "9", "failed_calls.unresolved_max": "0.02"}, "and the method change", "y el método"),
        ({"engine.version": "9", "judge.language": "en"}, "and the method change", "y el método"),
        (
            {"engine.version": "9", "repetitions.per_item": 2, "evaluation_set.bank_digest": "sha256:" + "9" * 64},
            "and bank and method change",
            "y el banco y el método",
        ),
    ],
)
def test_an_amendment_says_what_else_moved(changes: dict, en: str | None, es: str | None) -> None:
    new = RAG
    for path, value in changes.items():
        new = set_at(new, path, value)
    found = list(amendment(RAG, new))
    if en is None:
        assert not found
    else:
        assert en in found[0].what.en
        assert found[0].what.es == f"cambian a la vez la versión del motor {es}"


def test_an_amendment_of_a_draft_that_still_owes_its_engine() -> None:
    owing = set_at(RAG, "engine", "pending")
    assert list(amendment(owing, owing)) == []
    (found,) = amendment(owing, set_at(RAG, "evaluation_set.bank_digest", "sha256:" + "9" * 64))
    assert found.code == "SLV-C083"


@pytest.mark.parametrize(
    ("threshold", "n", "shown"), [("0.996", 1100, "99.8"), ("0.9992", 5000, "99.96"), ("0.99992", 50000, "99.996")]
)
def test_a_share_near_all_shows_what_sets_it_apart(threshold: str, n: int, shown: str) -> None:
    tree = set_at(set_at(TREE, "evaluation_set.strata.direct", n), "evaluation_set.size", n + 60)
    tree = set_at(set_at(tree, "evaluation_set.sample.per_stratum.direct", n), "metrics.0.threshold", threshold)
    low = finding(set_at(tree, "remedies", ...), "SLV-S020")
    assert f"a true rate of {shown} % would" in low.what.en
    assert f"tasa real {shown.replace('.', ',')} % sólo" in low.what.es


def test_a_lonely_stratum_is_told_with_the_number_of_its_metric() -> None:
    tree = set_at(TREE, "evaluation_set.weights", {"direct": "0.9", "out_of_corpus": "0.1"})
    tree = set_at(tree, "evaluation_set.sample.per_stratum.out_of_corpus", 1)
    lonely = finding(tree, "SLV-S011")
    assert "metric 2)" in lonely.what.en
    assert "métrica 2)" in lonely.what.es


def test_a_second_stage_takes_fresh_items_too() -> None:
    tree = set_at(set_at(TREE, "evaluation_set.sample.release", "at_start"), "remedies", ...)
    tree = set_at(set_at(tree, "evaluation_set.strata.direct", 290), "evaluation_set.size", 350)
    for more, warned in ((50, False), (51, True)):
        staged = {"extend": {"per_stratum": {"direct": more}, "spending": ["0.005", "0.0225"]}}
        codes = advice(set_at(tree, "verdict.inconclusive", staged))
        assert (("SLV-K081", ("evaluation_set", "strata", "direct")) in codes) is warned
        assert ("SLV-K081", ("evaluation_set", "strata", "out_of_corpus")) not in codes


def test_what_is_reported_alone_binds_nobody_on_hostile_questions() -> None:
    codes = {code for code, _ in advice(set_at(set_at(TREE, "metrics.1.severity", "reported"), "remedies", ...))}
    assert "SLV-C081" in codes


def test_repeats_and_a_revealed_draw_are_warned_of_nothing() -> None:
    assert "SLV-S027" not in {code for code, _ in advice(set_at(TREE, "repetitions.per_item", 2))}
    assert "SLV-K080" not in {code for code, _ in advice(set_at(TREE, "evaluation_set.sample.method", "commit_reveal"))}
    assert "SLV-K080" not in {code for code, _ in advice(set_at(TREE, "parties.custodian.name", "Otra SpA"))}


def test_one_call_per_item_of_a_bank_is_the_rate_of_that_run() -> None:
    assert finding(TREE, "SLV-S027").why.en == "the report will state it as a limitation"
    for tree in (set_at(TREE, "evaluation_set.estimand", "bank"), set_at(TREE, "metrics.1.estimand", "bank")):
        assert "not the expected one" in finding(tree, "SLV-S027").why.en
        assert "no la esperada" in finding(tree, "SLV-S027").why.es


def test_a_judge_that_knows_next_to_nothing_leaves_one_item() -> None:
    poor = {"min_labels": 60, "min_sensitivity": "0.51", "min_specificity": "0.51"}
    tree = set_at(set_at(set_at(RAG, "judge.calibration", poor), "contract.purpose", "pilot"), "remedies", ...)
    seen = outlook(load_tree(set_at(tree, "metrics.0.among.stratum", ["applied"])).model, 0)
    assert (seen.basis, seen.n_eff, seen.n_judged) == ("judge", 1.0, 500)
    plain = [outlook(load_tree(TREE).model, index) for index in (0, 1)]
    assert [(one.n_judged, one.labels_worth, one.direction) for one in plain] == [
        (0, None, "at_least"),
        (0, None, "at_most"),
    ]


def test_errors_are_read_on_their_own_ceiling() -> None:
    seen = outlook(load_tree(set_at(set_at(SPEECH, "metrics.2.r_max", "2"), "metrics.2.margin", "0.04")).model, 2)
    assert [point.rate for point in (seen.better, seen.at_threshold, seen.worse)] == pytest.approx([0.04, 0.08, 0.12])
    assert seen.at_threshold.p_pass == pytest.approx(betting(320, 0.96, 0.025, 0.025).chances(0.96)[0])


def test_groups_that_leave_too_little_are_warned_of_and_not_refused() -> None:
    tree = set_at(TREE, "metrics.0.cluster", {"by": "norm", "icc_floor": "1"})
    tree = set_at(set_at(tree, "evaluation_set.sample.per_stratum.direct", 40), "remedies", ...)
    codes = {code for code, _ in advice(tree)}
    assert "SLV-S029" in codes
    assert "SLV-S007" not in codes


def test_a_mean_is_read_on_its_scale() -> None:
    tree = set_at(set_at(AGENT, "metrics.2.scale", ["1", "5"]), "metrics.2.threshold", "4")
    seen = outlook(load_tree(set_at(tree, "metrics.2.margin", "0.4")).model, 2)
    assert [point.rate for point in (seen.better, seen.at_threshold, seen.worse)] == pytest.approx([4.4, 4.0, 3.6])


def test_weights_of_some_strata_are_taken_among_themselves() -> None:
    weights = {"direct": "0.2", "applied": "0.2", "trap": "0.3", "out_of_corpus": "0.2", "adversarial": "0.1"}
    seen = outlook(load_tree(set_at(set_at(RAG, "evaluation_set.weights", weights), "remedies", ...)).model, 2)
    assert (seen.basis, seen.n) == ("weights", 620)
    assert seen.n_eff == pytest.approx(1 / ((1 / 4) / 220 + (1 / 9) / 200 + (1 / 36) / 200))


def test_leak_tests_that_could_see_nothing_are_warned_of() -> None:
    arms = "evaluation_set.sample.arms"
    small = set_at(TREE, arms, {"anchor": 20, "twin": 10, "probe": 3})
    assert ("SLV-K083", tuple(arms.split("."))) in advice(small)
    for enough in ({"probe": 4}, {"twin": 250}, {"anchor": 20, "twin": 400}):
        assert "SLV-K083" not in {code for code, _ in advice(set_at(TREE, arms, enough))}
    assert "SLV-K083" not in {code for code, _ in advice(TREE)}
