"""How texts name a norm: `Ley N° 19.886`, `D.F.L. 1, de 2005`, `D.S. 250/2004`, `Código del Trabajo`, `Ley 39/2015`.

The year belongs to the id where numbers begin again each year (decrees with force of law, supreme decrees, resolutions,
rules of an authority, court cases, every Spanish norm); it does not for Chilean laws and decree laws.

Source: docs/spec/citations.md; forms of citation of the Chilean Library of Congress and of the Spanish
official gazette (*unverified* against their style guides).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from slaverify.scoring.citations.numbering import FIGURE, figure
from slaverify.scoring.data import load
from slaverify.scoring.folding import fold

MARK = r"(?:n(?:\.?\s?[º°]s?\.?|ros?\.?|ums?\.?|umeros?|os?\.(?=\s?[0-9])|\.)?\s{0,4}(?=[0-9]))?"
"""`N°`, `nro.`, `número` before a figure."""

_S = r"\s{0,4}"
_LAW = (
    # "ley sobre compras públicas N° 19.886": up to twelve words before the number
    rf"ley(?:es)?(?=(?:\s{{1,4}}(?!articulos?\b|arts?\b|inciso|letra|numeral|que\b|decreto|resoluci|circular|oficio)"
    rf"[a-z,]{{1,20}}){{0,12}}?\s{{1,4}}n(?:\.?\s?[º°]|umero|ro\.?)\.?{_S}[0-9]{{1,3}}\.?[0-9]{{3}}\b)"
    rf"(?:(?!\sn(?:\.?\s?[º°]|umero|ro))[\sa-z,]){{1,160}}(?=\s)|ley(?:es)?"
)
_TYPES = (
    ("rdleg", rf"real{_S}decreto{_S}legislativo|r\.?{_S}d\.?{_S}leg\."),
    ("rdl", rf"real{_S}decreto[\s-]{{1,4}}ley|r\.{_S}d\.{_S}l\.|rdl"),
    ("rd", rf"real(?:es)?{_S}decretos?|r\.{_S}d\.|rd"),
    ("dfl", rf"decretos?{_S}con{_S}fuerza{_S}de{_S}ley|d\.?{_S}f\.?{_S}l\.?"),
    ("dl", rf"decretos?[\s-]{{1,4}}ley(?:es)?|d\.{_S}l\.?|dl"),
    ("dex", rf"decretos?{_S}(?:exentos?|alcaldici[oa]s?)|d\.{_S}ex\."),
    ("ds", rf"decretos?{_S}supremos?|d\.{_S}s\.?|ds|decretos?|dto\."),
    ("lo", rf"ley(?:es)?{_S}organicas?(?={_S}{MARK}[0-9]{{1,3}}/[0-9]{{4}})|l\.{_S}o\."),
    ("ley", _LAW),
    ("ncg", rf"normas?{_S}de{_S}caracter{_S}general|n\.?{_S}c\.?{_S}g\.?"),
    ("res", rf"resoluci(?:on|ones){_S}exentas?|resoluci(?:on|ones)|res\.{_S}(?:ex(?:enta)?\.?)?|rex"),
    ("circular", rf"(?:oficios?{_S})?circular(?:es)?"),
    ("dictamen", r"dictam(?:en|enes)"),
    ("oficio", rf"oficios?(?:{_S}ordinarios?)?|ord\."),
    ("rol", rf"roles|rol|r\.{_S}i\.{_S}t\.|rit|r\.{_S}u\.{_S}c\.|ruc"),
)
NORM_HEAD = "(?:" + "|".join(f"(?P<{name}>{pattern})" for name, pattern in _TYPES) + r")(?![a-z])"
"""The word for a type of norm; the group's name is the type."""

TYPES = tuple(name for name, _ in _TYPES)
_SPANISH = frozenset({"rdleg", "rdl", "rd", "lo"})
_YEARLESS = frozenset({"ley", "dl"})
CASES = frozenset({"rol", "dictamen", "oficio"})
"""Types that are no statute: court cases and opinions."""

_CASE_NUMBER = re.compile(
    rf"{_S}{MARK}(?:[a-z]{{1,3}}{_S}-?{_S})?({FIGURE})(?:{_S}[-/]{_S}([0-9]{{4}}|[0-9]{{2}})(?![0-9])"
    r"|,?\s{1,4}del?\s{1,4}(?:ano\s{1,4})?((?:19|20)[0-9]{2})(?![0-9]))?"
)
_NUMBER = re.compile(rf"{_S},?{_S}{MARK}({FIGURE})")
_MONTHS = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre"
_YEAR = re.compile(
    rf"{_S}[/-]{_S}(?P<short>[0-9]{{4}}|[0-9]{{2}})(?!\.?[0-9])|{_S}[/-]{_S}(?P<law>[0-9]{{1,2}}\.?[0-9]{{3}})(?![0-9])"
    rf"|,?\s{{1,4}}(?:del?|promulgad[oa] en|dictad[oa] en)\s{{1,4}}(?:(?:ano|fecha)\s{{1,4}})?"
    rf"(?:[0-9]{{1,2}}[º°]?\s{{1,4}}de\s{{1,4}}(?:{_MONTHS})\s{{1,4}}del?\s{{1,4}})?(?P<year>(?:1[89]|20)[0-9]{{2}})(?!\.?[0-9])"
    rf"|{_S}\({_S}(?P<round>(?:19|20)[0-9]{{2}}){_S}\)"
)
_MORE = re.compile(rf"{_S}(?:,|y|e|o|u)(?![a-z]){_S}(?:la\s|el\s)?{MARK}({FIGURE})(?![.,]?[0-9])")
_PIVOT = 50
_NORMS = load("norms.json")


@dataclass(frozen=True, slots=True)
class Named:
    """Norms that a text names at one place; `end` is where it stops."""

    norms: tuple[str, ...]
    end: int


def read_norm(kind: str, folded: str, start: int) -> Named | None:
    """Read number and year of a norm of type `kind` whose word ends at `start`; null without a number."""
    if kind in CASES:
        match = _CASE_NUMBER.match(folded, start)
        if match is None:
            return None
        year = match.group(2) or match.group(3)
        return Named((f"cl:{kind}:{figure(match.group(1))}" + (f"-{_year(year)}" if year else ""),), match.end())
    match = _NUMBER.match(folded, start)
    if match is None or folded[match.end() : match.end() + 1] == "%":
        return None
    first, end = _with_year(kind, figure(match.group(1)), folded, match.end())
    norms = [first]
    if kind in _YEARLESS and folded[start - 2 : start] == "es":
        while len(norms) < 20 and (more := _MORE.match(folded, end)) is not None:
            following, end = _with_year(kind, figure(more.group(1)), folded, more.end())
            norms.append(following)
    return Named(tuple(norms), end)


def _with_year(kind: str, number: str, folded: str, end: int) -> tuple[str, int]:
    match = _YEAR.match(folded, end)
    if match is None:
        return f"{'es' if kind in _SPANISH else 'cl'}:{kind}:{number}", end
    law, short = match.group("law"), match.group("short")
    year = _year(short or match.group("year") or match.group("round") or "")
    if kind in _SPANISH or (kind == "ley" and short is not None):
        return f"es:{kind}:{number}-{year}", match.end()
    if law is not None:
        return (f"cl:{kind}:{number}-{figure(law)}", match.end()) if kind == "dfl" else (f"cl:{kind}:{number}", end)
    if kind in _YEARLESS:
        return f"cl:{kind}:{number}", match.end()
    return f"cl:{kind}:{number}-{year}", match.end()


def _year(text: str) -> str:
    return text if len(text) != 2 else ("20" if int(text) < _PIVOT else "19") + text


@dataclass(frozen=True, eq=False)
class Names:
    """Norms that are known by a name: the codes of the country, and the aliases of the catalogue."""

    pattern: re.Pattern[str]
    ids: Mapping[str, str]

    def norm_of(self, text: str) -> str:
        """Return the norm of a match of `pattern`."""
        return self.ids[_key(text)]


def known_name(norm: str) -> str | None:
    """Return the plain name of a code or constitution by its id, null if it has none."""
    found = _NORMS.get(norm)
    return str(found[0]) if isinstance(found, list) else None


def names(aliases: Iterable[tuple[str, str]] = ()) -> Names:
    """Return the names of every country code, and of `aliases` (name, norm), which win."""
    return _names(tuple(aliases))


@lru_cache(maxsize=16)
def _names(aliases: tuple[tuple[str, str], ...]) -> Names:
    ids = {_key(name): norm for name, norm in _known()}
    ids |= {key: norm for name, norm in aliases if len(key := _key(fold(name))) > 1}
    rows = sorted(ids, key=len, reverse=True)
    parts = [r"\s{1,4}".join(re.escape(word) for word in key.split()) for key in rows]
    return Names(re.compile("(?:" + "|".join(parts) + ")(?![a-z0-9])"), ids)


def _known() -> list[tuple[str, str]]:
    return [(name, norm) for norm, found in _NORMS.items() if isinstance(found, list) for name in map(str, found)]


def _key(folded: str) -> str:
    return " ".join(folded.split())
