"""The parser of a judge's words: the vectors, and what no body may do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.judging.parse import MAX_BYTES, UNWRAP, Asked, Reply, parse
from slaverify.judging.records import FailureKind, JudgeFailure, Judgement
from slaverify.judging.rubrics import RUBRICS
from slaverify.judging.vectors import conformance, is_judge

NONCE = "0123456789abcdef0123456789abcdef"
REGLAB = RUBRICS["reglab@1"]
ASKED = Asked(nonce=NONCE, scales=REGLAB.scales, table=REGLAB.table)
GOOD = {"nonce": NONCE, "reason": "coincide", "correctness": "correct", "grounding": "grounded"}


def read(body: bytes | str, asked: Asked = ASKED, **reply: object) -> FailureKind | Judgement:
    raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    found = parse(Reply(**{"raw": raw, "stop": "complete", **reply}), asked)
    return found.kind if isinstance(found, JudgeFailure) else found


def body(**changes: object) -> str:
    return json.dumps({**GOOD, **changes})


def lines(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


@pytest.mark.parametrize("name", ["judge_output.jsonl", "scoring.jsonl"])
def test_every_vector_gives_its_one_result(vectors_dir: Path, name: str) -> None:
    cases = [case for case in lines(vectors_dir / name) if is_judge(case)]
    assert cases
    assert [one for one in conformance(cases) if one.result != "passed"] == []


def test_a_vector_that_expects_something_else_fails(vectors_dir: Path) -> None:
    for case in lines(vectors_dir / "judge_output.jsonl"):
        assert isinstance(case, dict)
        other = "empty" if case["expected"].get("failure") != "empty" else "schema"
        (wrong,) = conformance([{**case, "expected": {"result": "failure", "failure": other}}])
        assert wrong.result == "failed", case["id"]
    assert [one.result for one in conformance([{"id": "x"}, {}, 3])] == ["failed"] * 3


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"fault": "deadline"}, FailureKind.TRANSPORT),
        ({"refused": True}, FailureKind.REFUSAL),
        ({"stop": "content_filter"}, FailureKind.REFUSAL),
        ({"stop": None}, FailureKind.INCOMPLETE_OUTPUT),
        ({"stop": "tool_calls"}, FailureKind.INCOMPLETE_OUTPUT),
        ({"raw": None}, FailureKind.EMPTY),
    ],
)
def test_what_the_interface_says_comes_before_the_words(reply: dict, kind: FailureKind) -> None:
    assert read(body(), **reply) is kind


def test_another_model_is_found_before_a_refusal() -> None:
    pinned = Asked(nonce=NONCE, scales=REGLAB.scales, table=REGLAB.table, echo="juez-2026-01-01")
    assert read(body(), pinned, echo="juez-2026-02-01", refused=True) is FailureKind.IDENTITY_MISMATCH
    assert read(body(), pinned, echo=None) is FailureKind.IDENTITY_MISMATCH
    assert isinstance(read(body(), pinned, echo="juez-2026-01-01"), Judgement)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (body().replace("coincide", "\\ud800"), FailureKind.BAD_ENCODING),
        (body().replace("coincide", "\\udc00\\ud800"), FailureKind.BAD_ENCODING),
        (body().replace("coincide", "\\ud800x\\udc00"), FailureKind.BAD_ENCODING),
        (body().replace("coincide", "\\u0000"), FailureKind.BAD_ENCODING),
        (body(reason="x" * MAX_BYTES), FailureKind.LIMITS),
        (body(reason="x" * 2001), FailureKind.SCHEMA),
        (body() + " {}", FailureKind.TRAILING_DATA),
        ("[" + body() + "]", FailureKind.NOT_OBJECT),
        (body(extra={"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}), FailureKind.LIMITS),
        (body(extra=-1234567890123456789), FailureKind.SCHEMA),
        (body(extra=-12345678901234567890), FailureKind.LIMITS),
        (body()[:-1] + ', "a": {"b": 1, "b": 2}}', FailureKind.DUPLICATE_KEY),
        (body()[:-1] + ', "a": -Infinity}', FailureKind.NON_FINITE),
        (body(nonce=None, grounding="Grounded"), FailureKind.NONCE_MISMATCH),
        (body(grounding=True), FailureKind.SCHEMA),
        (body(grounding="not_applicable"), FailureKind.INCONSISTENT),
        ("'" + body() + "'", FailureKind.NOT_JSON),
    ],
)
def test_the_first_check_that_fails_names_the_result(text: str, kind: FailureKind) -> None:
    assert read(text) is kind


def test_an_escaped_backslash_before_u_is_no_escape_and_a_pair_is_one_character() -> None:
    assert isinstance(read(body().replace("coincide", "C:\\\\u0000")), Judgement)
    found = read(body().replace("coincide", "\\ud83d\\ude00"))
    assert isinstance(found, Judgement)
    assert found.reason == "😀"


def test_an_integer_is_the_one_that_was_written() -> None:
    asked = Asked(nonce=NONCE, scales={"score": (0, 1, 2)}, criterion="tono")

    def scored(token: str) -> FailureKind | Judgement:
        return read(f'{{"nonce":"{NONCE}","criterion":"tono","reason":"x","score":{token}}}', asked)

    found = scored("0")
    assert isinstance(found, Judgement)
    assert found.value("score") == 0
    assert scored("-0") is FailureKind.OFF_SCALE
    assert scored("0.0") is FailureKind.SCHEMA
    assert scored("1e0") is FailureKind.SCHEMA
    assert scored("3") is FailureKind.OFF_SCALE
    assert scored('"1"') is FailureKind.SCHEMA


def test_the_half_that_code_settled_must_fit() -> None:
    asked = Asked(
        nonce=NONCE,
        scales={"grounding": REGLAB.scales["grounding"]},
        table=REGLAB.table,
        given={"correctness": "correct"},
    )
    reply = {"nonce": NONCE, "reason": "x", "grounding": "not_applicable"}
    assert read(json.dumps(reply), asked) is FailureKind.INCONSISTENT
    assert isinstance(read(json.dumps({**reply, "grounding": "grounded"}), asked), Judgement)


@pytest.mark.parametrize(
    ("text", "parses"),
    [
        ("<think>a</think>```json\n{}\n```", True),
        ("```json\n{}\n```", True),
        ("```json\r\n{}\r\n```\n", True),
        ("```\n{}\n```\n```json\n{}\n```", False),
        ("~~~\n{}\n~~~", False),
        ("<think>a</think><think>b</think>{}", False),
        ("x<think>a</think>{}", False),
        ("```python\n{}\n```", False),
        ("```json {} ```", False),
    ],
)
def test_unwrapping_is_declared_and_removes_one_of_each_at_most(text: str, parses: bool) -> None:
    wrapped = text.replace("{}", body())
    asked = Asked(nonce=NONCE, scales=REGLAB.scales, table=REGLAB.table, parser=UNWRAP)
    assert isinstance(read(wrapped, asked), Judgement) is parses
    assert read(wrapped) is FailureKind.NOT_JSON


_JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([NONCE, *GOOD, "correct"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*GOOD, "x"]), inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_typed_result_and_none_without_the_nonce_parses(raw: bytes) -> None:
    for parser in ("verdict-json@1", UNWRAP):
        found = read(raw, Asked(nonce=NONCE, scales=REGLAB.scales, parser=parser, table=REGLAB.table))
        assert isinstance(found, FailureKind)


@settings(max_examples=400, deadline=None)
@given(_JSONISH)
def test_only_the_agreed_object_is_a_judgement(value: object) -> None:
    found = read(json.dumps(value))
    assert isinstance(found, FailureKind) or (isinstance(value, dict) and value.get("nonce") == NONCE)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(body()) - 1), st.characters())
def test_one_changed_character_never_changes_a_mark_silently(at: int, character: str) -> None:
    text = body()
    found = read(text[:at] + character + text[at + 1 :])
    if isinstance(found, Judgement):
        assert found.values == (("correctness", "correct"), ("grounding", "grounded"))


@pytest.mark.nightly
@settings(max_examples=100_000, deadline=None)
@given(st.binary(max_size=200))
def test_a_hundred_thousand_bodies(raw: bytes) -> None:
    assert isinstance(read(raw), FailureKind)
