"""Profiles whose unit is smaller than the item: fields of a document, words of a transcript, codes of an encounter."""

from __future__ import annotations

from slaverify.evalset import Item
from slaverify.scoring.parts import codes, fields, transcript
from slaverify.scoring.parts.found import Parts
from slaverify.scoring.profiles import profile
from slaverify.scoring.settings import Settings

__all__ = ["Parts", "has_parts", "parts_of", "weight_of"]

_UNITS = {"field": fields, "word": transcript, "code": codes}


def has_parts(settings: Settings) -> bool:
    """Tell whether the profile counts something smaller than the item."""
    return profile(settings.profile).unit in _UNITS


def weight_of(item: Item, settings: Settings) -> int | None:
    """Return how many units a right answer to `item` has (fields, words, codes); null where the item is the unit."""
    judge = _UNITS.get(profile(settings.profile).unit)
    return None if judge is None else judge.weight_of(item, settings)


def parts_of(item: Item, text: str, bare: str, settings: Settings) -> Parts | None:
    """Compare an answer part by part; `text` is the clean answer, `bare` the same with its markup.

    Null where this kind of reference has no parts, or where the answer is not of the agreed form: the pipeline of
    single answers then says what it is. Raises: ApplicationError SLV-A032 without the extra `[speech]`.
    """
    judge = _UNITS.get(profile(settings.profile).unit)
    return None if judge is None else judge.parts_of(item, text, bare, settings)
