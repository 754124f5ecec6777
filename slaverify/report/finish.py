"""Finish the PDF's objects before they are written: what the renderer leaves undone or does twice.

Each step looks first and changes nothing that is already right, so that a renderer that mends itself breaks
nothing here.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

UA_DESCRIPTION = b"""<rdf:Description rdf:about="" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" \
xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part></rdf:Description>\
<rdf:Description rdf:about="" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" \
xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" \
xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" \
xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"><pdfaExtension:schemas><rdf:Bag>\
<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>\
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>\
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>\
<rdf:li rdf:parseType="Resource"><pdfaProperty:name>part</pdfaProperty:name>\
<pdfaProperty:valueType>Integer</pdfaProperty:valueType><pdfaProperty:category>internal</pdfaProperty:category>\
<pdfaProperty:description>Part of ISO 14289 to which the file refers</pdfaProperty:description></rdf:li>\
</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>"""
"""The identification of the structure (ISO 14289-1, 5) and the schema that PDF/A asks for it (ISO 19005-3, 6.6.2.3)."""

_END = b"</rdf:RDF>"
_IDENTIFIER = re.compile(rb"/ID \[.*?\]\n>>\nstartxref\n", re.DOTALL)


class PydyfObject(Protocol):
    """What is used of an object of pydyf."""

    stream: list[Any]
    extra: dict[str, Any]


def finish(document: Any, pdf: Any) -> None:  # noqa: ANN401 - objects of WeasyPrint and pydyf, which have no types
    """Apply every step to the document that is about to be written."""
    unique_associated_files(pdf)
    identify_structure(pdf)
    scope_headers(document)


def unique_associated_files(pdf: Any) -> None:  # noqa: ANN401
    """Name each associated file once in `/AF`."""
    files = pdf.catalog.get("AF")
    if files is None:
        return
    seen: list[Any] = []
    for reference in files:
        if reference not in seen:
            seen.append(reference)
    files[:] = seen


def identify_structure(pdf: Any) -> None:  # noqa: ANN401
    """Put the structure's identification into the one RDF of the metadata, if it is not there."""
    number = int(pdf.catalog["Metadata"].split()[0])
    stream = pdf.objects[number].stream
    content = b"".join(stream)
    if b"pdfuaid:part" in content:
        return
    if content.count(_END) != 1:
        raise ValueError("the metadata do not hold exactly one rdf:RDF")
    stream[:] = [content.replace(_END, UA_DESCRIPTION + _END)]


def scope_headers(document: Any) -> None:  # noqa: ANN401
    """Write the scope of each header cell, as its element says it."""
    for page in document.pages:
        for box in page._page_box.descendants(placeholders=True):
            mark = getattr(box, "mark", None)
            if mark is None or box.element is None or box.element_tag != "th":
                continue
            mark["A"]["Scope"] = "/Row" if box.element.attrib.get("scope") == "row" else "/Column"


def hex_identifier(data: bytes, identifier: bytes) -> bytes:
    """Write the file identifier as hex strings: raw bytes in a literal string may hold a carriage return.

    The trailer stands behind the cross-reference table, so no offset moves.
    Raises: ValueError if the trailer is not where it belongs.
    """
    found = list(_IDENTIFIER.finditer(data, max(0, len(data) - 2048)))
    if len(found) != 1:
        raise ValueError("no identifier in the trailer")
    text = identifier.hex().encode("ascii")
    start, end = found[0].span()
    return data[:start] + b"/ID [<" + text + b"> <" + text + b">]\n>>\nstartxref\n" + data[end:]
