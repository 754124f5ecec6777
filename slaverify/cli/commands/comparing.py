"""`slaverify compare` two runs on the same items, and `slaverify conformance` of this installation."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slaverify.canonical import JsonObject, JsonValue
    from slaverify.contract import LoadedContract
    from slaverify.evidence import Bundle
    from slaverify.statistics.vectors import VectorOutcome

_JSON = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document."))
_MAX_VECTORS = 64 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add both commands to the application."""
    app.command(help=t("Compara dos corridas del mismo banco, ítem por ítem.", "Compare two runs, paired."))(compare)
    app.command(help=t("Corre vectores contra esta instalación.", "Run vectors against this version."))(conformance)


def compare(
    first: Path = typer.Argument(..., metavar="RUN_A", help=t("Corrida o paquete anterior.", "Earlier run.")),
    second: Path = typer.Argument(..., metavar="RUN_B", help=t("Corrida o paquete posterior.", "Later run.")),
    metric: str = typer.Option("", "--metric", help=t("Solo esta métrica.", "This metric alone.")),
    unpaired: bool = typer.Option(False, "--unpaired", help=t("Otro sorteo del mismo banco.", "Another draw.")),
    as_json: bool = _JSON,
) -> int:
    """Show what changed on the same items. It is a check of a change, never of conformity."""
    from slaverify.decision import compare_draws, compare_runs

    (old, before), (new, after) = _side(first), _side(second)
    _same_ground(old, new, before, after, paired=not unpaired)
    compared = compare_draws if unpaired else compare_runs
    found = compared(before.model, list(old.lines(_SCORES)), after.model, list(new.lines(_SCORES)))
    metrics = [one for one in _objects(found.get("metrics")) if metric in ("", str(one.get("id")))]
    if as_json:
        emit({**found, "metrics": list(metrics)})
    else:
        for one in metrics:
            _print_draws(one, found.get("shared")) if unpaired else _print_metric(one)
        out(t("Es una comparación de versiones, no una declaración de conformidad.", "A comparison, no conformity."))
    return 0 if metrics and all(one.get("n") for one in metrics) else 3


def conformance(
    files: list[Path] = typer.Argument(..., metavar="FILE...", help=t("Archivos de vectores.", "Vector files.")),
    as_json: bool = _JSON,
) -> int:
    """Run each vector; list what failed and, by reason, what is not run.

    Returns 0 if all passed, 4 if any failed, 2 for a file of another shape.
    """
    results: list[JsonValue] = []
    counts: Counter[str] = Counter()
    reasons: dict[str, list[str]] = {}
    for path in files:
        for one in _run_vectors(path):
            counts[one.result] += 1
            results.append(
                {"file": path.name, "id": one.id, "result": one.result, "differences": list(one.differences)}
            )
            if one.result == "failed" and not as_json:
                out(f"FAILED {path.name} {one.id}: {'; '.join(one.differences)}")
            elif one.result == "not_performed":
                reasons.setdefault("; ".join(one.differences), []).append(one.id)
    if as_json:
        emit({"type": "slaverify/conformance/1", "counts": dict(counts), "results": results})
    else:
        for why, ids in sorted(reasons.items()):
            out(t(f"no se corren ({why}): {', '.join(ids)}", f"not performed ({why}): {', '.join(ids)}"))
        out(
            t(
                f"{counts['passed']} pasan, {counts['failed']} fallan, {counts['not_performed']} no se corren",
                f"{counts['passed']} passed, {counts['failed']} failed, {counts['not_performed']} not performed",
            )
        )
    if counts["failed"]:
        return 4
    return 0 if counts["passed"] else 3


_SCORES = "scoring/scores.jsonl"


def _run_vectors(path: Path) -> Sequence[VectorOutcome]:
    from slaverify import trajectory
    from slaverify.cli.files import read
    from slaverify.custody import vectors as custody
    from slaverify.decision import vectors as decision
    from slaverify.errors import ApplicationError, Text

    document = _vectors(path, read(path, _MAX_VECTORS))
    if isinstance(document, dict) and custody.is_custody(document) and isinstance(document.get("cases"), list):
        return custody.conformance(document["cases"])
    if isinstance(document, dict) and trajectory.is_vector_file(document):
        return trajectory.conformance(document)
    if not isinstance(document, list) or not document:
        raise ApplicationError(
            "SLV-A017",
            Text("no es un archivo de vectores que esta versión corra", "not a vector file that this version runs"),
            fix=Text(
                "dé uno de la forma de statistics, custody o trajectory.json, scoring o judge_output.jsonl",
                "give one of the shape of statistics, custody or trajectory.json, scoring or judge_output.jsonl",
            ),
            where=str(path),
        )
    return _of_lines(document) if _of_answers(document) else decision.conformance(document)


def _of_lines(cases: Sequence[object]) -> Sequence[VectorOutcome]:
    """Run each line by the room that it belongs to: what a judge wrote is read by the judge's parser."""
    from slaverify.judging import vectors as judging
    from slaverify.scoring import vectors as scoring

    by_judge = iter(judging.conformance([case for case in cases if judging.is_judge(case)]))
    by_rule = iter(scoring.conformance([case for case in cases if not judging.is_judge(case)]))
    return [next(by_judge if judging.is_judge(case) else by_rule) for case in cases]


def _vectors(path: Path, data: bytes) -> JsonValue:
    # one document, or one object a line where one of them speaks of a reference or of a judge's reply
    try:
        if path.suffix != ".jsonl":
            return cast("JsonValue", json.loads(data))
        lines = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise _shape(path, str(error)) from error
    return lines if _of_answers(lines) else None


def _of_answers(lines: Sequence[object]) -> bool:
    return any(isinstance(line, dict) and bool({"reference_kind", "expected_nonce"} & line.keys()) for line in lines)


def _shape(path: Path, detail: str) -> Exception:
    from slaverify.errors import ApplicationError, Text

    return ApplicationError("SLV-A017", Text(f"JSON ilegible: {detail}", f"unreadable JSON: {detail}"), where=str(path))


def _side(path: Path) -> tuple[Bundle, LoadedContract]:
    from slaverify.contract.load import parse_contract
    from slaverify.evidence.read import open_bundle, open_folder

    bundle = open_folder(path) if (path / "private").is_dir() else open_bundle(path)
    return bundle, parse_contract(bundle.read("contract/contract.json"), str(path))


def _same_ground(
    old: Bundle, new: Bundle, before: LoadedContract, after: LoadedContract, *, paired: bool = True
) -> None:
    from slaverify.contract import method_digest
    from slaverify.errors import ApplicationError, Text

    asked = [{str(line["item_id"]) for line in side.lines(_SCORES)} for side in (old, new)]
    differing = [
        (before.model.evaluation_set.bank_digest != after.model.evaluation_set.bank_digest, "banco", "bank"),
        (method_digest(before.tree) != method_digest(after.tree), "método", "method"),
        (paired and asked[0] != asked[1], "conjunto de ítems", "item set"),
    ]
    for differs, es, en in differing:
        if differs:
            raise ApplicationError(
                "SLV-A018",
                Text(f"no comparables: otro {es}", f"not comparable: another {en}"),
                why=Text(
                    "una diferencia no se podría atribuir al motor", "a difference could not be laid to the engine"
                ),
                fix=Text(
                    "compare corridas de las mismas preguntas y método", "compare runs of one item set and method"
                ),
                exit_code=5,
            )


def _print_draws(one: JsonObject, shared: JsonValue) -> None:
    old, new, interval = one.get("old"), one.get("new"), one.get("interval")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    out(f"{one.get('id')}: {old['x']}/{old['n']} -> {new['x']}/{new['n']}")
    if not isinstance(interval, dict):
        out(t("  no evaluable: un lado no tiene ítems propios", "  not evaluable: a side has no items of its own"))
        return
    limits = f"[{interval['low']}, {interval['high']}]"
    out(
        t(
            f"  diferencia {one.get('difference')}, intervalo de Newcombe {limits}: muestras no pareadas",
            f"  difference {one.get('difference')}, Newcombe interval {limits}: samples not paired",
        )
    )
    if shared:
        out(t(f"  {shared} ítems comunes no cuentan", f"  {shared} items that both asked do not count"))


def _print_metric(one: JsonObject) -> None:
    out(f"{one.get('id')}: n {one.get('n')}")
    out(
        t(
            "  ambas bien {a} · solo antes {b} · solo después {c} · ambas mal {d}",
            "  both {a} · old {b} · new {c} · none {d}",
        )
        .replace("{a}", str(one.get("both_pass")))
        .replace("{b}", str(one.get("b")))
        .replace("{c}", str(one.get("c")))
        .replace("{d}", str(one.get("both_fail")))
    )
    if not one.get("b") and not one.get("c"):
        out(t("  sin pares discordantes; eso no muestra igualdad", "  no discordant pairs; that shows no equality"))
    else:
        out(f"  McNemar p {one.get('mcnemar_exact')} (mid-p {one.get('mcnemar_midp')})")
    for step in _objects(one.get("transitions")):
        if step.get("from") != step.get("to"):
            out(f"    {step.get('from')} -> {step.get('to')}: {step.get('n')}")


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
