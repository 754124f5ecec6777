"""The lint over citations: right ones in words are right, nearly right ones are not, a value alone is not enough."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from slaverify.evalset import Item, parse_item, read_bank, read_catalogue
from slaverify.readiness.bank import check_bank
from slaverify.readiness.bank_citations import citation_mutants, misgrounded_gold
from slaverify.readiness.bank_findings import CheckOptions
from slaverify.scoring import default_settings
from slaverify.scoring.citations.grammar import read_citations
from slaverify.scoring.citations.ids import parse_id
from slaverify.scoring.citations.norms import names
from slaverify.scoring.citations.wording import in_words

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE = read_catalogue((ROOT / "contratos" / "demo-normativa-cl.catalogue.jsonl").read_bytes(), "c")
IDS = (
    "cl:ley:19886:art:12-bis",
    "cl:ley:19886",
    "cl:ds:250-2004:art:3:par:2",
    "cl:dfl:1-19653",
    "cl:codigo:trabajo:art:159",
    "es:ley:39-2015:art:39",
    "es:rd:203-2021",
    "cl:constitucion:art:19:num:3",
    "?:art:2-trans",
    "?:tit:4",
    "cl:rol:1234-2020",
    "cl:dl:824:art:66-a",
)


@pytest.mark.parametrize("name", IDS)
def test_an_id_in_words_is_read_back(name: str) -> None:
    cited = parse_id(name)
    assert cited is not None and str(cited) == name
    text = in_words(cited)
    assert text is not None
    assert [str(one.id) for one in read_citations(text, names()).mentions] == [name]


def test_a_norm_of_the_catalogue_has_the_name_that_the_catalogue_gives_it() -> None:
    cited = parse_id("cl:reglamento-lacustre:1:art:7")
    assert cited is not None and in_words(cited) is None
    text = in_words(cited, CATALOGUE)
    assert text == "artículo 7 del Reglamento de Transporte Lacustre de la Provincia Ficticia"


def _item(number: int, reference: dict[str, Any]) -> Item:
    return parse_item(
        {
            "schema": "item/1",
            "id": f"i{number}",
            "stratum": "direct",
            "cluster": f"c{number}",
            "query": f"¿Qué disposición fija el dato número {'abcdefghijkl'[number]} de la norma?",
            "reference": reference,
        }
    )


def test_citations_have_gold_and_mutants() -> None:
    items = [_item(number, {"kind": "citation", "value": name}) for number, name in enumerate(IDS[:3])]
    found = check_bank(items, CheckOptions(settings=cache(lambda stratum: default_settings("qa@1", "es-CL", stratum))))
    assert found.gold_total == found.gold_correct == 9
    assert (found.mutants_correct, found.mutants_least >= 5) == (0, True)
    near = list(citation_mutants(items[0].reference))  # type: ignore[arg-type]
    assert "artículo 12 de la Ley 19886" in near and "artículo 13 de la Ley 19886" in near


def test_a_citation_without_words_is_said_and_not_passed() -> None:
    items = [_item(0, {"kind": "citation", "value": "cl:bando:7:art:1"})]
    found = check_bank(items, CheckOptions(settings=cache(lambda stratum: default_settings("qa@1", "es-CL", stratum))))
    assert (found.gold_total, found.mutants_total) == (0, 0)
    assert any("citation" in text.en for text in found.not_performed)


def test_the_right_value_with_a_wrong_citation_or_none_is_never_accurate() -> None:
    bank = read_bank((ROOT / "custodia" / "demo" / "preguntas.jsonl").read_bytes(), "b")
    settings = replace(default_settings("regulatory@1", "es-CL"), catalogue=CATALOGUE)
    for item in [one for one in bank if one.stratum == "applied"][::10]:
        value = getattr(item.reference, "value", "")
        tried, accurate = misgrounded_gold(item, value, settings, CATALOGUE)
        assert tried >= 5 and accurate == []
