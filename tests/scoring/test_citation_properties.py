"""Citations under any text: nothing raises, ids are read back, notation does not matter, the cost is linear."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Catalogue, CatalogueEntry, ClaimedCitation, parse_item
from slaverify.scoring import default_settings, score
from slaverify.scoring.citations.grammar import read_bare, read_citations
from slaverify.scoring.citations.ids import CitationId, Fit, compare, parse_id
from slaverify.scoring.citations.norms import names

NAMES = names()
NORM = "cl:ley:19886"
CATALOGUE = Catalogue(
    {name: CatalogueEntry(name) for name in (NORM, *(f"{NORM}:art:{number}" for number in range(1, 51)))}
)
SETTINGS = replace(default_settings("regulatory@1", "es-CL"), catalogue=CATALOGUE, citation_field=True)
WORDS = st.sampled_from(
    [
        *("artículo", "art.", "artículos", "5", "12", "12°", "bis", "ter", "y", ",", ";", "a", "al", "de", "la", "del"),
        *("ley", "Ley", "N°", "19.886", "dicha", "misma", "inciso", "segundo", "letra", "b)", "transitorio", "D.S."),
        *("250/2004", "no", "existe", "sino", "el", "Título", "IV", "rol", "1234-2020", "código civil", "(", ")", "."),
        *("\n", "４５", "٤", "15 días"),
    ]
)
SOUP = st.lists(WORDS, max_size=40).map(" ".join)


def item(stratum: str = "direct"):  # type: ignore[no-untyped-def]  # an item of either shape
    hostile = stratum != "direct"
    expected = [{"id": f"{NORM}:art:12"}]
    base = {
        "schema": "item/1",
        "id": "x",
        "stratum": stratum,
        "cluster": "c",
        "query": "¿Qué plazo rige según el artículo 999 de la Ley 19.886?" if hostile else "¿Qué plazo rige?",
        "reference": {"kind": "none", "because": "false_premise"} if hostile else {"kind": "number", "value": "15"},
        "official_text": "El plazo es de 15 días.",
        "source": {"title": "Ley"},
    }
    if hostile:
        return parse_item({**base, "trap": {"kind": "missing_article", "target": f"{NORM}:art:999"}})
    return parse_item({**base, "expected_citations": expected})


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=300) | SOUP, field=st.text(max_size=60) | SOUP, mark=st.sampled_from([True, False, None]))
def test_nothing_raises_and_what_is_phantom_is_not_accurate(text: str, field: str, mark: bool | None) -> None:
    for one in (item(), item("trap")):
        given_ = (ClaimedCitation(field, mark), ClaimedCitation(f"{field} 5", mark, field, "5"))
        got = score(one, Answer(text, given_), Outcome.ANSWERED, SETTINGS)
        if got.record.citations.phantom:
            assert got.record.verdict not in ("accurate", "abstention")
        if got.record.verdict == "accurate":
            assert got.record.citations.expected_hit == 1 or one.hostile
        assert got.record.to_json() == score(one, Answer(text, given_), Outcome.ANSWERED, SETTINGS).record.to_json()


@settings(max_examples=300, deadline=None)
@given(text=SOUP)
def test_every_id_read_from_a_text_is_canonical(text: str) -> None:
    for one in (*read_citations(text, NAMES).mentions, *read_bare(text, NAMES)):
        assert parse_id(str(one.id)) == one.id
        assert compare(one.id, one.id, "letter") in (Fit.EQUAL, Fit.OPEN)


ARTICLE = st.builds(
    lambda number, suffix: f"{number}{suffix}",
    st.integers(1, 400),
    st.sampled_from(["", "-bis", "-ter", "-bis-a", "-a", "-trans"]),
)


def _written(article: str, style: int) -> str:
    bare, transitory, _ = article.partition("-trans")
    number, *rest = bare.split("-")
    tail = "".join(f" {piece.upper() if len(piece) == 1 else piece}" for piece in rest)
    tail += " transitorio" if transitory else ""
    return (f"artículo {number}{tail}", f"Art. {number}°{tail}", f"art {number}º{tail}")[style]


@settings(max_examples=500, deadline=None)
@given(article=ARTICLE, other=ARTICLE, style=st.integers(0, 2), decomposed=st.booleans())
def test_an_article_in_any_notation_is_itself_and_no_other(
    article: str, other: str, style: int, decomposed: bool
) -> None:
    text = f"Lo fija el {_written(article, style)} de la Ley N° 19.886."
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFD" if decomposed else "NFC", text))
    (found,) = read_citations(text, NAMES).mentions
    wanted = CitationId(NORM).plus("art", article)
    assert found.id == wanted
    if other != article:
        assert compare(found.id, CitationId(NORM).plus("art", other), "article") is not Fit.EQUAL


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "artículo 5 ", "art. ", "artículos 5, 6, 7, ", "ley de compras ", "dicha ley ", "inciso ", "n° 5 ", "1"],
)
def test_the_cost_is_linear(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        best = 1e9
        for _ in range(3):
            start = time.process_time()
            read_citations.__wrapped__(text, NAMES)
            best = min(best, time.process_time() - start)
        return best

    assert cost(40_000) < 4 * cost(10_000) * 3 + 0.05
