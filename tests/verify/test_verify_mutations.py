"""No bundle that differs in one byte from a verified one is verified, and nothing in it makes the verifier raise."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slaverify.verify import Outcome, Trust
from tests.verify.checking import check
from tests.verify.sample import closed, forced, line, public

WHOLE = closed(line())
PUBLIC = public(WHOLE)
PATHS = sorted(WHOLE)
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file and its bytes with one byte flipped, dropped or doubled."""
    path = draw(st.sampled_from(PATHS))
    data = WHOLE[path]
    at = draw(st.integers(0, len(data) - 1))
    kind = draw(st.sampled_from(["flip", "flip", "drop", "double"]))
    if kind == "flip":
        return path, data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :]
    return path, data[:at] + (data[at : at + 1] * 2 if kind == "double" else b"") + data[at + 1 :]


@QUICK
@given(changes())
def test_one_byte_is_enough(change: tuple[str, bytes]) -> None:
    _refused(*change)


@pytest.mark.nightly
@settings(QUICK, max_examples=2_000)
@given(changes())
def test_one_byte_is_enough_many_times(change: tuple[str, bytes]) -> None:
    _refused(*change)


def _refused(path: str, data: bytes) -> None:
    made = line()
    found = check(made, {**WHOLE, path: data})
    assert found.outcome is Outcome.NOT_VERIFIED, path
    assert found.exit_code in (4, 5)


@settings(QUICK, max_examples=15)
@given(st.sampled_from([path for path in sorted(PUBLIC) if not path.startswith("manifest")]), st.binary(max_size=80))
def test_any_content_signed_again_is_refused_in_words(path: str, data: bytes) -> None:
    if data == PUBLIC[path]:
        return
    found = check(line(), forced(PUBLIC, path, data) if path != "SHA256SUMS" else {**PUBLIC, path: data})
    assert found.outcome is Outcome.NOT_VERIFIED, (path, data)
    assert found.exit_code in (4, 5)


@pytest.mark.parametrize("trust", [Trust(), Trust(contract_digest="sha256:" + "0" * 64)])
def test_without_its_pin_nothing_is_verified(trust: Trust) -> None:
    assert check(line(), WHOLE, trust=trust).exit_code in (3, 5)
