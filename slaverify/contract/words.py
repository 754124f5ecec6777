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


class PatternEvent(StrEnum):
    """Events of level `pattern`: what answers have in common. Printed; a contract may name them as binding."""

    CONSTANT_OUTPUT = "constant_output"
    DUPLICATE_ANSWER_BYTES = "duplicate_answer_bytes"
    CONSTANT_CONFIDENCE = "constant_confidence"
    PARTIAL_BODY = "partial_body"
    LATENCY_CEILING = "latency_ceiling"
    DECLARED_TRACE_ONLY = "declared_trace_only"


RUN_PATTERNS = frozenset(PatternEvent) - {PatternEvent.DECLARED_TRACE_ONLY}
"""Patterns that a run shows as a whole; the other one is seen in an answer by itself."""


VENDOR_STOP = "vendor_stop"
"""Flag of a `not_sent` exchange that was not sent because a fault of the vendor stopped the run."""

UNATTRIBUTED_RETRY = "unattributed_retry"
"""Flag of an exchange that was tried again after connections broke off, and after nothing else: nobody knows whose."""

OUTCOME_ATTRIBUTION: dict[Outcome, Attribution] = {
    Outcome.ANSWERED: Attribution.VENDOR,
    Outcome.REFUSED: Attribution.VENDOR,
    Outcome.TRUNCATED: Attribution.VENDOR,
    Outcome.EMPTY: Attribution.VENDOR,
    Outcome.MALFORMED: Attribution.VENDOR,
    Outcome.VENDOR_FAILURE: Attribution.VENDOR,
    Outcome.AUDITOR_FAILURE: Attribution.AUDITOR,
    Outcome.ENGINE_MISMATCH: Attribution.UNRESOLVED,
    Outcome.UNRESOLVED: Attribution.UNRESOLVED,
    Outcome.NOT_SENT: Attribution.AUDITOR,
}
"""Whose an outcome is when nothing else is known (docs/spec/endpoint.md section 6).

`engine_mismatch` follows the identity rule of the contract; where the run stands in spite of it, nobody's.
A `truncated` answer is the auditor's where the auditor added the limit, a `not_sent` one the vendor's where the
vendor's fault stopped the run: the attribution stored beside the outcome says so, and its flag `vendor_stop`.
"""
