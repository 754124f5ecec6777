"""Templates over an event: `{path}` stands for one value of it, and nothing else may.

Source: docs/spec/trajectory.md, section "State contract".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from slaverify.canonical import JsonObject
from slaverify.errors import Text, TrajectoryError
from slaverify.trajectory.event_paths import resolve

_HOLE = re.compile(r"\{([^{}]*)\}")


def rendered(template: str, tree: JsonObject, where: str) -> str:
    """Return a template filled from an event's tree. Raises: TrajectoryError SLV-T014 for a null or a list."""
    event = str(tree.get("id"))

    def fill(match: re.Match[str]) -> str:
        value = resolve(tree, match.group(1))
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise _unresolved(match.group(1), event, where)
        return str(value)

    rest = _HOLE.sub("", template)
    if "{" in rest or "}" in rest:
        raise _unresolved(template, event, where)
    return _HOLE.sub(fill, template)


def values_at(tree: JsonObject, path: str) -> frozenset[str]:
    """Return what a join compares at a path: one value, or the members of a list; empty where nothing stands."""
    return _values(resolve(tree, path))


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
