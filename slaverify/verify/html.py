"""A verification as one HTML page without script or address: the words of `render_text`, for a browser or a file.

Everything but the markup is a line of the text, escaped; its indentation says what belongs to what.

Source: docs/spec/verification.md, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from slaverify.verify.text import render_text
from slaverify.verify.verification import Verification

_STYLE = (
    "body{max-width:46em;margin:2em auto;padding:0 1em;font:16px/1.45 sans-serif;color:#1A1A1A}"
    "h1{font-size:1.5em}h2{font-size:1.1em;border-top:1px solid #595959;padding-top:.6em}"
    "ul{list-style:none;padding:0}li{margin:.35em 0;overflow-wrap:anywhere}"
    "li p{margin:.1em 0 .1em 1.6em;color:#4A4A4A}.failed{color:#A63200;font-weight:bold}"
)
_ITEM, _DETAIL = "  ", "      "


def render_html(verification: Verification, language: str = "es") -> str:
    """Return the page; `language` is `es` or `en`."""
    blocks = [block.split("\n") for block in render_text(verification, language).strip("\n").split("\n\n")]
    first, *rest = blocks[0]
    body = [f"<h1>{escape(first)}</h1>", *(f"<p>{escape(line)}</p>" for line in rest)]
    for heading, *lines in blocks[1:]:
        body.append(f"<section><h2>{escape(heading)}</h2><ul>{''.join(_items(lines))}</ul></section>")
    head = f'<meta charset="utf-8"><title>{escape(first)}</title><style>{_STYLE}</style>'
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(language[:2])}"><head>{head}</head><body>{"".join(body)}</body></html>\n'
    )


def _items(lines: Sequence[str]) -> Iterator[str]:
    """Yield one list item a line, with the lines that stand deeper below it."""
    groups: list[list[str]] = []
    for line in lines:
        if line.startswith(_DETAIL) and groups:
            groups[-1].append(line)
        else:
            groups.append([line])
    for shown, *details in groups:
        mark = ' class="failed"' if shown.startswith(f"{_ITEM}✗") else ""
        below = "".join(f"<p>{escape(line.strip())}</p>" for line in details)
        yield f"<li{mark}>{escape(shown.strip())}{below}</li>"
