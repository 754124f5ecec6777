"""States without one judge, or one family: who was asked moves them, and the answer says whose word it was."""

from __future__ import annotations

from dataclasses import replace

from slaverify.contract import Contract
from slaverify.decision import panel_states
from slaverify.judging import Purpose, Vote, judged, panel_of
from slaverify.scoring import ScoreRecord
from tests.judging.calibration.people import contract
from tests.judging.test_panel import RECORD

N = 300


def panel(*families: str) -> Contract:
    agreed = contract(n=N)
    judge = agreed.judge
    assert judge is not None
    members = tuple(
        judge.panel[0].model_copy(update={"id": f"m{at}", "family": family}) for at, family in enumerate(families)
    )
    return agreed.model_copy(
        update={
            "judge": judge.model_copy(update={"panel": members, "aggregation": "majority" if members[1:] else "single"})
        }
    )


def said(agreed: Contract, rejects: dict[str, int]) -> tuple[list[ScoreRecord], list[Vote]]:
    """Records and votes of answers of which each member rejects the first so many."""
    assert agreed.judge is not None
    records, votes = [], []
    for at in range(N):
        name = f"i-{at:06d}"
        own = [
            Vote(
                purpose=Purpose.ITEM,
                subject=name,
                repetition=0,
                side="current",
                member=member.id,
                criterion=None,
                asked=("correctness",),
                vote=0,
                key="k",
                attempts=1,
                values={"correctness": "incorrect" if at < rejects.get(member.id, 0) else "correct"},
                failure=None,
            )
            for member in agreed.judge.panel
        ]
        votes += own
        records.append(judged(panel_of(agreed.judge), replace(RECORD, item_id=name), own))
    return records, votes


def test_one_judge_of_three_that_moves_nothing_is_named_with_nothing() -> None:
    agreed = panel("j", "k", "l")
    rows = panel_states(agreed, *said(agreed, {"m0": 3, "m1": 3, "m2": 3}))
    assert rows == [{"kind": "member", "name": f"m{at}", "changed": []} for at in range(3)]


def test_without_the_strict_one_the_state_is_another() -> None:
    agreed = panel("j", "k", "k")
    # Two of three reject 90: a breach. Without m2 the others disagree on 87 of them, and nothing is proved.
    found = panel_states(agreed, *said(agreed, {"m0": 3, "m1": 90, "m2": 90}))
    rows = {(row["kind"], row["name"]): row["changed"] for row in found if isinstance(row, dict)}
    assert rows["member", "m0"] == []
    assert rows["member", "m1"] == rows["member", "m2"] == ["accuracy"]
    assert rows["family", "k"] == ["accuracy"], "what is left passes"
    assert ("family", "j") not in rows, "a family of one is that member again"


def test_a_panel_of_one_has_nobody_to_leave_out() -> None:
    agreed = panel("j")
    assert panel_states(agreed, *said(agreed, {"m0": 3})) == []
