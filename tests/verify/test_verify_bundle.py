"""A bundle, clean and tampered: each flaw is found by the rule that names it, with its exit code."""

from __future__ import annotations

import json
import re

import pytest

from slaverify.canonical import digest_of, jcs, jsonl
from slaverify.contract.load import parse_contract
from slaverify.custody import NoteKey
from slaverify.custody.note import sign_checkpoint
from slaverify.errors import Text
from slaverify.evidence import Bundle, close
from slaverify.evidence.pades import make_authority
from slaverify.evidence.problems import bad_annex
from slaverify.verify import Outcome, Result, Trust
from tests.evidence.pki import NOW as PKI_NOW
from tests.evidence.pki import Tsa, auditor, tsa
from tests.verify.checking import check, failures, said
from tests.verify.sample import (
    ABSTAIN,
    Line,
    closed,
    decided,
    edited,
    edited_line,
    forced,
    line,
    public,
    signed,
)

DECISION = "decision/decision.json"
SCORES = "scoring/scores.jsonl"


@pytest.fixture(scope="module")
def made() -> Line:
    return line()


@pytest.fixture(scope="module")
def whole(made: Line) -> dict[str, bytes]:
    return closed(made)


@pytest.mark.parametrize(
    ("wrong", "silent", "state"), [(0, 0, "PASS"), (8, 0, "INCONCLUSIVE"), (14, 0, "BREACH"), (1, 13, "BREACH")]
)
def test_clean_evidence_is_verified_whatever_the_verdict(wrong: int, silent: int, state: str) -> None:
    audit = line(wrong, silent)
    files = closed(audit)
    found = check(audit, files, annex=audit.annex, run_id=audit.header.run_id)
    assert found.outcome is Outcome.VERIFIED, [(one.id, one.reason.en, one.found) for one in found.failed()]
    assert found.verdict is not None and found.verdict.state == state
    assert found.verdict_exit_code == {"PASS": 0, "BREACH": 1}.get(state, 3)
    edition = check(audit, public(files))
    assert edition.outcome is Outcome.VERIFIED and {one.path for one in edition.withheld} == {
        "run/exchanges.jsonl",
        "sealed/annex.age",
    }


def test_the_parties_edition_derives_more_than_the_public_one(made: Line, whole: dict[str, bytes]) -> None:
    assert "wire bytes" in check(made, public(whole)).check("V19").reason.en
    assert "computed again from the answers" in check(made, whole).check("V19").reason.en
    assert check(made, whole, annex=made.annex).check("V19").reason.en == ""


def test_trust_by_digest_and_by_key(made: Line, whole: dict[str, bytes]) -> None:
    for trust in (
        Trust(contract_digest=made.contract.digest),
        Trust(auditor_spki=auditor().spki_sha256, tsa_roots=(tsa().root,)),
    ):
        assert check(made, whole, trust=trust).outcome is Outcome.VERIFIED


# --- b01 to b04 ---------------------------------------------------------------------------------------------------


def test_b01_a_flipped_byte_names_its_file(made: Line, whole: dict[str, bytes]) -> None:
    for path, data in whole.items():
        # Of the manifest a digit of a digest, so that it still follows its schema.
        digit = re.search(rb'"run/plan.json"[^}]*"sha256":"[a-f]*[0-9]', data) if path == "manifest.json" else None
        middle = len(data) // 2 if digit is None else digit.end() - 1
        spoilt = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        found = check(made, {**whole, path: spoilt})
        assert found.exit_code == 4 and "V17" in failures(found), path
        # Another manifest is another signed content: its envelope says so.
        name = "manifest.p7s" if path == "manifest.json" else path
        assert name in said(found, "V17"), (path, said(found, "V17"))


def test_b02_swapped_files(made: Line, whole: dict[str, bytes]) -> None:
    swapped = {**whole, "run/plan.json": whole["custody/draw.json"], "custody/draw.json": whole["run/plan.json"]}
    found = check(made, swapped)
    assert found.exit_code == 4
    assert "run/plan.json" in said(found, "V17") and "custody/draw.json" in said(found, "V17")


@pytest.mark.parametrize("path", ["custody/ledger.jsonl", SCORES, DECISION, "SHA256SUMS", "run/exchanges.jsonl"])
def test_b03_a_removed_file(made: Line, whole: dict[str, bytes], path: str) -> None:
    found = check(made, {name: data for name, data in whole.items() if name != path})
    assert found.exit_code == 4 and path in said(found, "V17")


def test_b04_an_added_file(made: Line, whole: dict[str, bytes]) -> None:
    refusal = check(made, {**whole, "manifest.json": b"{}"})
    assert failures(refusal) == {"V17"} and "(V17)" in refusal.check("V18").reason.en
    found = check(made, {**whole, "replies/vendor.json": b"{}"})
    assert found.exit_code == 4 and "replies/vendor.json" in said(found, "V17")


@pytest.mark.parametrize("path", ["manifest.p7s", "manifest.tsr"])
def test_a_missing_envelope(made: Line, whole: dict[str, bytes], path: str) -> None:
    found = check(made, {name: data for name, data in whole.items() if name != path})
    assert found.exit_code == 4 and path in said(found, "V17")


# --- the ledger and its checkpoints ------------------------------------------------------------------


def test_b18_a_checkpoint_that_agrees(made: Line, whole: dict[str, bytes]) -> None:
    size = made.view.size - 2
    note = sign_checkpoint(made.view.origin, size, made.view.root_at(size), made.custodian)
    found = check(made, whole, checkpoint=note)
    assert found.outcome is Outcome.VERIFIED and f"consistent with checkpoint {size}" in said(found, "V18")


def test_a_later_checkpoint_proves_nothing_yet(made: Line, whole: dict[str, bytes]) -> None:
    note = sign_checkpoint(made.view.origin, made.view.size + 1, b"\x07" * 32, made.custodian)
    found = check(made, whole, checkpoint=note)
    assert (found.outcome, found.exit_code) == (Outcome.INDETERMINATE, 3)


# --- b21 to b26: times, keys, envelope ----------------------------------------------------------------------------


def test_b25_the_envelope_of_another_manifest(made: Line, whole: dict[str, bytes]) -> None:
    other = closed(line(14))
    mixed = {**whole, "manifest.p7s": other["manifest.p7s"], "manifest.tsr": other["manifest.tsr"]}
    found = check(made, mixed)
    assert (failures(found), found.exit_code) == ({"V17"}, 4)


def test_b26_a_token_over_the_manifest(made: Line, whole: dict[str, bytes]) -> None:
    stamper = Tsa(tsa().identity, made.closing_time).stamper()
    found = check(made, {**whole, "manifest.tsr": stamper.stamp(whole["manifest.json"])})
    assert (failures(found), found.exit_code) == ({"V17"}, 4)


def test_a_token_of_another_authority(made: Line, whole: dict[str, bytes]) -> None:
    stranger = Tsa(make_authority(PKI_NOW, "Otra autoridad", None))
    found = check(made, signed(whole, authority=stranger, at=made.closing_time))
    assert (failures(found), found.exit_code) == ({"V17"}, 4)


def test_questions_asked_before_the_run_was_on_record() -> None:
    audit = line(early=True)
    assert json.loads(audit.files[DECISION])["state"] == "INVALID_RUN"
    found = check(audit, closed(audit))
    assert (failures(found), found.exit_code) == ({"V13"}, 4)
    assert "SLV-K044" in said(found, "V18") and "the report says so" in said(found, "V18")

    def says_pass(tree: dict) -> None:
        tree["state"] = "PASS"

    denied = check(audit, closed(audit, {DECISION: edited(audit.files[DECISION], says_pass)}))
    assert failures(denied) == {"V13", "V18", "V19"}


def test_a_quorum_of_witnesses_that_nobody_signed(made: Line, whole: dict[str, bytes]) -> None:
    tree = json.loads(jcs(made.contract.tree))
    vkey = NoteKey("testigo", 4, made.examiner.public).vkey()
    tree["ledger"]["witnesses"] = [{"name": "testigo", "role": "vendor", "vkey": vkey, "ssh": None}]
    tree["ledger"]["quorum"] = 1
    found = check(made, whole, trust=Trust(contract=parse_contract(jcs(tree), "otro")))
    assert failures(found) == {"V16", "V18"} and "SLV-K029" in said(found, "V18")


@pytest.mark.parametrize("suffix", ["", ".tsr"])
def test_a_checkpoint_spoilt_and_signed_again(made: Line, suffix: str) -> None:
    for size in (made.view.size, min(int(path[20:28]) for path in made.files if path.endswith(".checkpoint.tsr"))):
        path = f"custody/checkpoints/{size:08d}.checkpoint{suffix}"
        data = made.files[path]
        spoilt = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
        found = check(made, closed(made, {path: spoilt}))
        assert "V18" in failures(found) and found.exit_code == 4, path
        # A token is named by the checkpoint that it stamps.
        assert path.removesuffix(".tsr") in said(found, "V18"), said(found, "V18")


def test_a_start_without_its_token(made: Line) -> None:
    tokens = [path for path in made.files if path.endswith(".checkpoint.tsr")]
    found = check(made, closed(made, dict.fromkeys(tokens)))
    assert {"V18", "V19"} <= failures(found) and "SLV-K040" in said(found, "V18")


# --- b27 to b29: the auditor itself edits and signs again ---------------------------------------------------------


def test_b27_counts_and_results_edited_to_match() -> None:
    audit = line(14)
    rows = [json.loads(row) for row in audit.files[SCORES].splitlines()]
    for row in rows:
        if row["verdict"] == "incorrect":
            row.update(verdict="accurate", correctness="correct")
    scores = jsonl(rows)
    files = {**audit.files, SCORES: scores}
    changes = {SCORES: scores, **decided(audit.contract, files, 1)}
    assert json.loads(changes[DECISION])["state"] == "PASS"
    edition = check(audit, public(closed(audit, changes)))
    assert (failures(edition), edition.exit_code) == ({"V18"}, 4)
    found = check(audit, closed(audit, changes), annex=audit.annex)
    assert (failures(found), found.exit_code) == ({"V18", "V19"}, 4)


def test_an_answer_edited_and_signed_again(made: Line) -> None:
    import base64

    def swap(row: dict) -> None:
        row["response"] = base64.b64encode(json.dumps({"answer": ABSTAIN}).encode()).decode()

    exchanges = edited_line(made.files["run/exchanges.jsonl"], 5, swap)
    found = check(made, closed(made, {"run/exchanges.jsonl": exchanges}))
    assert (failures(found), found.exit_code) == ({"V19"}, 4)
    assert "response_mac" in said(found, "V19")


def test_an_outcome_edited_and_signed_again() -> None:
    audit = line(0, 6)
    rows = [json.loads(row) for row in audit.files["run/outcomes.jsonl"].splitlines()]
    for row in rows:
        if row["outcome"] == "vendor_failure":
            row.update(outcome="unresolved", attribution="unresolved")
    found = check(audit, closed(audit, {"run/outcomes.jsonl": jsonl(rows)}))
    assert {"V18", "V19"} <= failures(found) and found.exit_code == 4
    assert "batch" in said(found, "V18") and "outcome" in said(found, "V19")


@pytest.mark.parametrize(
    ("path", "word"),
    [("run/plan.json", "plan"), ("custody/draw.json", "draw.json"), ("custody/exposure.json", "exposure.json")],
)
def test_a_record_of_the_run_edited_and_signed_again(made: Line, path: str, word: str) -> None:
    def spoil(tree: dict) -> None:
        if path.endswith("plan.json"):
            first, second = tree["exchanges"][0], tree["exchanges"][1]
            first["item_id"], second["item_id"] = second["item_id"], first["item_id"]
        else:
            tree["at_size"] += 1

    found = check(made, closed(made, {path: edited(made.files[path], spoil)}))
    assert "V18" in failures(found) and found.exit_code == 4
    assert word in said(found, "V18")


def test_a_result_is_compared_to_the_ninth_place(made: Line) -> None:
    path = "statistics/results.json"

    def moved(units: int) -> bytes:
        tree = json.loads(made.files[path])
        low = tree["metrics"][0]["exact"]["low"]
        tree["metrics"][0]["exact"]["low"] = f"{(int(low.replace('.', '')) + units) / 1e9:.9f}"
        return jcs(tree)

    assert check(made, closed(made, {path: moved(1)})).outcome is Outcome.VERIFIED
    found = check(made, closed(made, {path: moved(2)}))
    assert (failures(found), found.exit_code) == ({"V19"}, 4)
    assert "exact.low" in said(found, "V19")


# --- b30 to b40 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("b30_duplicate_json_key", lambda data: b'{"state":"PASS",' + data[1:]),
        ("b31_float", lambda data: data.replace(b'"unresolved":0', b'"unresolved":0.0', 1)),
        ("b32_int_over_2_53", lambda data: data.replace(b'"unresolved":0', b'"unresolved":9007199254740993', 1)),
        ("b34_bom", lambda data: b"\xef\xbb\xbf" + data),
        ("b34_crlf", lambda data: data + b"\r\n"),
        ("not_json", lambda data: b"\x00" * 64),
        ("empty", lambda data: b""),
    ],
)
def test_b30_to_b34_a_record_that_two_readers_could_read_in_two_ways(
    made: Line, whole: dict[str, bytes], name: str, spoil
) -> None:
    found = check(made, forced(whole, DECISION, spoil(whole[DECISION])))
    assert {"V17", "V19"} <= failures(found) and found.exit_code == 4
    assert DECISION in said(found, "V17")


def test_b35_an_annex_that_does_not_open(made: Line, whole: dict[str, bytes]) -> None:
    found = check(made, whole, annex=bad_annex(Text("cortado", "cut")))
    assert (failures(found), found.exit_code) == ({"V17"}, 4)


def test_an_annex_that_was_dropped_and_the_manifest_signed_again(made: Line, whole: dict[str, bytes]) -> None:
    left_out = ("manifest.json", "manifest.p7s", "manifest.tsr", "SHA256SUMS", "sealed/annex.age")
    files = {path: data for path, data in whole.items() if path not in left_out}
    closing = close(Bundle.of_files(files), made.header, None)
    files |= {"SHA256SUMS": closing.sums, "manifest.json": closing.manifest}
    found = check(made, signed(files, at=made.closing_time))
    assert (failures(found), found.exit_code) == ({"V17"}, 4)
    assert "annex that the contract agrees is missing" in said(found, "V17")


@pytest.mark.parametrize("key", ["python", "packages", "clock_offset_ms", "lock_sha256"])
def test_an_environment_that_the_ledger_does_not_know(made: Line, whole: dict[str, bytes], key: str) -> None:
    path = "environment/environment.json"
    tree = json.loads(whole[path])
    tree[key] = {"python": "2.7.1", "packages": {}, "clock_offset_ms": 0, "lock_sha256": "0" * 64}[key]
    found = check(made, forced(whole, path, jcs(tree)))
    assert "V18" in failures(found)
    assert found.exit_code == 4
    assert key in said(found, "V18")


def test_an_annex_of_another_content(made: Line, whole: dict[str, bytes]) -> None:
    rows = made.annex["index.jsonl"].splitlines()
    changed = json.loads(rows[1])
    changed["reference"] = changed["reference"].replace('"kind"', '"clase"', 1)
    annex = {"index.jsonl": jsonl([json.loads(rows[0]), changed, *map(json.loads, rows[2:])])}
    found = check(made, whole, annex=annex)
    assert (failures(found), found.exit_code) == ({"V19"}, 4)
    assert "SLV-E052" in said(found, "V19")
    short = {"index.jsonl": b"\n".join(rows[:-1]) + b"\n"}
    assert "lacks 1 items" in said(check(made, whole, annex=short), "V19")
    assert failures(check(made, whole, annex={})) == {"V19"}


def test_b39_without_an_outside_pin(made: Line, whole: dict[str, bytes]) -> None:
    found = check(made, whole, trust=Trust())
    assert (found.outcome, found.exit_code) == (Outcome.INDETERMINATE, 3)
    assert "internally consistent only" in found.why.en
    assert found.check("V16").result is Result.NOT_PERFORMED and "--contract" in found.check("V16").remedy.en
    spoilt = {**whole, DECISION: whole[DECISION] + b" "}
    assert check(made, spoilt, trust=Trust()).exit_code == 4
    half = Trust(auditor_spki=auditor().spki_sha256)
    assert check(made, whole, trust=half).outcome is Outcome.INDETERMINATE


def test_digests_are_of_what_was_verified(made: Line, whole: dict[str, bytes]) -> None:
    found = dict(check(made, whole).digests)
    assert found["bundle_digest"] == digest_of(whole["manifest.json"])
    assert found["contract_digest"] == made.contract.digest
