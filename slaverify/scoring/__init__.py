"""Room scoring: deterministic rules, from one item and one answer to one score record. Pure."""

from __future__ import annotations

from slaverify.scoring.criteria import MET, NOT_APPLICABLE, NOT_MET, applies, holds
from slaverify.scoring.hygiene import Clean, clean
from slaverify.scoring.language import in_other_language
from slaverify.scoring.normalisers import NORMALISERS, Normaliser, normaliser
from slaverify.scoring.pipeline import score
from slaverify.scoring.profiles import PROFILES, VERDICT_TABLES, Profile, profile
from slaverify.scoring.reasons import SENTENCES, Reason
from slaverify.scoring.record import (
    AnswerClass,
    Bounds,
    CitationCounts,
    Correctness,
    Event,
    Grounding,
    RuleSummary,
    ScoreRecord,
    Verdict,
)
from slaverify.scoring.registry import Registry, Rule
from slaverify.scoring.result import RuleTrace, Scored, Span, Status
from slaverify.scoring.rules.table import RULES
from slaverify.scoring.settings import PolicySet, Settings, default_settings, read_policies, settings_for

__all__ = [
    "MET",
    "NORMALISERS",
    "NOT_APPLICABLE",
    "NOT_MET",
    "PROFILES",
    "RULES",
    "SENTENCES",
    "VERDICT_TABLES",
    "AnswerClass",
    "Bounds",
    "CitationCounts",
    "Clean",
    "Correctness",
    "Event",
    "Grounding",
    "Normaliser",
    "PolicySet",
    "Profile",
    "Reason",
    "Registry",
    "Rule",
    "RuleSummary",
    "RuleTrace",
    "ScoreRecord",
    "Scored",
    "Settings",
    "Span",
    "Status",
    "Verdict",
    "applies",
    "clean",
    "default_settings",
    "holds",
    "in_other_language",
    "normaliser",
    "profile",
    "read_policies",
    "score",
    "settings_for",
]
