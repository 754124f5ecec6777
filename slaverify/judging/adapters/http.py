"""The panel of a contract over the network: one client a member, every fault a value.

Trust boundary: any bytes may come back. Status, size and shape are checked here; the judge's own words are read by
`judging.parse` alone.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from types import TracebackType

from slaverify.canonical import JsonObject
from slaverify.contract.model.judge import Judge, JudgeMember
from slaverify.engine.wire import PostClient, Secrets
from slaverify.judging.adapters import Adapter, adapter_of
from slaverify.judging.adapters.bodies import UnreadableError, member_text, read_object, request_digest
from slaverify.judging.ports import Received, Stop
from slaverify.judging.prompt import Prompt

MAX_RESPONSE_BYTES = 262_144
"""Cap of a judge's response on the wire, bytes (convention)."""
_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded"})
_REJECTED = frozenset({400, 404, 405, 413, 415, 422})
"""Statuses of a request that the server will not take, however often it is sent."""
_LONGEST_DETAIL = 160
_FILTERED = frozenset({"content_filter", "content_policy_violation"})


class HttpJudges:
    """The judges of a panel. Use as `async with HttpJudges(judge, secrets) as judges:` inside one event loop."""

    def __init__(self, judge: Judge, secrets: Secrets, *, connections: int = 4, roots: str | None = None) -> None:
        """Prepare one client a member. Raises: JudgeError SLV-J043, SLV-J044, ContractError of the address."""
        self._members = {member.id: member for member in judge.panel}
        self._adapters: dict[str, Adapter] = {member.id: adapter_of(member) for member in judge.panel}
        self._secrets = secrets
        self._deadline_s = float(judge.retries.call_deadline_s)
        self._clients = {
            member.id: PostClient(
                member.endpoint.url, where="judge.panel.endpoint.url", connections=connections, roots=roots
            )
            for member in judge.panel
        }
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> HttpJudges:
        for client in self._clients.values():
            await self._stack.enter_async_context(client)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def ask(self, member: str, prompt: Prompt, schema: JsonObject) -> Received:
        """Ask one member once; a fault is a value, never an exception."""
        pinned, adapter = self._members[member], self._adapters[member]
        body, own = adapter.request(pinned, prompt, schema)
        digest = request_digest(body)
        headers = [*_HEADERS, *own, *self._authorisation(pinned)]
        result = await self._clients[member].post(body, headers, self._deadline_s, MAX_RESPONSE_BYTES)
        if result.fault is not None:
            return Received(request_digest=digest, fault=result.fault.value)
        if result.status != 200:
            return _refused(result.status, result.body, digest)
        try:
            received = adapter.read(self._secrets.redact(result.body), digest)
        except UnreadableError as error:
            return Received(request_digest=digest, fault=f"body_{error}")
        return received

    def _authorisation(self, member: JudgeMember) -> list[tuple[str, str]]:
        auth = member.endpoint.auth
        return [] if auth is None else [(auth.header, self._secrets.header_value(auth.scheme, auth.secret))]


_HEADERS = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json"),
    ("Accept-Encoding", "gzip"),
    ("User-Agent", "http-client/1"),
)


def _refused(status: int | None, body: bytes, digest: str) -> Received:
    code = _error_code(body)
    if status in (400, 403) and code in _FILTERED:
        return Received(request_digest=digest, refused=True, stop="content_filter")
    stop = None
    if status in (401, 403):
        stop = Stop.CREDENTIAL
    elif status == 429 and code in _QUOTA:
        stop = Stop.QUOTA
    elif status in _REJECTED:
        stop = Stop.REJECTED
    return Received(request_digest=digest, fault=f"http_{status}", stop_all=stop, detail=_detail(body))


def _detail(body: bytes) -> str:
    """Return what a server says of a request that it rejects: printable and short, or empty."""
    try:
        error = read_object(body).get("error")
    except UnreadableError:
        return ""
    told = member_text(error, "message") if isinstance(error, dict) else error
    words = "".join(one if one.isprintable() else " " for one in told) if isinstance(told, str) else ""
    return " ".join(words.split())[:_LONGEST_DETAIL]


def _error_code(body: bytes) -> str | None:
    try:
        error = read_object(body).get("error")
    except UnreadableError:
        return None
    if not isinstance(error, dict):
        return None
    return member_text(error, "code") or member_text(error, "type")
