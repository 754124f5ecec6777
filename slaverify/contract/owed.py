"""What to ask a party for each value that a draft may leave to it: one plain sentence and one example."""

from __future__ import annotations

import json

from pydantic import BaseModel

from slaverify.contract.findings import Path, dotted
from slaverify.contract.shape import field_at, known_keys
from slaverify.errors import Text

_QUESTIONS: dict[str, tuple[Text, str]] = {
    "parties.buyer": (
        Text("Quién compra: razón social e identificador legal", "Who buys: legal name and identifier"),
        'buyer: {name: Municipalidad de Ejemplo, legal_id: "69.000.001-6"}',
    ),
    "parties.vendor": (
        Text(
            "Quién presta el servicio: razón social, identificador y grupo de empresas relacionadas",
            "Who provides the service: legal name, identifier and group of affiliates",
        ),
        'vendor: {name: Proveedor SpA, legal_id: "76.000.001-9"}',
    ),
    "parties.auditor": (
        Text(
            "Quién audita, y su llave de firma (`slaverify keys new --role auditor` la imprime)",
            "Who audits, and its signing key (`slaverify keys new --role auditor` prints it)",
        ),
        'auditor: {name: Auditora Ltda., keys: [{spki_sha256: "…64 hex…"}]}',
    ),
    "parties.custodian": (
        Text("Quién guarda el banco secreto; nunca el proveedor", "Who keeps the secret bank; never the vendor"),
        "custodian: {name: Auditora Ltda.}",
    ),
    "parties.judge_operator": (
        Text("Quién opera el juez", "Who runs the judge"),
        "judge_operator: {name: Auditora Ltda.}",
    ),
    "engine": (
        Text(
            "Nombre y versión exacta del motor, y los textos de versión que sus respuestas declaran",
            "Name and exact version of the engine, and the version texts that its responses declare",
        ),
        'engine: {name: LexIA, version: "4.2.1", accepted_echoes: ["4.2.1"], on_missing: limitation}',
    ),
    "engine.version": (
        Text("La versión exacta que declara el motor, nunca «latest»", "The exact version, never `latest`"),
        'version: "4.2.1"',
    ),
    "endpoint": (
        Text(
            "Dirección del servicio, forma de la petición y dónde viene la respuesta",
            "Address of the service, form of the request and where the answer stands",
        ),
        (
            "endpoint: {adapter: json_http@1, url: https://api.ejemplo.cl/v1/consulta, request: {query: ${query}}, "
            "response: {answer: $.answer}, public_probe: {query: ¿En qué idioma responde?}}"
        ),
    ),
    "endpoint.url": (
        Text("Dirección https del servicio", "https address of the service"),
        "url: https://api.ejemplo.cl/v1",
    ),
    "endpoint.public_probe": (
        Text("Una pregunta pública e inofensiva para probar la conexión", "A harmless public question as a first test"),
        "public_probe: {query: ¿En qué idioma responde?}",
    ),
    "evaluation_set.bank_digest": (
        Text(
            "Digest del banco ya sellado (`slaverify custody seal` lo imprime)",
            "Digest of the sealed bank (`slaverify custody seal` prints it)",
        ),
        "bank_digest: sha256:…64 hex…",
    ),
    "judge": (
        Text(
            "Juez independiente: modelo fijado por fecha, rúbrica y centinelas",
            "Independent judge: a model pinned by date, rubric and sentinels",
        ),
        "judge: {panel: […], rubric: {name: reglab@1, digest: …}, aggregation: single, sentinels: {digest: …}}",
    ),
    "report": (
        Text(
            "Idiomas del informe, llave que lo firma, autoridad de sellado de tiempo y quién lo autoriza",
            "Languages of the report, key that signs it, timestamp authority and who authorises it",
        ),
        (
            "report: {languages: [es], signature: {auditor_spki_sha256: …, tsa_urls: […], tsa_roots: […], "
            "signatories: [Ana Pérez]}}"
        ),
    ),
    "report.signature": (
        Text(
            "Llave que firma el informe y autoridad de sellado (`slaverify keys tsa URL` imprime sus líneas)",
            "Key that signs the report and timestamp authority (`slaverify keys tsa URL` prints its lines)",
        ),
        "signature: {auditor_spki_sha256: …, tsa_urls: […], tsa_roots: […], signatories: [Ana Pérez]}",
    ),
    "ledger": (
        Text(
            "Origen y llave del registro de custodia (`slaverify custody seal` los imprime)",
            "Origin and key of the custody ledger (`slaverify custody seal` prints them)",
        ),
        "ledger: {origin: Auditora/ledger/1f2e3d4c, vkey: …, run_budget: 1}",
    ),
}


def asked_for(path: Path) -> tuple[Text, str]:
    """Return what to ask for the value at `path`, and one example as it would be written."""
    name = dotted(path)
    found = _QUESTIONS.get(name)
    if found is not None:
        return found
    field, keys = field_at(path), known_keys(path)
    meaning = field.description if field is not None and field.description else name
    inside = f" ({', '.join(keys[:8])})" if keys else ""
    question = Text(f"Complete `{name}`{inside}", f"{meaning}{inside}")
    example = field.examples[0] if field is not None and field.examples else None
    if example is None or isinstance(example, BaseModel):
        return question, f"{path[-1] if path else name}: …"
    return question, f"{path[-1]}: {json.dumps(example, ensure_ascii=False)}"
