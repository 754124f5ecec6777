"""The PDF: the same bytes everywhere, tagged, whole, and nothing in it that we did not put there."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pikepdf
import pytest

from slaverify.canonical import jcs, loads_object
from slaverify.errors import ReportError
from slaverify.report import build
from slaverify.report import pdf as pdf_door
from slaverify.report.finish import hex_identifier, identify_structure
from slaverify.report.pdf import render, renderer
from tests.report import sample
from tests.report.pages import EVERY, LANGUAGES, pdf

SCRIPT = """
import hashlib, sys
from slaverify.report import build
from slaverify.report.pdf import render, renderer
from tests.report import sample
bundle = sample.bundle(sys.argv[1])
model = build(bundle, sys.argv[2], renderer())
print(hashlib.sha256(model).hexdigest(), hashlib.sha256(render(model, bundle.manifest_bytes)).hexdigest())
"""
CIRCUMSTANCES = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LANG": "C.UTF-8"},
    {"PYTHONHASHSEED": "4711", "TZ": "America/Santiago", "LANG": "es_CL.UTF-8", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "SOURCE_DATE_EPOCH": "1"},
)


def elsewhere(circumstance, cwd: Path, state: str, language: str) -> str:
    root = Path(__file__).resolve().parents[2]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": str(root),
        **circumstance,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, state, language],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("state", "language"), [("PASS", "es"), pytest.param("INCONCLUSIVE", "en", marks=pytest.mark.nightly)]
)
def test_the_same_bytes_in_other_processes_zones_locales_and_folders(state, language, tmp_path):
    folders = [tmp_path, tmp_path / "otra carpeta", Path("/")]
    folders[1].mkdir()
    found = {
        elsewhere(circumstance, folder, state, language)
        for circumstance, folder in zip(CIRCUMSTANCES, folders, strict=True)
    }
    assert len(found) == 1


def test_the_report_of_the_same_bundle_is_the_same():
    bundle = sample.bundle("PASS")
    assert build(bundle, "es") == build(sample.bundle("PASS"), "es-CL")
    assert build(bundle, "es") != build(bundle, "en")


def opened(state="PASS", language="es") -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(pdf(state, language)))


def test_it_is_one_revision_with_a_classic_table_and_no_filter():
    data = pdf("PASS", "es")
    assert data.startswith(b"%PDF-1.7\n")
    assert data.count(b"startxref") == 1
    assert data[int(data.split(b"startxref\n")[1].split(b"\n")[0]) :].startswith(b"xref\n")
    with opened() as document:
        for thing in document.objects:
            if isinstance(thing, pikepdf.Stream):
                assert "/Filter" not in thing
                assert thing.get("/Type") not in ("/ObjStm", "/XRef")


def test_both_files_are_attached_once_with_fixed_dates():
    bundle = sample.bundle("PASS")
    with opened() as document:
        assert list(document.attachments) == ["manifest.json", "report.json"]
        assert document.attachments["manifest.json"].get_file().read_bytes() == bundle.manifest_bytes
        assert document.attachments["report.json"].get_file().read_bytes() == build(bundle, "es")
        associated = document.Root.AF
        assert len(associated) == 2
        assert {str(entry.UF) for entry in associated} == {"manifest.json", "report.json"}
        for entry in associated:
            assert entry.AFRelationship == "/Data"
            assert str(entry.EF.F.Params.CreationDate) == str(entry.EF.F.Params.ModDate) == "D:20260903140509Z"


def test_the_identifier_is_of_the_report_and_the_dates_are_of_the_bundle():
    identifier = hashlib.sha256(build(sample.bundle("PASS"), "es")).digest()[:16]
    with opened() as document:
        assert [bytes(part) for part in document.trailer.ID] == [identifier, identifier]
        assert str(document.docinfo["/CreationDate"]).startswith("D:20260903140509")
        assert str(document.docinfo["/ModDate"]).startswith("D:20260903140509")
        assert str(document.docinfo["/Title"]) == "Informe de verificación n.º demo-norma-ficticia.1"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_metadata_are_one_rdf_that_names_both_structures(language):
    with opened("INCONCLUSIVE", language) as document:
        xmp = document.Root.Metadata.read_bytes()
        assert xmp.count(b"<rdf:RDF") == 1
        assert xmp.count(b"pdfuaid:part>1<") == 1
        assert re.search(rb'pdfaid:part="3"[^>]*pdfaid:conformance="A"', xmp)
        assert b"pdfaExtension:schemas" in xmp
        assert str(document.Root.Lang) == {"es": "es-CL", "en": "en"}[language]
        with document.open_metadata() as read:
            assert read["pdfuaid:part"] == "1"


def walk(element):
    yield element
    kids = element.get("/K", [])
    for kid in kids if isinstance(kids, pikepdf.Array) else [kids]:
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            yield from walk(kid)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_structure_is_tagged(language):
    with opened("INCONCLUSIVE", language) as document:
        assert document.Root.MarkInfo.Marked
        assert document.Root.ViewerPreferences.DisplayDocTitle
        elements = list(walk(document.Root.StructTreeRoot.K[0]))
        kinds = [str(element.S) for element in elements]
        headings = [int(kind[2]) for kind in kinds if re.fullmatch("/H[1-6]", kind)]
        assert headings[0] == 1
        assert all(b - a <= 1 for a, b in pairwise(headings))
        heads = [element for element in elements if element.S == "/TH"]
        assert heads
        assert all(element.A.Scope in ("/Row", "/Column") for element in heads)
        figures = [element for element in elements if element.S == "/Figure"]
        assert sum("/Alt" in element for element in figures) >= 5
        assert {"/Table", "/L", "/P"} <= set(kinds)


def test_nothing_acts_and_only_two_faces_draw():
    with opened() as document:
        for key in ("/OpenAction", "/AA", "/AcroForm", "/OCProperties", "/JavaScript"):
            assert key not in document.Root
        fonts = set()
        for sheet in document.pages:
            for note in sheet.get("/Annots", []):
                assert note.Subtype == "/Link"
            for font in sheet.Resources.Font.values():
                fonts.add(str(font.BaseFont).split("+")[1])
                descriptor = font.DescendantFonts[0].FontDescriptor
                assert "/FontFile2" in descriptor
        assert fonts == {"IBM-Plex-Sans", "IBM-Plex-Sans-Bold"}


LONGEST = ("INCONCLUSIVE", "INVALID_RUN")


@pytest.mark.parametrize(
    ("state", "language"),
    [
        pytest.param(state, language, marks=() if language == "es" or state in LONGEST else pytest.mark.nightly)
        for state, language in EVERY
    ],
)
def test_page_1_is_one_page_and_every_character_is_drawn(state, language, tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext not installed")
    path = tmp_path / "r.pdf"
    path.write_bytes(pdf(state, language))

    def text(first, last=None):
        call = ["pdftotext", "-layout", "-f", str(first), "-l", str(last or first), str(path), "-"]
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout

    second = {"es": "2. Declaración de conformidad", "en": "2. Statement of conformity"}[language]
    assert "slaverify verify" in text(1)
    assert text(2).lstrip().startswith(second)
    whole = text(1, 99)
    assert {"es": "Fin del informe n.º", "en": "End of report no."}[language] in whole
    assert "\ufffd" not in whole
    pages = whole.rstrip("\f").split("\f")
    label = {"es": r"página (\d+) de (\d+)", "en": r"page (\d+) of (\d+)"}[language]
    for number, content in enumerate(pages, 1):
        assert re.search(label, content).groups() == (str(number), str(len(pages)))


def contents(document):
    for sheet in document.pages:
        yield sheet.Contents.read_bytes()
        for drawn in sheet.Resources.get("/XObject", {}).values():
            yield drawn.read_bytes()


def test_no_glyph_is_the_empty_box():
    with opened() as document:
        shown = b"".join(contents(document))
        groups = [run for line in re.findall(rb"\[([^\]]*)\] TJ", shown) for run in re.findall(rb"<([0-9a-f]+)>", line)]
        glyphs = {run[start : start + 4] for run in groups for start in range(0, len(run), 4)}
        assert len(glyphs) > 60
        assert b"0000" not in glyphs


def test_other_tools_find_it_sound(tmp_path):
    if shutil.which("qpdf") is None:
        pytest.skip("qpdf not installed")
    path = tmp_path / "r.pdf"
    path.write_bytes(pdf("BREACH", "es"))
    assert subprocess.run(["qpdf", "--check", path], capture_output=True, check=False).returncode == 0


def test_the_renderer_is_named_and_another_one_is_refused():
    bundle = sample.bundle("PASS")
    here = renderer()
    assert set(here) == set(loads_object(build(bundle, "es"))["render"])
    assert all(isinstance(value, str) for value in here.values())
    with pytest.raises(ReportError) as refused:
        render(build(bundle, "es", {**here, "pango": "0.0.1"}), bundle.manifest_bytes)
    assert refused.value.code == "SLV-R012"
    assert "pango" in refused.value.what.es


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b'{"type":"slaverify/report/1"}', jcs({"type": "slaverify/report/2"}), b'{"a":1}\n'],
    ids=["empty", "no type", "no keys", "other type", "not canonical"],
)
def test_what_is_no_report_is_refused(data):
    with pytest.raises(ReportError) as refused:
        render(data, b"{}")
    assert refused.value.code == "SLV-R014"


def test_a_report_over_its_size_is_refused():
    with pytest.raises(ReportError) as refused:
        render(b" " * (pdf_door.MAX_REPORT + 1), b"{}")
    assert refused.value.code == "SLV-R015"


def changed(edit) -> bytes:
    tree = json.loads(build(sample.bundle("PASS"), "es"))
    edit(tree)
    return jcs(tree)


def test_markup_and_addresses_in_a_report_draw_nothing_but_text():
    text = '<img src="https://evil.example/a.png"><style>@import url(file:///etc/passwd)</style>'

    def edit(tree):
        tree["sections"][1]["blocks"][2]["text"]["args"]["vendor"] = {"foreign": text}

    data = render(changed(edit), sample.bundle("PASS").manifest_bytes)
    with pikepdf.open(io.BytesIO(data)) as document:
        assert not document.pages[0].get("/Annots", [])
        assert {str(drawn.Subtype) for drawn in document.pages[0].Resources.XObject.values()} == {"/Form"}


@pytest.mark.parametrize(
    "edit",
    [lambda tree: tree.update(closed_at="yesterday"), lambda tree: tree.update(render=7)],
    ids=["time", "render"],
)
def test_a_report_of_another_shape_is_refused_by_the_process_that_draws(edit):
    with pytest.raises(ReportError) as refused:
        render(changed(edit), sample.bundle("PASS").manifest_bytes)
    assert refused.value.code == "SLV-R014"


def test_a_missing_library_is_one_line_with_its_remedy(monkeypatch):
    def missing(work, what, faces):
        raise pdf_door._library_missing("cannot load library 'libpango-1.0-0'")

    monkeypatch.setattr(pdf_door, "_run", missing)
    with pytest.raises(ReportError) as refused:
        renderer()
    assert refused.value.code == "SLV-R011"
    assert refused.value.exit_code == 6
    assert "apt-get install" in refused.value.lines("es")[-1]


def test_the_finisher_changes_nothing_that_is_right():
    class Stream:
        def __init__(self, content):
            self.stream = [content]

    class Document:
        def __init__(self, content):
            self.catalog = {"Metadata": b"1 0 R", "AF": [b"2 0 R", b"2 0 R", b"3 0 R"]}
            self.objects = [None, Stream(content)]

    from slaverify.report.finish import unique_associated_files

    twice = Document(b"<rdf:RDF></rdf:RDF>")
    for _ in range(2):
        identify_structure(twice)
        unique_associated_files(twice)
    assert twice.objects[1].stream[0].count(b"pdfuaid:part") == 2  # one element, opened and closed
    assert twice.catalog["AF"] == [b"2 0 R", b"3 0 R"]


def test_the_identifier_is_written_as_hex():
    data = b"xref\n0 1\ntrailer\n<<\n/ID [(a\rb) (c)]\n>>\nstartxref\n0\n%%EOF\n"
    assert b"/ID [<0d0a> <0d0a>]\n>>\nstartxref\n0\n%%EOF\n" in hex_identifier(data, b"\r\n")
    with pytest.raises(ValueError, match="identifier"):
        hex_identifier(b"%PDF", b"")


def test_the_pure_face_loads_no_renderer():
    code = (
        "import sys, slaverify.report; "
        "print([n for n in ('weasyprint', 'scipy', 'pyhanko', 'pyrage') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
