"""Import the sets of deepeval, ragas, inspect_ai, FACTS, and plain JSON records by a mapping.

Source: docs/spec/import.md section 8; layouts of the tools *unverified* against their papers, read from files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slaverify.canonical import JsonValue, NumberText
from slaverify.errors import SetError, Text
from slaverify.evalset.importers import values
from slaverify.evalset.importers.columns import FIELDS, IGNORED, REFERENCE, SYNONYMS
from slaverify.evalset.importers.options import Deck, Proposal
from slaverify.evalset.importers.reading import FORMULA, Origin, finish
from slaverify.evalset.importers.records import Record, Records, read_records, text_list
from slaverify.evalset.importers.report import Imported, SourceFacts, Typed
from slaverify.evalset.importers.rows import Work, need_ids, need_stratum
from slaverify.evalset.problems import problem
from slaverify.evalset.template_layout import put

_Tree = dict[str, JsonValue]
_Reader = Callable[[Record, Deck, Work], tuple[_Tree, list[SetError]]]
_ROLES = {"human": "user", "ai": "assistant", "user": "user", "assistant": "assistant", "system": "system"}


def import_tool(form: str, data: bytes, name: str, deck: Deck) -> Imported:
    """Return the items of a file of the named tool. Raises: UndecidedError, ImportRefusedError, SetError."""
    found = read_records(data, name, deck)
    work = Work(problems=list(found.problems))
    work.counts.blank, work.counts.nfc = found.blank, found.nfc
    columns, reader = _READERS[form]
    pairs = tuple((key, columns.get(_snake(key), IGNORED)) for key in found.keys)
    if form == "json":
        pairs = _mapped(found, deck)
        reader = _by_mapping(dict(pairs))
    fields = [field for _, field in pairs]
    prefix = need_ids(deck, "id" in fields or not found.records)
    stratum = need_stratum(deck, "stratum" in fields or not found.records)
    for record in found.records:
        if record.number in deck.options.exclude:
            work.excluded.append(record.number)
            continue
        work.counts.read += 1
        tree, problems = reader(record, deck, work)
        if prefix is not None:
            tree["id"] = f"{prefix}-{record.number:04d}"
        if stratum is not None:
            tree["stratum"] = stratum
        _note_formulas(record, work)
        work.add(tree, record.where, problems, deck)
    deck.settle(name)
    id_column = next((key for key, field in pairs if field == "id"), "")
    origin = Origin(
        name,
        data,
        form,
        found.table.line_ends,
        id_column,
        pairs,
        deck.options.locale,
        found.table.encoding,
        _facts(found, work, deck),
    )
    return finish(origin, work.items, work.places, work.problems, work.counts)


def _facts(found: Records, work: Work, deck: Deck) -> SourceFacts:
    return SourceFacts(
        delimiter=found.table.delimiter,
        quote=None if found.table.delimiter is None else '"',
        header_row=None if found.columns is None else found.columns.row,
        known_by=tuple(sorted(deck.known.items())),
        rows_excluded=tuple(work.excluded),
        formula_cells=tuple(work.formulas),
        typed=tuple(work.typed),
        notes=tuple(dict.fromkeys(work.notes)),
    )


def _note_formulas(record: Record, work: Work) -> None:
    work.formulas.extend(
        f"{record.where} {key}"
        for key, value in record.tree.items()
        if isinstance(value, str) and not isinstance(value, NumberText) and value.startswith(FORMULA)
    )


def _deepeval(record: Record, deck: Deck, work: Work) -> tuple[_Tree, list[SetError]]:
    own = {_snake(key): value for key, value in record.tree.items()}
    tree: _Tree = {"query": own.get("input")}
    problems = _reference(tree, own.get("expected_output"), record, deck)
    _context(tree, own.get("context"), record, deck, problems)
    if isinstance(own.get("source_file"), str):
        put(tree, "source.title", own["source_file"])
    _extra(tree, own, ("additional_metadata", "name", "comments"), record, problems)
    if own.get("actual_output") is not None:
        work.notes.append(
            Text("actual_output es una respuesta ya dada: no se importa", "actual_output is an answer: not imported")
        )
    return tree, problems


def _ragas(record: Record, deck: Deck, work: Work) -> tuple[_Tree, list[SetError]]:
    own = record.tree
    tree: _Tree = {}
    question = own.get("user_input")
    if isinstance(question, list):
        tree["messages"] = [_message(member) for member in question]
    else:
        tree["query"] = question
    problems = _reference(tree, own.get("reference"), record, deck)
    _context(tree, own.get("reference_contexts"), record, deck, problems)
    _extra(tree, own, ("persona_name", "query_style", "query_length", "synthesizer_name"), record, problems)
    return tree, problems


_FORBIDDEN = ("files", "setup", "sandbox")


def _inspect(record: Record, deck: Deck, work: Work) -> tuple[_Tree, list[SetError]]:
    own = record.tree
    problems: list[SetError] = []
    for key in _FORBIDDEN:
        if own.get(key) not in (None, "", [], {}):
            what = Text(f"{key} ejecutaría o copiaría cosas: no se importa", f"{key} would run or copy: refused")
            fix = Text("quite esa muestra o ese campo", "remove the sample or the field")
            problems.append(problem("SLV-I018", what, record.where, fix))
    tree: _Tree = {}
    _own_id(tree, own.get("id"), record, problems)
    question = own.get("input")
    if isinstance(question, list):
        tree["messages"] = [_message(member) for member in question]
    else:
        tree["query"] = question
    choices = text_list(own.get("choices"), deck.options.list_separator, record.where)
    if isinstance(choices, SetError):
        problems.append(choices)
    elif choices:
        _inspect_choice(tree, own.get("target"), choices, record, problems)
    else:
        problems.extend(_reference(tree, own.get("target"), record, deck, work.typed))
    _extra(tree, own, ("metadata",), record, problems)
    return tree, problems


def _inspect_choice(
    tree: _Tree, target: JsonValue, choices: list[str], record: Record, problems: list[SetError]
) -> None:
    labels: dict[str, JsonValue] = {chr(65 + index): text for index, text in enumerate(choices[:26])}
    if not isinstance(target, str) or len(choices) > 26:
        what = Text("con choices, target es una letra", "with choices, target is one letter")
        problems.append(problem("SLV-I019", what, record.where))
        return
    tree["reference"] = {"kind": "choice", "value": target.strip(), "options": labels}


def _facts_style(record: Record, deck: Deck, work: Work) -> tuple[_Tree, list[SetError]]:
    own = {key: value for key, value in record.tree.items() if isinstance(value, str)}
    request, document = own.get("user_request", ""), own.get("context_document", "")
    asked: list[JsonValue] = [{"role": "user", "content": f"{document}\n\n{request}" if document else request}]
    if own.get("system_instruction"):
        asked.insert(0, {"role": "system", "content": own["system_instruction"]})
    tree: _Tree = {"messages": asked, "reference": {"kind": "text", "value": values.NO_REFERENCE}}
    if document:
        tree["official_text"] = document
    problems: list[SetError] = []
    if not request:
        problems.append(problem("SLV-I003", Text("falta user_request", "user_request is missing"), record.where))
    work.notes.append(
        Text(
            "estas filas no traen respuesta correcta: ninguna regla puede decidirlas y todas van al juez",
            "these rows have no right answer: no rule can decide them and every one goes to the judge",
        )
    )
    return tree, problems


def _by_mapping(mapping: Mapping[str, str]) -> _Reader:
    def read(record: Record, deck: Deck, work: Work) -> tuple[_Tree, list[SetError]]:
        tree: _Tree = {}
        problems: list[SetError] = []
        for key, value in record.tree.items():
            field = mapping.get(key, IGNORED)
            if field == IGNORED or value is None:
                continue
            if field == REFERENCE:
                problems.extend(_reference(tree, value, record, deck, work.typed))
            elif field == "id":
                _own_id(tree, value, record, problems)
            else:
                put(tree, field, value)
        if "reference" not in tree and not problems:
            problems.append(values.missing_answer(record.where))
        return tree, problems

    return read


def _mapped(found: Records, deck: Deck) -> tuple[tuple[str, str], ...]:
    wanted = dict(deck.options.mapping)
    unknown = [key for key in wanted if key not in found.keys]
    unknown += [field for field in wanted.values() if field not in FIELDS and not field.startswith("ext.")]
    if unknown:
        names, seen = ", ".join(unknown), ", ".join(found.keys)
        what = Text(f"clave o campo desconocido: {names}", f"unknown key or field: {names}")
        raise problem("SLV-I015", what, found.place, Text(f"las claves son: {seen}", f"the keys are: {seen}"))
    if wanted:
        deck.given("mapping")
        return tuple((key, wanted.get(key, IGNORED)) for key in found.keys)
    out: list[tuple[str, str]] = []
    for key in found.keys:
        words = key.lower().replace("_", " ")
        field = next((field for field, names in SYNONYMS.items() if words in names or key == field), IGNORED)
        if field != IGNORED and field not in [other for _, other in out]:
            deck.propose("mapping", Proposal("--map", f"{key}={field}", Text("por el nombre", "by its name")))
            out.append((key, field))
        else:
            out.append((key, IGNORED))
    return tuple(out)


def _reference(
    tree: _Tree, value: JsonValue, record: Record, deck: Deck, typed: list[Typed] | None = None
) -> list[SetError]:
    if value is None or value in ("", []):
        return [values.missing_answer(record.where)]
    if isinstance(value, NumberText):
        if typed is not None:
            typed.append(Typed(record.where, "number", str(value), str(value)))
        plain = values.decimal_of(str(value))
        tree["reference"] = {"kind": "number", "value": plain or str(value)}
        return []
    texts = [value] if isinstance(value, str) else text_list(value, None, record.where)
    if isinstance(texts, SetError):
        return [texts]
    found = values.accepted_reference(texts, deck, record.where)
    if isinstance(found, SetError):
        return [found]
    tree["reference"] = dict(found)
    return []


def _context(tree: _Tree, value: JsonValue, record: Record, deck: Deck, problems: list[SetError]) -> None:
    texts = text_list(value, deck.options.list_separator, record.where)
    if isinstance(texts, SetError):
        problems.append(texts)
    elif texts:
        tree["official_text"] = "\n\n".join(texts)


def _own_id(tree: _Tree, value: JsonValue, record: Record, problems: list[SetError]) -> None:
    if isinstance(value, NumberText):
        what = Text(f"el id {value} es un número", f"id {value} is a number")
        fix = Text(f'escríbalo entre comillas: "{value}"', f'quote it: "{value}"')
        problems.append(problem("SLV-I004", what, record.where, fix))
    elif value is not None:
        tree["id"] = value


def _extra(
    tree: _Tree, own: Mapping[str, JsonValue], names: tuple[str, ...], record: Record, problems: list[SetError]
) -> None:
    kept: _Tree = {}
    for name in names:
        value = own.get(name)
        if isinstance(value, str) and value.lstrip().startswith("{"):
            found = values.object_of(value, record.where)
            if isinstance(found, SetError):
                problems.append(found)
                continue
            value = found
        if value not in (None, "", {}, []):
            kept[name] = value
    if kept:
        tree["ext"] = kept


def _message(member: JsonValue) -> JsonValue:
    if not isinstance(member, dict):
        return member
    role = member.get("role", member.get("type"))
    return {"role": _ROLES.get(role, role) if isinstance(role, str) else role, "content": member.get("content")}


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


_READERS: Mapping[str, tuple[Mapping[str, str], _Reader]] = {
    "deepeval": (
        {
            "input": "query",
            "expected_output": REFERENCE,
            "context": "official_text",
            "source_file": "source.title",
            "additional_metadata": "ext",
            "name": "ext",
            "comments": "ext",
        },
        _deepeval,
    ),
    "ragas": (
        {
            "user_input": "query",
            "reference": REFERENCE,
            "reference_contexts": "official_text",
            "persona_name": "ext",
            "query_style": "ext",
            "query_length": "ext",
            "synthesizer_name": "ext",
        },
        _ragas,
    ),
    "inspect": (
        {"id": "id", "input": "query", "target": REFERENCE, "choices": "reference.options", "metadata": "ext"},
        _inspect,
    ),
    "facts": (
        {"system_instruction": "messages", "user_request": "messages", "context_document": "official_text"},
        _facts_style,
    ),
    "json": ({}, _deepeval),
}
