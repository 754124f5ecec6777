"""A small contract and score records to decide on."""

from __future__ import annotations

import json
from copy import deepcopy

from slaverify.contract import Contract

DIGEST = "sha256:" + "a" * 64
HEX = "b" * 64

BASE: dict[str, object] = {
    "slaverify": "contract/1",
    "contract": {
        "id": "prueba-decision",
        "title": "Prueba",
        "version": 1,
        "status": "draft",
        "locale": "es-CL",
        "prevailing_language": "es",
        "time_zone": "America/Santiago",
    },
    "parties": {
        "buyer": {"name": "Servicio"},
        "vendor": {"name": "Proveedor"},
        "auditor": {"name": "Auditora"},
        "custodian": {"name": "Custodia"},
    },
    "scope": {"intended_purpose": "Responder consultas"},
    "engine": {
        "name": "Motor",
        "version": "1.0.0",
        "accepted_echoes": ["1.0.0"],
        "on_missing": "limitation",
    },
    "endpoint": {
        "adapter": "json_http@1",
        "url": "https://motor.example/consulta",
        "request": {"q": "${query}"},
        "response": {"answer": "$.answer"},
        "public_probe": {"query": "¿Hola?"},
    },
    "evaluation_set": {
        "bank_digest": DIGEST,
        "size": 300,
        "strata": {"direct": 240, "out_of_corpus": 60},
        "sample": {"method": "seeded", "per_stratum": {"direct": 120, "out_of_corpus": 30}},
        "frame": {"population": "Consultas", "source": "written", "selection": "Escritas a mano"},
    },
    "method": {"profile": "qa@1"},
    "repetitions": {},
    "metrics": [],
    "failed_calls": {},
    "verdict": {"inconclusive": "withhold"},
    "report": {
        "languages": ["es", "en"],
        "signature": {"auditor_spki_sha256": HEX, "signatories": ["Alguien"]},
    },
    "ledger": {"origin": "Auditora/ledger/1", "run_budget": 1, "vkey": "Auditora+0011aabb+" + "A" * 44},
}

ACCURACY: dict[str, object] = {
    "id": "accuracy",
    "name": {"es": "Exactitud", "en": "Accuracy"},
    "kind": "rate",
    "count": {"verdict": ["accurate"]},
    "among": {"stratum": ["direct"]},
    "direction": "at_least",
    "threshold": "0.90",
    "decision": {},
}
HALLUCINATION: dict[str, object] = {
    "id": "hallucination",
    "name": {"es": "Alucinación", "en": "Hallucination"},
    "kind": "rate",
    "count": {"verdict": ["incorrect", "misgrounded", "phantom_citation", "fabrication"]},
    "among": {"stratum": ["direct", "out_of_corpus"]},
    "direction": "at_most",
    "threshold": "0.10",
    "decision": {},
}


def merged(tree: dict, changes: dict) -> dict:
    out = deepcopy(tree)
    for key, value in changes.items():
        old = out.get(key)
        out[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else deepcopy(value)
    return out


def build(metrics: list[dict], **changes: object) -> Contract:
    return Contract.model_validate_json(json.dumps(merged({**BASE, "metrics": metrics}, changes)))


def record(number: int, stratum: str = "direct", **changes: object) -> dict:
    base = {
        "type": "slaverify/score/1",
        "item_id": f"i-{number:06d}",
        "repetition": 0,
        "side": "current",
        "stratum": stratum,
        "cluster": None,
        "run_outcome": "answered",
        "outcome": "answered",
        "class": "answer",
        "abstention": None,
        "correctness": "correct",
        "grounding": "not_applicable",
        "verdict": "accurate",
        "rules": [],
        "citations": {"claimed": 0, "phantom": 0, "expected_hit": 0},
        "criteria": {},
        "bounds": None,
        "value": None,
        "errors": None,
        "weight": None,
        "state": None,
        "flags": [],
        "events": [],
        "decided_by": "rule",
        "answer_mac": None,
        "latency_ms": 900,
        "attempts": 1,
    }
    if changes.get("outcome") not in (None, "answered"):
        base |= {"run_outcome": changes["outcome"], "verdict": None, "class": None, "correctness": "no_answer"}
    return {**base, **changes}


WRONG = {"verdict": "incorrect", "correctness": "incorrect"}
TIMED_OUT = {"outcome": "vendor_failure"}


def run(wrong: int = 0, *, direct: int = 120, other: int = 30, **of_wrong: object) -> list[dict]:
    """A run of the demo's size in which the first `wrong` items of `direct` went otherwise."""
    changes = of_wrong or WRONG
    first = [record(i, **(changes if i < wrong else {})) for i in range(direct)]
    rest = [record(1000 + i, "out_of_corpus", verdict="abstention", abstention="necessary") for i in range(other)]
    return [*first, *rest]


JUDGE: dict = {
    "engine": {"family": "motor", "base_families": ["motor"]},
    "judge": {
        "panel": [
            {
                "id": "uno",
                "provider": "Proveedor de modelos",
                "family": "otra",
                "snapshot": "2025-01-01",
                "endpoint": {"url": "https://juez.example/v1"},
                "adapter": "openai_chat@1",
                "expected_model_echo": "juez-2025-01-01",
                "context_tokens": 8000,
            }
        ],
        "rubric": {"name": "reglab@1", "digest": DIGEST},
        "aggregation": "single",
        "sentinels": {"digest": DIGEST},
    },
}
