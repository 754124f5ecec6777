"""The evidence: bundle, manifest, archive, editions, and the facts of signatures.

This face is pure. What opens files is in `evidence.read` and `evidence.write`, what signs or reads signatures in
`evidence.pades`, the sealed annex in `evidence.annex`. Formats: docs/spec/bundle.md.
"""

from slaverify.evidence.bundle import (
    PARTIES,
    PUBLIC,
    Bundle,
    Closing,
    Finding,
    MemorySource,
    Source,
    close,
    edition_files,
)
from slaverify.evidence.facts import limitation_facts
from slaverify.evidence.layout import ANNEX, ENVELOPE, MANIFEST, SUMS, TOKEN, Disclosure, disclosure_of, media_type_of
from slaverify.evidence.manifest import (
    AnnexEntry,
    FileEntry,
    Header,
    LedgerHead,
    Manifest,
    Recipient,
    Tool,
    build_manifest,
    bundle_digest,
    parse_manifest,
)
from slaverify.evidence.signature_facts import (
    B_LTA,
    B_T,
    DEMO_POLICY,
    Attachment,
    CertificateFacts,
    CmsFacts,
    EnvelopeFacts,
    Pins,
    RevocationList,
    SignatureFacts,
    TokenFacts,
    cms_problems,
    token_problems,
)
from slaverify.evidence.validity import first_exchange, ledger_view, run_validity

__all__ = [
    "ANNEX",
    "B_LTA",
    "B_T",
    "DEMO_POLICY",
    "ENVELOPE",
    "MANIFEST",
    "PARTIES",
    "PUBLIC",
    "SUMS",
    "TOKEN",
    "AnnexEntry",
    "Attachment",
    "Bundle",
    "CertificateFacts",
    "Closing",
    "CmsFacts",
    "Disclosure",
    "EnvelopeFacts",
    "FileEntry",
    "Finding",
    "Header",
    "LedgerHead",
    "Manifest",
    "MemorySource",
    "Pins",
    "Recipient",
    "RevocationList",
    "SignatureFacts",
    "Source",
    "TokenFacts",
    "Tool",
    "build_manifest",
    "bundle_digest",
    "close",
    "cms_problems",
    "disclosure_of",
    "edition_files",
    "first_exchange",
    "ledger_view",
    "limitation_facts",
    "media_type_of",
    "parse_manifest",
    "run_validity",
    "token_problems",
]
