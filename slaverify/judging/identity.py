"""Who the judge is: the digest that a calibration is of, and the member's part of each record's key.

The address is left out: the same model behind another address is the same instrument.

Source: docs/spec/judging.md section 6.
"""

from __future__ import annotations

from slaverify.canonical import JsonValue, digest_of, jcs
from slaverify.contract.model.judge import Judge, JudgeMember
from slaverify.judging.criteria import criterion_digest
from slaverify.judging.rubrics import rubric_of


def member_identity(member: JudgeMember) -> dict[str, JsonValue]:
    """Return a member without its endpoint, as JSON."""
    tree: dict[str, JsonValue] = member.model_dump(mode="json")
    del tree["endpoint"]
    return tree


def judge_digest(judge: Judge) -> str:
    """Return the digest of the whole instrument: members, rubric, criteria, parser, aggregation and votes.

    Raises: JudgeError as `rubric_of`.
    """
    return digest_of(
        jcs(
            {
                "panel": [member_identity(member) for member in judge.panel],
                "rubric": rubric_of(judge).digest,
                "criteria": [criterion_digest(criterion) for criterion in judge.criteria],
                "facts": None if judge.facts is None else judge.facts.model_dump(mode="json"),
                "parser": judge.parser,
                "aggregation": judge.aggregation,
                "votes": judge.votes,
                "language": judge.language,
            }
        )
    )
