"""Connections of the wire: the session, its TLS, where it may connect, and who answered.

Nothing is read from the environment (no proxy, no netrc, no certificate path), no cookie is kept, and a pinned
key that differs ends the handshake before a byte of the request is written.

Source: docs/spec/run.md, section "Wire reader"; RFC 7469 for the SPKI digest.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import socket
import ssl
from contextvars import ContextVar
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import aiohttp
import certifi
from aiohttp.abc import AbstractResolver, ResolveResult

from slaverify.engine.address import Address, IpNetwork, address_allowed
from slaverify.engine.exchange import WireResult

if TYPE_CHECKING:
    from aiohttp.connector import Connection

MAX_HEADERS = 65_536
"""Cap of the head of a response, bytes (convention)."""

current: ContextVar[WireResult | None] = ContextVar("current", default=None)
"""The attempt that the running task carries out; the session writes times and peer there."""


class PinMismatchError(ssl.SSLError):
    """The server's key is not one of those that the contract pins."""


class PrivateAddressError(OSError):
    """The host resolves to an address that may not be called."""


class NoteResponse(aiohttp.ClientResponse):
    """A response that notes when its request went out and over which connection."""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Note the connection, then read the head."""
        result = current.get()
        if result is not None:
            result.sent_ns = monotonic_ns()
            _note_peer(result, connection.transport)
        response = await super().start(connection)
        if result is not None:
            result.first_byte_ns = monotonic_ns()
        return response


def _note_peer(result: WireResult, transport: asyncio.Transport | None) -> None:
    if transport is None:
        return
    peer = transport.get_extra_info("peername")
    if isinstance(peer, tuple) and len(peer) >= 2:
        result.peer = f"[{peer[0]}]:{peer[1]}" if ":" in str(peer[0]) else f"{peer[0]}:{peer[1]}"
    tls = transport.get_extra_info("ssl_object")
    if isinstance(tls, PinnedTls):
        result.spki = tls.spki
        result.tls_version = tls.version()


class PinnedTls(ssl.SSLObject):
    """A TLS connection that knows the digest of the server's key and checks it inside the handshake."""

    spki: str | None = None

    def do_handshake(self) -> None:
        """Shake hands, then hold the key against the pins of the context."""
        super().do_handshake()
        certificate = self.getpeercert(binary_form=True)
        self.spki = None if certificate is None else spki_sha256(certificate)
        context = self.context
        pins = context.pins if isinstance(context, PinnedContext) else frozenset[str]()
        if pins and self.spki not in pins:
            raise PinMismatchError(f"server key {self.spki}")


class PinnedContext(ssl.SSLContext):
    """A client context with pins: verification is always on, TLS 1.2 at least."""

    pins: frozenset[str] = frozenset()


def tls_context(pins: frozenset[str], roots: str | None = None) -> PinnedContext:
    """Return the context of a run. `roots` is PEM text in place of the public roots, for private authorities."""
    context = PinnedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.pins = pins
    context.sslobject_class = PinnedTls
    if roots is None:
        context.load_verify_locations(cafile=certifi.where())
    else:
        context.load_verify_locations(cadata=roots)
    return context


def spki_sha256(certificate: bytes) -> str:
    """Return the SHA-256 of the public key of a DER certificate, hex. Source: RFC 7469 2.4."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from cryptography.x509 import load_der_x509_certificate

    key = load_der_x509_certificate(certificate).public_key()
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


class GuardedResolver(AbstractResolver):
    """Resolves names and refuses what is neither public nor named by the contract."""

    def __init__(self, networks: tuple[IpNetwork, ...], *, loopback: bool) -> None:
        self._inner = aiohttp.ThreadedResolver()
        self._networks = networks
        self._loopback = loopback

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the allowed addresses of `host`. Raises: PrivateAddressError if there is none."""
        results = await self._inner.resolve(host, port, family)
        allowed = [result for result in results if self._allowed(result["host"])]
        if results and not allowed:
            raise PrivateAddressError(f"{host} resolves to a private address")
        return allowed

    def _allowed(self, text: str) -> bool:
        address = ipaddress.ip_address(text.partition("%")[0])
        if self._loopback:
            return address.is_loopback
        return address_allowed(address, self._networks)

    async def close(self) -> None:
        """Release the resolver."""
        await self._inner.close()


def new_session(
    address: Address, networks: tuple[IpNetwork, ...], context: ssl.SSLContext, connections: int, *, guard: bool
) -> aiohttp.ClientSession:
    """Return the session of a run: one pool as large as the workers, no cookies, no environment, no redirects.

    `guard` is off only where a proxy of the contract resolves the name.
    """
    resolver = GuardedResolver(networks, loopback=address.loopback) if guard else None
    connector = aiohttp.TCPConnector(
        limit=connections,
        limit_per_host=connections,
        ssl=context,
        resolver=resolver,
        ttl_dns_cache=60,
        keepalive_timeout=30,
    )
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        response_class=NoteResponse,
        trust_env=False,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_read=None, sock_connect=None),
        max_line_size=MAX_HEADERS,
        max_field_size=MAX_HEADERS,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    )
    # aiohttp sends an idempotent request again by itself when a kept connection broke: attempts are counted here.
    silent_retry: Any = session
    silent_retry._retry_connection = False
    return session
