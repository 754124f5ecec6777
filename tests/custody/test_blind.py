"""Blind starts: what may happen while the start is closed, what its opening must fit, and what a permit asks for."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import timedelta

import pytest

from slaverify.canonical import loads_object
from slaverify.custody import (
    BlindSecret,
    Draw,
    Terms,
    authorise,
    check_blinds_opened,
    draw_run,
    exposure_json,
    longest_gap,
    read_ledger,
)
from slaverify.custody.append import (
    LedgerFile,
    Tally,
    end_run,
    open_run,
    record_batch,
    record_draw,
    register_contract,
    start_data,
)
from slaverify.custody.blind import blind_commitment, blind_content
from slaverify.custody.blinding import blind_start, heartbeat, open_blinds, standing_start
from slaverify.errors import CustodyError
from tests.custody.world import CONTRACT, Authority, World, run_start

BATCH = {"number": 1, "first": 0, "last": 0, "root": bytes(32)}


def blind_terms(world: World) -> Terms:
    world.terms = replace(world.terms, blind=True, heartbeat_hours=24)
    return world.terms


def hidden_run(world: World) -> tuple[LedgerFile, tuple]:
    """A run that was drawn and started blind, a day after a heartbeat."""
    ledger, terms = world.ledger(), blind_terms(world)
    register_contract(ledger, world.custodian, terms)
    heartbeat(ledger, world.auditor, world.keys)
    number = open_run(ledger, world.auditor, terms).number
    drawn = record_draw(ledger, world.auditor, world.bank().index, terms, number)
    world.clock.now += timedelta(hours=24)
    data = start_data(drawn, run_start())
    found = blind_start(ledger, world.auditor, terms, 1, data, keys=world.keys, now=world.clock())
    return ledger, found


def test_a_start_is_told_only_when_it_is_opened(world: World) -> None:
    ledger, (entry, secret) = hidden_run(world)
    record = ledger.view.run(CONTRACT, 1)
    assert entry.type == "blind" and record is not None and record.started is None
    assert set(entry.data) == {"commitment"} and secret.content not in ledger.view.file_bytes()
    # until the run has ended nobody may take its sample as unused
    states = loads_object(exposure_json(world.bank().index, ledger.view, world.terms))["states"]
    assert states["sent"] == 8
    items = [0, 1]
    record_batch(ledger, world.auditor, CONTRACT, 1, items=items, **BATCH)
    with pytest.raises(CustodyError, match="SLV-K040"):
        end_run(ledger, world.auditor, CONTRACT, 1, Tally())
    with pytest.raises(CustodyError, match="SLV-K042"):
        check_blinds_opened(ledger.view)
    assert len(open_blinds(ledger, world.auditor, world.keys)) == 2
    end_run(ledger, world.auditor, CONTRACT, 1, Tally())
    view = read_ledger(ledger.view.file_bytes())
    check_blinds_opened(view)
    started = view.run(CONTRACT, 1).started
    assert started is not None and (started.seq, started.time) == (entry.seq, entry.time)
    assert longest_gap(view, started.seq) >= timedelta(hours=24)
    assert open_blinds(ledger, world.auditor, world.keys) == []


def test_a_permit_needs_the_start_under_the_anchored_checkpoint(world: World) -> None:
    ledger, hidden = hidden_run(world)
    authority = Authority(world.clock)
    evidence = ledger.checkpoint(world.custodian, authority).evidence
    options = {"now": world.clock(), "timestamps": authority}
    permit = authorise(ledger.view, world.terms, 1, evidence, hidden=hidden, **options)
    assert permit.started_seq == hidden[0].seq
    for wrong in (
        None,
        (hidden[0], BlindSecret(bytes(32), hidden[1].content)),
        (ledger.view.find_all("blind")[0], standing_secret(world, ledger)),
    ):
        with pytest.raises(CustodyError, match=r"SLV-K04[03]"):
            authorise(ledger.view, world.terms, 1, evidence, hidden=wrong, **options)


def standing_secret(world: World, ledger: LedgerFile) -> BlindSecret:
    tree = loads_object(
        (world.keys / "blinds" / f"{ledger.view.find_all('blind')[0].data['commitment']}.json").read_bytes()
    )
    return BlindSecret(bytes.fromhex(str(tree["salt"])), str(tree["content"]).encode())


def test_a_start_waits_for_the_place_of_a_heartbeat(world: World) -> None:
    ledger, terms = world.ledger(), blind_terms(world)
    register_contract(ledger, world.custodian, terms)
    number = open_run(ledger, world.auditor, terms).number
    drawn = record_draw(ledger, world.auditor, world.bank().index, terms, number)
    data, start = start_data(drawn, run_start()), {"keys": world.keys}
    with pytest.raises(CustodyError, match="SLV-K040") as caught:
        blind_start(ledger, world.auditor, terms, 1, data, now=world.clock(), **start)
    # a first heartbeat was made: a start with none before it would be seen
    assert caught.value.exit_code == 6 and len(ledger.view.find_all("blind")) == 1
    world.clock.now += timedelta(hours=23)
    with pytest.raises(CustodyError, match="SLV-K040"):
        blind_start(ledger, world.auditor, terms, 1, data, now=world.clock(), **start)
    assert len(ledger.view.find_all("blind")) == 1
    world.clock.now += timedelta(hours=1)
    entry, _ = blind_start(ledger, world.auditor, terms, 1, data, now=world.clock(), **start)
    # walked again, it stands
    assert blind_start(ledger, world.auditor, terms, 1, data, now=world.clock(), **start)[0] == entry
    assert standing_start(ledger, terms, 1, world.keys)[0] == entry


def opened_as(world: World, content: bytes, code: str, before: bool = False) -> None:
    """Append a blind entry of this content and open it: the ledger refuses with `code`."""
    ledger, terms = world.ledger(), blind_terms(world)
    register_contract(ledger, world.custodian, terms)
    data = {"commitment": blind_commitment(bytes(32), content).hex()}
    if before:
        seq = ledger.append("blind", data, [world.auditor]).seq
    number = open_run(ledger, world.auditor, terms).number
    record_draw(ledger, world.auditor, world.bank().index, terms, number)
    if not before:
        seq = ledger.append("blind", data, [world.auditor]).seq
    size = ledger.view.size
    with pytest.raises(CustodyError, match=code):
        ledger.append("unblind", {"seq": seq, "salt": "00" * 32, "content": content.decode()}, [world.auditor])
    assert ledger.view.size == size


def start_of_run(world: World, **changes: object) -> dict:
    drawn = record_draw_elsewhere(world)
    return {**start_data(drawn, run_start()), **changes}


def record_draw_elsewhere(world: World) -> Draw:
    """The draw that run 1 of the contract will have: a function of bank, contract and run alone."""
    twin = world.folder / "copy"
    shutil.copytree(world.bank_folder, twin)
    ledger = LedgerFile.open(twin, world.clock, trust=world.terms.trust)
    register_contract(ledger, world.custodian, world.terms)
    open_run(ledger, world.auditor, world.terms)
    return draw_run(world.bank().index, ledger.view, world.terms, 1)


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"run": 2}, "SLV-K040"), ({"sample_sha256": "ab" * 32}, "SLV-K053"), ({"plan_sha256": 7}, "SLV-K043")],
)
def test_an_opened_start_must_be_that_of_the_run(world: World, changes: dict, code: str) -> None:
    opened_as(world, blind_content("run_started", start_of_run(world, **changes)), code)


def test_a_start_before_its_draw_is_none(world: World) -> None:
    opened_as(world, blind_content("run_started", start_of_run(world)), "SLV-K052", before=True)


@pytest.mark.parametrize("content", [b"{}", b'{"data":{},"type":"run_ended"}', b'{"data":{"x":1},"type":"heartbeat"}'])
def test_what_is_neither_heartbeat_nor_start_is_refused(world: World, content: bytes) -> None:
    opened_as(world, content, "SLV-K043")


def test_a_batch_before_the_blind_start_denies_it(world: World) -> None:
    ledger, terms = world.ledger(), blind_terms(world)
    register_contract(ledger, world.custodian, terms)
    number = open_run(ledger, world.auditor, terms).number
    drawn = record_draw(ledger, world.auditor, world.bank().index, terms, number)
    with pytest.raises(CustodyError, match="SLV-K040"):
        record_batch(ledger, world.auditor, CONTRACT, 1, items=[0], **BATCH)
    heartbeat(ledger, world.auditor, world.keys)
    record_batch(ledger, world.auditor, CONTRACT, 1, items=[0], **BATCH)
    world.clock.now += timedelta(hours=24)
    data = start_data(drawn, run_start())
    blind_start(ledger, world.auditor, terms, 1, data, keys=world.keys, now=world.clock())
    with pytest.raises(CustodyError, match="SLV-K040"):
        open_blinds(ledger, world.auditor, world.keys)


def test_one_entry_is_opened_once_and_one_ledger_serves_one_contract(world: World) -> None:
    ledger, terms = world.ledger(), blind_terms(world)
    register_contract(ledger, world.custodian, terms)
    heartbeat(ledger, world.auditor, world.keys)
    (opened,) = open_blinds(ledger, world.auditor, world.keys)
    with pytest.raises(CustodyError, match="SLV-K043"):
        ledger.append("unblind", {**opened.data, "again": 1}, [world.auditor])
    second = replace(terms, contract_digest="sha256:" + "d1" * 32)
    with pytest.raises(CustodyError, match="SLV-K042"):
        register_contract(ledger, world.custodian, second)


def test_a_ledger_of_two_contracts_takes_no_blind_entry(world: World) -> None:
    ledger, terms = world.ledger(), blind_terms(world)
    register_contract(ledger, world.custodian, terms)
    register_contract(ledger, world.custodian, replace(terms, contract_digest="sha256:" + "d1" * 32))
    with pytest.raises(CustodyError, match="SLV-K042"):
        heartbeat(ledger, world.auditor, world.keys)


def test_what_opens_an_entry_is_private_and_missing_it_is_said(world: World) -> None:
    ledger, _ = hidden_run(world)
    kept = sorted((world.keys / "blinds").iterdir())
    assert len(kept) == 2 and all(path.stat().st_mode & 0o077 == 0 for path in kept)
    kept[0].unlink()
    with pytest.raises(CustodyError, match="SLV-K071"):
        open_blinds(ledger, world.auditor, world.keys)
