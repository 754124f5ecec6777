"""The document: what the evidence bundle says, as a model (`report.json`) and as pages.

`build` is pure: bytes of the bundle in, bytes of `report.json` out. The pages are made by the second door
`slaverify.report.pdf` (`render`, `renderer`, `prepare_fonts`), the one module that imports WeasyPrint.

Source: docs/spec/report.md.
"""

from __future__ import annotations

from slaverify.report.build import build
from slaverify.report.facts import BundleFiles

__all__ = ["BundleFiles", "build"]
