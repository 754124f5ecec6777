"""What a verification is given: the files under test, and the trust that comes from outside them.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slaverify.canonical import JsonValue
from slaverify.contract import LoadedContract
from slaverify.errors import SlaverifyError
from slaverify.evidence import Bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The outside pins: a contract, or its digest, or the auditor's key with the roots of timestamps.

    `contract_digest` is `sha256:<hex>`; `auditor_spki` the SHA-256 of the SubjectPublicKeyInfo, bare hex;
    `tsa_roots` PEM certificates. Nothing here may be read from the files under test.
    """

    contract: LoadedContract | None = None
    contract_digest: str | None = None
    auditor_spki: str | None = None
    tsa_roots: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        """Whether anything was pinned from outside."""
        by_key = self.auditor_spki is not None and bool(self.tsa_roots)
        return self.contract is not None or self.contract_digest is not None or by_key


@dataclass(frozen=True, slots=True)
class Rerendered:
    """The page made again by the caller: unsigned PDF bytes, and the versions used (`render` of report.json)."""

    unsigned: bytes
    versions: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """Everything that one verification reads. At least one of `pdf` and `bundle` must be given.

    `bundle`, `annex`, `page_data` and `rerendered` may hold the refusal of the reader that should have made them:
    the check that needed it then fails (or, for the renderer, is not performed). `annex` is the opened sealed
    annex, by path. `page_data`: report.json built again from the bundle, in the report's language and for its
    renderer. `checkpoint` is the note of a checkpoint obtained elsewhere, `now` the reader's clock in UTC,
    used only against cosignatures from the future. `crls` are DER revocation lists.
    """

    now: datetime
    pdf: bytes | None = None
    bundle: Bundle | SlaverifyError | None = None
    trust: Trust = field(default=Trust())
    checkpoint: bytes | None = None
    run_id: str | None = None
    report_id: str | None = None
    annex: Mapping[str, bytes] | SlaverifyError | None = None
    page_data: bytes | SlaverifyError | None = None
    rerendered: Rerendered | SlaverifyError | None = None
    crls: tuple[bytes, ...] = ()
    strict: bool = False
    allow_demo: bool = False
