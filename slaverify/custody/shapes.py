"""Check the shape of a strict JSON object: which keys it has and what each value is.

Boundary: manifests, index lines, ledger lines, openings and deliveries come from outside; nothing of them is
read before its shape was checked here. The readers (`text`, `integer`, …) are for checked objects only.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import TypeAlias

from slaverify.canonical import JsonObject, JsonValue

Kind: TypeAlias = Callable[[JsonValue], bool]

_HEX32 = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
ID = re.compile(r"[a-z0-9][a-z0-9-]{2,63}")
"""What a `bank_id` or an item id looks like."""


def is_text(value: JsonValue) -> bool:
    """Tell whether `value` is a string."""
    return isinstance(value, str)


def is_name(value: JsonValue) -> bool:
    """Tell whether `value` is a string that is not empty."""
    return isinstance(value, str) and value != ""


def is_integer(value: JsonValue) -> bool:
    """Tell whether `value` is an integer (a boolean is none)."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_count(value: JsonValue) -> bool:
    """Tell whether `value` is an integer from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_hex32(value: JsonValue) -> bool:
    """Tell whether `value` is 32 bytes as lower-case hex."""
    return isinstance(value, str) and _HEX32.fullmatch(value) is not None


def is_digest(value: JsonValue) -> bool:
    """Tell whether `value` is `sha256:` and 32 bytes as lower-case hex."""
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def is_id(value: JsonValue) -> bool:
    """Tell whether `value` is an id of a bank or item."""
    return isinstance(value, str) and ID.fullmatch(value) is not None


def is_time(value: JsonValue) -> bool:
    """Tell whether `value` is `YYYY-MM-DDThh:mm:ssZ` and exists in the calendar."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_date(value: JsonValue) -> bool:
    """Tell whether `value` is `YYYY-MM-DD` and exists in the calendar."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_object(value: JsonValue) -> bool:
    """Tell whether `value` is an object."""
    return isinstance(value, Mapping)


def nullable(kind: Kind) -> Kind:
    """Return the kind that also takes null."""
    return lambda value: value is None or kind(value)


def word(*words: str) -> Kind:
    """Return the kind of a closed list of words."""
    return lambda value: isinstance(value, str) and value in words


def constant(expected: str | int) -> Kind:
    """Return the kind of exactly one value."""
    return lambda value: type(value) is type(expected) and value == expected


def list_of(kind: Kind) -> Kind:
    """Return the kind of a list whose members are all of `kind`."""
    return lambda value: isinstance(value, list) and all(kind(member) for member in value)


def map_of(kind: Kind) -> Kind:
    """Return the kind of an object whose values are all of `kind`."""
    return lambda value: isinstance(value, Mapping) and all(kind(member) for member in value.values())


def ascending(value: JsonValue) -> bool:
    """Tell whether `value` is a list of integers from 0, each above the one before."""
    if not isinstance(value, list) or not all(is_count(member) for member in value):
        return False
    return all(low < high for low, high in pairwise(value))


def shape_fault(
    tree: JsonObject, required: Mapping[str, Kind], optional: Mapping[str, Kind] | None = None, *, closed: bool = True
) -> str | None:
    """Return the name of the first key that is missing, unknown or of another kind; None where all is well."""
    extra = optional or {}
    for key, kind in required.items():
        if key not in tree or not kind(tree[key]):
            return key
    for key, value in tree.items():
        if key in required:
            continue
        if key not in extra:
            if closed:
                return key
            continue
        if not extra[key](value):
            return key
    return None


def text(tree: JsonObject, key: str) -> str:
    """Return a string of an object whose shape was checked."""
    value = tree[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def optional_text(tree: JsonObject, key: str) -> str | None:
    """Return a string, or None where the key is absent or null."""
    value = tree.get(key)
    if value is not None and not isinstance(value, str):
        raise TypeError(key)
    return value


def integer(tree: JsonObject, key: str) -> int:
    """Return an integer of an object whose shape was checked."""
    value = tree[key]
    if not isinstance(value, int):
        raise TypeError(key)
    return value


def integers(tree: JsonObject, key: str) -> tuple[int, ...]:
    """Return a list of integers, empty where the key is absent."""
    value = tree.get(key, [])
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(key)
    return tuple(member for member in value if isinstance(member, int))


def texts(tree: JsonObject, key: str) -> tuple[str, ...]:
    """Return a list of strings, empty where the key is absent."""
    value = tree.get(key, [])
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(key)
    return tuple(member for member in value if isinstance(member, str))


def counts(tree: JsonObject, key: str) -> dict[str, int]:
    """Return a map of integers, empty where the key is absent or null."""
    value = tree.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(key)
    return {name: member for name, member in value.items() if isinstance(member, int)}


def objects(tree: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """Return a list of objects, empty where the key is absent or null."""
    value = tree.get(key)
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(key)
    return tuple(member for member in value if isinstance(member, Mapping))


def strict_base64(encoded: str, size: int | None = None) -> bytes | None:
    """Decode RFC 4648 section 4 with padding; None for any other form, or another `size` in bytes."""
    try:
        data = base64.b64decode(encoded.encode("ascii"), validate=True)
    except (ValueError, binascii.Error, UnicodeEncodeError):
        return None
    if base64.b64encode(data).decode("ascii") != encoded or (size is not None and len(data) != size):
        return None
    return data


def time_text(moment: datetime) -> str:
    """Write an aware time as `YYYY-MM-DDThh:mm:ssZ` (fractions are cut). Raises: ValueError for a naive time."""
    if moment.tzinfo is None:
        raise ValueError("naive time")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_time(value: str) -> datetime:
    """Read `YYYY-MM-DDThh:mm:ssZ` as an aware time. Raises: ValueError."""
    if not is_time(value):
        raise ValueError(value)
    return datetime.fromisoformat(value)
