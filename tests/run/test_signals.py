"""Signals of a run: one vendor for each, over real HTTP; the file says what the bytes show again."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.canonical import loads_object
from slaverify.engine import compile_template
from slaverify.run import PUBLIC, patterns_of, recorded_run
from slaverify.run.journal import Journal
from slaverify.run.runner import export_run
from slaverify.run.signals import RunSize, seen, signals_of, size_of
from tests.engine.answering_server import AnsweringServer, Reply, answer
from tests.engine.endpoints import MAPPING, endpoint_spec
from tests.run.world import World

CUT = b'HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"answer":"El plazo es de 1'


def carried_out(folder, behaviour, *, count=10, repetitions=1, ceiling_ms=None, engine=None, queries=None, **endpoint):
    with AnsweringServer(behaviour) as server:
        spec = endpoint_spec(server.url, engine=engine, **endpoint)
        world = World(folder / "r", spec, count=count, repetitions=repetitions, queries=queries)
        world.rules = replace(world.rules, ceiling_ms=ceiling_ms)
        world.run()
    return world


def number(seen):
    return int(seen.body["q"].rpartition(" ")[2].rstrip("?"))


def item_numbers(world, positions):
    return [int(world.plan.exchanges[position].item_id.removeprefix("i-")) for position in positions]


def test_a_run_of_an_honest_vendor_has_no_signals(tmp_path):
    world = carried_out(tmp_path, lambda seen: answer(f"{number(seen)} días"), repetitions=2, ceiling_ms=60_000)
    # The same question gets the same bytes from an engine that is deterministic: said, and no more.
    assert set(world.signals()) == {"duplicate_answer_bytes"}
    alone = carried_out(tmp_path / "alone", lambda seen: answer(f"{number(seen)} días"))
    assert alone.signals() == {}


def test_one_text_for_many_questions_is_constant_output_however_it_is_dressed(tmp_path):
    dressed = ["Sí, procede.", "sí  procede", "S\u200bí, pro\u00adcede!", "**Sí**, procede…"]

    def behaviour(seen):
        return answer(dressed[number(seen)] if number(seen) < 4 else f"artículo {number(seen)}")

    world = carried_out(tmp_path, behaviour)
    found = world.signals()
    assert set(found) == {"constant_output"}
    assert sorted(item_numbers(world, found["constant_output"])) == [0, 1, 2, 3]
    # Three questions may have one short answer.
    dressed[3] = "No."
    assert carried_out(tmp_path / "three", behaviour).signals() == {}


def test_identical_answers_name_every_item_of_the_group(tmp_path):
    world = carried_out(tmp_path, lambda seen: answer("sí" if number(seen) in (2, 5) else f"no {number(seen)}"))
    found = world.signals()
    assert set(found) == {"identical_answers"}
    assert sorted(item_numbers(world, found["identical_answers"])) == [2, 5]


def test_repeats_from_a_cache(tmp_path):
    def behaviour(seen):
        reply = answer(f"{number(seen)} días")
        reply.headers = (("X-Cache", "HIT from edge"),) if number(seen) == 3 else ()
        return reply

    world = carried_out(tmp_path, behaviour, count=5, repetitions=3)
    found = world.signals()
    assert set(found) == {"duplicate_answer_bytes", "cached_repeat"}
    assert item_numbers(world, found["cached_repeat"]) == [3, 3], "the first call of an item repeats nothing"
    assert len(found["duplicate_answer_bytes"]) == 10


@pytest.mark.parametrize(("times", "shown"), [(1, False), (2, True)])
def test_more_than_one_in_a_hundred_cut_bodies(tmp_path, times, shown):
    def behaviour(seen):
        return Reply(raw=CUT) if seen.again == 0 and number(seen) < times else answer(f"{number(seen)} días")

    world = carried_out(tmp_path, behaviour, count=100)
    found = world.signals()
    assert set(found) == ({"partial_body"} if shown else set())
    if shown:
        assert sorted(item_numbers(world, found["partial_body"])) == [0, 1]


@pytest.mark.parametrize(("tokens", "cut"), [(59, True), (60, False), (250, False)])
def test_fewer_tokens_than_the_question_has_words(tmp_path, tokens, cut):
    questions = [" ".join(["artículo"] * 100)]
    world = carried_out(
        tmp_path,
        lambda seen: Reply({"answer": "x", "version": "engine-x@1", "usage": {"in": tokens}}),
        count=1,
        queries=questions,
        response={**MAPPING, "usage.input_tokens": "$.usage.in"},
        request={"q": "${query}", "note": " ".join(["palabra"] * 300)},
    )
    assert set(world.signals()) == ({"input_cut"} if cut else set()), "words that are not of the question do not count"


def test_the_question_is_found_in_what_was_sent():
    template = compile_template({"a": ["Responda: ${query}", "fijo"], "m": "${messages}", "n": "${nonce}"})
    sent = {
        "a": ["Responda: ¿qué?", "fijo"],
        "m": [{"role": "user", "content": "uno"}, {"role": "user", "content": [{"type": "text", "text": "dos"}]}],
        "n": "x",
    }
    assert template.asked(json.dumps(sent).encode()) == ("Responda: ¿qué?", "uno", "dos")
    for odd in (b"", b"\xff", b"[]", b"[" * 100_000, b'{"a": 3, "m": [7]}'):
        assert template.asked(odd) == ()


def test_what_changes_during_the_run(tmp_path):
    def behaviour(seen):
        place = len(seen_so_far)
        seen_so_far.append(place)
        tree = {"answer": f"r {place}", "version": "a" if place < 4 else "b", "fp": "f1" if place < 7 else "f2"}
        return Reply(tree)

    seen_so_far: list[int] = []
    world = carried_out(
        tmp_path,
        behaviour,
        engine={"accepted_echoes": ["a", "b"]},
        response={**MAPPING, "fingerprint": "$.fp"},
    )
    assert world.signals() == {"drift_echo": (4, 5, 6, 7, 8, 9), "drift_fingerprint": (7, 8, 9)}


def test_a_confidence_that_never_changes(tmp_path):
    mapping = {**MAPPING, "confidence": "$.sure"}
    for folder, sure, found in (("same", lambda n: "0.0", {"constant_confidence"}), ("own", lambda n: f"0.{n}", set())):
        world = carried_out(
            tmp_path / folder,
            lambda seen, sure=sure: Reply(
                {"answer": f"{number(seen)} días", "version": "engine-x@1", "sure": sure(number(seen))}
            ),
            response=mapping,
        )
        assert set(world.signals()) == found


def test_answers_slower_than_the_ceiling(tmp_path):
    def behaviour(seen):
        reply = answer(f"{number(seen)} días")
        reply.delay_s = 0.3 if number(seen) == 4 else 0
        return reply

    world = carried_out(tmp_path, behaviour, count=6, ceiling_ms=250)
    found = world.signals()
    assert item_numbers(world, found["latency_ceiling"]).count(4) == 1
    assert patterns_of(loads_object(world.file("signals.json")), world.plan)[("i-00004", 0, "current")] == (
        "latency_ceiling",
    )
    alone = carried_out(tmp_path / "none", behaviour, count=6)
    assert alone.signals() == {}, "nobody agreed on a ceiling"


def test_public_lines_show_the_signals_that_are_theirs(tmp_path):
    def behaviour(seen):
        return Reply({"answer": "siempre lo mismo", "version": "a" if seen.again == 0 else "b"})

    world = carried_out(tmp_path, behaviour, repetitions=3, engine={"accepted_echoes": ["a", "b"]})
    found = world.signals()
    assert set(found) == {"constant_output", "duplicate_answer_bytes", "identical_answers", "drift_echo"}
    public = recorded_run(world.plan, world.file("outcomes.jsonl"), world.rules.ceiling_ms)
    assert {one.code: one.positions for one in public.signals} == {
        code: positions for code, positions in found.items() if code in PUBLIC
    }


def test_a_body_that_stays_in_the_journal_has_no_text_among_the_signals(tmp_path, monkeypatch):
    monkeypatch.setattr("slaverify.run.export.MAX_BODY", 600)

    def behaviour(seen):
        return answer("muy largo " * 80 if number(seen) < 5 else f"{number(seen)} días")

    world = carried_out(tmp_path, behaviour)
    assert world.signals() == {}, "what the bundle does not hold is not claimed of it"
    monkeypatch.setattr("slaverify.run.export.MAX_BODY", 262_144)
    with Journal.open(world.path) as journal:
        export_run(journal, world.spec, world.rules, world.plan, world.folder)
    assert set(world.signals()) == {"constant_output", "identical_answers"}


def line(item, *, outcome="answered", mac="m", version="v", side="current", spent=5, flags=()):
    return {
        "item_id": item,
        "repetition": 0,
        "side": side,
        "outcome": outcome,
        "response_mac": mac,
        "engine_version": version,
        "last_byte_ms": spent,
        "flags": list(flags),
    }


def test_the_candidate_of_a_change_check_has_no_signals():
    assert seen(0, line("a", side="candidate")) == b""


def test_what_failed_repeats_nothing():
    rows = seen(0, line("a", outcome="vendor_failure")) + seen(1, line("a", outcome="vendor_failure"))
    assert signals_of(BytesIO(rows), RunSize(2, 1)) == ()


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xyz"), st.sampled_from("uv")), max_size=30), st.randoms())
def test_the_order_of_the_rows_is_nobodys(calls, random):
    """Slices come from several processes: whatever the order, the same signals, and repeats count from the first."""
    rows = [seen(at, line(str(item), mac=mac, version=version)) for at, (item, mac, version) in enumerate(calls)]
    size = RunSize(len(calls), 6)
    shuffled = random.sample(rows, len(rows))
    found = signals_of(BytesIO(b"".join(rows)), size)
    assert signals_of(BytesIO(b"".join(shuffled)), size) == found
    by_code = {one.code: one.positions for one in found}
    first: dict[tuple[int, str], int] = {}
    repeated = tuple(at for at, (item, mac, _) in enumerate(calls) if first.setdefault((item, mac), at) != at)
    assert by_code.get("duplicate_answer_bytes", ()) == repeated
    changed = tuple(at for at, call in enumerate(calls) if call[2] != calls[0][2])
    assert by_code.get("drift_echo", ()) == changed


@pytest.mark.parametrize("positions", [[-1], [9], ["0"], [True], [1.5], None, {}])
def test_positions_of_nowhere_are_refused(tmp_path, positions):
    world = World(tmp_path, endpoint_spec(), count=3)
    stored = {"signals": [{"code": "partial_body", "level": "pattern", "positions": positions}]}
    with pytest.raises(ValueError, match=r"signals|positions"):
        patterns_of(stored, world.plan)


def test_a_share_is_of_what_was_planned(tmp_path):
    world = World(tmp_path, endpoint_spec(), count=7, repetitions=3)
    assert size_of(world.plan.exchanges) == RunSize(exchanges=21, questions=7)
