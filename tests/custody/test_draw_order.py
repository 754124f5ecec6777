"""Commit and reveal among parties: who is waited for and until when, what order is refused, the agreed beacon."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from slaverify.custody import check_draw_order, due_round, read_round, waiting
from slaverify.custody.append import open_run, register_contract, register_key
from slaverify.custody.checkpoints import read_checkpoints
from slaverify.custody.drawing import commit_nonce, reveal_nonce, settle_draw
from slaverify.custody.terms import BeaconTerms
from slaverify.errors import CustodyError
from tests.custody.world import CONTRACT, World, other_terms

HOURS = timedelta(hours=72)


class Table:
    """A run of a contract with commit and reveal, open in the ledger, and the keys of both drawers."""

    def __init__(self, world: World, **changes: object) -> None:
        self.world = world
        self.terms = other_terms(world, CONTRACT, evaluation_set__sample__method="commit_reveal", **changes)
        self.ledger = world.ledger()
        self.keys = {
            role: world.store.make(role, organisation=f"{role} SA", roles=[role], now=world.clock())
            for role in ("buyer", "vendor")
        }
        for key in self.keys.values():
            register_key(self.ledger, world.custodian, key, now=world.clock())
        register_contract(self.ledger, world.custodian, self.terms)
        self.run = open_run(self.ledger, world.auditor, self.terms).number

    def commit(self, role: str) -> object:
        return commit_nonce(self.ledger, self.keys[role], self.terms, self.run, role, self.world.keys)

    def reveal(self, role: str) -> object:
        return reveal_nonce(self.ledger, self.keys[role], self.terms, self.run, role, self.world.keys)

    def settle(self, **more: object) -> object:
        world = self.world
        return settle_draw(
            self.ledger,
            world.bank().index,
            self.terms,
            self.run,
            custodian=world.custodian,
            auditor=world.auditor,
            now=world.clock(),
            **more,
        )

    def check(self, sizes: list[int] | None = None, **changes: object) -> None:
        record = self.ledger.view.run(CONTRACT, self.run)
        found = [one.size for one in read_checkpoints(self.ledger.folder)] if sizes is None else sizes
        check_draw_order(record, replace(self.terms, **changes), found)

    @property
    def record(self) -> object:
        return self.ledger.view.run(CONTRACT, self.run)


def refused(code: str, act: object, *arguments: object, **more: object) -> CustodyError:
    with pytest.raises(CustodyError, match=code) as caught:
        act(*arguments, **more)
    return caught.value


def test_two_parties_draw(world: World) -> None:
    table = Table(world)
    assert waiting(table.record, table.terms).roles == ("buyer", "vendor")
    pending = refused("SLV-K052", table.settle)
    assert (pending.exit_code, "buyer, vendor" in pending.what.es) == (6, True)
    first = table.commit("buyer")
    assert table.commit("buyer") == first
    refused("SLV-K052", table.reveal, "buyer")
    table.commit("vendor")
    refused("SLV-K052", table.reveal, "buyer")
    assert "reveal" in refused("SLV-K052", table.settle).fix.en
    table.reveal("vendor")
    assert refused("SLV-K052", table.settle).exit_code == 6
    table.reveal("buyer")
    drawn = table.settle()
    assert table.settle() == drawn
    table.check()
    refused("SLV-K052", table.check, [])
    refused("SLV-K052", table.check, [table.ledger.view.size])
    nonces = [path for path in (world.keys / "nonces").iterdir() if path.stat().st_mode & 0o077 == 0]
    assert len(nonces) == 2


def test_a_drawer_who_stays_silent_is_waited_for_until_the_deadline(world: World) -> None:
    table = Table(world)
    table.commit("buyer")
    table.commit("vendor")
    refused("SLV-K052", table.settle)
    table.reveal("buyer")
    refused("SLV-K052", table.settle)
    world.clock.now += HOURS
    drawn = table.settle()
    entry = table.ledger.view.find("draw_defaulted")
    assert (entry.data["role"], drawn.method) == ("vendor", "commit_reveal")
    table.check()
    refused("SLV-K052", table.check, deadline_hours=96)
    refused("SLV-K052", table.reveal, "vendor")


def test_a_party_that_never_commits(world: World) -> None:
    table = Table(world)
    table.commit("buyer")
    world.clock.now += HOURS
    # The vendor is out; the buyer, who could not reveal before, has a day to do it.
    assert "reveal" in refused("SLV-K052", table.settle).fix.en
    assert table.ledger.view.find("draw_defaulted").data["role"] == "vendor"
    table.reveal("buyer")
    table.settle()
    table.check()
    refused("SLV-K052", table.check, deadline_hours=73)


def test_nobody_reveals_and_nothing_is_drawn(world: World) -> None:
    table = Table(world)
    world.clock.now += HOURS
    error = refused("SLV-K052", table.settle)
    assert error.exit_code == 4 and table.record.draw is None


def test_a_nonce_that_is_not_here_or_damaged(world: World) -> None:
    table = Table(world)
    table.commit("buyer")
    table.commit("vendor")
    refused("SLV-K052", table.settle)
    for path in (world.keys / "nonces").iterdir():
        path.write_text("zz")
    refused("SLV-K071", table.reveal, "buyer")
    for path in (world.keys / "nonces").iterdir():
        path.unlink()
    refused("SLV-K071", table.reveal, "buyer")


def signed_round(number: int) -> tuple[bytes, dict]:
    """A chain of our own: public key in G2, the round's signature in G1, as drand quicknet makes them."""
    from py_ecc.bls.hash_to_curve import hash_to_G1
    from py_ecc.bls.point_compression import compress_G1, compress_G2
    from py_ecc.optimized_bls12_381 import G2, multiply

    secret = 271828182845904523536
    message = hashlib.sha256(number.to_bytes(8, "big")).digest()
    point = multiply(hash_to_G1(message, b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_", hashlib.sha256), secret)
    signature = compress_G1(point).to_bytes(48, "big")
    high, low = compress_G2(multiply(G2, secret))
    told = {"round": number, "randomness": hashlib.sha256(signature).hexdigest(), "signature": signature.hex()}
    return high.to_bytes(48, "big") + low.to_bytes(48, "big"), told


@pytest.mark.skipif(importlib.util.find_spec("py_ecc") is None, reason="py-ecc is not installed")
def test_the_agreed_beacon_enters_the_seed_and_no_other(world: World) -> None:
    table = Table(world)
    due = due_round(table.record, table.terms)
    key, told = signed_round(due)
    plain = table.terms
    table.terms = replace(plain, beacon=BeaconTerms("00" * 32, key), method="seeded")
    error = refused("SLV-K072", table.settle)
    assert error.exit_code == 6 and str(due) in error.what.es
    _, other = signed_round(due + 1)
    refused("SLV-K055", table.settle, light=other)
    refused("SLV-K055", table.settle, light=told | {"randomness": "00" * 32})
    light = read_round(json.dumps(told | {"previous_signature": ""}).encode())
    drawn = table.settle(light=light)
    assert drawn.beacon["round"] == due
    table.check()
    refused("SLV-K055", table.check, beacon=None)
    refused("SLV-K055", table.check, beacon=BeaconTerms("00" * 32, key), deadline_hours=1)
    table.terms = replace(plain, method="seeded")
    assert table.settle().seed == drawn.seed


def test_a_beacon_nobody_agreed_on(world: World) -> None:
    table = Table(world)
    table.terms = replace(table.terms, method="seeded")
    refused("SLV-K055", table.settle, light={"round": 1, "randomness": "00" * 32, "signature": ""})


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"round":-1}', b"{" * 5000, b'{"round":1,"signature":1}'])
def test_rounds_that_are_none(data: bytes) -> None:
    refused("SLV-K055", read_round, data)


def test_the_folder_of_nonces_is_private(world: World, tmp_path: Path) -> None:
    table = Table(world)
    table.commit("buyer")
    assert (world.keys / "nonces").stat().st_mode & 0o077 == 0
