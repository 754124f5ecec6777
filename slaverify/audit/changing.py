"""Change checks: the new version that the contract names, as the ledger holds it, and what such a run can be."""

from __future__ import annotations

from slaverify.canonical import JsonObject
from slaverify.contract import Contract
from slaverify.engine import candidate_entry
from slaverify.errors import ApplicationError, Text


def candidate_of(contract: Contract) -> JsonObject:
    """Return `candidate` of the entry `run_opened`: version, accepted echoes, digest of the request template.

    Raises: ApplicationError SLV-A035 where the contract agrees on no change check, or on one that is not carried out.
    """
    new = contract.endpoint.candidate
    if contract.schedule.change_check is None or new is None:
        raise _refused(
            Text("el contrato no pacta una comprobación de cambio", "the contract agrees on no change check"),
            "endpoint.candidate" if new is None else "schedule.change_check",
        )
    if contract.judge is not None:
        raise _refused(Text("una comprobación de cambio con juez no se hace", "no change check with a judge"), "judge")
    if contract.method.profile == "trajectory@1":
        raise _refused(Text("ni sobre caminos de agentes", "nor on paths of agents"), "method.profile")
    return candidate_entry(new)


def _refused(what: Text, where: str) -> ApplicationError:
    return ApplicationError(
        "SLV-A035",
        what,
        fix=Text(
            "pacte schedule.change_check y endpoint.candidate en una versión nueva del contrato",
            "agree on schedule.change_check and endpoint.candidate in a new version of the contract",
        ),
        where=where,
        exit_code=2,
    )
