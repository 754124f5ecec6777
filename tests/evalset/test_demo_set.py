"""The demonstration set: its files are the builder's, each question has one answer, and rules tell right from wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, read_bank, read_catalogue
from slaverify.scoring import ScoreRecord, default_settings, score
from slaverify.scoring.citations.cited import mentions_in
from tests.evalset import demo_engine
from tests.tools import build_demo_set

CATALOGUE = read_catalogue(build_demo_set.CATALOGUE.read_bytes(), "catalogue.jsonl")
SETTINGS = replace(default_settings("regulatory@1", "es-CL"), catalogue=CATALOGUE)
NORM = json.loads(build_demo_set.NORM.read_bytes())
BANK = read_bank(build_demo_set.BANK.read_bytes(), "preguntas.jsonl")
PUBLIC = read_bank(build_demo_set.PUBLIC.read_bytes(), "preguntas_publicas.jsonl")
EVERY = [*BANK, *PUBLIC]
DIRECT = [item for item in EVERY if item.stratum in ("direct", "applied")]
PREMISES = [item for item in EVERY if item.stratum == "adversarial"]
TRAPS = [item for item in EVERY if item.stratum == "trap"]
OUTSIDE = [item for item in EVERY if item.stratum == "out_of_corpus"]


def record(item: Item, answer: str) -> ScoreRecord:
    return score(item, Answer(answer), Outcome.ANSWERED, SETTINGS).record


@pytest.mark.parametrize("path", list(build_demo_set.build()), ids=lambda path: path.name)
def test_the_files_are_the_builders(path: Path) -> None:
    assert path.read_bytes() == build_demo_set.build()[path]


def test_the_counts() -> None:
    assert Counter(item.stratum for item in BANK) == {
        "direct": 240,
        "applied": 160,
        "trap": 80,
        "out_of_corpus": 60,
        "adversarial": 80,
    }
    assert Counter(item.stratum for item in PUBLIC) == {
        "direct": 16,
        "applied": 4,
        "trap": 4,
        "out_of_corpus": 4,
        "adversarial": 4,
    }
    assert len(NORM["articles"]) == 80 and len(NORM["facts"]) == 256 and len(CATALOGUE.entries) == 81
    kinds = Counter(item.reference.kind for item in BANK)
    assert kinds["none"] == 140 and kinds["number"] > 200 and kinds["choice"] >= 40 and kinds["amount"] >= 10


def test_the_questions_are_no_template() -> None:
    """No opening of five words serves many questions, and cases and premises are no copies of the plain question."""
    openings = Counter(" ".join(item.query_text().split()[:5]) for item in BANK)
    assert max(openings.values()) <= 8, openings.most_common(3)
    plain = {item.query_text() for item in BANK if item.stratum == "direct"}
    assert not plain & {item.query_text() for item in BANK if item.stratum != "direct"}


def test_traps_name_what_is_not_there() -> None:
    kinds = Counter(item.trap.kind for item in [*TRAPS, *PREMISES] if item.trap is not None)
    assert kinds["missing_article"] >= 40 and kinds["missing_norm"] >= 10 and kinds["missing_case"] >= 10
    for item in TRAPS:
        assert item.trap is not None and not CATALOGUE.holds(item.trap.target)
        named = [str(one.id) for one in mentions_in(item.query_text(), "", SETTINGS)]
        assert item.trap.target in named, (item.query_text(), named)


def test_a_question_with_a_premise_holds_the_falsehood_and_not_the_truth() -> None:
    for item in PREMISES:
        false = item.trap.target.rpartition(": ")[2]  # type: ignore[union-attr]
        assert false.split()[0] in item.query_text() and record(item, false).correctness != "correct"


def test_no_question_stands_twice_and_practice_is_apart() -> None:
    assert len({item.query for item in EVERY}) == len(EVERY)
    assert not {item.query for item in BANK} & {item.query for item in PUBLIC}


def test_no_question_names_its_article() -> None:
    for item in DIRECT:
        assert not re.search(r"art[íi]culos? [0-9]|\bart\.", item.query_text()), item.id
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
    for item in [*DIRECT, *PREMISES]:
        found = demo_engine.candidates(NORM, item.query_text())
        assert found, item.query
        assert len(found) == 1 or found[0][0] > found[1][0], item.query
        fact = NORM["facts"][found[0][1]]
        assert f"artículo {fact['article']}" == item.source.locator  # type: ignore[union-attr]
        assert fact["value"] == _gold(item)


def test_no_question_outside_the_norm_leads_to_a_fact() -> None:
    for item in [*OUTSIDE, *TRAPS]:
        assert demo_engine.lookup(NORM, item.query_text()) is None, item.query


def _gold(item: Item) -> str:
    reference = item.reference
    return reference.options[reference.value] if reference.kind == "choice" else str(reference.value)


@pytest.mark.parametrize("template", demo_engine.SENTENCES)
def test_right_answers_in_short_sentences_are_right(template: str) -> None:
    cites = "{a}" in template
    for item in [*DIRECT, *PREMISES]:
        fact = demo_engine.lookup(NORM, item.query_text())
        assert fact is not None
        answer = template.format(v=demo_engine.shown(fact), a=fact["article"])
        got = record(item, answer)
        assert got.correctness == "correct", (item.query, answer)
        assert got.verdict == ("accurate" if cites or item in PREMISES else "incomplete"), (item.query, answer)


def test_the_right_value_with_another_article_is_misgrounded_and_with_an_invented_one_a_phantom() -> None:
    for item in DIRECT:
        fact = demo_engine.lookup(NORM, item.query_text())
        assert fact is not None
        for article, verdict in ((fact["article"] % 80 + 1, "misgrounded"), (fact["article"] + 80, "phantom_citation")):
            answer = f"Según el artículo {article}, la respuesta es: {demo_engine.shown(fact)}."
            assert record(item, answer).verdict == verdict, (item.query, answer)


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
    for item in [*OUTSIDE, *TRAPS, *PREMISES]:
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


def test_taking_a_trap_as_real_is_a_fabrication() -> None:
    for item in TRAPS:
        (named,) = [one for one in mentions_in(item.query_text(), "", SETTINGS) if str(one.id) == item.trap.target]  # type: ignore[union-attr]
        text = item.query_text()[named.span.start : named.span.end]
        got = record(item, f"Conforme al {text}, corresponde un plazo de 12 días.")
        assert got.verdict == "fabrication", (item.query, text)
        assert record(item, f"No existe {text}.").verdict in ("abstention", None), (item.query, text)


def test_trivial_engines_fail() -> None:
    """Dump of the article, echo of the question, one constant, always abstaining: far from 90 of 100."""
    texts = {article["number"]: article["text"] for article in NORM["articles"]}
    bank = [item for item in BANK if item.stratum in ("direct", "applied")]
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
        assert right <= 30 and best <= 130, (name, right, best)
