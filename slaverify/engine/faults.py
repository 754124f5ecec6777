"""What can go wrong in one attempt: a closed list, and what each kind means for the retry.

The first group is seen on the wire and can only be attested; the second is derived from status, headers
and bytes, and anybody who holds them derives it again.

Source: docs/spec/run.md, sections "Faults" and "Retries".
"""

from __future__ import annotations

from enum import StrEnum


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


TRANSPORT = frozenset(
    {
        Fault.CONNECT,
        Fault.DNS,
        Fault.TLS,
        Fault.RESET,
        Fault.SHORT_BODY,
        Fault.DEADLINE,
        Fault.BAD_HEAD,
        Fault.CLOSE_CUT,
    }
)
"""Faults whose cause may lie on either side: the control probe attributes them."""

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

STOPPING = frozenset(
    {
        Fault.REDIRECT,
        Fault.KEY_MISMATCH,
        Fault.MODEL,
        Fault.ECHO,
        Fault.ECHO_MISSING,
        Fault.UNAUTHORISED,
        Fault.QUOTA,
        Fault.PRIVATE_ADDRESS,
    }
)
"""Faults after which no further item is sent."""

IDENTITY = frozenset({Fault.REDIRECT, Fault.KEY_MISMATCH, Fault.MODEL, Fault.ECHO, Fault.ECHO_MISSING})
"""Faults that mean: this was not the agreed engine. They end the run for good."""

_BACKOFF = frozenset(
    {
        Fault.CONNECT,
        Fault.DNS,
        Fault.TLS,
        Fault.RESET,
        Fault.SHORT_BODY,
        Fault.BAD_HEAD,
        Fault.CLOSE_CUT,
        Fault.STREAM_CUT,
        Fault.RATE_LIMITED,
        Fault.UNAVAILABLE,
        Fault.ERROR_OBJECT,
        Fault.ERROR_TEXT,
        Fault.NULL_ENVELOPE,
    }
)

_ONCE = frozenset(
    {
        Fault.DEADLINE,
        Fault.CODING,
        Fault.GZIP,
        Fault.CONTENT_TYPE,
        Fault.CHARSET,
        Fault.ENCODING,
        Fault.SYNTAX,
        Fault.TRAILING,
        Fault.DUPLICATE_KEY,
        Fault.NON_FINITE,
        Fault.NO_CHOICES,
        Fault.HTML,
        Fault.INTERNAL,
    }
)


def retry_class(fault: Fault | None) -> Retry:
    """Return the retry class of a fault; a complete answer (None) is never asked again."""
    if fault is None:
        return Retry.NEVER
    if fault in STOPPING:
        return Retry.STOP
    if fault in _BACKOFF:
        return Retry.BACKOFF
    return Retry.ONCE if fault in _ONCE else Retry.NEVER
