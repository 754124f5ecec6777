"""The ledger on disk: torn lines, killed writers, two writers, rewritten files, full disks, checkpoints."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slaverify.custody import Expected, read_ledger, split_lines, verify_ledger
from slaverify.custody.append import (
    LedgerFile,
    Tally,
    abort_run,
    covering,
    end_run,
    open_run,
    read_checkpoints,
    record_batch,
    record_draw,
    record_exposure,
    record_incident,
    record_report,
    record_scored,
    register_contract,
    register_key,
    resume_run,
    revoke_key,
    start_run,
    void_item,
)
from slaverify.custody.ledger_file import Draft
from slaverify.errors import CustodyError
from tests.custody.world import CONTRACT, Authority, World, other_terms, run_start


def test_a_torn_last_line_is_refused_by_the_reader_and_cut_by_the_next_append(world: World) -> None:
    path = world.bank_folder / "ledger.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"actor":"d8162aa0fe0c')
    with pytest.raises(CustodyError, match="SLV-K020"):
        split_lines(path.read_bytes())
    ledger = world.ledger()
    assert ledger.view.size == 3
    record_incident(ledger, world.custodian, what="corte de luz")
    assert path.read_bytes().startswith(whole)
    assert read_ledger(path.read_bytes()).size == 4


def test_steps_may_be_walked_again(world: World) -> None:
    ledger, index = world.ledger(), world.bank().index
    register_contract(ledger, world.custodian, world.terms)
    register_contract(ledger, world.custodian, world.terms)
    register_key(ledger, world.custodian, world.auditor, now=world.clock())
    run = open_run(ledger, world.auditor, world.terms).number
    drawn = record_draw(ledger, world.auditor, index, world.terms, run)
    assert record_draw(world.ledger(), world.auditor, index, world.terms, run) == drawn
    assert start_run(ledger, world.auditor, drawn, run_start()) == start_run(ledger, world.auditor, drawn, run_start())
    with pytest.raises(CustodyError, match="SLV-K040") as caught:
        start_run(ledger, world.auditor, drawn, run_start("bb" * 32))
    assert caught.value.exit_code == 5
    batch = {"number": 1, "first": 0, "last": 1, "items": [3, 1], "root": b"\x01" * 32}
    for _ in range(2):
        assert record_batch(ledger, world.auditor, CONTRACT, run, **batch).data["items"] == [1, 3]
    resume_run(ledger, world.auditor, CONTRACT, run, Tally("energía"))
    resume_run(ledger, world.auditor, CONTRACT, run, Tally("energía"))
    for _ in range(2):
        end_run(ledger, world.auditor, CONTRACT, run, Tally(outcomes={"answered": 2}))
        record_scored(ledger, world.auditor, CONTRACT, run, "5c" * 32)
        record_report(
            ledger,
            world.auditor,
            CONTRACT,
            run,
            report_id="r-1",
            signed_digest="sha256:" + "00" * 32,
            bundle_digest="sha256:" + "00" * 32,
            history_sha256=None,
            size=ledger.view.size if _ == 0 else 13,
            language="es",
        )
    kinds = [entry.type for entry in ledger.view]
    assert kinds.count("run_resumed") == 2
    once = ("contract_registered", "key_added", "draw", "run_started", "batch", "run_ended", "scored")
    assert all(kinds.count(kind) == 1 for kind in once), kinds
    verify_ledger(
        split_lines((world.bank_folder / "ledger.jsonl").read_bytes()),
        world.terms.trust,
        Expected(ledger.view.size, ledger.root),
    )


def test_voided_items_exposures_and_revocations(world: World) -> None:
    ledger, index = world.ledger(), world.bank().index
    register_contract(ledger, world.custodian, world.terms)
    run = open_run(ledger, world.auditor, world.terms).number
    drawn = record_draw(ledger, world.auditor, index, world.terms, run)
    spare = drawn.selection.reserve["direct"][0]
    void_item(
        ledger, world.auditor, drawn, drawn.selection.sample["direct"][0], reason="mal redactado", substitute=spare
    )
    record_exposure(ledger, world.auditor, party="Juez SA", role="judge_operator", items=[1, 2], channel="api")
    abort_run(ledger, world.auditor, CONTRACT, run, Tally("prueba"))
    revoke_key(ledger, world.custodian, world.auditor.key_id, since=world.clock(), reason="cambio de equipo")
    with pytest.raises(CustodyError, match="SLV-K023"):
        open_run(ledger, world.auditor, world.terms)


def test_what_the_rules_refuse_is_not_written(world: World) -> None:
    ledger = world.ledger()
    before = (world.bank_folder / "ledger.jsonl").read_bytes()
    with pytest.raises(CustodyError, match="SLV-K040") as caught:
        open_run(ledger, world.auditor, world.terms)
    assert caught.value.exit_code == 5
    with pytest.raises(CustodyError, match="SLV-K023"):
        ledger.append("incident", {"what": "x"}, [world.auditor])
    assert (world.bank_folder / "ledger.jsonl").read_bytes() == before


def test_budget_and_open_run_end_in_exit_5_when_acting(world: World) -> None:
    ledger = world.ledger()
    register_contract(ledger, world.custodian, world.terms)
    open_run(ledger, world.auditor, world.terms)
    with pytest.raises(CustodyError, match="SLV-K045") as caught:
        open_run(ledger, world.auditor, world.terms)
    assert caught.value.exit_code == 5
    for number in (1, 2):
        abort_run(ledger, world.auditor, CONTRACT, number, Tally("x"))
        if number == 1:
            open_run(ledger, world.auditor, world.terms)
    with pytest.raises(CustodyError, match="SLV-K041") as caught:
        open_run(ledger, world.auditor, world.terms)
    assert caught.value.exit_code == 5


def test_a_contract_of_another_ledger_or_with_overlapping_roles(world: World) -> None:
    ledger = world.ledger()
    for code, changes in {
        "SLV-K034": {"ledger__origin": "archivo-neutral/ledger/00000000"},
        "SLV-K010": {"evaluation_set__bank_digest": "sha256:" + "00" * 32},
        "SLV-K005": {"parties__vendor__name": "AUDITORA  Ltda."},
    }.items():
        with pytest.raises(CustodyError, match=code):
            register_contract(ledger, world.custodian, other_terms(world, CONTRACT, **changes))
    changes = {"parties__vendor__name": "Auditora Ltda.", "contract__purpose": "self_check"}
    register_contract(ledger, world.custodian, other_terms(world, CONTRACT, **changes))


def test_a_clock_that_goes_back_is_refused(world: World) -> None:
    from datetime import timedelta

    ledger = world.ledger()
    world.clock.now -= timedelta(hours=1)
    with pytest.raises(CustodyError, match="SLV-K021"):
        record_incident(ledger, world.custodian, what="x")


def test_two_open_files_see_each_other(world: World) -> None:
    one, other = world.ledger(), world.ledger()
    register_contract(one, world.custodian, world.terms)
    assert open_run(other, world.auditor, world.terms).number == 1
    with pytest.raises(CustodyError, match="SLV-K045"):
        open_run(one, world.auditor, world.terms)
    assert one.view.size == other.view.size == 5
    assert one.root == other.root == other.view.root


@pytest.mark.parametrize("how", ["shortened", "replaced"])
def test_a_ledger_that_changed_behind_our_back(world: World, how: str) -> None:
    path = world.bank_folder / "ledger.jsonl"
    early = path.read_bytes()
    ledger = world.ledger()
    record_incident(ledger, world.custodian, what="uno")
    path.write_bytes(early)
    if how == "replaced":
        record_incident(world.ledger(), world.custodian, what="otra historia")
    with pytest.raises(CustodyError, match="SLV-K026"):
        record_incident(ledger, world.custodian, what="dos")


def test_a_full_disk_leaves_the_ledger_as_it_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = world.ledger()
    before = (world.bank_folder / "ledger.jsonl").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CustodyError, match="SLV-K072") as caught:
            record_incident(ledger, world.custodian, what="x")
    assert caught.value.exit_code == 6
    assert (world.bank_folder / "ledger.jsonl").read_bytes() == before
    record_incident(ledger, world.custodian, what="x")
    assert ledger.view.size == 4


def test_checkpoints_are_kept_and_completed(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    first = ledger.checkpoint(world.custodian)
    assert first.token is None and first.size == 3
    second = ledger.checkpoint(world.custodian, authority)
    assert second.data == first.data and second.token is not None
    assert ledger.checkpoint(world.custodian, authority).token == second.token
    assert authority.asked == 1
    record_incident(ledger, world.custodian, what="x")
    ledger.checkpoint(world.custodian)
    assert [one.size for one in read_checkpoints(world.bank_folder)] == [3, 4]
    assert covering(world.bank_folder, 2).size == 3
    assert covering(world.bank_folder, 3).size == 4
    assert covering(world.bank_folder, 3, token=True) is None
    assert covering(world.bank_folder, 4) is None
    with pytest.raises(CustodyError, match="SLV-K071"):
        ledger.checkpoint(world.auditor)
    names = sorted(path.name for path in (world.bank_folder / "checkpoints").iterdir())
    assert names == ["00000003.checkpoint", "00000003.checkpoint.tsr", "00000004.checkpoint"]


def test_a_foreign_checkpoint_in_the_folder_is_not_taken_for_ours(world: World) -> None:
    ledger = world.ledger()
    other = world.ledger()
    record_incident(ledger, world.custodian, what="una historia")
    forged = ledger.checkpoint(world.custodian)
    path = world.bank_folder / "ledger.jsonl"
    path.write_bytes(b"".join(entry.line + b"\n" for entry in other.view))
    record_incident(other, world.custodian, what="otra historia")
    assert forged.path.is_file()
    with pytest.raises(CustodyError, match="SLV-K026"):
        other.checkpoint(world.custodian)


def _open_in_another_process(folder: str, keys: str, results: multiprocessing.Queue, gate: object) -> None:
    from datetime import UTC, datetime

    from slaverify.custody import terms_of
    from slaverify.custody.keys import KeyStore
    from slaverify.custody.vault import load_bank
    from tests.custody.world import contract_tree

    def clock() -> datetime:
        return datetime.now(UTC)

    auditor = KeyStore.open(Path(keys)).get("auditor")
    bank = load_bank(Path(folder))
    view = LedgerFile.open(Path(folder), clock).view

    class Sealed:
        bank_digest = bank.digest
        ledger_origin, ledger_vkey = view.origin, view.log_vkey

    terms = terms_of(contract_tree(Sealed), CONTRACT)
    ledger = LedgerFile.open(Path(folder), clock, trust=terms.trust)
    gate.wait()
    try:
        results.put(open_run(ledger, auditor, terms).number)
    except CustodyError as error:
        results.put(error.code)


def test_two_processes_opening_a_run_at_once(world: World) -> None:
    register_contract(world.ledger(), world.custodian, world.terms)
    context = multiprocessing.get_context("spawn")
    results, gate = context.Queue(), context.Barrier(2)
    arguments = (str(world.bank_folder), str(world.keys), results, gate)
    workers = [context.Process(target=_open_in_another_process, args=arguments) for _ in range(2)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(60)
    assert sorted(found, key=str) == [1, "SLV-K045"]
    assert read_ledger((world.bank_folder / "ledger.jsonl").read_bytes()).size == 5


_WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from slaverify.custody.append import LedgerFile, record_incident
from slaverify.custody.keys import KeyStore

folder, keys = Path(sys.argv[1]), Path(sys.argv[2])
custodian = KeyStore.open(keys).get("custodian")
ledger = LedgerFile.open(folder, lambda: datetime.now(UTC))
number = ledger.view.size
while True:
    number += 1
    record_incident(ledger, custodian, what=f"entry {number} " + "x" * 3000)
    print(number, flush=True)
"""


def test_kill_9_during_append_leaves_a_ledger_that_opens_and_keeps_what_it_told(world: World) -> None:
    path = world.bank_folder / "ledger.jsonl"
    for delay in (0.0, 0.013, 0.031):
        command = [sys.executable, "-c", _WRITER, str(world.bank_folder), str(world.keys)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        told = [line for line in writer.stdout.read().splitlines() if line.isdigit()]
        writer.wait()
        size = LedgerFile.open(world.bank_folder, world.clock).view.size
        assert size >= max(map(int, told), default=0)
    from datetime import UTC, datetime

    ledger = LedgerFile.open(world.bank_folder, lambda: datetime.now(UTC))
    record_incident(ledger, world.custodian, what="after")
    assert read_ledger(path.read_bytes()).size == ledger.view.size


@pytest.mark.nightly
def test_an_append_costs_the_same_in_a_long_ledger(world: World) -> None:
    """10 000 entries: verified whole within 15 s of one core; four acts after them cost less than 20 lines did."""
    from datetime import UTC, datetime

    from tests.custody.forge import AUDITOR, LOG, Forge
    from tests.custody.forge import CONTRACT as ours

    forge = Forge().started()
    for number in range(1, 10_001 - len(forge.lines)):
        forge.batch(number, items=[number % 12])
    folder = world.folder / "long"
    folder.mkdir()
    (folder / "ledger.jsonl").write_bytes(b"".join(line + b"\n" for line in forge.lines))
    begin = time.process_time()
    ledger = LedgerFile.open(folder, lambda: datetime(2027, 1, 1, tzinfo=UTC), trust=forge.trust)
    opened = time.process_time() - begin
    assert ledger.view.size == 10_000
    assert opened <= 15
    begin = time.process_time()
    for number in range(3):
        data = {"contract_digest": ours, "run": 1, "reason": str(number), "sent": [], "in_flight": []}
        ledger.transact(lambda view, data=data: Draft("run_resumed", data, (AUDITOR,)))
    ledger.checkpoint(LOG)
    assert time.process_time() - begin < max(0.2, 20 * opened / 10_000)
    assert ledger.root == ledger.view.root
