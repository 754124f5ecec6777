"""An entry signed elsewhere is judged as a stranger's; no party ever hands over its key."""

from __future__ import annotations

import pytest

from slaverify.custody.append import key_data, record_incident
from slaverify.custody.entries import countersign
from slaverify.errors import CustodyError
from tests.custody.forge import STRANGER
from tests.custody.world import World


def invitation(world: World) -> tuple[bytes, object]:
    buyer = world.store.make("buyer", organisation="Compradora", roles=["buyer"], now=world.clock())
    data = key_data(buyer.vkey, buyer.roles, buyer.organisation, buyer.age_recipient, now=world.clock())
    return world.ledger().propose("key_added", data, world.custodian), buyer


def test_a_key_is_registered_without_leaving_its_owner(world: World) -> None:
    asked, buyer = invitation(world)
    ledger = world.ledger()
    with pytest.raises(CustodyError, match="SLV-K023"):
        ledger.accept(asked)
    entry = ledger.accept(countersign(asked, buyer))
    assert ledger.view.keys[buyer.key_id].organisation == "Compradora"
    assert entry.seq == ledger.view.size - 1
    with pytest.raises(CustodyError, match="SLV-K021"):
        ledger.accept(countersign(asked, buyer))


def test_what_is_signed_by_another_or_changed_is_refused(world: World) -> None:
    asked, buyer = invitation(world)
    ledger = world.ledger()
    for line, code in (
        (countersign(asked, STRANGER), "K023"),
        (countersign(asked, buyer).replace(b'"Compradora"', b'"Vendedora"'), "K022"),
        (countersign(asked, buyer)[:-2], "K020"),
    ):
        with pytest.raises(CustodyError, match=f"SLV-{code}"):
            ledger.accept(line)
    for line in (countersign(asked, buyer), b"{}", b""):
        with pytest.raises(CustodyError, match="SLV-K020"):
            countersign(line, STRANGER)


def test_a_ledger_that_has_grown_asks_for_a_new_proposal(world: World) -> None:
    asked, buyer = invitation(world)
    ledger = world.ledger()
    record_incident(ledger, world.custodian, what="entretanto")
    size = ledger.view.size
    with pytest.raises(CustodyError, match="SLV-K021"):
        ledger.accept(countersign(asked, buyer))
    assert world.ledger().view.size == size
