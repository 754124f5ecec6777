"""Build a catalogue from what people have: a list of ids or articles, or the text of a norm with a heading each.

Nothing is added between two numbers: what is absent stays absent and is shown as a hole.

Trust boundary: the bytes come from people; decoded strictly. Source: docs/spec/import.md section 10.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, loads_strict
from slaverify.errors import ProblemsError, Text
from slaverify.evalset.catalogue import Catalogue, CatalogueEntry, catalogue_of, entry_of
from slaverify.evalset.importers.decoding import decode
from slaverify.evalset.importers.options import ImportOptions
from slaverify.evalset.problems import json_problem, problem

SUFFIXES = (
    "bis", "ter", "quater", "quinquies", "sexies", "septies", "octies", "nonies", "decies", "undecies", "duodecies",
    "terdecies", "quaterdecies", "quindecies", "sexdecies", "septendecies", "octodecies", "novodecies", "vicies",
)  # fmt: skip
"""Latin suffixes of inserted articles; each belongs to the article's id."""

_WORDS = (
    "primero", "segundo", "tercero", "cuarto", "quinto", "sexto", "septimo", "octavo", "noveno", "decimo",
    "undecimo", "duodecimo", "decimotercero", "decimocuarto", "decimoquinto", "decimosexto", "decimoseptimo",
    "decimoctavo", "decimonoveno", "vigesimo",
)  # fmt: skip
_ORDINALS = {word: number for number, word in enumerate(_WORDS, 1)} | {"unico": 1, "primera": 1}
_SUFFIX = rf"(?:[\s-]({'|'.join(SUFFIXES)}))?"
_HEADING = re.compile(
    rf"\s{{0,20}}(?:art(?:iculo|\.)?|article)\s{{1,3}}(?:n[°ºo.]\s?)?([0-9]{{1,5}})(?:[°ºo](?![a-z]))?"
    rf"{_SUFFIX}(?:[\s-]([a-z])(?=\s?[.:\-–—]))?(\s{{1,3}}transitorio)?\s{{0,3}}(?:[.:\-–—)]|$)"
)
_HEADING_WORD = re.compile(
    rf"\s{{0,20}}(?:articulo|article)\s{{1,3}}({'|'.join(_ORDINALS)}){_SUFFIX}(\s{{1,3}}transitorio)?\s{{0,3}}(?:[.:\-–—)]|$)"
)
_SHORT = re.compile(rf"([0-9]{{1,5}}){_SUFFIX}(?:[\s-]([a-z]))?(\s{{1,3}}(?:transitorio|trans))?")


@dataclass(frozen=True, slots=True)
class Built:
    """A catalogue and how it was read: `form` is `ids`, `articles` or `headings`."""

    catalogue: Catalogue
    form: str


def build_catalogue(
    data: bytes, name: str, *, norm: str | None, encoding: str | None = None, as_of: str | None = None
) -> Built:
    """Return the catalogue of a file; `norm` is the canonical id of the norm, where the file does not hold ids.

    `as_of` becomes `valid_from` of what has no date. Raises: ProblemsError, SetError SLV-I046, UndecidedError.
    """
    text = decode(data, name, ImportOptions(encoding=encoding)).text
    if text.lstrip()[:1] in ("{", "["):
        found, form = list(_json(text, name, norm)), "articles"
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        is_list = all(":" in line and " " not in line.strip() for line in lines) and bool(lines)
        short = all(_SHORT.fullmatch(_folded(line)) for line in lines) and bool(lines)
        form = "ids" if is_list else "articles" if short else "headings"
        found = list(
            _ids(text, name) if is_list else _short(text, name, norm) if short else _headings(text, name, norm)
        )
    if norm is not None and all(entry.id != norm for entry, _ in found):
        found.append((CatalogueEntry(norm), name))
    dated = [
        (CatalogueEntry(entry.id, entry.aliases, entry.valid_from or as_of, entry.valid_to), where)
        for entry, where in found
    ]
    return Built(catalogue_of(dated), form)


def _ids(text: str, name: str) -> Iterator[tuple[CatalogueEntry, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield CatalogueEntry(line.strip()), f"{name}:{number}"


def _short(text: str, name: str, norm: str | None) -> Iterator[tuple[CatalogueEntry, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _SHORT.fullmatch(_folded(line))
        if match is not None:
            yield CatalogueEntry(_article(_norm(norm, name), *match.groups())), f"{name}:{number}"


def _headings(text: str, name: str, norm: str | None) -> Iterator[tuple[CatalogueEntry, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        folded = _folded(line[:200])
        match = _HEADING.match(folded)
        if match is not None:
            yield CatalogueEntry(_article(_norm(norm, name), *match.groups())), f"{name}:{number}"
            continue
        word = _HEADING_WORD.match(folded)
        if word is not None:
            figure, suffix, transitory = word.groups()
            found = _article(_norm(norm, name), str(_ORDINALS[figure]), suffix, None, transitory)
            yield CatalogueEntry(found), f"{name}:{number}"


def _json(text: str, name: str, norm: str | None) -> Iterator[tuple[CatalogueEntry, str]]:
    for tree, where in _objects(text, name):
        articles = tree.get("articles")
        if isinstance(articles, list):
            for index, article in enumerate(articles):
                if isinstance(article, dict):
                    yield _from_object(article, f"{where}.articles[{index}]", norm)
        else:
            yield _from_object(tree, where, norm)


def _objects(text: str, name: str) -> Iterator[tuple[JsonObject, str]]:
    try:
        whole = loads_strict(text.encode("utf-8", "surrogatepass"), max_depth=20)
    except StrictJsonError as error:
        if error.kind != "trailing":
            raise ProblemsError([json_problem(error, name)]) from error
    else:
        for index, member in enumerate(whole if isinstance(whole, list) else [whole]):
            if isinstance(member, dict):
                yield member, f"{name}: [{index}]"
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            tree = loads_strict(line.encode("utf-8", "surrogatepass"), max_depth=20)
        except StrictJsonError as error:
            raise ProblemsError([json_problem(error, f"{name}:{number}")]) from error
        if isinstance(tree, dict):
            yield tree, f"{name}:{number}"


def _from_object(tree: JsonObject, where: str, norm: str | None) -> tuple[CatalogueEntry, str]:
    entry = entry_of(tree)
    if entry is not None:
        return entry, where
    number = tree.get("number")
    match = _SHORT.fullmatch(_folded(str(number))) if isinstance(number, str | int) else None
    if match is None:
        what = Text("cada artículo lleva id, o number", "each article has id, or number")
        raise problem("SLV-I046", what, where)
    return CatalogueEntry(_article(_norm(norm, where), *match.groups())), where


def _article(norm: str, number: str, suffix: str | None, letter: str | None, transitory: str | None) -> str:
    tail = "".join(f"-{part}" for part in (suffix, letter) if part)
    return f"{norm}:art:{int(number)}{tail}{'-trans' if transitory else ''}"


def _norm(norm: str | None, where: str) -> str:
    if norm is None:
        what = Text("falta el id canónico de la norma", "the canonical id of the norm is missing")
        raise problem("SLV-I046", what, where, Text("indíquelo: --norm cl:ley:19886", "give it: --norm cl:ley:19886"))
    return norm


def _folded(line: str) -> str:
    bare = unicodedata.normalize("NFD", line.strip().lower().replace("\u00a0", " "))
    return "".join(character for character in bare if not unicodedata.combining(character))
