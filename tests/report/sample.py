"""Bundles in memory, one per state of the verdict, with numbers computed by the definitions of the statistics.

They stand for what the other rooms write, so that the document can be tried in states that a run rarely reaches.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from functools import cache
from math import comb, sqrt

from slaverify.canonical import digest_of, jcs, jsonl, loads_jsonl, loads_object, real9

STATES = ("PASS", "BREACH", "INCONCLUSIVE", "NOT_MEASURED", "INVALID_RUN")
CLOSED_AT = "2026-09-03T14:05:09Z"
ORGANISATIONS = {
    "buyer": "Servicio Público Ejemplo",
    "vendor": "Proveedor RAG SpA",
    "auditor": "Auditora Independiente Ltda.",
    "custodian": "Archivo Neutral SpA",
}


class MemoryBundle:
    """A bundle whose files are in a dictionary."""

    def __init__(self, files: dict[str, bytes], withheld: tuple[str, ...] = ()) -> None:
        self.files = files
        self._withheld = withheld

    @property
    def manifest_bytes(self) -> bytes:
        return self.files["manifest.json"]

    @property
    def manifest(self):
        return loads_object(self.manifest_bytes)

    def read(self, path: str) -> bytes:
        return self.files[path]

    def records(self, path: str):
        return tuple(loads_jsonl(self.files[path]))

    def has(self, path: str) -> bool:
        return path in self.files

    def withheld(self, path: str) -> bool:
        return path in self._withheld

    def paths(self):
        return tuple(sorted(self.files))


@cache
def tail_at_most(f: int, n: int, p: Fraction) -> Fraction:
    return sum((comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(f + 1)), Fraction(0))


def exact(x: int, n: int) -> tuple[float, float]:
    from scipy.special import betaincinv

    low = 0.0 if x == 0 else float(betaincinv(x, n - x + 1, 0.025))
    high = 1.0 if x == n else float(betaincinv(x + 1, n - x, 0.975))
    return low, high


def wilson(x: int, n: int) -> tuple[float, float]:
    z, p = 1.959963984540054, x / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (0.0 if x == 0 else centre - half), (1.0 if x == n else centre + half)


def pair(bounds: tuple[float, float]) -> dict[str, str]:
    return {"low": real9(bounds[0]), "high": real9(bounds[1])}


def measured(metric, n, failures, *, stratum=None, state=None, by_reason=None, by_verdict=None, settle=None, kin=2):
    """Return an entry of results.json for counted successes and failures."""
    lower_is_better = metric["direction"] == "at_most"
    threshold = Fraction(metric["threshold"])
    promised = 1 - threshold if lower_is_better else threshold
    failing = 1 - promised
    at_most = tail_at_most(failures, n, failing)
    at_least = 1 - (tail_at_most(failures - 1, n, failing) if failures else 0)
    shown = failures if lower_is_better else n - failures
    numbers = {120: (5, 21), 150: (7, 25)}.get(n, (None, None)) if stratum is None else (None, None)
    decided = state
    if decided is None and stratum is None:
        decided = "PASS" if failures <= numbers[0] else "BREACH" if failures >= numbers[1] else "INCONCLUSIVE"
    zero = None
    if shown in (0, n):
        zero = real9(1 - 0.025 ** (1 / n))
    return {
        "id": metric["id"], "stratum": stratum, "kind": "rate", "unit": "answer",
        "direction": metric["direction"], "threshold": metric["threshold"], "rule": "guarded",
        "alpha_pass": "0.025", "alpha_breach": "0.025", "confidence": "0.95", "estimand": "population",
        "binding": stratum is None, "n": n, "x": n - failures, "failures": failures, "failures_vendor": 0,
        "unresolved": 0, "open": 0,
        "by_outcome": {"answered": n}, "by_verdict": by_verdict or {"accurate": n - failures, "incorrect": failures},
        "by_reason": by_reason or ({"other_value": failures} if failures else {}),
        "pass_max_failures": numbers[0], "breach_min_failures": numbers[1], "deff": None, "n_eff": None,
        "rate": real9(Fraction(shown, n)), "exact": pair(exact(shown, n)), "wilson": pair(wilson(shown, n)),
        "zero_bound": zero, "p_pass": real9(at_most), "p_breach": real9(at_least),
        "p_breach_adjusted": real9(min(Fraction(1), kin * at_least)) if stratum is None else None,
        "conformance_probability": "0.500000000", "risk_false_pass": "0.018000000",
        "risk_false_breach": "0.009000000", "power_at_margin": "0.780000000", "margin": "0.050",
        "provenance": "measured", "observations": n, "distinct_subjects": n, "required_subjects": 36,
        "dispersion": None, "state": decided, "reason": None, "settle": settle,
        "tipping": tipping(failures, numbers),
        "limitations": ["L08"],
    }  # fmt: skip


def tipping(failures, numbers):
    """Return how many verdicts lie between `failures` and each acceptance number (docs/spec/decision.md, section 4)."""
    passing, breaching = numbers
    to_pass = None if passing is None else max(0, failures - passing)
    to_breach = None if breaching is None else max(0, breaching - failures)
    if to_breach == 0:
        change = failures - breaching + 1
    elif to_pass == 0:
        change = passing - failures + 1
    else:
        change = min((count for count in (to_pass, to_breach) if count is not None), default=None)
    return {"to_pass": to_pass, "to_breach": to_breach, "to_change": change}


UNKNOWN = ("x", "failures", "rate", "exact", "wilson", "zero_bound", "p_pass", "p_breach", "p_breach_adjusted",
           "conformance_probability", "risk_false_pass", "risk_false_breach", "power_at_margin", "settle")  # fmt: skip


def unmeasured(metric, n, state, reason):
    """Return an entry of results.json for a metric that has no number."""
    entry = measured(metric, n, 0, state=state)
    for key in UNKNOWN:
        entry[key] = None
    return {
        **entry, "provenance": "not_measured", "observations": 0, "distinct_subjects": 0, "by_verdict": {},
        "by_reason": {}, "by_outcome": {"not_sent": n}, "state": state, "reason": reason,
        "tipping": {"to_pass": None, "to_breach": None, "to_change": None},
    }  # fmt: skip


def contract(**changes):
    """Return a frozen contract with every key that the report reads; `changes` replace dotted paths."""
    none = None
    tree = {
        "slaverify": "contract/1",
        "contract": {
            "id": "demo-norma-ficticia", "title": "Asistente sobre la Ordenanza 12 (ficticia)", "version": 1,
            "status": "frozen", "purpose": "audit", "supersedes": none,
            "parent_agreement": {"reference": "Contrato marco 14/2026", "clause": "9.2"},
            "locale": "es-CL", "prevailing_language": "es", "time_zone": "America/Santiago", "translations": ["en"],
            "effective": "2026-08-01T00:00:00-04:00", "expires": "2027-08-01T00:00:00-04:00",
            "governing_law": "Chile", "definitions": none, "day_kind": "calendar", "holidays": [],
        },
        "parties": {
            **{role: {"name": name, "legal_id": none, "contact": f"contacto@{role}.ejemplo", "keys": []}
               for role, name in ORGANISATIONS.items()},
            "author": {"name": "Auditora Independiente Ltda.", "legal_id": none, "contact": none, "keys": []},
            "judge_operator": none,
            "independence": {"payer": "Servicio Público Ejemplo", "interests": [], "plaintext_access": [],
                             "auditor_limits": none},
        },
        "scope": {
            "intended_purpose": "responder consultas de funcionarios sobre la Ordenanza 12", "languages": ["es-CL"],
            "in_scope": ["artículos vigentes"], "out_of_scope": ["jurisprudencia"], "exclusions": [],
            "corpus": {"name": "Ordenanza 12, 48 artículos", "digest": "sha256:" + "1" * 64, "as_of": "2026-08-13",
                       "size": 48},
            "catalogue": none,
        },
        "limitations": [{"es": "La Ordenanza 12 es ficticia.", "en": "Ordinance 12 is fictional."}],
        "engine": {"name": "asistente-norma", "version": "4.2.1", "accepted_echoes": ["4.2.1"],
                   "attestation": [{"kind": "response_path", "path": "$.engine.version"}],
                   "on_missing": "limitation", "on_mismatch": "invalid_run", "family": "familia-a",
                   "base_families": ["familia-a"], "change_notice_days": 10, "split_on_drift": False},
        "endpoint": {"adapter": "json_http@1", "url": "https://api.ejemplo.cl/v1/consulta", "method": "POST",
                     "control_urls": [], "call": {"attempts": 3, "total_timeout_s": "60", "concurrency": 4,
                                                  "paid_by": "auditor"}},
        "evaluation_set": {
            "bank_digest": "sha256:" + "2" * 64, "size": 300, "strata": {"direct": 240, "out_of_corpus": 60},
            "sample": {"method": "seeded", "per_stratum": {"direct": 120, "out_of_corpus": 30}, "reserve": 0,
                       "release": "after_run", "arms": {"anchor": 0, "twin": 0, "probe": 0}},
            "weights": none, "estimand": "population", "exposure": "fresh",
            "frame": {"population": "consultas escritas por funcionarios", "source": "written",
                      "period": "2026-07", "selection": "una por artículo, sin consultar ningún motor"},
        },
        "method": {"profile": "qa@1", "rules": {"direct": ["number@1", "entity@1"], "out_of_corpus": ["none@1"]},
                   "normaliser": "es-legal@1", "abstention": ["abstain-es@1"], "citation_grammar": none,
                   "verdict_table": "plain@1", "judge_stage": {"strata": [], "ask": []},
                   "answer": {"max_chars": 20000, "language": "es-CL", "citations_max": 50}},
        "repetitions": {"per_item": 1, "aggregate": "each_call", "dispersion_sample": none},
        "judge": none,
        "metrics": METRICS,
        "failed_calls": {"vendor_failure": {"counts_as": "incorrect"}, "unresolved_max": "0.01",
                         "missing_cap": "0.05", "maintenance": [], "maintenance_notice_hours": 72},
        "verdict": {"combine": "all_binding", "multiplicity": "holm", "inconclusive": {"withhold": True},
                    "early_stop": none},
        "schedule": {"cadence": "P3M", "triggers": ["engine_change"], "notice_days": 5},
        "remedies": {"currency": "CLP", "base_amount": "12000000", "at_risk": "0.10", "cap": "0.10",
                     "credits": [], "cure_days": 20, "retest": True, "payer": "vendor"},
        "disputes": {"window_days": 15, "disclosure": [], "adjudicator": none, "retention_days": 1825,
                     "max_upheld": "0.05"},
        "confidentiality": {"publication": "none"},
        "report": {"languages": ["es", "en"], "disclosure": "public",
                   "annexes": ["items", "glossary", "correspondence", "custody_checklist"],
                   "reply_days": 5, "references": [], "annex_recipients": {},
                   "signature": {"level": "B-T", "auditor_spki_sha256": "3" * 64, "auditor_roots": [],
                                 "tsa_urls": ["https://tsa.ejemplo.cl"], "tsa_roots": [], "tsa_policy_oids": [],
                                 "signatories": ["Ana Rojas Pérez"]}},
        "ledger": {"origin": "archivo/ledger/0011223344556677", "vkey": "archivo+00000000+AAAA", "witnesses": [],
                   "quorum": 0, "start_anchor": "timestamp", "run_budget": 2, "decides": "first_complete",
                   "deadline_hours": 72},
    }  # fmt: skip
    for path, value in changes.items():
        node = tree
        *parents, last = path.split(".")
        for key in parents:
            node = node[int(key)] if key.isdigit() else node[key]
        node[last] = value
    return tree


METRICS = [
    {"id": "accuracy", "name": {"es": "Exactitud", "en": "Accuracy"}, "library": "accuracy@1", "severity": "binding",
     "unit": "answer", "kind": "rate", "count": {"verdict": ["accurate"]}, "among": {"stratum": ["direct"]},
     "direction": "at_least", "threshold": "0.90", "estimand": "population", "cluster": None, "predicts": None,
     "margin": "0.05", "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025",
                                    "confidence": "0.95"},
     "derived": {"n": 120, "pass_max_failures": 5, "breach_min_failures": 21}},
    {"id": "hallucination", "name": {"es": "Alucinación", "en": "Hallucination"}, "library": None,
     "severity": "binding", "unit": "answer", "kind": "rate",
     "count": {"verdict": ["incorrect", "misgrounded", "phantom_citation", "fabrication"]},
     "among": {"stratum": ["direct", "out_of_corpus"]}, "direction": "at_most", "threshold": "0.10",
     "estimand": "population", "cluster": None, "predicts": None, "margin": "0.05",
     "decision": {"rule": "guarded", "alpha_pass": "0.025", "alpha_breach": "0.025", "confidence": "0.95"},
     "derived": {"n": 150, "pass_max_failures": 7, "breach_min_failures": 25}},
]  # fmt: skip

FAILURES = {"PASS": (3, 1), "BREACH": (34, 22), "INCONCLUSIVE": (10, 9), "NOT_MEASURED": (2, 0)}


def results(state):
    accuracy, hallucination = METRICS
    if state == "INVALID_RUN":
        entries = [
            unmeasured(metric, n, "INVALID_RUN", "run_invalid") for metric, n in zip(METRICS, (120, 150), strict=True)
        ]
        run = {"valid": False, "reason": "engine_version", "judge_drift": False, "provenance": "measured"}
        return {"type": "slaverify/results/1", "run": run, "metrics": entries, "strata": []}
    wrong, invented = FAILURES[state]
    settle = {"n": 2310, "additional": 2190, "direction": "PASS", "power": "0.8", "at_rate": "0.916666667"}
    first = measured(accuracy, 120, wrong, settle=settle if state == "INCONCLUSIVE" else None,
                     by_reason={"other_value": max(wrong - 2, 0), "other_unit": min(wrong, 2)})  # fmt: skip
    second_settle = {"n": 480, "additional": 330, "direction": "PASS", "power": "0.8", "at_rate": "0.060000000"}
    second = measured(hallucination, 150, invented, settle=second_settle if state == "INCONCLUSIVE" else None)
    if state == "NOT_MEASURED":
        first = unmeasured(accuracy, 120, "NOT_MEASURED", "no_observations")
    strata = []
    if state != "NOT_MEASURED":
        strata.append(measured(accuracy, 120, wrong, stratum="direct"))
        inside = max(invented - 1, 0)
        strata.append(measured(hallucination, 120, inside, stratum="direct"))
        strata.append(measured(hallucination, 30, invented - inside, stratum="out_of_corpus"))
    run = {"valid": True, "reason": None, "judge_drift": False, "provenance": "measured"}
    return {"type": "slaverify/results/1", "run": run, "metrics": [first, second], "strata": strata}


DECISION_KEYS = ("id", "state", "reason", "rule", "n", "failures", "failures_vendor", "unresolved", "open",
                 "pass_max_failures", "breach_min_failures", "p_pass", "p_breach", "p_breach_adjusted",
                 "binding")  # fmt: skip


def decision(state, found):
    return {
        "type": "slaverify/decision/1",
        "state": state,
        "metrics": [{key: entry[key] for key in DECISION_KEYS} for entry in found["metrics"]],
        "remedies": None,
    }


def scores(state):
    wrong = FAILURES.get(state, (0, 0))[0]
    lines = []
    for number in range(150):
        stratum = "direct" if number < 120 else "out_of_corpus"
        correct = number >= wrong
        verdict = ("accurate" if correct else "incorrect") if stratum == "direct" else "abstention"
        outcome, answered = ("answered", True) if state != "INVALID_RUN" or number < 40 else ("not_sent", False)
        if state == "NOT_MEASURED" and stratum == "direct":
            outcome, answered = "not_sent", False
        lines.append({
            "type": "slaverify/score/1", "item_id": f"it-{hashlib.sha256(str(number).encode()).hexdigest()[:12]}",
            "repetition": 0, "side": "current", "stratum": stratum, "cluster": None, "run_outcome": outcome,
            "outcome": outcome, "class": ("answer" if stratum == "direct" else "abstention") if answered else None,
            "abstention": "necessary" if answered and stratum != "direct" else None,
            "correctness": ("correct" if correct else "incorrect") if answered and stratum == "direct"
            else "no_answer", "grounding": "not_applicable", "verdict": verdict if answered else None,
            "rules": [{"rule": "number@1", "status": "decided", "correctness": "correct" if correct else "incorrect",
                       "reason": "equal" if correct else "other_value", "flags": []}] if answered else [],
            "citations": {"claimed": 0, "phantom": 0, "expected_hit": 0}, "criteria": {}, "bounds": None,
            "value": None, "errors": None, "weight": None, "state": None, "flags": [], "events": [],
            "decided_by": "rule" if answered else None,
            "answer_mac": hashlib.sha256(f"a{number}".encode()).hexdigest() if answered else None,
            "latency_ms": 210 + number if answered else None, "attempts": 1 if outcome != "not_sent" else 0,
        })  # fmt: skip
    return sorted(lines, key=lambda line: line["item_id"])


def outcomes(state, scored):
    lines = []
    for number, score in enumerate(scored):
        if score["attempts"] == 0:
            continue
        echo = "4.3.0" if state == "INVALID_RUN" and number % 7 == 3 else "4.2.1"
        lines.append({
            "item_id": score["item_id"], "repetition": 0, "side": "current", "turn": 0, "attempt": 1, "batch": 1,
            "started_at": f"2026-09-03T13:{10 + number // 10:02d}:{number % 60:02d}.120Z",
            "ended_at": f"2026-09-03T13:{10 + number // 10:02d}:{number % 60:02d}.480Z", "first_byte_ms": 100,
            "last_byte_ms": 210, "status": 200, "fault": None, "flags": [],
            "outcome": "engine_mismatch" if echo != "4.2.1" else "answered", "attribution": "vendor",
            "trace_sha256": "4" * 64, "request_size": 512, "response_size": 768, "request_mac": "5" * 64,
            "response_mac": "6" * 64, "engine_version": echo,
        })  # fmt: skip
    return lines


def ledger(state):
    def entry(seq, kind, time, **data):
        return {"v": 1, "seq": seq, "type": kind, "actor": "7" * 64, "time": time, "clock_offset_ms": 12,
                "prev": "8" * 64, "data": data, "sigs": [{"key": "7" * 64, "sig": "AA=="}]}  # fmt: skip

    run = {"run": 1}
    ended = "run_aborted" if state == "INVALID_RUN" else "run_ended"
    return [
        entry(0, "genesis", "2026-08-20T12:00:00Z", origin="archivo/ledger/0011223344556677"),
        entry(1, "key_added", "2026-08-20T12:00:05Z"),
        entry(2, "bank_sealed", "2026-08-20T12:10:00Z", n=300),
        entry(3, "contract_registered", "2026-09-01T09:00:00Z"),
        entry(4, "run_opened", "2026-09-03T13:00:00Z", **run, purpose="sla"),
        entry(5, "draw", "2026-09-03T13:00:10Z", **run),
        entry(6, "delivery", "2026-09-03T13:00:30Z", **run, part="query"),
        entry(7, "run_started", "2026-09-03T13:05:00Z", **run),
        entry(8, "batch", "2026-09-03T13:20:00Z", **run, number=1),
        entry(9, ended, "2026-09-03T13:40:00Z", **run, reason="complete"),
        entry(10, "delivery", "2026-09-03T13:41:00Z", **run, part="reference"),
        entry(11, "scored", CLOSED_AT, **run),
    ]  # fmt: skip


def files(state, limitations=None, **changes):
    """Return the files of a bundle in `state`; `limitations` replace the sample's, `changes` paths of the contract."""
    found = results(state)
    scored = scores(state)
    declared = LIMITATIONS if limitations is None else limitations
    agreed = contract(**changes)
    contract_digest = digest_of(jcs(agreed))
    run_id = contract_digest.removeprefix("sha256:")[:12] + "-0001"
    sample = {}
    for line in scored:
        sample.setdefault(line["stratum"], []).append(line["item_id"])
    out = {
        "contract/contract.json": jcs(agreed),
        "custody/bank_manifest.json": jcs({
            "type": "slaverify/manifest", "v": 1, "bank_id": "demo-ordenanza", "name": "Ordenanza 12 (ficticia)",
            "created": "2026-08-20", "n": 300, "strata": {"direct": 240, "out_of_corpus": 60}, "root": "9" * 64,
            "index_sha256": "a" * 64, "ciphertext_sha256": "b" * 64, "package_sha256": "c" * 64,
            "format": "age-encryption.org/v1", "recipients": [], "recovery": None, "item_schema_sha256": "d" * 64,
            "author": "Auditora Independiente Ltda.", "custodian": "Archivo Neutral SpA", "funding": "",
            "plaintext_access": [], "limits": "", "replaces": None,
        }),
        "custody/ledger.jsonl": jsonl(ledger(state)),
        "custody/draw.json": jcs({
            "type": "slaverify/draw/1", "run": 1, "method": "seeded", "seed": "e" * 64, "beacon": None, "at_size": 5,
            "n_per_stratum": {"direct": 120, "out_of_corpus": 30},
            "reserve_per_stratum": {"direct": 0, "out_of_corpus": 0}, "sample": sample, "reserve": {},
            "sample_sha256": "f" * 64,
        }),
        "custody/exposure.json": jcs({
            "type": "slaverify/exposure/1", "vendor_group": "Proveedor RAG SpA",
            "states": {"unused": 150, "drawn": 0, "sent": 150, "disclosed": 0},
            "eligible": {"direct": 120, "out_of_corpus": 30}, "remaining_audits": 1, "at_size": 12,
        }),
        "run/plan.json": jcs({"type": "slaverify/plan/1"}),
        "run/outcomes.jsonl": jsonl(outcomes(state, scored)),
        "run/signals.json": jcs({"type": "slaverify/signals/1", "run_id": run_id, "signals": []}),
        "scoring/scores.jsonl": jsonl(scored),
        "statistics/results.json": jcs(found),
        "decision/decision.json": jcs(decision(state, found)),
        "decision/limitations.json": jcs({"type": "slaverify/limitations/1", "items": declared}),
        "environment/environment.json": jcs({
            "type": "slaverify/environment/1", "harness_version": "0.1.0", "lock_sha256": "0" * 64,
            "python": "3.11.9", "os": "Linux 6.1", "machine": "x86_64", "cldr": "47", "unicode": "14.0.0",
            "sqlite": "3.40.1", "clock_offset_ms": 12, "packages": {"scipy": "1.17.1"},
        }),
    }  # fmt: skip
    out["manifest.json"] = jcs({
        "type": "slaverify/bundle/1", "bundle_id": f"{agreed['contract']['id']}.1",
        "contract_id": agreed["contract"]["id"],
        "contract_digest": contract_digest, "bank_digest": agreed["evaluation_set"]["bank_digest"],
        "method_digest": "sha256:" + "4" * 64, "run_id": run_id, "run_number": 1, "closed_at": CLOSED_AT,
        "ledger": {"origin": "archivo/ledger/0011223344556677", "size": 12, "root": "5" * 64},
        "tool": {"name": "slaverify", "version": "0.1.0", "lock_sha256": "0" * 64},
        "files": [{"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(),
                   "media_type": "application/json", "disclosure": "public", "records": None}
                  for path, data in sorted(out.items())],
        "annex": None,
    })  # fmt: skip
    return out


LIMITATIONS = [
    {"code": code, "args": args}
    for code, args in (
        ("L02", {"purpose": "responder consultas de funcionarios sobre la Ordenanza 12",
                 "strata": ["direct", "out_of_corpus"], "corpus": "Ordenanza 12, 48 artículos",
                 "as_of": "2026-08-13"}),
        ("L03", {"repetitions": 1, "icc": None}),
        ("L04", {"metrics": ["accuracy", "hallucination"],
                 "uncovered": ["latency", "cost", "security", "injection", "isolation", "personal_data"]}),
        ("L05", {"detectors": ["abstain-es@1"], "abstentions": 30, "reviewed": 0}),
        ("L06", {"catalogue": False}),
        ("L08", {"population": ["accuracy", "hallucination"], "bank": [],
                 "frame": "consultas escritas por funcionarios", "bank_size": 300}),
        ("L09", {"unreviewed": None, "disputed": 0, "state_for": None, "state_against": None}),
        ("L12", {"metrics": [{"id": "accuracy", "margin": "0.050000000", "power_pass": "0.584120000",
                              "power_breach": "0.391200000", "shortfall": "0.098000000"}]}),
        ("L15", {"answers": 150, "echoes": 150, "attested": 0, "on_missing": "limitation"}),
        ("L16", {}),
        ("L17", {"reused": 0, "fresh_left": 150, "audits_left": 1, "no_training": None}),
        ("L20", {"witnesses": 0, "timestamps": 1, "beacon": False, "draw": "seeded", "anchor": "timestamp",
                 "custodian_is_auditor": False}),
        ("L21", {"recipients": []}),
        ("L23", {"auditor": "Auditora Independiente Ltda."}),
        ("L24", {"level": "B-T", "self_signed": True, "demo": False}),
        ("L25", {"unsigned": [], "limits": None, "payer": "Servicio Público Ejemplo"}),
        ("L27", {"metrics": ["accuracy", "hallucination"]}),
    )
]  # fmt: skip


def bundle(state, limitations=None, **changes) -> MemoryBundle:
    return MemoryBundle(files(state, limitations, **changes))


def marked() -> list:
    """Return limitations of a demonstration whose vendor did not sign."""
    changed = {"L24": {"level": "B-T", "self_signed": True, "demo": True},
               "L25": {"unsigned": ["vendor"], "limits": None, "payer": None}}  # fmt: skip
    return [{"code": item["code"], "args": changed.get(item["code"], item["args"])} for item in LIMITATIONS]
