"""Further behaviours, in the shape of the endpoint vectors and played by the same harness."""

from __future__ import annotations

from typing import Any

import pytest

from tests.run.test_endpoint_vectors import test_vector as play_vector

JSON_TYPE = [["Content-Type", "application/json"]]
STREAM = [["Content-Type", "text/event-stream"]]
FOREVER = {"op": "repeat", "from": 0, "times": None}
ANSWER = {"answer": "El plazo es de 1{request} días.", "version": "engine-x@1", "id": "r-{request}"}


def reply(*bodies: dict, status=200, headers=JSON_TYPE, framing="length", **more) -> list[dict]:
    head = {"op": "send_head", "conn": "a", "status": status, "headers": headers, "framing": framing, **more}
    return [
        {"op": "accept", "conn": "a"},
        head,
        *({"op": "send_body", "conn": "a", **body} for body in bodies),
        {"op": "end", "conn": "a"},
    ]


def case(
    name: str, script: list[dict], outcomes: dict[str, int], requests: int | None, *, effect="none", **more
) -> Any:
    settings = {
        "adapter": "json_http@1",
        "accepted_echoes": ["engine-x@1"],
        "on_missing": "limitation",
        "on_mismatch": "invalid_run",
        "attempts": 3,
        "total_timeout_s": 10,
        "retry_after_max_s": 120,
        "concurrency": 1,
        **more.pop("settings", {}),
    }
    given = {"preflight": False, "control": ["ok", "ok"], **more.pop("given", {})}
    expected = {"outcomes": outcomes, "requests": requests, "run_effect": effect, "flags": [], "by_option": None}
    built = {
        "id": name,
        "kind": more.pop("kind", "made"),
        "settings": settings,
        "given": given,
        "exchanges": more.pop("exchanges", sum(outcomes.values())),
        "script": script,
        "expected": {**expected, **more},
    }
    return pytest.param(built, id=name)


OPENAI = {"settings": {"adapter": "openai_chat@1"}}
SSE = {"settings": {"adapter": "openai_chat_stream@1"}}
OK = [*reply({"json": ANSWER}), FOREVER]


def chat(**message: Any) -> dict:
    return {
        "json": {
            "id": "r",
            "model": "engine-x@1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
    }


def event(text: str) -> dict:
    return {"text": 'data: {"model":"engine-x@1","choices":[{"index":0,"delta":{"content":"' + text + '"}}]}\n\n'}


CASES = [
    case(
        "no choices",
        [*reply({"json": {"id": "r", "model": "engine-x@1", "choices": []}}), FOREVER],
        {"empty": 1},
        2,
        **OPENAI,
    ),
    case("tool call", [*reply(chat(content=None, tool_calls=[{"id": "1"}])), FOREVER], {"empty": 1}, 1, **OPENAI),
    case(
        "parts",
        [
            *reply(
                chat(
                    content=[
                        {"type": "text", "text": "15 "},
                        {"type": "reasoning", "text": "…"},
                        {"type": "text", "text": "días"},
                    ]
                )
            ),
            FOREVER,
        ],
        {"answered": 1},
        1,
        answer="15 días",
        **OPENAI,
    ),
    case(
        "stream without marker",
        [*reply(event("15"), headers=STREAM, framing="chunked"), FOREVER],
        {"vendor_failure": 1},
        3,
        **SSE,
    ),
    case(
        "stream with pings",
        [
            *reply(
                {"text": "event: ping\ndata: {}\n\n"},
                {"text": "data:\n\n"},
                event("15"),
                {"text": "data: [DONE]\n\n"},
                headers=STREAM,
                framing="chunked",
            ),
            FOREVER,
        ],
        {"answered": 1},
        1,
        answer="15",
        **SSE,
    ),
    case(
        "stream of two models",
        [
            *reply(
                event("15"),
                {"text": event("x")["text"].replace("engine-x@1", "other")},
                {"text": "data: [DONE]\n\n"},
                headers=STREAM,
                framing="close",
            ),
            FOREVER,
        ],
        {"engine_mismatch": 1},
        1,
        effect="invalid_run",
        **SSE,
    ),
    case(
        "bom",
        [*reply({"text": '\ufeff{"answer":"15","version":"engine-x@1"}'}), FOREVER],
        {"answered": 1},
        1,
        flags=["bom"],
    ),
    case("latin-1", [*reply({"text": '{"answer":"días"}', "encode": "latin-1"}), FOREVER], {"malformed": 1}, 2),
    case("NaN", [*reply({"text": '{"answer":"15","n":NaN}'}), FOREVER], {"malformed": 1}, 2),
    case("two values", [*reply({"text": '{"answer":"15"}{"answer":"20"}'}), FOREVER], {"malformed": 1}, 2),
    case(
        "chunks cut",
        [*reply({"text": '{"answ'}, framing="chunked")[:-1], {"op": "close", "conn": "a"}, FOREVER],
        {"vendor_failure": 1},
        3,
    ),
    case(
        "maintenance page",
        [*reply({"text": "<html><title>Volvemos</title></html>"}, headers=[["Content-Type", "text/html"]]), FOREVER],
        {"vendor_failure": 1},
        2,
    ),
    case(
        "login after 302",
        [*reply(status=302, headers=[["Location", "/login"]]), FOREVER],
        {"engine_mismatch": 1, "not_sent": 2},
        1,
        effect="invalid_run",
    ),
    case(
        "model gone",
        [*reply({"json": {"error": {"code": "model_not_found"}}}, status=404), FOREVER],
        {"engine_mismatch": 1, "not_sent": 1},
        1,
        effect="invalid_run",
        settings={"model_error_codes": ["model_not_found"]},
    ),
    case(
        "too long",
        [*reply({"json": {"error": {"code": "context_length"}}}, status=413), FOREVER],
        {"vendor_failure": 2},
        2,
    ),
    case(
        "error with 200",
        [*reply({"json": {"answer": None, "error": {"code": "overloaded"}}}), FOREVER],
        {"vendor_failure": 1},
        3,
    ),
    case(
        "error text",
        [*reply({"json": {**ANSWER, "answer": "Internal error"}}), FOREVER],
        {"vendor_failure": 1},
        3,
        settings={"error_texts": ["Internal error"]},
    ),
    case(
        "cut marker",
        [*reply({"json": {**ANSWER, "answer": "El plazo es [cut]"}}), FOREVER],
        {"truncated": 1},
        1,
        settings={"cut_markers": ["[cut]"]},
    ),
    case(
        "odd Retry-After",
        [*reply({"json": {}}, status=429, headers=[*JSON_TYPE, ["Retry-After", "-1"]]), FOREVER],
        {"vendor_failure": 1},
        3,
        kind="rate_limit",
        waits_s_min=[1, 2],
        waits_s_max=[2.5, 3.5],
    ),
    case(
        "silence",
        [{"op": "accept", "conn": "a"}, {"op": "accept", "conn": "b"}],
        {"vendor_failure": 1},
        2,
        settings={"total_timeout_s": 1},
        elapsed_s_max_per_attempt=1.5,
    ),
    case(
        "own network down",
        [{"op": "accept", "conn": "a"}, {"op": "reset", "conn": "a"}, FOREVER],
        {"unresolved": 1},
        3,
        given={"control": ["ok", "fail"]},
    ),
    case("nobody listens", [], {"vendor_failure": 1}, 0, given={"listen": False}),
    case(
        "repeats from a cache",
        [*reply({"json": {**ANSWER, "id": "same", "answer": "15"}}), FOREVER],
        {"answered": 4},
        4,
        effect="flag",
        settings={"repetitions": 2},
        flags=["cached_repeat", "identical_answers"],
        effective_n=2,
    ),
    case(
        "input cut",
        [*reply({"json": {**ANSWER, "usage": {"input_tokens": 50}}}), FOREVER],
        {"answered": 1},
        1,
        effect="flag",
        flags=["input_cut"],
        given={"own_estimate_tokens": 100},
        settings={
            "mapping": {"answer": "$.answer", "version": "$.version", "usage.input_tokens": "$.usage.input_tokens"}
        },
    ),
    case(
        "proxy variables",
        OK,
        {"answered": 2},
        2,
        given={
            "env": {
                "HTTPS_PROXY": "http://127.0.0.1:{proxy_port}",
                "HTTP_PROXY": "http://127.0.0.1:{proxy_port}",
                "NO_PROXY": "fe80::/10",
            }
        },
        proxy_bytes=0,
    ),
    case(
        "user in the address",
        OK,
        {},
        0,
        effect="abort_before_first_item",
        given={"url": "http://user@127.0.0.1:{port}/"},
        exit_code=2,
    ),
    case("killed", OK, {"answered": 6}, 6, given={"kill_9_after_durable_results": 3}),
    case("exposure withdrawn", OK, {"answered": 2, "not_sent": 2}, 2, given={"exposure_withdrawn_items": [2, 4]}),
    case("preflight and probes", OK, {"answered": 4}, 11, given={"preflight": True}),
    case(
        "preflight of another version",
        [*reply({"json": {**ANSWER, "version": "x"}}), FOREVER],
        {},
        None,
        effect="abort_before_first_item",
        given={"preflight": True},
    ),
    case(
        "expired certificate",
        OK,
        {},
        None,
        effect="abort_before_first_item",
        given={"preflight": True, "tls": [{"from_request": 1, "certificate": "expired", "key": "k1"}]},
    ),
]


@pytest.mark.parametrize("made", CASES)
def test_case(made, tmp_path, monkeypatch):
    play_vector(made, {}, tmp_path, monkeypatch)
