"""The bundle's manifest: the one file that is signed, and names every other by size and digest.

It is read strictly: an unknown key, another order, another byte than the RFC 8785 form is refused. A file that an
edition leaves out keeps its line.

Source: docs/spec/bundle.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from slaverify.canonical import MAX_INTEGER, JsonObject, JsonValue, StrictJsonError, digest_of, jcs, loads_canonical
from slaverify.evidence.layout import (
    ENVELOPE_FILES,
    EXCHANGES,
    MAX_DEPTH,
    MAX_FILE,
    MAX_FILES,
    MAX_MANIFEST,
    SUMS,
    Disclosure,
    disclosure_of,
    is_name,
    media_type_of,
    path_order,
)
from slaverify.evidence.problems import bad_manifest, bad_name, over_limit

TYPE = "slaverify/bundle/1"

_HEX = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_AGE = re.compile(r"age1[0-9a-z]{20,120}")
_KEYS = (
    "annex",
    "bank_digest",
    "bundle_id",
    "closed_at",
    "contract_digest",
    "contract_id",
    "files",
    "ledger",
    "method_digest",
    "run_id",
    "run_number",
    "tool",
    "type",
)


@dataclass(frozen=True)
class LedgerHead:
    """The checkpoint under which the evidence stands: origin, number of entries, Merkle root (hex)."""

    origin: str
    size: int
    root: str


@dataclass(frozen=True)
class Tool:
    """What made the bundle: name, version, SHA-256 of the dependency lock (hex)."""

    name: str
    version: str
    lock_sha256: str


@dataclass(frozen=True)
class Header:
    """What a manifest says besides its files. Digests are `sha256:<hex>`; `closed_at` is `YYYY-MM-DDThh:mm:ssZ`."""

    contract_id: str
    contract_digest: str
    bank_digest: str
    method_digest: str
    run_id: str
    run_number: int
    closed_at: str
    ledger: LedgerHead
    tool: Tool

    @property
    def bundle_id(self) -> str:
        """The bundle's name: `<contract id>.<run number>`."""
        return f"{self.contract_id}.{self.run_number}"


@dataclass(frozen=True)
class FileEntry:
    """One file of the manifest. `records` = lines of a `.jsonl` less its nonce line, None for other files."""

    path: str
    size: int
    sha256: str
    media_type: str
    disclosure: Disclosure
    records: int | None


@dataclass(frozen=True)
class Recipient:
    """Who can open the annex: a name and a public age key."""

    name: str
    age: str


@dataclass(frozen=True)
class AnnexEntry:
    """The sealed annex: digest and size of its ciphertext and of its plain archive, and who can open it."""

    path: str
    size: int
    sha256: str
    plaintext_sha256: str
    plaintext_size: int
    recipients: tuple[Recipient, ...]


@dataclass(frozen=True)
class Manifest:
    """A manifest as read."""

    header: Header
    files: tuple[FileEntry, ...]
    annex: AnnexEntry | None

    def entry(self, path: str) -> FileEntry | None:
        """Return the line of `path`, or None."""
        return next((entry for entry in self.files if entry.path == path), None)


def bundle_digest(manifest_bytes: bytes) -> str:
    """Return the identity of a bundle: `sha256:<hex>` of the manifest's bytes, never of the archive."""
    return digest_of(manifest_bytes)


def records_of(path: str, lines: int) -> int | None:
    """Return the records of a `.jsonl` file of `lines` lines (the nonce line is none), or None for another file."""
    if not path.endswith(".jsonl"):
        return None
    return lines - 1 if has_nonce_line(path) else lines


def has_nonce_line(path: str) -> bool:
    """Say whether the first line of `path` is the nonce of its keyed digests."""
    return path.endswith(".jsonl") and (path == EXCHANGES or disclosure_of(path) is Disclosure.PARTIES)


def file_entry(path: str, size: int, sha256: str, lines: int) -> FileEntry:
    """Return the manifest's line of a file. Raises: EvidenceError SLV-E004 for a path outside the table, SLV-E003."""
    disclosure = disclosure_of(path)
    if disclosure is None or path in ENVELOPE_FILES:
        raise bad_name(path)
    if size > MAX_FILE:
        raise over_limit(path, MAX_FILE)
    return FileEntry(path, size, sha256, media_type_of(path), disclosure, records_of(path, lines))


def sums_bytes(entries: Iterable[FileEntry]) -> bytes:
    """Return SHA256SUMS: each file of the manifest but itself, in the form of `sha256sum -c`, by path bytes."""
    ordered = sorted((entry for entry in entries if entry.path != SUMS), key=lambda entry: path_order(entry.path))
    return b"".join(f"{entry.sha256}  {entry.path}\n".encode() for entry in ordered)


def build_manifest(header: Header, files: Iterable[FileEntry], annex: AnnexEntry | None = None) -> bytes:
    """Return the bytes of manifest.json, sorted by path bytes; they are read back strictly before they leave.

    Raises: EvidenceError SLV-E003 (too many files, or too big), SLV-E007.
    """
    ordered = sorted(files, key=lambda entry: path_order(entry.path))
    tree: dict[str, JsonValue] = {
        "type": TYPE,
        "bundle_id": header.bundle_id,
        "contract_id": header.contract_id,
        "contract_digest": header.contract_digest,
        "bank_digest": header.bank_digest,
        "method_digest": header.method_digest,
        "run_id": header.run_id,
        "run_number": header.run_number,
        "closed_at": header.closed_at,
        "ledger": {"origin": header.ledger.origin, "size": header.ledger.size, "root": header.ledger.root},
        "tool": {
            "name": header.tool.name,
            "version": header.tool.version,
            "lock_sha256": header.tool.lock_sha256,
        },
        "files": [_file_tree(entry) for entry in ordered],
        "annex": None if annex is None else _annex_tree(annex),
    }
    data = jcs(tree)
    parse_manifest(data)
    return data


def parse_manifest(data: bytes) -> Manifest:
    """Read a manifest strictly: RFC 8785 bytes, these keys and no other, files sorted, names and values in form.

    Raises: EvidenceError SLV-E003 (size, number of files), SLV-E004 (name), SLV-E007 (the rest).
    """
    if len(data) > MAX_MANIFEST:
        raise over_limit("manifest.json", MAX_MANIFEST)
    try:
        tree = loads_canonical(data, max_depth=MAX_DEPTH)
    except StrictJsonError as error:
        raise bad_manifest(str(error)) from error
    _exact(tree, _KEYS, "")
    header = _read_header(tree)
    if tree["type"] != TYPE or tree["bundle_id"] != header.bundle_id:
        raise bad_manifest("type, bundle_id")
    files = _read_files(tree["files"])
    annex = None if tree["annex"] is None else _read_annex(_object(tree["annex"], "annex"))
    _agree(files, annex)
    return Manifest(header, files, annex)


def _file_tree(entry: FileEntry) -> JsonObject:
    return {
        "path": entry.path,
        "size": entry.size,
        "sha256": entry.sha256,
        "media_type": entry.media_type,
        "disclosure": entry.disclosure.value,
        "records": entry.records,
    }


def _annex_tree(annex: AnnexEntry) -> JsonObject:
    return {
        "path": annex.path,
        "size": annex.size,
        "sha256": annex.sha256,
        "plaintext_sha256": annex.plaintext_sha256,
        "plaintext_size": annex.plaintext_size,
        "recipients": [{"name": recipient.name, "age": recipient.age} for recipient in annex.recipients],
    }


def _read_header(tree: JsonObject) -> Header:
    ledger = _object(tree["ledger"], "ledger")
    _exact(ledger, ("origin", "root", "size"), "ledger")
    tool = _object(tree["tool"], "tool")
    _exact(tool, ("lock_sha256", "name", "version"), "tool")
    return Header(
        contract_id=_text(tree, "contract_id"),
        contract_digest=_text(tree, "contract_digest", _DIGEST),
        bank_digest=_text(tree, "bank_digest", _DIGEST),
        method_digest=_text(tree, "method_digest", _DIGEST),
        run_id=_text(tree, "run_id"),
        run_number=_count(tree, "run_number"),
        closed_at=_text(tree, "closed_at", _TIME),
        ledger=LedgerHead(_text(ledger, "origin"), _count(ledger, "size"), _text(ledger, "root", _HEX)),
        tool=Tool(_text(tool, "name"), _text(tool, "version"), _text(tool, "lock_sha256", _HEX)),
    )


def _read_files(value: JsonValue) -> tuple[FileEntry, ...]:
    if not isinstance(value, list):
        raise bad_manifest("files")
    if len(value) > MAX_FILES:
        raise over_limit("manifest.json: files", MAX_FILES)
    entries = tuple(_read_file(_object(member, "files")) for member in value)
    paths = [path_order(entry.path) for entry in entries]
    if any(earlier >= later for earlier, later in pairwise(paths)):
        raise bad_manifest("files: order, or one path twice")
    return entries


def _read_file(tree: JsonObject) -> FileEntry:
    _exact(tree, ("disclosure", "media_type", "path", "records", "sha256", "size"), "files")
    path = _text(tree, "path")
    disclosure = disclosure_of(path)
    if not is_name(path) or disclosure is None or path in ENVELOPE_FILES:
        raise bad_name(path[:200])
    size = _count(tree, "size")
    if size > MAX_FILE:
        raise over_limit(path, MAX_FILE)
    if tree["media_type"] != media_type_of(path) or tree["disclosure"] != disclosure.value:
        raise bad_manifest(f"{path}: media_type, disclosure")
    records = _count(tree, "records") if path.endswith(".jsonl") else tree["records"]
    if records is not None and not isinstance(records, int):
        raise bad_manifest(f"{path}: records")
    if not path.endswith(".jsonl") and records is not None:
        raise bad_manifest(f"{path}: records")
    return FileEntry(path, size, _text(tree, "sha256", _HEX), media_type_of(path), disclosure, records)


def _read_annex(tree: JsonObject) -> AnnexEntry:
    _exact(tree, ("path", "plaintext_sha256", "plaintext_size", "recipients", "sha256", "size"), "annex")
    value = tree["recipients"]
    if not isinstance(value, list) or not value:
        raise bad_manifest("annex: recipients")
    return AnnexEntry(
        path=_text(tree, "path"),
        size=_count(tree, "size"),
        sha256=_text(tree, "sha256", _HEX),
        plaintext_sha256=_text(tree, "plaintext_sha256", _HEX),
        plaintext_size=_count(tree, "plaintext_size"),
        recipients=tuple(_read_recipient(_object(member, "annex")) for member in value),
    )


def _read_recipient(tree: JsonObject) -> Recipient:
    _exact(tree, ("age", "name"), "annex: recipients")
    return Recipient(_text(tree, "name"), _text(tree, "age", _AGE))


def _agree(files: tuple[FileEntry, ...], annex: AnnexEntry | None) -> None:
    sealed = [entry for entry in files if entry.disclosure is Disclosure.SEALED]
    named = [] if annex is None else [(annex.path, annex.size, annex.sha256)]
    if [(entry.path, entry.size, entry.sha256) for entry in sealed] != named:
        raise bad_manifest("annex")
    if not any(entry.path == SUMS for entry in files):
        raise bad_manifest("files: SHA256SUMS")


def _exact(tree: Mapping[str, JsonValue], keys: tuple[str, ...], where: str) -> None:
    if tuple(sorted(tree)) != keys:
        unknown = sorted(set(tree).symmetric_difference(keys))
        raise bad_manifest(f"{where}: {', '.join(repr(key)[:60] for key in unknown[:5])}")


def _object(value: JsonValue, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise bad_manifest(where)
    return value


def _text(tree: JsonObject, key: str, form: re.Pattern[str] | None = None) -> str:
    value = tree[key]
    if not isinstance(value, str) or not value or len(value) > 1_000:
        raise bad_manifest(key)
    if form is not None and form.fullmatch(value) is None:
        raise bad_manifest(key)
    return value


def _count(tree: JsonObject, key: str) -> int:
    value = tree[key]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_INTEGER:
        raise bad_manifest(key)
    return value
