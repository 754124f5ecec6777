"""Take a signed PDF apart, so that public tools can check it. Nothing is judged here.

Source: RFC 5652 (CMS), RFC 3161 (token in the unsigned attributes), ISO 32000-2 12.8 (ByteRange).
"""

from __future__ import annotations

from io import BytesIO

from asn1crypto import cms
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from pyhanko.pdf_utils.reader import PdfFileReader

from slaverify.errors import Text
from slaverify.evidence.pades.document import pdf_facts
from slaverify.evidence.problems import not_a_bundle


def pdf_parts(pdf: bytes) -> dict[str, bytes]:
    """Return the parts of a signed report by file name.

    `signed.bin` the bytes that the signature covers, `sig.p7s` the CMS, `sigvalue.bin` its signature value (what the
    token is over), `token.der`, `auditor.pem`, `tsa.signer.pem` (certificates as they stand in the file), and the two
    attachments. Raises: EvidenceError SLV-E001 if the file is no signed report.
    """
    facts = pdf_facts(pdf, None)
    if facts.form_problem or facts.regular_signatures != 1:
        raise _unfit(facts.form_problem or "one signature expected")
    try:
        signature = PdfFileReader(BytesIO(pdf)).embedded_regular_signatures[0]
        start, length, second, tail = (int(number) for number in signature.byte_range)
        content = cms.ContentInfo.load(signature.pkcs7_content)
        signer = content["content"]["signer_infos"][0]
        parts = {
            "signed.bin": pdf[start : start + length] + pdf[second : second + tail],
            "sig.p7s": content.dump(),
            "sigvalue.bin": signer["signature"].native,
            "auditor.pem": _pem(content),
            **{entry.name: entry.data for entry in facts.attachments},
        }
        for attribute in signer["unsigned_attrs"]:
            if attribute["type"].native == "signature_time_stamp_token":
                token = attribute["values"][0]
                parts |= {"token.der": token.dump(), "tsa.signer.pem": _pem(token)}
    except Exception as error:
        raise _unfit(f"{type(error).__name__}: {error}"[:200]) from error
    return parts


def certificates_pem(signature: bytes) -> bytes:
    """Return the certificates that stand in a CMS (DER), in PEM. Raises: EvidenceError SLV-E001."""
    try:
        return _pem(cms.ContentInfo.load(signature))
    except Exception as error:
        raise _unfit(f"{type(error).__name__}: {error}"[:200]) from error


def _pem(content: cms.ContentInfo) -> bytes:
    found = [x509.load_der_x509_certificate(one.dump()) for one in content["content"]["certificates"]]
    return b"".join(one.public_bytes(Encoding.PEM) for one in found)


def _unfit(detail: str) -> Exception:
    return not_a_bundle("PDF", Text(f"no es un informe firmado: {detail}", f"not a signed report: {detail}"))
