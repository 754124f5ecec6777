"""The label page: foreign text stays text, nothing is fetched, and what it saves comes back as labels."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path

import pytest

from slaverify.judging.calibration import BlindSheet, Label, Shown, UnitKey, blind_sheet, read_sheet, sheet_html
from tests.judging.calibration.people import contract, texts

REGLAB, CRITERIA = contract(), contract(criteria=True)
HOSTILE = "</div><script>alert(1)</script>\"' onerror=x <img src=http://x/y> &amp; =1+1"
KEYS = [UnitKey(f"i-{n}", 0, "") for n in range(3)]


class Page(HTMLParser):
    """The elements of a page, with their attributes and the text of style and script."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.inside: dict[str, str] = {}
        self._open = ""
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        self._open = tag

    def handle_data(self, data: str) -> None:
        if self._open in ("style", "script"):
            self.inside[self._open] = self.inside.get(self._open, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.found if name == tag]


def hostile_sheet() -> BlindSheet:
    shown = {("i-0", 0): Shown(question=HOSTILE, answer=HOSTILE, hidden_marks="<U+202E> ×1", official_text="Texto")}
    return blind_sheet(REGLAB, KEYS[:1], shown, b"k" * 32, 1)


def test_foreign_text_is_text_and_nothing_is_fetched() -> None:
    page = Page(sheet_html(REGLAB, hostile_sheet(), "es"))
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert not page.of("img") + page.of("link") + page.of("iframe")
    assert not [name for _, attributes in page.found for name in attributes if name.startswith("on")]
    assert not [a for _, a in page.found if {"src", "href", "style"} & set(a)]
    policy = page.of("meta")[1]["content"]
    digests = {
        kind: "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind, text in page.inside.items()
    }
    assert policy == (
        f"default-src 'none'; style-src '{digests['style']}'; script-src '{digests['script']}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_the_page_has_a_language_and_a_label_for_every_control_in_the_order_of_the_sheet() -> None:
    sheet = blind_sheet(CRITERIA, [UnitKey("i-0", 0, "trato")], texts(KEYS), b"k" * 32, 1)
    page = Page(sheet_html(CRITERIA, sheet, "en"))
    assert page.of("html")[0]["lang"] == "en"
    labelled = {attributes["for"] for attributes in page.of("label") if "for" in attributes}
    assert {attributes["id"] for attributes in page.of("textarea")} <= labelled
    order = [a["data-choice"] for a in page.of("input") if "data-choice" in a]
    assert list(dict.fromkeys(order)) == ["class", "met", "doubt"]
    assert b"Es respetuosa. Puede ser breve" in sheet_html(CRITERIA, sheet, "en")


def test_the_colours_of_the_page_can_be_read() -> None:
    style = Page(sheet_html(REGLAB, hostile_sheet(), "es")).inside["style"]
    # Dark text #1a1a1a on white and on #f3f3f3: more than 4.5 : 1, as computed for the report's palette.
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", style)) <= {"#1a1a1a", "#fff", "#f3f3f3", "#595959", "#0b4f8a"}


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine: the page's script is not run")
def test_what_the_page_saves_comes_back_as_labels() -> None:
    shown = {**texts(KEYS), ("i-1", 0): Shown(question="=q", answer='a "b", c\n30', hidden_marks="", official_text="")}
    sheet = blind_sheet(REGLAB, KEYS, shown, b"k" * 32, 1)
    page = Page(sheet_html(REGLAB, sheet, "es"))
    rows: list[dict] = []
    for tag, attributes in page.found:
        if tag == "section":
            rows.append({"row": attributes["data-row"], "fixed": [], "choices": [], "free": []})
        elif "data-column" in attributes:
            rows[-1]["fixed"].append({"column": attributes["data-column"], "cell": attributes["data-cell"]})
        elif "data-choice" in attributes:
            rows[-1]["choices"].append({"choice": attributes["data-choice"], "value": attributes["value"]})
        elif "data-free" in attributes:
            rows[-1]["free"].append(attributes["data-free"])
    body = page.of("body")[0]
    # Groups of a row: class, correctness, grounding, doubt. Row 1 whole, row 2 an abstention, row 3 left open.
    keys = [(0, "1"), (1, "3"), (2, "1"), (3, "1"), (4, "2"), (8, "9"), (8, "x")]
    given = {
        "script": page.inside["script"],
        "columns": body["data-columns"],
        "headings": body["data-headings"],
        "rows": rows,
        "keys": keys,
        "typed": [(1, "comment", '=dice "no sé"')],
    }
    script = Path(__file__).with_name("page.js")
    done = subprocess.run(
        ["node", str(script)], input=json.dumps(given), capture_output=True, text=True, check=True, timeout=60
    )
    saved = json.loads(done.stdout)
    assert saved["done"] == "2 / 3"
    found = read_sheet(REGLAB, sheet, saved["csv"].encode("utf-8"), "hoja.csv")
    whole, abstains, open_ = (row for row in sheet.rows)
    assert found.labels == {
        whole.key: Label("answer", (("correctness", "incorrect"), ("grounding", "grounded")), doubt=True),
        abstains.key: Label("abstention"),
    }
    assert found.pending == (open_.row,)
    assert found.comments == {abstains.key: '\'=dice "no sé"'}
