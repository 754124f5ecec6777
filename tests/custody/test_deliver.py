"""Deliveries: at their time, to the auditor alone, checked item by item."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.canonical import jcs
from slaverify.custody import Draw, Part
from slaverify.custody.agefile import decrypted, encrypt
from slaverify.custody.append import (
    Tally,
    abort_run,
    end_run,
    open_run,
    record_draw,
    register_contract,
    start_run,
)
from slaverify.custody.deliver import Delivery, deliver, open_delivery
from slaverify.custody.package import MAX_PACKAGE
from slaverify.errors import CustodyError
from tests.custody.world import CONTRACT, World, other_terms, run_start


def drawn(world: World, terms: object = None) -> Draw:
    ledger = world.ledger()
    register_contract(ledger, world.custodian, terms or world.terms)
    run = open_run(ledger, world.auditor, terms or world.terms).number
    return record_draw(ledger, world.auditor, world.bank().index, terms or world.terms, run)


def sent(world: World, draw: Draw, part: Part = Part.QUERY, terms: object = None) -> Delivery:
    return deliver(
        world.ledger(),
        world.bank(),
        terms or world.terms,
        draw,
        part,
        custodian=world.custodian,
        auditor=world.auditor,
        private=world.private,
    )


def received(world: World, path: Path, draw: Draw, part: Part = Part.QUERY) -> tuple:
    return open_delivery(path, world.auditor.age_identity, world.bank(), draw, part, world.private)


def test_a_delivery_holds_sample_and_reserve_alone(world: World) -> None:
    draw = drawn(world)
    delivery = sent(world, draw)
    assert delivery.path.name == "run-0001.query.age"
    items = received(world, delivery.path, draw)
    assert {one.id for one in items} == set(draw.selection.all_ids)
    assert len(items) == 10 and [one.i for one in items] == sorted(one.i for one in items)
    assert all(set(one.content) == {"schema", "locale", "query"} for one in items)
    assert [key for key, _ in delivery.entry.sigs] == [world.custodian.key_id, world.auditor.key_id]
    assert list(world.private.iterdir()) == []
    with pytest.raises(CustodyError, match="SLV-K015"):
        open_delivery(delivery.path, world.custodian.age_identity, world.bank(), draw, Part.QUERY, world.private)


def test_delivering_again_changes_nothing_unless_the_file_is_gone(world: World) -> None:
    draw = drawn(world)
    first = sent(world, draw)
    assert sent(world, draw) == first
    first.path.unlink()
    second = sent(world, draw)
    assert second.entry.seq == first.entry.seq + 1
    assert len(received(world, second.path, draw)) == 10


def test_references_wait_for_the_end_of_the_run(world: World) -> None:
    draw, ledger = drawn(world), world.ledger()
    with pytest.raises(CustodyError, match="SLV-K052"):
        sent(world, draw, Part.REFERENCE)
    start_run(ledger, world.auditor, draw, run_start())
    with pytest.raises(CustodyError, match="SLV-K052"):
        sent(world, draw, Part.REFERENCE)
    end_run(ledger, world.auditor, CONTRACT, 1, Tally())
    delivery = sent(world, draw, Part.REFERENCE)
    assert "reference" in received(world, delivery.path, draw, Part.REFERENCE)[0].content


def test_references_of_an_aborted_run_stay_shut(world: World) -> None:
    draw = drawn(world)
    abort_run(world.ledger(), world.auditor, CONTRACT, 1, Tally("x"))
    with pytest.raises(CustodyError, match="SLV-K052"):
        sent(world, draw, Part.REFERENCE)


def test_a_sequential_design_gets_its_references_at_the_start(world: World) -> None:
    terms = other_terms(world, CONTRACT, evaluation_set__sample__release="at_start")
    draw = drawn(world, terms)
    assert sent(world, draw, Part.REFERENCE, terms).path.is_file()


def test_two_contracts_do_not_overwrite_each_others_deliveries(world: World) -> None:
    digest = "sha256:" + "d0" * 32
    terms = other_terms(world, digest)
    one, other = drawn(world), drawn(world, terms)
    first, second = sent(world, one), sent(world, other, terms=terms)
    assert (first.path.name, second.path.name) == ("run-0001.query.age", "run-0001.d0d0d0d0d0d0.query.age")
    assert len(received(world, first.path, one)) == len(received(world, second.path, other)) == 10
    assert sent(world, other, terms=terms) == second


def retold(world: World, path: Path, change: Callable[[list[dict]], list[dict]]) -> None:
    """Encrypt a changed delivery to the auditor: age does not say who encrypted."""
    with decrypted(path, world.auditor.age_identity, world.private, MAX_PACKAGE) as (clear, _):
        lines = [json.loads(line) for line in clear]
    with path.open("wb") as stream:
        encrypt([jcs(line) + b"\n" for line in change(lines)], stream, [world.auditor.age_recipient], MAX_PACKAGE)


def content_of_another(lines: list[dict]) -> list[dict]:
    # Items of the made bank may say the same: the other one has to say something else.
    other = next(line for line in lines[2:] if line["content"] != lines[1]["content"])
    lines[1]["content"], other["content"] = other["content"], lines[1]["content"]
    return lines


def edited(key: str, value: object, place: int = 1) -> Callable[[list[dict]], list[dict]]:
    def change(lines: list[dict]) -> list[dict]:
        lines[place][key] = value
        return lines

    return change


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("SLV-K016", content_of_another),
        ("SLV-K016", edited("salt", "00" * 32)),
        ("SLV-K016", edited("note", "x")),
        ("SLV-K016", edited("type", "x", 0)),
        ("SLV-K054", edited("stratum", "other")),
        ("SLV-K054", edited("id", "it-000000000000")),
        ("SLV-K054", lambda lines: lines[:-1]),
        ("SLV-K054", lambda lines: [*lines, lines[-1]]),
        ("SLV-K054", lambda lines: [lines[0], *lines[:0:-1]]),
        ("SLV-K010", edited("bank_digest", "sha256:" + "00" * 32, 0)),
        ("SLV-K053", edited("run", 2, 0)),
        ("SLV-K053", edited("sample_sha256", "00" * 32, 0)),
        ("SLV-K053", edited("part", "reference", 0)),
    ],
)
def test_deliveries_that_are_refused(world: World, code: str, change: Callable[[list[dict]], list[dict]]) -> None:
    draw = drawn(world)
    path = sent(world, draw).path
    retold(world, path, change)
    with pytest.raises(CustodyError, match=code):
        received(world, path, draw)


def test_a_delivery_of_another_draw(world: World) -> None:
    draw = drawn(world)
    path = sent(world, draw).path
    other = replace(draw, selection=replace(draw.selection, reserve={"direct": (), "trap": ()}))
    with pytest.raises(CustodyError, match="SLV-K054"):
        received(world, path, other)


def test_a_truncated_delivery(world: World) -> None:
    draw = drawn(world)
    path = sent(world, draw).path
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CustodyError, match="SLV-K015"):
        received(world, path, draw)


def test_a_delivery_before_the_draw(world: World) -> None:
    draw = drawn(world)
    with pytest.raises(CustodyError, match="SLV-K052"):
        sent(world, replace(draw, run=2))


@pytest.mark.skipif(shutil.which("age") is None, reason="age is not installed: its check is not made here")
def test_age_opens_a_delivery(world: World) -> None:
    path = sent(world, drawn(world)).path
    command = ["age", "-d", "-i", world.store.identity_path("auditor"), path]
    lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
    assert json.loads(lines[0])["type"] == "slaverify/delivery"
    assert all(jcs(json.loads(line)) == line for line in lines)
