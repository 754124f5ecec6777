"""The public history of a contract: one line a run, append-only, each naming the digest of the one before.

Source: docs/spec/report.md (frozen history).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from slaverify.canonical import JsonObject, JsonValue, digest_of, jcs, sha256_hex
from slaverify.contract import LoadedContract, method_digest
from slaverify.custody import LedgerView
from slaverify.evidence import AMENDMENT, CALIBRATION, Bundle, calibration_facts
from slaverify.report.history import TYPE, read_history, started_without_line


def history_line(
    path: Path, bundle: Bundle, contract: LoadedContract, view: LedgerView, report_id: str, signed_digest: str
) -> bytes:
    """Return the line of this report, appended now unless the history has one of the same bundle.

    The other language of a report has the line of the first. Runs that were started before and published nothing get
    their line first. Raises: ReportError SLV-R040, SLV-R041 for a history that was edited.
    """
    data = path.read_bytes() if path.is_file() else b""
    # A last line without LF is a torn write that no ledger entry knows of.
    whole = data[: data.rfind(b"\n") + 1]
    lines = read_history(whole)
    for line in lines:
        if line.tree["bundle_digest"] == bundle.digest:
            return line.raw
    assert bundle.manifest is not None  # noqa: S101 - the evidence is closed
    rows = [line.raw for line in lines]
    for number in started_without_line(view, contract.digest, lines, bundle.manifest.header.run_number):
        rows.append(_row(rows, _unpublished(contract, view, number)))
    rows.append(_row(rows, _published(bundle, contract, report_id, signed_digest)))
    _append(path, len(whole), b"".join(row + b"\n" for row in rows[len(lines) :]))
    return rows[-1]


def _row(rows: list[bytes], tree: JsonObject) -> bytes:
    return jcs({**tree, "seq": len(rows), "prev_sha256": sha256_hex(rows[-1]) if rows else None})


def _base(contract: LoadedContract) -> dict[str, JsonValue]:
    model = contract.model
    corpus = model.scope.corpus
    return {
        "type": TYPE,
        "contract_digest": contract.digest,
        "bank_digest": model.evaluation_set.bank_digest,
        "method_digest": method_digest(contract.tree),
        "engine_version": model.engine.version,
        "corpus_as_of": None if corpus is None or corpus.as_of is None else str(corpus.as_of),
        "corpus_size": None if corpus is None else corpus.size,
    }


def _unpublished(contract: LoadedContract, view: LedgerView, number: int) -> JsonObject:
    """Return the line of a run that was started and never published: aborted, or abandoned."""
    run = view.run(contract.digest, number)
    started = None if run is None or run.started is None else run.started.time
    ended = None if run is None or run.terminal is None else run.terminal.time
    empty = ("amends", "judge", "state", "bundle_digest", "signed_digest")
    return {
        **_base(contract),
        **dict.fromkeys(empty),
        "report_id": f"{contract.model.contract.id}.{number}",
        "measured_from": started,
        "measured_to": ended,
        "issued_at": None,
        "metrics": [],
    }


def _published(bundle: Bundle, contract: LoadedContract, report_id: str, signed_digest: str) -> JsonObject:
    assert bundle.manifest is not None  # noqa: S101 - the evidence is closed
    header = bundle.manifest.header
    results, decision = bundle.json("statistics/results.json"), bundle.json("decision/decision.json")
    times = [str(line["started_at"]) for line in bundle.lines("run/outcomes.jsonl") if line.get("started_at")]
    amendment = bundle.json(AMENDMENT) if bundle.has(AMENDMENT) else None
    states = {str(row["id"]): row.get("state") for row in _list(decision.get("metrics"))}
    return {
        **_base(contract),
        "report_id": report_id,
        "amends": None if amendment is None else {key: amendment[key] for key in ("report_id", "signed_digest")},
        "measured_from": min(times, default=None),
        "measured_to": max(times, default=None),
        "issued_at": header.closed_at,
        "metrics": [_metric(entry, states) for entry in _list(results.get("metrics"))],
        "judge": _judge(bundle, contract),
        "state": decision["state"],
        "bundle_digest": bundle.digest,
        "signed_digest": signed_digest,
    }


def _judge(bundle: Bundle, contract: LoadedContract) -> JsonObject | None:
    """Return who judged (digest of the agreed judge) and how well it agreed with people; None without a judge.

    Of several criteria it is the one that they agree on least; nothing but a count of 0 where nobody read anything.
    """
    if contract.model.judge is None:
        return None
    said = calibration_facts(bundle.json(CALIBRATION))[0] if bundle.has(CALIBRATION) else None
    return {
        "digest": digest_of(jcs(contract.tree["judge"])),
        "labels": 0 if said is None else said.labels,
        "sensitivity": None if said is None else said.sensitivity,
        "specificity": None if said is None else said.specificity,
        "kappa": None if said is None else said.kappa,
    }


def _metric(entry: Mapping[str, JsonValue], states: Mapping[str, JsonValue]) -> JsonObject:
    return {
        "id": entry.get("id"),
        "x": entry.get("x"),
        "n": entry.get("n"),
        "interval": entry.get("exact"),
        "threshold": entry.get("threshold"),
        "state": states.get(str(entry.get("id"))),
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
