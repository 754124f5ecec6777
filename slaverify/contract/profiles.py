"""What a profile fixes when the contract says nothing: normaliser, detectors, grammar, verdict table, policies, unit.

A profile is frozen: a change is a new version. Hostile strata keep their meaning in every profile.

Source: docs/spec/contract.md section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.contract.model.bank import Policies

HOSTILE_STRATA = ("adversarial", "out_of_corpus", "trap")
"""Strata in which the right thing is to abstain or to deny."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The defaults of one profile; `{language}` in a name stands for `es` or `en`."""

    unit: str
    normaliser: Mapping[str, str]
    citation_grammar: str | None = None
    verdict_table: str = "plain@1"
    abstention: str = "abstain-{language}@1"


_TEXT = {"es": "es-legal@1", "en": "en-basic@1"}
_SPEECH = {"es": "asr-es@1", "en": "asr-en@1"}

PROFILES: Mapping[str, Profile] = {
    "qa@1": Profile("item", _TEXT),
    "regulatory@1": Profile("item", _TEXT, citation_grammar="cl.norm@1", verdict_table="reglab@1"),
    "extraction@1": Profile("field", _TEXT),
    "speech@1": Profile("word", _SPEECH),
    "coding@1": Profile("code", _TEXT),
    "criteria@1": Profile("criterion", _TEXT),
    "choice@1": Profile("item", _TEXT),
    "grounding@1": Profile("item", _TEXT, verdict_table="document@1"),
    "trajectory@1": Profile("task", _TEXT),
}
"""The profiles by `name@version`."""

_POLICIES: Mapping[str, str | bool | int] = {
    "percent_equivalence": False,
    "range_expansion": "none",
    "fold_accents": False,
    "granularity": "article",
    "json": "strict",
    "tolerance": "0",
    "number_words": True,
    "scale_words": True,
    "accounting_brackets": False,
    "unit_in_query": True,
    "year_pivot": 70,
}


def default_policies(profile: str) -> Policies:
    """Return the policies of `profile`: those of every profile, and the order of lists (a sequence for tools)."""
    ordering = "sequence" if profile.startswith("trajectory@") else "set"
    return Policies.model_validate({**_POLICIES, "ordering": ordering})
