"""Sign a finished PDF: PAdES B-T, a certification that permits no change, invisible field, one token; or B-LTA.

Source: ETSI EN 319 142-1 (baseline B-T and B-LTA), ISO 32000-2 12.8 (DocMDP).
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from asn1crypto import cms, tsp, x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import Certificate
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.writer import BasePdfFileWriter
from pyhanko.sign.fields import MDPPerm, SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner, constants
from pyhanko.sign.signers.pdf_cms import Signer
from pyhanko.sign.timestamps import TimeStamper
from pyhanko_certvalidator.registry import SimpleCertificateStore

from slaverify.errors import ReportError, SlaverifyError, Text
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.pades.archive import LongTerm, with_archive
from slaverify.evidence.pades.shape import token_of_reply
from slaverify.evidence.pades.validation import run
from slaverify.evidence.pades.xref import classic_problem

FIELD = "slaverify"
RESERVED = 32_768
"""Hex digits kept for the signature: with a number given, pyHanko asks for no second token to measure it."""
_METADATA = PdfSignatureMetadata(
    field_name=FIELD,
    md_algorithm="sha256",
    subfilter=SigSeedSubFilter.PADES,
    certify=True,
    docmdp_permissions=MDPPerm.NO_CHANGES,
)

StampDigest = Callable[[bytes], bytes]
"""Gives the reply (`.tsr`) over a SHA-256 digest: `Stamper.stamp_digest`."""


def sign_pdf(unsigned: bytes, key: SigningKey, stamp_digest: StampDigest, long_term: LongTerm | None = None) -> bytes:
    """Return `unsigned` with one incremental update that certifies it and holds one timestamp (B-T).

    With `long_term`, a second update holds the certificates and CRLs under a document timestamp over the whole
    file (B-LTA); two tokens are then asked. The first `len(unsigned)` bytes stay as they are.
    Raises: ReportError SLV-R020 (no token, exit 6), SLV-R023 (the PDF cannot be signed: not ours, signed before, or
    for B-LTA a certificate whose revocation list is not there).
    """
    problem = classic_problem(unsigned)
    if problem:
        raise _unfit(problem)
    try:
        field = SigFieldSpec(FIELD)
        stamper = _PortStamper(stamp_digest)
        signer = _PdfSigner(_METADATA, _KeySigner(key), timestamper=stamper, new_field_spec=field)
        writer = _Update(BytesIO(unsigned))
        if writer.prev.embedded_signatures:
            raise _unfit("already signed")
        out: BytesIO = run(lambda: signer.async_sign_pdf(writer, bytes_reserved=RESERVED))
        signed = out.getvalue()
        if long_term is not None:
            signed = with_archive(_Update(BytesIO(signed)), signed, stamper, long_term)
    except SlaverifyError:
        raise
    except Exception as error:
        raise _unfit(f"{type(error).__name__}: {error}"[:300]) from error
    if signed[: len(unsigned)] != unsigned:
        raise _unfit("the signed file does not begin with the unsigned one")
    return signed


class _Update(IncrementalPdfFileWriter):
    """An update that leaves the document's own metadata alone: title, dates and conformance are the renderer's."""

    def _update_meta(self) -> None:
        """Change nothing. (pyHanko would put its name and the wall clock into XMP and Info.)"""


class _PdfSigner(PdfSigner):
    """A signer that names the PAdES extension and no other: ISO 32002 would raise the version above PDF/A-3's."""

    def register_extensions(self, pdf_out: BasePdfFileWriter, *, md_algorithm: str) -> None:
        """Register ETSI's extension of PDF 1.7."""
        pdf_out.register_extension(constants.ESIC_EXTENSION_1)


class _KeySigner(Signer):
    """Signs through the key object itself, so that a token or a card can stand in for a key in memory."""

    def __init__(self, key: SigningKey) -> None:
        store = SimpleCertificateStore()  # type: ignore[no-untyped-call]  # pyHanko
        store.register_multiple(_asn1(entry) for entry in key.chain)
        super().__init__(signing_cert=_asn1(key.certificate), cert_registry=store)
        self._key = key.private

    async def async_sign_raw(self, data: bytes, digest_algorithm: str, dry_run: bool = False) -> bytes:
        """Return the signature over `data`, SHA-256."""
        if digest_algorithm != "sha256":
            raise ValueError(digest_algorithm)
        if isinstance(self._key, EllipticCurvePrivateKey):
            return self._key.sign(data, ECDSA(hashes.SHA256()))
        return self._key.sign(data, PKCS1v15(), hashes.SHA256())


class _PortStamper(TimeStamper):
    """pyHanko's time stamper over our port."""

    def __init__(self, stamp_digest: StampDigest) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # pyHanko
        self._stamp_digest = stamp_digest

    async def async_timestamp(self, message_digest: bytes, md_algorithm: str) -> cms.ContentInfo:
        """Return the token over `message_digest`."""
        if md_algorithm != "sha256":
            raise ValueError(md_algorithm)
        return cms.ContentInfo.load(token_of_reply(self._stamp_digest(message_digest)), strict=True)

    async def async_request_tsa_response(self, req: tsp.TimeStampReq) -> tsp.TimeStampResp:
        """Refuse: tokens come from the port alone."""
        raise NotImplementedError


def _asn1(certificate: Certificate) -> x509.Certificate:
    return x509.Certificate.load(certificate.public_bytes(Encoding.DER))


def _unfit(detail: str) -> ReportError:
    return ReportError(
        "SLV-R023",
        Text("este PDF no se puede firmar", "this PDF cannot be signed"),
        why=Text(detail, detail),
        fix=Text("vuelva a generar el informe sin firmar", "make the unsigned report again"),
    )
