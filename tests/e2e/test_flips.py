"""One flipped byte, anywhere: verification exits 4 or 5 and names the check."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from slaverify.cli import run as command
from slaverify.evidence import Bundle
from slaverify.evidence.read import open_bundle
from tests.e2e.line import Place


def verify(capsys: pytest.CaptureFixture[str], place: Place, *files: Path, annex: bool = True) -> tuple[int, list[str]]:
    """Verify against the contract, with the opened annex; return exit code and the checks that failed."""
    identity = ["--identity", str(place.keys / "arbitro.age")] if annex else []
    words = ["verify", *map(str, files), "--contract", str(place.contract), *identity, "--json"]
    code = command(words)
    text = capsys.readouterr().out
    return code, [check["id"] for check in json.loads(text)["checks"] if check["result"] == "failed"]


def flip(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


def files_of_bundle(place: Place) -> list[str]:
    bundle: Bundle = open_bundle(place.bundle())
    return [*bundle.paths(), "manifest.json", "manifest.p7s", "manifest.tsr"]


def test_the_honest_files_verify(finished: Place, capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("es", "en"):
        assert verify(capsys, finished, finished.pdf(language), finished.bundle()) == (0, [])
        public = finished.bundle("public")
        assert verify(capsys, finished, finished.pdf(language), public, annex=False) == (0, [])


def test_an_identity_for_an_edition_without_annex_is_a_clear_refusal(
    finished: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    identity = str(finished.keys / "arbitro.age")
    words = ["verify", str(finished.bundle("public")), "--contract", str(finished.contract), "--identity", identity]
    assert command(words) == 2
    assert "SLV-A015" in capsys.readouterr().err


def test_a_flipped_byte_in_any_file_of_the_bundle_is_found(
    own: Place, finished: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(1)
    for name in files_of_bundle(own):
        path = own.run / name
        clean = path.read_bytes()
        flip(path, dice)
        code, failed = verify(capsys, own, own.run)
        assert code in (4, 5), name
        assert failed, name
        path.write_bytes(clean)


@pytest.mark.parametrize("what", ["archive", "pdf"])
def test_a_flipped_byte_of_archive_or_pdf_is_found(own: Place, capsys: pytest.CaptureFixture[str], what: str) -> None:
    dice = random.Random(what)
    path = own.bundle() if what == "archive" else own.pdf()
    clean = path.read_bytes()
    for _ in range(12):
        flip(path, dice)
        code, failed = verify(capsys, own, path, annex=what == "pdf")
        assert code in (4, 5)
        assert failed
        path.write_bytes(clean)


def test_another_contract_is_found(own: Place, capsys: pytest.CaptureFixture[str]) -> None:
    text = own.contract.read_text(encoding="utf-8")
    own.contract.write_text(text.replace("Exactitud del asistente", "Exactitud del Asistente"), encoding="utf-8")
    code, failed = verify(capsys, own, own.pdf(), own.bundle())
    assert code in (4, 5)
    assert "V16" in failed


def test_a_flipped_byte_of_the_contract_file_never_verifies(own: Place, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(4)
    clean = own.contract.read_bytes()
    comments = sum(len(line) for line in clean.splitlines(keepends=True) if line.lstrip().startswith(b"#"))
    assert comments < len(clean) / 10
    for _ in range(8):
        flip(own.contract, dice)
        code = command(["verify", str(own.pdf()), "--contract", str(own.contract)])
        capsys.readouterr()
        # 2: the file is no contract any more; 5: it is another one; 0 only if a byte of layout or comment moved.
        if code == 0:
            from slaverify.contract.load import load_contract, parse_contract

            assert load_contract(own.contract).digest == parse_contract(clean, "clean").digest
        else:
            assert code in (2, 4, 5)
        own.contract.write_bytes(clean)
