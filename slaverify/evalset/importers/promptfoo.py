"""Import promptfoo tests, YAML or CSV. What would run code is refused and named; what is no answer is a criterion.

YAML is read as 1.2 and every scalar keeps its text, so that `no` and `12:30` stay what they are.

Trust boundary: see `reading`. Source: docs/spec/import.md section 8; layout *unverified* against the tool's
documentation, read from files.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence

from slaverify.canonical import JsonValue
from slaverify.errors import SetError, Text
from slaverify.evalset.importers import values
from slaverify.evalset.importers.columns import IGNORED, REFERENCE
from slaverify.evalset.importers.decoding import decode
from slaverify.evalset.importers.options import Deck, Proposal
from slaverify.evalset.importers.reading import Origin, finish, line_ends, normalised
from slaverify.evalset.importers.records import Record, Records, read_records
from slaverify.evalset.importers.report import Imported, SourceFacts
from slaverify.evalset.importers.rows import Work, need_ids
from slaverify.evalset.importers.table import Table
from slaverify.evalset.problems import problem

MAX_BYTES = 64 * 1024 * 1024
_EQUAL = frozenset({"equals"})
_NAMED = frozenset({"contains", "icontains"})
_ANY = frozenset({"contains-any", "icontains-any"})
_ALL = frozenset({"contains-all", "icontains-all"})
_CODE = frozenset({"javascript", "python", "ruby", "webhook", "fn", "eval"})
_PREFIX = re.compile(r"(not-)?([a-z][a-z-]{1,40})(?:\(([0-9.]{1,8})\))?:(.*)", re.DOTALL)
_MEANT = ("assert", "vars", "description", "metadata", "threshold")


def import_promptfoo(data: bytes, name: str, deck: Deck) -> Imported:
    """Return the items of promptfoo tests. Raises: UndecidedError, ImportRefusedError, SetError."""
    found = _yaml(data, name, deck) if _is_yaml(data, name) else _csv(data, name, deck)
    work = Work(problems=list(found.problems))
    work.counts.blank, work.counts.nfc = found.blank, found.nfc
    columns = _query_columns(found, deck)
    prefix = need_ids(deck, has_column=False)
    for record in found.records:
        if record.number in deck.options.exclude:
            work.excluded.append(record.number)
            continue
        work.counts.read += 1
        tree, problems = _tree(record, columns, work, deck)
        tree["id"] = f"{prefix}-{record.number:04d}"
        work.add(tree, record.where, problems, deck)
    deck.settle(name)
    pairs = (*((key, "query" if key in columns else IGNORED) for key in found.keys), ("assert", REFERENCE))
    facts = SourceFacts(
        delimiter=found.table.delimiter,
        quote=None if found.table.delimiter is None else '"',
        header_row=None if found.columns is None else found.columns.row,
        known_by=tuple(sorted(deck.known.items())),
        rows_excluded=tuple(work.excluded),
        notes=tuple(dict.fromkeys(work.notes)),
    )
    origin = Origin(
        name, data, "promptfoo", found.table.line_ends, "", pairs, deck.options.locale, found.table.encoding, facts
    )
    return finish(origin, work.items, work.places, work.problems, work.counts)


def _is_yaml(data: bytes, name: str) -> bool:
    heading = data[:4096].partition(b"\n")[0]
    return not name.lower().endswith(".csv") and b"__expected" not in heading


def _yaml(data: bytes, name: str, deck: Deck) -> Records:
    decoded = decode(data, name, deck.options)
    deck.given("encoding", "option" if decoded.known_by == "option" else "file")
    tree = normalised(_load(decoded.text, name))
    tests = tree.get("tests") if isinstance(tree, dict) else tree
    if isinstance(tree, dict) and isinstance(tree.get("defaultTest"), dict | str):
        what = Text("defaultTest no se importa", "defaultTest is not imported")
        raise problem(
            "SLV-I018", what, name, Text("escriba sus assert en cada prueba", "write its asserts in each test")
        )
    if not isinstance(tests, list):
        what = Text("se espera una lista de pruebas escrita en el archivo", "a list of tests in the file is expected")
        raise problem("SLV-I018", what, name)
    table = Table([], name, line_ends=line_ends(decoded.text), encoding=(decoded.encoding, decoded.known_by))
    out = Records([], name, table)
    for index, test in enumerate(tests, 1):
        where = f"{name}: [{index}]"
        if isinstance(test, dict):
            out.records.append(Record(where, index, test))
        else:
            what = Text("la prueba no está escrita aquí (file://…)", "the test is not written here (file://…)")
            out.problems.append(problem("SLV-I018", what, where))
    out.keys = tuple(dict.fromkeys(key for record in out.records for key in _vars(record)))
    return out


def _load(text: str, name: str) -> JsonValue:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.events import AliasEvent

    if len(text) > MAX_BYTES:
        raise problem("SLV-I005", Text("YAML demasiado grande", "YAML too large"), name)
    reader = YAML(typ="base", pure=True)
    reader.version = (1, 2)
    depth = 0
    try:
        for event in reader.parse(io.StringIO(text)):
            if isinstance(event, AliasEvent):
                what = Text("una referencia YAML (*nombre) se rechaza", "a YAML alias (*name) is refused")
                raise problem("SLV-I018", what, name, Text("escriba el valor en cada lugar", "write the value out"))
            depth += type(event).__name__ in ("MappingStartEvent", "SequenceStartEvent")
            depth -= type(event).__name__ in ("MappingEndEvent", "SequenceEndEvent")
            if depth > 20:
                raise problem("SLV-I015", Text("demasiados niveles", "too many levels"), name)
        fresh = YAML(typ="base", pure=True)
        fresh.version = (1, 2)
        return _tree_of(fresh.load(io.StringIO(text)))
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError, KeyError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = name if line is None else f"{name}:{line + 1}"
        raise problem("SLV-I015", Text("YAML mal formado", "malformed YAML"), where) from error


def _tree_of(value: object) -> JsonValue:
    if isinstance(value, Mapping):
        return {str(key): _tree_of(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_tree_of(member) for member in value]
    return None if value is None else str(value)


def _csv(data: bytes, name: str, deck: Deck) -> Records:
    found = read_records(data, name, deck)
    found.keys = tuple(key for key in found.keys if not key.startswith("__"))
    records: list[Record] = []
    for record in found.records:
        written = {key: value for key, value in record.tree.items() if not key.startswith("__")}
        asserts: list[JsonValue] = [
            _shorthand(value)
            for key, value in sorted(record.tree.items())
            if re.fullmatch(r"__expected[0-9]{0,3}", key) and isinstance(value, str)
        ]
        tree: dict[str, JsonValue] = {"vars": written, "assert": asserts}
        if isinstance(record.tree.get("__description"), str):
            tree["description"] = record.tree["__description"]
        records.append(Record(record.where, record.number, tree))
    found.records = records
    return found


def _shorthand(text: str) -> dict[str, JsonValue]:
    match = _PREFIX.fullmatch(text)
    if text.startswith(("file://", "fn:", "eval:")):
        return {"type": "javascript", "value": text}
    if match is None or match.group(2) in ("http", "https"):
        return {"type": "equals", "value": text}
    kind = {"grade": "llm-rubric"}.get(match.group(2), match.group(2))
    value: JsonValue = match.group(4)
    if kind in _ANY | _ALL:
        value = [part.strip() for part in match.group(4).split(",")]
    return {"type": (match.group(1) or "") + kind, "value": value}


def _vars(record: Record) -> dict[str, JsonValue]:
    found = record.tree.get("vars")
    return dict(found) if isinstance(found, dict) else {}


def _query_columns(found: Records, deck: Deck) -> tuple[str, ...]:
    wanted = tuple(key for key, field in deck.options.mapping if field == "query")
    missing = [key for key in wanted if key not in found.keys]
    if missing:
        seen = ", ".join(found.keys)
        what = Text(f"no hay variable {missing[0]}", f"there is no variable {missing[0]}")
        raise problem("SLV-I015", what, found.place, Text(f"las variables son: {seen}", f"the variables are: {seen}"))
    if wanted:
        deck.given("mapping")
        return wanted
    if len(found.keys) == 1:
        deck.given("mapping", "file")
        return found.keys
    for key in found.keys[:1]:
        why = Text(
            "la consulta puede llevar varias variables; esta es la primera", "the query may need several; first one"
        )
        deck.propose("mapping", Proposal("--map", f"{key}=query", why, found.keys))
    return found.keys[:1]


def _tree(
    record: Record, columns: tuple[str, ...], work: Work, deck: Deck
) -> tuple[dict[str, JsonValue], list[SetError]]:
    variables = _vars(record)
    texts = [value for key in columns if isinstance(value := variables.get(key), str) and value.strip()]
    tree: dict[str, JsonValue] = {"query": "\n\n".join(texts)}
    problems = [
        problem("SLV-I018", Text(f"{key} no se importa", f"{key} is not imported"), record.where)
        for key in record.tree
        if key not in _MEANT
    ]
    asserts = record.tree.get("assert")
    found = [one for one in asserts if isinstance(one, dict)] if isinstance(asserts, list) else []
    reference = _reference(found, record, work, deck, tree)
    if isinstance(reference, SetError):
        problems.append(reference)
    else:
        tree["reference"] = reference
        none = reference.get("kind") == "none"
        tree.setdefault("stratum", deck.options.stratum or ("out_of_corpus" if none else "direct"))
    problems.extend(_refused(found, record))
    extra: dict[str, JsonValue] = {key: record.tree[key] for key in ("description", "metadata") if record.tree.get(key)}
    others: dict[str, JsonValue] = {key: value for key, value in variables.items() if key not in columns}
    if others:
        extra["vars"] = others
    held = tree.pop("_criteria", None)
    if held:
        extra["criteria"] = held
    if extra:
        tree["ext"] = extra
    return tree, problems


def _refused(asserts: Sequence[Mapping[str, JsonValue]], record: Record) -> list[SetError]:
    out: list[SetError] = []
    for one in asserts:
        kind = _type(one).removeprefix("not-")
        if kind in _CODE or str(one.get("value", "")).startswith("file://") or "transform" in one:
            what = Text(
                f"la aserción {_type(one)} ejecutaría código o leería un archivo: se rechaza",
                f"assertion {_type(one)} would run code or read a file: refused",
            )
            fix = Text("reemplácela por equals, icontains o un criterio", "replace it by equals, icontains or a rubric")
            out.append(problem("SLV-I018", what, record.where, fix))
    return out


def _reference(
    asserts: Sequence[Mapping[str, JsonValue]], record: Record, work: Work, deck: Deck, tree: dict[str, JsonValue]
) -> dict[str, JsonValue] | SetError:
    found: list[dict[str, JsonValue]] = []
    criteria: dict[str, JsonValue] = {}
    for one in asserts:
        kind, value = _type(one), one.get("value")
        texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text]
        if kind == "is-refusal":
            found.append({"kind": "none", "because": "out_of_corpus"})
        elif kind in _EQUAL and texts:
            found.append({"kind": deck.options.kind or "text", "value": texts[0]})
        elif kind in _NAMED and texts:
            found.append({"kind": "entity", "value": texts[0]})
        elif kind in _ANY and texts:
            found.append(_with_accepted([{"kind": "entity", "value": text} for text in texts]))
        elif kind in _ALL and texts:
            members: list[JsonValue] = [{"kind": "entity", "value": text} for text in texts]
            found.append({"kind": "set", "value": members, "set_rule": "at_least"})
        elif kind.removeprefix("not-") not in _CODE:
            criteria[f"promptfoo-{len(criteria) + 1}"] = dict(one)
            work.notes.append(
                Text(
                    f"las aserciones {kind} pasan a criterios del juez",
                    f"assertions {kind} become criteria of the judge",
                )
            )
    if criteria:
        tree["criteria"] = list(criteria)
        tree["_criteria"] = criteria
    if not found and criteria:
        return {"kind": "text", "value": values.NO_REFERENCE}
    if not found:
        return values.missing_answer(record.where)
    if len(found) > 1 and deck.options.several != "any":
        return _several(found, record)
    return _with_accepted(found)


def _with_accepted(found: list[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    others: list[JsonValue] = list(found[1:])
    return {**found[0], "accepted": others} if others else found[0]


def _several(found: list[dict[str, JsonValue]], record: Record) -> SetError:
    shown = ", ".join(repr(one.get("value")) for one in found)
    what = Text(
        f"la prueba exige a la vez {shown}: ninguna respuesta es todas",
        f"the test asks for {shown} at once: no answer is all of them",
    )
    fix = Text(
        "si son alternativas, repita con --several any; si no, separe la prueba",
        "if they are alternatives, repeat with --several any; if not, split the test",
    )
    return problem("SLV-I018", what, record.where, fix)


def _type(one: Mapping[str, JsonValue]) -> str:
    kind = one.get("type")
    return kind if isinstance(kind, str) else ""
