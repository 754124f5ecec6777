"""Templates over an event: `{path}` stands for one value of it, and nothing else may.

Source: docs/spec/trajectory.md, section "State contract".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from slaverify.errors import Text, TrajectoryError
from slaverify.trajectory.event_paths import resolve
from slaverify.trajectory.state_model import Event, Join, plain

_HOLE = re.compile(r"\{([^{}]*)\}")


def value_at(event: Event, path: str) -> object:
    """Return what stands at a path of an event, null where nothing does."""
    return resolve(plain(event), path)


def rendered(template: str, event: Event, where: str) -> str:
    """Return a template filled from an event. Raises: TrajectoryError SLV-T014 for a null or a list."""
    tree = plain(event)

    def fill(match: re.Match[str]) -> str:
        value = resolve(tree, match.group(1))
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise _unresolved(match.group(1), event.id, where)
        return str(value)

    rest = _HOLE.sub("", template)
    if "{" in rest or "}" in rest:
        raise _unresolved(template, event.id, where)
    return _HOLE.sub(fill, template)


def joined(first: Event, second: Event, joins: tuple[Join, ...]) -> bool:
    """Say whether every join holds: both sides have a value, and a list is the set of its members."""
    here, there = plain(first), plain(second)
    return all(_values(resolve(here, join.cause)) & _values(resolve(there, join.effect)) for join in joins)


def _values(value: object) -> frozenset[str]:
    if value is None or isinstance(value, Mapping):
        return frozenset()
    if isinstance(value, list | tuple):
        return frozenset(one for member in value for one in _values(member))
    # The type takes part: the text "1" and the number 1 are no join.
    return frozenset((f"{type(value).__name__}:{value}",))


def _unresolved(path: str, event: str, where: str) -> TrajectoryError:
    return TrajectoryError(
        "SLV-T014",
        Text(
            f"TEMPLATE_UNRESOLVED: {{{path}}} no da un valor en {event}",
            f"TEMPLATE_UNRESOLVED: {{{path}}} gives no single value in {event}",
        ),
        fix=Text("use un campo que ese hecho tenga", "use a field that the event has"),
        where=where,
    )
