"""The state contract of the tests, its questions, and changed copies of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from slaverify.resources import resource
from slaverify.trajectory import Question, StateContract, generate
from slaverify.trajectory.state_files import read_state_files

ROOT = resource("contratos", "estado-crm")
NONCE = bytes(range(32))


def files() -> dict[str, bytes]:
    """Return the folder's files by relative path."""
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in ROOT.rglob("*") if path.is_file()}


@cache
def crm() -> StateContract:
    """Return the state contract."""
    return read_state_files(files())[0]


@cache
def questions() -> tuple[Question, ...]:
    """Return its 40 questions."""
    return generate(crm(), "es-CL", NONCE)


def of_kind(kind: str, fits: Callable[[Question], bool] = lambda _: True) -> Question:
    """Return the first question of a kind that fits."""
    return next(one for one in questions() if one.kind == kind and fits(one))
