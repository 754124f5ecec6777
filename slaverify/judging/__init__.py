"""Room judging: the independent judge, an instrument that is pinned, watched and calibrated against people.

Here stands the pure half, which `verify` uses too. The network is the second door, `slaverify.judging.adapters`.
"""

from slaverify.judging.criteria import (
    applies,
    criterion_digest,
    fraction_of,
    meets,
    probes_digest,
    same_versions,
    values_of,
    whole_text,
)
from slaverify.judging.identity import judge_digest, member_identity
from slaverify.judging.records import (
    CallId,
    FailureKind,
    JudgedAnswer,
    JudgeFailure,
    Judgement,
    JudgementRecord,
    ParseResult,
    Purpose,
    Vote,
)
from slaverify.judging.rubrics import CRITERIA, FACTS, REGLAB, RUBRICS, WEIGHTED, Rubric, rubric, rubric_of, scale_of

__all__ = [
    "CRITERIA",
    "FACTS",
    "REGLAB",
    "RUBRICS",
    "WEIGHTED",
    "CallId",
    "FailureKind",
    "JudgeFailure",
    "JudgedAnswer",
    "Judgement",
    "JudgementRecord",
    "ParseResult",
    "Purpose",
    "Rubric",
    "Vote",
    "applies",
    "criterion_digest",
    "fraction_of",
    "judge_digest",
    "meets",
    "member_identity",
    "probes_digest",
    "rubric",
    "rubric_of",
    "same_versions",
    "scale_of",
    "values_of",
    "whole_text",
]
