"""Cut an item in two for the seal, and put it together again when both parts are open.

Part Q (the query package) goes out before the run, part R (the references) after it; id, stratum and `twin_of`
stand in the public leaf. Both parts are objects with exactly the fields named here; absent fields are left out.

Source: docs/spec/item.md section 1, column of parts.
"""

from __future__ import annotations

from typing import NamedTuple

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import ProblemsError, Text
from slaverify.evalset.item import Item
from slaverify.evalset.problems import parse_item, problem

QUERY_FIELDS = ("schema", "locale", "query", "messages", "attachments", "tools")
REFERENCE_FIELDS = (
    "schema",
    "source_id",
    "reference",
    "expected_citations",
    "official_text",
    "source",
    "consulted_on",
    "as_of",
    "cluster",
    "twin_relation",
    "trap",
    "settings",
    "criteria",
    "authors",
    "annotations",
    "honeytoken",
    "ext",
)
LEAF_FIELDS = ("id", "stratum", "twin_of")


class Parts(NamedTuple):
    """Both parts of an item, as they are sealed."""

    query: JsonObject
    reference: JsonObject


def split(item: Item) -> Parts:
    """Return parts Q and R of `item`; the author's own id goes to R as `source_id`."""
    tree = dict(item.to_json())
    tree.setdefault("source_id", item.id)
    return Parts(_pick(tree, QUERY_FIELDS), _pick(tree, REFERENCE_FIELDS))


def join(
    query: JsonObject, reference: JsonObject, item_id: str, stratum: str, twin_of: str | None = None, *, where: str = ""
) -> Item:
    """Return the item of two opened parts; `item_id` is the sealed id.

    Raises: ProblemsError when a part holds a field of the other or of the leaf, or the whole is no item.
    """
    strays = [name for name in query if name not in QUERY_FIELDS]
    strays += [name for name in reference if name not in REFERENCE_FIELDS]
    if strays:
        names = ", ".join(strays)
        what = Text(f"campos que no van en esa parte: {names}", f"fields that do not belong in that part: {names}")
        raise ProblemsError([problem("SLV-I011", what, where)])
    tree: dict[str, JsonValue] = {**query, **reference, "id": item_id, "stratum": stratum}
    if twin_of is not None:
        tree["twin_of"] = twin_of
    return parse_item(tree, where=where)


def _pick(tree: JsonObject, names: tuple[str, ...]) -> JsonObject:
    return {name: tree[name] for name in names if name in tree}
