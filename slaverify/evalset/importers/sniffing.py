"""Propose the format of a file from its first bytes. A proposal, unless the file carries its own signature.

Source: docs/spec/import.md section 1.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile

from slaverify.evalset.importers.reading import nfc
from slaverify.evalset.template_layout import ours

_KEY = re.compile(r'"((?:[^"\\]|\\.){1,64})"\s*:')
_SEPARATORS = re.compile(r"[,;\t|]")


def sniff(data: bytes, name: str) -> tuple[str, bool]:
    """Return the format and whether it is certain (a workbook, or items of our own)."""
    if data.startswith(b"PK\x03\x04"):
        return _archive(data)
    text = _text(data[:65_536])
    first = text.lstrip()[:1]
    if first in ("{", "["):
        return _json(text)
    if name.lower().endswith((".yaml", ".yml")):
        return "promptfoo", False
    heading = next((line for line in text.splitlines() if line.strip() and not line.lower().startswith("sep=")), "")
    if any(ours([nfc(part.strip()) for part in next(csv.reader([heading], delimiter=sign))]) for sign in ",;\t|"):
        return "csv", True
    names = {part.strip().strip('"') for part in _SEPARATORS.split(heading)}
    return _tool(names, "csv"), False


def _archive(data: bytes) -> tuple[str, bool]:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return "xlsx", False
    return ("ods", True) if "content.xml" in names else ("xlsx", True)


def _json(text: str) -> tuple[str, bool]:
    keys = set(_KEY.findall(text))
    if "paragraphs" in keys and "data" in keys:
        return "squad", False
    line = text.lstrip().partition("\n")[0]
    if line.startswith("{") and re.search(r'"schema"\s*:\s*"item/1"', line):
        return "jsonl", True
    return _tool(keys, "json"), False


def _tool(names: set[str], otherwise: str) -> str:
    if any(name.startswith("__expected") for name in names):
        return "promptfoo"
    if {"user_request", "context_document"} <= names:
        return "facts"
    if "user_input" in names:
        return "ragas"
    if "input" in names and names & {"expected_output", "expectedOutput"}:
        return "deepeval"
    if {"input", "target"} <= names:
        return "inspect"
    return otherwise


def _text(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
