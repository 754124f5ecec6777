"""Every limitation has a condition that holds and one that does not; remedies are arithmetic, never more."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slaverify.canonical import jcs
from slaverify.decision import (
    CalibrationFacts,
    LimitationFacts,
    RunValidity,
    decide,
    inputs,
    limitations,
    metric_facts,
    results,
)
from tests.decision.build import ACCURACY, HALLUCINATION, JUDGE, build, run

VALID = RunValidity(True)
ALWAYS = {"L02", "L03", "L04", "L06", "L08", "L16", "L17", "L21", "L23"}
QUIET = LimitationFacts(
    answers=150,
    echoes=150,
    attested=150,
    references_unreviewed=0,
    strata=(("direct", 120), ("out_of_corpus", 30)),
    signatures=("auditor", "buyer", "custodian", "vendor"),
    witnesses=1,
    beacon=True,
    self_signed=False,
)
PREDICTED = {"observable": "Reclamos", "direction": "decreases", "evidence": "Estudio", "as_of": "2025-01-01"}


def quiet_contract(**changes: object):
    metric = {**ACCURACY, "predicts": PREDICTED}
    base = {
        "parties": {"author": {"name": "Auditora"}},
        "method": {"abstention": []},
        "evaluation_set": {"sample": {"method": "commit_reveal"}},
        "report": {"signature": {"level": "B-LTA"}},
    }
    return build([metric], **{**base, **changes})


def codes(contract, facts: LimitationFacts) -> list[str]:
    document = limitations(contract, facts)
    jcs(document)
    return [item["code"] for item in document["items"]]


def args(code: str, contract, facts: LimitationFacts) -> dict:
    return next(item["args"] for item in limitations(contract, facts)["items"] if item["code"] == code)


def changed(**changes: object) -> LimitationFacts:
    from dataclasses import replace

    return replace(QUIET, **changes)


def test_what_nobody_can_switch_off() -> None:
    found = codes(quiet_contract(), QUIET)
    assert set(found) == ALWAYS
    assert found == sorted(found)


def metrics_of(wrong: int = 0, contract=None, **of_wrong: object) -> tuple:
    contract = contract or build([ACCURACY, HALLUCINATION])
    return metric_facts(results(contract, inputs(contract, run(wrong, **of_wrong)), VALID))


CASES = [
    ("L01", {}, {"judged_items": 3}),
    ("L05", {"method": {"abstention": ["abstain-es@1"]}}, {"abstentions": 4, "abstentions_reviewed": 2}),
    ("L05", {"method": {"abstention": None}}, {}),
    ("L07", {"parties": {"author": {"name": "Otra"}}}, {}),
    ("L09", {}, {"references_unreviewed": None}),
    ("L09", {}, {"references_unreviewed": 5}),
    ("L09", {}, {"disputed": 1, "dispute_states": ("PASS", "INCONCLUSIVE")}),
    ("L10", {}, {"strata": (("direct", 29), ("out_of_corpus", 30))}),
    ("L10", {}, {"strata": (("direct", 120),)}),
    ("L12", {}, {"metrics": metrics_of()}),
    ("L13", {**JUDGE, "engine": {"family": "otra", "base_families": ["otra"]}}, {}),
    ("L13", {**JUDGE, "engine": {"family": "motor", "base_families": "undisclosed"}}, {}),
    ("L13", {}, {"judge_family_items": 2}),
    ("L14", {}, {"calibration": CalibrationFacts(design="external", labels=200, annotators=2)}),
    ("L15", {}, {"attested": 149}),
    ("L15", {}, {"answers": 0, "echoes": 0, "attested": 0}),
    ("L18", {}, {"metrics": metrics_of(1, outcome="unresolved")}),
    ("L19", {}, {"retries": 1}),
    ("L19", {}, {"excluded": 1}),
    ("L19", {}, {"deviations": ("clock_skew",)}),
    ("L20", {}, {"witnesses": 0}),
    ("L20", {}, {"beacon": False}),
    ("L20", {"evaluation_set": {"sample": {"method": "seeded"}}}, {}),
    ("L22", {}, {"judge_votes": 7}),
    ("L24", {}, {"demo": True}),
    ("L24", {}, {"self_signed": None}),
    ("L24", {"report": {"signature": {"level": "B-T"}}}, {}),
    ("L25", {}, {"signatures": ("auditor", "buyer", "vendor")}),
    ("L25", {"parties": {"author": {"name": "Auditora"}, "independence": {"payer": "buyer"}}}, {}),
    ("L26", {"contract": {"purpose": "self_check"}}, {}),
    (
        "L28",
        {
            "method": {
                "abstention": [],
                "profile": "trajectory@1",
                "trajectory": {"state_contract_digest": "sha256:" + "a" * 64},
            }
        },
        {},
    ),
]


@pytest.mark.parametrize(("code", "contract_changes", "fact_changes"), CASES)
def test_each_condition(code: str, contract_changes: dict, fact_changes: dict) -> None:
    assert code in codes(quiet_contract(**contract_changes), changed(**fact_changes))
    assert code not in codes(quiet_contract(), QUIET)


def test_no_study_no_claim_of_use() -> None:
    contract = build([ACCURACY, {**HALLUCINATION, "predicts": PREDICTED}])
    assert args("L27", contract, QUIET) == {"metrics": ["accuracy"]}


def test_few_clusters() -> None:
    contract = build([{**ACCURACY, "cluster": {"by": "norm", "icc_floor": "0.2"}}])
    records = [{**r, "cluster": f"c-{i % 9:04d}"} for i, r in enumerate(run(3))]
    facts = metric_facts(results(contract, inputs(contract, records), VALID))
    assert args("L11", contract, changed(metrics=facts)) == {
        "metrics": [{"id": "accuracy", "clusters": 9, "floor": True}]
    }


def test_arguments() -> None:
    contract = build([ACCURACY, HALLUCINATION])
    facts = changed(metrics=metrics_of(1, outcome="unresolved"), judged_items=3)
    assert args("L01", contract, facts) == {"judged": 3, "calibrated": False}
    assert args("L18", contract, facts)["metrics"][0] == {
        "id": "accuracy",
        "unresolved": 1,
        "open": 0,
        "low": "0.991666667",
        "high": "1.000000000",
    }
    assert args("L18", contract, facts)["metrics"][1]["low"] == "0.000000000"
    assert args("L12", contract, facts)["metrics"][0]["margin"] == "0.050000000"
    known = CalibrationFacts(design="stratified_audit", labels=200, annotators=2, kappa="0.810000000")
    assert args("L01", contract, changed(judged_items=3, calibration=known))["kappa"] == "0.810000000"
    assert args("L04", contract, facts)["uncovered"][0] == "latency"
    assert args("L10", contract, changed(strata=())) == {"small": [], "absent": ["direct", "out_of_corpus"]}


def test_malformed_results_give_facts_without_numbers() -> None:
    found = metric_facts({"metrics": [{"id": "x", "n": True, "observations": -1}, 3]})
    assert [(m.id, m.n, m.rate_low) for m in found] == [("x", 0, None)]
    assert metric_facts({}) == ()


REMEDIES = {
    "currency": "CLP",
    "base_amount": "2500000",
    "at_risk": "0.20",
    "cap": "0.03",
    "allocation": {"accuracy": "0.5", "hallucination": "0.5"},
    "credits": [
        {"metric": "accuracy", "below": "0.90", "share": "0.25"},
        {"metric": "accuracy", "below": "0.80", "share": "0.50"},
        {"metric": "hallucination", "above": "0.10", "share": "0.50"},
    ],
    "cure_days": 30,
}


def remedies_of(wrong: int, **changes: object) -> dict | None:
    contract = build([ACCURACY, HALLUCINATION], remedies={**REMEDIES, **changes})
    return decide(contract, results(contract, inputs(contract, run(wrong)), VALID), VALID)["remedies"]


def test_no_money_without_a_demonstrated_breach() -> None:
    for wrong in (0, 20):
        found = remedies_of(wrong)
        assert (found["lines"], found["total"], found["due"], found["executed"]) == ([], "0", "0", False)


def test_credits_and_their_arithmetic() -> None:
    found = remedies_of(22)  # accuracy breached at 0.8167, hallucination not
    line = found["lines"][0]
    assert (line["metric"], line["below"], line["share"]) == ("accuracy", "0.90", "0.25")
    assert Decimal(line["weight"]) == Decimal("0.1")
    assert Decimal(line["amount"]) == Decimal("62500")
    assert Decimal(found["due"]) == Decimal("62500")
    both = remedies_of(30)  # 0.75 and 0.20: the deeper step
    assert [Decimal(entry["amount"]) for entry in both["lines"]] == [Decimal("125000"), Decimal("125000")]
    assert (Decimal(both["total"]), Decimal(both["cap"]), Decimal(both["due"])) == (250000, 75000, 75000)


def test_without_a_base_there_is_no_amount() -> None:
    found = remedies_of(30, base_amount=None, cap=None)
    assert [line["amount"] for line in found["lines"]] == [None, None]
    assert (found["total"], found["due"]) == (None, None)


def test_a_contract_without_remedies_has_none() -> None:
    contract = build([ACCURACY])
    assert decide(contract, results(contract, inputs(contract, run(30)), VALID), VALID)["remedies"] is None


def test_a_state_that_cannot_occur_is_the_weakest() -> None:
    contract = build(
        [{**ACCURACY, "threshold": "0.99", "severity": "reported"}, {**HALLUCINATION, "predicts": PREDICTED}]
    )
    facts = changed(metrics=metrics_of(contract=contract))
    row = args("L12", contract, facts)["metrics"][0]
    assert (row["id"], row["power_pass"], row["margin"]) == ("accuracy", None, "0.005000000")
    assert "L12" in results(contract, inputs(contract, run()), VALID)["metrics"][0]["limitations"]


def test_what_a_limitation_says_is_what_the_contract_says() -> None:
    """The words that page 1 prints beside a code come from the contract, each from its own place."""
    corpus = {"name": "Norma ficticia", "digest": "sha256:" + "1" * 64, "as_of": "2026-01-01"}
    catalogue = {"digest": "sha256:" + "2" * 64, "as_of": "2026-02-02"}
    both = [
        {**ACCURACY, "estimand": "bank"},
        {**HALLUCINATION, "estimand": "population"},
        {**ACCURACY, "id": "inherits"},
    ]
    full = build(both, scope={"corpus": corpus, "catalogue": catalogue}, parties={"author": {"name": "Otra"}})
    bare = build(both, evaluation_set={"frame": None})
    said = {item["code"]: item["args"] for item in limitations(full, QUIET)["items"]}
    silent = {item["code"]: item["args"] for item in limitations(bare, QUIET)["items"]}
    assert {"corpus": "Norma ficticia", "as_of": "2026-01-01"}.items() <= said["L02"].items()
    assert (silent["L02"]["corpus"], silent["L02"]["as_of"]) == (None, None)
    assert said["L02"]["strata"] == ["direct", "out_of_corpus"]
    assert {"catalogue": True, "marked": False, **catalogue} in list(said.values())
    assert {"catalogue": False} in list(silent.values())
    assert (said["L07"]["author"], silent["L07"]["author"]) == ("Otra", None)
    of_whom = next(one for one in said.values() if "bank_size" in one)
    assert (of_whom["bank"], of_whom["population"]) == (["accuracy"], ["hallucination", "inherits"])
    assert of_whom["frame"] == "Consultas"
    assert next(one for one in silent.values() if "bank_size" in one)["frame"] is None


def test_time_is_covered_only_where_a_clause_measures_it() -> None:
    untimed = next(i["args"] for i in limitations(build([ACCURACY]), QUIET)["items"] if "uncovered" in i["args"])
    slow = {**ACCURACY, "id": "p95", "kind": "quantile", "limit_s": "2", "count": None, "threshold": "0.95"}
    timed = next(i["args"] for i in limitations(build([slow]), QUIET)["items"] if "uncovered" in i["args"])
    assert set(untimed["uncovered"]) - set(timed["uncovered"]) == {"latency"}
    assert len(timed["uncovered"]) == len(untimed["uncovered"]) - 1 > 0


def test_a_calibrated_judge_says_so() -> None:
    known = CalibrationFacts(design="external", labels=200, annotators=2, sensitivity="0.9", specificity="0.8")
    assert args("L01", quiet_contract(), changed(judged_items=3, calibration=known))["calibrated"] is True
    assert args("L01", quiet_contract(), changed(judged_items=3))["calibrated"] is False


@pytest.mark.parametrize(
    ("margin", "power", "weak"),
    [("0.05", "0.800000000", False), ("0.05", "0.799999999", True), (None, "0.1", False), ("0.05", None, True)],
)
def test_power_is_weak_below_four_fifths_of_a_margin(margin: str | None, power: str | None, weak: bool) -> None:
    row = {"id": "accuracy", "margin": margin, "power_at_margin": power, "power_breach_at_margin": "0.9"}
    found = codes(quiet_contract(), changed(metrics=metric_facts({"metrics": [row]})))
    assert ("L12" in found) is weak


def test_whose_word_it_is_names_the_anchor_and_the_holder() -> None:
    said = args("L20", quiet_contract(), changed(witnesses=0))
    assert (said["anchor"], said["custodian_is_auditor"]) == ("timestamp", False)
    chosen = args("L20", quiet_contract(ledger={"start_anchor": "both"}), changed(witnesses=0))
    assert chosen["anchor"] == "both"
    own = quiet_contract(
        contract={"purpose": "self_check"}, parties={"author": {"name": "A"}, "custodian": {"name": "Auditora"}}
    )
    assert args("L20", own, changed(witnesses=0)) | {"anchor": "none", "custodian_is_auditor": True} == args(
        "L20", own, changed(witnesses=0)
    )


def test_disputes_name_both_readings() -> None:
    said = args("L09", quiet_contract(), changed(disputed=1, dispute_states=("PASS", "INCONCLUSIVE")))
    assert (said["state_for"], said["state_against"]) == ("PASS", "INCONCLUSIVE")
    unknown = args("L09", quiet_contract(), changed(disputed=1))
    assert (unknown["state_for"], unknown["state_against"]) == (None, None)


def test_a_stratum_of_one_item_is_small_and_one_of_none_is_absent() -> None:
    said = args("L10", quiet_contract(), changed(strata=(("direct", 1), ("out_of_corpus", 0))))
    assert (said["small"], said["absent"]) == ([{"stratum": "direct", "n": 1}], ["out_of_corpus"])


@pytest.mark.parametrize(
    ("clusters", "declared", "few"), [(9, True, True), (10, True, False), (10, False, True), (None, True, False)]
)
def test_few_clusters_or_a_floor_that_nobody_declared(clusters: int | None, declared: bool, few: bool) -> None:
    metric = {
        **ACCURACY,
        "predicts": PREDICTED,
        **({"cluster": {"by": "norm", "icc_floor": "0.2"}} if declared else {}),
    }
    base = {"parties": {"author": {"name": "Auditora"}}, "method": {"abstention": []}}
    facts = changed(metrics=metric_facts({"metrics": [{"id": "accuracy", "clusters": clusters}]}))
    assert ("L11" in codes(build([metric], **base), facts)) is few
    if few:
        assert args("L11", build([metric], **base), facts)["metrics"][0]["floor"] is declared
    stranger = changed(metrics=metric_facts({"metrics": [{"id": "otra", "clusters": 50}]}))
    assert args("L11", build([metric], **base), stranger)["metrics"] == [{"id": "otra", "clusters": 50, "floor": False}]


def test_families_of_the_engine_and_of_its_base_models() -> None:
    def said(engine: dict, facts: LimitationFacts = QUIET) -> dict | None:
        contract = quiet_contract(**{**JUDGE, "engine": engine})
        return next((i["args"] for i in limitations(contract, facts)["items"] if i["code"] == "L13"), None)

    assert said({"family": "motor", "base_families": ["motor"]}) is None
    assert said({"family": "otra", "base_families": ["motor"]})["shared"] == ["otra"]
    assert said({"family": "motor", "base_families": ["ajena", "otra"]})["shared"] == ["otra"]
    hidden = said({"family": "motor", "base_families": "undisclosed"})
    assert (hidden["undisclosed"], hidden["shared"]) == (True, [])
    silent = said({"family": "motor", "base_families": None})
    assert (silent["undisclosed"], silent["shared"]) == (True, [])
    judgeless = args("L13", quiet_contract(), changed(judge_family_items=2))
    assert judgeless == {"undisclosed": False, "shared": [], "items": 2}


def test_open_answers_beside_unresolved_ones_are_added_never_taken_off() -> None:
    row = {"direction": "at_least", "n": 10, "observations": 10, "x": 6, "failures": 2}
    rows = [
        {**row, "id": "both", "unresolved": 1, "open": 1},
        {**row, "id": "open", "unresolved": 0, "open": 2},
        {**row, "id": "known", "x": 8},
    ]
    said = args("L18", quiet_contract(), changed(metrics=metric_facts({"metrics": rows})))["metrics"]
    assert [(one["id"], one["unresolved"], one["open"], one["low"], one["high"]) for one in said] == [
        ("both", 1, 1, "0.600000000", "0.800000000"),
        ("open", 0, 2, "0.600000000", "0.800000000"),
    ]


def test_a_catalogue_is_marked_where_the_answers_bring_the_vendors_mark() -> None:
    pinned = {"scope": {"catalogue": {"digest": "sha256:" + "2" * 64, "as_of": "2026-02-02"}}}
    for fields, marked in (({"id": "$.id"}, False), ({"id": "$.id", "verified": "$.ok"}, True)):
        response = {"citations": {"path": "$.citations", "fields": fields}}
        contract = build([ACCURACY], **pinned, endpoint={"response": response})
        assert args("L06", contract, QUIET)["marked"] is marked


def test_one_of_a_thing_is_not_none_of_it() -> None:
    assert "L15" not in codes(quiet_contract(), changed(answers=1, echoes=1, attested=1))
    assert args("L22", quiet_contract(), changed(judge_votes=1)) == {"votes": 1}
    assert args("L15", quiet_contract(), changed(answers=1, echoes=1, attested=0))["attested"] == 0
    one = args("L10", quiet_contract(), changed(strata=(("direct", 30), ("out_of_corpus", 1))))
    assert one == {"small": [{"stratum": "out_of_corpus", "n": 1}], "absent": []}


def test_limits_of_the_auditor_and_who_pays_are_said_in_full() -> None:
    bound = {"payer": "buyer", "auditor_limits": "Reserva de los ítems"}
    contract = quiet_contract(parties={"author": {"name": "Auditora"}, "independence": bound})
    assert args("L25", contract, QUIET) == {"unsigned": [], "limits": "Reserva de los ítems", "payer": "buyer"}


def test_what_a_verdict_is_without_one_judge_stands_beside_the_judge() -> None:
    rows = ({"kind": "member", "name": "uno", "changed": ["accuracy"]},)
    known = CalibrationFacts(design="external", labels=200, annotators=2)
    for calibration in (None, known):
        facts = changed(judged_items=3, without_one=rows, calibration=calibration)
        assert args("L01", quiet_contract(), facts)["without_one"] == [*rows]
    assert "without_one" not in args("L01", quiet_contract(), changed(judged_items=3, calibration=known))


@pytest.mark.parametrize(
    ("agreed", "any_"),
    [
        ({}, False),
        ({"currency": "CLP"}, False),
        ({"base_amount": "100"}, True),
        ({"cure_days": 30}, True),
        ({"retest": True}, True),
        ({"termination": {"breaches": 2, "periods": 4}}, True),
        ({"credits": [{"metric": "accuracy", "below": "0.90", "share": "0.25"}]}, True),
    ],
)
def test_any_remedy_that_is_agreed_is_shown(agreed: dict, any_: bool) -> None:
    contract = build([ACCURACY], remedies=agreed)
    found = decide(contract, results(contract, inputs(contract, run()), VALID), VALID)["remedies"]
    assert (found is not None) is any_
    if found is not None:
        assert (found["cure_days"], found["retest"]) == (agreed.get("cure_days"), agreed.get("retest", False))
