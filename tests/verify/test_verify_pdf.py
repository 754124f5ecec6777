"""A PDF, alone and with its bundle: pins, counts, and the page made again."""

from __future__ import annotations

import json

import pytest

from slaverify.canonical import jcs
from slaverify.contract import LoadedContract, freeze
from slaverify.contract.load import parse_contract
from slaverify.errors import ReportError, Text
from slaverify.verify import Outcome, Rerendered, Result, Trust, VerifyRequest, verify
from slaverify.verify.recount import recount_parts
from tests.evidence.pki import auditor, tsa
from tests.verify.checking import NOW, check, failures, said
from tests.verify.papers import REPORT_ID, VERSIONS, pdf, report, unsigned
from tests.verify.sample import Line, closed, line, public


@pytest.fixture(scope="module")
def made() -> Line:
    return line(8)


@pytest.fixture(scope="module")
def whole(made: Line) -> dict[str, bytes]:
    return closed(made)


@pytest.fixture(scope="module")
def paper(made: Line, whole: dict[str, bytes]) -> bytes:
    return pdf(made, whole)


def test_a_pdf_alone_against_the_contract(made: Line, paper: bytes) -> None:
    found = check(made, pdf=paper, report_id=REPORT_ID, run_id=made.header.run_id)
    assert found.outcome is Outcome.VERIFIED, [(one.id, one.reason.en) for one in found.failed()]
    assert found.verdict is not None and found.verdict.state == "INCONCLUSIVE"
    assert found.verdict_exit_code == 3
    assert {one.id for one in found.checks if one.result is Result.NOT_PERFORMED} == {"V17", "V18", "V20"}
    assert dict(found.names)["report_id"] == REPORT_ID


def test_a_pdf_with_its_bundle(made: Line, whole: dict[str, bytes], paper: bytes) -> None:
    found = check(made, whole, pdf=paper, annex=made.annex)
    assert found.outcome is Outcome.VERIFIED, [(one.id, one.reason.en) for one in found.failed()]
    assert check(made, public(whole), pdf=paper).outcome is Outcome.VERIFIED


def test_what_may_stand_for_the_contract(made: Line, whole: dict[str, bytes], paper: bytes) -> None:
    by_key = Trust(auditor_spki=auditor().spki_sha256, tsa_roots=(tsa().root,))
    alone = check(made, pdf=paper, trust=by_key)
    assert (alone.outcome, alone.check("V19").required) == (Outcome.VERIFIED, False)
    digest = Trust(contract_digest=made.contract.digest)
    # A PDF holds no contract: its digest alone names no key.
    assert check(made, pdf=paper, trust=digest).outcome is Outcome.INDETERMINATE
    assert check(made, whole, pdf=paper, trust=digest).outcome is Outcome.VERIFIED
    assert check(made, pdf=paper, trust=Trust()).outcome is Outcome.INDETERMINATE
    assert check(made, whole, pdf=paper, trust=Trust()).exit_code == 3


def test_another_contract_or_number(made: Line, paper: bytes) -> None:
    tree = json.loads(jcs(made.contract.tree))
    tree["contract"]["title"] = "Otro"
    other = parse_contract(jcs(tree), "otro")
    found = check(made, pdf=paper, trust=Trust(contract=other))
    assert (failures(found), found.exit_code) == ({"V16"}, 5)
    b17 = check(made, pdf=paper, report_id="demo-normativa-cl-0002")
    assert (failures(b17), b17.exit_code) == ({"V16"}, 5)


def test_the_manifest_of_another_bundle(made: Line, paper: bytes) -> None:
    found = check(made, closed(line()), pdf=paper)
    assert "V17" in failures(found) and found.exit_code == 4


@pytest.mark.parametrize(
    ("name", "edit", "word"),
    [
        ("state", lambda tree: tree["decision"].update(state="PASS"), "verdict"),
        ("metric", lambda tree: tree["decision"]["metrics"][0].update(state="PASS"), "state"),
        ("failures", lambda tree: tree["decision"]["metrics"][0].update(failures=2), "state"),
        ("n", lambda tree: tree["decision"]["metrics"][0].update(n=19), "n is not"),
        ("numbers", lambda tree: tree["decision"]["metrics"][0].update(pass_max_failures=9), "acceptance numbers"),
        ("binding", lambda tree: tree["decision"]["metrics"][1].update(binding=False), "rule"),
        ("dropped", lambda tree: tree["decision"]["metrics"].pop(), "clauses"),
        ("float", lambda tree: tree["decision"]["metrics"][0].update(failures="8"), "failures"),
        ("reason", lambda tree: tree["decision"]["metrics"][0].update(state="PASS", reason="run_invalid"), "PASS"),
    ],
)
def test_a_page_whose_verdict_does_not_follow_from_its_counts(
    made: Line, whole: dict[str, bytes], name: str, edit, word: str
) -> None:
    forged = pdf(made, whole, edit)
    alone = check(made, pdf=forged)
    assert (failures(alone), alone.exit_code) == ({"V19"}, 4), name
    assert word in said(alone, "V19")
    assert "V19" in failures(check(made, whole, pdf=forged))


def _declare(tree: dict, state: str) -> None:
    """Have page 1 name another state; the data stay honest."""
    old = tree["decision"]["state"]
    summary = next(section for section in tree["sections"] if section["id"] == "summary")
    said = json.dumps(summary).replace(f"state.{old}", f"state.{state}").replace(f'"{old}"', f'"{state}"')
    said = said.replace(f"sentence.{old}", f"sentence.{state}").replace(f".{old}.", f".{state}.")
    summary.update(json.loads(said))


def test_a_page_that_names_another_verdict_than_its_data(made: Line, whole: dict[str, bytes]) -> None:
    honest = report(made, whole)
    other = "BREACH" if json.loads(honest)["decision"]["state"] != "BREACH" else "PASS"
    forged = pdf(made, whole, lambda tree: _declare(tree, other))
    alone = check(made, pdf=forged)
    assert (failures(alone), alone.exit_code) == ({"V19"}, 4)
    found = check(made, whole, pdf=forged, page_data=honest)
    assert failures(found) == {"V19"}
    assert "follow from the bundle" in said(found, "V19")


def test_a_sentence_of_the_page_that_the_evidence_does_not_make(made: Line, whole: dict[str, bytes]) -> None:
    honest = report(made, whole)
    forged = pdf(made, whole, lambda tree: tree["sections"].pop())
    found = check(made, whole, pdf=forged, page_data=honest)
    assert (failures(found), found.exit_code) == ({"V19"}, 4)
    unread = check(made, whole, pdf=forged, page_data=ReportError("SLV-R001", Text("falta", "missing")))
    assert failures(unread) == {"V19"}
    assert check(made, whole, pdf=pdf(made, whole), page_data=honest).outcome is Outcome.VERIFIED


def test_a_limitation_dropped_from_the_page_shows_with_the_bundle(made: Line, whole: dict[str, bytes]) -> None:
    forged = pdf(made, whole, lambda tree: tree["limitations"]["items"].pop())
    assert check(made, pdf=forged).outcome is Outcome.VERIFIED
    found = check(made, whole, pdf=forged)
    assert (failures(found), found.exit_code) == ({"V19"}, 4)


@pytest.mark.parametrize(
    "edit",
    [
        lambda tree: tree.pop("amends"),
        lambda tree: tree.update(extra=1),
        lambda tree: tree.update(type="slaverify/report/2"),
        lambda tree: tree.update(decision=[]),
    ],
)
def test_a_report_json_of_another_form(made: Line, whole: dict[str, bytes], edit) -> None:
    found = check(made, pdf=pdf(made, whole, edit))
    assert failures(found) & {"V16", "V19"} and found.exit_code == 4


@pytest.mark.parametrize("key", ["bundle_digest", "bank_digest", "method_digest", "run_id", "closed_at"])
def test_digests_that_do_not_agree(made: Line, whole: dict[str, bytes], key: str) -> None:
    forged = pdf(made, whole, lambda tree: tree.update({key: "sha256:" + "0" * 64}))
    found = check(made, pdf=forged)
    assert (failures(found), found.exit_code) == ({"V16"}, 5)
    assert key in said(found, "V16")


def test_a_revocation_list_that_is_handed_in_is_never_dropped_in_silence(made: Line, paper: bytes) -> None:
    found = check(made, pdf=paper, crls=(b"list",))
    assert (found.outcome, found.exit_code) == (Outcome.INDETERMINATE, 3)
    assert "is no use" in found.check("V14").reason.en


def test_no_pdf_at_all(made: Line) -> None:
    for junk in (b"", b"%PDF-1.7\n%%EOF\n", b"\x00" * 100):
        found = check(made, pdf=junk)
        assert "V01" in failures(found) and found.exit_code == 4
    with pytest.raises(ValueError, match="PDF or a bundle"):
        verify(VerifyRequest(now=NOW))


def _frozen(made: Line, edit) -> LoadedContract:
    tree = json.loads(jcs(made.contract.tree))
    tree["contract"]["status"] = "draft"
    for metric in tree["metrics"]:
        metric["derived"] = None
    edit(tree)
    return parse_contract(jcs(freeze(parse_contract(jcs(tree), "otro").model)), "otro")


def test_a_state_without_integers_is_named_and_left(made: Line) -> None:
    def clustered(tree: dict) -> None:
        tree["metrics"][0]["cluster"] = {"by": "anexo", "icc_floor": "0.2"}

    decision = json.loads(made.files["decision/decision.json"])
    decision["metrics"][0].update(pass_max_failures=None, breach_min_failures=None)
    parts = recount_parts(_frozen(made, clustered).model, decision)
    assert [part.result for part in parts] == [Result.PASSED] * len(parts)
    assert any("accuracy" in part.reason.en for part in parts)


def test_an_invalid_run_is_the_auditors_word(made: Line) -> None:
    decision = json.loads(made.files["decision/decision.json"])
    for metric in decision["metrics"]:
        metric.update(state="INVALID_RUN", reason="run_invalid")
    decision["state"] = "INVALID_RUN"
    parts = recount_parts(made.contract.model, decision)
    assert all(part.result is Result.PASSED for part in parts)
    assert any("declared invalid" in part.reason.en for part in parts)
    decision["state"] = "PASS"
    assert any(part.result is Result.FAILED for part in recount_parts(made.contract.model, decision))


def test_another_engine_that_the_contract_calls_a_breach_is_the_auditors_word(made: Line) -> None:
    def breach(tree: dict) -> None:
        tree["engine"]["on_mismatch"] = "breach"

    contract = _frozen(made, breach).model
    decision = json.loads(made.files["decision/decision.json"])
    n = [metric["n"] for metric in decision["metrics"]]
    for metric, size in zip(decision["metrics"], n, strict=True):
        # The run stopped at the first such answer: most of the sample was never sent.
        metric.update(state="BREACH", reason="engine_mismatch", failures=0, failures_vendor=0, unresolved=size)
    decision["state"] = "BREACH"
    assert not [part for part in recount_parts(contract, decision) if part.result is Result.FAILED]
    # Under a contract that calls the run invalid instead, or with another state, it is no reason at all.
    assert any(part.result is Result.FAILED for part in recount_parts(made.contract.model, decision))
    decision["metrics"][0]["state"] = "INCONCLUSIVE"
    assert any(part.result is Result.FAILED for part in recount_parts(contract, decision))


# --- V20 ----------------------------------------------------------------------------------------------------------


def test_the_page_made_again(made: Line, whole: dict[str, bytes], paper: bytes) -> None:
    model = report(made, whole)
    page = unsigned(model, whole["manifest.json"])
    again = Rerendered(page, VERSIONS)
    found = check(made, whole, pdf=paper, rerendered=again, strict=True)
    assert found.outcome is Outcome.VERIFIED and found.check("V20").result is Result.PASSED
    asked = check(made, whole, pdf=paper, strict=True)
    assert (asked.outcome, asked.exit_code) == (Outcome.INDETERMINATE, 3)
    assert "--rerender" in asked.check("V20").remedy.en


@pytest.mark.parametrize(
    ("again", "result"),
    [
        (lambda page: Rerendered(page[:-1] + b"\x00", VERSIONS), Result.FAILED),
        (lambda page: Rerendered(b"", VERSIONS), Result.FAILED),
        (lambda page: Rerendered(page, {**VERSIONS, "weasyprint": "71.0"}), Result.NOT_PERFORMED),
        (lambda page: ReportError("SLV-R011", Text("falta pango", "no pango"), exit_code=6), Result.NOT_PERFORMED),
    ],
)
def test_a_page_that_is_not_made_again(made: Line, whole: dict[str, bytes], paper: bytes, again, result) -> None:
    page = unsigned(report(made, whole), whole["manifest.json"])
    found = check(made, whole, pdf=paper, rerendered=again(page))
    assert found.check("V20").result is result
    assert found.outcome is (Outcome.NOT_VERIFIED if result is Result.FAILED else Outcome.VERIFIED)
