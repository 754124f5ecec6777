"""The canonical form of a bank: JSON Lines, one RFC 8785 object per line, sorted by id, NFC, LF, no BOM.

Here stand the rules that need the whole bank: unique ids, twins, size.

Source: docs/spec/item.md section 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slaverify.canonical import StrictJsonError, jcs, jsonl, loads_object
from slaverify.errors import ProblemsError, SetError, Text
from slaverify.evalset.item import Item
from slaverify.evalset.problems import json_problem, problem, read_item

MAX_ITEMS = 100_000
"""Items of a bank (the cap of custody)."""

MAX_ITEM_BYTES = 1024 * 1024
"""Bytes of one line."""


def write_bank(items: Iterable[Item]) -> bytes:
    """Return the canonical bytes of the items, sorted by id."""
    return jsonl(item.to_json() for item in sorted(items, key=lambda item: item.id))


def read_bank(data: bytes, name: str) -> tuple[Item, ...]:
    """Read a canonical bank; `name` is the file's, for the places of errors.

    Raises: ProblemsError with every problem of the file. A file that is not canonical is refused: import it.
    """
    items: list[Item] = []
    places: list[str] = []
    problems: list[SetError] = []
    if data and not data.endswith(b"\n"):
        problems.append(problem("SLV-I001", Text("la última línea no termina en LF", "last line without LF"), name))
    for number, line in enumerate(data.split(b"\n"), 1):
        if number == data.count(b"\n") + 1 and not line:
            break
        where = f"{name}:{number}"
        item, found = _canonical_line(line, where)
        problems.extend(found)
        if item is not None:
            items.append(item)
            places.append(where)
    if not problems and [item.id for item in items] != sorted(item.id for item in items):
        problems.append(problem("SLV-I001", Text("las líneas no van por orden de id", "lines not sorted by id"), name))
    problems.extend(bank_problems(items, places))
    if problems:
        raise ProblemsError(problems)
    return tuple(items)


def bank_problems(items: Sequence[Item], places: Sequence[str]) -> list[SetError]:
    """Return what is wrong with the items taken together; `places[i]` is the place of `items[i]`."""
    problems: list[SetError] = []
    if len(items) > MAX_ITEMS:
        problems.append(problem("SLV-I010", Text(f"más de {MAX_ITEMS} ítems", f"more than {MAX_ITEMS} items"), ""))
    if not items:
        problems.append(problem("SLV-I010", Text("no hay ningún ítem", "there is no item"), ""))
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        if item.id in first:
            other = places[first[item.id]]
            problems.append(
                problem(
                    "SLV-I006",
                    Text(f"id repetido: {item.id} (antes en {other})", f"id {item.id} stands twice (before: {other})"),
                    places[index],
                    Text("dé otro id a uno de los dos", "give one of them another id"),
                )
            )
        else:
            first[item.id] = index
    for index, item in enumerate(items):
        if item.twin_of is not None:
            twin = items[first[item.twin_of]] if item.twin_of in first else None
            problems.extend(_twin_problems(item, twin, places[index]))
    return problems


def _twin_problems(item: Item, twin: Item | None, where: str) -> list[SetError]:
    if twin is None:
        what = Text(f"twin_of {item.twin_of}: no existe", f"twin_of {item.twin_of}: no such item")
    elif twin.twin_of is not None:
        what = Text(f"twin_of {item.twin_of}: es a su vez un gemelo", f"twin_of {item.twin_of}: is itself a twin")
    elif (twin.stratum, twin.cluster) != (item.stratum, item.cluster):
        what = Text("un gemelo va en el mismo estrato y grupo", "a twin has the same stratum and cluster")
    else:
        return []
    return [problem("SLV-I009", what, where)]


def _canonical_line(line: bytes, where: str) -> tuple[Item | None, list[SetError]]:
    if len(line) > MAX_ITEM_BYTES:
        return None, [too_large(where)]
    try:
        tree = loads_object(line, max_depth=20, nfc=True)
    except StrictJsonError as error:
        return None, [json_problem(error, where)]
    item, found = read_item(tree, where)
    if item is not None and jcs(item.to_json()) != line:
        return None, [json_problem(StrictJsonError("not_canonical"), where)]
    return item, found


def too_large(where: str) -> SetError:
    """Return the error of a line above the cap."""
    return problem(
        "SLV-I005",
        Text(f"ítem de más de {MAX_ITEM_BYTES} bytes", f"item of more than {MAX_ITEM_BYTES} bytes"),
        where,
    )
