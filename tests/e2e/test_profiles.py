"""The example contracts of invoices, transcripts and clinical codes, end to end on small banks.

The engine on loopback errs at known places; what the report counts is compared with counts made here by hand, and
`verify` derives all of it again from the bundle.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slaverify.canonical import JsonValue
from slaverify.cli.demo.servers import serve
from slaverify.evalset import Item, parse_item
from tests.e2e.line import Place, audit_arguments, environment, make_place, slaverify, tsa, write_contract

Reply = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """One example contract: its bank, what its engine answers, and what has to be counted."""

    draft: str
    items: list[Item]
    reply: Reply
    changes: dict[str, JsonValue]
    failures: dict[str, int]
    units: dict[str, tuple[str, int]]
    """Per corpus rate: sum of errors (nine places) and of weights."""


def _items(trees: list[dict[str, Any]]) -> list[Item]:
    return [parse_item({"schema": "item/1", "locale": "es-CL", **tree}, where=tree["id"]) for tree in trees]


def _number(text: str) -> int:
    return int("".join(character for character in text if character.isdigit()))


_FORMATS = ("native_pdf", "scan_300_dpi", "phone_photo")


def _rut(number: int) -> str:
    total = sum(int(digit) * (2 + at % 6) for at, digit in enumerate(reversed(str(number))))
    return f"{number}-{'0K987654321'[total % 11]}"


def invoices() -> Case:
    """192 invoices of 5 fields with a value and one without: 3 with a wrong total, 2 with a wrong line, 1 invented."""
    trees = [
        {
            "id": f"f-{number:03d}",
            "stratum": _FORMATS[number % 3],
            "query": f"Factura {number}",
            "reference": {
                "kind": "json",
                "value": {
                    "rut": {"kind": "entity", "value": _rut(76_000_000 + number), "identifier": "cl.rut"},
                    "fecha": {"kind": "date", "value": f"2026-03-{1 + number % 28:02d}"},
                    "total": {"kind": "amount", "value": str(10_000 + number), "unit": "CLP"},
                    "orden": None,
                    "lineas": {"kind": "rows", "key": "sku", "value": [{"sku": f"S{number}", "cantidad": 2}]},
                },
            },
        }
        for number in range(192)
    ]

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        number = _number(body["texto"]) if body["texto"].startswith("Factura") else -1
        total = 10_000 + number + (1 if number in (5, 50, 100) else 0)
        fields = {
            "rut": _rut(76_000_000 + number),
            "fecha": f"{1 + number % 28:02d}/03/2026",
            "total": f"${total:,}".replace(",", "."),
            "orden": "OC-1" if number == 7 else "N/A",
            "lineas": [{"sku": f"S{number}", "cantidad": 3 if number in (8, 9) else 2}],
        }
        return {"campos": json.dumps(fields), "modelo": {"version": "2026.05.2"}}

    return Case(
        "extraccion-facturas.yaml",
        _items(trees),
        reply,
        {},
        {"document_accuracy": 3, "invented_fields": 1},
        {"field_errors": ("6.000000000", 192 * 5)},
    )


_SAID = "El testigo Pedro Soto declaró que pagó {} pesos el lunes."


def transcripts() -> Case:
    """180 segments of 60 recordings, 11 words each: 4 other figures, 2 wrong plain words, 1 with fillers alone."""
    places = ("courtroom", "telephone", "overlapping")
    trees = [
        {
            "id": f"s-{number:03d}",
            "stratum": places[number % 3],
            "query": f"Tramo {number}",
            "cluster": f"grabacion-{number // 3}",
            "reference": {"kind": "text", "value": _SAID.format(1_000 + number)},
        }
        for number in range(180)
    ]

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        number = _number(body["nota"]) if body["nota"].startswith("Tramo") else 0
        figure = 2_000 + number if number in (10, 11, 12, 90) else 1_000 + number
        said = _SAID.format(figure).lower()
        if number in (20, 21):
            said = said.replace("declaró", "declara")
        if number == 30:
            said = "eh " + said.replace("que", "que mmm")
        return {"texto": said, "version": "7.0.3"}

    return Case(
        "transcripcion-audiencias.yaml",
        _items(trees),
        reply,
        {"endpoint.request": {"nota": "${query}"}},
        {"good_segments": 6, "names_and_figures": 4},
        {"word_error_rate": ("6.000000000", 180 * 11)},
    )


def encounters() -> Case:
    """120 encounters of 2 codes: 2 with one code too many, 1 without its second code, 1 in the other order."""
    trees = [
        {
            "id": f"e-{number:03d}",
            "stratum": ("medical", "surgical")[number % 2],
            "query": f"Epicrisis {number}",
            "reference": {
                "kind": "set",
                "value": [
                    {"kind": "entity", "value": f"E11.{number % 10}", "identifier": "icd-10:2019"},
                    {"kind": "entity", "value": f"I{10 + number % 80}", "identifier": "icd-10:2019"},
                ],
            },
        }
        for number in range(120)
    ]

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        number = _number(body["epicrisis"]) if body["epicrisis"].startswith("Epicrisis") else 0
        codes = [f"E11.{number % 10}", f"I{10 + number % 80}"]
        if number in (3, 4):
            codes.append("J45.9")
        if number == 5:
            codes.pop()
        if number == 6:
            codes.reverse()
        return {"codigos": ", ".join(codes), "version": "2026-04-10"}

    return Case(
        "codificacion-clinica.yaml",
        _items(trees),
        reply,
        {},
        {"encounter_accuracy": 4, "extra_codes": 2},
        {"code_errors": ("3.000000000", 240)},
    )


@pytest.mark.parametrize(
    "make",
    [
        invoices,
        pytest.param(transcripts, marks=pytest.mark.nightly),
        pytest.param(encounters, marks=pytest.mark.nightly),
    ],
)
def test_an_example_contract_runs_and_verifies(make: Callable[[], Case], tmp_path: Path) -> None:
    case = make()
    place = make_place(tmp_path, case.items)
    changes: dict[str, JsonValue] = {
        "endpoint.auth": None,
        "endpoint.control_urls": [],
        "evaluation_set.sample.reserve": 0,
        "parties.auditor.legal_id": "76.000.102-3",
        "parties.custodian.legal_id": "76.000.102-3",
        "parties.custodian.keys": [],
        "repetitions.dispersion_sample": None,
        "verdict.inconclusive": "no_consequence",
        **case.changes,
    }

    def respond(body: bytes) -> tuple[int, str, bytes]:
        return 200, "application/json", json.dumps(case.reply(json.loads(body))).encode()

    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/v1", authority, changes, case.draft)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode in (0, 1, 3), done.stderr + done.stdout
    rows = {row["id"]: row for row in json.loads((place.run / "statistics/inputs.json").read_bytes())["metrics"]}
    assert {name: rows[name]["failures"] for name in case.failures} == case.failures
    for name, (errors, weight) in case.units.items():
        units = rows[name]["units"]
        assert (f"{sum(float(row[0]) for row in units):.9f}", sum(row[1] for row in units)) == (errors, weight)
        assert all(row[2] == 0 for row in units)
    identity = str(place.keys / "arbitro.age")
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract)]
    found = slaverify(place, *words, "--identity", identity)
    assert found.returncode == 0, found.stdout + found.stderr
    if make is transcripts:
        _not_performed_without_the_extra(place, words, identity, tmp_path)


def _not_performed_without_the_extra(place: Place, words: list[str], identity: str, folder: Path) -> None:
    # an installation without [speech] does not blame the evidence, and does not pass it either
    lacking = folder / "lacking"
    lacking.mkdir()
    (lacking / "jiwer.py").write_text("raise ImportError\n")
    done = subprocess.run(
        [sys.executable, "-m", "slaverify", *words, "--identity", identity],
        env={**environment(place), "PYTHONPATH": str(lacking)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "slaverify[speech]" in done.stdout
