"""Walk every object that hangs from a PDF's root and name what a printed page has no need of.

Position decides what an object is, not what it says of itself: an element of `/Annots` is an annotation, a value of
a `/Font` dictionary is a font. Only in the structure tree are `/A` and `/S` attributes and types.

Source: ISO 32000-1 7.4 (filters), 8.11 (optional content), 9.9 (embedded fonts), 12.5 (annotations), 12.6 (actions).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyhanko.pdf_utils import generic

MAX_OBJECTS = 400_000
MAX_DEPTH = 200
FONTS = frozenset({"IBM-Plex-Sans", "IBM-Plex-Sans-Bold"})
"""The faces that the report is printed in, by `/BaseFont` less its subset tag."""

_FORBIDDEN = frozenset(
    {
        "/JS",
        "/JavaScript",
        "/OpenAction",
        "/AA",
        "/XFA",
        "/OCProperties",
        "/OC",
        "/RichMediaContent",
        "/RichMediaSettings",
        "/Launch",
        "/Collection",
        "/Renditions",
        "/AlternatePresentations",
        "/OPI",
        "/Ref",
    }
)
_PROGRAMS = frozenset({"/PS"})
_TAG = re.compile(r"/[A-Z]{6}\+")
_WIDGET_KEYS = frozenset({"/FT", "/T", "/Type", "/Subtype", "/F", "/Rect", "/P", "/V"})


def structure_problems(root: generic.DictionaryObject) -> tuple[str, ...]:
    """Return what stands in the document under `root` that a report never has: sorted words, empty if nothing.

    Raises: ValueError over the limits of objects and depth, and whatever pyHanko raises for broken objects.
    """
    walk = _Walk()
    walk.visit(root)
    return tuple(sorted(walk.problems))


class _Walk:
    def __init__(self) -> None:
        self.problems: set[str] = set()
        self._seen: set[tuple[int, int, bool]] = set()
        self._count = 0

    def visit(self, root: generic.PdfObject) -> None:
        """Visit all that can be reached, each object once as part of the structure tree and once as not."""
        # (object, inside the structure tree, the key under which it stands, depth of direct nesting)
        stack: list[tuple[generic.PdfObject, bool, str, int]] = [(root, False, "", 0)]
        while stack:
            value, structural, key, depth = stack.pop()
            self._count += 1
            if self._count > MAX_OBJECTS or depth > MAX_DEPTH:
                raise ValueError("too many objects, or nested too deep")
            if isinstance(value, generic.IndirectObject):
                mark = (value.idnum, value.generation, structural)
                if mark in self._seen:
                    continue
                self._seen.add(mark)
                stack.append((_direct(value), structural, key, 0))
            elif isinstance(value, generic.DictionaryObject):
                stack.extend(self._dictionary(value, structural, depth))
            elif isinstance(value, generic.ArrayObject):
                stack.extend((value.raw_get(index), structural, key, depth + 1) for index in range(len(value)))

    def _dictionary(
        self, value: generic.DictionaryObject, structural: bool, depth: int
    ) -> Iterator[tuple[generic.PdfObject, bool, str, int]]:
        if isinstance(value, generic.StreamObject):
            self._stream(value)
        if _text(value, "/Type") in ("/XRef", "/ObjStm"):
            self.problems.add("object stream")
        for key in value:
            member = value.raw_get(key)
            if key in _FORBIDDEN and not (key == "/Ref" and structural):
                self.problems.add(key[1:])
            if key == "/A" and not structural:
                self._action(_direct(member))
            elif key == "/Annots":
                self._annotations(_direct(member))
            elif key == "/Font":
                self._fonts(_direct(member))
            yield member, _stays_structural(key, structural), key, depth + 1
        if _text(value, "/Type") == "/Action":
            self._action(value)

    def _stream(self, value: generic.StreamObject) -> None:
        if {"/Filter", "/FFilter", "/DecodeParms"} & set(value):
            self.problems.add("stream with a filter")
        if "/F" in value or "/DL" in value:
            self.problems.add("external stream")
        if {_text(value, "/Subtype"), _text(value, "/Subtype2")} & _PROGRAMS:
            self.problems.add("PostScript")

    def _action(self, action: generic.PdfObject) -> None:
        if not isinstance(action, generic.DictionaryObject) or _text(action, "/S") != "/GoTo" or "/Next" in action:
            self.problems.add("action")

    def _annotations(self, annotations: generic.PdfObject) -> None:
        if not isinstance(annotations, generic.ArrayObject):
            self.problems.add("annotation")
            return
        for index in range(len(annotations)):
            annotation = _direct(annotations.raw_get(index))
            if not isinstance(annotation, generic.DictionaryObject) or not self._annotation(annotation):
                self.problems.add("annotation")

    def _annotation(self, annotation: generic.DictionaryObject) -> bool:
        kind = _text(annotation, "/Subtype")
        if kind == "/Widget":
            return _text(annotation, "/FT") == "/Sig" and set(annotation) <= _WIDGET_KEYS
        if kind != "/Link" or "/AP" in annotation:
            return False
        if "/A" in annotation:
            self._action(_direct(annotation.raw_get("/A")))
        return "/Dest" in annotation or "/A" in annotation

    def _fonts(self, fonts: generic.PdfObject) -> None:
        if isinstance(fonts, generic.ArrayObject):
            # In a graphics state: [font size].
            self._font(_direct(fonts.raw_get(0)) if len(fonts) else fonts)
        elif isinstance(fonts, generic.DictionaryObject):
            for name in fonts:
                self._font(_direct(fonts.raw_get(name)))
        else:
            self.problems.add("font")

    def _font(self, font: generic.PdfObject) -> None:
        if not isinstance(font, generic.DictionaryObject) or not _is_ours(font):
            self.problems.add("font")
            return
        descendants = _direct(font.raw_get("/DescendantFonts")) if "/DescendantFonts" in font else None
        if _text(font, "/Subtype") == "/Type0":
            members = (
                [] if not isinstance(descendants, generic.ArrayObject) else [_direct(m) for m in _raw(descendants)]
            )
            embedded = bool(members) and all(_is_ours(member) and _is_embedded(member) for member in members)
        else:
            embedded = descendants is None and _is_embedded(font)
        if not embedded:
            self.problems.add("font")


def _raw(array: generic.ArrayObject) -> list[generic.PdfObject]:
    return [array.raw_get(index) for index in range(len(array))]


def _stays_structural(key: str, structural: bool) -> bool:
    if key == "/StructTreeRoot":
        return True
    # From a structure element these lead back to pages and annotations.
    return structural and key not in ("/Pg", "/Obj", "/Stm", "/StmOwn", "/AF")


def _direct(value: generic.PdfObject) -> generic.PdfObject:
    if not isinstance(value, generic.IndirectObject):
        return value
    found: generic.PdfObject = value.get_object()  # type: ignore[no-untyped-call]  # pyHanko
    return found


def _text(value: generic.DictionaryObject, key: str) -> str:
    member = _direct(value.raw_get(key)) if key in value else None
    return str(member) if isinstance(member, generic.NameObject) else ""


def _is_ours(font: generic.PdfObject) -> bool:
    if not isinstance(font, generic.DictionaryObject):
        return False
    name = _text(font, "/BaseFont")
    return _TAG.match(name) is not None and name[8:] in FONTS


def _is_embedded(font: generic.PdfObject) -> bool:
    if not isinstance(font, generic.DictionaryObject) or "/FontDescriptor" not in font:
        return False
    descriptor = _direct(font.raw_get("/FontDescriptor"))
    if not isinstance(descriptor, generic.DictionaryObject):
        return False
    files = [key for key in ("/FontFile2", "/FontFile3") if key in descriptor]
    return len(files) == 1 and isinstance(_direct(descriptor.raw_get(files[0])), generic.StreamObject)
