"""The floors, the pure rooms and the offline verification are enforced, and the enforcement works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [str(LINT), "--config", str(folder / ".importlinter"), "--no-cache"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def copy_of_package(destination: Path) -> Path:
    shutil.copytree(ROOT / "slaverify", destination / "slaverify", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", destination)
    return destination


def test_the_package_keeps_its_import_contracts(tmp_path: Path) -> None:
    result = lint(copy_of_package(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("path", "line", "contract"),
    [
        ("scoring/planted.py", "import slaverify.report", "A room imports only rooms below it"),
        ("scoring/planted.py", "import slaverify.custody", "A room imports only rooms below it"),
        ("decision/planted.py", "import random", "Pure rooms have no clock"),
        ("verify/planted.py", "import slaverify.run.runner", "Verification is offline"),
        ("audit/planted.py", "import aiohttp", "One module alone imports the HTTP client"),
        ("audit/planted.py", "import pyhanko", "One package alone imports pyHanko"),
        ("audit/planted.py", "import weasyprint", "One module alone imports WeasyPrint"),
    ],
)
def test_a_planted_violation_is_caught(tmp_path: Path, path: str, line: str, contract: str) -> None:
    folder = copy_of_package(tmp_path)
    (folder / "slaverify" / path).write_text(f'"""Planted."""\n\n{line}\n')
    result = lint(folder)
    assert result.returncode != 0
    broken = [row for row in result.stdout.splitlines() if "BROKEN" in row]
    assert any(contract in row for row in broken), result.stdout
