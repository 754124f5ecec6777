"""Questions over norms, end to end: citations of the field and of the prose, looked up in the contract's catalogue.

The engine answers every item of the demo bank and errs at known places; what is counted is compared with counts made
here by hand. `verify` derives all of it again, and refuses a bundle whose catalogue is another one.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from slaverify.canonical import JsonValue, digest_of
from slaverify.cli.demo.servers import serve
from slaverify.evalset import Item, read_bank
from slaverify.resources import resource
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract

CATALOGUE = resource("contratos", "demo-normativa-cl.catalogue.jsonl").read_bytes()
ITEMS = list(read_bank(resource("custodia", "demo", "preguntas.jsonl").read_bytes(), "preguntas.jsonl"))
NORM = "Reglamento de Transporte Lacustre"

WRONG: dict[str, tuple[str, str]] = {
    # item: (how the engine errs, verdict)
    "directa-001-1": ("value", "incorrect"),
    "directa-010-1": ("sister", "misgrounded"),
    "directa-020-1": ("phantom", "phantom_citation"),
    "directa-030-1": ("silent", "abstention"),
    "directa-040-1": ("uncited", "incomplete"),
    "caso-5-1": ("phantom", "phantom_citation"),
    "premisa-50-3": ("value", "incorrect"),
    "trampa-001": ("invents", "fabrication"),
    "trampa-060": ("invents", "fabrication"),
    "fuera-003": ("invents", "incorrect"),
}


def _gold(item: Item, *, wrong: bool) -> str:
    reference = item.reference
    if reference.kind == "choice":
        other = next(label for label in reference.options if label != reference.value)
        return other if wrong else reference.value
    assert reference.kind in ("number", "amount")
    value = str(int(float(reference.value or "0")) + 7) if wrong else (reference.value or "").replace(".", ",")
    days = f" días {reference.day_kind}" if reference.kind == "amount" else ""
    percent = " %" if getattr(reference, "unit", "") == "%" else ""
    return f"{value}{days}{percent}"


def answer(item: Item) -> dict[str, Any]:
    """Return the answer of the engine: right everywhere but in `WRONG`."""
    how = WRONG.get(item.id, ("", ""))[0]
    hostile = item.reference.kind == "none"
    if how == "silent" or (hostile and how != "invents"):
        return {"answer": "No encontré una disposición sobre ese tema en el reglamento.", "citations": []}
    if hostile:
        target = "el artículo 7" if item.trap is None else _named(item)
        return {"answer": f"Conforme a {target}, el plazo es de 45 días corridos.", "citations": []}
    article = int(item.source.locator.removeprefix("artículo "))  # type: ignore[union-attr]
    cited = {"sister": article % 80 + 1, "phantom": 93}.get(how, article)
    citations = [] if how == "uncited" else [{"norm": NORM, "article": str(cited), "verified": True}]
    return {"answer": f"Es {_gold(item, wrong=how == 'value')}.", "citations": citations}


def _named(item: Item) -> str:
    return {"trampa-001": f"el artículo 81 del {NORM}", "trampa-060": "el DFL 77 de 2033"}[item.id]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_place(tmp_path_factory.mktemp("regulatory"), ITEMS)
    by_query = {item.query_text(): item for item in ITEMS}
    changes: dict[str, JsonValue] = {
        "endpoint.auth": None,
        "endpoint.control_urls": [],
        "evaluation_set.sample.reserve": 0,
        "judge": None,
        "method.judge_stage": {"strata": [], "ask": []},
        "metrics.0.margin": "0.06",
        "parties.auditor.legal_id": "76.000.102-3",
        "parties.custodian.legal_id": "76.000.102-3",
        "parties.custodian.keys": [],
        "repetitions.dispersion_sample": None,
        "scope.catalogue": {"digest": digest_of(CATALOGUE), "as_of": "2026-11-30"},
        "verdict.inconclusive": "no_consequence",
    }

    def respond(body: bytes) -> tuple[int, str, bytes]:
        item = by_query.get(json.loads(body)["query"])
        said = {"answer": "Sobre el reglamento.", "citations": []} if item is None else answer(item)
        return 200, "application/json", json.dumps({**said, "engine": {"version": "4.2.1"}}).encode()

    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/v1", authority, changes, "asistente-normativo-cl.yaml")
        missing = slaverify(place, *audit_arguments(place))
        assert missing.returncode == 2 and "SLV-A033" in missing.stderr, missing.stderr
        beside = place.contract.with_name("prueba-lineal.catalogue.jsonl")
        beside.write_bytes(CATALOGUE.replace(b":art:80", b":art:81"))
        other = slaverify(place, *audit_arguments(place))
        assert other.returncode == 5 and "SLV-A033" in other.stderr, other.stderr
        beside.write_bytes(CATALOGUE)
        done = slaverify(place, *audit_arguments(place))
    assert done.returncode in (0, 1, 3), done.stderr + done.stdout
    return place


def _scores(place: Place) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place.run / "scoring/scores.jsonl").read_text("utf-8").splitlines()]


def test_each_error_has_its_verdict_and_nothing_else_is_wrong(finished: Place) -> None:
    found = Counter((row["stratum"], row["verdict"]) for row in _scores(finished))
    errors = Counter((_stratum(name), verdict) for name, (_, verdict) in WRONG.items())
    good = {"direct": "accurate", "applied": "accurate", "adversarial": "accurate"}
    for stratum, size in Counter(item.stratum for item in ITEMS).items():
        wrong = sum(number for (name, _), number in errors.items() if name == stratum)
        errors[stratum, good.get(stratum, "abstention")] += size - wrong
    assert found == errors


def _stratum(name: str) -> str:
    return next(item.stratum for item in ITEMS if item.id == name)


def test_the_metrics_count_it(finished: Place) -> None:
    rows = {row["id"]: row for row in json.loads((finished.run / "statistics/inputs.json").read_bytes())["metrics"]}
    # accuracy: value, sister, phantom (two), silent, uncited; phantoms outside `applied`: one, and the two inventions
    assert (rows["accuracy"]["n"], rows["accuracy"]["failures"]) == (400, 6)
    assert rows["fabrication"]["failures"] == 2
    assert rows["phantom_citation"]["failures"] == 3
    assert rows["unnecessary_abstention"]["failures"] == 1


def test_verify_derives_it_again(finished: Place) -> None:
    words = ["verify", str(finished.pdf()), "--bundle", str(finished.bundle()), "--contract", str(finished.contract)]
    found = slaverify(finished, *words, "--identity", str(finished.keys / "arbitro.age"))
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_public_edition_holds_no_question_and_no_reference(finished: Place) -> None:
    with zipfile.ZipFile(finished.bundle("public")) as bundle:
        scores = bundle.read(next(name for name in bundle.namelist() if name.endswith("scoring/scores.jsonl")))
        assert not any("traces" in name or "exchanges" in name for name in bundle.namelist())
        everything = b"".join(bundle.read(name) for name in bundle.namelist() if "catalogue" not in name)
    for secret in (b"reglamento-lacustre:1:art", b"trampa-001", ITEMS[0].query_text().encode()):
        assert secret not in scores and secret not in everything
    keys = {"claimed", "expected_hit", "in_catalogue", "parsed", "phantom", "unparsed", "unresolvable"}
    assert all(set(json.loads(line)["citations"]) == keys for line in scores.splitlines())


def test_explain_names_the_citations_and_what_was_expected(finished: Place) -> None:
    told = slaverify(finished, "score", str(finished.run), "--explain", _scores(finished)[0]["item_id"])
    (one,) = json.loads(told.stdout)["answers"]
    assert all({"id", "found", "expected"} <= set(row) for row in one["citations"])


@pytest.mark.nightly  # another whole verification; the digest of the bundle alone would catch it
def test_a_bundle_with_another_catalogue_fails(finished: Place, tmp_path: Path) -> None:
    parts = finished.bundle()
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(parts) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b":art:80", b":art:81") if name.endswith("catalogue.jsonl") else data)
    words = ["verify", str(finished.pdf()), "--bundle", str(changed), "--contract", str(finished.contract)]
    found = slaverify(finished, *words, "--identity", str(finished.keys / "arbitro.age"))
    assert found.returncode == 4, found.stdout
