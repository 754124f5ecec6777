"""PAdES, CMS and RFC 3161: the one package that imports pyHanko and asn1crypto.

It signs, and it reads signed things into the frozen facts of `evidence.signature_facts`; it judges nothing.

Source: ETSI EN 319 142-1, RFC 5652, RFC 3161.
"""

from __future__ import annotations

import logging

# Whatever pyHanko has to say is read from its results; a warning on a person's terminal would be noise.
for _name in ("pyhanko", "pyhanko_certvalidator"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

from slaverify.evidence.pades.archive import LongTerm  # noqa: E402 - after the loggers are quiet
from slaverify.evidence.pades.demo import (  # noqa: E402
    DEMO_NAME,
    Identity,
    demo_tsa_reply,
    make_authority,
    make_signer,
)
from slaverify.evidence.pades.document import pdf_facts  # noqa: E402
from slaverify.evidence.pades.envelope import detached_facts, envelope_facts  # noqa: E402
from slaverify.evidence.pades.extract import certificates_pem, pdf_parts  # noqa: E402
from slaverify.evidence.pades.party import PartyReader, PartySigner  # noqa: E402
from slaverify.evidence.pades.sign import sign_pdf  # noqa: E402
from slaverify.evidence.pades.tokens import reply_facts, token_facts  # noqa: E402

__all__ = [
    "DEMO_NAME",
    "Identity",
    "LongTerm",
    "PartyReader",
    "PartySigner",
    "certificates_pem",
    "demo_tsa_reply",
    "detached_facts",
    "envelope_facts",
    "make_authority",
    "make_signer",
    "pdf_facts",
    "pdf_parts",
    "reply_facts",
    "sign_pdf",
    "token_facts",
]
