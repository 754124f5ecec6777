"""The index of the sealed annex: the drawn items, both parts, with the salts that tie them to the public index.

`index.jsonl`: the nonce line, then one line per drawn item, by id: {`id`, `query`, `query_salt`, `reference`,
`reference_salt`}. Each part stands as a string of its canonical JSON, so that its own depth does not count; salts
are hex. The auditor writes it with `annex_index`, the verifier reads it with `read_annex_index`.

Boundary: the annex comes from whoever sealed it; nothing of it is used before each commitment is the one of the
bank's index, which the contract pins.

Source: docs/spec/verification.md, docs/spec/bank.md (commitments).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slaverify.canonical import JsonObject, jsonl, loads_jsonl, loads_object
from slaverify.custody import Index, Leaf, Part, commitment, item_bytes
from slaverify.errors import EvidenceError, Text
from slaverify.evalset import Item, join

INDEX = "index.jsonl"
_KEYS = {"id", "query", "query_salt", "reference", "reference_salt"}


@dataclass(frozen=True, slots=True)
class AnnexItem:
    """One drawn item as it was delivered: canonical bytes and salt (32 bytes) of each part."""

    id: str
    query: bytes
    query_salt: bytes
    reference: bytes
    reference_salt: bytes

    def line(self) -> JsonObject:
        """Return the line of the index."""
        return {
            "id": self.id,
            "query": self.query.decode("utf-8"),
            "query_salt": self.query_salt.hex(),
            "reference": self.reference.decode("utf-8"),
            "reference_salt": self.reference_salt.hex(),
        }


def annex_index(nonce: str, items: Iterable[AnnexItem]) -> bytes:
    """Return the bytes of `index.jsonl`; `nonce` is 64 hex digits, keyed by the run's secret and this path."""
    head: JsonObject = {"nonce": nonce}
    return jsonl([head, *(item.line() for item in sorted(items, key=lambda item: item.id))])


def read_annex_index(data: bytes) -> tuple[AnnexItem, ...]:
    """Read `index.jsonl`. Raises: EvidenceError SLV-E051 for another form, StrictJsonError."""
    lines = loads_jsonl(data)
    if not lines or set(lines[0]) != {"nonce"}:
        raise _malformed("nonce")
    items = tuple(_item(line) for line in lines[1:])
    ids = [item.id for item in items]
    if ids != sorted(set(ids)):
        raise _malformed("order")
    return items


def opened(item: AnnexItem, index: Index) -> Item:
    """Return the item that the parts make, if both are those that the bank committed to.

    Raises: EvidenceError SLV-E052 (not of this bank, or another content), ProblemsError, CustodyError.
    """
    leaf = index.by_id.get(item.id)
    if leaf is None:
        raise _foreign(item.id)
    query = _committed(leaf, Part.QUERY, item.query, item.query_salt)
    reference = _committed(leaf, Part.REFERENCE, item.reference, item.reference_salt)
    return join(query, reference, leaf.id, leaf.stratum, leaf.twin_of, where=leaf.id)


def _committed(leaf: Leaf, part: Part, content: bytes, salt: bytes) -> JsonObject:
    if item_bytes(content, leaf.id) != content or commitment(salt, part, content).hex() != leaf.commitment_of(part):
        raise _foreign(f"{leaf.id}.{part.value}")
    return loads_object(content)


def _item(line: JsonObject) -> AnnexItem:
    values = {key: value for key, value in line.items() if isinstance(value, str)}
    if set(values) != _KEYS or set(line) != _KEYS:
        raise _malformed("keys")
    salts = [values[key] for key in ("query_salt", "reference_salt")]
    if any(len(salt) != 64 or salt.strip("0123456789abcdef") for salt in salts):
        raise _malformed("salt")
    return AnnexItem(
        id=values["id"],
        query=values["query"].encode("utf-8"),
        query_salt=bytes.fromhex(salts[0]),
        reference=values["reference"].encode("utf-8"),
        reference_salt=bytes.fromhex(salts[1]),
    )


def _malformed(detail: str) -> EvidenceError:
    return EvidenceError(
        "SLV-E051",
        Text(f"el índice del anexo está mal formado: {detail}", f"the index of the annex is malformed: {detail}"),
        where=INDEX,
    )


def _foreign(where: str) -> EvidenceError:
    return EvidenceError(
        "SLV-E052",
        Text(
            "el contenido del anexo no es el que el banco comprometió",
            "the content of the annex is not what the bank committed to",
        ),
        where=where,
    )
