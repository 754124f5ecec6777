"""What is issued and where it is registered: blocks `report` and `ledger`."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from slaverify.contract.model.identity import Language
from slaverify.contract.model.scalars import (
    AgeRecipient,
    Block,
    Count,
    Day,
    Hex64,
    Line,
    Oid,
    Pem,
    Positive,
    Seconds,
    Share,
    SshKey,
    Url,
    Vkey,
)

Annex = Literal["items", "glossary", "correspondence", "custody_checklist"]


class Signature(Block):
    """How the report is signed."""

    level: Literal["B-T", "B-LTA"] = Field(default="B-T", description="PAdES level")
    auditor_spki_sha256: Hex64 = Field(
        description="SHA-256 of the auditor's public key, hex; one of parties.auditor.keys"
    )
    auditor_roots: tuple[Pem, ...] | None = Field(
        default=None, description="Roots of the auditor; absent: the pinned leaf"
    )
    tsa_urls: tuple[Url, ...] = Field(default=(), description="Timestamp authorities, in order")
    tsa_roots: tuple[Pem, ...] | None = Field(default=None, description="Roots of the timestamp authorities")
    tsa_policy_oids: tuple[Oid, ...] = Field(default=(), description="Accepted policies; empty = any")
    signatories: tuple[Line, ...] = Field(min_length=1, description="Who may authorise")
    max_delay_s: Seconds = Field(default=Decimal("2592000"), description="Longest delay of the token, seconds")
    clock_tolerance_s: Seconds = Field(default=Decimal("300"), description="Tolerance of clocks, seconds")


class PublishedFigure(Block):
    """A figure of another corpus, shown apart and never compared."""

    name: Line = Field(description="What was measured")
    figure: Line = Field(description="Figure, as published")
    source: Line = Field(description="Source")
    as_of: Day = Field(description="Day")


class Report(Block):
    """Block `report`."""

    languages: tuple[Language, ...] = Field(
        min_length=1, description="Languages, one PDF each", examples=[["es", "en"]]
    )
    disclosure: Literal["public", "parties"] = Field(default="public", description="Edition attached")
    annexes: tuple[Annex, ...] = Field(
        default=("items", "glossary", "correspondence", "custody_checklist"), description="Annexes"
    )
    reply_days: Count = Field(default=5, description="Days for the vendor's reply")
    annex_recipients: dict[Line, AgeRecipient] = Field(
        default={}, description="Who can open the sealed annex; never the vendor"
    )
    references: tuple[PublishedFigure, ...] = Field(default=(), description="Published figures of other corpora")
    signature: Signature = Field(description="Signature")


class Witness(Block):
    """Somebody who cosigns the ledger."""

    name: Line = Field(description="Name")
    role: Line = Field(description="Role", examples=["vendor"])
    vkey: Vkey | None = Field(default=None, description="C2SP verifier key")
    ssh: SshKey | None = Field(default=None, description="SSH key")


class Beacon(Block):
    """A public source of randomness."""

    chain_hash: Hex64 = Field(description="Hash of the chain")
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{96,192}$")] = Field(description="Public key, hex")


class Ledger(Block):
    """Block `ledger`."""

    origin: Line = Field(description="Origin", examples=["Auditora/ledger/1f2e3d4c"])
    vkey: Vkey = Field(description="C2SP verifier key of the ledger")
    witnesses: tuple[Witness, ...] = Field(default=(), description="Witnesses")
    quorum: Count = Field(default=0, description="Witnesses that must have signed")
    start_anchor: Literal["none", "timestamp", "witness", "both"] | None = Field(
        default=None, description="Anchor of the start; default timestamp, none in a self-check"
    )
    run_budget: Positive = Field(description="SLA runs that may be opened", examples=[1])
    decides: Literal["first_complete"] = Field(default="first_complete", description="Which run decides")
    deadline_hours: Positive = Field(default=72, description="Deadline of a run, hours")
    blind: Literal["off", "on"] = Field(default="off", description="Blind starts")
    heartbeat_hours: Positive = Field(default=24, description="Cadence of blind entries, hours")
    beacon: Beacon | None = Field(default=None, description="Public randomness")
    alpha_leak: Share = Field(default=Decimal("0.01"), description="Level of the leak tests")
