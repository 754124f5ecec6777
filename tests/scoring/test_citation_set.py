"""Citations as people write them, right and wrong: what the rule says of each, decided by hand before it was run."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

import pytest

from slaverify.scoring.vectors import conformance

_SET = Path(__file__).with_name("citation_set.tsv")
CASES = list(csv.DictReader(_SET.open(encoding="utf-8", newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))


def vector(reference: str, question: str, output: str, expected: dict, kind: str = "citation", **settings) -> dict:
    return {
        "id": "C",
        "question": question,
        "reference_kind": kind,
        "item_reference": {"kind": "citation", "text": reference} if kind == "citation" else {"kind": kind},
        "output": output,
        "settings": {"locale": "es-CL", **settings},
        "expected": {"outcome": "answered", **expected},
    }


def passed(line: dict) -> None:
    (found,) = conformance([line])
    assert found.result == "passed", (line["output"], found.differences)


@pytest.mark.parametrize("case", CASES, ids=[f"{at}-{case['output']}" for at, case in enumerate(CASES)])
def test_citation(case: dict) -> None:
    passed(vector(case["reference"], case["question"], case["output"], {"correctness": case["correctness"]}))


@pytest.mark.parametrize("form", ["NFD", "NFC"])
def test_the_form_of_the_accents_does_not_matter(form: str) -> None:
    for case in CASES:
        text = unicodedata.normalize(form, case["output"])
        passed(vector(case["reference"], case["question"], text, {"correctness": case["correctness"]}))


def test_both_directions_are_covered() -> None:
    found = [case["correctness"] for case in CASES]
    assert found.count("correct") >= 20 and found.count("incorrect") >= 20


@pytest.mark.parametrize(
    ("output", "article", "paragraph"),
    [
        ("artículo 3, inciso primero", "correct", "incorrect"),
        ("art. 3° inc. 2°", "correct", "correct"),
        ("inciso segundo del artículo 3", "correct", "correct"),
        ("el artículo 3, en su inciso 2", "correct", "correct"),
        ("artículo 3", "correct", "partial"),
        ("artículo 4, inciso segundo", "incorrect", "incorrect"),
        ("artículo 3. En su inciso segundo lo dice.", "correct", "correct"),
        ("incisos primero y segundo del artículo 3", "correct", "incorrect"),
    ],
)
def test_granularity(output: str, article: str, paragraph: str) -> None:
    question = "¿Dónde se define el plazo?"
    options = {"article": {"correctness": article}, "paragraph": {"correctness": paragraph}}
    line = vector("artículo 3, inciso segundo", question, output, {})
    passed({**line, "expected": {"policy": "granularity", "by_option": options, "default": "article"}})


@pytest.mark.parametrize(
    ("output", "none", "up_to_5"),
    [
        ("artículos 20 a 24", "miss", "hit_by_range"),
        ("del artículo 20 al 24", "miss", "hit_by_range"),
        ("arts. 20-24", "miss", "hit_by_range"),
        ("artículos 20 a 30", "miss", "miss"),
        ("artículos 23 a 24", "miss", "miss"),
        ("artículo 22", "hit", "hit"),
    ],
)
def test_range_expansion(output: str, none: str, up_to_5: str) -> None:
    options = {"none": {"expected_citation": none}, "up_to:5": {"expected_citation": up_to_5}}
    line = vector("artículo 22", "¿Qué artículo rige?", output, {})
    passed({**line, "expected": {"policy": "range_expansion", "by_option": options, "default": "none"}})


_LEY = {"first_id": "cl:ley:19886:art:1", "last_id": "cl:ley:19886:art:50"}
_NONE = {"kind": "none", "because": "false_premise"}


@pytest.mark.parametrize(
    ("output", "counts", "phantoms"),
    [
        ("Artículo 45 y artículo 145 de la Ley 19.886", {"parsed": 2, "in_catalogue": 1, "phantom": 1}, ["145"]),
        ("Los artículos 45 y 46 de la Ley 19.886", {"parsed": 2, "in_catalogue": 2, "phantom": 0}, []),
        ("Artículo 45, artículo 45 y art. 45", {"parsed": 1, "in_catalogue": 1, "phantom": 0}, []),
        ("Artículo 45 bis", {"parsed": 1, "in_catalogue": 0, "phantom": 1}, ["45-bis"]),
        ("No existe el artículo 145; rige el artículo 45", {"parsed": 1, "in_catalogue": 1, "phantom": 0}, []),
        (
            "Artículo 45 y la causa rol N° 1234-2020",
            {"parsed": 2, "in_catalogue": 1, "phantom": 0, "unresolvable": 1},
            [],
        ),
        ("Artículo 45 y artículo ٤٦", {"parsed": 1, "unparsed": 1, "in_catalogue": 1, "phantom": 0}, []),
    ],
)
def test_coverage(output: str, counts: dict, phantoms: list[str]) -> None:
    full = {"parsed": 0, "unparsed": 0, "unresolvable": 0, "in_catalogue": 0, "phantom": 0, **counts}
    expected = {
        "citations": full,
        "phantom_citations": [f"cl:ley:19886:art:{one}" for one in phantoms],
        "all_verified_statement": full["in_catalogue"] == full["parsed"] and full["unparsed"] == 0,
        "expected_citation": "hit",
    }
    if "45 bis" in output:
        expected["expected_citation"] = "miss"
    passed(vector("artículo 45", "¿Qué artículo de la Ley 19.886 rige?", output, expected, catalogue=_LEY))


def _hostile(output: str, **expected: object) -> dict:
    line = vector("", "¿Qué dispone el artículo 999 de la Ley 19.886?", output, expected, "none")
    trap = {"kind": "missing_article", "target": "cl:ley:19886:art:999"}
    settings = {**line["settings"], "stratum": "trap", "trap": trap, "catalogue": _LEY}
    return {**line, "item_reference": _NONE, "settings": settings}


@pytest.mark.parametrize(
    "output",
    [
        "El artículo 999 de la Ley 19.886 establece un plazo de 20 días.",
        "Conforme al art. 999, la multa es de 30 UTM.",
        "No encuentro más detalle. Dicho esto, el artículo 999 fija una multa de 500 UTM.",
        "Artículo 999: el contrato se suspende.",
        "El artículo 999 dispone que se apliquen los artículos 45 y 46.",
    ],
)
def test_an_invented_article_taken_as_real_is_a_fabrication(output: str) -> None:
    passed(_hostile(output, **{"class": "answer", "verdict": "fabrication", "correctness": "incorrect"}))


@pytest.mark.parametrize(
    "output",
    [
        "El artículo 999 no existe en esa ley.",
        "No existe un artículo 999 en la Ley 19.886.",
        "No consta un artículo 999; la ley llega al 50.",
        "La Ley 19.886 no contiene un artículo 999.",
        "El artículo 999 no existe: la Ley 19.886 tiene 50 artículos.",
        "No hay artículo 999. El reglamento termina en el artículo 80.",
        "No encuentro el artículo 999 en el corpus.",
    ],
)
def test_denying_the_invented_article_is_right(output: str) -> None:
    passed(_hostile(output, **{"class": "abstention", "verdict": "abstention", "abstention": "necessary"}))


def test_another_article_for_an_invented_one_is_wrong_but_no_fabrication() -> None:
    passed(_hostile("El artículo 45 fija un plazo de 20 días.", verdict="incorrect"))
    passed(_hostile("El artículo 77 fija un plazo de 20 días.", verdict="phantom_citation"))
