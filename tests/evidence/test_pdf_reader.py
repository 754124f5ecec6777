"""The reader of hostile PDFs: bytes before objects, position before what an object says of itself."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import pikepdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pikepdf import Array, Dictionary, Name, String
from pyhanko.pdf_utils.reader import PdfFileReader

from slaverify.evidence.pades import pdf_facts
from slaverify.evidence.pades.walk import structure_problems
from slaverify.evidence.pades.xref import chain_of, classic_problem
from tests.evidence.pki import auditor, pins_for, signed_pdf, unsigned_pdf


def changed(change: Callable[[pikepdf.Pdf], object], **options: object) -> bytes:
    out = BytesIO()
    with pikepdf.open(BytesIO(unsigned_pdf())) as pdf:
        change(pdf)
        settings_ = {"object_stream_mode": pikepdf.ObjectStreamMode.disable, "compress_streams": False, **options}
        pdf.save(out, **settings_)
    return out.getvalue()


def problems(data: bytes) -> tuple[str, ...]:
    return structure_problems(PdfFileReader(BytesIO(data)).root)


def _annotate(annotation: Dictionary) -> Callable[[pikepdf.Pdf], None]:
    def change(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].Annots.append(pdf.make_indirect(annotation))

    return change


def _font(font: Dictionary) -> Callable[[pikepdf.Pdf], None]:
    def change(pdf: pikepdf.Pdf) -> None:
        pdf.pages[0].Resources.Font["/F9"] = pdf.make_indirect(font)

    return change


URI = Dictionary(S=Name.URI, URI=String("https://example.test"))
FOUND: dict[str, tuple[Callable[[pikepdf.Pdf], object], str]] = {
    "open_action": (lambda p: p.Root.update({"/OpenAction": Dictionary(S=Name.GoTo)}), "OpenAction"),
    "names_javascript": (
        lambda p: p.Root.Names.update({"/JavaScript": Dictionary(Names=Array([]))}),
        "JavaScript",
    ),
    "page_aa": (lambda p: p.pages[0].obj.update({"/AA": Dictionary()}), "AA"),
    "layers": (lambda p: p.Root.update({"/OCProperties": Dictionary()}), "OCProperties"),
    "xfa": (lambda p: p.Root.update({"/AcroForm": Dictionary(XFA=Array([]), Fields=Array([]))}), "XFA"),
    "link_uri": (_annotate(Dictionary(Type=Name.Annot, Subtype=Name.Link, A=URI)), "action"),
    "link_next": (
        _annotate(Dictionary(Subtype=Name.Link, A=Dictionary(S=Name.GoTo, Next=URI))),
        "action",
    ),
    "link_dressed_as_structure": (_annotate(Dictionary(Type=Name.StructElem, Subtype=Name.Link, A=URI)), "action"),
    "free_text": (_annotate(Dictionary(Subtype=Name.FreeText)), "annotation"),
    "rich_media": (_annotate(Dictionary(Subtype=Name.RichMedia)), "annotation"),
    "file_attachment": (_annotate(Dictionary(Subtype=Name.FileAttachment)), "annotation"),
    "no_subtype": (_annotate(Dictionary(A=URI)), "annotation"),
    "link_with_appearance": (_annotate(Dictionary(Subtype=Name.Link, Dest=String("b"), AP=Dictionary())), "annotation"),
    "text_field": (_annotate(Dictionary(Subtype=Name.Widget, FT=Name.Tx)), "annotation"),
    "signature_with_script": (_annotate(Dictionary(Subtype=Name.Widget, FT=Name.Sig, AA=Dictionary())), "annotation"),
    "system_font": (_font(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)), "font"),
    "font_of_that_name_not_embedded": (
        _font(Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name("/ABCDEF+IBM-Plex-Sans"))),
        "font",
    ),
    "type3_font": (_font(Dictionary(Type=Name.Font, Subtype=Name.Type3, CharProcs=Dictionary())), "font"),
    "font_without_type": (_font(Dictionary(BaseFont=Name("/ABCDEF+Comic"))), "font"),
    "outline_uri": (lambda p: p.Root.Outlines.First.update({"/A": URI}), "action"),
    "external_stream": (
        lambda p: p.Root.update({"/X": p.make_stream(b"x", {"/F": String("other.pdf")})}),
        "external stream",
    ),
    "reference_xobject": (lambda p: p.Root.update({"/X": p.make_stream(b"x", {"/Ref": Dictionary()})}), "Ref"),
    "postscript": (lambda p: p.Root.update({"/X": p.make_stream(b"x", {"/Subtype": Name.PS})}), "PostScript"),
    "portfolio": (lambda p: p.Root.update({"/Collection": Dictionary()}), "Collection"),
}


@pytest.mark.parametrize("name", sorted(FOUND))
def test_what_a_page_has_no_need_of(name: str) -> None:
    change, word = FOUND[name]
    assert word in problems(changed(change))


def test_a_clean_page_has_none() -> None:
    assert problems(changed(lambda _: None)) == ()
    assert problems(unsigned_pdf()) == ()


def test_a_compressed_stream_is_found() -> None:
    assert "stream with a filter" in problems(changed(lambda _: None, compress_streams=True))


def test_names_spelt_by_codes_are_still_found() -> None:
    data = unsigned_pdf().replace(b"/Type /Catalog/", b"/Type /Catalog/#41A<<>>/", 1)
    assert b"/#41A" in data
    # Offsets after the catalogue moved: only the walk itself is asked here.
    catalogue = data[data.index(b"<</Type /Catalog") : data.index(b"endobj", data.index(b"<</Type /Catalog"))]
    shell = b"%%PDF-1.7\n1 0 obj\n<</Pages 2 0 R%s>>\nendobj\n2 0 obj\n<</Kids[]/Count 0>>\nendobj\n" % (
        b"/#41A<<>>" if b"#41A" in catalogue else b""
    )
    offsets = [shell.index(b"%d 0 obj" % number) for number in (1, 2)]
    table = b"xref\n0 3\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data = shell + table + b"trailer\n<</Size 3/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(shell)
    assert problems(data) == ("AA",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"%PDF-1.7\n",
        b"%PDF-1.7\nstartxref\n5\n%%EOF",
        b"%PDF-1.7\nxref\n0 0\ntrailer\n<</Prev 9>>\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\nxref\n0 0\ntrailer\n<</Prev 9/Prev 9>>\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\nxref\n0 0\ntrailer\n<</XRefStm 9>>\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\nxref\n0 0\ntrailer\n<</Encrypt 9 0 R>>\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\nxref\n0 0\ntrailer\n<</#50rev 9>>\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\nxref\n0 0\ntrailer\n<</ID (((\nstartxref\n9\n%%EOF",
        b"%PDF-1.7\nxref\n0 99999999\ntrailer\n<<>>\nstartxref\n9\n%%EOF",
    ],
)
def test_what_is_no_plain_file(data: bytes) -> None:
    assert classic_problem(data)
    assert pdf_facts(data, pins_for(auditor())).form_problem


def test_cross_reference_streams_are_refused() -> None:
    data = changed(lambda _: None, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    assert "stream" in classic_problem(data)


def test_an_identifier_may_hold_any_byte() -> None:
    data = unsigned_pdf()
    start = data.rindex(b"/ID [")
    end = data.index(b"]\n>>", start)
    assert chain_of(data[:start] + rb"/ID [(a\)b(c)%d#/Prev 5 >>) <00>" + data[end:])


def test_over_sixteen_mebibytes() -> None:
    assert "16 MiB" in classic_problem(b"%PDF-1.7\n" + bytes(16 * 1024**2))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_noise_leaves_the_reader(data: st.DataObject) -> None:
    """Cut, overwritten or repeated anywhere: facts, never an exception."""
    clean = signed_pdf()
    start = data.draw(st.integers(0, len(clean)))
    length = data.draw(st.integers(0, 400))
    noise = data.draw(st.binary(max_size=60))
    hostile = clean[:start] + noise + clean[start + length :]
    facts = pdf_facts(hostile, pins_for(auditor()))
    assert facts.size == len(hostile)


@settings(max_examples=200)
@given(st.binary(max_size=600))
def test_noise_alone(noise: bytes) -> None:
    for data in (noise, b"%PDF-1.7\n" + noise + b"\nstartxref\n9\n%%EOF"):
        assert pdf_facts(data, None).form_problem
