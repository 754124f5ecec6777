"""Whether two revisions of a PDF say the same of the document, but for who last wrote it and when.

Source: ISO 16684-1 (XMP); ISO 32000-1 14.3.
"""

from __future__ import annotations

from io import BytesIO

from pyhanko.pdf_utils.metadata.model import ExpandedName, XmpStructure, XmpValue
from pyhanko.pdf_utils.metadata.xmp_xml import parse_xmp
from pyhanko.pdf_utils.rw_common import PdfHandler

_MAX_XMP = 1024**2
_FREE_INFO = frozenset({"/ModDate", "/Producer"})
_XMP = "http://ns.adobe.com/xap/1.0/"
_FREE_XMP = frozenset(
    {
        ExpandedName(ns=_XMP, local_name="ModifyDate"),
        ExpandedName(ns=_XMP, local_name="MetadataDate"),
        ExpandedName(ns="http://ns.adobe.com/pdf/1.3/", local_name="Producer"),
    }
)


def same_metadata(one: PdfHandler, other: PdfHandler) -> bool:
    """Compare two revisions. Raises whatever the parsers raise."""
    return _info(one) == _info(other) and _xmp(one) == _xmp(other)


def _info(revision: PdfHandler) -> dict[str, str]:
    trailer = revision.trailer_view
    if "/Info" not in trailer:
        return {}
    # Resolved in the revision itself: a trailer's own references lead to the latest one.
    info = revision.get_object(trailer.raw_get("/Info").reference)
    return {key: str(info[key]) for key in info if key not in _FREE_INFO}


def _xmp(revision: PdfHandler) -> dict[ExpandedName, XmpValue]:
    root = revision.root
    if "/Metadata" not in root:
        return {}
    data = bytes(root["/Metadata"].data)
    if len(data) > _MAX_XMP:
        raise ValueError("metadata too long")
    found: list[XmpStructure] = parse_xmp(BytesIO(data))
    fields = {name: value for structure in found for name, value in structure}
    return {name: value for name, value in fields.items() if name not in _FREE_XMP}
