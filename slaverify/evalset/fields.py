"""Types of the fields of an item: strings, decimals, dates, digests, lists and maps, each with its rule.

Messages are carried in the error context in both languages (`es`, `en`), because pydantic's own are English only.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from slaverify.canonical import JsonObject, JsonValue

MAX_DIGITS = 40
"""Digits of a decimal reference; a longer number is refused."""

MAX_QUERY_BYTES = 65_536
"""Bytes of a query in UTF-8."""

_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_T = TypeVar("_T")


class Strict(BaseModel):
    """Base of every model of an item: strict types, unknown keys refused, frozen."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", populate_by_name=True, validate_default=False)


def refuse(code: str, es: str, en: str) -> PydanticCustomError:
    """Return an error that carries its code and both sentences; braces are not interpreted."""
    return PydanticCustomError("slaverify", "{en}", {"code": code, "es": es, "en": en})


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _decimal_text(value: str) -> str:
    digits = sum(character.isascii() and character.isdigit() for character in value)
    if digits > MAX_DIGITS:
        raise refuse("SLV-I004", f"más de {MAX_DIGITS} dígitos", f"more than {MAX_DIGITS} digits")
    return value


def _calendar(value: str) -> str:
    if not _DATE.fullmatch(value):
        raise refuse("SLV-I004", "se espera AAAA, AAAA-MM o AAAA-MM-DD", "expected YYYY, YYYY-MM or YYYY-MM-DD")
    try:
        datetime.date.fromisoformat((value + "-01-01")[:10])
    except ValueError as error:
        raise refuse("SLV-I004", f"fecha imposible: {value}", f"impossible date: {value}") from error
    return value


def _full_day(value: str) -> str:
    if len(value) != 10:
        raise refuse("SLV-I004", "se espera una fecha AAAA-MM-DD", "expected a date YYYY-MM-DD")
    return _calendar(value)


def _query_size(value: str) -> str:
    if not value.strip():
        raise refuse("SLV-I004", "la consulta está en blanco", "the query is blank")
    if len(value.encode("utf-8", "surrogatepass")) > MAX_QUERY_BYTES:
        raise refuse(
            "SLV-I005", f"consulta de más de {MAX_QUERY_BYTES} bytes", f"query of more than {MAX_QUERY_BYTES} bytes"
        )
    return value


def _json_tree(value: object) -> JsonValue:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): _json_tree(member) for key, member in value.items()}
    if isinstance(value, Sequence):
        return [_json_tree(member) for member in value]
    raise refuse("SLV-I004", "número con decimales: escríbalo como texto", "write a decimal number as text")


def _json_object(value: object) -> JsonObject:
    tree = _json_tree(value)
    if not isinstance(tree, dict):
        raise refuse("SLV-I004", "se espera un objeto", "an object is expected")
    return tree


Text1 = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=256)]
ItemId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Locale = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$")]
DecimalText = Annotated[str, StringConstraints(pattern=r"^-?[0-9]+(\.[0-9]+)?$"), AfterValidator(_decimal_text)]
PositiveDecimal = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?$"), AfterValidator(_decimal_text)]
PartialDate = Annotated[str, AfterValidator(_calendar)]
Day = Annotated[str, AfterValidator(_full_day)]
Query = Annotated[str, AfterValidator(_query_size)]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Size = Annotated[int, Field(ge=0, le=2**53 - 1)]
Many = Annotated[tuple[_T, ...], BeforeValidator(_as_tuple)]
"""A list; held as a tuple, so that an item stays as it was read."""
Tree = Annotated[object, BeforeValidator(_json_object)]
"""A JSON object that no rule reads; floats refused."""
