"""The sealed variant of a honeytoken: drawn when the bank is sealed, so that its author cannot tell which it is.

A honeytoken asks for an invented fact. Its author lists `ext.variants`, sixteen values alike; one of them, drawn by who
seals, becomes `reference.value`, and the list leaves the item (`ext.variant_of` keeps how many there were). A guess
then names it once in sixteen times; whoever names it more often has read the reference.

Source: docs/spec/bank.md (package), docs/spec/ledger.md (leaks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import ProblemsError, SetError, Text
from slaverify.evalset.item import Item
from slaverify.evalset.problems import parse_item, problem

VARIANTS = 16
"""Variants of a honeytoken."""


def with_variant(item: Item, draw: Callable[[int], int]) -> Item:
    """Return the item with one of its listed variants as the answer; an item that lists none is returned as it is.

    `draw(n)` returns a number from 0 below n, of the operating system's generator. Raises: ProblemsError SLV-I008 for a
    list that is not of sixteen different texts, or on an item that is no honeytoken.
    """
    tree = item.to_json()
    told_of = tree.get("ext")
    ext: dict[str, JsonValue] = dict(told_of) if isinstance(told_of, Mapping) else {}
    variants = ext.pop("variants", None)
    if variants is None:
        return item
    texts = [one for one in variants if isinstance(one, str)] if isinstance(variants, list | tuple) else []
    if not item.honeytoken or not len(set(texts)) == len(texts) == VARIANTS or variants != texts:
        raise ProblemsError([_malformed(item.id)])
    reference = tree["reference"]
    if not isinstance(reference, Mapping) or not isinstance(reference.get("value"), str):
        raise ProblemsError([_malformed(item.id)])
    told: JsonObject = {**reference, "value": texts[draw(VARIANTS)]}
    kept: dict[str, JsonValue] = {**ext, "variant_of": VARIANTS}
    return parse_item({**tree, "reference": told, "ext": kept}, where=item.id)


def _malformed(where: str) -> SetError:
    return problem(
        "SLV-I008",
        Text(
            f"ext.variants: se esperan {VARIANTS} textos distintos, en un señuelo con reference.value",
            f"ext.variants: {VARIANTS} different texts are expected, on a honeytoken with reference.value",
        ),
        where,
    )
