"""From the public edition alone nobody confirms a guess: not with every true question, answer and reference at hand.

The attacker has a dictionary of all true items and everything that is public; it tries every digest that the public
files hold against plain and keyed digests of each guess, with every value of those files as a key. The same attack on
the edition of the parties, which holds the keys, does find: so it would have found here too.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping

import pytest

from slaverify.canonical import jcs
from slaverify.evalset import split
from tests.verify.sample import closed, items, line, public

_HEX = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32,128}(?![0-9a-f])")
_BASE64 = re.compile(rb"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{42}==")
_PLAIN = ("md5", "sha1", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s")
_FORMS = (
    b"",
    b"\x00",
    b"slaverify/commitment/v1\x00query\x00",
    b"slaverify/commitment/v1\x00reference\x00",
    b"slaverify/salt/v1\x00query\x00",
)


@pytest.fixture(scope="module")
def whole() -> dict[str, bytes]:
    return closed(line(8))


def guesses() -> set[bytes]:
    """Every true item in each form in which somebody may hash it."""
    found: set[bytes] = set()
    for item in items():
        parts = split(item)
        value = str(getattr(item.reference, "value", ""))
        texts = {item.query_text(), value, f"Tiene {value} fojas.", f"{item.query_text()} {value}"}
        found |= {text.encode() for text in texts if text}
        for tree in (parts.query, parts.reference, {"query": item.query_text()}):
            found |= {jcs(tree), json.dumps(tree, ensure_ascii=False).encode()}
    return found


def wire(files: Mapping[str, bytes]) -> set[bytes]:
    """What went over the wire, byte for byte: the best guess that anybody can make."""
    rows = [json.loads(row) for row in files["run/exchanges.jsonl"].splitlines()[1:]]
    return {base64.b64decode(row[key]) for row in rows for key in ("request", "response") if row.get(key)}


def values(files: Mapping[str, bytes]) -> set[bytes]:
    """Every digest, mac or key that the files hold, as raw bytes."""
    found: set[bytes] = set()
    for data in files.values():
        found |= {bytes.fromhex(text.decode()) for text in _HEX.findall(data) if len(text) % 2 == 0}
        found |= {base64.b64decode(text) for text in _BASE64.findall(data)}
    return found


def confirmed(files: Mapping[str, bytes], dictionary: set[bytes]) -> set[bytes]:
    """The guesses that some value in the files confirms."""
    known = values(files)
    keys = [value for value in known if len(value) == 32]
    return {guess for guess in dictionary if any(digest in known for digest in _digests(guess, keys))}


def _digests(guess: bytes, keys: list[bytes]) -> Iterator[bytes]:
    for form in _FORMS:
        for name in _PLAIN:
            yield hashlib.new(name, form + guess).digest()
        for key in keys:
            yield hmac.digest(key, form + guess, "sha256")


def test_a_dictionary_of_every_true_item_confirms_none(whole: dict[str, bytes]) -> None:
    edition = public(whole)
    assert "run/exchanges.jsonl" not in edition
    assert len(values(edition)) > 100
    dictionary = guesses() | wire(whole)
    assert len(dictionary) > 150
    assert confirmed(edition, dictionary) == set()
    text = b"\n".join(edition.values())
    assert [guess for guess in dictionary if len(guess) >= 30 and guess in text] == []


def test_the_same_attack_finds_where_the_keys_are(whole: dict[str, bytes]) -> None:
    """The edition of the parties holds the key of the run: what was sent and received is confirmed by it."""
    sent = wire(whole)
    nonce = bytes.fromhex(json.loads(whole["run/exchanges.jsonl"].splitlines()[0])["nonce"])
    known = values(whole)
    assert nonce in known
    found = {guess for guess in sent if hmac.digest(nonce, guess, "sha256") in known}
    assert found == sent
    few = set(sorted(sent)[:2])
    assert confirmed({name: whole[name] for name in ("run/exchanges.jsonl", "run/outcomes.jsonl")}, few) == few
