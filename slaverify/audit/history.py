"""The public history of a contract: one line a run, append-only, each naming the digest of the one before.

Source: docs/spec/report.md (frozen history).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from slaverify.canonical import JsonObject, JsonValue, jcs, loads_jsonl, sha256_hex
from slaverify.contract import LoadedContract
from slaverify.evidence import Bundle

TYPE = "slaverify/history/1"


def history_line(path: Path, bundle: Bundle, contract: LoadedContract, report_id: str, signed_digest: str) -> bytes:
    """Return the line of this run, appended now unless the history has one of the same bundle.

    The other language of a report has the line of the first. Raises: StrictJsonError for a history that was edited.
    """
    data = path.read_bytes() if path.is_file() else b""
    # A last line without LF is a torn write that no ledger entry knows of.
    whole = data[: data.rfind(b"\n") + 1]
    lines = loads_jsonl(whole)
    for raw, line in zip(whole.splitlines(), lines, strict=True):
        if line.get("bundle_digest") == bundle.digest:
            return raw
    previous = whole.splitlines()[-1] if lines else b""
    new = jcs(_line(len(lines), previous, bundle, contract, report_id, signed_digest))
    _append(path, len(whole), new + b"\n")
    return new


def _line(
    seq: int, previous: bytes, bundle: Bundle, contract: LoadedContract, report_id: str, signed_digest: str
) -> JsonObject:
    assert bundle.manifest is not None  # noqa: S101 - the evidence is closed
    header, model = bundle.manifest.header, contract.model
    results, decision = bundle.json("statistics/results.json"), bundle.json("decision/decision.json")
    times = [str(line["started_at"]) for line in bundle.lines("run/outcomes.jsonl") if line.get("started_at")]
    corpus = model.scope.corpus
    return {
        "type": TYPE,
        "seq": seq,
        "prev_sha256": sha256_hex(previous) if previous else None,
        "report_id": report_id,
        "amends": None,
        "contract_digest": header.contract_digest,
        "bank_digest": header.bank_digest,
        "method_digest": header.method_digest,
        "engine_version": model.engine.version,
        "corpus_as_of": None if corpus is None or corpus.as_of is None else str(corpus.as_of),
        "corpus_size": None if corpus is None else corpus.size,
        "measured_from": min(times, default=None),
        "measured_to": max(times, default=None),
        "issued_at": header.closed_at,
        "metrics": [_metric(entry) for entry in _list(results.get("metrics"))],
        "judge": None,
        "state": decision["state"],
        "bundle_digest": bundle.digest,
        "signed_digest": signed_digest,
    }


def _metric(entry: Mapping[str, JsonValue]) -> JsonObject:
    return {
        "id": entry.get("id"),
        "x": entry.get("x"),
        "n": entry.get("n"),
        "interval": entry.get("exact"),
        "threshold": entry.get("threshold"),
        "state": entry.get("state"),
    }


def _list(value: JsonValue) -> list[Mapping[str, JsonValue]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _append(path: Path, size: int, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(size)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
