"""Engines with tools, judged by the path of their evidence: state contract, gated tools, scores of answer and path."""

from slaverify.trajectory.answers import TrackAnswer, answer_schema, read_track_answer
from slaverify.trajectory.baselines import BASELINES, BaselineResult, balance, best_baseline, run_baselines
from slaverify.trajectory.derive import Candidates, derive
from slaverify.trajectory.generate import generate
from slaverify.trajectory.public_view import PublicView, public_view, read_view
from slaverify.trajectory.question import Kind, Question, Track, read_question
from slaverify.trajectory.runtime import Call, Executed, Flags, Status, Tools
from slaverify.trajectory.score_slaverify import INVALID, VALID, PathRules, PathScore, Walk, score_path, six
from slaverify.trajectory.state_contract import StateContract, read_state_contract
from slaverify.trajectory.trace import Binding, Trace, TraceWriter, Wire, read_trace, replay
from slaverify.trajectory.vectors import conformance, is_vector_file

__all__ = [
    "BASELINES",
    "INVALID",
    "VALID",
    "BaselineResult",
    "Binding",
    "Call",
    "Candidates",
    "Executed",
    "Flags",
    "Kind",
    "PathRules",
    "PathScore",
    "PublicView",
    "Question",
    "StateContract",
    "Status",
    "Tools",
    "Trace",
    "TraceWriter",
    "Track",
    "TrackAnswer",
    "Walk",
    "Wire",
    "answer_schema",
    "balance",
    "best_baseline",
    "conformance",
    "derive",
    "generate",
    "is_vector_file",
    "public_view",
    "read_question",
    "read_state_contract",
    "read_trace",
    "read_track_answer",
    "read_view",
    "replay",
    "run_baselines",
    "score_path",
    "six",
]
