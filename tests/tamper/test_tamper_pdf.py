"""Every named tampering of a signed PDF is found by the rule that the fixture names, with its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.errors import ReportError
from slaverify.evidence import B_LTA, B_T
from slaverify.evidence.pades import sign_pdf
from slaverify.verify.checks import Result, exit_code_of, outcome_of
from tests.evidence.pki import auditor, signed_pdf, tsa
from tests.tamper.pdf_fixtures import FIXTURES, Base, Tampered, cms_of, flipped, with_cms
from tests.tamper.viewers import DOCUMENT, bottom_line, checks_of, failed_rules, have_pdfsig, rows, table, tools

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())["pdfs"]
ON_LTA = [name for name in sorted(FIXTURES) if int(name[3:5]) in {0, *range(1, 15), 16, 17, 24}]
CASES = [(B_T, name) for name in sorted(FIXTURES)] + [(B_LTA, name) for name in ON_LTA]


@pytest.mark.parametrize(("level", "name"), CASES)
def test_each_tampering_is_found_by_its_rule(level: str, name: str) -> None:
    checks = checks_of(FIXTURES[name](Base(level)))
    outcome, exit_code = outcome_of(checks, demo=False), exit_code_of(checks, demo=False)
    failed = {check.id for check in checks if check.result is Result.FAILED}
    assert set(EXPECTED[name]["rules"]) <= failed, failed
    assert (outcome.value, exit_code) == (EXPECTED[name]["outcome"], EXPECTED[name]["exit"]), failed
    if name == "pdf13_resign_same_ca_other_key":
        assert failed == {"V02"}


def test_every_fixture_has_its_expectation() -> None:
    assert set(EXPECTED) == set(FIXTURES)


@pytest.mark.parametrize("name", sorted(name for name in FIXTURES if EXPECTED[name]["pyhanko"] is not None))
def test_what_the_library_alone_would_say(name: str) -> None:
    """The reason why each rule exists: the library's own bottom line, with the same roots."""
    tampered = FIXTURES[name](Base(B_T))
    assert bottom_line(tampered.pdf, tampered.pins) is EXPECTED[name]["pyhanko"]


def test_what_other_viewers_say_is_what_the_document_shows() -> None:
    """All rows but that of single flipped bytes, whose count is another one with each key."""
    if not have_pdfsig():
        pytest.skip("pdfsig (poppler-utils) is not installed")
    written = DOCUMENT.read_text(encoding="utf-8")
    if tools() not in written:
        pytest.skip(f"the document speaks of other versions than {tools()}")
    assert [row for row in table(rows()).splitlines() if row not in written.splitlines()] == []


def test_a_signed_pdf_is_never_signed_again() -> None:
    with pytest.raises(ReportError) as caught:
        sign_pdf(signed_pdf(), auditor(), tsa().stamper().stamp_digest)
    assert caught.value.code == "SLV-R023"


def test_pdf02_no_flipped_byte_of_the_signature_passes() -> None:
    """A sample of the signature's bytes; `test_every_byte_of_the_signature` takes them all."""
    data = cms_of(signed_pdf())
    for position in range(0, len(data), 67):
        assert _flip_fails(data, position, 0x01), position


@pytest.mark.nightly
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_eleventh_byte_of_the_signature(mask: int) -> None:
    data = cms_of(signed_pdf())
    assert [p for p in range(0, len(data), 11) if not _flip_fails(data, p, mask)] == []


@pytest.mark.nightly
def test_every_byte_of_the_signature() -> None:
    data = cms_of(signed_pdf())
    assert [p for p in range(len(data)) if not _flip_fails(data, p, 0x01)] == []


def test_flipped_bytes_all_over_the_file_fail() -> None:
    pdf = signed_pdf()
    pins = FIXTURES["pdf00_untouched"](Base(B_T)).pins
    for position in range(5, len(pdf), 1_013):
        assert failed_rules(Tampered(flipped(pdf, position), pins)), position


@pytest.mark.nightly
def test_every_eleventh_byte_of_the_file_fails() -> None:
    pdf = signed_pdf()
    pins = FIXTURES["pdf00_untouched"](Base(B_T)).pins
    assert [p for p in range(0, len(pdf), 11) if not failed_rules(Tampered(flipped(pdf, p), pins))] == []


def _flip_fails(data: bytes, position: int, mask: int) -> bool:
    pins = FIXTURES["pdf00_untouched"](Base(B_T)).pins
    return "V05" in failed_rules(Tampered(with_cms(signed_pdf(), flipped(data, position, mask)), pins))
