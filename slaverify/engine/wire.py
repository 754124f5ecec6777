"""The only door to the network, and the only importer of the HTTP client. Stands on the edge to the vendor.

Any byte sequence and any timing may arrive here. What leaves is a `WireResult`: one total deadline over
connect, TLS, write and read; caps on head, wire and inflated bytes; no redirect, cookie, proxy or setting of
the environment; every exception becomes one typed fault.

Source: docs/spec/run.md, section "Wire reader".
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic_ns
from types import TracebackType
from typing import TypeVar

import aiohttp
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from multidict import CIMultiDict
from yarl import URL

from slaverify.engine.address import Address, parse_address
from slaverify.engine.body import framing
from slaverify.engine.connect import (
    MAX_HEADERS,
    PinMismatchError,
    PrivateAddressError,
    current,
    new_session,
    tls_context,
)
from slaverify.engine.credentials import Secrets, read_secrets
from slaverify.engine.exchange import WireRequest, WireResult, kept_headers
from slaverify.engine.faults import Fault
from slaverify.engine.headers import request_headers
from slaverify.engine.inflate import InflateError, Inflater
from slaverify.engine.spec import EndpointSpec
from slaverify.errors import EndpointError, Text

__all__ = ["HttpWire", "PostClient", "Secrets", "ask_controls", "environment_proxies", "post_timestamp", "read_secrets"]

TSA_TIMEOUT_S = 10.0
TSA_MAX_BYTES = 65_536
TSA_ATTEMPTS = 3
CONTROL_TIMEOUT_S = 5.0
_FRAMING_HEADERS = frozenset({"content-length", "transfer-encoding", "content-encoding"})
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Message:
    """One request as it goes out."""

    method: str
    url: URL
    headers: CIMultiDict[str]
    body: bytes
    proxy: URL | None = None
    proxy_auth: aiohttp.BasicAuth | None = None


class HttpWire:
    """The client of a run. Use as `async with HttpWire(spec, secrets) as wire:` inside one event loop."""

    def __init__(
        self, spec: EndpointSpec, secrets: Secrets, *, connections: int | None = None, roots: str | None = None
    ) -> None:
        """Prepare the client; `roots` (PEM) replaces the public authorities where the endpoint has a private one."""
        self._spec = spec
        self._connections = connections or spec.call.concurrency
        self._context = tls_context(spec.spki_pins, roots)
        self._headers = _headers(spec, secrets)
        self._url = URL(spec.address.url)
        self._proxy, self._proxy_auth = _proxy(spec.proxy)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> HttpWire:
        guard = self._spec.proxy is None
        self._session = new_session(
            self._spec.address, self._spec.networks, self._context, self._connections, guard=guard
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, request: WireRequest) -> WireResult:
        """Send one request and return what came back; a fault is a value, never an exception."""
        if self._session is None:
            raise RuntimeError("the wire is not open")
        headers = self._headers
        if request.extra_headers:
            headers = CIMultiDict(headers)
            headers.extend(request.extra_headers)
        call = self._spec.call
        message = _Message(self._spec.method, self._url, headers, request.body, self._proxy, self._proxy_auth)
        return await _exchange(self._session, message, float(call.total_timeout_s), call.max_response_bytes)


class PostClient:
    """Posts to one address of the auditor's own (a judge), under the rules of a run's client; used like `HttpWire`."""

    def __init__(self, url: str, *, where: str, connections: int = 1, roots: str | None = None) -> None:
        """Prepare the client. Raises: ContractError as `parse_address`, at the place `where`."""
        self._address = parse_address(url, where=where)
        self._connections = connections
        self._context = tls_context(frozenset(), roots)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> PostClient:
        self._session = new_session(self._address, (), self._context, self._connections, guard=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(self, body: bytes, headers: Sequence[tuple[str, str]], total_s: float, cap: int) -> WireResult:
        """Post one body and return what came back, at most `cap` bytes in `total_s` seconds; a fault is a value."""
        if self._session is None:
            raise RuntimeError("the client is not open")
        message = _Message("POST", URL(self._address.url), CIMultiDict(headers), body)
        return await _exchange(self._session, message, total_s, cap)


def _headers(spec: EndpointSpec, secrets: Secrets) -> CIMultiDict[str]:
    auth = spec.auth
    return CIMultiDict(request_headers(spec, None if auth is None else secrets.header_value(auth.scheme, auth.secret)))


def _proxy(text: str | None) -> tuple[URL | None, aiohttp.BasicAuth | None]:
    if text is None:
        return None, None
    url = URL(text)
    if url.user is None:
        return url, None
    return url.with_user(None), aiohttp.BasicAuth(url.user, url.password or "")


async def _exchange(session: aiohttp.ClientSession, message: _Message, total_s: float, cap: int) -> WireResult:
    result = WireResult(started_ns=monotonic_ns())
    token = current.set(result)
    inflater: list[Inflater] = []
    try:
        async with asyncio.timeout(total_s) as deadline:
            await _read(session, message, result, cap, inflater)
    except Exception as error:  # noqa: BLE001 - the edge: whatever a hostile peer provokes becomes one typed fault
        result.fault = Fault.DEADLINE if deadline.expired() else _fault_of(error, result)
        result.detail = type(error).__name__
    finally:
        current.reset(token)
        if not result.ended_ns:
            result.ended_ns = monotonic_ns()
    if inflater and not result.body:
        result.body = inflater[0].partial()
    return result


async def _read(
    session: aiohttp.ClientSession, message: _Message, result: WireResult, cap: int, keep: list[Inflater]
) -> None:
    async with session.request(
        message.method,
        message.url,
        headers=message.headers,
        data=message.body or None,
        allow_redirects=False,
        proxy=message.proxy,
        proxy_auth=message.proxy_auth,
    ) as response:
        raw = response.raw_headers
        result.status = response.status
        result.headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in raw)
        if sum(len(name) + len(value) + 4 for name, value in raw) > MAX_HEADERS:
            result.fault = Fault.HEADERS_TOO_LARGE
            return
        named = kept_headers(result.headers, _FRAMING_HEADERS)
        result.framing = framing(named)
        coding = named.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", "x-gzip", ""):
            result.fault = Fault.CODING
            return
        body = Inflater(cap, encoded=coding in ("gzip", "x-gzip"))
        keep.append(body)
        await _collect(response.content, body, result, cap)


async def _collect(stream: aiohttp.StreamReader, body: Inflater, result: WireResult, cap: int) -> None:
    try:
        async for chunk in stream.iter_any():
            result.wire_bytes += len(chunk)
            if result.wire_bytes > cap:
                body.overflow = True
            else:
                body.feed(chunk)
            if body.overflow:
                result.fault = Fault.BODY_TOO_LARGE
                return
        result.ended_ns = monotonic_ns()
        result.body = body.finish()
    except InflateError:
        result.fault = Fault.GZIP


def _fault_of(error: BaseException, result: WireResult) -> Fault:
    chain = list(_chain(error))

    def any_of(*kinds: type[BaseException]) -> bool:
        return any(isinstance(link, kinds) for link in chain)

    # The outer name may mislead: the causes decide.
    if any_of(PinMismatchError):
        return Fault.KEY_MISMATCH
    if any_of(PrivateAddressError):
        return Fault.PRIVATE_ADDRESS
    if any_of(LineTooLong):
        return Fault.HEADERS_TOO_LARGE
    if result.status is not None:
        return Fault.SHORT_BODY if any_of(aiohttp.ClientError, OSError) else Fault.INTERNAL
    if any_of(aiohttp.ClientConnectorDNSError, socket.gaierror):
        return Fault.DNS
    if any_of(ssl.SSLError, aiohttp.ClientSSLError):
        return Fault.TLS
    if any_of(BadHttpMessage, aiohttp.ClientResponseError):
        return Fault.BAD_HEAD
    if any_of(aiohttp.ClientConnectorError, aiohttp.ClientProxyConnectionError, ConnectionRefusedError):
        return Fault.CONNECT
    if any_of(aiohttp.ServerDisconnectedError, ConnectionError, aiohttp.ClientPayloadError):
        return Fault.RESET
    if any_of(aiohttp.ClientConnectionError, OSError):
        return Fault.RESET if result.sent_ns is not None else Fault.CONNECT
    return Fault.INTERNAL


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def environment_proxies(environment: Sequence[str]) -> tuple[str, ...]:
    """Return the proxy variables among names of the environment: they are ignored, and that is printed."""
    return tuple(sorted(name for name in environment if name.lower() in _PROXY_VARIABLES))


async def ask_controls(urls: Sequence[str], *, roots: str | None = None) -> tuple[bool, ...]:
    """Ask each control URL once (GET, no item data, 5 s) and say which answered at all."""
    return tuple(await asyncio.gather(*(_answers(url, roots) for url in urls)))


async def _answers(url: str, roots: str | None) -> bool:
    address = parse_address(url, where="endpoint.control_urls")
    result = await _once("GET", address, b"", (("Accept", "*/*"),), CONTROL_TIMEOUT_S, TSA_MAX_BYTES, roots)
    return result.status is not None


async def _once(
    method: str,
    address: Address,
    body: bytes,
    headers: tuple[tuple[str, str], ...],
    timeout_s: float,
    cap: int,
    roots: str | None,
    *,
    guard: bool = True,
) -> WireResult:
    context = tls_context(frozenset(), roots)
    session = new_session(address, (), context, 1, guard=guard)
    try:
        sent = CIMultiDict([("User-Agent", "http-client/1"), *headers])
        return await _exchange(session, _Message(method, URL(address.url), sent, body), timeout_s, cap)
    finally:
        await session.close()


class _TsaUnavailableError(Exception):
    """This attempt failed in a way that another one may not."""


def post_timestamp(url: str, der: bytes, *, code: str = "SLV-R020", roots: str | None = None) -> bytes:
    """Send an RFC 3161 request and return the reply, at most 64 KiB of `application/timestamp-reply`.

    Ten seconds an attempt, three attempts, no redirects. `http` is allowed: a token is signed and bound to its
    request, so the channel adds nothing.

    Raises: EndpointError `code` (`SLV-R020`, or `SLV-K072` for the ledger), exit 6.
    Source: RFC 3161 3.4.
    """
    import stamina

    address = _tsa_address(url, code)
    headers = (("Content-Type", "application/timestamp-query"), ("Accept", "application/timestamp-reply"))
    try:
        for attempt in stamina.retry_context(
            on=_TsaUnavailableError,
            attempts=TSA_ATTEMPTS,
            timeout=None,
            wait_initial=0.5,
            wait_max=4.0,
            wait_jitter=0.5,
        ):
            with attempt:
                result = _in_own_loop(
                    lambda: _once("POST", address, der, headers, TSA_TIMEOUT_S, TSA_MAX_BYTES, roots, guard=False)
                )
                return _reply_of(result, url, code)
    except _TsaUnavailableError as error:
        raise _tsa_error(url, code, str(error)) from error
    raise AssertionError("unreachable")


def _tsa_address(url: str, code: str) -> Address:
    # A private `http` host would be refused for the endpoint; a timestamp authority may be one.
    try:
        parts = URL(url)
        host, port = parts.raw_host, parts.port
    except ValueError as error:
        raise _tsa_error(url, code, "address") from error
    if parts.scheme not in ("http", "https") or not host or port is None or parts.raw_authority.count("@"):
        raise _tsa_error(url, code, "address")
    if parts.fragment:
        raise _tsa_error(url, code, "address")
    return Address(str(parts), parts.scheme, host, port, False)


def _reply_of(result: WireResult, url: str, code: str) -> bytes:
    if result.fault is not None:
        raise _TsaUnavailableError(result.fault.value)
    if result.status is None or result.status >= 500 or result.status in (408, 425, 429):
        raise _TsaUnavailableError(f"HTTP {result.status}")
    if result.status != 200:
        raise _tsa_error(url, code, f"HTTP {result.status}")
    kind = {name.lower(): value for name, value in result.headers}.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/timestamp-reply":
        raise _tsa_error(url, code, f"content type {kind[:60]!r}")
    return result.body


def _tsa_error(url: str, code: str, detail: str) -> EndpointError:
    return EndpointError(
        code,
        Text(
            f"la autoridad de sellado de tiempo no respondió: {detail}",
            f"the timestamp authority gave no token: {detail}",
        ),
        fix=Text(
            "inténtelo más tarde o agregue otra en report.signature.tsa_urls",
            "try later or add another one in report.signature.tsa_urls",
        ),
        where=url,
        exit_code=6,
    )


def _in_own_loop(call: Callable[[], Awaitable[_T]]) -> _T:
    """Run a coroutine from synchronous code, also where this thread already runs a loop."""

    async def run() -> _T:
        return await call()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run())
    results: list[_T] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(asyncio.run(run()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
