"""The closed table of a bundle's paths: who may read each, its media type, and the limits of sizes and names.

Source: docs/spec/bundle.md.
"""

from __future__ import annotations

import re
from enum import StrEnum

MANIFEST = "manifest.json"
ENVELOPE = "manifest.p7s"
TOKEN = "manifest.tsr"  # noqa: S105 - a file name
ENVELOPE_FILES = (MANIFEST, ENVELOPE, TOKEN)
SUMS = "SHA256SUMS"
AMENDMENT = "decision/amendment.json"
AMENDMENT_TYPE = "slaverify/amendment/1"
ANNEX = "sealed/annex.age"
EXCHANGES = "run/exchanges.jsonl"

MAX_ARCHIVE = 1024**3
MAX_FILE = 512 * 1024**2
MAX_FILES = 2_000
MAX_MANIFEST = 2 * 1024**2
MAX_ENVELOPE = 64 * 1024
MAX_LINE = 8 * 1024**2
MAX_DEPTH = 20
MAX_REPORT_JSON = 4 * 1024**2
MAX_PDF = 16 * 1024**2
MAX_NAME = 120

FOLDERS = (
    "contract",
    "custody",
    "run",
    "scoring",
    "trajectory",
    "judging",
    "statistics",
    "decision",
    "environment",
    "replies",
    "sealed",
)
"""The folders of a run folder that belong to the bundle; the journal, `private/` and `report/` do not."""

_NAME = re.compile(r"[a-z0-9_]+(?:/[a-z0-9_][a-z0-9_.-]*){1,3}")
_ROLE = r"(?:buyer|vendor|auditor|custodian|author|judge_operator)"
_ID = r"[a-z0-9][a-z0-9-]{0,63}"
_WITNESS = r"[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?"


class Disclosure(StrEnum):
    """Who receives a file: everybody, the parties, or the recipients of the sealed annex."""

    PUBLIC = "public"
    PARTIES = "parties"
    SEALED = "sealed"


_PUBLIC = (
    "SHA256SUMS",
    r"contract/(?:contract\.json|catalogue\.jsonl)",
    rf"contract/signatures/{_ROLE}\.(?:p7s|tsr|sshsig)",
    r"custody/(?:bank_manifest\.json|bank\.checkpoint|index\.jsonl|ledger\.jsonl|draw\.json|exposure\.json)",
    rf"custody/checkpoints/[0-9]{{8}}\.checkpoint(?:\.tsr|\.{_WITNESS}\.sshsig)?",
    r"run/(?:(?:plan|signals)\.json|outcomes\.jsonl)",
    r"scoring/(?:scores|arms)\.jsonl",
    r"trajectory/(?:scores\.jsonl|summary\.json)",
    r"judging/(?:panel\.json|judgements\.jsonl|calibration\.json)",
    r"statistics/(?:inputs|results|integrity|comparison|dispersion)\.json",
    r"decision/(?:decision|limitations|amendment)\.json",
    r"environment/environment\.json",
    rf"replies/(?:{_ROLE}\.json|disputes\.jsonl)",
)
_PARTIES = (
    r"run/exchanges\.jsonl",
    r"(?:scoring|trajectory)/traces\.jsonl",
    r"judging/run_key\.json",
    rf"custody/openings/{_ID}\.(?:query|reference)\.json",
)
_TABLE = (
    (re.compile("|".join(_PUBLIC)), Disclosure.PUBLIC),
    (re.compile("|".join(_PARTIES)), Disclosure.PARTIES),
    (re.compile(re.escape(ANNEX)), Disclosure.SEALED),
)
_MEDIA = {".json": "application/json", ".jsonl": "application/jsonl", ".checkpoint": "text/plain"}


def is_name(path: str) -> bool:
    """Say whether `path` has the form that a bundle accepts; two accepted names never collide in any file system."""
    if path == SUMS or path in ENVELOPE_FILES:
        return True
    return len(path) <= MAX_NAME and ".." not in path and _NAME.fullmatch(path) is not None


def disclosure_of(path: str) -> Disclosure | None:
    """Return who may read `path`, or None if the bundle has no such file. The envelope stands outside the table."""
    return next((level for pattern, level in _TABLE if pattern.fullmatch(path)), None)


def media_type_of(path: str) -> str:
    """Return the media type of `path`, by its extension."""
    if path == SUMS:
        return "text/plain"
    return _MEDIA.get(path[path.rfind(".") :], "application/octet-stream")


def limit_of(path: str) -> int:
    """Return the most bytes that the file `path` may have."""
    if path == MANIFEST:
        return MAX_MANIFEST
    return MAX_ENVELOPE if path in ENVELOPE_FILES else MAX_FILE


def path_order(path: str) -> bytes:
    """Return the key by which the files of a manifest are sorted: the bytes of the path."""
    return path.encode("utf-8")
