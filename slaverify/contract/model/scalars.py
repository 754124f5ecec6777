"""The scalar types of a contract: decimals kept as written, digests, names, times, references to secrets.

A decimal is a string in the file and a `Decimal` in memory; `format(value, "f")` gives back the text as it was
written, because forms that would not survive (exponents, leading zeros, a plus sign) are refused.

Source: docs/spec/contract.md sections 1 and 2.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from slaverify.canonical import JsonValue, decimal_text

DECIMAL_PATTERN = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_DECIMAL = re.compile(DECIMAL_PATTERN)
_MAX_DIGITS = 40
_MAX_TIMEOUT = 600
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})")
_NAIVE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(\.[0-9]+)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Block(BaseModel):
    """A part of the tree: strict types, no unknown key, immutable."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, frozen=True, extra="forbid", protected_namespaces=())


def parse_decimal(value: object) -> Decimal:
    """Return the decimal that `value`, a string of digits with a point, says.

    Raises: PydanticCustomError of kind `decimal_unquoted`, `decimal_form` or `decimal_type`.
    """
    if isinstance(value, Decimal):
        value = decimal_text(value)
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        raise PydanticCustomError("decimal_type", "a decimal in quotes is due")
    if not isinstance(value, str):
        raise PydanticCustomError("decimal_unquoted", "write the decimal in quotes")
    if not _DECIMAL.fullmatch(value) or sum(character.isdigit() for character in value) > _MAX_DIGITS:
        raise PydanticCustomError("decimal_form", "not a decimal")
    return Decimal(value)


def parse_share(value: object) -> Decimal:
    """Return a decimal in [0, 1]. Raises: PydanticCustomError as `parse_decimal`, or of kind `share_range`."""
    share = parse_decimal(value)
    if not 0 <= share <= 1:
        raise PydanticCustomError("share_range", "a share is in [0, 1]")
    return share


def parse_magnitude(value: object) -> Decimal:
    """Return a decimal of at least 0. Raises: PydanticCustomError as `parse_decimal`, or of kind `negative`."""
    magnitude = parse_decimal(value)
    if magnitude < 0:
        raise PydanticCustomError("negative", "not negative")
    return magnitude


def parse_timeout(value: object) -> Decimal:
    """Return a deadline in (0, 600] s. Raises: PydanticCustomError as `parse_decimal`, or of kind `timeout_range`."""
    seconds = parse_decimal(value)
    if not 0 < seconds <= _MAX_TIMEOUT:
        raise PydanticCustomError("timeout_range", "more than 0 and at most 600 seconds")
    return seconds


def instant(text: str) -> datetime:
    """Return the aware UTC moment that an RFC 3339 text names.

    Raises: ValueError for another form, a time without offset or an impossible date. Source: RFC 3339.
    """
    if not _TIME.fullmatch(text):
        raise ValueError("not an RFC 3339 time with offset")
    return datetime.fromisoformat(text).astimezone(UTC)


def _time(value: object) -> object:
    # What is no text is left to the strict type of the field.
    if isinstance(value, str):
        try:
            instant(value)
        except ValueError as error:
            kind = "time_offset" if _NAIVE_TIME.fullmatch(value) else "time_form"
            raise PydanticCustomError(kind, "a time with offset is due") from error
    return value


def _day(value: object) -> object:
    if isinstance(value, str):
        try:
            if not _DAY.fullmatch(value):
                raise ValueError(value)
            date.fromisoformat(value)
        except ValueError as error:
            raise PydanticCustomError("day_form", "a date is due") from error
    return value


def _day_or_time(value: object) -> object:
    return _day(value) if isinstance(value, str) and _DAY.fullmatch(value) else _time(value)


def _check_tree(value: object, depth: int = 20) -> object:
    if isinstance(value, float):
        raise PydanticCustomError("tree_float", "only whole numbers can be pinned")
    if depth and isinstance(value, dict):
        for member in value.values():
            _check_tree(member, depth - 1)
    elif depth and isinstance(value, list):
        for member in value:
            _check_tree(member, depth - 1)
    return value


_WRITTEN = PlainSerializer(decimal_text, return_type=str)


def _decimal_schema(description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": DECIMAL_PATTERN, "description": description})


Dec = Annotated[Decimal, PlainValidator(parse_decimal), _WRITTEN, _decimal_schema("decimal in quotes")]
"""A decimal, written in quotes with a point."""
Share = Annotated[Decimal, PlainValidator(parse_share), _WRITTEN, _decimal_schema("share in [0, 1], in quotes")]
"""A share between 0 and 1."""
Seconds = Annotated[Decimal, PlainValidator(parse_magnitude), _WRITTEN, _decimal_schema("seconds, in quotes")]
"""A duration in seconds."""
Timeout = Annotated[Decimal, PlainValidator(parse_timeout), _WRITTEN, _decimal_schema("seconds to 600, in quotes")]
"""A deadline in seconds, at most 600."""
Magnitude = Annotated[Decimal, PlainValidator(parse_magnitude), _WRITTEN, _decimal_schema("not negative, in quotes")]
"""A decimal of at least 0: an amount, a rate per second, a tolerance."""

Line = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""A text that is not empty."""
LongText = Annotated[str, StringConstraints(min_length=1, max_length=65536)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{2,63}$")]
MetricId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
StratumName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
NameVersion = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,63}@[0-9]{1,4}$")]
"""`name@version` of a rule, profile, metric, normaliser or adapter."""
PluginName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,63}$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Hex64 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Locale = Annotated[str, StringConstraints(pattern=r"^(es|en)-[A-Z]{2}$")]
LanguageTag = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
ZoneName = Annotated[str, StringConstraints(pattern=r"^(UTC|[A-Za-z]+(/[A-Za-z0-9_+-]+)+)$")]
Time = Annotated[str, BeforeValidator(_time), Field(json_schema_extra={"format": "date-time"})]
"""RFC 3339 with offset, kept as written; `instant` reads it."""
Day = Annotated[str, BeforeValidator(_day), Field(json_schema_extra={"format": "date"})]
"""ISO 8601 date, kept as written."""
DayOrTime = Annotated[str, BeforeValidator(_day_or_time)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Period = Annotated[
    str, StringConstraints(pattern=r"^P([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+S)?)?$")
]
"""ISO 8601 duration."""
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$")]
HeaderValue = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]([\x20-\x7e]{0,1022}[\x21-\x7e])?$")]
Url = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9+.-]*://[^\s]+$", max_length=2048)]
SecretRef = Annotated[str, StringConstraints(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\s]+|keyring:[^\s]+)$")]
"""Where a secret is, never the secret: `env:NAME`, `file:PATH` or `keyring:NAME`."""
Pem = Annotated[
    str, StringConstraints(pattern=r"^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n?$")
]
AgeRecipient = Annotated[str, StringConstraints(pattern=r"^age1[02-9ac-hj-np-z]{58}$")]
Oid = Annotated[str, StringConstraints(pattern=r"^[0-2](\.(0|[1-9][0-9]*))+$")]
Vkey = Annotated[str, StringConstraints(pattern=r"^[^\s+]{1,200}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{20,}={0,2}$")]
"""A verifier key of C2SP signed-note: name, key hash and key."""
SshKey = Annotated[str, StringConstraints(pattern=r"^ssh-ed25519 [A-Za-z0-9+/]+={0,2}( .*)?$")]
Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
Positive = Annotated[int, Field(ge=1, le=2**53 - 1)]

if TYPE_CHECKING:
    JsonTree: TypeAlias = JsonValue
else:
    JsonTree = Annotated[object, BeforeValidator(_check_tree)]
"""A free JSON tree, kept as it is (whole numbers, booleans, texts)."""


class Words(Block):
    """A sentence in both languages of the product."""

    es: Line = Field(description="Spanish", examples=["Exactitud"])
    en: Line = Field(description="English", examples=["Accuracy"])
