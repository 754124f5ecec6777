"""The two protocols over real sockets: what is sent, what comes back, and that every fault is a value."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from slaverify.contract.model.judge import Judge
from slaverify.engine.wire import read_secrets
from slaverify.errors import JudgeError
from slaverify.judging import FailureKind, JudgeFailure, Prompt, Received, Stop
from slaverify.judging.adapters import adapter_of, openai_chat
from slaverify.judging.adapters.http import HttpJudges
from slaverify.judging.parse import Asked, Reply, parse
from tests.judging.line import judge_block
from tests.simulator.judges import MODEL, sentinel_lines

PROMPT = Prompt("sistema", "usuario", "ab" * 16)
SCHEMA = {"type": "object"}
SECRET = "clave-del-juez-7731"
Answers = Callable[[dict[str, Any]], tuple[int, bytes]]


class Seen:
    def __init__(self) -> None:
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []


@contextmanager
def serving(answers: Answers) -> Iterator[tuple[str, Seen]]:
    seen = Seen()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.headers.append({key.lower(): value for key, value in self.headers.items()})
            seen.bodies.append(body)
            status, data = answers(body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen
    finally:
        server.shutdown()
        server.server_close()


def judge_at(url: str, **changes: Any) -> Judge:
    block = judge_block(url, sentinel_lines())
    (member,) = block["panel"]  # type: ignore[misc]
    member = {**member, **changes}  # type: ignore[dict-item]
    tree = {**block, "panel": [member], "retries": {"call_deadline_s": "2"}}
    return Judge.model_validate_json(json.dumps(tree))


def asked(answers: Answers, **changes: Any) -> tuple[Received, Seen]:
    with serving(answers) as (url, seen):
        auth = {"secret": "env:JUEZ", **changes.pop("auth", {})}
        judge = judge_at(url, **{"endpoint": {"url": url, "auth": auth}, **changes})

        async def once() -> Received:
            async with HttpJudges(judge, read_secrets(["env:JUEZ"], {"JUEZ": SECRET})) as judges:
                return await judges.ask("uno", PROMPT, SCHEMA)

        return asyncio.run(once()), seen


def openai(content: Any, finish: str = "stop", **message: Any) -> bytes:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    return json.dumps({"model": MODEL, "system_fingerprint": "fp", "choices": [choice], "usage": usage}).encode()


def claude(blocks: list[dict[str, Any]], stop: str = "end_turn") -> bytes:
    usage = {"input_tokens": 12, "output_tokens": 3}
    return json.dumps({"model": MODEL, "content": blocks, "stop_reason": stop, "usage": usage}).encode()


ANTHROPIC = {
    "adapter": "anthropic_messages@1",
    "api_version": "2023-06-01",
    "response_format": "none",
    "auth": {"header": "x-api-key", "scheme": ""},
}


def test_an_openai_request_holds_what_is_pinned_and_the_reply_is_read_whole() -> None:
    found, seen = asked(
        lambda _: (200, openai("{}")), parameters={"temperature": "0.5", "seed": 7, "max_output_tokens": 99}
    )
    (body,) = seen.bodies
    assert body == {
        "model": MODEL,
        "messages": [{"role": "system", "content": "sistema"}, {"role": "user", "content": "usuario"}],
        "n": 1,
        "temperature": 0.5,
        "top_p": 1,
        "seed": 7,
        "max_tokens": 99,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judgement", "strict": True, "schema": SCHEMA},
        },
    }
    assert seen.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert (found.raw, found.stop, found.echo, found.fingerprint, found.usage) == (
        b"{}",
        "complete",
        MODEL,
        "fp",
        (12, 3),
    )
    assert found.fault is None


def test_an_anthropic_request_names_its_version_and_its_key() -> None:
    found, seen = asked(lambda _: (200, claude([{"type": "text", "text": "{}"}])), **ANTHROPIC)
    (body,) = seen.bodies
    assert body == {
        "model": MODEL,
        "system": "sistema",
        "messages": [{"role": "user", "content": "usuario"}],
        "temperature": 0,
        "max_tokens": 1024,
    }
    assert seen.headers[0]["anthropic-version"] == "2023-06-01"
    assert seen.headers[0]["x-api-key"] == SECRET
    assert (found.raw, found.stop, found.echo, found.usage) == (b"{}", "complete", MODEL, (12, 3))


def kind(found: Received) -> FailureKind | None:
    reply = Reply(raw=found.raw, stop=found.stop, refused=found.refused, echo=found.echo, fault=found.fault)
    result = parse(reply, Asked(nonce="x", scales={"correctness": ("correct",)}, echo=MODEL))
    return result.kind if isinstance(result, JudgeFailure) else None


TEXT = {"type": "text", "text": "{}"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (openai(None, refusal="no"), FailureKind.REFUSAL),
        (openai("{}", "content_filter"), FailureKind.REFUSAL),
        (openai("{", "length"), FailureKind.INCOMPLETE_OUTPUT),
        (openai("{}", "tool_calls"), FailureKind.INCOMPLETE_OUTPUT),
        (openai([{"type": "text", "text": "{}"}]), FailureKind.INCOMPLETE_OUTPUT),
        (openai("{}", tool_calls=[{"id": "1"}]), FailureKind.INCOMPLETE_OUTPUT),
        (openai(None), FailureKind.EMPTY),
        (openai("\ud800"), FailureKind.BAD_ENCODING),
        (openai("{}").replace(MODEL.encode(), b"otro"), FailureKind.IDENTITY_MISMATCH),
        (openai("{}").replace(b'"model"', b'"modelo"'), FailureKind.IDENTITY_MISMATCH),
        (b'{"model":"x","choices":[]}', FailureKind.TRANSPORT),
        (b'{"model":"x","model":"y","choices":[]}', FailureKind.TRANSPORT),
        (b"<html>", FailureKind.TRANSPORT),
    ],
)
def test_what_an_openai_reply_can_be(data: bytes, expected: FailureKind) -> None:
    assert kind(asked(lambda _: (200, data))[0]) is expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (claude([TEXT], "max_tokens"), FailureKind.INCOMPLETE_OUTPUT),
        (claude([TEXT, TEXT]), FailureKind.INCOMPLETE_OUTPUT),
        (claude([{"type": "thinking", "thinking": "x"}, TEXT]), FailureKind.INCOMPLETE_OUTPUT),
        (claude([], "refusal"), FailureKind.REFUSAL),
        (claude([{"type": "text", "text": " "}]), FailureKind.EMPTY),
        (b'{"content": "x"}', FailureKind.TRANSPORT),
    ],
)
def test_what_an_anthropic_reply_can_be(data: bytes, expected: FailureKind) -> None:
    assert kind(asked(lambda _: (200, data), **ANTHROPIC)[0]) is expected


def error(code: str) -> bytes:
    return json.dumps({"error": {"code": code, "message": "x"}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "fault", "stop"),
    [
        (401, b"{}", "http_401", Stop.CREDENTIAL),
        (403, b"no", "http_403", Stop.CREDENTIAL),
        (429, error("rate_limit_exceeded"), "http_429", None),
        (429, error("insufficient_quota"), "http_429", Stop.QUOTA),
        (400, error("unsupported_response_format"), "http_400", Stop.REJECTED),
        (404, b"", "http_404", Stop.REJECTED),
        (503, b"", "http_503", None),
        (302, b"", "http_302", None),
    ],
)
def test_another_status_is_a_fault_and_some_stop_everything(
    status: int, body: bytes, fault: str, stop: Stop | None
) -> None:
    found, seen = asked(lambda _: (status, body))
    assert (found.fault, found.stop_all) == (fault, stop)
    assert len(seen.bodies) == 1


def test_the_words_of_a_server_that_rejects_are_printable_and_short() -> None:
    told = json.dumps({"error": {"message": "no \x1b[31mjson_schema\n" + "x" * 500}}).encode()
    found, _ = asked(lambda _: (400, told))
    assert found.detail.startswith("no [31mjson_schema xxx") and len(found.detail) == 160


def test_a_schema_leaves_in_its_order_so_that_the_reason_comes_before_the_mark() -> None:
    fields = {"reason": {"type": "string"}, "nonce": {"type": "string"}, "correctness": {"type": "string"}}
    body, _ = openai_chat.request(judge_at("http://127.0.0.1:9/v1").panel[0], PROMPT, {"properties": fields})
    schema = json.loads(body)["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["reason", "nonce", "correctness"]


def test_a_filter_in_front_of_the_model_is_a_refusal() -> None:
    found, _ = asked(lambda _: (400, error("content_filter")))
    assert kind(found) is FailureKind.REFUSAL


def test_nobody_listening_and_a_huge_body_are_values_and_no_secret_is_kept() -> None:
    judge = judge_at("http://127.0.0.1:9/v1")

    async def once() -> Received:
        async with HttpJudges(judge, read_secrets([])) as judges:
            return await judges.ask("uno", PROMPT, SCHEMA)

    assert asyncio.run(once()).fault == "connect"
    assert asked(lambda _: (200, openai("x" * 300_000)))[0].fault == "body_too_large"
    echoed, _ = asked(lambda _: (200, openai(f"su clave es {SECRET}")))
    assert echoed.raw == b"su clave es ***"


def test_an_adapter_that_does_not_exist_or_cannot_do_it_is_refused() -> None:
    with pytest.raises(JudgeError, match="SLV-J043"):
        adapter_of(judge_at("http://127.0.0.1:9/v1", adapter="gemini@1").panel[0])
    with pytest.raises(JudgeError, match="SLV-J044"):
        adapter_of(judge_at("http://127.0.0.1:9/v1", adapter="anthropic_messages@1").panel[0])
