"""Import JSON Lines whose keys are those of `item/1`. Byte order mark and CRLF are accepted and reported.

Trust boundary: see `reading`.
"""

from __future__ import annotations

from slaverify.canonical import StrictJsonError, loads_object
from slaverify.errors import SetError
from slaverify.evalset.bank import MAX_ITEM_BYTES, too_large
from slaverify.evalset.importers.reading import BOM, Counts, Origin, finish, to_nfc
from slaverify.evalset.importers.report import Imported
from slaverify.evalset.item import Item
from slaverify.evalset.problems import json_problem, read_item


def import_jsonl(data: bytes, name: str, *, locale: str | None = None) -> Imported:
    """Read JSON Lines of items; `locale` is the one of the contract, for the report.

    Raises: ProblemsError with every problem of the file, each with its line.
    """
    body = data.removeprefix(BOM)
    items: list[Item] = []
    places: list[str] = []
    problems: list[SetError] = []
    counts = Counts()
    for number, raw in enumerate(body.split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        if not line.strip():
            counts.blank += number <= body.count(b"\n")
            continue
        counts.read += 1
        where = f"{name}:{number}"
        item, found = _read_line(line, where, counts)
        problems.extend(found)
        if item is not None:
            items.append(item)
            places.append(where)
    origin = Origin(name, data, "jsonl", _line_ends(body), "id", (), locale)
    return finish(origin, items, places, problems, counts)


def _read_line(line: bytes, where: str, counts: Counts) -> tuple[Item | None, list[SetError]]:
    if len(line) > MAX_ITEM_BYTES:
        return None, [too_large(where)]
    try:
        tree = loads_object(line, max_depth=20)
    except StrictJsonError as error:
        return None, [json_problem(error, where)]
    return read_item(to_nfc(tree, counts), where)


def _line_ends(body: bytes) -> str:
    pairs = body.count(b"\r\n")
    alone = body.count(b"\n") - pairs
    if pairs and alone:
        return "mixed"
    return "crlf" if pairs else "lf"
