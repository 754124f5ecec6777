"""`report.json`: its keys, what it takes from the bundle, and what it says of what is not there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from slaverify.canonical import jcs, jsonl, loads_canonical, loads_object
from slaverify.custody.leak_report import LeakCounts, leak_tree
from slaverify.errors import ReportError
from slaverify.report import build
from slaverify.report.page import page_html
from tests.report import sample
from tests.report.pages import EVERY, drawable_characters

KEYS = {
    "type", "report_id", "language", "bundle_digest", "contract_digest", "bank_digest", "method_digest", "run_id",
    "closed_at", "decision", "limitations", "amends", "render", "sections",
}  # fmt: skip


def html_of(bundle, language="es") -> str:
    return page_html(loads_object(build(bundle, language)), drawable_characters())


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_it_is_canonical_with_the_agreed_keys_and_the_files_verbatim(state, language):
    bundle = sample.bundle(state)
    report = loads_canonical(build(bundle, language))
    assert set(report) == KEYS
    assert jcs(report["decision"]) == bundle.read("decision/decision.json")
    assert jcs(report["limitations"]) == bundle.read("decision/limitations.json")
    assert report["bundle_digest"] == "sha256:" + __import__("hashlib").sha256(bundle.manifest_bytes).hexdigest()


@pytest.mark.parametrize(
    "path", ["contract/contract.json", "decision/decision.json", "decision/limitations.json", "statistics/results.json"]
)
def test_without_what_a_verdict_stands_on_there_is_no_report(path):
    bundle = sample.bundle("PASS")
    del bundle.files[path]
    with pytest.raises(ReportError) as refused:
        build(bundle, "es")
    assert refused.value.code == "SLV-R001"
    assert refused.value.where == path


@pytest.mark.parametrize(
    "path",
    ["custody/ledger.jsonl", "custody/draw.json", "custody/exposure.json", "custody/bank_manifest.json",
     "run/outcomes.jsonl", "run/signals.json", "scoring/scores.jsonl", "environment/environment.json"],
)  # fmt: skip
@pytest.mark.parametrize("state", ["PASS", "INVALID_RUN"])
def test_what_else_is_absent_is_said_and_never_blank(path, state):
    bundle = sample.bundle(state)
    del bundle.files[path]
    html = html_of(bundle)
    assert "no medido, porque el paquete no trae" in html or "no registrada en el paquete" in html


def test_a_malformed_record_file_is_named():
    bundle = sample.bundle("PASS")
    bundle.files["scoring/scores.jsonl"] += b"{"
    with pytest.raises(ReportError) as refused:
        build(bundle, "es")
    assert refused.value.where == "scoring/scores.jsonl"


def test_another_language_is_refused():
    with pytest.raises(ReportError) as refused:
        build(sample.bundle("PASS"), "fr")
    assert refused.value.code == "SLV-R002"


def test_the_locale_is_the_contract_s():
    assert json.loads(build(sample.bundle("PASS", **{"contract.locale": "es-MX"}), "es"))["language"] == "es-MX"
    assert "97.5\u00a0%" in html_of(sample.bundle("PASS", **{"contract.locale": "es-MX"}))
    assert json.loads(build(sample.bundle("PASS", **{"contract.locale": "en-GB"}), "es"))["language"] == "es"


def test_the_amount_is_that_of_the_decision():
    bundle = sample.bundle("BREACH")
    decision = json.loads(bundle.files["decision/decision.json"])
    decision["remedies"] = {"currency": "CLP", "due": "1200000", "executed": False}
    bundle.files["decision/decision.json"] = jcs(decision)
    assert "1.200.000" in html_of(bundle)
    assert "El informe no lo ejecuta" in html_of(bundle)
    assert "el contrato no fija un monto base" in html_of(sample.bundle("BREACH", **{"remedies.base_amount": None}))


def test_an_observed_rate_equal_to_the_threshold_is_settled_by_no_number():
    bundle = sample.bundle("INCONCLUSIVE")
    results = json.loads(bundle.files["statistics/results.json"])
    results["metrics"][0].update(rate="0.900000000", settle=None)
    bundle.files["statistics/results.json"] = jcs(results)
    assert "ninguna cantidad de preguntas decidiría" in html_of(bundle)


@pytest.mark.parametrize(
    ("agreed", "said"),
    [
        ("no_consequence", "no tiene consecuencia"),
        ("withhold", "la duda la asume el proveedor"),
        ({"extend": {"per_stratum": {}, "spending": ["0.005", "0.0225"]}}, "la duda se resuelve con una segunda etapa"),
        ({"retest": {"fresh": True}}, "se repite con preguntas nuevas"),
        (None, "no dice qué sigue"),
    ],
)
def test_the_consequence_of_an_inconclusive_is_the_contract_s(agreed, said):
    assert said in html_of(sample.bundle("INCONCLUSIVE", **{"verdict.inconclusive": agreed}))


def test_a_reply_is_printed_verbatim_and_marked():
    bundle = sample.bundle("PASS")
    bundle.files["replies/vendor.json"] = jcs(
        {"author": "Proveedor", "time": "2026-09-04T10:00:00Z", "text": "No estamos de acuerdo. <b>Nada</b>"}
    )
    html = html_of(bundle)
    assert "No estamos de acuerdo. &lt;b&gt;Nada&lt;/b&gt;" in html
    assert "Texto aportado por" in html
    assert "El paquete no contiene réplica" in html_of(sample.bundle("PASS"))


def test_the_page_says_what_the_public_edition_leaves_out_whoever_reads_it():
    files = sample.files("PASS")
    manifest = json.loads(files["manifest.json"])
    path = manifest["files"][-1]["path"]
    manifest["files"][-1]["disclosure"] = "parties"
    files["manifest.json"] = jcs(manifest)
    whole = build(sample.MemoryBundle(files), "es")
    assert build(sample.MemoryBundle(files, withheld=(path,)), "es") == whole
    assert "La edición pública retiene un archivo" in html_of(sample.MemoryBundle(files))


def test_a_metric_without_a_decision_is_no_report():
    bundle = sample.bundle("PASS")
    decision = json.loads(bundle.files["decision/decision.json"])
    decision["metrics"].pop()
    bundle.files["decision/decision.json"] = jcs(decision)
    with pytest.raises(ReportError) as refused:
        build(bundle, "es")
    assert refused.value.code == "SLV-R001"


def test_many_items_are_cut_to_the_failures():
    bundle = sample.bundle("BREACH")
    lines = [json.loads(line) for line in bundle.files["scoring/scores.jsonl"].splitlines()]
    many = [{**line, "item_id": f"{line['item_id']}-{copy}"} for copy in range(5) for line in lines]
    from slaverify.canonical import jsonl

    bundle.files["scoring/scores.jsonl"] = jsonl(many)
    assert "La muestra tiene 750 ítems; se listan 200" in html_of(bundle)


def test_no_binding_metric_is_not_measured():
    bundle = sample.bundle("NOT_MEASURED")
    decision = json.loads(bundle.files["decision/decision.json"])
    for metric in decision["metrics"]:
        metric["binding"] = False
    bundle.files["decision/decision.json"] = jcs(decision)
    html = html_of(bundle)
    assert "El contrato no tiene ninguna métrica vinculante" in html
    assert "acordar al menos una métrica vinculante" in html


def test_published_figures_stand_apart_and_a_pilot_says_so():
    listed = [{"name": "Estudio", "figure": "0,83", "source": "revista", "as_of": "2025-05-01"}]
    html = html_of(sample.bundle("PASS", **{"report.references": listed, "contract.purpose": "pilot"}))
    assert "Orden de magnitud, no una comparación." in html
    assert "Estudio: 0,83 (revista, 2025-05-01)." in html
    assert "Medición piloto" in html
    assert "Cifras publicadas" not in html_of(sample.bundle("PASS"))


def test_a_rehearsal_is_marked_on_each_page():
    rehearsal = [*sample.LIMITATIONS, {"code": "L26", "args": {}}]
    assert "SIN VALOR CONTRACTUAL" in html_of(sample.bundle("PASS", rehearsal))


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize(
    ("low", "high", "rate"),
    [
        ("0.000000000", "1.000000000", "0.000000000"),
        ("0.000000000", "1.000000000", "1.000000000"),
        ("0.000000000", "0.060000000", "0.000000000"),
        ("0.940000000", "1.000000000", "1.000000000"),
        ("0.000000001", "0.999999999", "0.500000000"),
    ],
)
@pytest.mark.parametrize("state", ["BREACH", "INCONCLUSIVE", "PASS"])
def test_no_interval_that_a_run_can_end_with_stops_the_report(low, high, rate, state, language):
    """Every answer open, every answer unresolved, no failure at all: there is a page for each."""
    files = dict(sample.files(state))
    results = json.loads(files["statistics/results.json"])
    for entry in [*results["metrics"], *results["strata"]]:
        whole = {"0.000000000": 0, "1.000000000": entry["n"]}.get(rate)
        entry["exact"] = {"low": low, "high": high}
        entry["rate"] = rate
        if whole is not None:
            right = whole if entry["direction"] == "at_least" else entry["n"] - whole
            entry.update(x=right, failures=entry["n"] - right)
    files["statistics/results.json"] = jcs(results)
    assert html_of(sample.MemoryBundle(files), language)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "no medida, porque el contrato no la pide"),
        (
            {"endpoint.response": {"answer": "$.a", "confidence": "$.c"}},
            "está en las respuestas que guardan las partes",
        ),
        ({}, "no medida, porque cada pregunta se hizo una vez"),
        ({"repetitions.per_item": 3}, "cada pregunta se hizo 3 veces; ver L03"),
    ],
)
def test_what_is_not_tabulated_is_said_as_it_is(changes, said):
    assert said in html_of(sample.bundle("PASS", **changes))


def test_the_tipping_point_says_what_changes_the_state_and_what_reaches_each():
    # 34 failures where 5 keep it and 21 break it: 20 is the first number that breaks it no more.
    assert (
        "14 veredictos distintos cambiarían el estado. CUMPLE: harían falta 29 más a favor; NO CUMPLE: ya es su estado."
        in html_of(sample.bundle("BREACH"))
    )


def rescaled(kind: str, direction: str, limit: str, rate: str, low: str, high: str):
    """A bundle whose first metric is no share: a mean of marks, or errors per word."""
    bundle = sample.bundle("PASS")
    path = "statistics/results.json"
    tree = json.loads(bundle.files[path])
    tree["metrics"][0].update(
        kind=kind, direction=direction, threshold=limit, rate=rate, exact={"low": low, "high": high},
        wilson={"low": None, "high": None}, zero_bound=None,
    )  # fmt: skip
    tree["strata"] = [entry for entry in tree["strata"] if entry["id"] != tree["metrics"][0]["id"]]
    bundle.files[path] = jcs(tree)
    return bundle


def test_a_mean_is_printed_on_its_own_scale_and_never_as_a_percentage():
    html = html_of(rescaled("mean", "at_least", "4.0", "4.213500000", "4.049600000", "4.377200000"))
    for words in (
        "al menos 4<",
        "4,214 (n = 120)",
        "4,049 a 4,378",
        ">umbral 4<",
        "la cota inferior del intervalo, 4,049",
    ):
        assert words in html, words
    assert "400\N{NO-BREAK SPACE}%" not in html


def test_errors_per_word_are_printed_in_per_cent_up_to_one_a_word():
    html = html_of(rescaled("corpus_rate", "at_most", "0.02", "0.006000000", "0.003100000", "0.011200000"))
    for words in ("a lo más 2 %", "0,6 % (n = 120)", "0,3 % a 1,2 %"):
        assert words.replace(" %", "\N{NO-BREAK SPACE}%") in html, words
    many = html_of(rescaled("corpus_rate", "at_most", "1.5", "1.200000000", "0.900000000", "1.400000000"))
    for words in ("a lo más 1,5<", "1,200 (n = 120)"):
        assert words in many, words


def test_an_opinion_stands_apart_under_the_name_of_a_signatory():
    bundle = sample.bundle("INCONCLUSIVE")
    assert "no contiene opiniones ni interpretaciones" in html_of(bundle)
    said = {
        "type": "slaverify/opinion/1",
        "role": "auditor",
        "author": "Ana Rojas Pérez",
        "time": "2026-09-03T13:50:00Z",
    }
    bundle.files["replies/auditor.json"] = jcs({**said, "text": "Conviene <b>repetir</b>."})
    html = html_of(bundle)
    assert "no contiene opiniones" not in html
    assert "Opinión de Ana Rojas Pérez" in html
    assert "Conviene &lt;b&gt;repetir&lt;/b&gt;." in html
    assert "no es parte de la declaración de conformidad" in html
    assert 'data-clause="7.8.3.1-d' in html or "7.8.3.1-d" in html
    bundle.files["replies/auditor.json"] = jcs({**said, "author": "Otra Persona", "text": "x"})
    with pytest.raises(ReportError) as refused:
        build(bundle, "es")
    assert (refused.value.code, refused.value.where) == ("SLV-R001", "replies/auditor.json")


def test_an_annex_that_the_contract_leaves_out_says_so_and_keeps_its_letter():
    html = html_of(sample.bundle("PASS", **{"report.annexes": ["glossary"]}))
    assert html.count("El contrato no pide este anexo.") == 3
    assert "Anexo D. Lista de la cadena de custodia" in html
    assert "Declaro que custodié" not in html
    assert "Palabras de este informe" in html


COUNTS = LeakCounts(
    agreed={"anchor": 60, "twin": 40, "probe": 8}, drawn={"anchor": 50, "twin": 40, "probe": 8}, anchor_right=40,
    anchor_n=48, fresh_right=110, fresh_n=150, original_only=5, twin_only=3, pairs=40, tokens=8,
    repeated=("it-aaa", "it-bbb"), undecided={"anchors": 2},
)  # fmt: skip


def with_leaks(counts, **changes):
    bundle = sample.bundle("PASS", **{"evaluation_set.sample.arms": {"anchor": 60, "twin": 40, "probe": 8}, **changes})
    bundle.files["statistics/integrity.json"] = jcs(leak_tree(counts, Fraction(1, 100)))
    return bundle


def test_leak_tests_say_what_they_found_and_what_they_could_see():
    html = html_of(with_leaks(COUNTS))
    assert "No hay señal de filtración" in html
    assert "40 de 48 ya enviadas, 110 de 150 nuevas" in html
    assert "se pactaron 60 y había 50 para sortear" in html and "2 sin decidir solo por reglas" in html
    assert "it-aaa" in html and "it-bbb" in html
    assert "se enviaron 138 preguntas de control" in html
    alarm = html_of(with_leaks(replace(COUNTS, repeated=tuple(f"it-{n}" for n in range(6)))))
    assert "Hay señal de filtración" in alarm
    mute = html_of(with_leaks(LeakCounts(agreed={"anchor": 60}, drawn={}, fresh_right=110, fresh_n=150)))
    assert "No evaluable" in mute and "pactada, sin preguntas que sortear" in mute and "no pactada" in mute
    full = replace(COUNTS, fresh_right=150)
    assert "no cabe ventaja" in html_of(with_leaks(full))


def test_leak_tests_that_nobody_agreed_on_are_said_not_to_have_been_made():
    assert "no se midió si el proveedor ya conocía preguntas del banco" in html_of(sample.bundle("PASS"))
    bundle = with_leaks(COUNTS)
    del bundle.files["statistics/integrity.json"]
    assert "Las pruebas de filtración no se hicieron" in html_of(bundle)


def added(bundle, kind, **data):
    rows = [json.loads(line) for line in bundle.files["custody/ledger.jsonl"].splitlines()]
    rows.append({**rows[-1], "seq": len(rows), "type": kind, "data": data})
    bundle.files["custody/ledger.jsonl"] = jsonl(rows)
    return bundle


def test_who_else_saw_questions_is_named_and_runs_of_another_contract_are_not_counted():
    bundle = added(sample.bundle("PASS"), "exposure", party="Proveedor de Juez", role="judge", items=[1, 2, 3])
    html = html_of(added(bundle, "run_opened", contract_digest="sha256:" + "9" * 64, run=1))
    assert "Proveedor de Juez" in html and "(Juez), 3 preguntas" in html
    assert "Corridas abiertas: una" in html
    blind = added(sample.bundle("PASS", **{"ledger.blind": "on"}), "blind", commitment="a" * 64)
    assert "Inicio ciego" in html_of(blind) and "Inicio ciego" not in html


def test_signals_and_events_are_said_with_their_place_and_their_effect():
    bundle = sample.bundle("PASS", **{"verdict.integrity": {"binding_patterns": ["partial_body"]}})
    assert "Ninguna señal" in html_of(bundle) and "Ningún evento en las respuestas" in html_of(bundle)
    found = [
        {"code": "partial_body", "level": "pattern", "items": 3, "positions": [0, 4, 11]},
        {"code": "drift_echo", "level": "identity", "items": 2, "positions": [40, 41]},
        {"code": "<b>unheard</b>", "level": "signal", "items": 1, "positions": [7]},
    ]
    bundle.files["run/signals.json"] = jcs({"type": "slaverify/signals/1", "run_id": "x", "signals": found})
    rows = [json.loads(line) for line in bundle.files["scoring/scores.jsonl"].splitlines()]
    pattern = {"code": "partial_body", "level": "pattern", "confirmed": True}
    rows[0]["events"] = [{"code": "hidden_text", "level": "manipulation", "confirmed": True}, pattern]
    rows[1]["events"] = [{"code": "hidden_text", "level": "manipulation", "confirmed": False}]
    bundle.files["scoring/scores.jsonl"] = jsonl(rows)
    html = html_of(bundle)
    assert "más del 1 % de las consultas" in html and "de la 1 a la 12" in html and "impide CUMPLE" in html
    assert "Cambió la versión declarada" in html and "de la 41 a la 42" in html and "solo se informa" in html
    assert "<b>unheard" not in html and "unheard" in html
    assert re.search(r"Texto invisible.*?<td[^>]*>1</td>.*?<td[^>]*>1</td>", html, re.DOTALL)
    english = html_of(bundle, "en")
    assert "rules out PASS" in english and "from 41 to 42" in english and "Invisible text" in english


def test_the_dispersion_sample_is_told_by_metric():
    bundle = sample.bundle("PASS")
    measured = {"id": "accuracy", "items": 28, "undecided": 2, "histogram": {"8": 20, "5": 8}, "icc": "0.412345678",
                "low": "0.280000000", "high": "0.570000000", "reason": None}  # fmt: skip
    nothing = {"icc": None, "low": None, "high": None, "histogram": {}, "items": 0, "undecided": 0}
    for reason, words in (
        ("no_variation", "ninguna variación"),
        ("too_few_items", "menos de dos preguntas"),
        ("not_counted", "no cuenta aciertos"),
    ):
        metrics = [measured, {**nothing, "id": "hallucination", "reason": reason}]
        bundle.files["statistics/dispersion.json"] = jcs(
            {"type": "slaverify/dispersion/1", "items": 30, "repeats": 8, "metrics": metrics}
        )
        html = html_of(bundle)
        assert "30 preguntas de la muestra se hicieron 8 veces más" in html and words in html
        assert "ICC 0,41 (de 0,28 a 0,57), sobre 28 preguntas" in html
    assert "no medida, porque cada pregunta se hizo una vez" not in html
    assert "asked 8 more times" in html_of(bundle, "en")


def test_a_pattern_that_binds_is_not_undone_by_more_questions():
    bundle = sample.bundle("INCONCLUSIVE")
    decided = loads_object(bundle.files["decision/decision.json"])
    decided["metrics"][0]["reason"] = "binding_pattern"
    bundle.files["decision/decision.json"] = jcs(decided)
    html = html_of(bundle)
    assert "se vio un patrón que el contrato excluye" in html and "más preguntas no lo deshacen" in html
    assert "2.190" not in html, "nobody is told how many questions would settle it"
    assert "2.190" in html_of(sample.bundle("INCONCLUSIVE"))
