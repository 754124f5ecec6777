"""JSON Lines and SQuAD: what was read, how, and every refusal with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.canonical import digest_of, jcs
from slaverify.errors import ProblemsError
from slaverify.evalset import import_jsonl, import_squad, read_bank, write_bank
from tests.evalset.test_item import BASE


def lines(*trees: dict[str, Any], end: bytes = b"\n") -> bytes:
    return b"".join(json.dumps(tree, ensure_ascii=False).encode() + end for tree in trees)


def squad(*questions: dict[str, Any], context: str = "El plazo es de 15 días.", title: str = "Norma") -> bytes:
    paragraph = {"context": context, "qas": list(questions)}
    return json.dumps({"version": "1.1", "data": [{"title": title, "paragraphs": [paragraph]}]}).encode()


def question(name: str, *answers: tuple[int, str], **more: Any) -> dict[str, Any]:
    found = [{"answer_start": start, "text": text} for start, text in answers]
    return {"id": name, "question": "¿Cuál?", "answers": found, **more}


def codes(call: Any) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        call()
    return [(problem.code, problem.where) for problem in caught.value.problems]


def test_jsonl_is_read_and_sorted() -> None:
    data = lines({**BASE, "id": "b"}, {**BASE, "id": "a"})
    imported = import_jsonl(data, "f.jsonl", locale="es-CL")
    assert [item.id for item in imported.items] == ["a", "b"]
    report = imported.report.to_json()
    assert report["rows_read"] == report["rows_kept"] == 2
    assert report["source_digest"] == digest_of(data)
    assert report["canonical_digest"] == digest_of(write_bank(imported.items))
    assert (report["encoding_known_by"], report["line_ends"], report["locale"]) == ("strict decoding", "lf", "es-CL")
    assert read_bank(write_bank(imported.items), "b") == imported.items


def test_bom_crlf_blank_lines_and_nfd_are_reported() -> None:
    data = b"\xef\xbb\xbf" + lines({**BASE, "query": "¿Plazo del an\u0303o?"}, end=b"\r\n") + b"\r\n  \r\n"
    imported = import_jsonl(data, "f.jsonl")
    report = imported.report
    assert (report.encoding_known_by, report.line_ends) == ("byte order mark", "crlf")
    assert (report.rows_blank, report.normalised_to_nfc) == (2, 1)
    assert imported.items[0].query == "¿Plazo del año?"
    mixed = lines({**BASE, "id": "a"}, end=b"\r\n") + lines({**BASE, "id": "b"})
    assert import_jsonl(mixed, "f").report.line_ends == "mixed"


def test_formula_like_questions_are_listed() -> None:
    imported = import_jsonl(lines({**BASE, "query": "=1+1?"}, {**BASE, "id": "q", "query": "¿x?"}), "f")
    assert imported.report.formula_like == ("p-1",)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lines(BASE, BASE), [("SLV-I006", "f:2")]),
        (b'{"id":3}\n', 4),
        (b'{"a":1,"a":2}\n', [("SLV-I001", "f:1")]),
        (b'{"a":1.5}\n', [("SLV-I001", "f:1")]),
        (b'{"a":NaN}\n', [("SLV-I001", "f:1")]),
        (b"[1]\n", [("SLV-I001", "f:1")]),
        (b"\xff\n", [("SLV-I001", "f:1")]),
        (b"{}{}\n", [("SLV-I001", "f:1")]),
        (b'{"a":"\\ud800"}\n', [("SLV-I001", "f:1")]),
        (b"[" * 100 + b"\n", [("SLV-I001", "f:1")]),
        (b"", [("SLV-I010", "")]),
        (b"\n\n", [("SLV-I010", "")]),
    ],
)
def test_refusals(data: bytes, expected: Any) -> None:
    found = codes(lambda: import_jsonl(data, "f"))
    if isinstance(expected, int):
        assert len(found) == expected
    else:
        assert found == expected


def test_every_problem_of_the_file_is_said_at_once() -> None:
    found = codes(lambda: import_jsonl(lines(BASE, {**BASE, "x": 1}) + b"{\n" + lines(BASE), "f"))
    assert found == [("SLV-I002", "f:2: x"), ("SLV-I001", "f:3"), ("SLV-I006", "f:4")]


def test_squad_becomes_entities() -> None:
    data = squad(question("q1", (15, "15 días"), (15, "15"), (15, "15 días")), question("q2", (0, "El plazo")))
    imported = import_squad(data, "s.json", locale="es-CL")
    first = imported.items[0].to_json()
    assert first["reference"] == {
        "kind": "entity",
        "value": "15 días",
        "accepted": [{"kind": "entity", "value": "15"}],
    }
    assert (first["stratum"], first["cluster"], first["query"]) == ("direct", "Norma#1", "¿Cuál?")
    assert "El plazo es" not in str(first["query"]) and first["official_text"] == "El plazo es de 15 días."
    assert dict(imported.report.strata) == {"direct": 2}


def test_squad_2_has_questions_without_an_answer() -> None:
    data = squad(question("q1", is_impossible=True), question("q2", (0, "El"), is_impossible=False))
    imported = import_squad(data, "s.json")
    assert [(item.stratum, item.reference.kind) for item in imported.items] == [
        ("out_of_corpus", "none"),
        ("direct", "entity"),
    ]
    assert {item.stratum for item in import_squad(data, "s.json", stratum="lectura").items} == {"lectura"}


def test_offsets_are_code_points() -> None:
    context = "😀 El faro 😀 alumbra."
    assert import_squad(squad(question("q", (5, "faro")), context=context), "s").items[0].query == "¿Cuál?"
    assert codes(lambda: import_squad(squad(question("q", (6, "faro")), context=context), "s")) == [
        ("SLV-I013", "s: data[0].paragraphs[0].qas[0].answers[0]")
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{}",
        b'{"data":[{"title":"x"}]}',
        b'{"data":[{"title":"x","paragraphs":[{"context":"c","qas":[{}]}]}]}',
        squad({"id": "q", "question": "¿?", "answers": [{"text": "x", "answer_start": "0"}]}),
        squad({"id": "q", "question": "¿?", "answers": [{"text": "x", "answer_start": -1}]}),
        squad({"id": "q", "question": "¿?", "answers": []}),
    ],
)
def test_what_is_no_squad_is_refused(data: bytes) -> None:
    assert {code for code, _ in codes(lambda: import_squad(data, "s"))} == {"SLV-I012"}


def test_squad_ids_that_stand_twice_are_refused() -> None:
    data = squad(question("q", (0, "El")), question("q", (0, "El")))
    assert codes(lambda: import_squad(data, "s")) == [("SLV-I006", "s: data[0].paragraphs[0].qas[1]")]


@given(data=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (import_jsonl, import_squad):
        try:
            read(data, "f")
        except ProblemsError as error:
            assert all(problem.code.startswith("SLV-I") for problem in error.problems)


def test_the_public_squad_file(public_data: Path) -> None:
    data = (public_data / "xquad_es_4articles.squad.json").read_bytes()
    imported = import_squad(data, "xquad_es_4articles.squad.json", locale="es-ES")
    assert (imported.report.rows_read, imported.report.rows_kept) == (135, 135)
    assert dict(imported.report.strata) == {"direct": 135}
    assert len({item.cluster for item in imported.items}) == 20
    assert jcs(imported.report.to_json())
    from slaverify.contract.words import Outcome
    from slaverify.evalset import Answer
    from slaverify.scoring import default_settings, score

    fixed = default_settings("qa@1", "es-ES")
    for item in imported.items:
        gold = item.reference.value
        assert isinstance(gold, str)
        assert score(item, Answer(gold), Outcome.ANSWERED, fixed).record.verdict == "accurate", gold
