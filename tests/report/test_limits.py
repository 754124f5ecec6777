"""Each limitation is said whole, whatever its arguments, in both languages."""

from __future__ import annotations

import pytest

from slaverify.canonical import loads_object
from slaverify.report import build
from slaverify.report.page import page_html
from slaverify.report.sections.limits import WRITERS
from tests.report import sample
from tests.report.pages import LANGUAGES, drawable_characters

CALIBRATED = {
    "judged": 40, "calibrated": True, "labels": 200, "annotators": 2, "sensitivity": "0.912000000",
    "specificity": "0.934000000", "kappa": "0.812000000", "kappa_low": "0.700000000", "disagreement": "0.051000000",
    "equivalent_labels": "31.200000000",
}  # fmt: skip
CASES = {
    "L01": [{"judged": 40, "calibrated": False}, CALIBRATED,
            {**CALIBRATED, "annotators": 1, "disagreement": None, "kappa": None, "sensitivity": "1.000000000"}],
    "L02": [{"purpose": "p", "strata": ["a"], "corpus": None, "as_of": None},
            {"purpose": "p", "strata": [], "corpus": "c", "as_of": None},
            {"purpose": "p", "strata": ["a", "b"], "corpus": "c", "as_of": "2026-08-13"}],
    "L03": [{"repetitions": 1, "icc": None}, {"repetitions": 5, "icc": "0.410000000"},
            {"repetitions": 1, "icc": None, "sample": {"items": 30, "repeats": 8, "icc": "0.410000000"}},
            {"repetitions": 1, "icc": None, "sample": {"items": 30, "repeats": 8, "icc": None}}],
    "L04": [{"metrics": ["accuracy"], "uncovered": ["latency", "personal_data"]}, {"metrics": [], "uncovered": []}],
    "L05": [{"detectors": [], "abstentions": 0, "reviewed": 0}],
    "L06": [{"catalogue": False},
            {"catalogue": True, "digest": "sha256:" + "1" * 64, "as_of": "2026-08-13", "marked": True},
            {"catalogue": True, "digest": "sha256:" + "1" * 64, "as_of": "2026-08-13", "marked": False}],
    "L07": [{"author": None}, {"author": "Autora"}],
    "L08": [{"population": ["accuracy"], "bank": ["hallucination"], "frame": None, "bank_size": 300}],
    "L09": [{"unreviewed": None, "disputed": 0, "state_for": None, "state_against": None},
            {"unreviewed": 7, "disputed": 2, "state_for": "PASS", "state_against": "INCONCLUSIVE"}],
    "L10": [{"small": [{"stratum": "a", "n": 6}], "absent": ["b"]}],
    "L11": [{"metrics": [{"id": "accuracy", "clusters": 7, "floor": True},
                         {"id": "hallucination", "clusters": 40, "floor": False}]}],
    "L12": [{"metrics": [{"id": "accuracy", "margin": "0.050000000", "power_pass": None,
                          "power_breach": "1.000000000", "shortfall": None},
                         {"id": "hallucination", "margin": "0.050000000", "power_pass": "0.000000000",
                          "power_breach": "0.410000000", "shortfall": "0.098000000"}]}],
    "L13": [{"undisclosed": True, "shared": ["familia-a"], "items": 12}],
    "L14": [{}],
    "L15": [{"answers": 10, "echoes": 9, "attested": 0, "on_missing": "limitation"}],
    "L16": [{}],
    "L17": [{"reused": 3, "fresh_left": None, "audits_left": None, "no_training": "pactado"},
            {"reused": 0, "fresh_left": 4, "audits_left": 0, "no_training": None}],
    "L18": [{"metrics": [{"id": "accuracy", "unresolved": 1, "open": 2, "low": "0.900000000",
                          "high": "1.000000000"}]}],
    "L19": [{"retries": 3, "excluded": 1, "deviations": ["run_resumed"]}],
    "L20": [{"witnesses": 0, "timestamps": 0, "beacon": False, "draw": "seeded", "anchor": "none",
             "custodian_is_auditor": True}],
    "L21": [{"recipients": ["Auditora"]}, {"recipients": []}],
    "L22": [{"votes": 120}],
    "L23": [{"auditor": "Auditora"}],
    "L24": [{"level": "B-T", "self_signed": None, "demo": True}, {"level": "B-T", "self_signed": True, "demo": False}],
    "L25": [{"unsigned": ["buyer", "vendor"], "limits": "NDA", "payer": "buyer"}],
    "L26": [{}],
    "L27": [{"metrics": ["accuracy"]}],
    "L28": [{}],
}  # fmt: skip


def test_there_is_a_case_for_every_code():
    assert list(CASES) == list(WRITERS)


@pytest.mark.parametrize("code", CASES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_said_whole(code, language):
    for args in CASES[code]:
        bundle = sample.bundle("PASS", [{"code": code, "args": args}])
        report = loads_object(build(bundle, language))
        item = next(block for block in report["sections"][9]["blocks"] if block["kind"] == "limitations")["items"][0]
        assert item["code"] == code
        assert item["sentences"]
        assert page_html(report, drawable_characters())


def test_an_unknown_code_is_printed_and_not_dropped():
    bundle = sample.bundle("PASS", [{"code": "L99", "args": {}}])
    html = page_html(loads_object(build(bundle, "es")), drawable_characters())
    assert "L99" in html
    assert "limitación sin texto en esta versión" in html
