"""The checklist says what is on record, claims nothing of what is not, and names a broken chain."""

from __future__ import annotations

from slaverify.custody import checklist
from slaverify.custody.acts import record_deposit, record_drill, record_transfer
from slaverify.custody.append import register_key
from slaverify.custody.checklist import DEMANDS
from slaverify.custody.entries import TYPES
from tests.custody.world import World


def states(world: World) -> dict[str, str]:
    found = checklist(world.ledger().view)
    assert [one.name for one in found] == list(DEMANDS)
    return {one.name: one.state for one in found}


def test_only_what_is_on_record_is_claimed(world: World) -> None:
    assert {kind for kinds in DEMANDS.values() for kind in kinds} <= set(TYPES)
    new = states(world)
    assert {name for name, state in new.items() if state == "met"} == {
        "identifier",
        "transfers",
        "everything",
        "digests",
        "handlers",
    }
    ledger = world.ledger()
    ledger.clock_offset_ms = 12
    record_drill(ledger, world.custodian, what="recovery", now=world.clock())
    later = states(world)
    assert (later["recovery"], later["clock"], later["retention"]) == ("met", "met", "absent")


def test_a_gap_between_hands_breaks_it(world: World) -> None:
    ledger, bank = world.ledger(), world.bank()
    heir = world.store.make("heir", organisation="Otro Archivo", roles=["custodian"], now=world.clock())
    register_key(ledger, world.custodian, heir, now=world.clock())
    record_transfer(ledger, world.custodian, heir, bank, purpose="relevo", clause="")
    assert states(world)["transfers"] == "met"
    record_deposit(ledger, world.custodian, bank, place="x", medium="y")
    assert states(world)["transfers"] == "broken"
