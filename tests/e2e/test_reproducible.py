"""Same bank, contract and recorded answers: same report.json and same unsigned PDF, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slaverify.evidence.pades import pdf_facts
from tests.e2e.line import Place, slaverify

MAKE = """
import sys
from pathlib import Path
from slaverify.evidence.read import open_folder
from slaverify.report import build
from slaverify.report.pdf import render, renderer
bundle = open_folder(Path(sys.argv[1]))
model = build(bundle, sys.argv[2], renderer())
Path(sys.argv[3], "report.json").write_bytes(model)
Path(sys.argv[3], "report.pdf").write_bytes(render(model, bundle.manifest_bytes))
"""


def made(place: Place, folder: Path, seed: str, language: str, zone: str) -> tuple[bytes, bytes]:
    folder.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone}
    subprocess.run(
        [sys.executable, "-c", MAKE, str(place.run), language, str(folder)], env=environment, check=True, cwd=folder
    )
    return (folder / "report.json").read_bytes(), (folder / "report.pdf").read_bytes()


@pytest.mark.parametrize("language", ["es", "en"])
def test_report_and_page_are_the_same_bytes_again(finished: Place, tmp_path: Path, language: str) -> None:
    signed = finished.pdf(language).read_bytes()
    embedded = pdf_facts(signed, None).attachment("report.json")
    first = made(finished, tmp_path / "one", "0", language, "UTC")
    second = made(finished, tmp_path / "two", "4242", language, "America/Santiago")
    assert first == second
    assert first[0] == embedded
    assert signed.startswith(first[1])


@pytest.mark.parametrize("edition", ["public", "parties"])
def test_the_page_is_redrawn_from_either_edition(finished: Place, edition: str) -> None:
    words = ["verify", str(finished.pdf()), "--bundle", str(finished.bundle(edition))]
    done = slaverify(finished, *words, "--contract", str(finished.contract), "--rerender", "--strict")
    assert done.returncode == 0, done.stdout
    assert "V20" in done.stdout
