"""A small closed bundle: real forms, invented content."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path

from slaverify.canonical import jcs, jsonl
from slaverify.evidence import ENVELOPE, MANIFEST, SUMS, TOKEN, Bundle, Header, LedgerHead, Tool, close, edition_files
from slaverify.evidence.archive import write_zip
from slaverify.evidence.envelope import sign_manifest
from tests.evidence.pki import auditor, tsa

HEADER = Header(
    contract_id="acme",
    contract_digest="sha256:" + "1" * 64,
    bank_digest="sha256:" + "2" * 64,
    method_digest="sha256:" + "3" * 64,
    run_id="111111111111-0001",
    run_number=1,
    closed_at="2026-03-04T05:01:07Z",
    ledger=LedgerHead("custodio/ledger/00000000", 9, "4" * 64),
    tool=Tool("slaverify", "0.1.0", "5" * 64),
)
NONCE = {"nonce": "6" * 64}


@cache
def content() -> dict[str, bytes]:
    """The files of a run, before it is closed."""
    return {
        "contract/contract.json": jcs({"slaverify": "contract/1", "título": "Ñandú"}),
        "custody/ledger.jsonl": jsonl([{"seq": number} for number in range(9)]),
        "custody/bank.checkpoint": b"origin\n9\nroot\n",
        "custody/checkpoints/00000009.checkpoint": b"origin\n9\nroot\n",
        "run/outcomes.jsonl": jsonl([{"item_id": f"it-{number:03d}", "outcome": "answered"} for number in range(30)]),
        "run/exchanges.jsonl": jsonl([NONCE, *({"item_id": f"it-{number:03d}"} for number in range(30))]),
        "scoring/traces.jsonl": jsonl([NONCE]),
        "statistics/results.json": jcs({"type": "slaverify/results/1", "metrics": []}),
    }


@cache
def closed() -> dict[str, bytes]:
    """All files of the closed and signed bundle."""
    files = dict(content())
    closing = close(Bundle.of_files(files), HEADER)
    return sealed({**files, SUMS: closing.sums, MANIFEST: closing.manifest})


def sealed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return `files` with an envelope over their manifest."""
    signature = sign_manifest(files[MANIFEST], auditor())
    return {**files, ENVELOPE: signature, TOKEN: tsa().stamper().stamp(signature)}


def zip_bytes(files: dict[str, bytes], edition: str = "parties") -> bytes:
    out = BytesIO()
    write_zip(edition_files(Bundle.of_files(files), edition), out)
    return out.getvalue()


def on_disk(files: dict[str, bytes], folder: Path) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
