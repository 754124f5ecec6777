"""The report of evidence that the other rooms made for real: sealed bank, ledger, tokens, decision."""

from __future__ import annotations

import pytest

from slaverify.canonical import loads_object
from slaverify.evidence import Bundle
from slaverify.report import build
from slaverify.report.level import custody_demands, custody_level
from slaverify.report.page import page_html
from tests.report.pages import LANGUAGES, drawable_characters
from tests.verify import sample


@pytest.fixture(scope="module", params=[(0, "PASS"), (12, "INCONCLUSIVE"), (40, "BREACH")], ids=lambda p: p[1])
def closed(request):
    wrong, state = request.param
    return state, Bundle.of_files(sample.closed(sample.line(wrong=wrong)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_has_a_page_in_each_state(closed, language):
    state, bundle = closed
    report = loads_object(build(bundle, language))
    assert report["decision"]["state"] == state
    assert report["bundle_digest"] == bundle.digest
    assert page_html(report, drawable_characters())


def test_the_level_of_custody_is_computed_from_the_files(closed):
    _, bundle = closed
    contract, manifest = loads_object(bundle.read("contract/contract.json")), loads_object(bundle.manifest_bytes)
    level = custody_level(bundle, contract, manifest)
    assert level.number == 1
    assert dict(level.held)["start_anchored"]
    assert "opposed_witness" in level.missing


def test_a_forged_ledger_has_no_level(closed):
    _, bundle = closed
    contract, manifest = loads_object(bundle.read("contract/contract.json")), loads_object(bundle.manifest_bytes)
    forged = {**manifest, "ledger": {**manifest["ledger"], "root": "0" * 64}}
    assert custody_level(bundle, contract, forged) is None
    assert custody_level(bundle, {**contract, "ledger": {}}, manifest) is None


def test_the_checklist_of_custody_names_the_entries_that_answer_it_and_claims_nothing_else(closed):
    _, bundle = closed
    sections = {one["id"]: one for one in loads_object(build(bundle, "es"))["sections"]}
    rows = next(block["rows"] for block in sections["annex_custody"]["blocks"] if block["id"] == "chain")
    shown = {row[0]["key"].removeprefix("chain."): row[2] for row in rows}
    ledger = [line["type"] for line in bundle.lines("custody/ledger.jsonl")]
    assert shown["retention"]["key"] == "chain.no_entry"
    assert shown["layers"]["key"] == "chain.by_form"
    assert shown["tools"]["args"]["entries"]["list"] == [ledger.index("run_started")]
    named = shown["access"]["args"]["entries"]["list"]
    assert {ledger[seq] for seq in named} <= {"deposit", "delivery", "item_opened", "spot_check", "exposure"}
    assert named


def test_of_a_ledger_that_fails_the_checklist_says_nothing(closed):
    _, bundle = closed
    files = {path: bundle.read(path) for path in bundle.paths()}
    cut = files["custody/ledger.jsonl"].rstrip(b"\n").rpartition(b"\n")[0] + b"\n"
    contract, manifest = loads_object(bundle.read("contract/contract.json")), loads_object(bundle.manifest_bytes)
    assert custody_demands(Bundle.of_files({**files, "custody/ledger.jsonl": cut}), contract, manifest) is None
