"""What both protocols share: the JSON of a request, and the strict reading of a response.

Trust boundary: the response comes from outside. It is read with the strict reader; a lone surrogate alone passes, so
that the parser can name it.
"""

from __future__ import annotations

import json
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue, NumberText, StrictJsonError, loads_strict, sha256_hex
from slaverify.contract.model.judge import JudgeMember


class UnreadableError(Exception):
    """A response that has not the shape of its protocol: one word."""


def body_bytes(tree: dict[str, object]) -> bytes:
    """Return the bytes of a request: JSON in the order of the tree, the same for the same tree.

    Unsorted: a judge that is held to a schema writes its fields in the order of the schema, the reason first.
    """
    return json.dumps(tree, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def request_digest(body: bytes) -> str:
    """Return the digest of a request's body, hex."""
    return sha256_hex(body)


def number(value: Decimal) -> int | float:
    """Return a parameter as the JSON number that protocols expect."""
    return int(value) if value == value.to_integral_value() else float(value)


def model_of(member: JudgeMember) -> str:
    """Return the model name to ask for: the snapshot, or the name that is echoed where it is a digest of weights."""
    return member.expected_model_echo if "sha256:" in member.snapshot else member.snapshot


def read_object(body: bytes) -> JsonObject:
    """Read a response strictly. Raises: UnreadableError."""
    try:
        value = loads_strict(body, max_depth=32, numbers="text")
    except StrictJsonError as error:
        if error.kind != "surrogate":
            raise UnreadableError(error.kind) from error
        # Checked in all but this: the judge's words keep the surrogate, and the parser refuses them for it.
        value = json.loads(body)
    if not isinstance(value, dict):
        raise UnreadableError("not_object")
    return value


def member_text(tree: JsonObject, key: str) -> str | None:
    """Return a text of an object, or null."""
    value = tree.get(key)
    return value if isinstance(value, str) and not isinstance(value, NumberText) else None


def member_count(tree: JsonValue, key: str) -> int | None:
    """Return a count of an object, or null for anything else."""
    value = tree.get(key) if isinstance(tree, dict) else None
    text = str(value)
    plain = isinstance(value, NumberText | int) and not isinstance(value, bool)
    return int(text) if plain and text.isascii() and text.isdigit() and len(text) < 16 else None


def words(content: str) -> bytes:
    """Return the judge's words as bytes; a lone surrogate stays, and is then no UTF-8."""
    return content.encode("utf-8", "surrogatepass")
