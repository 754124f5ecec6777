"""The dispersion sample of a run, from the files of its bundle: the auditor and the verifier call the same.

Source: docs/spec/decision.md, section 6; docs/spec/bundle.md.
"""

from __future__ import annotations

from slaverify.canonical import JsonObject
from slaverify.contract import LoadedContract
from slaverify.decision import dispersion
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.integrity import ARM_SCORES, REPEAT
from slaverify.evidence.reading import SCORES, block
from slaverify.evidence.validity import is_change_check

DISPERSION = "statistics/dispersion.json"


def dispersion_of(bundle: Bundle, contract: LoadedContract) -> JsonObject | None:
    """Return the object of `statistics/dispersion.json`; None where none was agreed or nothing was scored.

    Raises: EvidenceError for a file that such a run has and is missing or malformed.
    """
    agreed = contract.model.repetitions.dispersion_sample
    if agreed is None or not bundle.has(SCORES) or is_change_check(bundle, contract):
        return None
    lines = bundle.lines(ARM_SCORES)
    records = [block(line.get("record"), ARM_SCORES) for line in lines if line.get("arm") == REPEAT]
    return dispersion(contract.model, records)
