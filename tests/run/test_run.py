"""One run after another: what leaves, what is kept, what stops it, how it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from slaverify.canonical import jcs, loads_jsonl
from slaverify.contract.words import Attribution, Outcome
from slaverify.custody import RunPermit
from slaverify.engine import Fault
from slaverify.engine.wire import HttpWire, Secrets
from slaverify.errors import EndpointError
from slaverify.run import RunRules, Span, derive_outcomes, recorded_run
from slaverify.run.attribution import tries
from slaverify.run.journal import Journal
from slaverify.run.runner import RunState, close_run, export_run, journal_run, probe_endpoint, run_exchanges
from tests.engine.answering_server import AnsweringServer, Reply, answer
from tests.engine.endpoints import endpoint_spec
from tests.engine.raw_server import ControlServer
from tests.run.world import World, make_permit, now

SECRET = "sk-canary-0123456789"


def counts(mapping) -> dict[Outcome, int]:
    return {outcome: count for outcome, count in mapping.items() if count}


def every_file(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_nothing_that_names_the_audit_leaves(tmp_path):
    with AnsweringServer(lambda seen: answer("20 días")) as server:
        spec = endpoint_spec(
            server.url, request={"q": "${query}", "n": "${nonce}", "r": "${request_id}"}, call={"concurrency": 3}
        )
        world = World(tmp_path / "r", spec, count=20, ids=[f"CANARY-ITEM-{n}" for n in range(20)], repetitions=2)
        world.run()
    sent = b"".join(seen.raw for seen in server.seen)
    header = world.header
    words = [header.run_id, header.run_id[:12], header.bank_digest[7:], header.contract_digest[7:], header.plan_sha256]
    with world.open() as journal:
        words += [journal.nonce("run/exchanges.jsonl")]
        words += [row[0] for row in journal.connection.execute("SELECT exchange_id FROM exchange")]
    for word in [*words, "CANARY", "direct", "slaverify", "repetition", "position", "traceparent"]:
        assert word.encode() not in sent, word
    nonces = [value for seen in server.seen for value in (seen.body["n"], seen.body["r"])]
    assert len(set(nonces)) == len(nonces) == 80
    assert all(len(value) == 32 for value in nonces)


def test_all_attempts_send_the_same_bytes_also_after_a_resume(tmp_path):
    def behaviour(seen):
        return Reply({"error": "x"}, status=503) if seen.again < 2 else answer("20 días")

    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(
            server.url, request={"q": "${query}", "n": "${nonce}"}, idempotency_header="Idempotency-Key"
        )
        World(tmp_path / "r", spec, count=3).run()
    keys: dict[str, set[str]] = {}
    for seen in server.seen:
        head = seen.raw.partition(b"\r\n\r\n")[0].decode().lower()
        key = next(line for line in head.split("\r\n") if line.startswith("idempotency-key"))
        keys.setdefault(json.dumps(seen.body), set()).add(key)
    assert [len(found) for found in keys.values()] == [1, 1, 1]
    assert len(server.seen) == 9


@pytest.mark.parametrize("echoed", [SECRET, "c2stY2FuYXJ5LTAxMjM0NTY3ODk="])
def test_a_secret_is_in_no_file_also_when_the_vendor_echoes_it(tmp_path, capfd, echoed):
    def behaviour(seen):
        reply = answer(f"su clave es {echoed}")
        reply.headers = (("Server", f"x {echoed}"),)
        return reply if "0" in seen.body["q"] else Reply({"error": {"code": echoed}}, status=500)

    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(server.url, auth={"secret": "env:KEY"})
        world = World(tmp_path / "r", spec, count=2, secrets=Secrets({"env:KEY": SECRET}))
        world.run()
    assert SECRET.encode() in server.seen[0].raw
    assert echoed.encode() not in every_file(tmp_path)
    assert SECRET.encode() not in every_file(tmp_path)
    assert SECRET not in "".join(capfd.readouterr())
    derived = world.derived()
    assert derived.mismatches == ()
    answered = next(one for one in derived.exchanges if one.outcome is Outcome.ANSWERED)
    assert answered.answer.text == "su clave es ***"
    assert "secret_echo" in answered.flags
    for line in loads_jsonl(world.file("exchanges.jsonl"))[1:]:
        import base64

        assert echoed.encode() not in base64.b64decode(line["response"])


def test_the_permit_must_be_of_this_run(tmp_path):
    world = World(tmp_path / "r", endpoint_spec(), count=2)
    other = World(tmp_path / "o", endpoint_spec(), count=3)
    early = replace_permit(make_permit(world.plan), not_before=now() + timedelta(hours=1))
    for permit in (None, object(), make_permit(other.plan), early):
        with pytest.raises(EndpointError) as caught:
            world.run(permit=permit)
        assert (caught.value.code, caught.value.exit_code) == ("SLV-N034", 5)
    with pytest.raises(TypeError):
        RunPermit("", 1, "", "", 0, 0, "", (), None, now(), grant=None)


def replace_permit(permit: RunPermit, **changes: object) -> RunPermit:
    for name, value in changes.items():
        object.__setattr__(permit, name, value)
    return permit


def test_a_second_process_is_refused(tmp_path):
    world = World(tmp_path / "r", endpoint_spec(), count=2)
    with world.open():
        script = (
            "import sys\nfrom pathlib import Path\nfrom slaverify.run.journal import Journal\n"
            "from slaverify.errors import EndpointError\n"
            "try:\n    Journal.open(Path(sys.argv[1]))\nexcept EndpointError as e:\n    print(e.code, e.exit_code)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(world.path)], capture_output=True, text=True, check=True
        )
    assert done.stdout.split() == ["SLV-N031", "2"]
    assert world.path.stat().st_mode & 0o777 == 0o600
    assert world.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("column", ["contract_digest", "bank_digest", "sample_sha256", "plan_sha256", "method_digest"])
def test_a_resume_with_other_digests_is_refused(tmp_path, column):
    world = World(tmp_path / "r", endpoint_spec(), count=2)
    world.open().close()
    with pytest.raises(EndpointError) as caught:
        Journal.open(world.path, expected=replace(world.header, **{column: "x"}))
    assert (caught.value.code, caught.value.exit_code) == ("SLV-N030", 5)


def test_a_damaged_journal_is_refused_and_not_repaired(tmp_path):
    world = World(tmp_path / "r", endpoint_spec(), count=200)
    world.open().close()
    data = bytearray(world.path.read_bytes())
    for place in range(8192, len(data), 997):
        data[place] ^= 0xFF
    world.path.write_bytes(data)
    with pytest.raises(EndpointError) as caught:
        world.open()
    assert caught.value.exit_code == 5
    assert world.path.read_bytes() == data
    world.path.write_bytes(b"not a database")
    with pytest.raises(EndpointError):
        world.open()


def test_an_outcome_that_does_not_follow_from_the_bytes_is_refused_at_export(tmp_path):
    with AnsweringServer(lambda seen: answer("x")) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=3)
        world.run()
    with sqlite3.connect(world.path) as connection:
        connection.execute("UPDATE exchange SET outcome = 'vendor_failure' WHERE position = 1")
    connection.close()
    with world.open() as journal, pytest.raises(EndpointError) as caught:
        export_run(journal, world.spec, world.rules, world.plan, world.folder)
    assert caught.value.exit_code == 5


def test_tables_and_settings_are_those_of_the_specification(tmp_path):
    world = World(tmp_path / "r", endpoint_spec(), count=1)
    with world.open() as journal:
        ask = journal.connection.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,)
        assert ask("PRAGMA foreign_keys").fetchone() == (1,)
        tables = {row[1]: row for row in ask("PRAGMA table_list") if not row[1].startswith("sqlite_")}
        assert set(tables) == {"run", "exchange", "attempt", "body", "event", "batch"}
        assert all(row[5] == 1 for row in tables.values())
        assert [kind for _, kind, _ in journal.events()] == ["preflight"]
        with pytest.raises(EndpointError):
            Journal.create(world.path, world.header, world.plan)


def test_an_unauthorised_stop_goes_on_with_a_new_secret(tmp_path):
    good = "secret-two"

    def behaviour(seen):
        number = len([one for one in server.seen if one.body["q"] != "probe"])
        return answer("x") if number <= 3 or good.encode() in seen.raw else Reply({"error": "expired"}, status=401)

    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(server.url, auth={"secret": "env:KEY"})
        world = World(tmp_path / "r", spec, count=8, secrets=Secrets({"env:KEY": "secret-one"}))
        first = world.run()
        assert (first.state, first.reason) == (RunState.STOPPED, "unauthorised")
        assert counts(first.counts) == {Outcome.ANSWERED: 3, Outcome.AUDITOR_FAILURE: 1, Outcome.NOT_SENT: 4}
        assert len(first.sent) == 1
        assert first.in_flight == ()
        world.secrets = Secrets({"env:KEY": good})
        second = world.run()
    assert (second.state, counts(second.counts)) == (RunState.COMPLETE, {Outcome.ANSWERED: 8})
    assert second.started_exchanges == 5
    assert [kind for _, kind, _ in world.open().events()].count("stop") == 2


def test_a_stopped_run_that_nobody_resumes_is_closed(tmp_path):
    with AnsweringServer(lambda seen: Reply({"error": "no"}, status=403)) as server:
        spec = endpoint_spec(server.url, auth={"secret": "env:KEY", "owner": "vendor"})
        world = World(tmp_path / "r", spec, count=4, secrets=Secrets({"env:KEY": SECRET}))
        assert world.run().state is RunState.STOPPED
        with world.open() as journal:
            closed = close_run(journal, world.spec, world.rules)
            assert journal.state == "complete"
            export_run(journal, world.spec, world.rules, world.plan, world.folder)
    assert counts(closed) == {Outcome.VENDOR_FAILURE: 1, Outcome.NOT_SENT: 3}
    derived = world.derived()
    assert derived.counts == closed
    # The vendor's expired key stopped the run: what was not sent is the vendor's too.
    assert {one.attribution for one in derived.exchanges} == {Attribution.VENDOR}


def test_another_version_in_the_middle_invalidates_the_run(tmp_path):
    def behaviour(seen):
        return answer("x", "engine-x@1" if len(server.seen) <= 5 else "engine-x@2")

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=12)
        result = world.run()
    assert (result.state, result.reason) == (RunState.INVALID, "engine_mismatch")
    assert counts(result.counts) == {Outcome.ANSWERED: 5, Outcome.ENGINE_MISMATCH: 1, Outcome.NOT_SENT: 6}
    assert len(server.seen) == 6
    line = next(one for one in world.derived().exchanges if one.outcome is Outcome.ENGINE_MISMATCH)
    assert line.engine_version == "engine-x@2"


def test_drift_among_accepted_versions_is_an_event_and_a_signal(tmp_path):
    def behaviour(seen):
        return answer(f"respuesta {len(server.seen)}", "a" if len(server.seen) <= 3 else "b")

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url, engine={"accepted_echoes": ["a", "b"]}), count=6)
        world.run()
    with world.open() as journal:
        assert [detail["value"] for _, _, detail in journal.events("drift")] == ["b"]
    assert [signal.code for signal in world.derived().signals] == ["drift_echo"]


def controls(*behaviours):
    return [ControlServer(behaviour) for behaviour in behaviours]


@pytest.mark.parametrize(
    ("behaviours", "outcome"),
    [(("ok", "ok"), Outcome.VENDOR_FAILURE), (("ok", "drop"), Outcome.UNRESOLVED), ((), Outcome.UNRESOLVED)],
)
def test_the_control_probe_attributes_dropped_connections(tmp_path, behaviours, outcome):
    servers = controls(*behaviours)
    with AnsweringServer(lambda seen: Reply(drop=True)) as server:
        spec = endpoint_spec(server.url, control_urls=[one.url for one in servers])
        world = World(tmp_path / "r", spec, count=3)
        result = world.run()
    for one in servers:
        one.close()
        assert len(one.requests) == 1
        assert b"q" not in one.requests[0].partition(b"\r\n\r\n")[2]
    assert counts(result.counts) == {outcome: 3}
    assert len(server.seen) == 9
    assert world.derived().mismatches == ()


def test_no_vendor_failure_while_our_own_network_is_down(tmp_path, monkeypatch):
    from slaverify.run import control

    monkeypatch.setattr(control, "PERIOD_S", 0.2)
    servers = controls("drop", "drop")

    def behaviour(seen):
        if len(server.seen) <= 2:
            return Reply(drop=True)
        for one in servers:
            one.behaviour = "ok"
        return answer("x")

    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(server.url, call={"attempts": 1}, control_urls=[one.url for one in servers])
        world = World(tmp_path / "r", spec, count=3)

        def mend():
            for one in servers:
                one.behaviour = "ok"

        timer = threading.Timer(0.8, mend)
        timer.start()
        result = world.run()
        timer.cancel()
    for one in servers:
        one.close()
    assert counts(result.counts)[Outcome.ANSWERED] >= 2
    assert result.counts[Outcome.UNRESOLVED] == 0
    with world.open() as journal:
        assert journal.events("control_probe")
        first = journal.connection.execute(
            "SELECT attribution FROM attempt WHERE number = 1 ORDER BY start_ns"
        ).fetchone()
    assert first == ("auditor",)


def test_a_cut_body_marks_the_answer_of_the_second_try(tmp_path):
    cut = b'HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"answer":"El plazo es de 1'

    def behaviour(seen):
        return Reply(raw=cut) if seen.again == 0 else answer("20 días")

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=2)
        world.run()
    for one in world.derived().exchanges:
        assert (one.outcome, one.attempts) == (Outcome.ANSWERED, 2)
        assert "cut_body" in one.answer.flags
        assert {"cut_body", "unattributed_retry"} <= set(one.flags)


def test_attempts_count_what_the_vendor_had():
    ours, broken, theirs = Fault.INTERRUPTED, Fault.RESET, Fault.UNAVAILABLE
    cases = [
        ([None], 1, False),
        ([ours, None], 1, False),
        ([broken, None], 2, True),
        ([ours, broken, broken, None], 3, True),
        ([broken, theirs, None], 3, False),
        ([theirs, theirs, theirs], 3, False),
        ([broken], 1, False),
        ([ours], 0, False),
        ([], 0, False),
    ]
    for faults, count, unattributed in cases:
        found = tries([(0, fault) for fault in faults])
        assert found == (count, ("unattributed_retry",) if unattributed else ()), faults
    # In a tool loop every turn has its attempts: three turns without a repeated one are one attempt.
    assert tries([(0, None), (1, None), (2, None)]) == (1, ())
    assert tries([(0, None), (1, broken), (1, None)]) == (2, ("unattributed_retry",))


def test_the_public_lines_count_attempts_as_the_bytes_do(tmp_path):
    def behaviour(seen):
        return [Reply(status=503, body={}), Reply(drop=True), answer("x")][seen.again]

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=2)
        world.run()
    public = recorded_run(world.plan, world.file("outcomes.jsonl"))
    for one, line in zip(world.derived().exchanges, public.exchanges, strict=True):
        assert (one.attempts, one.flags) == (line.attempts, line.flags) == (3, ())


def test_a_rate_is_a_ceiling(tmp_path):
    with AnsweringServer(lambda seen: answer("x")) as server:
        import time

        began = time.monotonic()
        World(tmp_path / "r", endpoint_spec(server.url, call={"rate_per_s": "20", "concurrency": 8}), count=20).run()
    assert time.monotonic() - began >= 19 / 20


def test_windows_and_answers_beyond_the_deadline(tmp_path):
    def behaviour(seen):
        reply = answer("x")
        reply.delay_s = 0.3
        return reply

    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(server.url, call={"answer_deadline_s": "0.1", "agreed_latency_s": "0.05"})
        world = World(tmp_path / "late", spec, count=1)
        assert counts(world.run().counts) == {Outcome.VENDOR_FAILURE: 1}
        assert world.derived().exchanges[0].fault == "answer_deadline"
        start = now()
        closed = RunRules(window=Span(start - timedelta(hours=2), start - timedelta(hours=1)))
        world = World(tmp_path / "closed", spec, count=2, rules=closed)
        result = world.run()
        assert (result.reason, counts(result.counts)) == ("window", {Outcome.NOT_SENT: 2})
        early = RunRules(window=Span(start + timedelta(hours=1), start + timedelta(hours=2)))
        with pytest.raises(EndpointError) as caught:
            World(tmp_path / "early", spec, count=2, rules=early).run()
        assert caught.value.code == "SLV-N035"
    assert len(server.seen) == 1


def test_an_interruption_finishes_what_is_in_flight(tmp_path):
    def behaviour(seen):
        reply = answer("x")
        reply.delay_s = 0.3
        if len(server.seen) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return reply

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url, call={"concurrency": 2}), count=10)
        first = world.run(signals=True)
        assert (first.state, first.reason) == (RunState.INTERRUPTED, "signal")
        sent = len(server.seen)
        assert first.counts[Outcome.ANSWERED] == sent < 10
        second = world.run()
    assert counts(second.counts) == {Outcome.ANSWERED: 10}
    assert len(server.seen) == 10


def test_a_ledger_that_fails_ends_the_run_and_nothing_is_batched_twice(tmp_path):
    class Failing:
        def on_batch(self, batch):
            raise EndpointError("SLV-N099", make_text())

        def find_batch(self, number):
            return None

    with AnsweringServer(lambda seen: answer("x" + seen.body["q"])) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=30)
        with pytest.raises(EndpointError) as caught:
            world.run(ledger=Failing())
        assert caught.value.code == "SLV-N099"
        result = world.run()
    assert counts(result.counts) == {Outcome.ANSWERED: 30}
    assert len(server.seen) == 30
    assert sorted(item for batch in world.ledger.batches for item in batch.items) == world.items


def make_text():
    from slaverify.errors import Text

    return Text("x", "x")


def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path):
    with AnsweringServer(lambda seen: answer(seen.body["q"] * 200)) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=30)
        with world.open() as journal:
            pages = journal.connection.execute("PRAGMA page_count").fetchone()[0]
            journal.connection.execute(f"PRAGMA max_page_count = {pages + 8}")

            async def work():
                async with HttpWire(world.spec, world.secrets) as wire:
                    return await run_exchanges(journal, wire, world.inputs())

            with pytest.raises(EndpointError) as caught:
                asyncio.run(work())
        assert (caught.value.code, caught.value.exit_code) == ("SLV-N032", 6)
        result = world.run()
    assert counts(result.counts) == {Outcome.ANSWERED: 30}
    assert world.derived().mismatches == ()


def tampered(world: World, change) -> list[str]:
    lines = [json.loads(line) for line in world.file("outcomes.jsonl").splitlines()]
    change(lines)
    data = b"".join(jcs(line) + b"\n" for line in lines)
    run = derive_outcomes(world.spec, world.rules, world.plan, data, world.file("exchanges.jsonl"))
    return [mismatch.key for mismatch in run.mismatches]


def test_a_record_that_says_something_else_than_its_bytes_is_seen(tmp_path):
    def behaviour(seen):
        return Reply({"error": "x"}, status=503) if "3" in seen.body["q"] and seen.again == 0 else answer("20 días")

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=6)
        world.run()
    assert tampered(world, lambda lines: None) == []
    changes = {
        "outcome": "refused",
        "attribution": "auditor",
        "engine_version": "engine-x@9",
        "response_mac": "00" * 32,
        "request_mac": "00" * 32,
        "request_size": 512,
        "flags": ["late"],
        "fault": "status",
    }
    for key, value in changes.items():
        assert tampered(world, lambda lines, key=key, value=value: lines[0].update({key: value})) == [key], key
    # A retried failure cannot be made the ending, nor an ending hidden.
    retried = next(n for n, line in enumerate(loads_jsonl(world.file("outcomes.jsonl"))) if line["outcome"] is None)
    assert "outcome" in tampered(world, lambda lines: lines[retried].update(outcome="vendor_failure"))
    public = recorded_run(world.plan, world.file("outcomes.jsonl"))
    assert public.counts == world.derived().counts


def test_the_journal_and_the_files_say_the_same(tmp_path):
    def behaviour(seen):
        return answer("x" if "2" in seen.body["q"] else "y")

    with AnsweringServer(behaviour) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=9, repetitions=2)
        world.run()
    with world.open() as journal:
        again = journal_run(journal, world.spec, world.rules, world.plan)
        assert replace(world.derived(), signals=()) == again
        summary = journal.summary()
    assert (summary.planned, summary.done, summary.to_do, summary.in_doubt, summary.attempts) == (18, 18, 0, 0, 18)
    before = every_file(world.folder / "run")
    with world.open() as journal:
        export_run(journal, world.spec, world.rules, world.plan, world.folder)
    assert every_file(world.folder / "run") == before


def test_a_long_response_is_cut_in_the_files_and_attested(tmp_path):
    with AnsweringServer(lambda seen: answer("x" * 300_000)) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url, call={"max_response_bytes": 400_000}), count=1)
        world.run()
    line = loads_jsonl(world.file("exchanges.jsonl"))[1]
    assert line["response"] is None
    assert line["cut"]["size"] > 300_000
    derived = world.derived()
    assert (derived.mismatches, derived.exchanges[0].outcome, derived.exchanges[0].answer) == (
        (),
        Outcome.ANSWERED,
        None,
    )
    with world.open() as journal:
        whole = journal_run(journal, world.spec, world.rules, world.plan)
    assert len(whole.exchanges[0].answer.text) == 300_000
    assert whole.exchanges[0].response_mac == derived.exchanges[0].response_mac


# Preflight.

PAGE = b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\nContent-Length: 32\r\n\r\n<html><title>Hola</title></html>"


def test_a_preflight_asks_three_times_and_nothing_private():
    with AnsweringServer(lambda seen: answer("español")) as server:
        record = probe_endpoint(endpoint_spec(server.url), Secrets({}), now)
    assert [seen.body["q"] for seen in server.seen] == ["¿En qué idioma responde?"] * 3
    assert [probe.version for probe in record.probes] == ["engine-x@1"] * 3
    assert record.limitations == ("clock_not_compared",)
    assert jcs(record.to_json())


@pytest.mark.parametrize(
    ("reply", "code", "exit_code"),
    [
        (answer("x", "other"), "SLV-N041", 5),
        (Reply(status=302, body={}), "SLV-N041", 5),
        (Reply(status=500, body={}), "SLV-N040", 6),
        (Reply(status=401, body={}), "SLV-N040", 6),
        (Reply(body={"respuesta": "x", "version": "engine-x@1"}), "SLV-N040", 6),
        (Reply(raw=PAGE), "SLV-N040", 6),
        (Reply(drop=True), "SLV-N040", 6),
    ],
)
def test_a_preflight_that_fails(reply, code, exit_code):
    with AnsweringServer(lambda seen: reply) as server, pytest.raises(EndpointError) as caught:
        probe_endpoint(endpoint_spec(server.url), Secrets({}), now)
    assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
    assert all(seen.body["q"] == "¿En qué idioma responde?" for seen in server.seen)


def test_a_gateway_that_substitutes_a_default_is_found():
    spec = {"probe_unknown_model": True, "request": {"model": "m", "q": "${query}"}}
    with AnsweringServer(lambda seen: answer("x")) as server, pytest.raises(EndpointError) as caught:
        probe_endpoint(endpoint_spec(server.url, **spec), Secrets({}), now)
    assert caught.value.code == "SLV-N042"
    behaviour = lambda seen: answer("x") if seen.body["model"] == "m" else Reply({"error": "model"}, status=404)  # noqa: E731
    with AnsweringServer(behaviour) as server:
        probe_endpoint(endpoint_spec(server.url, **spec), Secrets({}), now)


def test_a_clock_that_is_off_is_a_limitation():
    def behaviour(seen):
        reply = answer("x")
        reply.headers = (("Date", "Wed, 21 Oct 2015 07:28:00 GMT"),)
        return reply

    with AnsweringServer(behaviour) as server:
        record = probe_endpoint(endpoint_spec(server.url), Secrets({}), now)
    assert record.limitations == ("clock_skew",)


def test_the_probe_is_repeated_during_the_run(tmp_path):
    with AnsweringServer(lambda seen: answer("x")) as server:
        world = World(tmp_path / "r", endpoint_spec(server.url), count=40, probes=True)
        world.run()
    with world.open() as journal:
        percents = [detail["percent"] for _, _, detail in journal.events("probe")]
    assert percents[-1] == 100
    assert len(percents) == len(set(percents))
    assert len(server.seen) == 40 + len(percents)
