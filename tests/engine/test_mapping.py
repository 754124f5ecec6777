"""Paths and fields: where it was agreed, or not at all."""

from __future__ import annotations

import json

import pytest

from slaverify.contract.words import Attribution, Outcome
from slaverify.engine import Fault, Received, outcome_of, read_response
from slaverify.engine.paths import PathError, compile_path
from slaverify.errors import ContractError
from slaverify.evalset.answer import ClaimedCitation
from tests.engine.endpoints import endpoint_spec

JSON = {"content-type": "application/json", "content-length": "1"}


def read(spec, body, *, status=200, headers=JSON, **more):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_response(spec, Received(status, headers, data, **more))


@pytest.mark.parametrize("text", ["$..a", "$[?@.a]", "$.a[?(@.b==1)]", "a.b", "", "$[", "$" + ".a" * 400])
def test_paths_that_are_refused(text):
    with pytest.raises(PathError):
        compile_path(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$", [{"a": [1, 2, 3], "b": {"c": "x", "d": "y"}}]),
        ("$.a[0]", [1]),
        ("$.a[-1]", [3]),
        ("$.a[5]", []),
        ("$.a[1:]", [2, 3]),
        ("$.a[::-1]", [3, 2, 1]),
        ("$.a[0,2]", [1, 3]),
        ("$.b[*]", ["x", "y"]),
        ("$['b']['c']", ["x"]),
        ("$.a.c", []),
        ("$.b[0]", []),
    ],
)
def test_paths_find_what_the_standard_says(text, found):
    assert compile_path(text).select({"a": [1, 2, 3], "b": {"c": "x", "d": "y"}}) == found


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"answer": "20 días"}, Outcome.ANSWERED),
        ({"answer": None}, Outcome.EMPTY),
        ({"answer": " \u00a0\u2003\n"}, Outcome.EMPTY),
        (
            {"answer": [{"type": "text", "text": "20 "}, {"type": "image"}, {"type": "text", "text": "días"}]},
            Outcome.ANSWERED,
        ),
        ({"answer": [{"type": "image"}]}, Outcome.EMPTY),
        ({"answer": 20}, Outcome.MALFORMED),
        ({"answer": {"text": "20"}}, Outcome.MALFORMED),
        ({"answer": ["20"]}, Outcome.MALFORMED),
        ({"respuesta": "20"}, Outcome.MALFORMED),
        ([], Outcome.MALFORMED),
        ("20 días", Outcome.MALFORMED),
    ],
)
def test_the_answer_is_one_text(body, outcome):
    reading = read(endpoint_spec(), body)
    assert reading.outcome is outcome
    if outcome is Outcome.ANSWERED:
        assert reading.answer is not None
        assert reading.answer.text == "20 días"


def test_several_nodes_are_malformed():
    spec = endpoint_spec(response={"answer": "$.choices[*].text", "version": "$.version"})
    assert read(spec, {"choices": [{"text": "a"}, {"text": "b"}]}).outcome is Outcome.MALFORMED
    assert read(spec, {"choices": [{"text": "a"}]}).outcome is Outcome.ANSWERED


def test_citations_are_read_in_order_and_the_mark_must_be_a_boolean():
    citations = {"path": "$.c", "fields": {"norm": "n", "article": "@.a", "verified": "$.v"}}
    spec = endpoint_spec(response={"answer": "$.answer", "citations": citations})
    body = {"answer": "x", "c": [{"n": "Ley 1", "a": "2", "v": True}, {"n": "Ley 3", "a": 4}]}
    answer = read(spec, body).answer
    assert answer is not None
    assert answer.citations == (
        ClaimedCitation("Ley 1 2", True, "Ley 1", "2"),
        ClaimedCitation("Ley 3 4", None, "Ley 3", "4"),
    )
    body["c"][0]["v"] = "true"
    assert read(spec, body).outcome is Outcome.MALFORMED
    assert read(spec, {"answer": "x"}).outcome is Outcome.ANSWERED


def test_version_from_a_header_must_be_one():
    spec = endpoint_spec(response={"answer": "$.answer", "version": "header:X-Engine"})
    assert "x-engine" in spec.kept_headers
    assert read(spec, {"answer": "x"}, headers={**JSON, "x-engine": "engine-x@1"}).outcome is Outcome.ANSWERED
    two = read(spec, {"answer": "x"}, headers={**JSON, "x-engine": "engine-x@1, engine-x@2"})
    assert (two.outcome, two.fault) == (Outcome.ENGINE_MISMATCH, Fault.ECHO)


def test_another_version_is_a_mismatch_with_any_status_and_any_answer():
    spec = endpoint_spec(response={"answer": "$.answer", "version": "$.version", "error": "$.error"})
    for status in (200, 400, 429, 500):
        assert read(spec, {"answer": "x", "version": "other"}, status=status).outcome is Outcome.ENGINE_MISMATCH
    assert read(spec, {"error": {"code": "x"}, "version": "other"}).outcome is Outcome.ENGINE_MISMATCH


def test_an_echo_matches_exactly_or_by_an_anchored_expression():
    spec = endpoint_spec(engine={"accepted_echoes": [{"regex": "^lex-4\\.2\\.[0-9]+$"}, "exact"]})
    for version, accepted in (
        ("lex-4.2.7", True),
        ("lex-4.2.7\n", False),
        ("x lex-4.2.7", False),
        ("exact", True),
        ("exact ", False),
    ):
        outcome = read(spec, {"answer": "x", "version": version}).outcome
        assert (outcome is Outcome.ANSWERED) is accepted, version
    with pytest.raises(ContractError) as caught:
        endpoint_spec(engine={"accepted_echoes": [{"regex": "lex"}]})
    assert caught.value.code == "SLV-C069"


def test_on_missing_invalid_run_is_a_mismatch():
    spec = endpoint_spec(engine={"on_missing": "invalid_run"})
    assert read(spec, {"answer": "x"}).fault is Fault.ECHO_MISSING
    # A failed attempt proves nothing about the engine: it is retried, not taken for another one.
    assert read(spec, {"error": {"code": "overloaded"}}).fault is Fault.ERROR_OBJECT


def test_precedence_of_outcomes():
    response = {
        "answer": "$.answer",
        "version": "$.version",
        "refusal": "$.refusal",
        "finish_reason": {"path": "$.finish", "values": {"MAX": "length", "STOP": "stop"}},
    }
    spec = endpoint_spec(response=response, cut_markers=["[…]"], error_texts=["Error interno"])
    cases = [
        ({"answer": "x", "refusal": "no", "finish": "MAX"}, Outcome.REFUSED),
        ({"answer": 7, "refusal": "no"}, Outcome.MALFORMED),
        ({"answer": "x", "finish": "MAX"}, Outcome.TRUNCATED),
        ({"finish": "MAX"}, Outcome.TRUNCATED),
        ({"answer": "El plazo […]", "finish": "STOP"}, Outcome.TRUNCATED),
        ({"answer": "", "finish": "STOP"}, Outcome.EMPTY),
        ({"answer": " Error interno "}, Outcome.VENDOR_FAILURE),
        ({"answer": "Error interno del plazo"}, Outcome.ANSWERED),
    ]
    for body, outcome in cases:
        assert read(spec, body).outcome is outcome, body
    assert "unknown_finish_reason" in read(spec, {"answer": "x", "finish": "?"}).flags


def test_error_marks_that_say_nothing_are_no_error():
    spec = endpoint_spec()
    for error in (None, False, "", [], {}):
        assert read(spec, {"answer": "x", "error": error}).outcome is Outcome.ANSWERED
    for error in (True, "boom", {"message": "boom"}, ["boom"]):
        assert read(spec, {"answer": "x", "error": error}).fault is Fault.ERROR_OBJECT


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        (b'{"answ', False),
        (b'{"answer":"', False),
        (b'{"answer":"  ', False),
        (b'{"answer":"El', True),
        (b'{"id":"El plazo', False),
        (b'{"id":{"answer":"x"},"n":[1,', False),
        (b'{"answer":"x","n":tr', True),
        (b'{"answer":"d\\u00e', True),
        (b"[[[[", False),
        (b"\xff\xfe", False),
    ],
)
def test_a_body_cut_after_answer_text_marks_the_attempt(body, cut):
    reading = read(endpoint_spec(), body, fault=Fault.SHORT_BODY)
    assert ("cut_body" in reading.flags) is cut
    assert reading.answer is None


def test_transport_faults_are_attributed_by_the_control_probe():
    reading = read(endpoint_spec(), b"", fault=Fault.RESET)
    assert outcome_of(reading, None) is Outcome.UNRESOLVED
    assert outcome_of(reading, Attribution.VENDOR) is Outcome.VENDOR_FAILURE
    assert outcome_of(reading, Attribution.AUDITOR) is Outcome.AUDITOR_FAILURE
    size = read(endpoint_spec(), b"", fault=Fault.BODY_TOO_LARGE)
    assert outcome_of(size, Attribution.AUDITOR) is Outcome.MALFORMED


def test_pages_for_people_are_never_scored():
    spec = endpoint_spec()
    page = b"<!DOCTYPE html><html><head><title>Mantenci\xc3\xb3n</title></head></html>"
    for headers in ({"content-type": "text/html"}, JSON):
        reading = read(spec, page, headers=headers)
        assert (reading.outcome, reading.fault, reading.title) == (Outcome.VENDOR_FAILURE, Fault.HTML, "Mantención")


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        ({"content-type": "text/plain"}, Fault.CONTENT_TYPE),
        ({}, Fault.CONTENT_TYPE),
        ({"content-type": "application/json; charset=latin-1"}, Fault.CHARSET),
        ({"content-type": 'application/problem+json; charset="UTF-8"'}, None),
    ],
)
def test_media_types(headers, fault):
    assert read(endpoint_spec(), {"answer": "x"}, headers={**headers, "content-length": "1"}).fault is fault


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b'{"answer":"1","answer":"2"}', Fault.DUPLICATE_KEY),
        (b'{"answer":"1","n":NaN}', Fault.NON_FINITE),
        (b'{"answer":"1"} {}', Fault.TRAILING),
        (b'{"answer":"1",}', Fault.SYNTAX),
        (b'{"answer":"\xe9"}', Fault.ENCODING),
        (b'{"answer":"\xed\xa0\x80"}', Fault.ENCODING),
        (b"[" * 33 + b"]" * 33, Fault.DEPTH),
        (b'{"answer":"1","n":' + b"1" * 65 + b"}", Fault.DIGITS),
        (b"", Fault.SYNTAX),
    ],
)
def test_strict_json(body, fault):
    reading = read(endpoint_spec(), body)
    assert (reading.outcome, reading.fault) == (Outcome.MALFORMED, fault)


def test_bom_and_surrogates_are_flagged():
    spec = endpoint_spec()
    reading = read(spec, b'\xef\xbb\xbf{"answer":"d\\ud800as"}')
    assert reading.answer is not None
    assert reading.answer.text == "d\ufffdas"
    assert {"bom", "lone_surrogate"} <= set(reading.flags)
    assert "lone_surrogate" not in read(spec, b'{"answer":"\\ud83d\\ude00"}').flags


def test_unterminated_strings_are_read_in_linear_time():
    import time

    began = time.monotonic()
    read(endpoint_spec(), b'{"answer":"' + b'\\"' * 130_000)
    assert time.monotonic() - began < 2
