"""Normalisers of transcripts and the count of words, against what a listener would call the same."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.errors import ApplicationError
from slaverify.scoring.normalisers import normaliser
from slaverify.scoring.words import MAX_WORDS, count_words

_ES, _EN = normaliser("asr-es@1"), normaliser("asr-en@1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Son veinticinco personas.", "son 25 personas"),
        ("mil doscientos treinta y cuatro", "1234"),
        ("tres millones", "3 millones"),
        ("dos mil veinte", "2020"),
        ("quince coma cinco", "15,5"),
        ("el 5 % del total", "el cinco por ciento del total"),
        ("eh, no sé, mmm, creo", "No sé: creo"),
        ("¿Cuál es el plazo?", "cuál es el plazo"),
        ("«Sí» —dijo—", "sí dijo"),
    ],
)
def test_the_same_to_a_listener(one: str, other: str) -> None:
    assert _ES(one) == _ES(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("la parte", "una parte"),  # an article is no number
        ("un plazo", "una plazo"),
        ("más", "mas"),
        ("pena", "peña"),
        ("quince, veinte", "treinta y cinco"),
        ("veinte, eh, mil", "veinte y mil"),
        ("quince veinte", "1520"),
        ("1.234", "1,234"),  # which one groups depends on the locale: both stay as written
        ("este", ""),  # a word, no filler
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert _ES(one) != _ES(other)


def test_english() -> None:
    assert _EN("Uh, twenty-five people don't.") == "25 people don't"
    assert _EN("one thing") == "one thing"
    assert _EN("fifty percent") == _EN("50%")


@given(st.text(max_size=200))
def test_normalising_twice_changes_nothing(text: str) -> None:
    for normalise in (_ES, _EN):
        assert normalise(normalise(text)) == normalise(text)


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_counts_hold_together(said: list[str], heard: list[str]) -> None:
    found = count_words(said, heard)
    assert found.weight == len(said)
    assert found.hits + found.substitutions + found.insertions == len(heard)
    assert abs(len(said) - len(heard)) <= found.errors <= max(len(said), len(heard))
    assert len(found.missed) == found.substitutions + found.deletions
    assert (found.errors == 0) == (said == heard)


def test_what_is_beyond_the_longest_transcript_is_counted() -> None:
    found = count_words(["a"] * 3, ["a"] * (MAX_WORDS + 5))
    assert (found.hits, found.insertions, found.weight) == (3, MAX_WORDS + 2, 3)
    found = count_words(["a"] * (MAX_WORDS + 2), ["a"] * (MAX_WORDS + 3))
    assert (found.errors, found.weight) == (3, MAX_WORDS + 2)


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jiwer", None)
    with pytest.raises(ApplicationError) as caught:
        count_words(["a"], ["b"])
    assert (caught.value.code, caught.value.exit_code) == ("SLV-A032", 6)
    assert "slaverify[speech]" in caught.value.fix.en
