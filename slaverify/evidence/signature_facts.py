"""What was read in a signed PDF, a manifest's envelope and a timestamp token: plain values, no libraries.

The readers of `evidence.pades` fill these; the rules of `verify` judge them. A fact that could not be
read is absent, and `broken` says for which rule and why: the rule then fails.

Source: docs/spec/bundle.md; ETSI EN 319 142-1 (PAdES), RFC 5652 (CMS), RFC 3161 (timestamps).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

B_T = "B-T"
B_LTA = "B-LTA"
DEMO_POLICY = "2.999.1"
"""Certificate policy of the demonstration's key and authority: no evidentiary value."""


@dataclass(frozen=True)
class Pins:
    """What a verifier trusts, taken from outside the file under test (the contract or the command line).

    `auditor_spki`: SHA-256 of the signer's SubjectPublicKeyInfo, 64 lower-case hex digits.
    `tsa_roots`, `auditor_roots`: PEM certificates; with no `auditor_roots` the pinned leaf is its own root.
    `tsa_policy_oids`: allowed policies of a token, empty for any. `auditor_certificates`: SHA-256 of the
    certificates that the contract lists for that key, empty if it lists none.
    """

    auditor_spki: str
    tsa_roots: tuple[str, ...]
    tsa_policy_oids: tuple[str, ...] = ()
    level: str = B_T
    auditor_roots: tuple[str, ...] = ()
    auditor_certificates: tuple[str, ...] = ()


@dataclass(frozen=True)
class CertificateFacts:
    """One X.509 certificate, as far as the rules and the reader of a report need it.

    `spki_sha256` and `sha256` are hex; `key` is words such as `EC secp256r1` or `RSA 3072`.
    """

    subject: str
    sha256: str
    spki_sha256: str
    not_before: datetime
    not_after: datetime
    key: str
    key_usage: tuple[str, ...] = ()
    extended_key_usage: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    names_list: bool = False
    der: bytes = field(default=b"", repr=False, compare=False)


@dataclass(frozen=True)
class RevocationList:
    """One list of revoked certificates (CRL) against the certificates of a path. Times are aware UTC.

    `problem`: why it is of no use, empty if it can be read and its issuer signed it. `covers`: SHA-256 of the
    certificates that it speaks of; `revoked`: of those that it revokes, and from when (the earlier of the date of
    revocation and of the date from which the key is suspect). `next_update` None: it states none.
    """

    sha256: str
    problem: str = ""
    this_update: datetime | None = None
    next_update: datetime | None = None
    covers: tuple[str, ...] = ()
    revoked: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True)
class CmsFacts:
    """One CMS signature. `shape` lists how it departs from the form in which it was written; empty = not at all.

    `intact`: the signed digest is that of the data; `valid`: the signature is of that key; `trusted`: a path
    to an explicit root holds at the moment of the token; `vouched`: each byte of the signer's certificate is
    covered by a signature, a digest or a pin; `stray`: SHA-256 of embedded certificates that are neither on
    that path nor a pinned root.
    """

    shape: tuple[str, ...]
    intact: bool
    valid: bool
    trusted: bool
    trust_problem: str
    vouched: bool
    signer: CertificateFacts
    stray: tuple[str, ...] = ()
    path: tuple[CertificateFacts, ...] = ()


@dataclass(frozen=True)
class TokenFacts:
    """One RFC 3161 token. `imprint` is hex; `accuracy_ms` null where the token states none.

    `reply_shape` lists departures of the surrounding reply (a `.tsr`) from granted and nothing else; a token
    inside a signature has no reply, and the tuple is empty.
    """

    cms: CmsFacts
    at: datetime
    accuracy_ms: int | None
    policy: str
    serial: str
    imprint: str
    imprint_matches: bool
    reply_shape: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attachment:
    """A file embedded in the signed revision of a PDF."""

    name: str
    data: bytes


@dataclass(frozen=True)
class SignatureFacts:
    """Everything that the rules V01 to V15 judge in one PDF. Counts are ints, digests hex, `broken` by rule id.

    `archived_lists`: the revocation lists (DER) that the file itself keeps, at B-LTA.
    """

    size: int
    form_problem: str = ""
    regular_signatures: int = 0
    subfilter: str = ""
    certified: bool = False
    docmdp: int | None = None
    signer: CertificateFacts | None = None
    cms: CmsFacts | None = None
    token: TokenFacts | None = None
    later_revisions: int = 0
    later_changes: str = ""
    document_timestamps: tuple[TokenFacts, ...] = ()
    last_covers_file: bool = False
    gap_problems: tuple[str, ...] = ()
    signed_digest: str = ""
    attachments: tuple[Attachment, ...] = ()
    attachment_problems: tuple[str, ...] = ()
    structure_problems: tuple[str, ...] = ()
    archived_lists: tuple[bytes, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict)

    def attachment(self, name: str) -> bytes | None:
        """Return the bytes of the attachment `name` of the signed revision, or None."""
        return next((entry.data for entry in self.attachments if entry.name == name), None)


@dataclass(frozen=True)
class EnvelopeFacts:
    """The envelope of a bundle: the CMS over the manifest's bytes and the token over that CMS. `broken` by part."""

    cms: CmsFacts | None = None
    token: TokenFacts | None = None
    broken: Mapping[str, str] = field(default_factory=dict)


def cms_problems(cms: CmsFacts) -> tuple[str, ...]:
    """Return what is wrong with a CMS signature, in words of a closed list: empty if it holds in every respect."""
    checks = (
        ("digest", cms.intact),
        ("signature", cms.valid),
        ("path", cms.trusted),
        ("certificate_not_covered", cms.vouched),
        ("stray_certificate", not cms.stray),
    )
    return tuple(f"shape:{word}" for word in cms.shape) + tuple(word for word, holds in checks if not holds)


def token_problems(token: TokenFacts, policies: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is wrong with a token, in words of a closed list. `policies`: allowed OIDs, empty for any."""
    checks = (
        ("imprint", token.imprint_matches),
        ("policy", not policies or token.policy in policies),
        ("validity", all(entry.not_before <= token.at <= entry.not_after for entry in token.cms.path)),
        ("extended_key_usage", token.cms.signer.extended_key_usage == ("time_stamping",)),
    )
    return cms_problems(token.cms) + tuple(word for word, holds in checks if not holds)
