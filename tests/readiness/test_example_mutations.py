"""One fault at a time in each of the six examples: refused or warned with the right code, at the right line."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache

import pytest

from slaverify.contract.load import parse_contract
from slaverify.contract.read_yaml import read_yaml
from slaverify.errors import ProblemsError
from slaverify.readiness import examine
from slaverify.resources import resource

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLES = (
    "asistente-normativo-cl",
    "extraccion-facturas",
    "atencion-clientes",
    "transcripcion-audiencias",
    "codificacion-clinica",
    "agente-crm",
)

# (what the text says, what it is made to say, code); the fault lies on the line of the match, in every example.
EVERYWHERE: list[tuple[str, str, str]] = [
    (r"^slaverify: contract/1", "slaverify: contract/9", "SLV-C012"),
    (r"^  version: 1$", "  version: 1.10", "SLV-C013"),
    (r"^  status: draft$", "  status: signed", "SLV-C012"),
    (r"^  locale: es-CL$", "  locale: es", "SLV-C016"),
    (r"^  time_zone: America/Santiago$", "  time_zone: Chile/Atlantida", "SLV-C016"),
    (r"^  governing_law:", "  governing_lw:", "SLV-C011"),
    (r"^  purpose: audit$", "  purpose: audit\n  effective: 2025-01-01T00:00:00", "SLV-C016"),
    (r"^  purpose: audit$", "  purpose: audit\n  expires: 2025-01-01T00:00:00Z", "SLV-C055"),
    (r"^  on_missing: (limitation|invalid_run)$", "  on_missing: no", "SLV-C012"),
    (r"^  adapter: json_http@1$", "  adapter: json_http", "SLV-C016"),
    (r"^  url: https://", "  url: http://", "SLV-C030"),
    (r'^  auth: \{secret: "env:VENDOR_API_KEY"', '  auth: {secret: "sk-abcdefghijklmnop1234"', "SLV-C029"),
    (r"^  bank_digest: sha256:", "  bank_digest: sha512:", "SLV-C016"),
    (r"^  size: (\d+)$", r"  size: 1\1", "SLV-C020"),
    (r"^    source: (real_traffic|generated)$", "    source: inventado", "SLV-C012"),
    (r"^  profile: (\w+)@1$", r"  profile: \1x@1", "SLV-C043"),
    (r"^failed_calls: \{unresolved_max: \"0.01\"\}", 'failed_calls: {unresolved_max: "1 %"}', "SLV-C014"),
    (r"^  multiplicity: holm$", "  multiplicity: bonferroni", "SLV-C012"),
    (r"^  multiplicity: holm$", "  multiplicity: none", "SLV-S031"),
    (r"cadence: P\dM", "cadence: 3 meses", "SLV-C016"),
    (r"^  currency: CLP$", "  currency: pesos", "SLV-C016"),
    (r'^  base_amount: "(\d+)"$', r'  base_amount: "\1,50"', "SLV-C014"),
    (r'^  base_amount: "(\d+)"$', r"  base_amount: \1", "SLV-C013"),
    (r'^  cap: "0\.\d+"$', '  cap: "15"', "SLV-C015"),
    (r"^  languages: \[es, en\]$", "  languages: [es, pt]", "SLV-C012"),
    (r"^    auditor_spki_sha256: .*$", f'    auditor_spki_sha256: "{"9" * 64}"', "SLV-C040"),
    (r"^  run_budget: 1$", "  run_budget: 0", "SLV-C018"),
    (r"^  run_budget: 1$", "  run_budget: 1\n  decides: best", "SLV-C012"),
    (r"^  run_budget: 1$", "  run_budget: 1\n  run_budget: 2", "SLV-C003"),
    (r"^    direction: at_(?:least|most)$", "    direction: at_least_most", "SLV-C012"),
    (r'^    threshold: "(0\.\d+)"$', r"    threshold: \1", "SLV-C013"),
    (r'^    threshold: "0\.(\d+)"$', r'    threshold: "0,\1"', "SLV-C014"),
    (r'^    threshold: "0\.(\d+)"$', r'    threshold: "\1"', "SLV-C014|SLV-C015|SLV-C018"),
]


@cache
def text_of(name: str) -> str:
    return resource("contratos", f"{name}.yaml").read_text(encoding="utf-8")


def codes_of(text: str) -> dict[str, set[int]]:
    """Code: lines, of refusals and warnings alike."""
    out: dict[str, set[int]] = {}
    try:
        loaded = parse_contract(text.encode(), "c.yaml")
        pairs = [(one.finding.code, one.where) for one in examine(loaded, NOW).advice]
    except ProblemsError as error:
        pairs = [(problem.code, problem.where) for problem in error.problems]
    for code, where in pairs:
        out.setdefault(code, set()).add(int(where.split(":")[1]))
    return out


def cases() -> list[tuple[str, str, str, str]]:
    out = []
    for name in EXAMPLES:
        for pattern, value, code in EVERYWHERE:
            if re.search(pattern, text_of(name), re.M):
                out.append((name, pattern, value, code))
    return out


CASES = cases()


def test_there_are_more_than_a_hundred() -> None:
    assert len(CASES) >= 150
    assert {name for name, *_ in CASES} == set(EXAMPLES)


@pytest.mark.parametrize(
    ("name", "pattern", "value", "code"), CASES, ids=[f"{c[0]}-{c[3]}-{i}" for i, c in enumerate(CASES)]
)
def test_one_fault(name: str, pattern: str, value: str, code: str) -> None:
    text = text_of(name)
    match = re.search(pattern, text, re.M)
    assert match is not None
    changed = text[: match.start()] + match.expand(value) + text[match.end() :]
    first = text.count("\n", 0, match.start()) + 1
    last = first + value.count("\n")
    found = codes_of(changed)
    expected = set(code.split("|"))
    assert expected & set(found), found
    lines = set().union(*(found[one] for one in expected if one in found))
    assert any(first <= line <= last for line in lines), (first, last, found)
    # One fault is not reported as ten.
    assert len(found) <= 4 + len(codes_of(text)), found


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize(
    "block",
    [
        "parties",
        "scope",
        "engine",
        "endpoint",
        "evaluation_set",
        "method",
        "repetitions",
        "metrics",
        "failed_calls",
        "verdict",
        "report",
        "ledger",
    ],
)
def test_a_missing_block_is_named(name: str, block: str) -> None:
    text = text_of(name)
    marks = read_yaml(text, "c.yaml")
    tops = sorted(mark[0] for path, mark in marks.keys.items() if len(path) == 1)
    start = marks.keys[(block,)][0]
    end = next((line for line in tops if line > start), text.count("\n") + 2)
    lines = text.split("\n")
    found = codes_of("\n".join([*lines[: start - 1], *lines[end - 1 :]]))
    assert "SLV-C010" in found
