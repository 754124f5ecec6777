"""The language of help and messages: Spanish unless the environment asks for English."""

from __future__ import annotations

import os

from slaverify.errors import Text


def language() -> str:
    """Return `en` or `es`: SLAVERIFY_LANG first, then the usual locale variables; Spanish where none speaks."""
    for name in ("SLAVERIFY_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value and value not in ("C", "POSIX") and not value.startswith("C."):
            return "en" if value.lower().startswith("en") else "es"
    return "es"


def t(es: str, en: str) -> str:
    """Return one of two sentences by the language of the reader."""
    return Text(es, en).in_language(language())
