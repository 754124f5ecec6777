"""`slaverify self-check`: the vendor's rehearsal, with a gate for its pipeline. It has no contractual value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.audit.rehearsal import Rehearsed
    from slaverify.canonical import JsonObject, JsonValue
    from slaverify.contract import LoadedContract
    from slaverify.readiness import Chance

GATES = ("breach", "not-pass", "worse")
_WORSE = Fraction(5, 100)
"""One-sided level at which a loss against the baseline counts as worse."""


@dataclass(frozen=True)
class _Row:
    """One metric: its decision, its counts, the chance of PASS in the real audit, the change against the baseline."""

    id: str
    decision: JsonObject
    result: JsonObject
    chance: Chance | None
    change: JsonObject | None

    @property
    def state(self) -> str:
        return str(self.decision["state"])

    @property
    def worse(self) -> bool:
        """Whether the paired comparison shows a loss: more items lost than won, one-sided exact p at most .05."""
        lost, won = (0, 0) if self.change is None else (_count(self.change, "b"), _count(self.change, "c"))
        return lost > won and _sign(lost, lost + won) <= _WORSE


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        "self-check", help=t("Ensayo del proveedor, sin valor contractual.", "The vendor's rehearsal; no legal value.")
    )(self_check)


def self_check(
    contract: Path = typer.Argument(..., metavar="CONTRACT", help=t("Contrato de las partes.", "The contract.")),
    items: Path = typer.Option(..., "--set", help=t("Preguntas de práctica (JSONL).", "Practice set (JSONL).")),
    folder: Path = typer.Option(..., "--out", help=t("Carpeta de los ensayos.", "Folder of the rehearsals.")),
    version: str = typer.Option("", "--engine-version", help=t("Versión que se ensaya.", "Version under test.")),
    baseline: Path | None = typer.Option(None, "--baseline", help=t("Ensayo con que comparar.", "Earlier rehearsal.")),
    fail_on: str = typer.Option("breach", "--fail-on", help="breach, not-pass, worse"),
    junit: Path | None = typer.Option(None, "--junit", help=t("Escribe JUnit XML.", "Write JUnit XML.")),
    summary: Path | None = typer.Option(None, "--summary", help=t("Escribe un resumen (Markdown).", "A summary.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Ask the practice set, decide as the contract would, and exit by the gate: 0 met, 1 not."""
    from slaverify.audit.rehearsal import rehearse
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import now, ports
    from slaverify.contract.load import load_contract
    from slaverify.evalset import read_bank

    if fail_on not in GATES or (fail_on == "worse" and baseline is None):
        raise typer.BadParameter(
            t("--fail-on es breach, not-pass o worse (con --baseline)", "--fail-on is breach, not-pass or worse")
        )
    agreed = load_contract(contract)
    folder.mkdir(parents=True, exist_ok=True)
    done = rehearse(agreed, read_bank(read(items), items.name), folder, now, ports(agreed, _unsigned), version)
    rows = _rows(agreed, done, baseline)
    state = str(_json(done.folder, "decision/decision.json")["state"])
    met = _met(fail_on, state, rows)
    if junit is not None:
        write_new(junit, _junit(rows, state, fail_on).encode())
    if summary is not None:
        write_new(summary, "\n".join(_summary(done, rows, state)).encode() + b"\n")
    if as_json:
        emit(_document(done, rows, state, fail_on, met))
    else:
        for line in _lines(done, rows, state):
            out(line)
        for path in done.pdfs:
            out(t(f"Páginas: {path}", f"Pages: {path}"))
    say(t("ensayo sin valor contractual", "a rehearsal: no contractual value"))
    return 0 if met else 1


def _unsigned() -> NoReturn:
    """Stand in for the signing key: a self-check signs nothing."""
    raise AssertionError


def _rows(agreed: LoadedContract, done: Rehearsed, baseline: Path | None) -> list[_Row]:
    from slaverify.readiness import chance_of_pass

    decided = {str(row["id"]): row for row in _objects(_json(done.folder, "decision/decision.json").get("metrics"))}
    measured = {str(row["id"]): row for row in _objects(_json(done.folder, "statistics/results.json").get("metrics"))}
    changed = {} if baseline is None else _compared(done, baseline)
    rows = []
    for metric in agreed.model.metrics:
        if metric.id not in decided:
            continue
        rates = _rates(measured[metric.id])
        chance = None if rates is None else chance_of_pass(agreed.model, metric, rates)
        rows.append(_Row(metric.id, decided[metric.id], measured[metric.id], chance, changed.get(metric.id)))
    return rows


def _rates(entry: JsonObject) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return (low, observed, high) rates of success; None where nothing was measured or it is no rate."""
    exact, rate = entry.get("exact"), entry.get("rate")
    if entry.get("kind") != "rate" or not isinstance(exact, dict) or not isinstance(rate, str):
        return None
    ends = [exact.get("low"), rate, exact.get("high")]
    if not all(isinstance(end, str) for end in ends):
        return None
    low, middle, high = (Fraction(str(end)) for end in ends)
    if entry.get("direction") == "at_most":
        return 1 - high, 1 - middle, 1 - low
    return low, middle, high


def _compared(done: Rehearsed, baseline: Path) -> dict[str, JsonObject]:
    from slaverify.contract.load import parse_contract
    from slaverify.decision.compare import compare_runs
    from slaverify.evidence.read import open_folder

    old, new = open_folder(baseline), open_folder(done.folder)
    before = parse_contract(old.read("contract/contract.json"), str(baseline))
    found = compare_runs(
        before.model,
        list(old.lines("scoring/scores.jsonl")),
        done.session.contract.model,
        list(new.lines("scoring/scores.jsonl")),
    )
    return {str(row["id"]): row for row in _objects(found.get("metrics"))}


def _met(gate: str, state: str, rows: list[_Row]) -> bool:
    if gate == "worse":
        return not any(row.worse for row in rows)
    return state == "PASS" if gate == "not-pass" else state != "BREACH"


def _lines(done: Rehearsed, rows: list[_Row], state: str) -> list[str]:
    from slaverify.cli.verdicts import state_words
    from slaverify.version import __version__

    word = state_words(state)
    method = t("el método es el del contrato", "the method is the contract's")
    other = t("EL MÉTODO NO ES EL DEL CONTRATO", "THE METHOD IS NOT THE CONTRACT'S")
    lines = [
        t(f"Ensayo: {word}", f"Rehearsal: {word}"),
        f"slaverify {__version__}; {method if done.same_method else other}",
    ]
    lines += [line for row in rows for line in _metric_lines(row)]
    lines += [t(f"  sin preguntas aquí: {name}", f"  no item of it here: {name}") for name in done.left_out]
    return lines


def _metric_lines(row: _Row) -> list[str]:
    from slaverify.cli.verdicts import state_words

    failures = _count(row.decision, "failures") + _count(row.decision, "failures_vendor")
    total, word = row.decision.get("n"), state_words(row.state)
    lines = [
        t(f"  {row.id}: {word}, {failures} fallas de {total}", f"  {row.id}: {word}, {failures} failures of {total}")
    ]
    if row.chance is None:
        lines.append(t("    CUMPLE en la auditoría: no calculado", "    PASS in the audit: not computed"))
    else:
        lines.append(_chance_line(row.chance))
    if row.change is not None:
        lost, won = _count(row.change, "b"), _count(row.change, "c")
        worse = t(", peor", ", worse") if row.worse else ""
        lines.append(
            t(
                f"    contra la base, mismas preguntas: pierde {lost}, gana {won}{worse}",
                f"    against the baseline, same items: lost {lost}, won {won}{worse}",
            )
        )
    return lines


def _chance_line(one: Chance) -> str:
    seen, ends = _percent(one.observed), f"{_percent(one.low)} - {_percent(one.high)}"
    return t(
        f"    CUMPLE en la auditoría (n {one.n}) si la tasa real fuera la observada: {seen}; en los extremos de su "
        f"intervalo: {ends}",
        f"    PASS in the audit (n {one.n}) if the true rate were the observed one: {seen}; at the ends of its "
        f"interval: {ends}",
    )


def _document(done: Rehearsed, rows: list[_Row], state: str, gate: str, met: bool) -> JsonObject:
    metrics: list[JsonValue] = [
        {
            "id": row.id,
            "state": row.state,
            "decision": row.decision,
            "chance": None
            if row.chance is None
            else {
                "n": row.chance.n,
                "pass_max_failures": row.chance.pass_max_failures,
                "low": _decimal(row.chance.low),
                "observed": _decimal(row.chance.observed),
                "high": _decimal(row.chance.high),
            },
            "change": row.change,
            "worse": None if row.change is None else row.worse,
        }
        for row in rows
    ]
    return {
        "type": "slaverify/self-check/1",
        "contractual_value": False,
        "state": state,
        "gate": gate,
        "met": met,
        "same_method": done.same_method,
        "folder": str(done.folder),
        "pages": [str(path) for path in done.pdfs],
        "left_out": list(done.left_out),
        "metrics": metrics,
    }


def _junit(rows: list[_Row], state: str, gate: str) -> str:
    """Return one test a metric: a failure where the gate counts it, skipped where nothing was decided."""
    from xml.sax.saxutils import quoteattr

    cases = []
    failed = skipped = 0
    for row in rows:
        message = quoteattr(f"{row.state}: {'; '.join(line.strip() for line in _metric_lines(row))}")
        bad = row.worse if gate == "worse" else row.state == "BREACH" or (gate == "not-pass" and row.state != "PASS")
        inner = ""
        if bad:
            failed += 1
            inner = f"<failure message={message}/>"
        elif row.state != "PASS" and gate != "worse":
            skipped += 1
            inner = f"<skipped message={message}/>"
        cases.append(f'  <testcase classname="slaverify.self-check" name={quoteattr(row.id)}>{inner}</testcase>')
    head = (
        f'<testsuite name="slaverify self-check ({state})" tests="{len(rows)}" failures="{failed}" skipped="{skipped}">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>", ""])


def _summary(done: Rehearsed, rows: list[_Row], state: str) -> list[str]:
    title = t("# Ensayo sin valor contractual", "# Rehearsal without contractual value")
    return [title, "", *(f"- {line.strip()}" for line in _lines(done, rows, state))]


def _json(folder: Path, name: str) -> JsonObject:
    from slaverify.canonical import loads_canonical

    return loads_canonical((folder / name).read_bytes())


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _count(row: JsonObject, key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0


def _sign(lost: int, total: int) -> Fraction:
    """Return P(Bin(total, 1/2) >= lost), exactly."""
    from math import comb

    return Fraction(sum(comb(total, k) for k in range(lost, total + 1)), 2**total)


def _percent(share: Fraction) -> str:
    # Rounded down: a chance of 99.99 % is not printed as 100 %.
    return f"{int(share * 1000) / 10:.1f} %"


def _decimal(share: Fraction) -> str:
    return f"{float(share):.9f}"
