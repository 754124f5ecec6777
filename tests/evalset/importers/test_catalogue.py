"""Catalogues: read from lists and texts, canonical out, holes shown, nothing added."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import ProblemsError, SlaverifyError
from slaverify.evalset import Hole, build_catalogue, read_catalogue, write_catalogue

ROOT = Path(__file__).resolve().parents[3]
NORM = "cl:ley:1"


def articles(text: str) -> set[str]:
    found = build_catalogue(text.encode(), "f", norm=NORM).catalogue
    return {name.removeprefix(f"{NORM}:art:") for name in found.entries if ":art:" in name}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Artículo 12.- Texto", "12"),
        ("ARTÍCULO 12°.- Texto", "12"),
        ("Art. 12 bis.- Texto", "12-bis"),
        ("Artículo 12 quáter: Texto", "12-quater"),
        ("Artículo 12 A.- Texto", "12-a"),
        ("Artículo 12 bis B.- Texto", "12-bis-b"),
        ("Artículo 3 transitorio.- Texto", "3-trans"),
        ("Artículo primero transitorio.- Texto", "1-trans"),
        ("Artículo único.- Texto", "1"),
        ("Artículo 1º.- Texto", "1"),
        ("Article 7. Text", "7"),
    ],
)
def test_headings(line: str, expected: str) -> None:
    assert articles(f"LEY\n{line}\nel artículo 99 de la otra ley\n") == {expected}


def test_a_sentence_is_no_heading() -> None:
    assert articles("Artículo 1.- uno\nArtículo 9 de la ley dice otra cosa\n  y el artículo 8.- no\n") == {"1"}


def test_holes_are_shown_and_not_filled() -> None:
    found = build_catalogue(b"1\n2\n56\n58\n58 bis\n", "f", norm=NORM).catalogue
    assert found.holes() == (Hole(NORM, 2, 56), Hole(NORM, 56, 58))
    assert found.holes()[1].missing == (57,) and found.counts() == {NORM: 5}
    assert build_catalogue(b"5\n", "f", norm=NORM).catalogue.holes() == (Hole(NORM, 0, 5),)


def test_canonical_bytes_come_back() -> None:
    found = build_catalogue(b"cl:ley:1:art:2\ncl:ley:1:art:1\n", "f", norm=None, as_of="2026-01-01").catalogue
    again = read_catalogue(write_catalogue(found.entries.values()), "c")
    assert again == found and again.digest == found.digest
    assert again.holds("cl:ley:1:art:1", "2026-06-01") and not again.holds("cl:ley:1:art:1", "2025-06-01")
    assert not again.holds("cl:ley:1:art:3")


def test_aliases_and_days() -> None:
    line = b'{"aliases":["ley de prueba"],"id":"cl:ley:1","valid_from":null,"valid_to":"2020-01-01"}\n'
    found = read_catalogue(line, "c")
    assert found.holds("ley de prueba") and not found.holds("ley de prueba", "2021-01-01")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Articulo sin numero\n",
        b"cl:ley:1:art:1\ncl:ley:1:art:1\n",
        b'[{"number":"x"}]',
        b'{"id":"CL:LEY"}',
        b"\xff\xfe\x00",
        b'{"id":"cl:ley:1","id":"b"}',
    ],
)
def test_what_is_no_catalogue_is_refused(data: bytes) -> None:
    with pytest.raises(SlaverifyError):
        build_catalogue(data, "f", norm=None)


@given(data=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for call in (lambda: build_catalogue(data, "f", norm=NORM), lambda: read_catalogue(data, "f")):
        try:
            call()
        except SlaverifyError as error:
            assert error.code.startswith("SLV-I")


def test_headings_are_read_in_linear_time() -> None:
    import time

    start = time.perf_counter()
    with pytest.raises(SlaverifyError):
        build_catalogue(("artículo " * 60_000 + "\n" + " " * 500_000).encode(), "f", norm=None)
    assert time.perf_counter() - start < 5


def test_the_fictional_norm_is_whole() -> None:
    data = (ROOT / "contratos" / "practica" / "norma_ficticia.json").read_bytes()
    built = build_catalogue(data, "norma", norm="cl:reglamento-lacustre:1", as_of="2026-11-30").catalogue
    stored = (ROOT / "contratos" / "demo-normativa-cl.catalogue.jsonl").read_bytes()
    pinned = read_catalogue(stored, "c")
    assert [entry.id for entry in pinned.entries.values() if entry.aliases] == ["cl:reglamento-lacustre:1"]
    assert write_catalogue(replace(entry, aliases=()) for entry in pinned.entries.values()) == write_catalogue(
        built.entries.values()
    )
    assert built.counts() == {"cl:reglamento-lacustre:1": 80} and built.holes() == ()
    with pytest.raises(ProblemsError):
        read_catalogue(stored[:-5], "c")
