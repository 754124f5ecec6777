"""Write what the page says without writing it: message keys with typed arguments, and blocks of them.

A report holds no sentence of ours, only keys of `plantillas/messages.<language>.toml`. An argument is a count
(an integer) or one of the tagged objects below; a bare string is refused, so that nobody forgets to say
whether a text is ours or somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from slaverify.canonical import JsonObject, JsonValue

Node: TypeAlias = "dict[str, JsonValue]"


def say(key: str, /, **args: JsonValue) -> Node:
    """Return the message `key` of the catalogue with its arguments."""
    return {"key": key, "args": args}


def foreign(text: str) -> Node:
    """Return a text that the parties wrote (names, answers, replies): printed as data, never as markup."""
    return {"foreign": text}


def code(text: str) -> Node:
    """Return an identifier, path or digest: it may be broken at any character."""
    return {"code": text}


def share(value: str, rounding: str = "near", against: str | None = None) -> Node:
    """Return a share in [0, 1] to be printed as a percentage.

    `rounding`: `near` (half to even), `down` and `up` (bounds, outward), `exact` (as agreed: thresholds, risks).
    `against` is the threshold on whose side the print must stay.
    """
    return {"share": value, "rounding": rounding, "against": against}


def real(value: str, digits: int, against: str | None = None) -> Node:
    """Return a real number with at least `digits` decimals, on the same side of `against` as its value."""
    return {"real": value, "digits": digits, "against": against}


def amount(value: str, rounding: str, digits: int, against: str | None = None) -> Node:
    """Return a value on a scale of its own; `rounding` is `near`, `down`, `up`, or `exact` for an agreed figure."""
    return {"real": value, "digits": digits, "against": against, "rounding": rounding}


def instant(text: str) -> Node:
    """Return a point in time (RFC 3339), printed in UTC to the second."""
    return {"instant": text}


def clock(text: str) -> Node:
    """Return the time of day of a point in time, in UTC."""
    return {"clock": text}


def day(text: str) -> Node:
    """Return the date of a point in time, in UTC."""
    return {"day": text}


def span(text: str) -> Node:
    """Return an ISO 8601 duration such as `P3M`."""
    return {"span": text}


def listing(items: Sequence[JsonValue], last: str = "comma") -> Node:
    """Return several arguments in a row; `last` is `comma` or `and`."""
    return {"list": list(items), "last": last}


def heading(key: str, level: int = 2, *, id: str = "", **args: JsonValue) -> Node:  # noqa: A002 - it is the id
    """Return a heading of level 1 to 3."""
    return {"kind": "heading", "id": id, "level": level, "text": say(key, **args)}


def paragraph(key: str, /, *, id: str = "", style: str = "", **args: JsonValue) -> Node:  # noqa: A002
    """Return a paragraph; `style`: empty, `note` or `lead`."""
    return {"kind": "paragraph", "id": id, "style": style, "text": say(key, **args)}


def bullets(items: Iterable[JsonValue], *, id: str = "") -> Node:  # noqa: A002
    """Return a list of messages."""
    return {"kind": "bullets", "id": id, "items": list(items)}


def fact(label: str, value: JsonValue, *, id: str = "", **args: JsonValue) -> Node:  # noqa: A002
    """Return one row of a table of facts: a label of the catalogue and what is known."""
    return {"id": id, "label": say(f"label.{label}", **args), "value": value}


def fact_table(rows: Iterable[JsonValue], *, caption: JsonValue = None, id: str = "") -> Node:  # noqa: A002
    """Return a two-column table: what, and what is known of it."""
    return {"kind": "facts", "id": id, "caption": caption, "rows": list(rows)}


def column(key: str, align: str = "left", width: int | None = None) -> Node:
    """Return the head of a column; `align`: `left` or `right`; `width` in percent of the table."""
    return {"text": say(f"column.{key}"), "align": align, "width": width}


def table(
    caption: JsonValue,
    columns: Sequence[JsonValue],
    rows: Iterable[Sequence[JsonValue]],
    *,
    marked: Sequence[int] = (),
    id: str = "",  # noqa: A002
    style: str = "",
) -> Node:
    """Return a table whose first column names the row; `marked` rows are set off; `style`: empty or `dense`."""
    return {
        "kind": "table",
        "id": id,
        "caption": caption,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "marked": list(marked),
        "style": style,
    }


def chart(kind: str, alt: JsonValue, data: JsonObject, *, id: str = "") -> Node:  # noqa: A002
    """Return a chart (`interval`, `bars`, `funnel`, `timeline`) with the sentence that says the same in words."""
    return {"kind": "chart", "id": id, "chart": kind, "alt": alt, "data": data}


def section(id: str, blocks: Iterable[JsonValue]) -> Node:  # noqa: A002
    """Return a section of the report."""
    return {"id": id, "blocks": list(blocks)}
