"""A report laid open: every command of COMMANDS.txt succeeds, and fails on a changed byte."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.line import Place, slaverify

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def commands_of(folder: Path) -> list[str]:
    lines = (folder / "COMMANDS.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def codes(folder: Path) -> list[int]:
    return [
        subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, check=False).returncode
        for line in commands_of(folder)
    ]


def test_a_report_is_laid_open_for_public_tools(finished: Place, tmp_path: Path) -> None:
    folder = tmp_path / "open"
    done = slaverify(finished, "extract", str(finished.pdf()), str(folder), "--contract", str(finished.contract))
    assert done.returncode == 0, done.stderr
    assert "nothing was verified" in done.stderr
    assert set(codes(folder)) == {0}
    spki = subprocess.run(["sh", "-c", commands_of(folder)[0]], cwd=folder, capture_output=True, text=True, check=True)
    assert spki.stdout.split()[0] == finished.spki
    for name, command in (("signed.bin", 1), ("sigvalue.bin", 2)):
        clean = (folder / name).read_bytes()
        spoiled = bytearray(clean)
        spoiled[len(spoiled) // 2] ^= 1
        (folder / name).write_bytes(spoiled)
        assert codes(folder)[command] != 0
        (folder / name).write_bytes(clean)
    again = slaverify(finished, "extract", str(finished.pdf()), str(folder))
    assert again.returncode == 2


def test_a_bundle_is_laid_open_too(finished: Place, tmp_path: Path) -> None:
    folder = tmp_path / "open"
    done = slaverify(finished, "extract", str(finished.bundle()), str(folder), "--contract", str(finished.contract))
    assert done.returncode == 0, done.stderr
    shutil.copy(finished.keys / "auditor.signing.pem", folder / "auditor.pem")
    assert set(codes(folder)) == {0}


def test_what_is_no_report_is_refused(finished: Place, tmp_path: Path) -> None:
    fake = tmp_path / "fake.pdf"
    fake.write_bytes(b"%PDF-1.7\nnothing")
    assert slaverify(finished, "extract", str(fake), str(tmp_path / "open")).returncode == 4
    assert not (tmp_path / "open").exists()
