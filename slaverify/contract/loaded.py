"""A contract that was read: its model, its tree, its digest and where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.findings import Path
from slaverify.contract.model.root import Contract


@dataclass(frozen=True, slots=True)
class LoadedContract:
    """A contract as read from `source`.

    `model` has every default filled in. `tree` is what the digest is of: for a frozen contract the tree of the file
    as it stands, for a draft the whole tree with defaults and derived numbers. `digest` is `sha256:<hex>`.
    """

    model: Contract
    tree: JsonObject
    digest: str
    source: str
    marks: Mapping[Path, tuple[int, int]] = field(default_factory=dict, compare=False, repr=False)
    """Line and column, from 1, of each value that the file writes."""

    def place(self, path: Path) -> str:
        """Return `file:line:column` of the value at `path`; of the nearest value around it that the file writes."""
        while path and path not in self.marks:
            path = path[:-1]
        line, column = self.marks.get(path, (1, 1))
        return f"{self.source}:{line}:{column}"


def edited(tree: JsonObject, changes: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a copy of `tree` with the value at each dotted path replaced (`metrics.0.threshold`).

    Raises: KeyError if a path leaves the tree; only its last key may be new. Nothing is validated here.
    """
    out: dict[str, JsonValue] = dict(tree)
    for path, value in changes.items():
        out = dict(_replaced_in_map(out, path.split("."), value))
    return out


def _replaced_in_map(node: JsonObject, keys: list[str], value: JsonValue) -> dict[str, JsonValue]:
    key, rest = keys[0], keys[1:]
    return {**node, key: _replaced(node[key], rest, value) if rest else value}


def _replaced(node: JsonValue, keys: list[str], value: JsonValue) -> JsonValue:
    if isinstance(node, Mapping):
        return _replaced_in_map(node, keys, value)
    if isinstance(node, list | tuple) and keys[0].isascii() and keys[0].isdigit() and int(keys[0]) < len(node):
        index = int(keys[0])
        member = _replaced(node[index], keys[1:], value) if len(keys) > 1 else value
        return [*node[:index], member, *node[index + 1 :]]
    raise KeyError(".".join(keys))
