"""The new version of a change check as the ledger holds it. Pure.

Source: docs/spec/ledger.md (`run_opened`).
"""

from __future__ import annotations

from slaverify.canonical import JsonObject, jcs, sha256_hex
from slaverify.contract.model.engine import Candidate


def candidate_entry(new: Candidate) -> JsonObject:
    """Return `candidate` of the entry `run_opened`: version, accepted echoes, digest of the request template."""
    return {
        "version": new.version,
        "accepted_echoes": [one if isinstance(one, str) else {"regex": one.regex} for one in new.accepted_echoes],
        "request_sha256": sha256_hex(jcs(new.request)),
    }
