"""What one answer cites, in its citation field and in its prose, each looked up in the catalogue.

Prose counts where it is affirmed: not denied, not inside a denial or a question. A citation that the engine marks as
not verified is none that it claims, but it still shows what the answer rests on.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.evalset import Answer, Catalogue, CitationReference, ClaimedCitation, Item
from slaverify.scoring.assertion import Assertion, assertion
from slaverify.scoring.citations.grammar import Mention, in_context, last_norm, read_bare, read_citations
from slaverify.scoring.citations.ids import UNKNOWN_NORM, CitationId, Fit, compare, parse_id
from slaverify.scoring.citations.lookup import Found, context_norm, look_up
from slaverify.scoring.citations.norms import Names, names
from slaverify.scoring.hygiene import clean
from slaverify.scoring.passage import Passage
from slaverify.scoring.record import CitationCounts
from slaverify.scoring.result import Span
from slaverify.scoring.settings import Settings

MANY = 10
"""Distinct citations beyond the expected ones from which an answer points at none."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a right answer cites."""

    id: CitationId
    granularity: str


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation of an answer. `id` null: no grammar reads it. `claimed`: the engine stands by it; `affirmed`: the
    prose does."""

    id: CitationId | None
    last: CitationId | None
    text: str
    in_field: bool
    verified: bool | None
    claimed: bool
    found: Found
    span: Span | None = None
    affirmed: bool = True

    def to_json(self, expected: Sequence[Expected] | None) -> JsonObject:
        """Return the row; with `expected`, whether it is one of them (for the sealed annex alone)."""
        tree: dict[str, JsonValue] = {
            "id": None if self.id is None else str(self.id),
            "to": None if self.last is None else str(self.last),
            "text": self.text,
            "in_field": self.in_field,
            "verified": self.verified,
            "claimed": self.claimed,
            "found": self.found.value,
        }
        if expected is not None:
            tree["expected"] = any(fits(self, one) for one in expected)
        return tree


@dataclass(frozen=True, slots=True)
class Citations:
    """All citations of an answer, with what was expected; `any_of`: one of `expected` is enough."""

    rows: tuple[Cited, ...]
    expected: tuple[Expected, ...]
    any_of: bool
    expansion: int = 0

    @property
    def counts(self) -> CitationCounts:
        """Return the public counts, each over distinct citations."""
        ids = {str(row.id): row for row in self.rows if row.id is not None}
        claimed = {str(row.id) for row in self.rows if row.claimed and row.id is not None}
        return CitationCounts(
            claimed=len(claimed),
            phantom=len(self.phantoms),
            expected_hit=int(self.hit() is not None),
            parsed=len(ids),
            unparsed=len({row.text for row in self.rows if row.found is Found.UNREAD}),
            unresolvable=len({key for key, row in ids.items() if row.found is Found.UNRESOLVABLE}),
            in_catalogue=len({key for key, row in ids.items() if row.found is Found.IN_CATALOGUE}),
        )

    @property
    def phantoms(self) -> tuple[str, ...]:
        """Return the ids that the engine stands by and that the catalogue lacks, or that were not in force, sorted."""
        return tuple(sorted({str(row.id) for row in self.rows if row.claimed and row.found in _ABSENT}))

    @property
    def all_verified(self) -> bool:
        """Tell whether every citation was read, looked up and found."""
        return bool(self.rows) and all(row.found is Found.IN_CATALOGUE for row in self.rows)

    def hit(self, *, in_field: bool | None = None) -> str | None:
        """Return `hit`, `hit_by_range`, or null for a miss; `in_field` looks at one of the two sources alone."""
        rows = [row for row in self.rows if in_field is None or row.in_field is in_field]
        plain = [any(fits(row, one) for row in rows) for one in self.expected]
        if not plain:
            return None
        enough = any if self.any_of else all
        if enough(plain):
            return "hit"
        ranged = [
            got or any(self._spans(row, one) for row in rows) for got, one in zip(plain, self.expected, strict=True)
        ]
        return "hit_by_range" if enough(ranged) else None

    @property
    def existing(self) -> tuple[str, ...]:
        """Return the ids of the citations that the catalogue holds, sorted."""
        return tuple(sorted({str(row.id) for row in self.rows if row.found is Found.IN_CATALOGUE}))

    def some(self) -> bool:
        """Tell whether a part of what was expected is cited."""
        return any(fits(row, one) for row in self.rows for one in self.expected)

    def unsaid(self) -> bool:
        """Tell whether an expected article is cited without a word on its norm."""
        return any(
            row.id is not None and compare(row.id, one.id, one.granularity) is Fit.OPEN
            for row in self.rows
            for one in self.expected
        )

    @property
    def too_many(self) -> bool:
        """Tell whether the answer cites so much that it points at nothing."""
        return len({str(row.id) for row in self.rows if row.id is not None}) > MANY + len(self.expected)

    def _spans(self, row: Cited, one: Expected) -> bool:
        return row.id is not None and row.last is not None and in_range(row.id, row.last, one.id, self.expansion)


_ABSENT = (Found.PHANTOM, Found.NOT_IN_FORCE)


def fits(row: Cited, one: Expected) -> bool:
    """Tell whether a citation is the expected one; of a range, its two ends count."""
    ends = [end for end in (row.id, row.last) if end is not None]
    return any(compare(end, one.id, one.granularity) is Fit.EQUAL for end in ends)


def in_range(first: CitationId, last: CitationId, wanted: CitationId, most: int) -> bool:
    """Tell whether `wanted` lies in a range of at most `most` articles of one norm."""
    numbers = [one.part("art") or "" for one in (first, wanted, last)]
    if not all(number.isdigit() for number in numbers):
        return False
    low, number, high = map(int, numbers)
    same = wanted.norm in (UNKNOWN_NORM, first.norm)
    return same and high - low < most and low <= number <= high


def expansion_of(policy: str) -> int:
    """Return how many articles a range may have under the policy `range_expansion`; 0: none."""
    return int(policy.removeprefix("up_to:")) if policy.startswith("up_to:") else 0


def known_names(catalogue: Catalogue | None) -> Names:
    """Return the names of norms: those of the country's codes, and the aliases of the catalogue."""
    if catalogue is None:
        return names()
    rows = (
        (alias, entry.id) for entry in catalogue.entries.values() if ":art:" not in entry.id for alias in entry.aliases
    )
    return names(rows)


def norm_in_context(query: str, settings: Settings) -> str | None:
    """Return the norm that an article without one belongs to: the question's last, or the catalogue's only one."""
    return last_norm(read_citations(clean(query).text, known_names(settings.catalogue))) or context_norm(
        settings.catalogue
    )


def mentions_in(text: str, query: str, settings: Settings, *, bare: bool = False) -> tuple[Mention, ...]:
    """Return what a clean text cites, in the context of the question; with `bare`, a mere number is an article."""
    known = known_names(settings.catalogue)
    found = read_citations(text, known).mentions or (read_bare(text, known) if bare else ())
    return in_context(found, norm_in_context(query, settings))


def granularity_of(reference: CitationReference, settings: Settings) -> str:
    """Return the level of comparison: the reference's where it is not the default, else the policy's."""
    return settings.policies.granularity if reference.granularity == "article" else reference.granularity


def expected_of(item: Item, settings: Settings) -> tuple[Expected, ...]:
    """Return what a right answer to `item` cites; of a reference that is a citation, itself."""
    rows: list[tuple[str, str]] = [(one.id, one.granularity) for one in item.expected_citations]
    reference = item.reference
    if not rows and reference.kind == "citation":
        rows = [(reference.value, granularity_of(reference, settings))]
    found = [(parse_id(name), granularity) for name, granularity in rows]
    return tuple(Expected(name, granularity) for name, granularity in found if name is not None)


def citations_of(
    item: Item, answer: Answer, text: str, cues: Sequence[Span], settings: Settings, *, denied: bool
) -> Citations:
    """Return what an answer cites. `text` is its clean prose, `cues` the spans of it that deny or lack something;
    `denied`: the prose as a whole answers nothing, so that no citation in it is affirmed."""
    prose = tuple(_prose(item, text, cues, settings, denied=denied))
    spoken = {str(one.id): affirmed for one, affirmed in prose}
    fields = [row for given in answer.citations for row in _given(given, item, spoken, settings)]
    unverified = {str(row.id) for row in fields if row.verified is False}
    rows = list(fields)
    for one, affirmed in prose:
        if affirmed:
            found = look_up(one.id, settings.catalogue, item.as_of)
            claimed = str(one.id) not in unverified
            rows.append(
                Cited(one.id, one.last, text[one.span.start : one.span.end], False, None, claimed, found, one.span)
            )
            if one.last is not None:
                end = look_up(one.last, settings.catalogue, item.as_of)
                rows.append(Cited(one.last, None, str(one.last), False, None, claimed, end, one.span))
    unread = read_citations(text, known_names(settings.catalogue)).unread
    rows += [Cited(None, None, f"#{n}", False, None, False, Found.UNREAD) for n in range(unread)]
    any_of = any(one.match == "any" for one in item.expected_citations)
    return Citations(tuple(rows), expected_of(item, settings), any_of, expansion_of(settings.policies.range_expansion))


def _prose(
    item: Item, text: str, cues: Sequence[Span], settings: Settings, *, denied: bool
) -> Iterator[tuple[Mention, bool]]:
    passage = Passage(text)
    for one in mentions_in(text, item.query_text(), settings, bare=item.reference.kind == "citation"):
        inside = any(cue.start <= one.span.start < cue.end for cue in cues)
        stands = assertion(passage, one.span) is not Assertion.NEGATED and not passage.in_question(one.span.start)
        yield one, stands and not inside and not denied


def _given(given: ClaimedCitation, item: Item, spoken: dict[str, bool], settings: Settings) -> Iterable[Cited]:
    ids = given_ids(given, item.query_text(), settings)
    if not ids:
        yield Cited(None, None, given.text, True, given.verified, False, Found.UNREAD)
    for one in ids:
        # what the prose itself denies ("no existe el artículo 99") is claimed only where the mark says so
        affirmed = spoken.get(str(one), True)
        claimed = given.verified is True or (given.verified is None and affirmed)
        found = look_up(one, settings.catalogue, item.as_of)
        yield Cited(one, None, given.text, True, given.verified, claimed, found, affirmed=affirmed)


def given_ids(given: ClaimedCitation, query: str, settings: Settings) -> tuple[CitationId, ...]:
    """Return what one element of the citation field names: a canonical id, an alias, words, or norm and article."""
    catalogue = settings.catalogue
    if given.norm is not None and given.article is not None:
        norm = _norm_named(given.norm, settings)
        return () if norm is None else tuple(one.of(norm) for one in _article_named(given.article, settings))
    text = clean(given.text).text.strip()
    alias = None if catalogue is None else catalogue.by_alias.get(text)
    exact = parse_id(text if alias is None else alias.id)
    if exact is not None:
        return (exact,)
    found = mentions_in(text, query, settings, bare=given.article is not None)
    return tuple(one.id for one in found)


def _norm_named(text: str, settings: Settings) -> str | None:
    bare = clean(text).text.strip()
    catalogue = settings.catalogue
    if catalogue is not None and (bare in catalogue.articles or bare in catalogue.by_alias):
        return bare if bare in catalogue.articles else catalogue.by_alias[bare].norm
    exact = parse_id(bare)
    if exact is not None and not exact.parts:
        return exact.norm
    read = read_citations(bare, known_names(catalogue)).mentions
    return read[0].id.norm if read and read[0].id.norm != UNKNOWN_NORM else None


def _article_named(text: str, settings: Settings) -> tuple[CitationId, ...]:
    bare = clean(text).text.strip()
    known = known_names(settings.catalogue)
    found = read_citations(bare, known).mentions or read_bare(bare, known)
    return tuple(one.id for one in found)
