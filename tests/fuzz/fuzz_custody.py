"""One target of the custody room under atheris: `python -m tests.fuzz.fuzz_custody NAME [options of libFuzzer]`."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["slaverify.custody", "slaverify.canonical"]):
    from tests.fuzz.custody_targets import JUDGES, READERS, mutate, read_any, refuses

NAME = sys.argv[1]


def one(data: bytes) -> None:
    """Read it, judge it, and judge the honest input with it worked in."""
    if NAME in READERS:
        read_any(NAME, data)
    if NAME in JUDGES:
        refuses(NAME, mutate(NAME, data))
        refuses(NAME, data)


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
    atheris.Fuzz()
