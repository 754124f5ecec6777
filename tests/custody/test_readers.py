"""Every reader of the room, on arbitrary bytes and on good files with one byte changed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from slaverify.canonical import jcs, loads_object
from slaverify.custody import (
    CheckpointPolicy,
    Leaf,
    NoteKey,
    item_bytes,
    parse_index,
    parse_manifest,
    parse_opening,
    parse_vkey,
    part_bytes,
    slug,
    verify_checkpoint,
    verify_sshsig,
)
from slaverify.custody.entries import parse_entry, split_lines
from slaverify.custody.index import parse_leaf
from slaverify.custody.note import parse_note, parse_proof, sign_checkpoint
from slaverify.custody.package import parse_attachment, parse_header, parse_item
from slaverify.custody.stanzas import recipient_count
from slaverify.errors import CustodyError
from tests.custody.forge import LOG, ORIGIN, Forge

CASES = json.loads((Path(__file__).parent.parent / "vectors" / "custody.json").read_text("utf-8"))["cases"]
NOW = datetime(2026, 12, 1, tzinfo=UTC)
POLICY = CheckpointPolicy(ORIGIN, NoteKey(ORIGIN, 1, LOG.public))


def vector(name: str) -> dict:
    return next(case["input"] for case in CASES if case["id"] == name)


READERS: dict[str, Callable[[bytes], object]] = {
    "item": item_bytes,
    "index": parse_index,
    "manifest": parse_manifest,
    "opening": parse_opening,
    "note": parse_note,
    "checkpoint": lambda data: verify_checkpoint(data, POLICY, NOW),
    "proof": lambda data: parse_proof(data.decode("utf-8", "replace")),
    "sshsig": lambda data: verify_sshsig(b"", "ssh-ed25519 AAAA", data.decode("utf-8", "replace")),
    "sshkey": lambda data: verify_sshsig(b"", data.decode("utf-8", "replace"), ""),
    "entry": lambda data: parse_entry(data, "x"),
    "lines": split_lines,
    "package-header": parse_header,
    "package-item": lambda data: parse_item(data, 2),
    "attachment": lambda data: parse_attachment(data, 3),
    "stanzas": recipient_count,
}
GOOD = {
    "item": vector("custody-item_bytes-plain")["json"].encode(),
    "index": vector("custody-index-bank")["index_jsonl"].encode(),
    "manifest": jcs(vector("custody-manifest_digest-bank")["manifest"]),
    "opening": jcs(vector("custody-opening-query")["opening"]),
    "note": vector("custody-checkpoint-good")["checkpoint"].encode(),
    "checkpoint": sign_checkpoint(ORIGIN, 7, bytes(32), LOG),
    "proof": vector("custody-opening-query")["opening"]["proof"].encode(),
    "entry": Forge().base().lines[-1],
}


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=400), st.text(max_size=200).map(lambda t: t.encode("utf-8", "ignore"))))
def test_arbitrary_bytes(name: str, data: bytes) -> None:
    try:
        READERS[name](data)
    except CustodyError:
        return


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_good_files_with_one_byte_changed(name: str, data: st.DataObject) -> None:
    good = GOOD[name]
    place = data.draw(st.integers(0, len(good) - 1))
    changed = good[:place] + bytes([data.draw(st.integers(0, 255))]) + good[place + 1 :]
    whole = READERS[name](good)
    try:
        found = READERS[name](changed)
    except CustodyError:
        return
    if name == "checkpoint":
        assert found == whole


@given(st.text(max_size=80))
def test_vkeys(text: str) -> None:
    with pytest.raises(ValueError):
        parse_vkey(text)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=5))
def test_trees_and_texts_have_the_same_item_bytes(tree: dict) -> None:
    """The quick way from a tree accepts exactly what the strict way from text accepts, with the same bytes."""
    text = json.dumps(tree).encode()
    try:
        strict = item_bytes(text)
    except CustodyError:
        with pytest.raises(CustodyError, match="SLV-K001"):
            part_bytes(tree)
        return
    assert part_bytes(tree) == strict


@pytest.mark.parametrize(
    "text",
    [
        '{"a":NaN}',
        '{"a":1e3}',
        '{"a":1.0}',
        '{"a":"e\\u0301"}',
        '{"e\\u0301":1}',
        '\ufeff{"a":1}',
        '{"a":1}x',
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":1}}',
        '{"a":-9007199254740992}',
        "[1]",
        '"text"',
        '{"a":' * 65 + "1" + "}" * 65,
        "",
    ],
)
def test_item_bytes_refused(text: str) -> None:
    with pytest.raises(CustodyError, match="SLV-K001") as caught:
        item_bytes(text.encode())
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda d: d.replace(b'"twin_of":"it-0dab67bba80d"', b'"twin_of":"it-be25b62c9690"'), "SLV-K003"),
        (lambda d: d.replace(b'"twin_of":"it-0dab67bba80d"', b'"twin_of":"it-ae840b6c2c3f"'), "SLV-K003"),
        (lambda d: d.replace(b'"twin_of":"it-0dab67bba80d"', b'"twin_of":"it-000000000000"'), "SLV-K003"),
        (lambda d: d.replace(b"it-ae840b6c2c3f", b"it-0dab67bba80d"), "SLV-K018"),
        (lambda d: d.replace(b'"i":3', b'"i":4'), "SLV-K018"),
        (lambda d: d.replace(b"it-ae840b6c2c3f", b"IT-ae840b6c2c3f"), "SLV-K018"),
        (lambda d: d + d.splitlines(keepends=True)[0], "SLV-K018"),
        (lambda d: d.replace(b"\n", b"\r\n"), "SLV-K018"),
        (lambda d: b"", "SLV-K018"),
        (lambda d: b"\n", "SLV-K018"),
    ],
)
def test_indices_refused(change: Callable[[bytes], bytes], code: str) -> None:
    with pytest.raises(CustodyError, match=code):
        parse_index(change(GOOD["index"]))


_LINES = [line for line in GOOD["index"].splitlines() if line]


@given(line=st.sampled_from(_LINES), at=st.integers(0, 400), put=st.binary(max_size=3), cut=st.integers(0, 3))
@example(line=_LINES[0], at=0, put=b" ", cut=0)
@example(line=_LINES[0], at=len(_LINES[0]), put=b"\n", cut=0)
def test_a_leaf_that_is_read_is_canonical(line: bytes, at: int, put: bytes, cut: int) -> None:
    """The quick reading of plain lines accepts nothing that the strict reader of JSON does not."""
    changed = line[:at] + put + line[at + cut :]
    try:
        leaf = parse_leaf(changed, "x")
    except CustodyError:
        return
    assert jcs(loads_object(changed)) == changed == leaf.line()


@pytest.mark.parametrize("stratum", ["directas", "año", "a b", 'con "comillas"', "\\", "\x7f", "𝔸"])
def test_a_leaf_of_any_stratum_is_written_and_read(stratum: str) -> None:
    for twin in (None, "it-be25b62c9690"):
        leaf = Leaf(7, "it-0dab67bba80d", stratum, "0a" * 32, "b1" * 32, twin)
        assert parse_leaf(leaf.line(), "x") == leaf
        assert jcs(loads_object(leaf.line())) == leaf.line()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"n": 11}, "SLV-K013"),
        ({"n": 0, "strata": {}}, "SLV-K013"),
        ({"strata": {"a": 100_001}, "n": 100_001}, "SLV-K013"),
        ({"strata": {"a": True}, "n": 1}, "SLV-K010"),
        ({"v": 2}, "SLV-K010"),
        ({"format": "gpg"}, "SLV-K010"),
        ({"recipients": []}, "SLV-K010"),
        ({"recipients": [{"role": "x"}]}, "SLV-K010"),
        ({"recovery": {"scheme": "slip39", "k": 3, "n": 2}}, "SLV-K010"),
        ({"recovery": {"scheme": "other", "k": 2, "n": 3}}, "SLV-K010"),
        ({"created": "2026-02-30"}, "SLV-K010"),
        ({"plaintext_access": [{"organisation": "x", "role": "y", "from": "ayer"}]}, "SLV-K010"),
        ({"note": "x"}, "SLV-K010"),
        ({"bank_id": "-x"}, "SLV-K010"),
    ],
)
def test_manifests_refused(changes: dict, code: str) -> None:
    tree = vector("custody-manifest_digest-bank")["manifest"]
    assert parse_manifest(jcs(tree | {"recovery": {"scheme": "slip39", "k": 2, "n": 3}})).recovery == (2, 3)
    with pytest.raises(CustodyError, match=code):
        parse_manifest(jcs(tree | changes))


def test_notes_refused() -> None:
    good = GOOD["checkpoint"]
    body, _, signature = good.partition(b"\n\n")
    for bad in (
        b"",
        body,
        body + b"\n\n",
        good[:-1],
        good.replace(b"\xe2\x80\x94", b"-"),
        good.replace(b"\n7\n", b"\n+7\n"),
        body + b"\n\n" + signature * 65,
        b"\x00" + good,
        b"\xff" + good,
        good + b"x" * 70_000,
    ):
        with pytest.raises(CustodyError, match="SLV-K027"):
            verify_checkpoint(bad, POLICY, NOW)
    doubled = good + signature
    assert verify_checkpoint(doubled, POLICY, NOW).size == 7
    assert verify_checkpoint(body + b"\n\n" + signature * 64, POLICY, NOW).size == 7


def test_a_known_key_that_fails_invalidates_the_note() -> None:
    good = GOOD["checkpoint"]
    other = sign_checkpoint(ORIGIN, 8, bytes(32), LOG).partition(b"\n\n")[2]
    with pytest.raises(CustodyError, match="SLV-K028"):
        verify_checkpoint(good + other, POLICY, NOW)


def test_slugs_are_key_names() -> None:
    assert slug("Fundación Ñuñoa + Cía. Ltda.") == "fundacion-nunoa-cia.-ltda"
    assert slug("custodian.example") == "custodian.example"
    assert slug("日本") == "local"


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed: not checked here")
def test_ssh_keygen_signs_for_us(tmp_path: Path) -> None:
    key, body = tmp_path / "key", tmp_path / "body"
    body.write_bytes(b"origin\n5\nroot\n")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "w", "-f", key], check=True)
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-n", "slaverify-checkpoint", "-f", key, body]
    subprocess.run(sign, check=True, stderr=subprocess.DEVNULL)
    public, signature = (tmp_path / "key.pub").read_text(), (tmp_path / "body.sig").read_text()
    verify_sshsig(body.read_bytes(), public, signature)
    for wrong in (
        lambda: verify_sshsig(b"other", public, signature),
        lambda: verify_sshsig(body.read_bytes(), public, signature, "file"),
        lambda: verify_sshsig(body.read_bytes(), public, signature.replace("A", "B", 1)),
    ):
        with pytest.raises(CustodyError, match="SLV-K030"):
            wrong()
