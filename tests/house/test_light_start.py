"""`--help`, `contract check` and `verify --help` start light: nothing heavy is imported to say a word."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

HEAVY = ("scipy", "weasyprint", "pyhanko", "aiohttp", "pyrage", "fontTools")


def loaded_after(arguments: list[str], heavy: tuple[str, ...] = HEAVY) -> list[str]:
    code = (
        "import sys\n"
        "from slaverify.cli import run\n"
        f"code = run({arguments!r})\n"
        f"print('LOADED', code, *[m for m in {heavy!r} if m in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    line = next(row for row in result.stdout.splitlines() if row.startswith("LOADED"))
    assert line.split()[1] == "0", result.stdout + result.stderr
    return line.split()[2:]


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["verify", "--help"], ["demo", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert loaded_after(arguments, (*HEAVY, "ruamel")) == []


def best_of(command: list[str], runs: int) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def test_help_answers_within_fifteen_bare_starts_of_python() -> None:
    # A ratio of two commands measured side by side: the speed of the machine cancels.
    help_command = [sys.executable, "-c", "from slaverify.cli import main; main()", "--help"]
    ratio = min(best_of(help_command, 5) / best_of([sys.executable, "-c", "pass"], 5) for _ in range(3))
    assert ratio < 15
