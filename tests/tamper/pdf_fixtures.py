"""The named tamperings of a signed PDF, each built from the clean one. What they must give: `expected.json`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import pikepdf
from asn1crypto import cms
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.generic import pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.fields import SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner, PdfTimeStamper

from slaverify.evidence import Pins
from slaverify.evidence.pades import make_authority, make_signer, sign_pdf
from slaverify.evidence.pades.der import first
from slaverify.evidence.pades.sign import RESERVED, _KeySigner, _PortStamper
from tests.evidence.pki import NOW, Tsa, auditor, ca, key_of, pins_for, signed_pdf, tsa, unsigned_pdf


@dataclass(frozen=True)
class Tampered:
    """A PDF and the pins of the contract that it is verified against."""

    pdf: bytes
    pins: Pins


def gap(pdf: bytes) -> tuple[int, int]:
    """Return where the hex digits of the signature begin and end."""
    start = pdf.rindex(b"/Contents <") + len(b"/Contents <")
    return start, pdf.index(b">", start)


def cms_of(pdf: bytes) -> bytes:
    start, end = gap(pdf)
    return first(bytes.fromhex(pdf[start:end].decode())).whole


def with_cms(pdf: bytes, data: bytes) -> bytes:
    start, end = gap(pdf)
    return pdf[:start] + data.hex().upper().encode().ljust(end - start, b"0") + pdf[end:]


def flipped(data: bytes, position: int, mask: int = 0x01) -> bytes:
    out = bytearray(data)
    out[position] ^= mask
    return bytes(out)


def _own(pdf: bytes) -> Tampered:
    return Tampered(pdf, pins_for(auditor()))


def _updated(change: Callable[[IncrementalPdfFileWriter], None]) -> Tampered:
    writer = IncrementalPdfFileWriter(BytesIO(signed_pdf()))
    change(writer)
    out = BytesIO()
    writer.write(out)
    return _own(out.getvalue())


def pdf00_untouched() -> Tampered:
    return _own(signed_pdf())


def pdf01_flip_body_byte() -> Tampered:
    pdf = signed_pdf()
    return _own(flipped(pdf, pdf.index(b"ET\n", pdf.index(b"stream")) - 3))


def pdf03_write_contents_padding() -> Tampered:
    pdf = signed_pdf()
    _, end = gap(pdf)
    return _own(pdf[: end - 4] + b"BEEF" + pdf[end:])


def pdf04_garbage_after_eof() -> Tampered:
    return _own(signed_pdf() + b"garbage\n")


def pdf05_null_update() -> Tampered:
    pdf = signed_pdf()
    previous = int(pdf[pdf.rindex(b"startxref") + 10 :].split()[0])
    trailer = pdf[pdf.rindex(b"trailer") : pdf.rindex(b"startxref")]
    size, root = (trailer.split(key)[1].split(b"\n")[0] for key in (b"/Size", b"/Root"))
    table = b"xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size%s/Root%s/Prev %d>>\n" % (size, root, previous)
    return _own(pdf + table + b"startxref\n%d\n%%%%EOF\n" % len(pdf))


def pdf06_overlay_page() -> Tampered:
    def overlay(writer: IncrementalPdfFileWriter) -> None:
        page = writer.root["/Pages"]["/Kids"][0]
        stream = writer.add_object(generic.StreamObject(stream_data=b"0 0 500 500 re f"))
        page["/Contents"] = generic.ArrayObject([page.raw_get("/Contents"), stream])
        writer.update_container(page)

    return _updated(overlay)


def pdf07_replace_attachment_by_update() -> Tampered:
    def replace(writer: IncrementalPdfFileWriter) -> None:
        specification = writer.root["/Names"]["/EmbeddedFiles"]["/Names"][3]
        stream = writer.add_object(generic.StreamObject(stream_data=b'{"state":"PASS"}'))
        for key in ("/F", "/UF"):
            if key in specification["/EF"]:
                specification["/EF"][pdf_name(key)] = stream
        writer.update_container(specification["/EF"])

    return _updated(replace)


def pdf08_add_freetext() -> Tampered:
    def annotate(writer: IncrementalPdfFileWriter) -> None:
        page = writer.root["/Pages"]["/Kids"][0]
        note = generic.DictionaryObject(
            {
                pdf_name("/Type"): pdf_name("/Annot"),
                pdf_name("/Subtype"): pdf_name("/FreeText"),
                pdf_name("/Contents"): generic.pdf_string("PASS"),
                pdf_name("/Rect"): generic.ArrayObject(generic.NumberObject(n) for n in (0, 0, 99, 99)),
            }
        )
        page["/Annots"].append(writer.add_object(note))
        writer.update_container(page["/Annots"])

    return _updated(annotate)


def pdf09_change_title_xmp() -> Tampered:
    def retitle(writer: IncrementalPdfFileWriter) -> None:
        writer.document_meta.title = "Otro título"
        writer.update_root()

    return _updated(retitle)


def pdf10_truncate_to_unsigned() -> Tampered:
    return _own(signed_pdf()[: len(unsigned_pdf())])


def pdf11_rewrite_other_library() -> Tampered:
    out = BytesIO()
    with pikepdf.open(BytesIO(signed_pdf())) as pdf:
        pdf.save(out, object_stream_mode=pikepdf.ObjectStreamMode.disable, compress_streams=False)
    return _own(out.getvalue())


def pdf12_resign_other_ca_same_names() -> Tampered:
    pinned, other = ca(1).issue(), ca(2).issue()
    pins = pins_for(pinned, auditor_roots=(ca(1).pem,))
    return Tampered(sign_pdf(unsigned_pdf(), other, tsa().stamper().stamp_digest), pins)


def pdf13_resign_same_ca_other_key() -> Tampered:
    pinned, other = ca(1).issue(), ca(1).issue()
    pins = pins_for(pinned, auditor_roots=(ca(1).pem,))
    return Tampered(sign_pdf(unsigned_pdf(), other, tsa().stamper().stamp_digest), pins)


def pdf14_resign_self_signed() -> Tampered:
    other = key_of(make_signer(NOW, "Auditora de prueba", None))
    return _own(sign_pdf(unsigned_pdf(), other, tsa().stamper().stamp_digest))


class _Unconstrained(PdfSigner):
    def _enforce_certification_constraints(self, reader: object) -> None:
        """Sign all the same: what a forger's tool would do."""


def pdf15_second_signature() -> Tampered:
    metadata = PdfSignatureMetadata(field_name="second", md_algorithm="sha256", subfilter=SigSeedSubFilter.PADES)
    stamper = _PortStamper(tsa().stamper().stamp_digest)
    signer = _Unconstrained(metadata, _KeySigner(auditor()), timestamper=stamper, new_field_spec=SigFieldSpec("second"))
    writer = IncrementalPdfFileWriter(BytesIO(signed_pdf()))
    out = signer.sign_pdf(writer, bytes_reserved=RESERVED)
    return _own(out.getvalue())


def pdf16_alter_byterange() -> Tampered:
    pdf = signed_pdf()
    start = pdf.rindex(b"/ByteRange [") + len(b"/ByteRange [")
    numbers = pdf[start : pdf.index(b"]", start)].split()
    numbers[1] = b"%d" % (int(numbers[1]) - 1)
    changed = b" ".join(numbers).ljust(pdf.index(b"]", start) - start)
    return _own(pdf[:start] + changed + pdf[start + len(changed) :])


def pdf17_append_foreign_document_timestamp() -> Tampered:
    foreign = Tsa(make_authority(NOW, "Otra autoridad", None))
    stamper = PdfTimeStamper(_PortStamper(foreign.stamper().stamp_digest))
    writer = IncrementalPdfFileWriter(BytesIO(signed_pdf()))
    out = stamper.timestamp_pdf(writer, "sha256", bytes_reserved=RESERVED)
    return _own(out.getvalue())


def pdf18_token_of_other_tsa() -> Tampered:
    foreign = Tsa(make_authority(NOW, "Otra autoridad", None))
    return _own(sign_pdf(unsigned_pdf(), auditor(), foreign.stamper().stamp_digest))


def pdf19_token_stripped() -> Tampered:
    pdf = signed_pdf()
    info = cms.ContentInfo.load(cms_of(pdf))
    del info["content"]["signer_infos"][0]["unsigned_attrs"]
    return _own(with_cms(pdf, info.dump(force=True)))


def _presigned(change: Callable[[pikepdf.Pdf], None]) -> Tampered:
    out = BytesIO()
    with pikepdf.open(BytesIO(unsigned_pdf())) as pdf:
        change(pdf)
        pdf.save(out, object_stream_mode=pikepdf.ObjectStreamMode.disable, compress_streams=False)
    return _own(sign_pdf(out.getvalue(), auditor(), tsa().stamper().stamp_digest))


def pdf20_hidden_layer_presigned() -> Tampered:
    def layer(pdf: pikepdf.Pdf) -> None:
        group = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name=pikepdf.String("oculta")))
        order = pikepdf.Dictionary(OFF=pikepdf.Array([group]))
        pdf.Root.OCProperties = pikepdf.Dictionary(OCGs=pikepdf.Array([group]), D=order)

    return _presigned(layer)


def pdf22_third_attachment() -> Tampered:
    return _own(sign_pdf(unsigned_pdf(third=True), auditor(), tsa().stamper().stamp_digest))


def pdf23_javascript_presigned() -> Tampered:
    def script(pdf: pikepdf.Pdf) -> None:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=pikepdf.String("app.alert(1)"))

    return _presigned(script)


FIXTURES: dict[str, Callable[[], Tampered]] = {
    name: value for name, value in sorted(globals().items()) if name.startswith("pdf") and name[3:5].isdigit()
}
