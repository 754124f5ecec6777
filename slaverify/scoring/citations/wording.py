"""How a canonical id is written in Spanish, such as `artículo 12 bis de la Ley 19886`; the grammar reads it back.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

from slaverify.evalset import Catalogue
from slaverify.scoring.citations.ids import UNKNOWN_NORM, CitationId
from slaverify.scoring.citations.norms import known_name

_TYPES = {
    "ley": "la Ley",
    "dl": "el Decreto Ley",
    "dfl": "el DFL",
    "ds": "el Decreto Supremo",
    "dex": "el Decreto Exento",
    "res": "la Resolución",
    "ncg": "la NCG",
    "circular": "la Circular",
    "dictamen": "el Dictamen",
    "oficio": "el Oficio",
    "rol": "la causa Rol",
    "lo": "la Ley Orgánica",
    "rd": "el Real Decreto",
    "rdl": "el Real Decreto-ley",
    "rdleg": "el Real Decreto Legislativo",
}
_PARTS = {"tit": "Título", "cap": "Capítulo", "art": "artículo", "par": "inciso", "num": "número", "let": "letra"}


def in_words(cited: CitationId, catalogue: Catalogue | None = None) -> str | None:
    """Return the id as a lawyer writes it, null where its norm has no words (and the catalogue no name of it)."""
    norm = norm_in_words(cited.norm, catalogue)
    if norm is None or any(kind not in _PARTS for kind, _ in cited.parts):
        return None
    parts = [f"{_PARTS[kind]} {value if kind == 'let' else _value(value)}" for kind, value in cited.parts]
    if not parts:
        return norm.partition(" ")[2] or None
    joined = ", ".join(parts)
    return joined if not norm else f"{joined} {_of(norm)}"


def norm_in_words(norm: str, catalogue: Catalogue | None) -> str | None:
    """Return a norm with its article (`la Ley 19886`), empty for the one that nobody names, null without words."""
    if norm == UNKNOWN_NORM:
        return ""
    entry = None if catalogue is None else catalogue.entries.get(norm)
    if entry is not None and entry.aliases:
        return f"el {entry.aliases[0]}"
    known = known_name(norm)
    if known is not None:
        return f"{'la' if known.startswith('constitucion') else 'el'} {known}"
    pieces = norm.split(":")
    kind, number = pieces[1], pieces[-1]
    if len(pieces) != 3 or (kind not in _TYPES):
        return None
    return f"{_TYPES[kind]} {number.replace('-', '/')}"


def _of(norm: str) -> str:
    return f"del {norm.removeprefix('el ')}" if norm.startswith("el ") else f"de {norm}"


def _value(value: str) -> str:
    bare, transitory, _ = value.partition("-trans")
    pieces = [piece.upper() if len(piece) == 1 and not piece.isdigit() else piece for piece in bare.split("-")]
    return " ".join(pieces) + (" transitorio" if transitory else "")
