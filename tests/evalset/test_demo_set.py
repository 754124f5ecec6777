"""The demonstration set: its files are the builder's, each question has one answer, and rules tell right from wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, read_bank
from slaverify.scoring import ScoreRecord, default_settings, score
from tests.evalset import demo_engine
from tests.tools import build_demo_set

SETTINGS = default_settings("qa@1", "es-CL")
NORM = json.loads(build_demo_set.NORM.read_bytes())
BANK = read_bank(build_demo_set.BANK.read_bytes(), "preguntas.jsonl")
PUBLIC = read_bank(build_demo_set.PUBLIC.read_bytes(), "preguntas_publicas.jsonl")
EVERY = [*BANK, *PUBLIC]
DIRECT = [item for item in EVERY if item.stratum == "direct"]
OUTSIDE = [item for item in EVERY if item.stratum == "out_of_corpus"]


def record(item: Item, answer: str) -> ScoreRecord:
    return score(item, Answer(answer), Outcome.ANSWERED, SETTINGS).record


@pytest.mark.parametrize("path", list(build_demo_set.build()), ids=lambda path: path.name)
def test_the_files_are_the_builders(path: Path) -> None:
    assert path.read_bytes() == build_demo_set.build()[path]


def test_the_counts() -> None:
    assert Counter(item.stratum for item in BANK) == {"direct": 240, "out_of_corpus": 60}
    assert Counter(item.stratum for item in PUBLIC) == {"direct": 16, "out_of_corpus": 4}
    assert len(NORM["articles"]) == 80 and len(NORM["facts"]) == 256
    kinds = Counter(item.reference.kind for item in BANK)
    assert kinds["none"] == 60 and kinds["number"] > 200 and kinds["choice"] >= 20


def test_no_question_stands_twice_and_practice_is_apart() -> None:
    assert len({item.query for item in EVERY}) == len(EVERY)
    assert not {item.query for item in BANK} & {item.query for item in PUBLIC}


def test_no_question_names_its_article() -> None:
    for item in DIRECT:
        assert not re.search(r"art[íi]culo|\bart\.", item.query_text()), item.id
        assert item.source is not None and item.source.locator is not None
        number = item.source.locator.removeprefix("artículo ")
        assert number not in re.findall(r"[0-9]+", item.query_text()), item.id


def test_each_article_is_one_text_with_its_values() -> None:
    for article in NORM["articles"]:
        assert "{" not in article["text"] and article["text"].endswith(".")
        for fact in NORM["facts"]:
            if fact["article"] == article["number"]:
                assert demo_engine.shown(fact) in article["text"], (article, fact)


def test_each_question_leads_to_its_fact_and_to_no_other() -> None:
    for item in DIRECT:
        found = demo_engine.candidates(NORM, item.query_text())
        assert found, item.query
        assert len(found) == 1 or found[0][0] > found[1][0], item.query
        fact = NORM["facts"][found[0][1]]
        assert f"artículo {fact['article']}" == item.source.locator  # type: ignore[union-attr]
        assert fact["value"] == _gold(item)


def test_no_question_outside_the_norm_leads_to_a_fact() -> None:
    for item in OUTSIDE:
        assert demo_engine.lookup(NORM, item.query_text()) is None, item.query


def _gold(item: Item) -> str:
    reference = item.reference
    return reference.options[reference.value] if reference.kind == "choice" else str(reference.value)


@pytest.mark.parametrize("template", demo_engine.SENTENCES)
def test_right_answers_in_short_sentences_are_right(template: str) -> None:
    for item in DIRECT:
        fact = demo_engine.lookup(NORM, item.query_text())
        assert fact is not None
        answer = template.format(v=demo_engine.shown(fact), a=fact["article"])
        assert record(item, answer).verdict == "accurate", (item.query, answer)


def test_the_value_of_another_fact_is_never_right() -> None:
    for item in DIRECT:
        fact = demo_engine.lookup(NORM, item.query_text())
        assert fact is not None
        for other in NORM["facts"]:
            if other["article"] == fact["article"] and other["value"] != fact["value"]:
                answer = f"Según el artículo {other['article']}, la respuesta es: {demo_engine.shown(other)}."
                assert record(item, answer).verdict != "accurate", (item.query, answer)


@pytest.mark.parametrize("answer", demo_engine.ABSTENTIONS)
def test_abstaining_is_necessary_outside_and_unnecessary_inside(answer: str) -> None:
    for item in OUTSIDE:
        got = record(item, answer)
        assert (got.verdict, got.abstention, got.correctness) == ("abstention", "necessary", "correct")
    for item in DIRECT:
        got = record(item, answer)
        assert (got.verdict, got.abstention, got.correctness) == ("abstention", "unnecessary", "incorrect")


def test_answering_outside_is_incorrect() -> None:
    for item in OUTSIDE:
        for fact in NORM["facts"][::40]:
            answer = f"Según el artículo {fact['article']}, corresponde {demo_engine.shown(fact)}."
            assert record(item, answer).verdict == "incorrect", (item.query, answer)


def test_trivial_engines_fail() -> None:
    """Dump of the article, echo of the question, one constant, always abstaining: far from 90 of 100."""
    texts = {article["number"]: article["text"] for article in NORM["articles"]}
    bank = [item for item in BANK if item.stratum == "direct"]
    engines = {
        "dump": lambda item: texts[int(item.source.locator.split()[1])],
        "echo": lambda item: item.query_text(),
        "constant": lambda item: "Son 15 días hábiles.",
        "abstain": lambda item: demo_engine.ABSTENTIONS[0],
        "all options": lambda item: "; ".join(getattr(item.reference, "options", {"A": "1, 2, 3"}).values()),
    }
    for name, engine in engines.items():
        right = sum(record(item, engine(item)).verdict == "accurate" for item in bank)
        best = sum(record(item, engine(item)).verdict in ("accurate", None) for item in bank)
        assert right <= 30 and best <= 80, (name, right, best)
