"""Room engine: builds a request, reads hostile bytes within bounds, says what came back and from whom.

Here stands the pure half, which `verify` uses too. The network is the second door, `slaverify.engine.wire`.
"""

from slaverify.engine.adapters import Adapter, AdapterFacts
from slaverify.engine.body import Parsed, parse_json
from slaverify.engine.candidate import candidate_entry
from slaverify.engine.classify import (
    Reading,
    Received,
    Turn,
    attribution_of,
    fault_outcome,
    outcome_of,
    read_response,
)
from slaverify.engine.exchange import Wire, WireRequest, WireResult, kept_headers
from slaverify.engine.faults import ATTESTED, IDENTITY, OURS, STOPPING, TRANSPORT, Fault, Retry, retry_class
from slaverify.engine.headers import request_headers
from slaverify.engine.identity import Echo, check_echo
from slaverify.engine.request import RequestIds, RequestTemplate, compile_template
from slaverify.engine.retry import Step, next_step, retry_after_s
from slaverify.engine.spec import EndpointSpec, adapter_of, compile_endpoint, is_plugged

__all__ = [
    "ATTESTED",
    "IDENTITY",
    "OURS",
    "STOPPING",
    "TRANSPORT",
    "Adapter",
    "AdapterFacts",
    "Echo",
    "EndpointSpec",
    "Fault",
    "Parsed",
    "Reading",
    "Received",
    "RequestIds",
    "RequestTemplate",
    "Retry",
    "Step",
    "Turn",
    "Wire",
    "WireRequest",
    "WireResult",
    "adapter_of",
    "attribution_of",
    "candidate_entry",
    "check_echo",
    "compile_endpoint",
    "compile_template",
    "fault_outcome",
    "is_plugged",
    "kept_headers",
    "next_step",
    "outcome_of",
    "parse_json",
    "read_response",
    "request_headers",
    "retry_after_s",
    "retry_class",
]
