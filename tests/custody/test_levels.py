"""Levels are computed from what is on record, and what is missing is named."""

from __future__ import annotations

from dataclasses import replace

from slaverify.custody import capped, custody_facts, level_of
from slaverify.custody.append import register_key
from slaverify.custody.levels import FACTS
from slaverify.custody.manifest import Access, Recipient
from slaverify.custody.permit import authorise
from tests.custody.world import CONTRACT, Authority, World, other_terms


def facts(
    world: World, terms: object = None, manifest: object = None, *, anchored: bool = True, **more: object
) -> dict:
    ledger, authority = world.ledger(), Authority(world.clock)
    agreed = terms or world.terms
    run = ledger.view.run(CONTRACT, 1)
    if run is None:
        world.started(ledger, agreed)
    point = ledger.checkpoint(world.custodian, authority)
    permit = (
        authorise(ledger.view, agreed, 1, point.evidence, now=world.clock(), timestamps=authority) if anchored else None
    )
    found = custody_facts(
        agreed,
        manifest or world.sealed.manifest,
        ledger.view,
        sealed=True,
        ledger_valid=True,
        permit=permit,
        **more,
    )
    assert tuple(fact.name for fact in found) == FACTS
    return {fact.name: fact.holds for fact in found}


def test_one_operator_with_a_timestamp_reaches_level_1(world: World) -> None:
    found = facts(world)
    level = level_of(found)
    assert (level.level, level.name) == (1, "custodied")
    assert level.missing == ("opposed_witness", "two_party_draw", "shared_recovery", "spot_checked")


def test_without_an_anchor_level_0(world: World) -> None:
    level = level_of(facts(world, anchored=False))
    assert (level.level, level.missing[0]) == (0, "start_anchored")


def test_without_a_valid_ledger_no_level() -> None:
    assert level_of({"sealed": True}).level is None
    assert level_of({}).name is None


def test_a_vendor_among_the_keepers_is_not_separate(world: World) -> None:
    assert facts(world)["vendor_separate"]
    manifest = world.sealed.manifest
    for changes in (
        {"author": "proveedor  spa"},
        {"custodian": "Proveedor SpA"},
        {"plaintext_access": (Access("Proveedor SpA", "author", "2026-01-01"),)},
        {"recipients": (*manifest.recipients, Recipient("vendor", "age1x"))},
    ):
        assert not facts(world, manifest=replace(manifest, **changes))["vendor_separate"], changes


def test_a_vendor_key_that_can_decrypt_is_not_separate(world: World) -> None:
    vendor = world.store.make("vendor", organisation="Otro Nombre", roles=["vendor"], now=world.clock())
    register_key(world.ledger(), world.custodian, vendor, now=world.clock())
    assert facts(world)["vendor_separate"]
    recipients = (Recipient("custodian", vendor.age_recipient),)
    assert not facts(world, manifest=replace(world.sealed.manifest, recipients=recipients))["vendor_separate"]


def test_a_vendor_key_with_a_second_role_is_not_separate(world: World) -> None:
    vendor = world.store.make("both", organisation="Otro", roles=["vendor", "judge_operator"], now=world.clock())
    register_key(world.ledger(), world.custodian, vendor, now=world.clock())
    assert not facts(world)["vendor_separate"]


def test_a_self_check_and_a_demo_are_level_0(world: World) -> None:
    level = level_of(facts(world))
    terms = other_terms(world, CONTRACT, contract__purpose="self_check")
    assert capped(level, terms, world.ledger().view).level == 0
    assert capped(level, world.terms, world.ledger().view).level == 1

    class Demo:
        demo = True

    assert capped(level, world.terms, Demo()).level == 0


def test_witnesses_oppose_only_if_they_are_not_keepers(world: World) -> None:
    witnesses = [
        {"name": "w1", "role": "buyer", "vkey": None, "ssh": "ssh-ed25519 x"},
        {"name": "w2", "role": "auditor", "vkey": None, "ssh": "ssh-ed25519 x"},
    ]
    terms = other_terms(world, CONTRACT, ledger__witnesses=witnesses)
    signed = {"start": ["w1", "w2"], "end": ["w1"]}
    assert facts(world, terms, witnesses=signed)["opposed_witness"]
    assert not facts(world, terms, witnesses={"start": ["w2"], "end": ["w2"]})["opposed_witness"]
    assert not facts(world, terms, witnesses={"start": ["w1"]})["opposed_witness"]
