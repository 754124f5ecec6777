"""When a block by the vendor stands: its fault, again and again, over an hour."""

from __future__ import annotations

from datetime import timedelta

import pytest

from slaverify.run.blocked import Block, block_of
from tests.engine.endpoints import endpoint_spec

URL = "http://127.0.0.1:9/q"


def stops(*given: tuple[str, str]) -> list[tuple[str, dict[str, str]]]:
    return [(f"2026-11-30T{at}:00.000Z", {"reason": reason}) for at, reason in given]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), Block(0, timedelta(0), "")),
        ((("10:00", "unauthorised"),), Block(1, timedelta(0), "unauthorised")),
        (
            (("10:00", "unauthorised"), ("10:30", "unauthorised"), ("11:00", "unauthorised")),
            Block(3, timedelta(hours=1), "unauthorised"),
        ),
        # Our own stop in between: the count begins again.
        (
            (("10:00", "unauthorised"), ("10:30", "signal"), ("12:00", "unauthorised"), ("12:10", "unauthorised")),
            Block(2, timedelta(minutes=10), "unauthorised"),
        ),
        ((("10:00", "unauthorised"), ("11:00", "network")), Block(0, timedelta(0), "")),
        ((("10:00", "window"), ("11:00", "done"), ("12:00", "maintenance")), Block(0, timedelta(0), "")),
        # A private address is a mistake of ours, another engine ends the run by itself.
        ((("10:00", "private_address"), ("11:00", "engine_mismatch")), Block(0, timedelta(0), "")),
    ],
)
def test_block(given, expected):
    assert block_of(endpoint_spec(URL), stops(*given)) == expected


def test_it_takes_three_stops_and_an_hour():
    hour = timedelta(hours=1)
    assert Block(3, hour, "unauthorised").stands
    assert not Block(2, hour, "unauthorised").stands
    assert not Block(3, hour - timedelta(seconds=1), "unauthorised").stands


@pytest.mark.parametrize(("owner", "stands"), [("vendor", True), ("auditor", False)])
def test_a_credential_of_the_auditor_closes_nothing(owner, stands):
    auth = {"header": "Authorization", "scheme": "Bearer", "secret": "env:KEY", "owner": owner}
    spec = endpoint_spec(URL, auth=auth)
    given = stops(("10:00", "unauthorised"), ("10:30", "unauthorised"), ("11:00", "unauthorised"))
    assert block_of(spec, given).stands is stands
