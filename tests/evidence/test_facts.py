"""What is derived from a bundle: the facts of the limitations and whether the run counts, each on and off."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from slaverify.canonical import jcs, jsonl
from slaverify.contract import LoadedContract, PartySignature, Role
from slaverify.errors import EvidenceError
from slaverify.evidence import Bundle, first_exchange, limitation_facts, run_validity
from slaverify.evidence.pades import PartyReader, PartySigner
from tests.evidence.pki import NOW, auditor, ca, tsa
from tests.verify.sample import DRAWN, Line, decided, line

OUTCOMES, SCORES = "run/outcomes.jsonl", "scoring/scores.jsonl"


@pytest.fixture(scope="module")
def made() -> Line:
    return line()


def bundle(made: Line, **changes: bytes | None) -> Bundle:
    files = {**made.files, **{path.replace("__", "/"): data for path, data in changes.items()}}
    return Bundle.of_files({path: data for path, data in files.items() if data is not None})


def rows(made: Line, path: str) -> list[dict]:
    return [json.loads(row) for row in made.files[path].splitlines()]


def with_rows(made: Line, path: str, change) -> Bundle:
    lines = rows(made, path)
    change(lines)
    return Bundle.of_files({**made.files, path: jsonl(lines)})


def model(made: Line, **changes: object) -> LoadedContract:
    """The contract with settings of its engine changed, as the rules read them."""
    engine = made.contract.model.engine.model_copy(update=changes)
    return replace(made.contract, model=made.contract.model.model_copy(update={"engine": engine}))


def test_the_facts_of_a_clean_run(made: Line) -> None:
    facts = limitation_facts(bundle(made), made.contract)
    assert dict(facts.strata) == DRAWN
    assert facts.answers == facts.echoes == sum(DRAWN.values())
    assert facts.abstentions == DRAWN["out_of_corpus"]
    assert [metric.id for metric in facts.metrics] == ["accuracy", "hallucination"]
    assert (facts.judged_items, facts.judge_votes, facts.disputed, facts.reused_items, facts.retries) == (0, 0, 0, 0, 0)
    assert facts.timestamps == sum(path.endswith(".tsr") for path in made.files)
    assert facts.fresh_left == 30 - 26
    assert facts.audits_left == 0
    assert facts.beacon is False
    assert facts.witnesses == 0
    assert facts.signatures == ()
    assert facts.self_signed is True
    assert facts.deviations == ()
    assert run_validity(bundle(made), made.contract).valid


def test_the_facts_do_not_depend_on_how_the_bundle_came(made: Line) -> None:
    assert limitation_facts(bundle(made), made.contract, 1) == limitation_facts(bundle(made), made.contract)
    again = decided(made.contract, made.files, 1)
    assert all(made.files[path] == data for path, data in again.items())


def test_counts_of_answers(made: Line) -> None:
    def change(lines: list[dict]) -> None:
        lines[0].update(attempt=2)
        lines[1].update(engine_version=None)
        lines[2].update(outcome="refused")

    facts = limitation_facts(with_rows(made, OUTCOMES, change), made.contract)
    assert (facts.answers, facts.echoes, facts.retries) == (25, 24, 1)


def test_counts_of_scores(made: Line) -> None:
    def change(lines: list[dict]) -> None:
        lines[0].update(decided_by="judge")
        lines[1].update({"class": "abstention", "decided_by": "person"})

    before = limitation_facts(bundle(made), made.contract)
    facts = limitation_facts(with_rows(made, SCORES, change), made.contract)
    assert facts.judged_items == 1
    # People have read only what a calibration lists: the word of a score record is not enough.
    assert facts.abstentions_reviewed == 0
    assert facts.abstentions >= before.abstentions


def test_disputes_and_votes(made: Line) -> None:
    more = {"replies__disputes.jsonl": jsonl([{"item_id": "it-1"}, {"item_id": "it-1"}, {"item_id": "it-2"}])}
    votes = {"judging__judgements.jsonl": jsonl([{"item_id": "it-1"}])}
    facts = limitation_facts(bundle(made, **more, **votes), made.contract)
    assert (facts.disputed, facts.judge_votes) == (2, 1)
    # Nothing read yet says that the judge did not drift.
    assert run_validity(bundle(made, **votes), made.contract).judge_drift is True
    assert run_validity(bundle(made), made.contract).judge_drift is False


@pytest.mark.parametrize("path", ["custody/draw.json", "custody/ledger.jsonl", "contract/contract.json"])
def test_what_every_run_has_may_not_be_missing(made: Line, path: str) -> None:
    with pytest.raises(EvidenceError):
        limitation_facts(bundle(made, **{path: None}), made.contract, 1)


def test_malformed_facts_are_errors(made: Line) -> None:
    draw = json.loads(made.files["custody/draw.json"])
    with pytest.raises(EvidenceError):
        limitation_facts(bundle(made, **{"custody__draw.json": jcs({**draw, "sample": {"direct": 3}})}), made.contract)
    with pytest.raises(EvidenceError):
        limitation_facts(bundle(made, **{"custody__exposure.json": b"{}"}), made.contract)


def test_another_bank_or_ledger_invalidates(made: Line) -> None:
    other = made.files["custody/bank_manifest.json"].replace(b'"v":1', b'"v":2')
    assert run_validity(bundle(made, **{"custody__bank_manifest.json": other}), made.contract).reason == "bank_digest"
    cut = made.files["custody/ledger.jsonl"].rsplit(b"\n", 2)[0] + b"\n"
    changed = cut.replace(b'"type":"run_started"', b'"type":"run_startex"')
    assert run_validity(bundle(made, **{"custody__ledger.jsonl": changed}), made.contract).reason == "ledger"
    assert run_validity(bundle(made), made.contract, 2).reason == "ledger"


def test_a_run_that_never_ended(made: Line) -> None:
    lines = made.files["custody/ledger.jsonl"].splitlines(keepends=True)
    start = next(number for number, row in enumerate(lines) if b'"type":"run_ended"' in row)
    cut = b"".join(lines[:start])
    assert run_validity(bundle(made, **{"custody__ledger.jsonl": cut}), made.contract).reason == "run_not_ended"


def test_another_engine_invalidates_if_the_contract_says_so(made: Line) -> None:
    other = with_rows(made, OUTCOMES, lambda lines: lines[3].update(outcome="engine_mismatch"))
    assert run_validity(other, made.contract).reason == "engine_version"
    assert run_validity(other, model(made, on_mismatch="breach")).valid
    silent = with_rows(made, OUTCOMES, lambda lines: lines[3].update(engine_version=None))
    assert run_validity(silent, model(made, on_missing="limitation")).valid
    assert run_validity(silent, model(made, on_missing="invalid_run")).reason == "engine_version"


def test_a_question_before_the_anchor_invalidates(made: Line) -> None:
    early = with_rows(made, OUTCOMES, lambda lines: lines[3].update(started_at="2026-03-04T05:06:07.000Z"))
    assert run_validity(early, made.contract).reason == "clock"


def test_a_start_without_its_token_is_not_anchored(made: Line) -> None:
    bare = {path: data for path, data in made.files.items() if not path.endswith(".tsr")}
    assert run_validity(Bundle.of_files(bare), made.contract).reason == "ledger"


def test_the_first_exchange(made: Line) -> None:
    assert first_exchange(bundle(made)) is not None
    assert first_exchange(bundle(made, **{"run__outcomes.jsonl": b""})) is None
    with pytest.raises(EvidenceError):
        first_exchange(with_rows(made, OUTCOMES, lambda lines: lines[0].update(started_at="ayer")))


def test_party_signatures(made: Line, tmp_path: Path) -> None:
    data = made.files["contract/contract.json"]
    signature = PartySigner(auditor()).sign(data, Role.AUDITOR).signature
    token = tsa().stamper().stamp(signature)
    given = {"contract__signatures__auditor.p7s": signature, "contract__signatures__auditor.tsr": token}
    assert limitation_facts(bundle(made, **given), made.contract).signatures == ("auditor",)
    foreign = PartySigner(ca().issue()).sign(data, Role.AUDITOR).signature
    for wrong in (foreign, b"", signature[:-1], PartySigner(auditor()).sign(data + b" ", Role.AUDITOR).signature):
        given = {"contract__signatures__auditor.p7s": wrong}
        assert limitation_facts(bundle(made, **given), made.contract).signatures == ()
    # The same key for a party that the contract gives no key to.
    given = {"contract__signatures__vendor.p7s": signature}
    assert limitation_facts(bundle(made, **given), made.contract).signatures == ()


def test_a_party_may_sign_with_openssl(tmp_path: Path) -> None:
    data = b'{"slaverify":"contract/1"}'
    (tmp_path / "c.json").write_bytes(data)
    key = auditor().private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "k.pem").write_bytes(key)
    (tmp_path / "c.pem").write_bytes(auditor().certificate_pem)
    command = "openssl cms -sign -binary -md sha256 -in c.json -signer c.pem -inkey k.pem -outform DER -out c.p7s"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    signature = (tmp_path / "c.p7s").read_bytes()
    token = tsa().stamper().stamp(signature)
    pinned = (auditor().spki_sha256,)
    found = PartyReader().verify(data, PartySignature(Role.BUYER, "cms", signature, token), pinned)
    assert (found.valid, found.reason, found.signed_at) == (True, None, NOW)
    assert not PartyReader().verify(data + b" ", PartySignature(Role.BUYER, "cms", signature), pinned).valid
    assert not PartyReader().verify(data, PartySignature(Role.BUYER, "cms", signature), ()).valid
