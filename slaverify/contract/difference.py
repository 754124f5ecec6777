"""What changed between two contracts, in words: a threshold lowered, a stratum added, a witness gone.

Pure. The comparison is over whole trees (defaults written), so layout and comments say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.findings import Path, dotted, short
from slaverify.errors import Text

_NAMED = ("id", "name", "metric")
_SKIPPED = (("contract", "status"),)


@dataclass(frozen=True, slots=True)
class Change:
    """One change: where, the values before and after (None: absent), and a sentence."""

    path: str
    before: JsonValue
    after: JsonValue
    what: Text


def differences(old: JsonObject, new: JsonObject) -> Iterator[Change]:
    """Yield what changed from `old` to `new`, in the order of the tree; the lifecycle status and what freeze derives
    are left out, for they follow.
    """
    yield from _compare(old, new, ())


def _compare(old: JsonValue, new: JsonValue, path: Path) -> Iterator[Change]:
    if path in _SKIPPED or path[-1:] == ("derived",) or _same(old, new):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _compare(old.get(key), new.get(key), (*path, key))
        return
    if isinstance(old, list) and isinstance(new, list) and _by_name(old) and _by_name(new):
        before, after = _members(old), _members(new)
        for name in dict.fromkeys((*before, *after)):
            yield from _compare(before.get(name), after.get(name), (*path, name))
        return
    yield Change(dotted(path), old, new, _sentence(dotted(path), old, new))


def _same(old: JsonValue, new: JsonValue) -> bool:
    return type(old) is type(new) and old == new


def _sentence(where: str, old: JsonValue, new: JsonValue) -> Text:
    if old is None or old == []:
        return Text(f"`{where}` agregado: {_shown(new)}", f"`{where}` added: {_shown(new)}")
    if new is None or new == []:
        return Text(f"`{where}` quitado: era {_shown(old)}", f"`{where}` removed: was {_shown(old)}")
    before, after = _number(old), _number(new)
    if before is not None and after is not None and before != after:
        es, en = ("sube", "raised") if after > before else ("baja", "lowered")
        return Text(f"`{where}` {es} de {old} a {new}", f"`{where}` {en} from {old} to {new}")
    if isinstance(old, list) and isinstance(new, list):
        gone = [member for member in old if member not in new]
        come = [member for member in new if member not in old]
        if gone or come:
            lost, won = ", ".join(map(_shown, gone)) or "-", ", ".join(map(_shown, come)) or "-"
            return Text(f"`{where}`: sale {lost}; entra {won}", f"`{where}`: out {lost}; in {won}")
        return Text(f"`{where}` cambia de orden", f"`{where}` changes its order")
    return Text(
        f"`{where}` cambia de {_shown(old)} a {_shown(new)}", f"`{where}` changes from {_shown(old)} to {_shown(new)}"
    )


def _number(value: JsonValue) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _shown(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        name = next((str(value[key]) for key in _NAMED if isinstance(value.get(key), str)), None)
        return name or short("{" + ", ".join(value) + "}")
    return short(value)


def _by_name(members: list[JsonValue]) -> bool:
    return all(isinstance(member, Mapping) and isinstance(member.get("id"), str) for member in members)


def _members(members: list[JsonValue]) -> dict[str, JsonValue]:
    return {str(member["id"]): member for member in members if isinstance(member, Mapping)}
