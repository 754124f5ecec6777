"""What importing the room loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("scipy", "weasyprint", "pyhanko", "aiohttp", "pyrage", "numpy")


@pytest.mark.parametrize(
    ("module", "absent"),
    [("slaverify.contract", (*HEAVY, "ruamel.yaml")), ("slaverify.contract.load", (*HEAVY, "ruamel.yaml"))],
)
def test_imports(module: str, absent: tuple[str, ...]) -> None:
    script = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
