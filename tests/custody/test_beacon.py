"""The optional beacon: what a round's signature must be, and what happens without the library that checks it."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from slaverify.custody import beacon_randomness, beacon_round
from slaverify.errors import CustodyError

KEY = bytes.fromhex(
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
OUTSIDE_THE_SUBGROUP = bytes.fromhex(
    "94385d48ab9d338824a523ff7d310fbeeac0184598d56b49f27857bcd3ef91f6ead1c7ef99c9beee47784ebba5c635de"
)
"""The signature of round 1000 plus a point of small order: another value that the pairing alone would accept."""
INSTALLED = importlib.util.find_spec("py_ecc") is not None


@pytest.mark.skipif(not INSTALLED, reason="py-ecc is not installed: beacon signatures are not checked here")
def test_a_malleable_signature_is_refused() -> None:
    for signature in (OUTSIDE_THE_SUBGROUP, b"", bytes(48), b"\xff" * 48):
        with pytest.raises(CustodyError, match="SLV-K055"):
            beacon_randomness(1000, signature, KEY)


def test_without_the_library_the_beacon_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py_ecc.bls.hash_to_curve", None)
    with pytest.raises(CustodyError, match="SLV-K072") as caught:
        beacon_randomness(1000, bytes(48), KEY)
    assert caught.value.exit_code == 6


def test_no_round_before_the_first() -> None:
    with pytest.raises(ValueError, match="first round"):
        beacon_round(1692803366)
    assert beacon_round(1692803367 + 30) == 11
