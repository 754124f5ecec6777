"""The wire against real sockets that do their worst."""

from __future__ import annotations

import asyncio
import base64
import gzip
import socket
import time
import tracemalloc

import pytest

from slaverify.engine import Fault, WireRequest, WireResult
from slaverify.engine.address import Address
from slaverify.engine.connect import GuardedResolver, PrivateAddressError
from slaverify.engine.wire import HttpWire, Secrets, environment_proxies, post_timestamp
from slaverify.errors import EndpointError
from tests.engine.certificates import Authority
from tests.engine.endpoints import endpoint_spec
from tests.engine.raw_server import RawServer, SilentListener

JSON = [["Content-Type", "application/json"]]


def reply(*bodies, status=200, headers=JSON, framing="length", conn="a", end=True, **more):
    steps = [{"op": "accept", "conn": conn}]
    steps.append({"op": "send_head", "conn": conn, "status": status, "headers": headers, "framing": framing, **more})
    steps += [{"op": "send_body", "conn": conn, **body} for body in bodies]
    return [*steps, {"op": "end", "conn": conn}] if end else steps


def send(spec, *, times=1, body=b"{}", roots=None, secrets=None) -> list[WireResult]:
    async def work():
        async with HttpWire(spec, secrets or Secrets({}), roots=roots) as wire:
            return [await wire.send(WireRequest(body)) for _ in range(times)]

    return asyncio.run(work())


def play(script, *, times=1, tls=None, roots=None, tls_=None, **endpoint):
    with RawServer(script, tls=tls) as server:
        scheme = "https" if tls else "http"
        spec = endpoint_spec(f"{scheme}://127.0.0.1:{server.port}/", **({"tls": tls_} if tls_ else {}), **endpoint)
        results = send(spec, times=times, roots=roots)
    return results, server


def test_what_came_back_is_told_whole():
    (result,), _ = play(reply({"text": '{"a":1}'}, headers=[*JSON, ["X-Y", "z"]]))
    assert (result.status, result.body, result.framing, result.fault) == (200, b'{"a":1}', "length", None)
    assert dict(result.headers)["X-Y"] == "z"
    assert result.wire_bytes == 7
    assert result.peer is not None
    assert result.peer.startswith("127.0.0.1:")
    assert result.started_ns <= result.sent_ns <= result.first_byte_ns <= result.ended_ns


def test_chunked_and_close_framing():
    for framing in ("chunked", "close"):
        (result,), _ = play(reply({"text": '{"a":'}, {"text": "1}"}, framing=framing))
        assert (result.body, result.framing, result.fault) == (b'{"a":1}', framing, None)


def test_headers_are_a_fixed_list():
    with RawServer(reply({"text": "{}"})) as server:
        spec = endpoint_spec(
            f"http://127.0.0.1:{server.port}/x?y=1",
            headers={"X-Tenant": "7"},
            auth={"secret": "env:KEY", "header": "X-Api-Key", "scheme": ""},
            user_agent="neutral/1",
        )
        send(spec, secrets=Secrets({"env:KEY": "secret-value"}), body=b'{"q":"x"}')
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /x?y=1 HTTP/1.1"
    assert {line.partition(":")[0].lower(): line.partition(": ")[2] for line in lines[1:]} == {
        "host": f"127.0.0.1:{server.port}",
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "gzip",
        "user-agent": "neutral/1",
        "content-length": "9",
        "x-tenant": "7",
        "x-api-key": "secret-value",
    }
    assert body == b'{"q":"x"}'


def test_no_cookie_is_kept():
    script = reply({"text": "{}"}, headers=[*JSON, ["Set-Cookie", "track=1; Path=/"]]) + reply({"text": "{}"})
    _, server = play(script, times=2)
    assert all(b"cookie" not in request.lower() for request in server.requests)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_never_followed(status):
    with SilentListener() as second:
        location = [["Location", f"http://127.0.0.1:{second.port}/"]]
        (result,), server = play(reply(status=status, headers=location))
        assert second.connections() == 0
    assert (result.status, len(server.requests)) == (status, 1)


def test_proxies_of_the_environment_get_nothing(monkeypatch):
    with SilentListener() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "fe80::/10")
        (result,), _ = play(reply({"text": "{}"}))
        assert proxy.connections() == 0
    assert result.status == 200
    assert environment_proxies(["HTTP_PROXY", "PATH", "no_proxy"]) == ("HTTP_PROXY", "no_proxy")


def test_the_certificate_path_of_the_environment_is_not_read(monkeypatch, tmp_path):
    authority = Authority()
    (tmp_path / "roots.pem").write_text(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "roots.pem"))
    (result,), server = play([{"op": "accept", "conn": "a"}], tls=lambda _: authority.server("k"))
    assert (result.fault, server.requests) == (Fault.TLS, [])


def test_a_body_in_drips_meets_the_total_deadline():
    drips = [
        step
        for _ in range(20)
        for step in ({"op": "send_body", "conn": "a", "text": " "}, {"op": "delay", "seconds": 0.3})
    ]
    script = [*reply(declared_length=100, end=False), *drips]
    (result,), _ = play(script, call={"total_timeout_s": "1"})
    assert result.fault is Fault.DEADLINE
    assert 0.9 < (result.ended_ns - result.started_ns) / 1e9 < 1.5


@pytest.mark.parametrize("steps", [[{"op": "accept", "conn": "a"}, {"op": "delay", "seconds": 5}]])
def test_silence_meets_the_total_deadline(steps):
    (result,), _ = play(steps, call={"total_timeout_s": "0.5"})
    assert (result.fault, result.status) == (Fault.DEADLINE, None)


def test_a_decompression_bomb_is_cut_in_flat_memory():
    bomb = base64.b64encode(gzip.compress(b"A" * 30_000_000)).decode()
    script = reply({"base64": bomb}, headers=[*JSON, ["Content-Encoding", "gzip"]])
    tracemalloc.start()
    (result,), _ = play(script)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.fault is Fault.BODY_TOO_LARGE
    assert len(result.body) == 262_144
    assert peak < 8_000_000


def test_a_long_body_is_cut_on_the_wire():
    (result,), _ = play(reply({"parts": [{"text": "x", "repeat": 2_000_000}]}), call={"max_response_bytes": 1000})
    assert result.fault is Fault.BODY_TOO_LARGE
    assert len(result.body) <= 1000


@pytest.mark.parametrize(
    ("body", "encode", "fault", "text"),
    [
        ("{}", "gzip", None, b"{}"),
        ("{}", "utf-8", Fault.GZIP, b""),
        ("", "utf-8", Fault.GZIP, b""),
    ],
)
def test_gzip(body, encode, fault, text):
    script = reply({"text": body, "encode": encode}, headers=[*JSON, ["Content-Encoding", "gzip"]])
    (result,), _ = play(script)
    assert (result.fault, result.body) == (fault, text)


def test_gzip_that_stops_short_and_members_in_sequence():
    whole = gzip.compress(b'{"a":') + gzip.compress(b"1}")
    for data, fault in ((whole, None), (whole[:-4], Fault.GZIP), (whole + b"junk", Fault.GZIP)):
        script = reply({"base64": base64.b64encode(data).decode()}, headers=[*JSON, ["Content-Encoding", "gzip"]])
        (result,), _ = play(script)
        assert result.fault is fault
        assert result.body.startswith(b'{"a":1}' if data != whole[:-4] else b'{"a":')


@pytest.mark.parametrize("coding", ["zstd", "br", "deflate", "gzip, gzip"])
def test_a_coding_that_was_not_offered(coding):
    (result,), _ = play(reply({"text": "{}"}, headers=[*JSON, ["Content-Encoding", coding]]))
    assert result.fault is Fault.CODING


def raw(data: bytes, *, close=True):
    encoded = base64.b64encode(data).decode()
    steps = [{"op": "accept", "conn": "a"}, {"op": "send_body", "conn": "a", "base64": encoded}]
    return [*steps, {"op": "close", "conn": "a"}] if close else steps


OK = b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("data", "faults"),
    [
        (b"", {Fault.RESET}),
        (b"nonsense\r\n\r\n", {Fault.BAD_HEAD}),
        (b"SSH-2.0-OpenSSH_9\r\n", {Fault.BAD_HEAD}),
        (b"HTTP/1.1 xyz\r\n\r\n", {Fault.BAD_HEAD}),
        (b"HTTP/1.1 200", {Fault.RESET, Fault.BAD_HEAD}),
        (OK + b"Content-Length: 10\r\n\r\n{}", {Fault.SHORT_BODY}),
        (OK + b"Content-Length: 10\r\nContent-Length: 2\r\n\r\n{}", {Fault.BAD_HEAD}),
        (OK + b"Content-Length: -2\r\n\r\n{}", {Fault.BAD_HEAD}),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", {Fault.SHORT_BODY}),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n", {Fault.SHORT_BODY, Fault.BAD_HEAD}),
        (OK + b"X: " + b"a" * 70_000 + b"\r\n\r\n", {Fault.HEADERS_TOO_LARGE, Fault.BAD_HEAD}),
        (OK + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(70)) + b"\r\n", {Fault.HEADERS_TOO_LARGE}),
        (OK + b"".join(b"X-%d: a\r\n" % n for n in range(5000)) + b"\r\n", {Fault.HEADERS_TOO_LARGE, Fault.BAD_HEAD}),
    ],
)
def test_broken_http_is_one_typed_fault(data, faults):
    (result,), _ = play(raw(data))
    assert result.fault in faults


def test_a_reset_before_and_inside_the_body():
    (result,), _ = play([{"op": "accept", "conn": "a"}, {"op": "reset", "conn": "a"}])
    assert result.fault is Fault.RESET
    script = [
        *reply({"text": '{"a'}, declared_length=50, end=False),
        {"op": "delay", "seconds": 0.1},
        {"op": "reset", "conn": "a"},
    ]
    (result,), _ = play(script)
    assert (result.fault, result.body) == (Fault.SHORT_BODY, b'{"a')


def test_an_idempotent_method_is_not_sent_again_behind_our_back():
    script = [
        *reply({"text": "{}"}),
        {"op": "accept", "conn": "a"},
        {"op": "reset", "conn": "a"},
        *reply({"text": "{}"}),
    ]
    results, server = play(script, times=2, method="GET")
    assert [result.fault for result in results] == [None, Fault.RESET]
    assert len(server.requests) == 2


def test_refused_and_unknown_hosts():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert send(endpoint_spec(f"http://127.0.0.1:{port}/"))[0].fault is Fault.CONNECT
    assert send(endpoint_spec("https://no-such-host.invalid/"))[0].fault is Fault.DNS


def test_a_name_that_resolves_to_a_private_address_is_not_called():
    resolver_of = GuardedResolver

    async def resolve():
        resolver = resolver_of((), loopback=False)
        return await resolver.resolve("localhost", 80)

    with pytest.raises(PrivateAddressError):
        asyncio.run(resolve())
    # And through the wire: the host of the spec is one that only resolves to the own machine.
    spec = endpoint_spec("https://api.ejemplo.cl/")
    object.__setattr__(spec, "address", Address("https://localhost:1/", "https", "localhost", 1, False))
    assert send(spec)[0].fault is Fault.PRIVATE_ADDRESS


def test_tls_is_verified_and_the_key_recorded():
    authority, other = Authority(), Authority()
    script = [*reply({"text": "{}"}), {"op": "close", "conn": "a"}]
    (result,), _ = play(script, tls=lambda _: authority.server("k"), roots=authority.pem)
    assert (result.fault, result.spki, result.tls_version) == (None, authority.spki("k"), "TLSv1.3")
    for bad in (other.server("k"), authority.server("old", days=-1)):
        (result,), server = play(script, tls=lambda _, bad=bad: bad, roots=authority.pem)
        assert (result.fault, server.requests) == (Fault.TLS, [])


def test_a_pinned_key_that_differs_ends_before_a_byte_of_the_request():
    authority = Authority()
    pins = {"spki_pins": [authority.spki("other")]}
    (result,), server = play(reply({"text": "{}"}), tls=lambda _: authority.server("k"), roots=authority.pem, tls_=pins)
    assert (result.fault, server.requests) == (Fault.KEY_MISMATCH, [])


# Timestamp requests.

REPLY = [["Content-Type", "application/timestamp-reply"]]


def stamp(script):
    with RawServer(script) as server:
        try:
            return post_timestamp(f"http://127.0.0.1:{server.port}/tsr", b"\x30\x03req"), server
        except EndpointError as error:
            return error, server


def test_a_timestamp_reply_is_returned():
    data = base64.b64encode(b"\x30\x80token").decode()
    result, server = stamp(reply({"base64": data}, headers=REPLY))
    assert result == b"\x30\x80token"
    assert b"content-type: application/timestamp-query" in server.requests[0].lower()
    assert server.requests[0].endswith(b"\r\n\r\n\x30\x03req")


def test_a_timestamp_is_tried_three_times():
    bad = [*reply({"text": "x"}, status=503), {"op": "repeat", "from": 0, "times": None}]
    began = time.monotonic()
    result, server = stamp(bad)
    assert isinstance(result, EndpointError)
    assert (result.code, result.exit_code, len(server.requests)) == ("SLV-R020", 6, 3)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "script",
    [
        reply({"text": "x"}, headers=[["Content-Type", "text/html"]]),
        reply(status=302, headers=[["Location", "http://127.0.0.1:1/"]]),
        reply({"text": "x"}, status=404),
    ],
)
def test_timestamps_that_are_refused_at_once(script):
    result, server = stamp(script)
    assert isinstance(result, EndpointError)
    assert len(server.requests) == 1


def test_a_timestamp_works_inside_a_running_loop():
    async def inside():
        return stamp(reply({"text": "t"}, headers=REPLY))[0]

    assert asyncio.run(inside()) == b"t"


def test_a_reply_above_the_cap_is_refused():
    result, _ = stamp(
        [
            *reply({"parts": [{"text": "x", "repeat": 70_000}]}, headers=REPLY),
            {"op": "repeat", "from": 0, "times": None},
        ]
    )
    assert isinstance(result, EndpointError)


def test_addresses_of_authorities():
    for url in ("ftp://127.0.0.1/", "http://user@127.0.0.1/", "nonsense", "http://"):
        with pytest.raises(EndpointError) as caught:
            post_timestamp(url, b"", code="SLV-K072")
        assert caught.value.code == "SLV-K072"
