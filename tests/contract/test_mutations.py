"""One fault at a time in a contract that uses every key: each is refused with its code at its own place."""

from __future__ import annotations

import pytest

from slaverify.contract.load import dump_yaml
from slaverify.contract.read_yaml import read_yaml
from tests.contract.support import FULL, errors, problems, raw_tree, set_at

TREE = raw_tree(FULL)
SPKI = "3" * 64
DIGEST = "sha256:" + "a" * 64

MUTATIONS: list[tuple[str, object, str]] = [
    ("slaverify", "contract/2", "SLV-C012"),
    ("contract.id", "Con Mayúsculas", "SLV-C016"),
    ("contract.id", "x", "SLV-C016"),
    ("contract.title", "", "SLV-C018"),
    ("contract.version", 0, "SLV-C018"),
    ("contract.version", "uno", "SLV-C012"),
    ("contract.status", "signed", "SLV-C012"),
    ("contract.purpose", "auditoría", "SLV-C012"),
    ("contract.supersedes", "sha256:ABC", "SLV-C016"),
    ("contract.locale", "es", "SLV-C016"),
    ("contract.prevailing_language", "fr", "SLV-C012"),
    ("contract.time_zone", "Santiago", "SLV-C016"),
    ("contract.time_zone", "America/Santiagoo", "SLV-C016"),
    ("contract.translations", "en", "SLV-C012"),
    ("contract.holidays.0", "2026-02-31", "SLV-C016"),
    ("contract.holidays.0", "5/2/2026", "SLV-C016"),
    ("contract.day_kind", "working", "SLV-C012"),
    ("contract.effective", "mañana", "SLV-C016"),
    ("parties.vendor", "Proveedora", "SLV-C012"),
    ("parties.auditor.keys.0.spki_sha256", "3" * 63, "SLV-C016"),
    ("parties.buyer.keys.0.ssh", "ssh-rsa AAAA", "SLV-C016"),
    ("parties.custodian.name", "VENDEDORA S.A.", "SLV-K005"),
    ("parties.vendor.keys.0.spki_sha256", SPKI, "SLV-K005"),
    ("parties.vendor.keys.0.valid_until", "2024-01-01T00:00:00Z", "SLV-C033"),
    ("parties.independence.plaintext_access.0.from", "ayer", "SLV-C016"),
    ("scope.languages.0", "español", "SLV-C016"),
    ("scope.corpus.size", -1, "SLV-C018"),
    ("scope.catalogue.digest", "a" * 64, "SLV-C016"),
    ("engine.version", "latest", "SLV-C027"),
    ("engine.accepted_echoes", [], "SLV-C018"),
    ("engine.accepted_echoes.1.regex", "lexia", "SLV-C028"),
    ("engine.on_missing", "pass", "SLV-C012"),
    ("engine.base_families", "secret", "SLV-C012"),
    ("engine.base_families.0", "familia-j", "SLV-J001"),
    ("engine.family", "Familia-J", "SLV-J001"),
    ("judge.panel.0.snapshot", "claude-x-2026-03-01", "SLV-J001"),
    ("judge.panel.0.expected_model_echo", "meta-llama/Llama-3-8b-2026-03-01", "SLV-J001"),
    ("engine.base_families", "undisclosed", "SLV-J001"),
    ("engine.change_notice_days", "10", "SLV-C012"),
    ("engine.split_on_drift", "no", "SLV-C012"),
    ("endpoint.adapter", "json_http", "SLV-C016"),
    ("endpoint.url", "http://api.example.org/", "SLV-C030"),
    ("endpoint.url", "api.example.org", "SLV-C016"),
    ("endpoint.method", "DELETE", "SLV-C012"),
    ("endpoint.user_agent", "con\nsalto", "SLV-C016"),
    ("endpoint.auth.owner", "buyer", "SLV-C012"),
    ("endpoint.auth.secret", "clave", "SLV-C029"),
    ("endpoint.request.q", "sin pregunta", "SLV-C034"),
    ("endpoint.request.x", "${stratum}", "SLV-C034"),
    ("endpoint.response.answer", "$..a", "SLV-C035"),
    ("endpoint.response.citations.fields.text", "$[?@.x]", "SLV-C035"),
    ("endpoint.response.finish_reason.values", {"MAX": "Length"}, "SLV-C016"),
    ("endpoint.error_texts.1.regex", "^Error", "SLV-C028"),
    ("endpoint.tls.spki_pins.0", "zz", "SLV-C016"),
    ("endpoint.control_urls", ["https://a.example.org/"], "SLV-C030"),
    ("endpoint.control_urls.1", "https://a.example.org/otra", "SLV-C030"),
    ("endpoint.call.total_timeout_s", "601", "SLV-C018"),
    ("endpoint.call.total_timeout_s", "0", "SLV-C018"),
    ("endpoint.call.total_timeout_s", 30, "SLV-C013"),
    ("endpoint.call.max_response_bytes", 4_194_305, "SLV-C018"),
    ("endpoint.call.attempts", 6, "SLV-C018"),
    ("endpoint.call.backoff.base_s", "-1", "SLV-C018"),
    ("endpoint.call.backoff.base_s", "1s", "SLV-C014"),
    ("endpoint.call.concurrency", 0, "SLV-C018"),
    ("endpoint.call.paid_by", "custodian", "SLV-C012"),
    ("endpoint.candidate.version", "default", "SLV-C027"),
    ("evaluation_set.bank_digest", "pendiente", "SLV-C016"),
    ("evaluation_set.size", 901, "SLV-C020"),
    ("evaluation_set.strata.Directo", 1, "SLV-C016"),
    ("evaluation_set.sample.method", "random", "SLV-C012"),
    ("evaluation_set.sample.per_stratum.direct", 0, "SLV-C018"),
    ("evaluation_set.sample.per_stratum.direct", 501, "SLV-C022"),
    ("evaluation_set.sample.reserve", 60, "SLV-C022"),
    ("evaluation_set.sample.release", "after_run", "SLV-C045"),
    ("evaluation_set.weights.direct", "0.6", "SLV-C020"),
    ("evaluation_set.weights.direct", "50 %", "SLV-C014"),
    ("evaluation_set.estimand", "sample", "SLV-C012"),
    ("evaluation_set.frame.source", "inventado", "SLV-C012"),
    ("method.profile", "regulatory@2", "SLV-C043"),
    ("method.profile", "regulatory", "SLV-C016"),
    ("method.rules", {"directo": ["number@1"]}, "SLV-C023"),
    ("method.verdict_table", {"correct": {"grounded": "accurate"}}, "SLV-C016"),
    ("method.policies.range_expansion", "up_to:0", "SLV-C016"),
    ("method.policies.year_pivot", 100, "SLV-C018"),
    ("method.policies.json", "lenient", "SLV-C012"),
    ("method.judge_stage.strata.0", "applied", "SLV-C023"),
    ("method.judge_stage.ask.0", "everything", "SLV-C012"),
    ("method.answer.max_chars", 0, "SLV-C018"),
    ("method.plugins.0.version", 1, "SLV-C013"),
    ("method.trajectory.path_floor", "1.1", "SLV-C015"),
    ("verdict.integrity.binding_patterns.0", "constant_answer", "SLV-C048"),
    ("verdict.integrity.binding_patterns.0", "change_point", "SLV-C048"),
    ("repetitions.per_item", 0, "SLV-C018"),
    ("repetitions.aggregate", "best_of_k", "SLV-C012"),
    ("judge.panel", [], "SLV-C018"),
    ("judge.panel.0.snapshot", "modelo-j-latest", "SLV-J002"),
    ("judge.panel.0.snapshot", "modelo-j", "SLV-J002"),
    ("judge.panel.0.endpoint.url", "http://judge.example.org/", "SLV-C030"),
    ("judge.panel.0.parameters.temperature", "cero", "SLV-C014"),
    ("judge.votes", 2, "SLV-C012"),
    ("judge.calibration.min_per_class", 29, "SLV-C018"),
    ("judge.calibration.annotators", 3, "SLV-C012"),
    ("judge.rubric", {"name": "reglab@1", "digest": DIGEST}, "SLV-C044"),
    ("judge.criteria.0.threshold", "1.5", "SLV-C015"),
    ("metrics.0.id", "Exactitud", "SLV-C016"),
    ("metrics.1.id", "accuracy", "SLV-C026"),
    ("metrics.0.library", "acuracy@1", "SLV-C043"),
    ("metrics.0.severity", "obligatoria", "SLV-C012"),
    ("metrics.0.cluster.icc_floor", "20 %", "SLV-C014"),
    ("metrics.0.threshold", "1", "SLV-S001"),
    ("metrics.0.threshold", "85", "SLV-C015"),
    ("metrics.0.threshold", "0.9999", "SLV-S007"),
    ("metrics.0.decision.alpha_pass", "0.5", "SLV-S003"),
    ("metrics.0.decision.alpha_breach", "0", "SLV-S003"),
    ("metrics.0.decision.confidence", "1", "SLV-S003"),
    ("metrics.0.decision.rule", "guess", "SLV-C012"),
    ("metrics.0.count", {"verdicto": ["accurate"]}, "SLV-C024"),
    ("metrics.0.count", {"latency_ms": [1]}, "SLV-C024"),
    ("metrics.0.count", {"verdict": ["exacta"]}, "SLV-C025"),
    ("metrics.0.count", {"verdict": []}, "SLV-C025"),
    ("metrics.0.count", {"criteria": ["exacta"]}, "SLV-C025"),
    ("metrics.0.among", {"stratum": ["direct"], "class": ["answer"]}, "SLV-C032"),
    ("metrics.0.direction", "at_most", "SLV-C047"),
    ("metrics.1.direction", "por lo menos", "SLV-C012"),
    ("metrics.2.scale", ["1", "0"], "SLV-S010"),
    ("metrics.2.threshold", "1.2", "SLV-C018"),
    ("metrics.4.threshold", "3", "SLV-C018"),
    ("metrics.4.w_max", "400", "SLV-C012"),
    ("metrics.0.predicts.direction", "up", "SLV-C012"),
    ("failed_calls.vendor_failure.counts_as", "bounds", "SLV-C036"),
    ("failed_calls.refused.counts_as", {"excluded_up_to": 3}, "SLV-C036"),
    ("failed_calls.unresolved.counts_as", "incorrect", "SLV-C036"),
    ("failed_calls.engine_mismatch", {"counts_as": "bounds"}, "SLV-C011"),
    ("failed_calls.unresolved_max", "1 %", "SLV-C014"),
    ("failed_calls.maintenance.0.to", "2026-03-01T02:00:00Z", "SLV-C033"),
    ("verdict.combine", "any", "SLV-C012"),
    ("verdict.inconclusive", "pass", "SLV-C012"),
    ("verdict.inconclusive", {"retest": {"fresh": False}}, "SLV-C012"),
    ("verdict.inconclusive.extend.per_stratum", {"applied": 10}, "SLV-C023"),
    ("verdict.inconclusive.extend.spending", ["0.005"], "SLV-C010"),
    ("schedule.cadence", "3 meses", "SLV-C016"),
    ("schedule.window.to", "2026-02-01T00:00:00Z", "SLV-C033"),
    ("schedule.change_check.metrics.0", "acuracy", "SLV-C037"),
    ("remedies.currency", "pesos", "SLV-C016"),
    ("remedies.base_amount", 100000, "SLV-C013"),
    ("remedies.base_amount", "100.000,50", "SLV-C014"),
    ("remedies.allocation.accuracy", "0.9", "SLV-C037"),
    ("remedies.credits.0.share", "0.9", "SLV-C037"),
    ("remedies.credits.0.below", ..., "SLV-C037"),
    ("remedies.credits.1.metric", "error", "SLV-C037"),
    ("remedies.payer", "nobody", "SLV-C012"),
    ("disputes.max_upheld", "5", "SLV-C015"),
    ("disputes.window_days", "15 días", "SLV-C012"),
    ("confidentiality.publication", "all", "SLV-C012"),
    ("report.languages", [], "SLV-C018"),
    ("report.languages.0", "pt", "SLV-C012"),
    ("report.annex_recipients", {"Vendedora SA": "age1" + "q" * 58}, "SLV-C039"),
    ("report.annex_recipients", {"Árbitro": "AGE1xyz"}, "SLV-C016"),
    ("report.signature.level", "B-B", "SLV-C012"),
    ("report.signature.auditor_spki_sha256", "5" * 64, "SLV-C040"),
    ("report.signature.tsa_roots.0", "no es un certificado", "SLV-C016"),
    ("report.signature.tsa_urls.0", "ftp://tsa.example.org/", "SLV-C030"),
    ("report.signature.tsa_policy_oids.0", "1.2.", "SLV-C016"),
    ("report.signature.signatories", [], "SLV-C018"),
    ("report.signature.max_delay_s", "un mes", "SLV-C014"),
    ("ledger.vkey", "sin-llave", "SLV-C016"),
    ("ledger.quorum", 2, "SLV-C050"),
    ("ledger.quorum", 0, "SLV-C050"),
    ("ledger.run_budget", 0, "SLV-C018"),
    ("ledger.decides", "best", "SLV-C012"),
    ("ledger.blind", True, "SLV-C012"),
    ("ledger.beacon.chain_hash", "x", "SLV-C016"),
    ("ledger.alpha_leak", "-0.01", "SLV-C015"),
    ("ledgers", {}, "SLV-C011"),
]


def test_there_are_enough() -> None:
    assert len(MUTATIONS) > 150


@pytest.mark.parametrize(("path", "value", "code"), MUTATIONS, ids=[f"{m[0]}={m[1]!s:.20}" for m in MUTATIONS])
def test_one_fault_is_refused_at_its_place(path: str, value: object, code: str) -> None:
    text = dump_yaml(set_at(TREE, path, value))
    found = problems(text)
    assert code in {found_code for found_code, *_ in found}, [error.lines("en") for error in errors(text)]
    keys = tuple(int(part) if part.isdigit() else part for part in path.split("."))
    line, _ = read_yaml(text, "c.yaml").mark(keys, at_key=True)
    lines = [at for found_code, at, _ in found if found_code == code]
    # At the value itself, inside it, or (a missing partner) at the block around it.
    assert min(abs(at - line) for at in lines) <= 8 or code in WHERE_THE_OTHER_HALF_IS, (line, found)
    for error in errors(text):
        assert error.what.es != error.what.en or "`" in error.what.es
        assert error.exit_code == 2


WHERE_THE_OTHER_HALF_IS = {
    "SLV-J001",  # at the judge, not at the engine
    "SLV-K005",  # at the auditor or custodian
    "SLV-C022",  # the reserve is too large for a stratum
    "SLV-C020",  # the sum, not the summand
    "SLV-C050",
}
