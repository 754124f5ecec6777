"""Legal citations: ids, the grammar `cl.norm@1` that reads them, and their look-up in the catalogue."""

from __future__ import annotations
