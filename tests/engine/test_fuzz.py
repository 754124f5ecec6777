"""Random bytes from the vendor: only typed faults leave, and no partial text becomes an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.engine import Fault, Reading, Received, WireRequest, read_response
from slaverify.engine.body import complete_prefix, parse_json
from slaverify.engine.wire import HttpWire, Secrets
from tests.engine.answering_server import AnsweringServer, Reply
from tests.engine.endpoints import endpoint_spec

SPECS = [
    endpoint_spec(),
    endpoint_spec(adapter="openai_chat@1", response={}, request={"m": "${messages}"}),
    endpoint_spec(adapter="openai_chat_stream@1", response={}, request={"m": "${messages}"}),
]
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats()
names = st.sampled_from(["answer", "version", "error", "id", "choices", "message", "content", "model", "delta", "x"])
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=12
)
documents = trees.map(lambda tree: json.dumps(tree).encode())


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(documents | st.binary(max_size=200)))
    for _ in range(draw(st.integers(0, 3))):
        position = draw(st.integers(0, len(data)))
        data[position : position + draw(st.integers(0, 3))] = draw(st.binary(max_size=4))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"data: "])) + bytes(data)


headers = st.fixed_dictionaries(
    {},
    optional={
        "content-type": st.sampled_from(
            ["application/json", "text/event-stream", "text/html", "application/json;charset=x", ""]
        ),
        "content-length": st.just("1"),
        "retry-after": st.text(max_size=12),
        "date": st.text(max_size=12),
    },
)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(SPECS), broken(), headers, st.sampled_from([200, 200, 200, 204, 301, 400, 401, 404, 429, 500, 599])
)
def test_every_response_has_a_reading(spec, body, heads, status):
    reading = read_response(spec, Received(status, heads, body, None, 5))
    assert isinstance(reading, Reading)
    if reading.outcome is Outcome.ANSWERED:
        assert status == 200
        assert reading.answer is not None
        assert reading.answer.text.strip()
        reading.answer.text.encode("utf-8")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SPECS), broken(), headers, st.sampled_from(list(Fault)))
def test_a_fault_of_the_wire_never_gives_an_answer(spec, body, heads, fault):
    reading = read_response(spec, Received(200, heads, body, fault))
    assert (reading.answer, reading.fault) == (None, fault)
    assert reading.outcome is not Outcome.ANSWERED


plain = st.dictionaries(
    names, st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=3), max_size=3)
)


@settings(max_examples=300, deadline=None)
@given(plain, st.integers(1, 400))
def test_every_prefix_of_a_document_can_be_closed(tree, size):
    closed = complete_prefix(json.dumps(tree).encode()[:size])
    assert closed is not None
    assert parse_json(closed).fault is None


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_closing_never_raises(data):
    complete_prefix(data)


# The same over a socket: heads and framing are hostile too.

raw_replies = st.one_of(
    st.binary(max_size=400),
    st.builds(
        lambda status, lines, body: b"HTTP/1.1 " + status + b"\r\n" + b"".join(lines) + b"\r\n" + body,
        st.sampled_from(
            [b"200 OK", b"200", b"503 X", b"307 X", b"999 X", b"100 Continue", b"101 X", b"204 X", b"2\xff0 X"]
        ),
        st.lists(
            st.sampled_from(
                [
                    b"Content-Type: application/json\r\n",
                    b"Content-Length: 5\r\n",
                    b"Content-Length: 1e3\r\n",
                    b"Transfer-Encoding: chunked\r\n",
                    b"Transfer-Encoding: gzip\r\n",
                    b"Content-Encoding: gzip\r\n",
                    b"Content-Encoding: zstd\r\n",
                    b"Connection: close\r\n",
                    b"Set-Cookie: a=\xff\r\n",
                    b": x\r\n",
                    b"X\r\n",
                    b" folded\r\n",
                    b"Location: http://[::1\r\n",
                ]
            ),
            max_size=5,
        ),
        broken(),
    ),
)


class Sockets:
    """One server and one wire for all examples."""

    def __init__(self) -> None:
        self.next = b""
        self.server = AnsweringServer(lambda _: Reply(raw=self.next))
        self.loop = asyncio.new_event_loop()

    def send(self, data: bytes):
        self.next = data
        return self.loop.run_until_complete(self.wire.send(WireRequest(b"{}")))

    def __enter__(self) -> Sockets:
        self.server.__enter__()
        spec = endpoint_spec(self.server.url, call={"total_timeout_s": "2", "max_response_bytes": 4096})
        self.wire = HttpWire(spec, Secrets({}))
        self.loop.run_until_complete(self.wire.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.run_until_complete(self.wire.__aexit__(None, None, None))
        self.server.__exit__()
        self.loop.close()


@pytest.fixture(scope="module")
def sockets() -> Iterator[Sockets]:
    with Sockets() as made:
        yield made


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=raw_replies)
def test_every_stream_of_bytes_is_a_result(sockets, data):
    result = sockets.send(data)
    assert result.fault is None or isinstance(result.fault, Fault)
    assert result.fault is not Fault.INTERNAL, result.detail
    assert len(result.body) <= 4096
    assert result.fault is not None or result.status is not None
