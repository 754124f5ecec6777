"""`slaverify judge`: ask what is missing, or show what would be asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.audit.judging import Plan
    from slaverify.canonical import JsonObject


def ask(run_folder: Path, more_calls: int, only: str = "") -> bool | None:
    """Ask what is missing, or a part of it, alone; None without a judge. Raises: what the steps raise."""
    from slaverify.audit.alone import alone
    from slaverify.audit.judging import Only, judge_run
    from slaverify.audit.walk import Step, go
    from slaverify.cli.wiring import session_of_run

    if only and only not in list(Only):
        raise typer.BadParameter(t(f"no es una parte: {only}", f"no such part: {only}"))
    session, number = session_of_run(run_folder)
    if session.contract.model.judge is None:
        return None
    go(session, number, Step.SCORE)
    with alone(session.run_folder(number) / "private"):
        judge_run(session, number, more_calls=more_calls, only=Only(only) if only else None)
        _warn(session.run_folder(number))
    return True


def _warn(folder: Path) -> None:
    """Say what is odd and no failure: reasons in another language than the contract's."""
    import json

    from slaverify.judging import PANEL

    path = folder / PANEL
    alarms = json.loads(path.read_bytes())["calls"]["alarms"] if path.is_file() else {}
    count = alarms.get("reason_language", 0)
    if count:
        say(
            t(
                f"aviso: {count} razones del juez no están en el idioma que pide el contrato",
                f"warning: {count} reasons of the judge are not in the language of the contract",
            )
        )


def show_plan(run_folder: Path, item: str, as_json: bool) -> int:
    """Print how many calls are due and what they may cost; with `item`, the messages of its first call too."""
    from slaverify.audit.judging import plan_of_judge
    from slaverify.cli.wiring import session_of_run
    from slaverify.judging import read_call

    session, number = session_of_run(run_folder)
    plan = plan_of_judge(session, number)
    if plan is None:
        out(t("el contrato no tiene juez", "the contract has no judge"))
        return 0
    tree = _plan_json(plan)
    shown = [call for call in plan.calls if call.subject == item][:1] if item else []
    prompts: list[JsonObject] = []
    for call in shown:
        prompt = read_call(plan.work.instrument, call, {}).prompt
        if prompt is not None:
            prompts.append({"system": prompt.system, "user": prompt.user, "digest": prompt.digest})
    if as_json:
        emit({**tree, "prompts": list(prompts)})
        return 0
    out(
        t(
            f"llamadas {tree['calls']}, distintas {tree['distinct']}",
            f"calls {tree['calls']}, distinct {tree['distinct']}",
        )
    )
    for prompt_json in prompts:
        out(f"{prompt_json['digest']}\n\n{prompt_json['system']}\n\n{prompt_json['user']}")
    if item and not prompts:
        out(t("de ese ítem no se pregunta nada al juez", "nothing is asked of that item"))
    return 0


def _plan_json(plan: Plan) -> JsonObject:
    budget = plan.work.instrument.judge.budget
    distinct = len({call.id for call in plan.calls})
    price = None if budget is None or budget.price_per_call is None else format(budget.price_per_call * distinct, "f")
    return {
        "type": "slaverify/judge-plan/1",
        "calls": len(plan.calls),
        "distinct": distinct,
        "by_purpose": dict(sorted(Counter(call.purpose.value for call in plan.calls).items())),
        "allowed": plan.allowed,
        "estimated_cost": price,
    }
