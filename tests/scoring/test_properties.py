"""Properties of the whole room: no text raises, order plays no part, normalising twice and disguise change nothing.

The long form, 100,000 texts, is marked nightly.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, parse_item
from slaverify.scoring import NORMALISERS, PROFILES, ScoreRecord, Settings, clean, default_settings, score
from tests.scoring.helpers import item
from tests.scoring.test_parts import CODES, INVOICE, SAID
from tests.scoring.test_robustness import ANYTHING, KINDS

ITEMS = [item(reference, query="¿Cuántos días hábiles?") for reference in KINDS.values()]
PARTS = [(default_settings(name, "es-CL"), item(reference)) for name, reference in (
    ("extraction@1", INVOICE), ("speech@1", SAID), ("coding@1", CODES)
)]  # fmt: skip
OWN = [default_settings("qa@1", locale) for locale in ("es-CL", "es-MX", "en-US", None)]


def _never_raises(answer: str, at: int) -> None:
    pairs = [(OWN[at % len(OWN)], ITEMS[at % len(ITEMS)]), PARTS[at % len(PARTS)]]
    for own, asked in pairs:
        record = score(asked, Answer(answer), Outcome.ANSWERED, own).record
        assert ScoreRecord.from_json(record.to_json()) == record


@settings(max_examples=300, deadline=None)
@given(ANYTHING, st.integers(0, 1000))
def test_no_text_raises(answer: str, at: int) -> None:
    _never_raises(answer, at)


def test_a_record_is_read_back_whatever_the_order_of_its_flags() -> None:
    _never_raises("0/0 RESPUESTA:NO:RESPUESTA", 0)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@settings(max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(ANYTHING, st.integers(0, 1000))
def test_no_text_of_a_hundred_thousand_raises(answer: str, at: int) -> None:
    _never_raises(answer, at)


def _cases() -> list[tuple[Item, Answer, Settings]]:
    found = []
    for path in sorted((Path(__file__).parent / "cases").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            if case["item_reference"] is None or "profile" in case["settings"]:
                continue
            own = default_settings("qa@1", case["settings"]["locale"])
            tree = {"schema": "item/1", "id": case["id"], "stratum": "direct", "query": case["question"]}
            asked = parse_item({**tree, "reference": case["item_reference"]}, where=case["id"])
            found.append((asked, Answer(case["output"]), own))
    return found


CASES = _cases()


def _records(order: list[int]) -> dict[int, ScoreRecord]:
    return {at: score(CASES[at][0], CASES[at][1], Outcome.ANSWERED, CASES[at][2]).record for at in order}


def test_the_order_of_the_items_plays_no_part() -> None:
    straight = list(range(len(CASES)))
    mixed = straight[:]
    random.Random(7).shuffle(mixed)
    assert _records(straight) == _records(mixed) == _records(straight[::-1])


@pytest.mark.parametrize("name", sorted(NORMALISERS))
@settings(max_examples=200, deadline=None)
@given(text=ANYTHING)
def test_normalising_twice_changes_nothing(name: str, text: str) -> None:
    # a normaliser reads the clean copy
    normalise = NORMALISERS[name]
    once = normalise(clean(text).text)
    assert normalise(once) == once


def _verdict(asked: Item, text: str, own: Settings) -> tuple[str, str | None, str]:
    record = score(asked, Answer(text), Outcome.ANSWERED, own).record
    return record.correctness.value, None if record.answer_class is None else record.answer_class.value, record.outcome


DISGUISES: dict[str, Callable[[str], str]] = {
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "zero width": lambda text: "\u200b".join(text),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "right to left mark at both ends": lambda text: f"\u202b{text}\u202c",
    "isolated": lambda text: f"\u2067{text}\u2069",
    "byte order mark": lambda text: f"\ufeff{text}",
    "paragraph": lambda text: f"<p>{text}</p>",
    "bold": lambda text: f"<b>{text}</b>",
    "no-break spaces at the ends": lambda text: f"\u00a0{text}\u00a0",
    "comment after": lambda text: f"{text}<!-- {text} -->",
}


@pytest.mark.parametrize("name", DISGUISES)
def test_disguise_changes_no_verdict(name: str) -> None:
    moved = []
    for asked, answer, own in CASES:
        text = answer.text
        # in JSON and in a text that is markup itself a sign is data; beyond the limit of length it is length
        if asked.reference.kind == "json" or "<" in text or len(text) > 5_000 or not text.isprintable():
            continue
        if _verdict(asked, text, own) != _verdict(asked, DISGUISES[name](text), own):
            moved.append((text, _verdict(asked, text, own), _verdict(asked, DISGUISES[name](text), own)))
    assert moved == []


def test_every_profile_has_its_tables() -> None:
    for name in PROFILES:
        assert default_settings(name, "es-CL").profile == name
