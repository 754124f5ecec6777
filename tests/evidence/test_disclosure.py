"""What everybody may read holds no text of a question, an answer or a reference: no thirty characters in a row."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from slaverify.evidence import Disclosure, disclosure_of
from tests.verify.sample import Line, items, line

SHINGLE = 30


@pytest.fixture(scope="module")
def made() -> Line:
    return line(wrong=3)


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


def secret_texts(made: Line) -> set[str]:
    """The words of questions, references, requests and answers."""
    found = {item.query for item in items() if isinstance(item.query, str)}
    for data in made.annex.values():
        for row in data.splitlines():
            # Item parts stand in the annex as the text of their own JSON.
            for text in strings(json.loads(row)):
                found.update(strings(json.loads(text)) if text.startswith("{") else {text})
    for row in made.files["run/exchanges.jsonl"].splitlines()[1:]:
        exchange = json.loads(row)
        for part in ("request", "response"):
            if exchange[part]:
                found.update(strings(json.loads(base64.b64decode(exchange[part]))))
    # Nonces, salts and digests are public or say nothing.
    return {text for text in found if not text.isalnum()}


def shingles(texts: set[str]) -> set[str]:
    return {text[start : start + SHINGLE] for text in texts for start in range(len(text) - SHINGLE + 1)}


def test_public_files_hold_no_text_of_items_or_answers(made: Line) -> None:
    wanted = shingles(secret_texts(made))
    assert len(wanted) > 50
    public = [path for path in made.files if disclosure_of(path) is Disclosure.PUBLIC]
    assert len(public) > 15
    for path in public:
        text = made.files[path].decode("utf-8", "replace")
        held = {text[start : start + SHINGLE] for start in range(len(text) - SHINGLE + 1)}
        assert held & wanted == set(), path


def test_the_parties_file_does_hold_them(made: Line) -> None:
    """The test above looks for something that is there to be found."""
    request = base64.b64decode(json.loads(made.files["run/exchanges.jsonl"].splitlines()[1])["request"])
    assert any(shingle in request.decode() for shingle in shingles({item.query for item in items()}))
