"""Render the document to PDF: the one importer of WeasyPrint, behind a wall.

`render` hands `report.json` and `manifest.json` to a process of its own: no network, no secret in its environment,
60 s, 1 GiB, no font but the two packaged faces, no address but the closed table below. The pages are a pure
function of `report.json` and of plantillas/; the same bytes come out on every call, machine and locale.

Boundary: `report.json` may come from a stranger's PDF (`verify --rerender`).
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slaverify.canonical import JsonObject, StrictJsonError, loads_canonical, loads_object, sha256_hex
from slaverify.errors import ReportError, Text
from slaverify.report.fonts import Faces, drawable, face_names, prepare_fonts

__all__ = ["prepare_fonts", "render", "render_page", "renderer"]

MAX_REPORT = 4 * 1024**2
MAX_MANIFEST = 2 * 1024**2
MAX_PDF = 16 * 1024**2
MAX_PAGES = 80
SECONDS = 60
MEMORY = 1024**3
PACKAGES = ("weasyprint", "pydyf", "fonttools", "jinja2", "babel", "segno")
APT = "apt-get install -y libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
_FONTCONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir>{work}/none</dir><cachedir>{work}/cache</cachedir></fontconfig>
"""


def render(report_json: bytes, manifest_json: bytes) -> bytes:
    """Return the unsigned PDF/A-3a of a report, with both files attached.

    Raises: ReportError SLV-R010 (a character that no face draws), SLV-R011 (exit 6: pango or harfbuzz-subset missing),
    SLV-R012 (the report names another renderer), SLV-R014 (not a report), SLV-R015 (exit 6: over time, memory or size),
    SLV-R016 (exit 70: a fault of ours).
    """
    report = _parse(report_json, MAX_REPORT, "report.json")
    _parse(manifest_json, MAX_MANIFEST, "manifest.json")
    if report.get("type") != "slaverify/report/1":
        raise _not_a_report("type")
    faces = prepare_fonts()
    with tempfile.TemporaryDirectory(prefix="slaverify-report-") as folder:
        work = Path(folder)
        (work / "report.json").write_bytes(report_json)
        (work / "manifest.json").write_bytes(manifest_json)
        _run(work, "render", faces)
        pdf = (work / "report.pdf").read_bytes()
    if len(pdf) > MAX_PDF:
        raise _over_limit("16 MiB")
    return pdf


def render_page(page: str, style: str) -> bytes:
    """Return a plain PDF of an HTML page and its style sheet: an explanation, never a report, and never signed.

    Raises: ReportError SLV-R010, SLV-R011 (exit 6), SLV-R015 (exit 6), SLV-R016 (exit 70).
    """
    faces = prepare_fonts()
    with tempfile.TemporaryDirectory(prefix="slaverify-page-") as folder:
        work = Path(folder)
        (work / "page.html").write_text(page, encoding="utf-8")
        (work / "page.css").write_text(style, encoding="utf-8")
        _run(work, "page", faces)
        return (work / "page.pdf").read_bytes()


def renderer() -> JsonObject:
    """Return what makes the pages on this machine: versions, digests of faces and templates.

    Raises: ReportError SLV-R011 (exit 6) if pango or harfbuzz-subset is missing.
    """
    faces = prepare_fonts()
    with tempfile.TemporaryDirectory(prefix="slaverify-report-") as folder:
        work = Path(folder)
        _run(work, "renderer", faces)
        return loads_object((work / "renderer.json").read_bytes())


def _parse(data: bytes, limit: int, name: str) -> JsonObject:
    if len(data) > limit:
        raise _over_limit(f"{name}: {limit} bytes")
    try:
        return loads_canonical(data)
    except StrictJsonError as error:
        raise _not_a_report(f"{name}: {error}") from error


def _run(work: Path, what: str, faces: Faces) -> None:
    for name in ("none", "cache", "tmp"):
        (work / name).mkdir()
    (work / "fonts.conf").write_text(_FONTCONFIG.format(work=work), encoding="utf-8")
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(work),
        "TMPDIR": str(work / "tmp"),
        "FONTCONFIG_FILE": str(work / "fonts.conf"),
        "PYTHONHASHSEED": "0",
        # The package itself, wherever this process found it, and nothing of the caller's directory.
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path and Path(path).is_absolute()),
    }
    command = [sys.executable, "-P", "-W", "ignore", "-m", "slaverify.report.pdf", what, str(work)]
    command += [str(faces.regular), str(faces.bold)]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and module, no shell
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _over_limit(f"{SECONDS} s {_last_place(error.stderr)}".strip()) from error
    if done.returncode != 0:
        raise _failure(work, done.returncode, done.stderr)


def _last_place(stderr: bytes | None) -> str:
    """Return where the process stood shortly before its time was over, as it wrote it itself."""
    lines = (stderr or b"").decode("utf-8", errors="replace").splitlines()
    return next((line.strip() for line in lines if line.strip().startswith("File")), "")


def _failure(work: Path, code: int, stderr: bytes) -> ReportError:
    told = work / "error.json"
    if told.exists():
        tree = json.loads(told.read_bytes())
        return ReportError(
            tree["code"],
            Text(*tree["what"]),
            why=Text(*tree["why"]),
            fix=Text(*tree["fix"]),
            where=tree["where"],
            exit_code=tree["exit"],
        )
    last = (stderr.decode("utf-8", errors="replace").strip().splitlines() or [f"exit {code}"])[-1][:200]
    if code < 0 or "MemoryError" in last:
        return _over_limit(last)
    return ReportError(
        "SLV-R016",
        Text("la impresión del informe falló por dentro", "rendering the report failed inside"),
        why=Text(last, last),
        fix=Text("informe de esta falla con el paquete a mano", "report this failure with the bundle at hand"),
        exit_code=70,
    )


def _over_limit(detail: str) -> ReportError:
    return ReportError(
        "SLV-R015",
        Text("el informe no se pudo imprimir dentro de sus límites", "the report could not be rendered in its limits"),
        why=Text(detail, detail),
        fix=Text("libere memoria y repita la orden", "free some memory and repeat the command"),
        exit_code=6,
    )


def _not_a_report(detail: str) -> ReportError:
    return ReportError(
        "SLV-R014",
        Text(f"no es un informe de slaverify: {detail}", f"not a report of slaverify: {detail}"),
        fix=Text("genere el informe de nuevo a partir del paquete", "build the report again from the bundle"),
        exit_code=4,
    )


# Below: what runs behind the wall.


def _main(arguments: list[str]) -> int:
    what, work = arguments[0], Path(arguments[1])
    faces = {"regular": Path(arguments[2]), "bold": Path(arguments[3])}
    _limit()
    try:
        if what == "renderer":
            (work / "renderer.json").write_text(json.dumps(_here(faces)), encoding="utf-8")
        elif what == "page":
            (work / "page.pdf").write_bytes(_draw_page(work, faces))
        else:
            (work / "report.pdf").write_bytes(_draw(work, faces))
    except ReportError as error:
        tree = {
            "code": error.code,
            "what": list(error.what),
            "why": list(error.why),
            "fix": list(error.fix),
            "where": error.where,
            "exit": error.exit_code,
        }
        (work / "error.json").write_text(json.dumps(tree), encoding="utf-8")
        return 1
    return 0


def _limit() -> None:
    import faulthandler
    import resource

    faulthandler.dump_traceback_later(SECONDS - 2)
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 4 * MAX_PDF),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _here(faces: Mapping[str, Path]) -> dict[str, str]:
    """Return the renderer of this process, with the keys of `render` in `report.json`."""
    import ctypes

    from slaverify.report.page import templates_sha256

    pango = int(_weasyprint_text().pango.pango_version())
    harfbuzz = ctypes.CDLL("libharfbuzz.so.0")
    harfbuzz.hb_version_string.restype = ctypes.c_char_p
    return {
        **{name: version(name) for name in PACKAGES},
        "pango": f"{pango // 10000}.{pango // 100 % 100}.{pango % 100}",
        "harfbuzz": harfbuzz.hb_version_string().decode("ascii"),
        "fonts": face_names(faces["regular"].read_bytes(), faces["bold"].read_bytes()),
        "templates_sha256": templates_sha256(),
        # Babel carries an extract of CLDR and names no release of it: its own version pins it.
        "cldr": f"babel {version('babel')}",
    }


def _same_renderer(report: JsonObject, faces: Mapping[str, Path]) -> None:
    named = report.get("render")
    if not isinstance(named, Mapping):
        raise _not_a_report("render")
    if all(value is None for value in named.values()):
        return
    here = _here(faces)
    differing = sorted(key for key in {*named, *here} if named.get(key) != here.get(key))
    if differing:
        raise ReportError(
            "SLV-R012",
            Text(
                f"el informe nombra otro programa de impresión: {', '.join(differing)}",
                f"the report names another renderer: {', '.join(differing)}",
            ),
            why=Text("las páginas podrían salir con otros bytes", "the pages could come out with other bytes"),
            fix=Text("use las mismas versiones, o genere el informe aquí", "use the same versions, or build it here"),
        )


def _weasyprint_text() -> Any:  # noqa: ANN401 - a module of WeasyPrint, which has no types
    """Import the renderer's libraries. Raises: ReportError SLV-R011 naming the packages to install."""
    try:
        from weasyprint.text import ffi
    except OSError as error:
        raise _library_missing(str(error).splitlines()[0]) from error
    if ffi.harfbuzz_subset is None:
        # Without it fontTools subsets instead and writes the date of the day into the face.
        raise _library_missing("libharfbuzz-subset")
    return ffi


def _library_missing(detail: str) -> ReportError:
    return ReportError(
        "SLV-R011",
        Text(f"falta una biblioteca del sistema: {detail}", f"a system library is missing: {detail}"),
        why=Text(
            "sin ella no hay PDF; correr, verificar y custodiar funcionan igual",
            "without it there is no PDF; running, verifying and custody work all the same",
        ),
        fix=Text(f"sudo {APT}", f"sudo {APT}"),
        exit_code=6,
    )


def _draw(work: Path, faces: Mapping[str, Path]) -> bytes:
    _weasyprint_text()
    import weasyprint
    from weasyprint.text.fonts import FontConfiguration

    from slaverify.report.finish import finish, hex_identifier
    from slaverify.report.page import page_html, stylesheet

    report_json = (work / "report.json").read_bytes()
    report = loads_object(report_json)
    _same_renderer(report, faces)
    page = page_html(report, drawable(faces["regular"], faces["bold"]))
    served = {f"slaverify:{name}": path.read_bytes() for name, path in faces.items()}
    fetcher = _closed_fetcher(served)
    complaints = _Complaints()
    logging.getLogger("weasyprint").addHandler(complaints)
    try:
        fonts = FontConfiguration()
        style = weasyprint.CSS(string=stylesheet(), url_fetcher=fetcher, font_config=fonts)
        document = weasyprint.HTML(string=page, url_fetcher=fetcher).render(font_config=fonts, stylesheets=[style])
        if len(document.pages) > MAX_PAGES:
            raise _over_limit(f"{len(document.pages)} > {MAX_PAGES}")
        closed_at = _moment(report)
        attachments = [
            weasyprint.Attachment(
                string=(work / name).read_bytes(),
                name=name,
                description=description,
                created=closed_at,
                modified=closed_at,
                relationship="Data",
                url_fetcher=fetcher,
            )
            for name, description in (("manifest.json", "evidence manifest"), ("report.json", "model of this document"))
        ]
        identifier = bytes.fromhex(sha256_hex(report_json))[:16]
        pdf: bytes = document.write_pdf(
            finisher=finish,
            pdf_variant="pdf/a-3a",
            uncompressed_pdf=True,
            pdf_identifier=identifier.hex(),
            attachments=attachments,
        )
    except weasyprint.urls.FatalURLFetchingError as error:
        raise _not_a_report(f"address {error}") from error
    complaints.check()
    return hex_identifier(pdf, identifier)


def _draw_page(work: Path, faces: Mapping[str, Path]) -> bytes:
    _weasyprint_text()
    import weasyprint
    from weasyprint.text.fonts import FontConfiguration

    page = (work / "page.html").read_text(encoding="utf-8")
    fetcher = _closed_fetcher({f"slaverify:{name}": path.read_bytes() for name, path in faces.items()})
    fonts = FontConfiguration()
    style = weasyprint.CSS(
        string=(work / "page.css").read_text(encoding="utf-8"), url_fetcher=fetcher, font_config=fonts
    )
    document = weasyprint.HTML(string=page, url_fetcher=fetcher).render(font_config=fonts, stylesheets=[style])
    pdf: bytes = document.write_pdf(pdf_variant="pdf/ua-1")
    return pdf


def _moment(report: JsonObject) -> datetime:
    from slaverify.report import numbers

    try:
        return numbers.moment(str(report.get("closed_at")))
    except ValueError as error:
        raise _not_a_report("closed_at") from error


def _closed_fetcher(served: Mapping[str, bytes]) -> Any:  # noqa: ANN401 - a subclass of WeasyPrint's fetcher
    from weasyprint.urls import FatalURLFetchingError, URLFetcher, URLFetcherResponse

    class Closed(URLFetcher):  # type: ignore[misc]  # WeasyPrint has no types
        def fetch(self, url: str, headers: object = None) -> object:
            if url not in served:
                # Any other exception is swallowed, and a missing face would go unnoticed.
                raise FatalURLFetchingError(url[:80])
            return URLFetcherResponse(url, served[url], {"Content-Type": "font/ttf"})

    return Closed()


class _Complaints(logging.Handler):
    """Collect what the renderer complains about: a page that it could not draw as written is refused."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def check(self) -> None:
        if self.lines:
            raise _not_a_report("; ".join(self.lines)[:200])


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
