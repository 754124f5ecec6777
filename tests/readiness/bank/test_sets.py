"""The lint over whole sets: every set of the project and the public ones; sets that a trivial answer would pass."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from slaverify.contract.load import load_contract
from slaverify.evalset import (
    Catalogue,
    CatalogueEntry,
    Item,
    import_any,
    parse_item,
    read_bank,
    read_catalogue,
    template_csv,
)
from slaverify.readiness.bank import BankCheck, check_bank
from slaverify.readiness.bank_findings import CheckOptions
from slaverify.readiness.baselines import NAMES
from slaverify.scoring import default_settings, settings_for
from tests.evalset.importers.cases import CASES, MADE, PUBLIC

ROOT = Path(__file__).resolve().parents[3]
PROJECT = ("custodia/demo/preguntas.jsonl", "contratos/practica/preguntas_publicas.jsonl")


def options(locale: str | None = "es-CL", **more: Any) -> CheckOptions:
    return CheckOptions(settings=cache(lambda stratum: default_settings("qa@1", locale, stratum)), **more)


CATALOGUE = read_catalogue((ROOT / "contratos" / "demo-normativa-cl.catalogue.jsonl").read_bytes(), "c")


def item(number: int, reference: dict[str, Any], **more: Any) -> Item:
    base = {"schema": "item/1", "id": f"i{number:03d}", "stratum": "direct", "cluster": f"c{number}"}
    return parse_item(
        {**base, "query": f"¿Cuál es el dato número {number} de la norma?", "reference": reference, **more}
    )


def codes(found: BankCheck, level: str = "E") -> dict[str, int]:
    out: dict[str, int] = {}
    for finding in found.findings:
        if finding.level == level:
            out[finding.code] = out.get(finding.code, 0) + 1
    return out


@pytest.mark.parametrize("path", PROJECT)
def test_the_sets_of_the_project_are_fit(path: str) -> None:
    settings = cache(lambda stratum: replace(default_settings("regulatory@1", "es-CL", stratum), catalogue=CATALOGUE))
    found = check_bank(
        read_bank((ROOT / path).read_bytes(), path), CheckOptions(settings=settings, catalogue=CATALOGUE)
    )
    assert not found.refused, [finding.what.en for finding in found.findings if finding.refuses]
    assert found.gold_correct == found.gold_total > 0
    assert (found.mutants_correct, found.mutants_least >= 5) == (0, True)


def test_the_demo_contract_is_passed_by_no_baseline() -> None:
    contract = load_contract(ROOT / "contratos" / "demo-normativa-cl.yaml").model
    items = read_bank((ROOT / PROJECT[0]).read_bytes(), "b")
    settings = cache(lambda stratum: settings_for(contract, stratum, CATALOGUE))
    found = check_bank(items, CheckOptions(settings=settings, catalogue=CATALOGUE), contract)
    assert {baseline.name: baseline.state for baseline in found.baselines} == dict.fromkeys(NAMES, "BREACH")
    abstain = next(baseline for baseline in found.baselines if baseline.name == "always_abstain")
    assert abstain.metrics["accuracy"] == "BREACH" and abstain.metrics["hallucination"] == "PASS"
    assert "SLV-I026" not in codes(found)


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - {"odcs_database-table-sla.odcs.yaml"}))
def test_gold_and_mutants_of_the_public_sets(name: str, public_data: Path) -> None:
    items = import_any((public_data / name).read_bytes(), name, PUBLIC[name]).items
    found = check_bank(items, options(PUBLIC[name].locale))
    assert found.gold_correct == found.gold_total > 0
    assert (found.mutants_correct, found.mutants_least >= 5) == (0, True)


@pytest.mark.parametrize("name", sorted(CASES))
def test_gold_and_mutants_of_the_made_sets(name: str) -> None:
    for chosen in CASES[name][1:] or CASES[name]:
        try:
            items = import_any((MADE / name).read_bytes(), name, chosen).items
        except Exception as error:  # noqa: BLE001 - the refusals are pinned elsewhere
            assert getattr(error, "exit_code", None) == 2
            continue
        found = check_bank(items, options())
        assert found.gold_correct == found.gold_total
        assert found.mutants_correct == 0


def test_the_worked_rows_of_the_template_are_right() -> None:
    rows = template_csv(("direct", "applied", "trap", "out_of_corpus", "adversarial"), "es")
    from slaverify.evalset import ImportOptions

    items = import_any(rows, "t.csv", ImportOptions()).items
    known = Catalogue({name: CatalogueEntry(name) for name in ("cl:reglamento-lacustre:1",)})
    found = check_bank(items, options(catalogue=known))
    assert {code for code in codes(found) if code != "SLV-I023"} == set()
    assert (found.gold_correct, found.mutants_correct) == (found.gold_total, 0)


@pytest.mark.parametrize(
    ("baseline", "references", "more"),
    [
        ("constant", [{"kind": "number", "value": "30"}] * 20, {}),
        ("other_items_answer", [{"kind": "entity", "value": "Capitanía"}] * 20, {}),
        ("always_abstain", [{"kind": "none", "because": "out_of_corpus"}] * 20, {"stratum": "out_of_corpus"}),
        (
            "corpus_dump",
            [{"kind": "entity", "value": "Capitanía Lacustre"}] * 20,
            {"official_text": "Capitanía Lacustre"},
        ),
        (
            "list_all_options",
            [{"kind": "set", "value": [{"kind": "entity", "value": "Norte"}], "set_rule": "at_least"}] * 20,
            {},
        ),
        ("echo_question", [{"kind": "text", "value": "Diga sí"}] * 20, {"query": "Diga sí"}),
    ],
)
def test_a_set_built_to_be_passed_is_refused(baseline: str, references: list[Any], more: dict[str, Any]) -> None:
    found = check_bank([item(number, reference, **more) for number, reference in enumerate(references)], options())
    refusing = [one for one in found.findings if one.code == "SLV-I026" and one.refuses]
    assert any(baseline in one.what.en for one in refusing), [one.what.en for one in refusing]
    assert len(next(one for one in refusing if baseline in one.what.en).items) == 20


def test_what_has_no_rule_is_said_and_not_passed() -> None:
    found = check_bank([item(1, {"kind": "trajectory", "value": {"a": "b"}})], options())
    assert (found.gold_total, found.mutants_total) == (0, 0)
    assert any("trajectory" in text.es for text in found.not_performed)


@pytest.mark.nightly
def test_two_thousand_items_in_time() -> None:
    import time

    bank = read_bank((ROOT / PROJECT[0]).read_bytes(), "b")
    start = time.process_time()
    check_bank(bank, options())
    assert (time.process_time() - start) / len(bank) * 2000 < 20
