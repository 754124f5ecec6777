"""Options and fixtures that every test folder shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test depends on a clock: a busy machine is not a fault.
settings.register_profile("slaverify", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("slaverify")

TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parent.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vectors-dir", type=Path, default=TESTS / "vectors", help="folder of vector files of the same shape"
    )
    parser.addoption("--kills", type=int, default=20, help="how many times the kill test kills an audit")


@pytest.fixture(scope="session")
def vectors_dir(request: pytest.FixtureRequest) -> Path:
    """The folder of the language-neutral vectors (`--vectors-dir`)."""
    return request.config.getoption("--vectors-dir")


@pytest.fixture(scope="session")
def public_data() -> Path:
    """Other people's data, read in place and never committed; skips where it is absent."""
    folder = SHARED / "data" / "public"
    if not folder.is_dir():
        pytest.skip(f"public data not present beside the repository ({folder.name}/)")
    return folder
