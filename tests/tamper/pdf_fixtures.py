"""The named tamperings of a signed PDF, each built from a clean one, B-T or B-LTA; `expected.json` has their ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import pikepdf
from asn1crypto import cms
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.generic import pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign.fields import SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner, PdfTimeStamper

from slaverify.evidence import B_LTA, Pins
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.pades import LongTerm, make_authority, make_signer, sign_pdf
from slaverify.evidence.pades.der import first
from slaverify.evidence.pades.sign import RESERVED, _KeySigner, _PortStamper
from tests.evidence.pki import NOW, Tsa, auditor, ca, key_of, pins_for, tsa, unsigned_pdf


@dataclass(frozen=True)
class Tampered:
    """A PDF and the pins of the contract that it is verified against."""

    pdf: bytes
    pins: Pins


def gap(pdf: bytes) -> tuple[int, int]:
    """Return where the hex digits of the signature begin and end."""
    start = pdf.index(b"/Contents <") + len(b"/Contents <")
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


@dataclass(frozen=True)
class Base:
    """The level at which a clean file is signed, and how."""

    level: str

    @property
    def pdf(self) -> bytes:
        return _signed(self.level)

    def sign(
        self, unsigned: bytes, key: SigningKey, authority: Tsa | None = None, roots: tuple[str, ...] = ()
    ) -> bytes:
        stamps = authority or tsa()
        own = roots or (key.certificate_pem.decode(),)
        lasting = LongTerm((*own, stamps.root), NOW) if self.level == B_LTA else None
        return sign_pdf(unsigned, key, stamps.stamper().stamp_digest, lasting)

    def own(self, pdf: bytes) -> Tampered:
        return Tampered(pdf, pins_for(auditor(), level=self.level))


@cache
def _signed(level: str) -> bytes:
    return Base(level).sign(unsigned_pdf(), auditor())


def _updated(base: Base, change: Callable[[IncrementalPdfFileWriter], None]) -> Tampered:
    writer = IncrementalPdfFileWriter(BytesIO(base.pdf))
    change(writer)
    out = BytesIO()
    writer.write(out)
    return base.own(out.getvalue())


def pdf00_untouched(base: Base) -> Tampered:
    return base.own(base.pdf)


def pdf01_flip_body_byte(base: Base) -> Tampered:
    pdf = base.pdf
    return base.own(flipped(pdf, pdf.index(b"ET\n", pdf.index(b"stream")) - 3))


def pdf03_write_contents_padding(base: Base) -> Tampered:
    pdf = base.pdf
    _, end = gap(pdf)
    return base.own(pdf[: end - 4] + b"BEEF" + pdf[end:])


def pdf04_garbage_after_eof(base: Base) -> Tampered:
    return base.own(base.pdf + b"garbage\n")


def pdf05_null_update(base: Base) -> Tampered:
    pdf = base.pdf
    previous = int(pdf[pdf.rindex(b"startxref") + 10 :].split()[0])
    trailer = pdf[pdf.rindex(b"trailer") : pdf.rindex(b"startxref")]
    size, root = (trailer.split(key)[1].split(b"\n")[0] for key in (b"/Size", b"/Root"))
    table = b"xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size%s/Root%s/Prev %d>>\n" % (size, root, previous)
    return base.own(pdf + table + b"startxref\n%d\n%%%%EOF\n" % len(pdf))


def pdf06_overlay_page(base: Base) -> Tampered:
    def overlay(writer: IncrementalPdfFileWriter) -> None:
        page = writer.root["/Pages"]["/Kids"][0]
        stream = writer.add_object(generic.StreamObject(stream_data=b"0 0 500 500 re f"))
        page["/Contents"] = generic.ArrayObject([page.raw_get("/Contents"), stream])
        writer.update_container(page)

    return _updated(base, overlay)


def pdf07_replace_attachment_by_update(base: Base) -> Tampered:
    def replace(writer: IncrementalPdfFileWriter) -> None:
        specification = writer.root["/Names"]["/EmbeddedFiles"]["/Names"][3]
        stream = writer.add_object(generic.StreamObject(stream_data=b'{"state":"PASS"}'))
        for key in ("/F", "/UF"):
            if key in specification["/EF"]:
                specification["/EF"][pdf_name(key)] = stream
        writer.update_container(specification["/EF"])

    return _updated(base, replace)


def pdf08_add_freetext(base: Base) -> Tampered:
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

    return _updated(base, annotate)


def pdf09_change_title_xmp(base: Base) -> Tampered:
    def retitle(writer: IncrementalPdfFileWriter) -> None:
        writer.document_meta.title = "Otro título"
        writer.update_root()

    return _updated(base, retitle)


def pdf10_truncate_to_unsigned(base: Base) -> Tampered:
    return base.own(base.pdf[: len(unsigned_pdf())])


def pdf11_rewrite_other_library(base: Base) -> Tampered:
    out = BytesIO()
    with pikepdf.open(BytesIO(base.pdf)) as pdf:
        pdf.save(out, object_stream_mode=pikepdf.ObjectStreamMode.disable, compress_streams=False)
    return base.own(out.getvalue())


def pdf12_resign_other_ca_same_names(base: Base) -> Tampered:
    pinned, other = ca(1).issue(), ca(2).issue()
    pins = pins_for(pinned, auditor_roots=(ca(1).pem,), level=base.level)
    return Tampered(base.sign(unsigned_pdf(), other, roots=(ca(2).pem,)), pins)


def pdf13_resign_same_ca_other_key(base: Base) -> Tampered:
    pinned, other = ca(1).issue(), ca(1).issue()
    pins = pins_for(pinned, auditor_roots=(ca(1).pem,), level=base.level)
    return Tampered(base.sign(unsigned_pdf(), other, roots=(ca(1).pem,)), pins)


def pdf14_resign_self_signed(base: Base) -> Tampered:
    other = key_of(make_signer(NOW, "Auditora de prueba", None))
    return base.own(base.sign(unsigned_pdf(), other))


class _Unconstrained(PdfSigner):
    def _enforce_certification_constraints(self, reader: object) -> None:
        """Sign all the same: what a forger's tool would do."""


def pdf15_second_signature(base: Base) -> Tampered:
    metadata = PdfSignatureMetadata(field_name="second", md_algorithm="sha256", subfilter=SigSeedSubFilter.PADES)
    stamper = _PortStamper(tsa().stamper().stamp_digest)
    signer = _Unconstrained(metadata, _KeySigner(auditor()), timestamper=stamper, new_field_spec=SigFieldSpec("second"))
    writer = IncrementalPdfFileWriter(BytesIO(base.pdf))
    out = signer.sign_pdf(writer, bytes_reserved=RESERVED)
    return base.own(out.getvalue())


def pdf16_alter_byterange(base: Base) -> Tampered:
    pdf = base.pdf
    start = pdf.index(b"/ByteRange [") + len(b"/ByteRange [")
    numbers = pdf[start : pdf.index(b"]", start)].split()
    numbers[1] = b"%d" % (int(numbers[1]) - 1)
    changed = b" ".join(numbers).ljust(pdf.index(b"]", start) - start)
    return base.own(pdf[:start] + changed + pdf[start + len(changed) :])


def pdf17_append_foreign_document_timestamp(base: Base) -> Tampered:
    foreign = Tsa(make_authority(NOW, "Otra autoridad", None))
    stamper = PdfTimeStamper(_PortStamper(foreign.stamper().stamp_digest))
    writer = IncrementalPdfFileWriter(BytesIO(base.pdf))
    out = stamper.timestamp_pdf(writer, "sha256", bytes_reserved=RESERVED)
    return base.own(out.getvalue())


def pdf18_token_of_other_tsa(base: Base) -> Tampered:
    foreign = Tsa(make_authority(NOW, "Otra autoridad", None))
    return base.own(base.sign(unsigned_pdf(), auditor(), foreign))


def pdf19_token_stripped(base: Base) -> Tampered:
    pdf = base.pdf
    info = cms.ContentInfo.load(cms_of(pdf))
    del info["content"]["signer_infos"][0]["unsigned_attrs"]
    return base.own(with_cms(pdf, info.dump(force=True)))


def _presigned(base: Base, change: Callable[[pikepdf.Pdf], None]) -> Tampered:
    out = BytesIO()
    with pikepdf.open(BytesIO(unsigned_pdf())) as pdf:
        change(pdf)
        pdf.save(out, object_stream_mode=pikepdf.ObjectStreamMode.disable, compress_streams=False)
    return base.own(base.sign(out.getvalue(), auditor()))


def pdf20_hidden_layer_presigned(base: Base) -> Tampered:
    def layer(pdf: pikepdf.Pdf) -> None:
        group = pdf.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name=pikepdf.String("oculta")))
        order = pikepdf.Dictionary(OFF=pikepdf.Array([group]))
        pdf.Root.OCProperties = pikepdf.Dictionary(OCGs=pikepdf.Array([group]), D=order)

    return _presigned(base, layer)


def pdf22_third_attachment(base: Base) -> Tampered:
    return base.own(base.sign(unsigned_pdf(third=True), auditor()))


def pdf23_javascript_presigned(base: Base) -> Tampered:
    def script(pdf: pikepdf.Pdf) -> None:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS=pikepdf.String("app.alert(1)"))

    return _presigned(base, script)


def pdf24_signature_object_written_again(base: Base) -> Tampered:
    """An update repeats the signature's object beside other attachments, and a trusted authority stamps it all."""

    def take_over(writer: IncrementalPdfFileWriter) -> None:
        writer.mark_update(writer.root["/AcroForm"]["/Fields"][0].raw_get("/V").reference)
        specification = writer.root["/Names"]["/EmbeddedFiles"]["/Names"][3]
        stream = writer.add_object(generic.StreamObject(stream_data=b'{"state":"PASS"}'))
        for key in ("/F", "/UF"):
            if key in specification["/EF"]:
                specification["/EF"][pdf_name(key)] = stream
        writer.update_container(specification["/EF"])

    stamper = PdfTimeStamper(_PortStamper(tsa().stamper().stamp_digest))
    writer = IncrementalPdfFileWriter(BytesIO(_updated(base, take_over).pdf))
    return base.own(stamper.timestamp_pdf(writer, "sha256", bytes_reserved=RESERVED).getvalue())


FIXTURES: dict[str, Callable[[Base], Tampered]] = {
    name: value for name, value in sorted(globals().items()) if name.startswith("pdf") and name[3:5].isdigit()
}
