"""The pieces of a legal citation, one by one: articles, their subdivisions, divisions of a norm, norms, anaphora.

Each reader is anchored and linear: no quantifier stands inside another but for bounded ones.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from slaverify.evalset import SUFFIXES
from slaverify.scoring.citations.ids import CitationId
from slaverify.scoring.citations.norms import NORM_HEAD, TYPES, Names, read_norm
from slaverify.scoring.citations.numbering import FIGURE, MARK, figure, number_in_words, roman
from slaverify.scoring.result import Span

MOST = 60
"""Most articles that one list may name, and most readings of one article; what follows is left unread."""


class Kind(Enum):
    """What a piece is."""

    ARTICLE = auto()
    DIVISION = auto()
    SUB = auto()
    NORM = auto()
    SAME_NORM = auto()
    SAME_ARTICLE = auto()
    UNREAD = auto()


@dataclass(frozen=True, slots=True)
class Ref:
    """One article or part; `last` is the end of a range."""

    span: Span
    id: CitationId
    last: CitationId | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of the text. `refs` of articles and parts; `norms` of a norm; `noun` of an anaphora, `sure` if it has
    a word such as `dicha`."""

    kind: Kind
    span: Span
    refs: tuple[Ref, ...] = ()
    norms: tuple[str, ...] = ()
    noun: str = ""
    sure: bool = False


_S = r"\s{0,4}"
_N = rf"(?:n(?:\.?\s?[º°]s?\.?|ros?\.?|ums?\.?|umeros?|os?\.(?=\s?[0-9])|\.)?{_S})?"
_DET = (
    r"(?:(?:el|la|los|las)\s{1,4})?(?:dich[oa]s?|mism[oa]s?|est[ea]|es[ea]|aquel|aquella|citad[oa]s?|referid[oa]s?"
    r"|mencionad[oa]s?|aludid[oa]s?|indicad[oa]s?|antedich[oa]s?|precitad[oa]s?|presente|propi[oa]|same|said|this|that)"
)
_NOUN = (
    r"(?:ley|decreto(?:\s{1,4}(?:supremo|ley))?|codigo|reglamento|ordenanza|norma(?:tiva)?|cuerpo\s{1,4}(?:legal|normativo"
    r"|reglamentario)|texto\s{1,4}legal|estatuto|resolucion|circular|constitucion|carta\s{1,4}fundamental|dfl|ncg|law|act|code)"
)
_NTH = rf"(?:primer[ao]|segund[ao]|ultim[ao])(?={_S}(?:[.,;:)]|$))"
_HEAD = re.compile(
    r"(?<![a-z0-9])(?:"
    rf"(?P<samearticle>{_DET}\s{{1,4}}(?:articulo|art\.|precepto|article)(?!{_S}{_N}[0-9])(?![a-z]))"
    rf"|(?P<samenorm>{_DET}\s{{1,4}}{_NOUN}(?![a-z])(?!{_S},?{_S}n?(?:umero|\.?[º°]|ro\.?)?{_S}[0-9])"
    rf"|{_NOUN}\s{{1,4}}(?:citad|referid|mencionad|aludid|indicad|antes\scitad|precitad)[oa]s?\b|ibid(?:em)?\b|idem\b)"
    rf"|(?P<provision>disposici(?:on|ones){_S}(?P<which>transitorias?|adicional(?:es)?|final(?:es)?|derogatorias?)(?![a-z]))"
    r"|(?P<plural>(?:articulos|articles)(?![a-z])|arts\.?(?![a-z])|§§)"
    r"|(?P<article>(?:articulo|article)(?![a-z])|art\.?(?![a-z])|§)"
    rf"|(?P<division>(?P<tit>titulos?|tit\.)(?![a-z])|capitulos?(?![a-z])|cap\.)"
    rf"|(?P<sub>(?P<par>incisos?|incs?\.|parrafos?|apartados?|paragraphs?)(?![a-z])|(?P<let>letras?|literal(?:es)?|lits?\.)(?![a-z])"
    rf"|numeral(?:es)?(?![a-z])|numeros?(?![a-z])|nums?\.|n\.?\s?[º°]s?\.?|nros?\.?(?![a-z]))"
    rf"|(?P<norm>{NORM_HEAD})"
    rf"|(?P<generic>(?:de\s{{1,4}}la|del)\s{{1,4}}(?:{_NOUN}(?![a-z])|{_NTH}))"
    r")"
)
_NOUNS = re.compile(_NOUN + r"(?![a-z])")
_NTHS = re.compile(r"primer|segund|ultim")
_NORM = re.compile(NORM_HEAD)
_FIG = re.compile(rf"({FIGURE})({MARK})")
_LEAD = re.compile(rf"{_S}{_N}[\"'(]?")
_ROMAN = re.compile(r"([ivxlcdm]{1,8})(?![a-z0-9])")
_TRANS_BEFORE = re.compile(r"\s{0,4}transitori[oa]s?\s{1,4}")
_TRANS = re.compile(r"\s{0,4}\(?(?:transitori[oa]s?|trans\.?)(?![a-z])\)?")
_BIS = re.compile(rf"[\s\"']{{0,4}}-?{_S}(?P<suffix>{'|'.join(sorted(SUFFIXES, key=len, reverse=True))})(?![a-z0-9])")
_LETTER = re.compile(r"(?P<gap>[\s-]{0,3})[\"']?(?P<letter>[a-z])[\"']?(?![\w'º°])(?!\))")
_NO_LETTER = re.compile(
    r"\s{1,4}(?:[0-9]|la\b|el\b|los\b|las\b|un\b|una\b|su\b|est[ea]\b|que\b|falta\b|partir\b|continuacion\b|fin\b|efectos?\b"
    r"|diferencia\b|contar\b|juicio\b|articulo|art\.)"
)
_POINT = re.compile(r"\.([0-9]{1,2})(?![0-9]|\.[0-9])(?:\.?([a-z])\))?")
_BRACKET = re.compile(rf"{_S}\(?([a-z])\)")
_TO = re.compile(
    rf"{_S}(?:a|al|hasta(?:\sel|\sla)?|to|through|[-–—−])(?![a-z]){_S}(?:(?:el\s)?(?:articulos?|arts?\.?){_S})?{_N}"
)
_AND = re.compile(
    rf"{_S}(?:,{_S}(?:y/o|y|e|o|u|ni|sino|and|or)(?![a-z])|,|;|/|&|(?:y/o|y|e|o|u|ni|and|or|asi\scomo|junto\scon(?:\sel)?"
    rf"|ademas\sdel?|pero\ssi|sino)(?![a-z])){_S}(?:(?:tambien|ademas|en|con|del?|al|el|la|los|las)\s{{1,4}}){{0,3}}{_N}"
)
_SUB = re.compile(
    rf"{_S}[,(]?{_S}(?:(?:en\s)?sus?\s)?(?:(?P<par>incisos?|incs?\.?|parrafos?|apartados?|paragraphs?)(?![a-z])"
    rf"|(?P<let>letras?|literal(?:es)?|lits?\.|let\.)(?![a-z])|(?P<num>numeral(?:es)?(?![a-z])|numeros?(?![a-z])|nums?\.|n\.?\s?[º°]s?\.?"
    r"|nros?\.?(?![a-z])))"
)
_LET_VALUE = re.compile(rf"{_S}[\"'(]?([a-zñ])[\"']?(?:\)|(?![\w]))\.?")
_FINAL = re.compile(rf"{_S}(?:final|ultimo)(?![a-z])")
_VALUE_AND = re.compile(rf"{_S}(?:,{_S}(?:y|e|o)(?![a-z])|,|y|e|o|u|and|or)(?![a-z]){_S}(?:(?:la|el)\s)?")
_THING = re.compile(
    r"[,.]?[0-9]|\s{0,3}(?:%|‰|\$|por\s{1,3}(?:ciento|mil)\b|mil\b|millon|uf\b|utm\b|uta\b|pesos\b|dia\b|mes\b|ano\b|hora\b"
    r"|(?!bis\b|incisos\b|letras\b|numerales\b|numeros\b|transitori|todos\b|todas\b|ambos\b|los\b|las\b|es\b|tras\b|pues\b|mas\b|antes\b"
    r"|despues\b|ademas\b|entonces\b|mientras\b|sus\b|leyes\b|parrafos\b)[a-zñ]{3,20}s\b)"
)
_LONGEST_NAME = 200
_YEARLIKE = re.compile(r"(?:19|20)[0-9]{2}")


def units(text: str, folded: str, known: Names) -> Iterator[Unit]:
    """Yield the pieces of a text in order; `folded` is its copy for matching, of the same length."""
    reader = _Reader(text, folded)
    at = 0
    while True:
        head = _HEAD.search(folded, at)
        name = _name_before(folded, at, head, known)
        if name is not None:
            yield Unit(Kind.NORM, Span(*name.span()), norms=(known.norm_of(name.group()),))
            at = name.end()
        elif head is None:
            return
        else:
            unit = reader.read(head)
            if unit is not None:
                yield unit
            at = max(head.start() + 1, head.end() if unit is None else unit.span.end)


def _name_before(folded: str, start: int, head: re.Match[str] | None, known: Names) -> re.Match[str] | None:
    # the name of a norm that stands before the next piece, or whose first word is that piece
    stop = len(folded) if head is None else min(head.end() + _LONGEST_NAME, len(folded))
    while True:
        name = known.pattern.search(folded, start, stop)
        if name is None or (head is not None and name.start() >= head.end()):
            return None
        if not folded[max(name.start() - 1, 0) : name.start()].isalnum():
            return name
        start = name.start() + 1


class _Reader:
    def __init__(self, text: str, folded: str) -> None:
        self.text, self.folded = text, folded

    def read(self, head: re.Match[str]) -> Unit | None:
        span = Span(*head.span())
        if head.group("samearticle"):
            return Unit(Kind.SAME_ARTICLE, span, sure=True)
        if head.group("samenorm") or head.group("generic"):
            noun = _NOUNS.search(self.folded, span.start, span.end)
            if noun is None:
                noun = _NTHS.search(self.folded, span.start, span.end)
            named = None if noun is None else _NORM.match(self.folded, noun.start())
            numbered = None if named is None else self._norm(named)
            if numbered is not None:
                return numbered  # "de la ley sobre compras N° 19.886"
            return Unit(Kind.SAME_NORM, span, noun=noun.group() if noun else "", sure=head.group("generic") is None)
        if head.group("provision"):
            return self._provision(head)
        if head.group("plural") or head.group("article"):
            return self._articles(head, many=head.group("plural") is not None)
        if head.group("division"):
            return self._division(head)
        if head.group("sub"):
            kind = "par" if head.group("par") else "let" if head.group("let") else "num"
            return self._sub(head, kind)
        return self._norm(head)

    def _norm(self, head: re.Match[str]) -> Unit | None:
        kind = next(name for name in TYPES if head.group(name))
        found = read_norm(kind, self.folded, head.end())
        if found is None or _THING.match(self.folded, found.end):
            return None
        return Unit(Kind.NORM, Span(head.start(), found.end), norms=found.norms)

    def _provision(self, head: re.Match[str]) -> Unit | None:
        number = self._number(head.end())
        if number is None:
            return None
        value, end = number
        transitory = head.group("which").startswith("transitoria")
        found = CitationId().plus("art", f"{value}-trans") if transitory else CitationId().plus("da", value)
        span = Span(head.start(), end)
        return Unit(Kind.ARTICLE, span, refs=(Ref(span, found),))

    def _division(self, head: re.Match[str]) -> Unit | None:
        number = self._number(head.end(), any_case=True)
        if number is None:
            return None
        span = Span(head.start(), number[1])
        found = CitationId().plus("tit" if head.group("tit") else "cap", number[0])
        return Unit(Kind.DIVISION, span, refs=(Ref(span, found),))

    def _sub(self, head: re.Match[str], kind: str) -> Unit | None:
        values, end = self._values(kind, head.end())
        if not values:
            return None
        span = Span(head.start(), end)
        return Unit(Kind.SUB, span, refs=tuple(Ref(span, CitationId().plus(kind, value)) for value in values))

    def _articles(self, head: re.Match[str], *, many: bool) -> Unit | None:
        refs, end = self.list_at(head.end(), head.start(), many=many)
        if refs:
            return Unit(Kind.ARTICLE, Span(head.start(), end), refs=tuple(refs))
        lead = _LEAD.match(self.folded, head.end())
        at = lead.end() if lead is not None else head.end()
        word = self.text[at : at + 12].split(maxsplit=1)
        if word and any(character.isdigit() for character in word[0]):
            return Unit(Kind.UNREAD, Span(head.start(), at + len(word[0])))
        return None

    def list_at(self, start: int, first: int, *, many: bool) -> tuple[list[Ref], int]:
        """Return the articles listed at `start` and the end; the first one's span begins at `first`."""
        found = self._article(start, first)
        if found is None:
            return [], start
        refs, end = found
        between = many and self.folded[max(first - 10, 0) : first].rstrip().endswith(("entre", "entre los"))
        while len(refs) < MOST:
            glue = _AND.match(self.folded, end)
            if glue is None:
                break
            following = self._article(glue.end(), glue.end())
            if following is None or not self._listed(following[0][0], glue, following[1], many):
                break
            if between and len(refs) == 1 and len(following[0]) == 1:
                refs = [Ref(Span(refs[0].span.start, following[1]), refs[0].id, following[0][0].id)]
            else:
                refs = [*refs, *following[0]]
            end = following[1]
        return refs, end

    def _listed(self, ref: Ref, glue: re.Match[str], end: int, many: bool) -> bool:
        if _THING.match(self.folded, end):
            return False
        number = ref.id.part("art") or ""
        apart = glue.group().strip() in (",", ";", "/")
        return many or not (apart and _YEARLIKE.fullmatch(number)) or ref.last is not None

    def _article(self, start: int, first: int) -> tuple[list[Ref], int] | None:
        found = self._numbered(start)
        if found is None:
            return None
        base, end = found
        to = _TO.match(self.folded, end)
        last = self._numbered(to.end()) if to is not None else None
        if to is not None and last is not None and _above(last[0], base) and not _THING.match(self.folded, last[1]):
            return [Ref(Span(first, last[1]), base, last[0])], last[1]
        ids, end = self._subs([base], end)
        return [Ref(Span(first, end), one) for one in ids], end

    def _numbered(self, start: int) -> tuple[CitationId, int] | None:
        """Read a number with its suffixes: `12 bis A`, `quinto transitorio`, `9.3`, `12 b)`."""
        before = _TRANS_BEFORE.match(self.folded, start)
        number = self._number(before.end() if before is not None else start)
        if number is None:
            return None
        value, end = number
        point = _POINT.match(self.folded, end) if value.isdigit() else None
        if point is not None:
            found = CitationId().plus("art", value).plus("par", point.group(1))
            return (found.plus("let", point.group(2)) if point.group(2) else found), point.end()
        for _ in range(3):
            suffix = self._suffix(end)
            if suffix is None:
                break
            value, end = f"{value}-{suffix[0]}", suffix[1]
        after = _TRANS.match(self.folded, end)
        if after is not None:
            end = after.end()
        found = CitationId().plus("art", value + ("-trans" if before is not None or after is not None else ""))
        bracket = _BRACKET.match(self.folded, end)
        if bracket is not None:
            return found.plus("let", bracket.group(1)), bracket.end()
        return found, end

    def _number(self, start: int, *, any_case: bool = False) -> tuple[str, int] | None:
        lead = _LEAD.match(self.folded, start)
        at = lead.end() if lead is not None else start
        match = _FIG.match(self.folded, at)
        if match is not None:
            end = match.end()
            if match.group(2) and self.text[match.end(1) : end].isupper() and self.text[end - 1].isalpha():
                end = match.end(1)  # 12A is no ordinal
            return figure(match.group(1)), end
        words = number_in_words(self.folded, at)
        if words is not None:
            return str(words[0]), words[1]
        numeral = _ROMAN.match(self.folded, at)
        if numeral is None or not (any_case or self.text[at : numeral.end()].isupper()):
            return None
        value = roman(numeral.group(1))
        return None if value is None else (str(value), numeral.end())

    def _suffix(self, start: int) -> tuple[str, int] | None:
        match = _BIS.match(self.folded, start)
        if match is not None:
            return match.group("suffix"), match.end()
        letter = _LETTER.match(self.folded, start)
        if letter is None:
            return None
        upper = self.text[letter.start("letter")].isupper()
        tight = letter.group("gap") == "-"
        glued = not letter.group("gap")
        if not (upper or tight) or (glued and not upper):
            return None
        if upper and not tight and letter.group("letter") in "aeiouy" and _NO_LETTER.match(self.folded, letter.end()):
            return None
        return letter.group("letter"), letter.end()

    def _subs(self, ids: list[CitationId], end: int) -> tuple[list[CitationId], int]:
        for _ in range(4):
            head = _SUB.match(self.folded, end)
            if head is None:
                break
            kind = "par" if head.group("par") else "let" if head.group("let") else "num"
            values, after = self._values(kind, head.end())
            if not values:
                break
            ids = [one.plus(kind, value) for one in ids for value in values][:MOST]
            end = after
        return ids, end

    def _values(self, kind: str, start: int) -> tuple[list[str], int]:
        values: list[str] = []
        end = start
        while len(values) < MOST:
            at = end
            if values:
                glue = _VALUE_AND.match(self.folded, end)
                if glue is None:
                    break
                at = glue.end()
            one = self._value(kind, at)
            if one is None or (values and (kind == "let") != one[0].isalpha() and one[0] != "final"):
                break
            if values and _THING.match(self.folded, one[1]):
                break
            values.append(one[0])
            end = one[1]
        return values, end

    def _value(self, kind: str, start: int) -> tuple[str, int] | None:
        final = _FINAL.match(self.folded, start)
        if final is not None:
            return "final", final.end()
        if kind == "let":
            match = _LET_VALUE.match(self.folded, start)
            return None if match is None else (match.group(1), match.end())
        return self._number(start, any_case=True)


def _above(last: CitationId, first: CitationId) -> bool:
    numbers = [(one.part("art") or "").partition("-")[0] for one in (first, last)]
    return all(number.isdigit() for number in numbers) and int(numbers[0]) < int(numbers[1])


def bare_articles(text: str, folded: str, start: int) -> tuple[list[Ref], int]:
    """Return the articles that a text lists at `start` without a word for them."""
    return _Reader(text, folded).list_at(start, start, many=False)
