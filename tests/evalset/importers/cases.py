"""How each file of people is imported in the tests; run as a module, it writes the golden files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from slaverify.errors import ProblemsError, SlaverifyError
from slaverify.evalset import ImportOptions, ImportRefusedError, UndecidedError, import_any, report_lines

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
MADE = HERE.parent.parent / "data" / "made"

_CSV = ImportOptions(
    format="csv",
    locale="es-CL",
    delimiter=";",
    header=1,
    mapping=(
        ("id", "id"),
        ("pregunta", "query"),
        ("respuesta_esperada", "reference"),
        ("norma", "source.title"),
        ("artículo", "source.locator"),
        ("categoría", "stratum"),
    ),
    null_tokens=(("__ABSTENCIÓN__", "out_of_corpus"),),
)
_SHEET = ImportOptions(
    locale="es-CL",
    header=3,
    stratum="direct",
    mapping=(
        ("N°", "id"),
        ("Pregunta", "query"),
        ("Respuesta esperada", "reference"),
        ("Norma", "source.title"),
        ("Artículo", "source.locator"),
        ("Fecha consulta", "consulted_on"),
    ),
)
_TOOL = ImportOptions(locale="es-CL", ids="fila", stratum="direct")

CASES: dict[str, list[ImportOptions]] = {
    "utf8_coma_lf.csv": [replace(_CSV, delimiter=","), replace(_CSV, delimiter=",", exclude=frozenset({7}))],
    "utf8_bom_puntoycoma.csv": [_CSV, replace(_CSV, exclude=frozenset({7}))],
    "utf8_nfd_mac.csv": [_CSV, replace(_CSV, exclude=frozenset({7}))],
    "latin1_puntoycoma.csv": [
        replace(_CSV, encoding="cp1252"),
        replace(_CSV, encoding="latin-1", exclude=frozenset({7})),
    ],
    "sep_excel.csv": [
        replace(_CSV, encoding="cp1252", delimiter=None, header=2),
        replace(_CSV, encoding="cp1252", delimiter=None, header=2, exclude=frozenset({8})),
    ],
    "utf16le_tab_excel.txt": [replace(_CSV, delimiter="tab"), replace(_CSV, delimiter="tab", exclude=frozenset({7}))],
    "anexo3.xlsx": [
        _SHEET,
        replace(_SHEET, exclude=frozenset({7, 8})),
        replace(_SHEET, exclude=frozenset({7}), dates="accept", hidden=True, date_order="dmy"),
    ],
    "items_bom_crlf.jsonl": [
        replace(_TOOL, format="inspect", ids=None),
        replace(_TOOL, format="inspect", ids=None, exclude=frozenset({4})),
        replace(_TOOL, format="json", ids=None, mapping=(("id", "id"), ("input", "query"), ("target", "reference"))),
    ],
    "deepeval_goldens.json": [replace(_TOOL, format="deepeval")],
    "ragas_testset.jsonl": [replace(_TOOL, format="ragas")],
    "ragas_testset_from_pandas.csv": [replace(_TOOL, format="ragas")],
    "facts_style.csv": [replace(_TOOL, format="facts")],
    "promptfoo_tests.yaml": [
        replace(_TOOL, format="promptfoo", stratum=None),
        replace(_TOOL, format="promptfoo", stratum=None, several="any"),
    ],
}

_TASK = ImportOptions(format="csv", delimiter="tab", header=1, stratum="direct", locale="en-US")
_YES_NO = replace(_TASK, kind="choice", choices=("Yes", "No"))
_CLAUSE = (("index", "id"), ("text", "query"), ("answer", "reference"), ("document_name", "cluster"))
PUBLIC: dict[str, ImportOptions] = {
    "legalbench_contract_qa.tsv": replace(
        _YES_NO, mapping=(("index", "id"), ("question", "query"), ("text", "query"), ("answer", "reference"))
    ),
    "legalbench_cuad_audit_rights.tsv": replace(_YES_NO, mapping=_CLAUSE),
    "legalbench_cuad_cap_on_liability.tsv": replace(_YES_NO, mapping=_CLAUSE),
    "legalbench_definition_extraction.tsv": replace(
        _TASK, kind="entity", mapping=(("index", "id"), ("text", "query"), ("answer", "reference"))
    ),
    "legalbench_personal_jurisdiction.tsv": replace(
        _YES_NO, mapping=(("index", "id"), ("text", "query"), ("answer", "reference"), ("slice", "ext.slice"))
    ),
    "promptfoo_simple-csv.csv": ImportOptions(
        format="promptfoo", locale="en-US", ids="row", mapping=(("language", "query"), ("body", "query"))
    ),
    "xquad_es_4articles.squad.json": ImportOptions(format="squad", locale="es-ES"),
    "odcs_database-table-sla.odcs.yaml": ImportOptions(format="promptfoo"),
}


def proposals(data: bytes, name: str) -> list[Any]:
    """Return what the program proposes for a file that nobody said anything about."""
    try:
        import_any(data, name, ImportOptions())
    except UndecidedError as error:
        return [[one.option, one.value, one.why.es, list(one.seen)] for one in error.proposals]
    return []


def outcome(data: bytes, name: str, options: ImportOptions, *, content: bool) -> dict[str, Any]:
    """Return the report, the lines that a person sees and, with `content`, the items; or the refusal."""
    try:
        imported = import_any(data, name, options)
    except ImportRefusedError as error:
        shown = [*report_lines(error.report, "es"), *error.lines("es")]
        return {"refused": True, "report": error.report.to_json(), "shown": shown}
    except ProblemsError as error:
        return {"refused": True, "report": None, "shown": error.lines("es")}
    except SlaverifyError as error:
        return {"refused": True, "report": None, "shown": error.lines("es")}
    out = {"refused": False, "report": imported.report.to_json(), "shown": report_lines(imported.report, "es")}
    return {**out, "items": [item.to_json() for item in imported.items]} if content else out


def golden_made(name: str) -> dict[str, Any]:
    """Return everything that the tests pin of one made file."""
    data = (MADE / name).read_bytes()
    return {
        "proposals": proposals(data, name),
        "outcomes": [outcome(data, name, options, content=True) for options in CASES[name]],
    }


def golden_public(folder: Path, name: str) -> dict[str, Any]:
    """Return what the tests pin of one public file: its report, none of its text."""
    return outcome((folder / name).read_bytes(), name, PUBLIC[name], content=False)


def _write(name: str, tree: dict[str, Any]) -> None:
    text = json.dumps(tree, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    from tests.conftest import SHARED

    for made in CASES:
        _write(made, golden_made(made))
    for public in PUBLIC:
        _write(public, golden_public(SHARED / "data" / "public", public))
