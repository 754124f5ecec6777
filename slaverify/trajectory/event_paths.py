"""Dotted paths over an event: a key of a map, or an index of a list by its digits; anything else is null.

Source: docs/spec/trajectory.md, section "Events".
"""

from __future__ import annotations

from collections.abc import Mapping


def resolve(tree: object, path: str) -> object:
    """Return what stands at `path`, or None."""
    here = tree
    for step in path.split("."):
        if isinstance(here, Mapping):
            here = here.get(step)
        elif isinstance(here, list | tuple) and step.isascii() and step.isdigit() and int(step[:9]) < len(here):
            here = here[int(step[:9])]
        else:
            return None
    return here
