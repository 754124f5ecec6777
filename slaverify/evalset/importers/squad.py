"""Import SQuAD 1.1 and 2.0: reading comprehension, one `entity` item per question.

The query is what a user types; the passage stays out of it, because the engine has its own corpus. It goes to
`official_text`, so that a reader can check the reference. Offsets of SQuAD are code points.

Trust boundary: see `reading`. Source: SQuAD 1.1 (arXiv 1606.05250) and 2.0 (arXiv 1806.03822), file layout;
*unverified* against the papers, read from files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_strict
from slaverify.errors import ProblemsError, SetError, Text
from slaverify.evalset.importers.reading import BOM, Counts, Origin, finish, to_nfc
from slaverify.evalset.importers.report import Imported
from slaverify.evalset.item import Item
from slaverify.evalset.problems import json_problem, problem, read_item

_COLUMNS = (("question", "query"), ("answers", "reference"), ("context", "official_text"), ("id", "id"))


class _MalformedError(Exception):
    """A member of the file has not the layout of SQuAD; the text names it."""


@dataclass(frozen=True, slots=True)
class _Question:
    tree: JsonObject
    context: str
    title: str
    paragraph: int
    where: str


def import_squad(data: bytes, name: str, *, stratum: str | None = None, locale: str | None = None) -> Imported:
    """Read a SQuAD file. Without `stratum`, answerable questions go to `direct`, the others to `out_of_corpus`.

    Raises: ProblemsError with every problem: layout, offsets that do not hold the answer, ids that stand twice.
    """
    try:
        tree = loads_strict(data, bom="skip")
    except StrictJsonError as error:
        raise ProblemsError([json_problem(error, name)]) from error
    items: list[Item] = []
    places: list[str] = []
    problems: list[SetError] = []
    counts = Counts()
    try:
        for question in _questions(tree, name):
            counts.read += 1
            item, found = _item(question, stratum, counts)
            problems.extend(found)
            if item is not None:
                items.append(item)
                places.append(question.where)
    except _MalformedError as error:
        what = Text(f"no tiene la forma de SQuAD: {error}", f"not in the form of SQuAD: {error}")
        problems.append(problem("SLV-I012", what, name))
    line_ends = None if data.removeprefix(BOM).count(b"\n") == 0 else "lf"
    return finish(Origin(name, data, "squad", line_ends, "id", _COLUMNS, locale), items, places, problems, counts)


def _questions(tree: JsonValue, name: str) -> Iterator[_Question]:
    for a, article in enumerate(_list(_object(tree, "file"), "data", "file")):
        here = f"data[{a}]"
        title = _text(_object(article, here), "title", here)
        for p, paragraph in enumerate(_list(_object(article, here), "paragraphs", here)):
            there = f"{here}.paragraphs[{p}]"
            context = _text(_object(paragraph, there), "context", there)
            for q, question in enumerate(_list(_object(paragraph, there), "qas", there)):
                place = f"{there}.qas[{q}]"
                yield _Question(_object(question, place), context, title, p + 1, f"{name}: {place}")


def _item(question: _Question, stratum: str | None, counts: Counts) -> tuple[Item | None, list[SetError]]:
    answers, problems = _answers(question)
    if problems:
        return None, problems
    if answers:
        reference: dict[str, JsonValue] = {"kind": "entity", "value": answers[0]}
        if answers[1:]:
            reference["accepted"] = [{"kind": "entity", "value": other} for other in answers[1:]]
    else:
        reference = {"kind": "none", "because": "not_in_document"}
    tree: JsonObject = {
        "schema": "item/1",
        "id": _text(question.tree, "id", question.where),
        "stratum": stratum or ("direct" if answers else "out_of_corpus"),
        "query": _text(question.tree, "question", question.where),
        "reference": reference,
        "official_text": question.context,
        "source": {"title": question.title, "locator": f"§ {question.paragraph}"},
        "cluster": f"{question.title}#{question.paragraph}",
    }
    return read_item(to_nfc(tree, counts), question.where)


def _answers(question: _Question) -> tuple[list[str], list[SetError]]:
    impossible = question.tree.get("is_impossible", False)
    if impossible is True:
        return [], []
    texts: list[str] = []
    problems: list[SetError] = []
    for number, answer in enumerate(_list(question.tree, "answers", question.where)):
        place = f"{question.where}.answers[{number}]"
        tree = _object(answer, place)
        text = _text(tree, "text", place)
        start = tree.get("answer_start")
        if isinstance(start, bool) or not isinstance(start, int) or start < 0:
            raise _MalformedError(f"{place}.answer_start")
        if question.context[start : start + len(text)] != text:
            problems.append(_misplaced(text, start, place))
        elif text not in texts:
            texts.append(text)
    if not texts and not problems:
        what = Text("una pregunta sin respuestas y sin is_impossible", "a question without answers or is_impossible")
        problems.append(problem("SLV-I012", what, question.where))
    return texts, problems


def _misplaced(text: str, start: int, where: str) -> SetError:
    what = Text(
        f"en la posición {start} del pasaje no está la respuesta «{text[:60]}»",
        f"the passage does not hold the answer {text[:60]!r} at offset {start}",
    )
    fix = Text("las posiciones se cuentan en puntos de código", "offsets are counted in code points")
    return problem("SLV-I013", what, where, fix)


def _object(value: JsonValue, place: str) -> JsonObject:
    if not isinstance(value, dict):
        raise _MalformedError(place)
    return value


def _list(tree: JsonObject, key: str, place: str) -> list[JsonValue]:
    value = tree.get(key)
    if not isinstance(value, list):
        raise _MalformedError(f"{place}.{key}")
    return value


def _text(tree: JsonObject, key: str, place: str) -> str:
    value = tree.get(key)
    if not isinstance(value, str):
        raise _MalformedError(f"{place}.{key}")
    return value
