"""Who agrees on what: blocks `contract`, `parties`, `scope`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from slaverify.contract.model.scalars import (
    Block,
    Count,
    Day,
    DayOrTime,
    Digest,
    Hex64,
    LanguageTag,
    Line,
    Locale,
    LongText,
    Positive,
    Slug,
    SshKey,
    Time,
    ZoneName,
)

Language = Literal["es", "en"]
RoleName = Literal["buyer", "vendor", "auditor", "custodian", "author", "judge_operator"]


class ParentAgreement(Block):
    """The agreement to which the contract is a schedule."""

    reference: Line = Field(description="Name or number of the main agreement", examples=["Orden de compra 1234-56"])
    clause: Line | None = Field(default=None, description="Clause that this contract fills", examples=["12.3"])


class Identity(Block):
    """Block `contract`: identity, lifecycle and the rules of reading."""

    id: Slug = Field(description="Identifier of the contract and of its files", examples=["asistente-normativo-cl"])
    title: Line = Field(description="Title for people", examples=["Exactitud del asistente normativo"])
    version: Positive = Field(description="Version of the contract, from 1", examples=[1])
    status: Literal["draft", "frozen"] = Field(
        description="Signed is a fact computed from the signatures, never written", examples=["draft"]
    )
    purpose: Literal["audit", "self_check", "pilot"] = Field(
        default="audit", description="What a report is for", examples=["audit"]
    )
    supersedes: Digest | None = Field(default=None, description="Digest of the version that this one amends")
    parent_agreement: ParentAgreement | None = Field(default=None, description="Main agreement")
    locale: Locale = Field(description="Country: decimal sign, dates, currency", examples=["es-CL"])
    prevailing_language: Language = Field(description="Language that prevails between translations", examples=["es"])
    time_zone: ZoneName = Field(description="IANA zone in which days are counted", examples=["America/Santiago"])
    translations: tuple[Language, ...] = Field(default=(), description="Other languages of the text")
    effective: Time | None = Field(
        default=None, description="First moment at which a run may start", examples=["2026-01-01T00:00:00-03:00"]
    )
    expires: Time | None = Field(
        default=None, description="Last moment of a run", examples=["2026-12-31T23:59:59-03:00"]
    )
    governing_law: Line | None = Field(default=None, description="Governing law", examples=["Ley chilena"])
    definitions: dict[Line, LongText] | None = Field(default=None, description="Defined terms")
    day_kind: Literal["calendar", "business"] = Field(default="calendar", description="How each _days field counts")
    holidays: tuple[Day, ...] = Field(default=(), description="Days that are not business days")


class PartyKey(Block):
    """A signing key of a party: X.509 (by the digest of its public key) or SSH."""

    spki_sha256: Hex64 | None = Field(default=None, description="SHA-256 of the SubjectPublicKeyInfo, hex")
    ssh: SshKey | None = Field(default=None, description="SSH public key", examples=["ssh-ed25519 AAAA…"])
    certificate_sha256: Hex64 | None = Field(default=None, description="SHA-256 of the certificate (DER), hex")
    valid_from: Time | None = Field(default=None, description="First moment of validity")
    valid_until: Time | None = Field(default=None, description="End of validity")


class Party(Block):
    """An organisation and its keys."""

    name: Line = Field(description="Legal name", examples=["Auditora Independiente Ltda."])
    legal_id: Line | None = Field(default=None, description="RUT, NIF, VAT…", examples=["76.123.456-0"])
    contact: Line | None = Field(default=None, description="How to reach the party")
    keys: tuple[PartyKey, ...] = Field(default=(), description="Signing keys")


class Vendor(Party):
    """The vendor; an item sent to one member of its exposure group counts as sent to all."""

    exposure_group: Line | None = Field(default=None, description="Group of affiliates; default legal_id, else name")


class PlaintextAccess(Block):
    """Somebody who has seen items in clear."""

    organisation: Line = Field(description="Organisation", examples=["Universidad Ejemplo"])
    role: Line = Field(description="In what capacity", examples=["author"])
    from_: DayOrTime = Field(alias="from", description="Since when", examples=["2026-01-10"])


class Independence(Block):
    """Who pays, what interests exist, who saw the items."""

    payer: Line = Field(description="Who pays the audit", examples=["buyer"])
    interests: tuple[Line, ...] = Field(default=(), description="Declared interests")
    plaintext_access: tuple[PlaintextAccess, ...] = Field(default=(), description="Who saw items in clear")
    auditor_limits: Line | None = Field(default=None, description="Confidentiality or review duties of the auditor")


class Parties(Block):
    """Block `parties`."""

    buyer: Party = Field(description="Who buys the service")
    vendor: Vendor = Field(description="Who runs the engine")
    auditor: Party = Field(description="Who runs the audit and signs")
    custodian: Party = Field(description="Who keeps the hidden set")
    author: Party | None = Field(default=None, description="Who wrote the items")
    judge_operator: Party | None = Field(default=None, description="Who runs the judge")
    independence: Independence | None = Field(default=None, description="Independence of the auditor")


class Corpus(Block):
    """The body of texts that the questions are about."""

    name: Line = Field(description="Name", examples=["16 normas, 1.173 artículos"])
    digest: Digest | None = Field(default=None, description="Digest of the corpus")
    as_of: Day | None = Field(default=None, description="Day of its state", examples=["2026-08-13"])
    size: Count | None = Field(default=None, description="Number of units", examples=[1173])


class DatedDigest(Block):
    """A file pinned by digest and day."""

    digest: Digest = Field(description="SHA-256 of the file")
    as_of: Day = Field(description="Day of its state", examples=["2026-08-13"])


class Scope(Block):
    """Block `scope`: what the promise covers."""

    intended_purpose: LongText = Field(
        description="What the engine is used for", examples=["Responder consultas sobre la norma"]
    )
    in_scope: tuple[Line, ...] = Field(default=(), description="Covered uses")
    out_of_scope: tuple[Line, ...] = Field(default=(), description="Uses that are not covered")
    languages: tuple[LanguageTag, ...] = Field(
        default=(), description="Languages of the questions", examples=[["es-CL"]]
    )
    exclusions: tuple[Line, ...] = Field(default=(), description="Excluded cases")
    corpus: Corpus | None = Field(default=None, description="Body of texts")
    catalogue: DatedDigest | None = Field(default=None, description="Catalogue of canonical identifiers")
