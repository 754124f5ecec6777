"""The closed vocabularies that several rooms share: outcomes, parties, and the fields a metric may filter on.

Source: docs/spec/contract.md, docs/spec/endpoint.md section 6.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How one exchange ended; each planned exchange ends as exactly one."""

    ANSWERED = "answered"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    MALFORMED = "malformed"
    VENDOR_FAILURE = "vendor_failure"
    AUDITOR_FAILURE = "auditor_failure"
    ENGINE_MISMATCH = "engine_mismatch"
    UNRESOLVED = "unresolved"
    NOT_SENT = "not_sent"


class Attribution(StrEnum):
    """Whose an outcome is, for the bounds of the decision."""

    VENDOR = "vendor"
    AUDITOR = "auditor"
    UNRESOLVED = "unresolved"


class Role(StrEnum):
    """A party of the contract."""

    BUYER = "buyer"
    VENDOR = "vendor"
    AUDITOR = "auditor"
    CUSTODIAN = "custodian"
    AUTHOR = "author"
    JUDGE_OPERATOR = "judge_operator"
