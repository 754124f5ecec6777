"""Room judging: the independent judge, an instrument that is pinned, watched and calibrated against people.

Here stands the pure half, which `verify` uses too. The network is the second door, `slaverify.judging.adapters`.
"""

from slaverify.judging.answers import Ask, GivenAnswer, asks_of, question_of, words_of_reference
from slaverify.judging.calls import (
    Call,
    Work,
    answer_calls,
    baseline_calls,
    closing_calls,
    refusal_calls,
    trivial_calls,
    watching_calls,
    work_of,
)
from slaverify.judging.criteria import (
    criterion_digest,
    fraction_of,
    meets,
    probes_digest,
    same_versions,
    values_of,
    whole_text,
)
from slaverify.judging.evaluate import Evaluated, evaluate, judged_records, refused_asks
from slaverify.judging.identity import judge_digest, member_identity
from slaverify.judging.outcomes import judged, undecided
from slaverify.judging.parse import PARSERS
from slaverify.judging.ports import JudgePort, Received, Stop
from slaverify.judging.prompt import Case, Instrument, Prompt, instrument_of, output_schema
from slaverify.judging.readings import Panel, panel_of
from slaverify.judging.records import (
    ANNEX_RECORDS,
    ANNEX_SENTINELS,
    PANEL,
    RUN_KEY,
    VOTES,
    WATCHING,
    CallId,
    FailureKind,
    JudgeFailure,
    Judgement,
    JudgementRecord,
    ParseResult,
    Purpose,
    Vote,
    read_run_key,
    run_key_json,
)
from slaverify.judging.replay import Reading, by_key, read_call, votes_of
from slaverify.judging.rubrics import CRITERIA, FACTS, REGLAB, RUBRICS, WEIGHTED, Rubric, rubric, rubric_of, scale_of
from slaverify.judging.sentences import numbered_sentences
from slaverify.judging.sentinels import Sentinel, read_sentinels
from slaverify.judging.summary import panel_json, unfit_before, unstable
from slaverify.judging.trivial import passes_trivially, trivial_report

__all__ = [
    "ANNEX_RECORDS",
    "ANNEX_SENTINELS",
    "CRITERIA",
    "FACTS",
    "PANEL",
    "PARSERS",
    "REGLAB",
    "RUBRICS",
    "RUN_KEY",
    "VOTES",
    "WATCHING",
    "WEIGHTED",
    "Ask",
    "Call",
    "CallId",
    "Case",
    "Evaluated",
    "FailureKind",
    "GivenAnswer",
    "Instrument",
    "JudgeFailure",
    "JudgePort",
    "Judgement",
    "JudgementRecord",
    "Panel",
    "ParseResult",
    "Prompt",
    "Purpose",
    "Reading",
    "Received",
    "Rubric",
    "Sentinel",
    "Stop",
    "Vote",
    "Work",
    "answer_calls",
    "asks_of",
    "baseline_calls",
    "by_key",
    "closing_calls",
    "criterion_digest",
    "evaluate",
    "fraction_of",
    "instrument_of",
    "judge_digest",
    "judged",
    "judged_records",
    "meets",
    "member_identity",
    "numbered_sentences",
    "output_schema",
    "panel_json",
    "panel_of",
    "passes_trivially",
    "probes_digest",
    "question_of",
    "read_call",
    "read_run_key",
    "read_sentinels",
    "refusal_calls",
    "refused_asks",
    "rubric",
    "rubric_of",
    "run_key_json",
    "same_versions",
    "scale_of",
    "trivial_calls",
    "trivial_report",
    "undecided",
    "unfit_before",
    "unstable",
    "values_of",
    "votes_of",
    "watching_calls",
    "whole_text",
    "words_of_reference",
    "work_of",
]
