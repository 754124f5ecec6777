"""The blind sheet as one static page: no network, keys 1 to 9, saved as the CSV that comes back.

What the page shows is foreign text, escaped; its policy admits one style and one script, by their digests, and no
other source at all.

Source: docs/spec/calibration.md section 3; Content Security Policy Level 3 (*unverified*).
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape

from slaverify.contract import Contract
from slaverify.errors import Text
from slaverify.judging.calibration.columns import FIXED, HEADINGS, Column, column, headings, instructions, layout
from slaverify.judging.calibration.sheet import BlindSheet, SheetRow, guarded
from slaverify.judging.data import read_text

TITLE = Text("Etiquetas", "Labels")
HOW = Text(
    "Elija con el ratón o con los números del teclado en cada grupo. Guarde a menudo: la página no recuerda nada.",
    "Choose with the mouse or with the number keys inside each group. Save often: the page remembers nothing.",
)
_STYLE, _SCRIPT = read_text("label.css"), read_text("label.js")
SAVE = Text("Guardar CSV", "Save CSV")


def sheet_html(contract: Contract, sheet: BlindSheet, language: str) -> bytes:
    """Return the sheet as one HTML page."""
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(_STYLE)}'",
            f"script-src '{_digest(_SCRIPT)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    columns, heads = json.dumps(layout(contract)), json.dumps(headings(contract, language), ensure_ascii=False)
    rows = "\n".join(_row(contract, row, number, language) for number, row in enumerate(sheet.rows, 1))
    told = "\n".join(f"<p>{escape(line)}</p>" for line in instructions(contract, language))
    title = TITLE.in_language(language)
    return f"""<!doctype html>
<html lang="{"en" if language[:2] == "en" else "es"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body data-columns="{escape(columns)}" data-headings="{escape(heads)}" data-file="{sheet.digest[:12]}.csv">
<main>
<h1>{title}</h1>
<p>{escape(HOW.in_language(language))}</p>
{told}
{rows}
</main>
<footer><button id="save" type="button">{SAVE.in_language(language)}</button>
<output id="done" aria-live="polite"></output></footer>
<script>{_SCRIPT}</script>
</body>
</html>
""".encode()


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _row(contract: Contract, row: SheetRow, number: int, language: str) -> str:
    names = layout(contract)
    fixed = [_fixed(name, row.cells.get(name, ""), language) for name in names if name in FIXED[1:]]
    asked = names[names.index("class") :]
    filled = [_filled(contract, row, name, language) for name in asked]
    head = f'<section data-row="{row.row}" aria-labelledby="{row.row}">\n<h2 id="{row.row}">{number}</h2>'
    own = f'<span hidden data-column="row" data-cell="{row.row}"></span>'
    return "\n".join((head, own, *fixed, *filled, "</section>"))


def _fixed(name: str, cell: str, language: str) -> str:
    kept = f'data-column="{name}" data-cell="{escape(guarded(cell))}"'
    if not cell:
        return f"<span hidden {kept}></span>"
    return f'<h3>{escape(HEADINGS[name].in_language(language))}</h3>\n<div class="text" {kept}>{escape(cell)}</div>'


def _filled(contract: Contract, row: SheetRow, name: str, language: str) -> str:
    one, label = column(contract, name), escape(HEADINGS[name].in_language(language))
    if one.codes:
        return _choices(row, one, label, language)
    place = f"{row.row}-{name}"
    kind = f'<textarea id="{place}" data-free="{name}" rows="2"></textarea>'
    if name != "comment":
        kind = f'<input type="text" id="{place}" data-free="{name}">'
    return f'<p><label for="{place}">{label}</label>{kind}</p>'


def _choices(row: SheetRow, one: Column, label: str, language: str) -> str:
    options = "\n".join(
        f'<label><input type="radio" name="{row.row}-{one.name}" data-choice="{one.name}" value="{escape(word)}"> '
        f"{number} {escape(word)}</label>"
        for number, word in enumerate(one.shown(language), 1)
    )
    return f"<fieldset><legend>{label}</legend>\n{options}</fieldset>"
