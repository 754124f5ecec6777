"""Spot checks that anybody can choose again, their exact bounds, and shares of which enough must be right."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from slaverify.custody import bad_rate_bound, check_holders, check_spot_checks, spot_check_power, spot_items
from slaverify.custody.acts import record_deposit, record_drill, record_spot_check, record_transfer
from slaverify.custody.append import register_key
from slaverify.custody.keys import age_recipient
from slaverify.custody.recovery import drill, parse_plan, read_share, recover_identity, share_recovery
from slaverify.errors import CustodyError
from tests.custody.world import World

NONCE = b"n" * 32


def test_the_nonce_chooses_and_anybody_chooses_again(world: World) -> None:
    index, ledger = world.bank().index, world.ledger()
    chosen = spot_items(index, "buyer", NONCE, 6)
    assert chosen == spot_items(index, "buyer", NONCE, 28)[:6]
    assert chosen != spot_items(index, "vendor", NONCE, 6) != spot_items(index, "buyer", bytes(32), 6)
    record_spot_check(ledger, world.custodian, items=[leaf.i for leaf in chosen], role="buyer", nonce=NONCE, findings=1)
    check_spot_checks(index, ledger.view)
    easy = sorted(leaf.i for leaf in index.leaves)[:6]
    record_spot_check(ledger, world.custodian, items=easy, role="buyer", nonce=NONCE)
    with pytest.raises(CustodyError, match="SLV-K053"):
        check_spot_checks(index, ledger.view)
    with pytest.raises(CustodyError, match="SLV-K050"):
        spot_items(index, "buyer", NONCE, 29)


@pytest.mark.parametrize(("bank", "opened", "findings"), [(20, 5, 0), (20, 5, 2), (40, 10, 1), (9, 9, 3), (30, 1, 1)])
def test_the_bound_is_the_largest_rate_not_excluded(bank: int, opened: int, findings: int) -> None:
    bound = bad_rate_bound(bank, opened, findings) * bank

    def at_most(bad: int) -> Fraction:
        ways = sum(comb(bad, x) * comb(bank - bad, opened - x) for x in range(findings + 1))
        return Fraction(ways, comb(bank, opened))

    possible = range(findings, bank - (opened - findings) + 1)
    assert bound == max(bad for bad in possible if at_most(bad) > Fraction(1, 20))
    if findings == 0:
        assert 1 - at_most(int(bound)) == spot_check_power(bank, int(bound), opened)


def test_bounds_of_nothing() -> None:
    for wrong in ((10, 0, 0), (10, 5, 6), (5, 6, 0)):
        with pytest.raises(ValueError, match="range"):
            bad_rate_bound(*wrong)


def test_every_pair_of_three_shares_and_nothing_less() -> None:
    shared = share_recovery(2, 3)
    assert "AGE-SECRET" not in repr(shared) and shared.shares[0].split()[3] not in repr(shared)
    found = {recover_identity(pair, shared.identity_file) for pair in combinations(shared.shares, 2)}
    assert len(found) == 1
    identity = found.pop()
    assert age_recipient(identity) == shared.recipient
    assert recover_identity(shared.shares, shared.identity_file) == identity
    other = share_recovery(2, 3)
    for wrong in (
        [],
        shared.shares[:1],
        [shared.shares[0], shared.shares[0]],
        [shared.shares[0], other.shares[1]],
        other.shares[:2],
        [shared.shares[0], "word " * 33],
        ["", ""],
    ):
        with pytest.raises(CustodyError, match="SLV-K070") as caught:
            recover_identity(wrong, shared.identity_file)
        assert shared.shares[0] not in str(caught.value.lines("es"))
    drill(identity, [shared.recipient])
    with pytest.raises(CustodyError, match="SLV-K070"):
        drill(identity, [other.recipient])


@pytest.mark.parametrize("text", ["", "2of3", "slip39:1of3", "slip39:3of2", "slip39:2of17", "slip39:2of3 ", "slip39:x"])
def test_plans_that_are_none(text: str) -> None:
    with pytest.raises(CustodyError, match="SLV-K070"):
        parse_plan(text)


def test_files_of_shares() -> None:
    assert read_share(b"# nota\n uno  dos\ntres\n") == "uno dos tres"
    for data in (b"", b"# solo una nota\n", b"x " * 2000):
        with pytest.raises(CustodyError, match="SLV-K070"):
            read_share(data)


def test_who_holds_the_bank(world: World) -> None:
    ledger, bank = world.ledger(), world.bank()
    assert check_holders(ledger.view) == "Archivo Neutral"
    record_deposit(ledger, world.custodian, bank, place="bóveda", medium="disco")
    heir = world.store.make("heir", organisation="Otro Archivo", roles=["custodian"], now=world.clock())
    register_key(ledger, world.custodian, heir, now=world.clock())
    record_transfer(ledger, world.custodian, heir, bank, purpose="relevo", clause="4")
    assert check_holders(ledger.view) == "Otro Archivo"
    record_drill(ledger, world.custodian, what="recovery", now=world.clock())
    record_deposit(ledger, world.custodian, bank, place="otra bóveda", medium="disco")
    with pytest.raises(CustodyError, match="SLV-K060"):
        check_holders(ledger.view)


def test_a_deposit_measures_the_file_again(world: World) -> None:
    bank, path = world.bank(), world.bank_folder / "bank.age"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(CustodyError, match="SLV-K011"):
        record_deposit(world.ledger(), world.custodian, bank, place="x", medium="y")
