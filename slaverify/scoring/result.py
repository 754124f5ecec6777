"""What a rule found: the full result, which is sealed or kept to the parties; its summary goes to the score record.

Source: docs/spec/scoring.md section 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from slaverify.canonical import JsonObject
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness, RuleSummary, ScoreRecord

if TYPE_CHECKING:
    from slaverify.scoring.citations.cited import Citations


class Status(StrEnum):
    """Whether a rule decided."""

    DECIDED = "decided"
    UNDETERMINED = "undetermined"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of the clean text, in code points, end excluded."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleTrace:
    """The result of one rule on one answer; `rule` is `name@version`, spans lie in the clean text.

    `part` names the field, the words or the code that it is about; null: the whole answer.
    """

    rule: str
    status: Status
    correctness: Correctness
    reason: Reason
    extracted: str | None = None
    canonical_answer: str | None = None
    canonical_reference: str | None = None
    spans: tuple[Span, ...] = ()
    settings_used: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()
    part: str | None = None

    def summary(self) -> RuleSummary:
        """Return the public part."""
        flags = tuple(sorted(set(self.flags)))
        return RuleSummary(self.rule, self.status.value, self.correctness.value, self.reason.value, flags)

    def to_json(self) -> JsonObject:
        """Return the result as it stands in `scoring/traces.jsonl`, without the key of the answer."""
        return {
            "rule": self.rule,
            "status": self.status.value,
            "correctness": self.correctness.value,
            "reason": self.reason.value,
            "extracted": self.extracted,
            "canonical_answer": self.canonical_answer,
            "canonical_reference": self.canonical_reference,
            "spans": [[span.start, span.end] for span in self.spans],
            "settings_used": dict(self.settings_used),
            "flags": sorted(set(self.flags)),
            "part": self.part,
        }


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer as scored: the record, the results behind it, the clean copy of the text (null: no text), and what
    it cites (null: nobody looked)."""

    record: ScoreRecord
    traces: tuple[RuleTrace, ...]
    clean_text: str | None
    citations: Citations | None = None


def decided(correctness: Correctness) -> Status:
    """Return the status that goes with a correctness."""
    return Status.UNDETERMINED if correctness is Correctness.UNDETERMINED else Status.DECIDED
