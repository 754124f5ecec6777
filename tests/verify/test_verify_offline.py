"""Verification is offline and starts light: no socket, no renderer, no numeric library for an integer verdict."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

from slaverify.canonical import jcs
from tests.verify.papers import pdf
from tests.verify.sample import closed, line

SCRIPT = """
import pickle, socket, sys
from datetime import UTC, datetime

class Refused(Exception):
    pass

def refuse(*args, **kwargs):
    raise Refused

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
given = pickle.load(open(sys.argv[1], "rb"))
from slaverify.contract.load import parse_contract
from slaverify.evidence import Bundle
from slaverify.verify import Trust, VerifyRequest, verify

bundle = Bundle.of_files(given["files"]) if given["files"] else None
trust = Trust(contract=parse_contract(given["contract"], "contract.json"))
found = verify(VerifyRequest(now=datetime(2026, 4, 1, tzinfo=UTC), pdf=given["pdf"], bundle=bundle, trust=trust))
heavy = ["weasyprint", "starlette", "pyrage", "scipy", "sqlite3"]  # pyHanko loads aiohttp; no socket opens
heavy += ["slaverify.engine.wire", "slaverify.run.journal", "slaverify.report"]
print(found.outcome, *(name for name in heavy if name in sys.modules))
"""


def _said(tmp_path: Path, **given: object) -> list[str]:
    path = tmp_path / "given.pickle"
    path.write_bytes(pickle.dumps({"files": None, "pdf": None, "contract": jcs(line().contract.tree), **given}))
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_pdf_is_verified_without_network_renderer_or_scipy(tmp_path: Path) -> None:
    made = line()
    assert _said(tmp_path, pdf=pdf(made, closed(made))) == ["VERIFIED"]


def test_a_bundle_is_verified_without_network_or_renderer(tmp_path: Path) -> None:
    outcome, *loaded = _said(tmp_path, files=closed(line()))
    assert outcome == "VERIFIED" and set(loaded) <= {"scipy"}


def test_importing_the_room_loads_no_heavy_library() -> None:
    heavy = ("scipy", "weasyprint", "pyhanko", "aiohttp", "pyrage")
    code = f"import slaverify.verify, sys; print(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
