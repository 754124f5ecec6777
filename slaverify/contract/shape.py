"""The shape of the tree as the models declare it: which keys a place knows, and what a field says of itself."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from typing import Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from slaverify.contract.findings import Path
from slaverify.contract.model.root import Contract


def field_at(path: Path) -> FieldInfo | None:
    """Return the declaration of the field at `path`, or None where the tree is free or unknown."""
    if not path or not isinstance(path[-1], str):
        return None
    for model in _models_at(path[:-1]):
        for name, field in model.model_fields.items():
            if (field.alias or name) == path[-1]:
                return field
    return None


def known_keys(path: Path) -> tuple[str, ...]:
    """Return the keys that the block at `path` knows; empty where the tree is free."""
    return tuple(
        dict.fromkeys(field.alias or name for model in _models_at(path) for name, field in model.model_fields.items())
    )


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that is most like `word`, if one is near enough."""
    found = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return found[0] if found else None


def _models_at(path: Path) -> list[type[BaseModel]]:
    models: list[type[BaseModel]] = [Contract]
    annotations: list[object] = [Contract]
    for part in path:
        annotations = list(_step(annotations, models, part))
        models = [model for annotation in annotations for model in _models_in(annotation)]
    return models


def _step(annotations: list[object], models: list[type[BaseModel]], part: str | int) -> Iterator[object]:
    for model in models:
        for name, field in model.model_fields.items():
            if (field.alias or name) == part:
                yield field.annotation
    for annotation in annotations:
        yield from _members(annotation, part)


def _members(annotation: object, part: str | int) -> Iterator[object]:
    """Yield the annotations of a member of a list (`part` an index) or of a map (`part` a key)."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is tuple and isinstance(part, int):
        yield from (argument for argument in arguments if argument is not Ellipsis)
    elif origin is dict and isinstance(part, str):
        yield arguments[1]
    elif origin is not Literal:
        for argument in arguments:
            yield from _members(argument, part)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    origin = get_origin(annotation)
    if origin in (tuple, dict, Literal):
        return
    if origin in (Union, types.UnionType) or hasattr(annotation, "__metadata__"):
        for argument in get_args(annotation):
            yield from _models_in(argument)
