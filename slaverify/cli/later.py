"""Groups of commands that are read when they are used: `--help` has to answer at once."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import typer
from typer.core import TyperGroup


def later(load: Callable[[], typer.Typer], text: str) -> typer.Typer:
    """Return a group with the help `text`; `load` imports its commands the first time that one is looked for."""

    class Later(TyperGroup):
        _found: MutableMapping[str, Any] | None = None

        # An attribute of the class above; what its constructor puts there is the empty group.
        @property
        def commands(self) -> MutableMapping[str, Any]:
            if self._found is None:
                self._found = typer.main.get_group(load()).commands
            return self._found

        @commands.setter
        def commands(self, _: object) -> None:
            pass

    return typer.Typer(cls=Later, help=text, rich_markup_mode=None, no_args_is_help=True)
