"""Asking authorities: what is accepted, what makes the next one be asked, and what is left when none answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import EvidenceError, ReportError
from slaverify.evidence.pades import make_authority, reply_facts, sign_pdf
from slaverify.evidence.timestamp import Authority, Stamper, TokenReader
from tests.evidence.pki import NOW, Tsa, auditor, tsa, unsigned_pdf

DATA = b"checkpoint body\n"


def down(_: bytes) -> bytes:
    raise TimeoutError("no answer")


def other_data(request: bytes) -> bytes:
    digest = sha256(DATA).digest()
    return tsa().transport(request.replace(digest, sha256(b"other").digest()))


def untrusted(request: bytes) -> bytes:
    return Tsa(make_authority(NOW, "Otra", None)).transport(request)


BAD: dict[str, Callable[[bytes], bytes]] = {
    "down": down,
    "empty": lambda _: b"",
    "html": lambda _: b"<html>502</html>",
    "long": lambda request: tsa().transport(request) + bytes(70_000),
    "refused": lambda _: bytes.fromhex("30053003020102"),
    "other data": other_data,
    "untrusted": untrusted,
    "echo": lambda request: request,
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_the_next_authority_is_asked(name: str) -> None:
    stamper = Stamper([Authority("a", BAD[name]), Authority("b", tsa().transport)], (tsa().root,))
    reply = stamper.stamp(DATA)
    assert reply_facts(reply, sha256(DATA).digest(), (tsa().root,)).imprint_matches


@pytest.mark.parametrize("name", sorted(BAD))
def test_none_answers(name: str) -> None:
    with pytest.raises(ReportError) as caught:
        Stamper([Authority("https://a.example", BAD[name])], (tsa().root,)).stamp(DATA)
    assert (caught.value.code, caught.value.exit_code) == ("SLV-R020", 6)
    assert "https://a.example" in caught.value.where


def test_no_authority_at_all() -> None:
    with pytest.raises(ReportError):
        Stamper([], ()).stamp(DATA)


def test_an_old_reply_is_not_a_new_one() -> None:
    seen: list[bytes] = []

    def replay(request: bytes) -> bytes:
        seen.append(request)
        return tsa().transport(seen[0])

    stamper = Stamper([Authority("a", replay)], (tsa().root,))
    stamper.stamp(DATA)
    with pytest.raises(ReportError):
        stamper.stamp(DATA)


def test_attempts_are_counted() -> None:
    calls: list[int] = []

    def failing(_: bytes) -> bytes:
        calls.append(1)
        raise OSError("refused")

    with pytest.raises(ReportError):
        Stamper([Authority("a", failing), Authority("b", failing)], (), attempts=3).stamp(DATA)
    assert len(calls) == 6


def test_one_token_a_signature() -> None:
    authority = Tsa(tsa().identity)
    sign_pdf(unsigned_pdf(), auditor(), authority.stamper().stamp_digest)
    assert len(authority.calls) == 1


def test_no_token_no_signature() -> None:
    with pytest.raises(ReportError) as caught:
        sign_pdf(unsigned_pdf(), auditor(), Stamper([Authority("a", down)], ()).stamp_digest)
    assert caught.value.code == "SLV-R020"


def test_custody_reads_the_time_of_a_reply() -> None:
    reply = tsa().stamper().stamp(DATA)
    found = TokenReader().time(DATA, reply, [tsa().root])
    assert (found.at, found.accuracy_ms, found.earliest) == (NOW, 1000, NOW - timedelta(seconds=1))
    for data, tsr, roots in ((b"other", reply, [tsa().root]), (DATA, reply[:-1], [tsa().root]), (DATA, reply, [])):
        with pytest.raises(EvidenceError) as caught:
            TokenReader().time(data, tsr, roots)
        assert caught.value.code == "SLV-E014"


@settings(max_examples=150)
@given(st.binary(max_size=200), st.integers(0, 900))
def test_no_reply_raises_anything_else(noise: bytes, cut: int) -> None:
    reply = tsa().stamper().stamp(DATA)
    for tsr in (noise, reply[:cut], reply[:cut] + noise):
        if tsr != reply:
            with pytest.raises(EvidenceError):
                TokenReader().time(DATA, tsr, [tsa().root])
