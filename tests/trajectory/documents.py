"""Files that several tests of this folder read."""

from __future__ import annotations

import json
from pathlib import Path


def document(path: Path) -> dict:
    """Return a JSON document."""
    return json.loads(path.read_text("utf-8"))
