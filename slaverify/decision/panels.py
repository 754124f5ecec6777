"""What the states would be without one judge, or without one family of judges: how much they hang on who was asked.

Uncorrected on both sides: people labelled what the whole panel said, and of a smaller one they said nothing. A state
that changes is a limitation of the result.

Source: docs/spec/judging.md section 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from slaverify.canonical import JsonValue
from slaverify.contract import Contract
from slaverify.contract.model.judge import Judge
from slaverify.decision.inputs import inputs
from slaverify.decision.states import states
from slaverify.decision.terms import terms_of
from slaverify.decision.words import RunValidity
from slaverify.judging import WATCHING, Vote, judged, panel_of, undecided
from slaverify.scoring import ScoreRecord

_Key = tuple[str, int, str]


def panel_states(contract: Contract, records: Sequence[ScoreRecord], votes: Sequence[Vote]) -> list[JsonValue]:
    """Return [{kind, name, changed}] by judge, then by family: the metrics whose uncorrected state is another one.

    `kind` is `member` or `family`; empty where there is one judge. Raises: JudgeError as `rubric_of`.
    """
    judge = contract.judge
    if judge is None or len(judge.panel) < 2:
        return []
    own: dict[_Key, list[Vote]] = defaultdict(list)
    for vote in votes:
        if vote.purpose not in WATCHING:
            own[vote.answer_key].append(vote)
    whole = _states(contract, judge, records, own)
    found: list[JsonValue] = []
    for kind, name, members in _smaller(judge):
        rest = judge.model_copy(update={"panel": tuple(one for one in judge.panel if one.id in members)})
        other = _states(contract, rest, records, own)
        changed: list[JsonValue] = [metric for metric, state in whole.items() if other[metric] != state]
        found.append({"kind": kind, "name": name, "changed": changed})
    return found


def judged_floor(contract: Contract) -> Fraction | None:
    """Return the least success rate that a binding metric promises of what the judge marks; None without one.

    An answer that knows nothing and reaches it makes the contract void.
    """
    promised = [one.t for one in terms_of(contract) if one.binding and one.sampled and one.rests_on_judge]
    return min(promised, default=None)


def _smaller(judge: Judge) -> Iterator[tuple[str, str, frozenset[str]]]:
    for member in judge.panel:
        yield "member", member.id, frozenset(one.id for one in judge.panel if one.id != member.id)
    for family in dict.fromkeys(member.family for member in judge.panel):
        rest = frozenset(one.id for one in judge.panel if one.family != family)
        # a family of one member is that member again; without the only family nobody is left
        if 0 < len(rest) < len(judge.panel) - 1:
            yield "family", family, rest


def _states(
    contract: Contract, judge: Judge, records: Sequence[ScoreRecord], votes: Mapping[_Key, list[Vote]]
) -> dict[str, str]:
    panel = panel_of(judge)
    again = []
    for record in records:
        mine = votes.get((record.item_id, record.repetition, record.side), [])
        if mine and record.decided_by in ("judge", None):
            said = [vote for vote in mine if vote.member in panel.members]
            record = judged(panel, undecided(record, mine), said)
        again.append(record.to_json())
    naive = contract.model_copy(update={"judge": judge.model_copy(update={"on_uncalibrated": "declared_limitation"})})
    found = states(naive, inputs(naive, again), RunValidity(valid=True))
    metrics = found["metrics"]
    rows = metrics if isinstance(metrics, list) else []
    return {str(row["id"]): str(row["state"]) for row in rows if isinstance(row, dict)}
