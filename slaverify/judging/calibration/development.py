"""A labelled development set, on which the wording of criteria is tried; it never enters a calibration or a bank.

CSV or JSON Lines, one row per answer and criterion: `criterion`, `question`, `official_text`, `answer`, `met`, and
an `id` if one likes. Trust boundary: a file from a person; nothing is guessed.

Source: docs/spec/calibration.md section 9.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, loads_object
from slaverify.contract.model.judge import Criterion
from slaverify.errors import JudgeError, ProblemsError, Text
from slaverify.judging.calibration.columns import HEADINGS, Column
from slaverify.judging.criteria import meets, values_of
from slaverify.judging.sentinels import probes_of

_COLUMNS = ("criterion", "question", "official_text", "answer", "met")
_MET = Column("met", ("met", "not_met"))
MAX_PROBLEMS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An answer of which people said whether it meets a criterion. `probe`: it is one of the criterion's own."""

    id: str
    criterion: str
    question: str
    official_text: str
    answer: str
    met: bool
    probe: bool = False


def read_development(data: bytes, name: str, criteria: Sequence[Criterion]) -> tuple[Known, ...]:
    """Return the rows of a development set. Raises: ProblemsError of JudgeError SLV-J071, each with its place."""
    known = {criterion.id for criterion in criteria}
    rows = _lines(data, name) if name.endswith(".jsonl") else _table(data, name)
    found: list[Known] = []
    problems: list[JudgeError] = []
    seen: set[tuple[str, str, str]] = set()
    for where, row in rows:
        one = _row(row, where, known)
        if isinstance(one, JudgeError):
            problems.append(one)
            continue
        place = (one.criterion, one.question, one.answer)
        if place in seen:
            problems.append(_problem(where, "esta respuesta ya está", "this answer is there already"))
        seen.add(place)
        found.append(one)
    if problems or not found:
        problems = problems or [_problem(name, "no hay filas", "there are no rows")]
        raise ProblemsError(problems[:MAX_PROBLEMS])
    return tuple(found)


def probes_known(criteria: Sequence[Criterion]) -> tuple[Known, ...]:
    """Return the probes of criteria as answers of which the drafter said whether they meet it."""
    named = {criterion.id: criterion for criterion in criteria}
    found: list[Known] = []
    for one in probes_of(criteria):
        criterion = named[str(one.criterion)]
        admitted = one.expected["score"]
        found.append(
            Known(
                id=one.id,
                criterion=criterion.id,
                question=one.question,
                official_text=one.official_text,
                answer=one.answer,
                met=any(meets(criterion, value) for value in values_of(criterion) if value in admitted),
                probe=True,
            )
        )
    return tuple(found)


def refuse_shared(developed: Iterable[str], questions: Iterable[tuple[str, str]]) -> None:
    """Refuse an item that a development set asks too, word by word less white space and case.

    `questions` are pairs of item id and question. Raises: JudgeError SLV-J020.
    """
    known = {" ".join(question.split()).casefold() for question in developed}
    shared = sorted({item for item, question in questions if " ".join(question.split()).casefold() in known})
    if shared:
        names = ", ".join(shared[:5])
        raise JudgeError(
            "SLV-J020",
            Text(f"{len(shared)} preguntas son del conjunto de desarrollo: {names}", f"{len(shared)} shared: {names}"),
            why=Text(
                "los criterios se redactaron mirando esas respuestas; no pueden medir su error",
                "the criteria were worded on these answers; they cannot measure their error",
            ),
            fix=Text("cambie el banco, o redacte con otras preguntas", "change the bank, or draft on other questions"),
            where="--development",
        )


def read_questions(data: bytes, name: str) -> list[str]:
    """Return the questions of a development set, whatever its criteria. Raises: ProblemsError SLV-J071."""
    rows = _lines(data, name) if name.endswith(".jsonl") else _table(data, name)
    return [str(row.get("question", "")) for _, row in rows]


def _row(row: JsonObject, where: str, criteria: set[str]) -> Known | JudgeError:
    for column in _COLUMNS[1:4]:
        value = row.get(column)
        if not isinstance(value, str) or not value.strip():
            return _problem(f"{where}, {column}", "falta el texto", "the text is missing")
    criterion, met = str(row.get("criterion", "")).strip(), row.get("met")
    if criterion not in criteria:
        names = ", ".join(sorted(criteria))
        es, en = f"los criterios son: {names}", f"the criteria are: {names}"
        return _problem(
            f"{where}, criterion", f"«{criterion[:40]}» no es un criterio", f"`{criterion[:40]}` is none", es, en
        )
    code = ("met" if met else "not_met") if isinstance(met, bool) else _MET.code(str(met))
    if code is None:
        es, en = "escriba sí o no", "write yes or no"
        return _problem(f"{where}, met", f"«{str(met)[:30]}» no es sí ni no", f"`{str(met)[:30]}` is neither", es, en)
    return Known(
        id=str(row.get("id") or where.rpartition(":")[2]),
        criterion=criterion,
        question=str(row["question"]),
        official_text=str(row["official_text"]),
        answer=str(row["answer"]),
        met=code == "met",
    )


def _lines(data: bytes, name: str) -> list[tuple[str, JsonObject]]:
    found: list[tuple[str, JsonObject]] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append((f"{name}:{number}", loads_object(line)))
        except StrictJsonError as error:
            es, en = f"no es un objeto JSON: {error}", f"not a JSON object: {error}"
            raise ProblemsError([_problem(f"{name}:{number}", es, en)]) from error
    return found


def _table(data: bytes, name: str) -> list[tuple[str, JsonObject]]:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        first = text.partition("\n")[0]
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=max((",", ";", "\t"), key=first.count), strict=True
        )
        rows = [row for row in reader if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        es, en = "guarde como «CSV UTF-8»", "save as `CSV UTF-8`"
        raise ProblemsError([_problem(name, f"no se lee: {error}", f"unreadable: {error}", es, en)]) from error
    names = {word.casefold(): column for column in (*_COLUMNS, "id") for word in (column, *HEADINGS.get(column, ()))}
    head = [names.get(cell.strip().casefold(), cell) for cell in rows[0]] if rows else []
    missing = [column for column in _COLUMNS if column not in head]
    if missing:
        es, en = f"faltan columnas: {', '.join(missing)}", f"columns are missing: {', '.join(missing)}"
        raise ProblemsError([_problem(f"{name}:1", es, en)])
    return [(f"{name}:{number}", dict(zip(head, row, strict=False))) for number, row in enumerate(rows[1:], 2)]


def _problem(where: str, es: str, en: str, fix_es: str = "", fix_en: str = "") -> JudgeError:
    fix = Text(fix_es or "corrija esa fila", fix_en or "mend that row")
    return JudgeError("SLV-J071", Text(es, en), fix=fix, where=where)
