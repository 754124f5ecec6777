"""Profiles: frozen tables that say which rule reads which kind of reference, and with what defaults.

A profile is data (`data/profiles.json`): another one is added there, not in code.

Source: docs/spec/scoring.md section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import SetError, Text
from slaverify.scoring.data import load


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One profile. `strata` null: any stratum of the contract; `rules` maps a kind of reference to its rule.

    `document`: each answer has to stand on the item's document, which no rule can say: its grounding is always open.
    """

    name: str
    unit: str
    strata: tuple[str, ...] | None
    citations: bool
    document: bool
    cluster_required: bool
    rules: Mapping[str, str]
    normaliser: Mapping[str, str]
    abstention: tuple[str, ...]
    verdict_table: str
    null_tokens: tuple[str, ...]
    policies: Mapping[str, str | bool | int]
    metrics: tuple[str, ...]


def profile(name: str) -> Profile:
    """Return the profile `name@version`. Raises: SetError SLV-I031 if this version of the product has none."""
    found = PROFILES.get(name)
    if found is None:
        known = ", ".join(PROFILES)
        raise SetError(
            "SLV-I031",
            Text(f"el perfil {name} no está en esta versión", f"profile {name} is not in this version"),
            fix=Text(f"use uno de: {known}", f"use one of: {known}"),
        )
    return found


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return value


def _words(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("list expected")
    return tuple(_text(word) for word in value)


def _map(value: JsonValue) -> dict[str, str]:
    if not isinstance(value, dict):
        raise TypeError("object expected")
    return {key: _text(word) for key, word in value.items()}


def _policies(value: JsonValue) -> dict[str, str | bool | int]:
    if not isinstance(value, dict):
        raise TypeError("object expected")
    return {key: word for key, word in value.items() if isinstance(word, str | bool | int)}


def _profile(name: str, tree: JsonObject) -> Profile:
    strata = tree["strata"]
    return Profile(
        name=name,
        unit=_text(tree["unit"]),
        strata=None if strata is None else _words(strata),
        citations=tree["citations"] is True,
        document=tree.get("document") is True,
        cluster_required=tree["cluster_required"] is True,
        rules=_map(tree["rules"]),
        normaliser=_map(tree["normaliser"]),
        abstention=_words(tree["abstention"]),
        verdict_table=_text(tree["verdict_table"]),
        null_tokens=_words(tree["null_tokens"]),
        policies=_policies(tree["policies"]),
        metrics=_words(tree["metrics"]),
    )


PROFILES: dict[str, Profile] = {
    name: _profile(name, tree) for name, tree in load("profiles.json").items() if isinstance(tree, dict)
}
"""All profiles of this version, by `name@version`."""

VERDICT_TABLES: dict[str, dict[str, dict[str, str]]] = {
    name: {row: _map(cells) for row, cells in table.items()}
    for name, table in load("verdict_tables.json").items()
    if isinstance(table, dict)
}
"""Verdict tables, correctness → grounding → verdict, by `name@version`."""
