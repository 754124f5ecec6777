"""Every reader of the custody room as a target: arbitrary bytes never crash it, and no changed input is accepted.

`READERS` take anything and may only refuse. `JUDGES` are an honest input with the whole judgement of who receives it:
the honest bytes pass, any others must be refused. `tests.fuzz.fuzz_custody` runs them under atheris.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slaverify.canonical import jcs
from slaverify.custody import (
    Expected,
    check_bank,
    item_bytes,
    merkle_root,
    parse_index,
    parse_manifest,
    parse_opening,
    parse_vkey,
    read_ledger,
    read_round,
    verify_ledger,
    verify_opening,
    verify_sshsig,
)
from slaverify.custody.entries import parse_entry, split_lines
from slaverify.custody.note import log_policy, parse_note, parse_proof, sign_checkpoint
from slaverify.custody.package import parse_attachment, parse_header, parse_item
from slaverify.custody.recovery import parse_plan, read_share
from slaverify.custody.stanzas import recipient_count
from slaverify.custody.witness import Seen, check_request, parse_request
from slaverify.custody.witnessing import request_for
from slaverify.errors import CustodyError
from tests.custody.forge import LOG, ORIGIN, Forge

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "custody.json").read_text("utf-8"))["cases"]


def _vector(name: str) -> dict:
    return next(case["input"] for case in VECTORS if case["id"] == name)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


READERS: dict[str, Callable[[bytes], object]] = {
    "item": item_bytes,
    "index": parse_index,
    "manifest": parse_manifest,
    "opening": parse_opening,
    "note": parse_note,
    "proof": lambda data: parse_proof(_text(data)),
    "sshsig": lambda data: verify_sshsig(b"", "ssh-ed25519 AAAA", _text(data)),
    "ssh-key": lambda data: verify_sshsig(b"", _text(data), ""),
    "entry": lambda data: parse_entry(data, "x"),
    "ledger": read_ledger,
    "package-header": parse_header,
    "package-item": lambda data: parse_item(data, 2),
    "attachment": lambda data: parse_attachment(data, 3),
    "stanzas": recipient_count,
    "witness-request": parse_request,
    "beacon-round": read_round,
    "share": read_share,
    "plan": lambda data: parse_plan(_text(data)),
    "vkey": lambda data: parse_vkey(_text(data)),
}


@dataclass(frozen=True)
class Judge:
    """An honest input, and the judgement that only it may pass."""

    honest: bytes
    judge: Callable[[bytes], object]


def _opening() -> Judge:
    case = _vector("custody-opening-query")
    manifest, digest, vkey = case["manifest"].encode(), case["contract_bank_digest"], case["bank_vkey"]
    return Judge(
        jcs(case["opening"]),
        lambda data: verify_opening(parse_opening(data), manifest, bank_digest=digest, bank_vkey=vkey),
    )


def _manifest() -> Judge:
    case, index = _vector("custody-opening-query"), _vector("custody-index-bank")["index_jsonl"].encode()
    proof = case["opening"]["proof"]
    checkpoint, digest, vkey = proof.partition("\n\n")[2].encode(), case["contract_bank_digest"], case["bank_vkey"]
    return Judge(
        case["manifest"].encode(),
        lambda data: check_bank(data, index, checkpoint, bank_digest=digest, log_vkey=vkey),
    )


def _index() -> Judge:
    case = _vector("custody-opening-query")
    manifest, checkpoint = case["manifest"].encode(), case["opening"]["proof"].partition("\n\n")[2].encode()
    return Judge(
        _vector("custody-index-bank")["index_jsonl"].encode(),
        lambda data: check_bank(
            manifest, data, checkpoint, bank_digest=case["contract_bank_digest"], log_vkey=case["bank_vkey"]
        ),
    )


def _forged() -> Forge:
    forge = Forge().started()
    forge.batch()
    forge.run("run_ended")
    return forge


def _ledger() -> Judge:
    forge = _forged()
    data = b"".join(line + b"\n" for line in forge.lines)
    view = read_ledger(data, forge.trust)
    expected = Expected(view.size, view.root)
    return Judge(data, lambda changed: verify_ledger(split_lines(changed), forge.trust, expected))


def _request() -> Judge:
    forge = _forged()
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines), forge.trust)

    class Point:
        size, data = view.size, sign_checkpoint(ORIGIN, view.size, view.root, LOG)

    seen = Seen(5, merkle_root(view[seq].leaf for seq in range(5)))
    policy = log_policy(ORIGIN, forge.trust.log_vkey)
    return Judge(request_for(view, Point(), 5), lambda data: check_request(parse_request(data), seen, policy))


def _ssh() -> Judge:
    case = _vector("custody-sshsig-good")
    return Judge(
        case["signature"].encode(),
        lambda data: verify_sshsig(case["body"].encode(), case["public_key"], data.decode("ascii", "replace")),
    )


JUDGES: dict[str, Callable[[], Judge]] = {
    "opening": _opening,
    "manifest": _manifest,
    "index": _index,
    "ledger": _ledger,
    "request": _request,
    "sshsig": _ssh,
}


@cache
def judge(name: str) -> Judge:
    """Return a judge, made once."""
    return JUDGES[name]()


def read_any(name: str, data: bytes) -> None:
    """Read arbitrary bytes; a refusal of the room is the only exception allowed."""
    try:
        READERS[name](data)
    except CustodyError:
        return
    except ValueError:
        # A verifier key is refused with a ValueError, which its callers turn into a refusal of theirs.
        if name != "vkey":
            raise


def refuses(name: str, data: bytes) -> None:
    """Judge bytes that are not the honest ones; they must be refused."""
    found = judge(name)
    if _bare(name, data) == _bare(name, found.honest):
        return
    try:
        found.judge(data)
    except CustodyError:
        return
    raise AssertionError(f"{name}: a changed input was accepted: {data!r}")


def _bare(name: str, data: bytes) -> bytes:
    # The armour of an SSH signature may be wrapped at will: its lines are joined before anything is read.
    return data.replace(b"\n", b"") if name == "sshsig" else data


def mutate(name: str, data: bytes) -> bytes:
    """Return the honest input with what `data` says done to it: overwrite, cut out, repeat, swap."""
    found = bytearray(judge(name).honest)
    while len(data) >= 5:
        act, where, size, data = data[0] % 4, int.from_bytes(data[1:3], "big") % len(found), data[3] % 33, data[4:]
        piece = bytes(found[where : where + size])
        if act == 0:
            found[where : where + 1] = data[:1]
            data = data[1:]
        elif act == 1 and len(found) > size:
            del found[where : where + size]
        elif act == 2:
            found[where:where] = piece
        elif act == 3:
            found[where : where + size] = piece[::-1]
        if not found:
            break
    return bytes(found)


def fuzz(name: str, seconds: int) -> subprocess.CompletedProcess[str]:
    """Run one target in a process of its own, from the honest input if there is one."""
    with tempfile.TemporaryDirectory() as corpus:
        if name in JUDGES:
            Path(corpus, "honest").write_bytes(judge(name).honest)
        words = [sys.executable, "-m", "tests.fuzz.fuzz_custody", name, f"-max_total_time={seconds}", corpus]
        return subprocess.run(words, capture_output=True, text=True, timeout=seconds + 60)
