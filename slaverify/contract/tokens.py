"""Recognise texts that have the form of a known kind of secret."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\b(sk-[A-Za-z0-9_-]{12,}|sk_live_\w{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|xox[abprs]-[A-Za-z0-9-]{8,}"
    r"|AKIA[0-9A-Z]{12,}|AIza[0-9A-Za-z_-]{20,}|ya29\.[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}|AGE-SECRET-KEY-1\w+"
    r"|hf_[A-Za-z0-9]{16,}|glpat-[\w-]{16,})|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


def looks_like_token(text: str) -> bool:
    """Return whether a text holds something of the form of a known kind of secret."""
    return _TOKEN.search(text) is not None
