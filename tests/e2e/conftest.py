"""One finished audit that several tests look at; whoever changes a file takes a copy."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue
from slaverify.cli.demo.servers import serve
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import VERSION, Calculator, items

ENGINE: dict[str, JsonValue] = {
    "engine.version": VERSION,
    "engine.accepted_echoes": [VERSION],
    "report.languages": ["es", "en"],
}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return an audit that ended in PASS: 60 sums, 20 questions outside the corpus."""
    place = make_place(tmp_path_factory.mktemp("audit"), items(60, 20))
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENGINE)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode == 0, done.stderr + done.stdout
    return place


@pytest.fixture
def own(finished: Place, tmp_path: Path) -> Place:
    """Return a copy of the finished audit that a test may spoil."""
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    moved = {name: folder / getattr(finished, name).relative_to(finished.folder) for name in ("keys", "bank")}
    return replace(finished, folder=folder, **moved)
