"""Every named tampering of a bundle is found, by the file it touches, with nothing written and in little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from slaverify.errors import EvidenceError
from slaverify.evidence import MANIFEST, PARTIES
from slaverify.evidence.pades import envelope_facts
from slaverify.evidence.read import open_bundle
from slaverify.verify.checks import Result
from slaverify.verify.signature_envelope import envelope_parts
from tests.evidence.bundles import closed
from tests.evidence.pki import auditor, pins_for
from tests.tamper.bundle_fixtures import FIXTURES, untouched

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())["bundles"]


def found_in(path: Path, edition: str = PARTIES) -> list[str]:
    """Return where the bundle does not hold: what V17 would name."""
    try:
        bundle = open_bundle(path)
    except EvidenceError as error:
        assert error.exit_code == 4
        return [f"{error.code} {error.where}"]
    found = [f"{finding.error.code} {finding.path}" for finding in bundle.findings(edition)]
    facts = envelope_facts(bundle.manifest_bytes, *bundle.envelope(), pins_for(auditor()))
    parts = envelope_parts(facts, pins_for(auditor()))
    return found + [part.reason.en for part in parts if part.result is not Result.PASSED]


@pytest.mark.parametrize("name", sorted(FIXTURES))
def test_each_tampering_is_found(tmp_path: Path, name: str) -> None:
    path = FIXTURES[name](tmp_path)
    before = sorted(tmp_path.rglob("*"))
    found = found_in(path, "public" if name == "b37_public_edition" else PARTIES)
    assert bool(found) is (EXPECTED[name]["found"] is not None), found
    if found:
        assert any(EXPECTED[name]["found"] in words for words in found), found
    assert sorted(tmp_path.rglob("*")) == before
    assert not Path("/tmp/escaped.json").exists()


def test_the_clean_one_holds(tmp_path: Path) -> None:
    assert found_in(untouched(tmp_path)) == []


def test_every_fixture_has_its_expectation() -> None:
    assert set(EXPECTED) == set(FIXTURES)


def test_b37_what_is_withheld_is_named(tmp_path: Path) -> None:
    bundle = open_bundle(FIXTURES["b37_public_edition"](tmp_path))
    assert bundle.withheld_paths() == ("run/exchanges.jsonl", "scoring/traces.jsonl")


@pytest.mark.parametrize("name", ["b09_zip_bomb", "b10_overlapping_entries", "b11_declared_size_lie"])
def test_bombs_cost_little(tmp_path: Path, name: str) -> None:
    path = FIXTURES[name](tmp_path)
    program = (
        "import re, sys; from pathlib import Path; from slaverify.evidence.read import open_bundle\n"
        "from slaverify.errors import EvidenceError\n"
        "try:\n    open_bundle(Path(sys.argv[1]))\n"
        "except EvidenceError:\n    print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    said = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True).stdout
    # The high-water mark of this process alone: `ru_maxrss` would hold that of the test's own process too.
    assert int(said) * 1024 < 256 * 1024**2


@pytest.mark.parametrize("name", sorted(closed()))
def test_one_flipped_byte_in_any_file(tmp_path: Path, name: str) -> None:
    from tests.evidence.bundles import on_disk

    data = closed()[name]
    for position in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
        changed = bytearray(data)
        changed[position] ^= 0x01
        folder = on_disk({**closed(), name: bytes(changed)}, tmp_path / f"{position}")
        found = found_in(folder)
        assert found, (name, position)
        if name != MANIFEST:
            assert any(name in words for words in found), (name, position, found)
