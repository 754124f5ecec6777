"""What a cell or a value of a record becomes: a reference, a date, a list. What cannot be told apart is refused.

Source: docs/spec/import.md section 7.
"""

from __future__ import annotations

import re

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, loads_object
from slaverify.errors import SetError, Text
from slaverify.evalset.importers.options import Deck, Proposal
from slaverify.evalset.importers.report import Typed
from slaverify.evalset.importers.table import Cell
from slaverify.evalset.problems import json_problem, problem

NULL_REASONS = ("out_of_corpus", "not_in_document", "false_premise", "out_of_scope")
NO_REFERENCE = "—"
"""Value of a `text` reference that no answer equals (it has no letter or digit): every item goes to the judge."""

_TOKEN = re.compile(r"__.{1,60}__|n/?a|no aplica|not applicable|sin respuesta|no answer", re.IGNORECASE)
_NUMERIC_DATE = re.compile(r"([0-9]{1,4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,4})")
_ISO = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}


def reference_of(cell: Cell, deck: Deck, typed: list[Typed]) -> JsonObject | SetError:
    """Return the reference that a lone answer cell means, or why it means none."""
    text = cell.text.strip()
    if cell.kind in ("number", "percent"):
        value = text.removesuffix("%").strip()
        unit: JsonObject = {"unit": "%"} if cell.kind == "percent" else {}
        typed.append(Typed(cell.place, cell.kind, cell.stored, text))
        return {"kind": "number", "value": value, **unit}
    if cell.kind == "date":
        return _date_reference(cell, deck, typed)
    if cell.kind in ("time", "bool", "error", "formula"):
        return unread(cell)
    return text_reference(text, deck, cell.place)


def text_reference(text: str, deck: Deck, place: str) -> JsonObject | SetError:
    """Return the reference that a written answer means: no answer, an option, or the kind that was asked for."""
    options = deck.options
    tokens = dict(options.null_tokens)
    if text in tokens:
        if tokens[text] not in NULL_REASONS:
            known = ", ".join(NULL_REASONS)
            what = Text(f"motivo desconocido: {tokens[text]}", f"unknown reason: {tokens[text]}")
            return problem("SLV-I019", what, place, Text(f"use uno de: {known}", f"use one of: {known}"))
        return {"kind": "none", "because": tokens[text]}
    if not tokens and _TOKEN.fullmatch(text):
        token = Proposal(
            "--null-token",
            f"{text}=out_of_corpus",
            Text(f"«{text}» parece decir que no hay respuesta", f"{text!r} seems to say that there is no answer"),
            (place,),
        )
        if all(other.value != token.value for other in deck.proposals):
            deck.propose("null_tokens", token)
        return {"kind": "none", "because": "out_of_corpus"}
    if options.kind == "choice" or options.choices:
        return {"kind": "choice", "value": text, "options": {choice: choice for choice in options.choices}}
    return {"kind": options.kind or "text", "value": text}


def accepted_reference(texts: list[str], deck: Deck, place: str) -> JsonObject | SetError:
    """Return the reference of several right answers: the first, with the others as accepted."""
    if not texts:
        return missing_answer(place)
    found = [text_reference(text, deck, place) for text in dict.fromkeys(texts)]
    errors = [one for one in found if isinstance(one, SetError)]
    if errors:
        return errors[0]
    trees = [one for one in found if not isinstance(one, SetError)]
    others: list[JsonValue] = list(trees[1:])
    return {**trees[0], "accepted": others} if others else trees[0]


def missing_answer(place: str) -> SetError:
    """Return the error of a row without a right answer."""
    what = Text("falta la respuesta correcta", "the right answer is missing")
    fix = Text(
        "escríbala, o indique con --null-token el texto que significa «sin respuesta»",
        "write it, or name with --null-token the text that means no answer",
    )
    return problem("SLV-I019", what, place, fix)


def unread(cell: Cell) -> SetError:
    """Return the error of a cell that holds nothing that can be taken as written."""
    shown = {
        "formula": Text("una fórmula sin valor guardado", "a formula without a stored value"),
        "error": Text(f"un error de la planilla ({cell.text})", f"an error of the sheet ({cell.text})"),
        "time": Text("una hora", "a time of day"),
        "bool": Text("un valor lógico", "a logical value"),
        "date": Text(f"una fecha ({cell.text})", f"a date ({cell.text})"),
    }
    name = shown.get(cell.kind, Text(cell.kind, cell.kind))
    fix = Text("escriba en la celda el texto que quiere decir", "write in the cell the text that is meant")
    if cell.kind == "formula":
        fix = Text("abra y guarde el libro en su programa, o pegue sólo los valores", "save it in its program again")
    return problem("SLV-I019", Text(f"la celda tiene {name.es}", f"the cell holds {name.en}"), cell.place, fix)


def _date_reference(cell: Cell, deck: Deck, typed: list[Typed]) -> JsonObject | SetError:
    if deck.options.dates == "accept":
        typed.append(Typed(cell.place, "date", cell.stored, cell.text))
        return {"kind": "date", "value": cell.text[:10]}
    what = Text(
        f"la celda guarda la fecha {cell.text[:10]}: ¿la escribió usted, o la planilla convirtió otra cosa (3-4)?",
        f"the cell stores the date {cell.text[:10]}: typed as one, or made by the sheet of something else (3-4)?",
    )
    fix = Text(
        "si es una fecha, repita con --dates accept; si no, dé formato de texto a la celda y escríbala de nuevo",
        "if it is a date, repeat with --dates accept; if not, format the cell as text and write it again",
    )
    return problem("SLV-I019", what, cell.place, fix)


def day_of(cell: Cell, deck: Deck, typed: list[Typed]) -> str | SetError:
    """Return the ISO date of a cell of a date column."""
    if cell.kind == "date":
        typed.append(Typed(cell.place, "date", cell.stored, cell.text[:10]))
        return cell.text[:10]
    text = cell.text.strip()
    if cell.kind != "text":
        return unread(cell)
    if _ISO.fullmatch(text):
        return text
    match = _NUMERIC_DATE.fullmatch(text)
    order = _ORDERS.get(deck.options.date_order or "")
    if match is None or order is None:
        fix = Text("escríbala AAAA-MM-DD, o indique --date-order dmy", "write YYYY-MM-DD, or give --date-order dmy")
        return problem(
            "SLV-I019", Text(f"fecha sin orden conocido: {text}", f"date of unknown order: {text}"), cell.place, fix
        )
    parts = [match.group(index + 1) for index in order]
    if len(parts[0]) != 4:
        what = Text(f"falta el siglo en {text}", f"the century is missing in {text}")
        return problem("SLV-I019", what, cell.place)
    return f"{parts[0]}-{int(parts[1]):02d}-{int(parts[2]):02d}"


def plain_text(cell: Cell, typed: list[Typed]) -> str | SetError:
    """Return the text of a cell of a text column; numbers as they are written, what has no text is refused."""
    if cell.kind in ("formula", "error", "time", "bool"):
        return unread(cell)
    if cell.kind in ("number", "percent"):
        if cell.stored != cell.text:
            typed.append(Typed(cell.place, cell.kind, cell.stored, cell.text))
        return cell.text
    return unread(cell) if cell.kind == "date" else cell.text


def decimal_of(text: str) -> str | None:
    """Return `text` if it is a decimal as our files write it, else null."""
    return text if _DECIMAL.fullmatch(text) else None


def object_of(text: str, place: str) -> JsonObject | SetError:
    """Return the JSON object of a cell."""
    try:
        return loads_object(text.encode("utf-8"), max_depth=20)
    except (StrictJsonError, UnicodeEncodeError) as error:
        return json_problem(error if isinstance(error, StrictJsonError) else StrictJsonError("surrogate"), place)
