"""What is measured and how it is reached: blocks `engine` and `endpoint`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from slaverify.contract.model.scalars import (
    Block,
    Count,
    HeaderName,
    HeaderValue,
    Hex64,
    JsonTree,
    Line,
    LongText,
    Magnitude,
    NameVersion,
    Seconds,
    SecretRef,
    Timeout,
    Url,
)


class Regex(Block):
    """A regular expression, anchored at both ends; it must match the whole text."""

    regex: Line = Field(description="Anchored regular expression", examples=[r"^lexia-4\.2\.[0-9]+$"])


def _text_or_block(value: object) -> str:
    return "<map>" if isinstance(value, dict | Block) else "<text>"


Pattern = Annotated[Annotated[Line, Tag("<text>")] | Annotated[Regex, Tag("<map>")], Discriminator(_text_or_block)]
"""An exact text or `{regex}`."""


class Attestation(Block):
    """What the report names as proof of identity."""

    kind: Literal["response_path", "header", "fingerprint", "signed_statement"] = Field(description="Kind of proof")
    path: Line | None = Field(default=None, description="Path in the response", examples=["$.engine.version"])
    name: Line | None = Field(default=None, description="Header or statement", examples=["X-Engine-Version"])


def _list_or_word(value: object) -> str:
    return "<list>" if isinstance(value, list | tuple) else "<word>"


BaseFamilies = Annotated[
    Annotated[Literal["undisclosed"], Tag("<word>")] | Annotated[tuple[Line, ...], Tag("<list>")],
    Discriminator(_list_or_word),
]


class Engine(Block):
    """Block `engine`: the system under test and how its version is known."""

    name: Line = Field(description="Name of the engine", examples=["LexIA"])
    version: Line = Field(description="Pinned version, never a floating alias", examples=["4.2.1"])
    accepted_echoes: tuple[Pattern, ...] = Field(
        min_length=1, description="Version texts that a response may declare", examples=[["4.2.1"]]
    )
    attestation: tuple[Attestation, ...] = Field(default=(), description="Proofs of identity that the report names")
    on_missing: Literal["limitation", "invalid_run"] = Field(
        description="A response without version", examples=["limitation"]
    )
    on_mismatch: Literal["invalid_run", "breach"] = Field(
        default="invalid_run", description="A response of another version"
    )
    family: Line | None = Field(default=None, description="Model family; required if judged")
    base_families: BaseFamilies | None = Field(default=None, description="Families of base models, or undisclosed")
    change_notice_days: Count = Field(default=0, description="Notice of a change of version, days")
    split_on_drift: bool = Field(default=False, description="Decide both parts of a run that drifted")


class Auth(Block):
    """How a request is authorised; the secret stands elsewhere."""

    header: HeaderName = Field(default="Authorization", description="Header")
    scheme: str = Field(
        default="Bearer", pattern=r"^[A-Za-z0-9-]{0,32}$", description="Scheme before the secret; may be empty"
    )
    secret: SecretRef = Field(description="Where the secret is", examples=["env:VENDOR_API_KEY"])
    owner: Literal["vendor", "auditor"] = Field(default="auditor", description="Whose expiry a 401 is")


class MappedField(Block):
    """A path whose values have agreed meanings."""

    path: Line = Field(description="Path in the response", examples=["$.finish_reason"])
    values: dict[Line, Annotated[str, Field(pattern=r"^[a-z][a-z_]{0,31}$")]] | None = Field(
        default=None, description="Value of the vendor: meaning", examples=[{"MAX_TOKENS": "length"}]
    )


MeaningPath = Annotated[
    Annotated[Line, Tag("<text>")] | Annotated[MappedField, Tag("<map>")], Discriminator(_text_or_block)
]
"""A path, or a path with the meanings of its values."""


class CitationPaths(Block):
    """Where the parts of one citation are, relative to its element."""

    norm: Line | None = Field(default=None, description="Norm")
    article: Line | None = Field(default=None, description="Article")
    id: Line | None = Field(default=None, description="Identifier")
    text: Line | None = Field(default=None, description="Citation as text")
    url: Line | None = Field(default=None, description="Address")
    verified: Line | None = Field(default=None, description="Mark of the vendor, a JSON boolean")


class CitationMapping(Block):
    """Where the citations are."""

    path: Line = Field(description="Path to the list", examples=["$.citations[*]"])
    fields: CitationPaths = Field(description="Parts of one citation")


class ResponseMapping(Block):
    """Where each field of a response is (a path, or `header:NAME` for the identity)."""

    answer: Line | None = Field(default=None, description="The answer", examples=["$.answer"])
    citations: CitationMapping | None = Field(default=None, description="Citations")
    confidence: Line | None = Field(default=None, description="Declared confidence; stored, never used")
    refusal: MeaningPath | None = Field(default=None, description="Refusal mark")
    finish_reason: MeaningPath | None = Field(default=None, description="Why the answer ended")
    error: MeaningPath | None = Field(default=None, description="Error object")
    version: Line | None = Field(default=None, description="Version echo", examples=["$.engine.version"])
    fingerprint: Line | None = Field(default=None, description="Fingerprint of the engine")
    input_tokens: Line | None = Field(default=None, alias="usage.input_tokens", description="Tokens read, a count")
    output_tokens: Line | None = Field(default=None, alias="usage.output_tokens", description="Tokens written, a count")
    tool_calls: Line | None = Field(default=None, description="Calls of tools")
    response_id: Line | None = Field(default=None, description="Identifier of the response")


class Tls(Block):
    """Pins of the transport."""

    spki_pins: tuple[Hex64, ...] = Field(default=(), description="Accepted SHA-256 of the server's public key, hex")


class Backoff(Block):
    """Wait before attempt k+1: base × 2^k + jitter, at most the cap."""

    base_s: Seconds = Field(default=Decimal("1"), description="Base, seconds", json_schema_extra={"unit": "s"})
    jitter_s: Seconds = Field(default=Decimal("1"), description="Random part, seconds", json_schema_extra={"unit": "s"})
    cap_s: Seconds = Field(default=Decimal("30"), description="Longest wait, seconds", json_schema_extra={"unit": "s"})


class Call(Block):
    """Limits of one exchange."""

    total_timeout_s: Timeout = Field(default=Decimal("60"), description="Total deadline of an attempt, seconds")
    max_response_bytes: int = Field(default=262_144, ge=1, le=4_194_304, description="Cap of a response, bytes")
    attempts: int = Field(default=3, ge=1, le=5, description="Attempts, the first included")
    backoff: Backoff = Field(default=Backoff(), description="Waits between attempts")
    retry_after_max_s: Seconds = Field(
        default=Decimal("120"), description="Longest Retry-After that is waited for, seconds"
    )
    concurrency: int = Field(default=4, ge=1, le=1024, description="Exchanges at a time")
    rate_per_s: Magnitude | None = Field(default=None, description="Exchanges per second")
    paid_by: Literal["vendor", "buyer", "auditor"] = Field(default="auditor", description="Who pays the calls")
    answer_deadline_s: Seconds | None = Field(default=None, description="A later answer is not scored, seconds")
    agreed_latency_s: Seconds | None = Field(default=None, description="A later answer is flagged, seconds")


class PublicProbe(Block):
    """A harmless public question, sent before any private item."""

    query: LongText = Field(description="Question", examples=["¿En qué idioma responde?"])


class Candidate(Block):
    """The new version, for a change check alone."""

    url: Url = Field(description="Address of the new version")
    request: JsonTree = Field(description="Request template")
    version: Line = Field(description="Version")
    accepted_echoes: tuple[Pattern, ...] = Field(min_length=1, description="Accepted version texts")


class Endpoint(Block):
    """Block `endpoint`: how the engine is called."""

    adapter: NameVersion = Field(description="Protocol", examples=["json_http@1"])
    url: Url = Field(description="Address; https, or http to loopback", examples=["https://api.ejemplo.cl/v1/consulta"])
    method: Literal["POST", "PUT", "GET"] = Field(default="POST", description="HTTP method")
    headers: dict[HeaderName, HeaderValue] = Field(default={}, description="Fixed headers, no secrets")
    user_agent: HeaderValue = Field(default="http-client/1", description="User-Agent, neutral")
    auth: Auth | None = Field(default=None, description="Authorisation")
    request: JsonTree = Field(description="Body template", examples=[{"query": "${query}"}])
    response: ResponseMapping = Field(description="Where the answer is", examples=[{"answer": "$.answer"}])
    error_texts: tuple[Pattern, ...] = Field(default=(), description="Answers that are errors")
    cut_markers: tuple[Pattern, ...] = Field(default=(), description="Answers that were cut")
    quota_codes: tuple[Line, ...] = Field(default=(), description="Codes of a spent quota")
    model_codes: tuple[Line, ...] = Field(default=(), description="Codes of an unknown model")
    tls: Tls = Field(default=Tls(), description="Pins of the transport")
    allow_private: tuple[Line, ...] = Field(
        default=(), description="Private networks that may be called", examples=[["10.0.0.0/8"]]
    )
    proxy: Url | None = Field(default=None, description="Proxy")
    idempotency_header: HeaderName | None = Field(default=None, description="Header of the idempotency key")
    call: Call = Field(default=Call(), description="Limits of one exchange")
    public_probe: PublicProbe = Field(description="Harmless question for the preflight")
    probe_unknown_model: bool = Field(default=False, description="May a made-up model name be asked?")
    control_urls: tuple[Url, ...] = Field(default=(), max_length=2, description="Two URLs of independent hosts")
    candidate: Candidate | None = Field(default=None, description="New version of a change check")
