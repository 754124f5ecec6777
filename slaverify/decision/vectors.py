"""Run the vectors of `metric_state` and `combine_states`, beside those of the statistics room."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from slaverify.decision.combine import Member, combine_states
from slaverify.decision.rules import Facts, guard_of, metric_state
from slaverify.decision.words import State
from slaverify.errors import SlaverifyError
from slaverify.statistics import vectors
from slaverify.statistics.vectors import Inputs, Outputs, VectorOutcome, decimal, integer, text


def _metric_state(i: Inputs) -> Outputs:
    accept, reject = i.get("pass_max_failures"), i.get("breach_min_failures")
    f_breach = integer(i, "failures") + integer(i, "failures_vendor")
    unresolved = integer(i, "unresolved")
    f_pass = f_breach + unresolved + (integer(i, "open") if "open" in i else 0)
    guard, n = i.get("guard"), integer(i, "n_pinned")
    ruling = metric_state(
        Facts(
            run_valid=i.get("run_valid") is True,
            judge_drift=i.get("judge_drift") is not False,
            n=n,
            observations=n,
            unresolved=unresolved,
            unresolved_max=decimal(i, "unresolved_max"),
            guard=None if guard is None else guard_of(str(guard)),
            clusters=None if i.get("clusters") is None else integer(i, "clusters"),
            provenance=text(i, "provenance"),
            passes=isinstance(accept, int) and f_pass <= accept,
            breaches=isinstance(reject, int) and f_breach >= reject,
        )
    )
    return {"state": ruling.state.value, "reason": None if ruling.reason is None else ruling.reason.value}


def _combine_states(i: Inputs) -> Outputs:
    rows = i.get("metrics")
    members = []
    for row in rows if isinstance(rows, list) else []:
        p = row.get("p_breach")
        members.append(
            Member(
                state=State(row["state"]),
                p_breach=None if p is None else Fraction(decimal(row, "p_breach")),
                binding=row.get("binding") is True,
            )
        )
    combined = combine_states(members, Fraction(decimal(i, "alpha_breach")), run_valid=i.get("run_valid") is True)
    return {"state": combined.state.value, "breaching": list(combined.breaching)}


def conformance(document: Sequence[object]) -> tuple[VectorOutcome, ...]:
    """Run every vector of a statistics file against the installed version. Raises nothing.

    A vector that is malformed, of a method that nobody knows, or that raises, has failed; an oracle of the test suite
    is not performed.
    """
    return tuple(_outcome(vector, index) for index, vector in enumerate(document))


def _outcome(vector: object, index: int) -> VectorOutcome:
    if not isinstance(vector, dict) or not isinstance(vector.get("id"), str):
        return VectorOutcome(f"#{index}", "failed", ("not a vector",))
    if vector.get("method") in vectors.ORACLES:
        return VectorOutcome(str(vector["id"]), "not_performed", ("an oracle of the test suite",))
    try:
        found = tuple(vectors.run(METHODS, vector))
    except (SlaverifyError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        found = (f"{type(error).__name__}: {error}",)
    return VectorOutcome(str(vector["id"]), "failed" if found else "passed", found)


METHODS: Mapping[str, Callable[[Inputs], Outputs]] = {
    **vectors.METHODS,
    "combine_states": _combine_states,
    "metric_state": _metric_state,
}
"""Every method of roles C and R of both rooms."""
