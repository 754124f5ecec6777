"""The manifest is read strictly: what it may hold, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from slaverify.canonical import jcs
from slaverify.errors import EvidenceError
from slaverify.evidence import MANIFEST, SUMS, build_manifest, bundle_digest, parse_manifest
from tests.evidence.bundles import HEADER, closed

CLEAN = closed()[MANIFEST]
Tree = dict[str, object]


def changed(change: Callable[[Tree], object]) -> bytes:
    tree = json.loads(CLEAN)
    change(tree)
    return jcs(tree)


def test_what_is_written_is_what_is_read() -> None:
    manifest = parse_manifest(CLEAN)
    assert manifest.header == HEADER
    assert build_manifest(manifest.header, reversed(manifest.files), manifest.annex) == CLEAN
    assert [entry.path for entry in manifest.files] == sorted(entry.path for entry in manifest.files)
    assert manifest.entry("run/exchanges.jsonl").records == 30
    assert manifest.entry("run/outcomes.jsonl").records == 30
    assert manifest.entry("scoring/traces.jsonl").records == 0
    assert manifest.entry("contract/contract.json").records is None
    assert bundle_digest(CLEAN).startswith("sha256:")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda t: t.update(extra=1), "SLV-E007"),
        (lambda t: t.pop("tool"), "SLV-E007"),
        (lambda t: t.update(type="slaverify/bundle/2"), "SLV-E007"),
        (lambda t: t.update(bundle_id="acme.2"), "SLV-E007"),
        (lambda t: t.update(closed_at="2026-03-04T05:01:07+00:00"), "SLV-E007"),
        (lambda t: t.update(contract_digest="1" * 64), "SLV-E007"),
        (lambda t: t.update(run_number=True), "SLV-E007"),
        (lambda t: t.update(run_number=-1), "SLV-E007"),
        (lambda t: t["tool"].update(more="x"), "SLV-E007"),
        (lambda t: t["ledger"].update(root="AA" * 32), "SLV-E007"),
        (lambda t: t["files"].reverse(), "SLV-E007"),
        (lambda t: t["files"].append(t["files"][-1]), "SLV-E007"),
        (lambda t: t["files"][1].update(media_type="text/html"), "SLV-E007"),
        (lambda t: t["files"][1].update(disclosure="parties"), "SLV-E007"),
        (lambda t: t["files"][1].update(records=3), "SLV-E007"),
        (lambda t: t["files"][1].update(sha256="0"), "SLV-E007"),
        (lambda t: t["files"][1].update(size=2**40), "SLV-E003"),
        (lambda t: t["files"][1].update(path="../etc/passwd"), "SLV-E004"),
        (lambda t: t["files"][1].update(path="/etc/passwd"), "SLV-E004"),
        (lambda t: t["files"][1].update(path="run/notes.txt"), "SLV-E004"),
        (lambda t: t["files"][1].update(path="manifest.json"), "SLV-E004"),
        (lambda t: t.update(files=t["files"] * 300), "SLV-E003"),
        (lambda t: t.update(files=[f for f in t["files"] if f["path"] != SUMS]), "SLV-E007"),
        (lambda t: t.update(annex={"path": "sealed/annex.age"}), "SLV-E007"),
    ],
)
def test_what_it_may_not_hold(change: Callable[[Tree], object], code: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        parse_manifest(changed(change))
    assert caught.value.code == code


@pytest.mark.parametrize(
    "data",
    [
        CLEAN + b"\n",
        b"\xef\xbb\xbf" + CLEAN,
        json.dumps(json.loads(CLEAN)).encode(),
        CLEAN.replace(b'"run_number":1', b'"run_number":1,"run_number":1'),
        CLEAN.replace(b'"run_number":1', b'"run_number":1.0'),
        CLEAN.replace(b'"run_number":1', b'"run_number":9007199254740993'),
        b"[]",
        b"",
        b"[" * 100_000,
    ],
)
def test_other_bytes_are_not_read(data: bytes) -> None:
    with pytest.raises(EvidenceError) as caught:
        parse_manifest(data)
    assert caught.value.code == "SLV-E007"
