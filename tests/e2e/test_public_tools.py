"""What we make can be checked without us: age, sha256sum, openssl, pdfdetach, qpdf, pdfsig agree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from slaverify.evidence.envelope import load_key
from tests.e2e.line import Place

TOOLS = ("age", "sha256sum", "openssl", "pdfdetach", "qpdf", "pdfsig")
SCRIPT = Path(__file__).with_name("public_tools.sh")


def laid_out(place: Place, folder: Path) -> Path:
    folder.mkdir()
    shutil.copytree(place.bank, folder / "bank")
    shutil.copytree(place.run, folder / "run")
    shutil.copy(place.keys / "custodian.age", folder / "key.txt")
    shutil.copy(place.pdf(), folder / "report.pdf")
    key = load_key(place.keys / "auditor.signing.pem", str)
    (folder / "signer.pem").write_bytes(key.certificate_pem)
    (folder / "tsa.pem").write_bytes(place.authority.root_pem)
    return folder


def checked(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)


@pytest.fixture
def folder(finished: Place, tmp_path: Path) -> Path:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"public tools not installed: {', '.join(missing)}")
    return laid_out(finished, tmp_path / "laid")


def test_public_tools_agree(folder: Path) -> None:
    done = checked(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("OK ") == 10


@pytest.mark.parametrize(
    "name", ["bank/bank.age", "run/manifest.json", "run/manifest.p7s", "run/decision/decision.json", "report.pdf"]
)
def test_public_tools_find_a_changed_byte(folder: Path, name: str) -> None:
    path = folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert checked(folder).returncode != 0
