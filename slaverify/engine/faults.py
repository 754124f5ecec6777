"""What can go wrong in one attempt: a closed list, and what each kind means for the retry.

The first group is seen on the wire and can only be attested; the second is derived from status, headers
and bytes, and anybody who holds them derives it again.

Source: docs/spec/run.md, sections "Faults" and "Retries".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from slaverify.contract.words import Outcome


class Fault(StrEnum):
    """Why an attempt gave no usable answer, or why its answer has an outcome other than `answered`."""

    CONNECT = "connect"
    DNS = "dns"
    TLS = "tls"
    RESET = "reset"
    SHORT_BODY = "short_body"
    DEADLINE = "deadline"
    BAD_HEAD = "bad_head"
    HEADERS_TOO_LARGE = "headers_too_large"
    BODY_TOO_LARGE = "body_too_large"
    CODING = "coding"
    GZIP = "gzip"
    KEY_MISMATCH = "key_mismatch"
    PRIVATE_ADDRESS = "private_address"
    INTERRUPTED = "interrupted"
    INTERNAL = "internal"

    REDIRECT = "redirect"
    UNAUTHORISED = "unauthorised"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    UNAVAILABLE = "unavailable"
    STATUS = "status"
    MODEL = "model"
    HTML = "html"
    CLOSE_CUT = "close_cut"
    CONTENT_TYPE = "content_type"
    CHARSET = "charset"
    ENCODING = "encoding"
    SYNTAX = "syntax"
    TRAILING = "trailing"
    DUPLICATE_KEY = "duplicate_key"
    NON_FINITE = "non_finite"
    DIGITS = "digits"
    DEPTH = "depth"
    MAPPING = "mapping"
    ERROR_OBJECT = "error_object"
    ERROR_TEXT = "error_text"
    NULL_ENVELOPE = "null_envelope"
    NO_CHOICES = "no_choices"
    STREAM_CUT = "stream_cut"
    ECHO = "echo"
    ECHO_MISSING = "echo_missing"
    ANSWER_DEADLINE = "answer_deadline"
    PLUGIN = "plugin"


class Retry(StrEnum):
    """Whether another attempt follows a fault: `once` counts all faults of that class in the exchange."""

    NEVER = "never"
    ONCE = "once"
    BACKOFF = "backoff"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Way:
    """What follows a fault: another attempt or not, and the outcome if it is the last (`unresolved`: by the probe)."""

    retry: Retry
    outcome: Outcome


_ROWS: tuple[tuple[Retry, Outcome, tuple[Fault, ...]], ...] = (
    (
        Retry.BACKOFF,
        Outcome.UNRESOLVED,
        (
            *(Fault.CONNECT, Fault.DNS, Fault.TLS, Fault.RESET),
            *(Fault.SHORT_BODY, Fault.BAD_HEAD, Fault.CLOSE_CUT),
        ),
    ),
    (Retry.ONCE, Outcome.UNRESOLVED, (Fault.DEADLINE,)),
    (
        Retry.BACKOFF,
        Outcome.VENDOR_FAILURE,
        (Fault.UNAVAILABLE, Fault.RATE_LIMITED, Fault.ERROR_OBJECT, Fault.ERROR_TEXT, Fault.STREAM_CUT),
    ),
    (Retry.BACKOFF, Outcome.MALFORMED, (Fault.NULL_ENVELOPE,)),
    (
        Retry.ONCE,
        Outcome.MALFORMED,
        (
            *(Fault.CODING, Fault.GZIP, Fault.CONTENT_TYPE, Fault.CHARSET, Fault.ENCODING),
            *(Fault.SYNTAX, Fault.TRAILING, Fault.DUPLICATE_KEY, Fault.NON_FINITE),
        ),
    ),
    (Retry.ONCE, Outcome.VENDOR_FAILURE, (Fault.HTML,)),
    (Retry.ONCE, Outcome.EMPTY, (Fault.NO_CHOICES,)),
    (
        Retry.NEVER,
        Outcome.MALFORMED,
        (Fault.HEADERS_TOO_LARGE, Fault.BODY_TOO_LARGE, Fault.DIGITS, Fault.DEPTH, Fault.MAPPING),
    ),
    (Retry.NEVER, Outcome.VENDOR_FAILURE, (Fault.STATUS, Fault.ANSWER_DEADLINE)),
    # Whose these two are depends on the contract: `classify.fault_outcome`.
    (Retry.STOP, Outcome.VENDOR_FAILURE, (Fault.UNAUTHORISED, Fault.QUOTA)),
    (Retry.STOP, Outcome.AUDITOR_FAILURE, (Fault.PRIVATE_ADDRESS,)),
    (
        Retry.STOP,
        Outcome.ENGINE_MISMATCH,
        (Fault.REDIRECT, Fault.KEY_MISMATCH, Fault.MODEL, Fault.ECHO, Fault.ECHO_MISSING),
    ),
    (Retry.ONCE, Outcome.AUDITOR_FAILURE, (Fault.INTERNAL,)),
    (Retry.NEVER, Outcome.AUDITOR_FAILURE, (Fault.INTERRUPTED, Fault.PLUGIN)),
)

WAYS = {fault: Way(retry, outcome) for retry, outcome, faults in _ROWS for fault in faults}
"""What follows each fault: the table of the specification, row by row."""


def _with(outcome: Outcome) -> frozenset[Fault]:
    return frozenset(fault for fault, way in WAYS.items() if way.outcome is outcome)


TRANSPORT = _with(Outcome.UNRESOLVED)
"""Faults whose cause may lie on either side: the control probe attributes them."""

IDENTITY = _with(Outcome.ENGINE_MISMATCH)
"""Faults that mean: this was not the agreed engine. They end the run for good."""

OURS = _with(Outcome.AUDITOR_FAILURE)
"""Faults of the auditor's side, whatever the contract says."""

STOPPING = frozenset(fault for fault, way in WAYS.items() if way.retry is Retry.STOP)
"""Faults after which no further item is sent."""

ATTESTED = frozenset(
    {
        Fault.CONNECT,
        Fault.DNS,
        Fault.TLS,
        Fault.RESET,
        Fault.SHORT_BODY,
        Fault.DEADLINE,
        Fault.BAD_HEAD,
        Fault.HEADERS_TOO_LARGE,
        Fault.BODY_TOO_LARGE,
        Fault.CODING,
        Fault.GZIP,
        Fault.KEY_MISMATCH,
        Fault.PRIVATE_ADDRESS,
        Fault.INTERRUPTED,
        Fault.INTERNAL,
    }
)
"""Faults of the wire: recorded when they happened, not derivable from the bytes that were kept."""


def retry_class(fault: Fault | None) -> Retry:
    """Return the retry class of a fault; a complete answer (None) is never asked again."""
    return Retry.NEVER if fault is None else WAYS[fault].retry
