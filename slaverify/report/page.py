"""Make the page from `report.json` and the templates: a pure function of both, and of the faces that draw it.

`report.json` may come from a stranger's PDF (`verify --rerender`): whatever it holds, the result is text that
was escaped, or a refusal.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from slaverify.canonical import JsonObject, JsonValue, sha256_hex
from slaverify.errors import ReportError, SlaverifyError, Text
from slaverify.report import charts, numbers
from slaverify.report.catalogue import Catalogue
from slaverify.resources import resource

SECTIONS = (
    "marks",
    "summary",
    "statement",
    "results",
    "sheet",
    "item",
    "method",
    "custody",
    "deviations",
    "limits",
    "verifiability",
    "annex_items",
    "annex_glossary",
    "annex_mapping",
    "annex_custody",
)
TEMPLATE_FILES = (
    "page.html.j2",
    "blocks.html.j2",
    "charts.html.j2",
    "clauses.html.j2",
    "summary.html.j2",
    "report.css",
)
CATALOGUE_FILES = ("messages.es.toml", "messages.en.toml", "limitations.toml")
_TAG = re.compile(r"<style>.*?</style>|<[^>]*>", re.DOTALL)


def page_html(report: JsonObject, drawable: frozenset[int]) -> str:
    """Return the document as HTML.

    Raises: ReportError SLV-R010 if a text of ours has a character that no face draws, SLV-R014 if the report is not
    what it says.
    """
    tag = report.get("language")
    catalogue = Catalogue(tag if isinstance(tag, str) else "", drawable)
    sections = _sections(report)
    try:
        # Twice: whether some text had to be made visible is known at the end and said at the beginning.
        for _ in range(2):
            page = _template().render(
                report=report,
                language=report["language"],
                sections=sections,
                altered=catalogue.altered,
                catalogue=catalogue,
                say=catalogue.say,
                own=_own(catalogue),
                plain=catalogue.plain,
                drawing=_Drawing(catalogue),
            )
    except (jinja2.TemplateError, ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise _malformed(repr(error)[:200]) from error
    _covered(page, drawable)
    return page


def stylesheet() -> str:
    """Return the style sheet of the page."""
    return _file("report.css").read_text(encoding="utf-8")


def templates_sha256() -> str:
    """Return the digest of everything of ours that the page is made from: templates, style, catalogues."""
    lines = [f"{sha256_hex(_file(name).read_bytes())}  report/{name}\n" for name in TEMPLATE_FILES]
    lines += [f"{sha256_hex(resource('plantillas', name).read_bytes())}  {name}\n" for name in CATALOGUE_FILES]
    return sha256_hex("".join(lines).encode("ascii"))


_MOST = Decimal(10) ** 12
"""Largest number that a chart draws."""


class _Drawing:
    """What the templates ask about charts."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def panel(self, data: JsonObject, half: bool) -> charts.IntervalPanel:
        shares = data["unit"] == "share"
        rows = [
            (_decimal(row["low"], shares), _decimal(row["rate"], shares), _decimal(row["high"], shares))
            for row in _objects(data["rows"])
        ]
        width = charts.HALF if half else charts.WIDTH
        limit = _decimal(data["threshold"], shares)
        return charts.interval_panel(limit, str(data["direction"]), rows, width, shares=shares)

    def bars(self, rows: JsonValue) -> Sequence[charts.BarMark]:
        return charts.bars([_count(row["count"]) for row in _objects(rows)])

    def timeline(self, points: JsonValue) -> Sequence[charts.Point]:
        return charts.timeline([str(point["at"]) for point in _objects(points)])

    def tick(self, value: Decimal, unit: str) -> str:
        if unit == "share":
            return numbers.percentage(value, "exact", None, self._catalogue.locale)
        return numbers.real(value, 0, None, self._catalogue.locale, "exact")

    def code_path(self, payload: JsonValue) -> Mapping[str, object]:
        """Return the QR mark of a text: its size in modules and the path of its dark ones."""
        import segno

        matrix = segno.make(str(payload), error="m", micro=False).matrix
        path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(matrix) for x, dark in enumerate(row) if dark & 1)
        return {"size": len(matrix), "path": path}


def _own(catalogue: Catalogue) -> object:
    def own(key: str, **args: JsonValue) -> Markup:
        return catalogue.say({"key": key, "args": args})

    return own


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_file("page.html.j2").parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2")


def _file(name: str) -> Path:
    return resource("plantillas", "report", name)


def _sections(report: JsonObject) -> dict[str, JsonObject]:
    found = {str(section.get("id")): section for section in _objects(report.get("sections"))}
    if tuple(found) != SECTIONS:
        raise _malformed("sections")
    return found


def _objects(value: JsonValue) -> list[JsonObject]:
    if not isinstance(value, list | tuple) or not all(isinstance(member, Mapping) for member in value):
        raise _malformed("a list of objects was expected")
    return [member for member in value if isinstance(member, Mapping)]


def _decimal(value: JsonValue, share: bool) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation as error:
        raise ValueError("no decimal") from error
    if (
        not number.is_finite()
        or len(str(value)) > 40
        or abs(number) > (1 if share else _MOST)
        or (share and number < 0)
    ):
        raise ValueError("no share" if share else "no number of a chart")
    return number


def _count(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("no count")
    return value


def _covered(page: str, drawable: frozenset[int]) -> None:
    missing = sorted({character for character in _drawn(page) if ord(character) not in drawable})
    if missing:
        names = " ".join(f"U+{ord(character):04X}" for character in missing[:20])
        raise ReportError(
            "SLV-R010",
            Text(f"la tipografía no dibuja: {names}", f"the typeface does not draw: {names}"),
            why=Text("un cuadro vacío en la página mentiría", "an empty box on the page would lie"),
            fix=Text("cambie la palabra en plantillas/", "change the word in plantillas/"),
        )


def _drawn(page: str) -> Iterator[str]:
    return iter(html.unescape(_TAG.sub("", page)).replace("\n", ""))


def _malformed(detail: str) -> SlaverifyError:
    return ReportError(
        "SLV-R014",
        Text(f"report.json no tiene la forma que dice tener: {detail}", f"report.json is not what it says: {detail}"),
        fix=Text("genere el informe de nuevo a partir del paquete", "build the report again from the bundle"),
        exit_code=4,
    )
