"""The catalogue: what exists in the norms of the corpus, against which citations and traps are looked up.

JSON Lines, one RFC 8785 object a line, sorted by id: `{"id", "aliases", "valid_from", "valid_to"}`. A hole in the
numbering is shown, because an article missing here becomes a false phantom citation and a false trap.

Source: docs/spec/import.md section 10; docs/spec/scoring.md section 8 (ids).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, digest_of, jsonl, loads_canonical
from slaverify.errors import ProblemsError, SetError, Text
from slaverify.evalset.problems import json_problem, problem

MAX_ENTRIES = 1_000_000
_ID = re.compile(r"[a-z0-9?][a-z0-9.-]*(?::[a-z0-9.-]+)+")
_ARTICLE = re.compile(r"(.*):art:([0-9]+)(?:-(?!trans\b)[a-z]+)*(-trans)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One norm or article by its canonical id; `valid_from` and `valid_to` are ISO dates or null."""

    id: str
    aliases: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def norm(self) -> str:
        """Return the id of the norm that the entry belongs to."""
        return self.id.partition(":art:")[0]

    def valid_on(self, day: str | None) -> bool:
        """Tell whether it was in force on an ISO day; without a day, whether it ever was."""
        if day is None:
            return True
        return (self.valid_from or "") <= day and (self.valid_to is None or day <= self.valid_to)

    def to_json(self) -> JsonObject:
        """Return the entry's line."""
        aliases: list[JsonValue] = list(self.aliases)
        return {"id": self.id, "aliases": aliases, "valid_from": self.valid_from, "valid_to": self.valid_to}


@dataclass(frozen=True, slots=True)
class Hole:
    """Articles of `norm` that are absent between two that are present; `after` and `before` are their numbers."""

    norm: str
    after: int
    before: int

    @property
    def missing(self) -> tuple[int, ...]:
        """Return the absent numbers."""
        return tuple(range(self.after + 1, self.before))


@dataclass(frozen=True)
class Catalogue:
    """The entries, by id."""

    entries: Mapping[str, CatalogueEntry]

    @property
    def digest(self) -> str:
        """Return `sha256:<hex>` of the canonical bytes."""
        return digest_of(write_catalogue(self.entries.values()))

    def holds(self, name: str, day: str | None = None) -> bool:
        """Tell whether an id, or an alias, exists and was in force on `day`."""
        entry = self.entries.get(name) or self.by_alias.get(name)
        return entry is not None and entry.valid_on(day)

    @cached_property
    def by_alias(self) -> Mapping[str, CatalogueEntry]:
        """Return alias → entry."""
        return {alias: entry for entry in self.entries.values() for alias in entry.aliases}

    @cached_property
    def articles(self) -> Mapping[str, frozenset[str]]:
        """Return norm → what stands after `:art:` in the ids of its articles; every norm has its key."""
        out: dict[str, set[str]] = {}
        for name in self.entries:
            norm, article, rest = name.partition(":art:")
            found = out.setdefault(norm if article else _norm_of(name), set())
            if article:
                found.add(rest)
        return {norm: frozenset(found) for norm, found in out.items()}

    def counts(self) -> Mapping[str, int]:
        """Return norm → number of its articles."""
        out: dict[str, int] = {}
        for entry in self.entries.values():
            out[entry.norm] = out.get(entry.norm, 0) + (":art:" in entry.id)
        return dict(sorted(out.items()))

    def holes(self) -> tuple[Hole, ...]:
        """Return every gap in the numbering, permanent and transitory articles apart; the first has to be 1."""
        numbers: dict[str, set[int]] = {}
        for name in self.entries:
            match = _ARTICLE.fullmatch(name)
            if match is not None:
                numbers.setdefault(match.group(1) + (" (trans)" if match.group(3) else ""), set()).add(
                    int(match.group(2))
                )
        return tuple(
            Hole(norm, low, high)
            for norm, found in sorted(numbers.items())
            for low, high in pairwise(sorted(found | {0}))
            if high - low > 1
        )


def _norm_of(name: str) -> str:
    return re.split(r":(?:tit|cap|da|par|num|let):", name, maxsplit=1)[0]


def entry_problem(entry: CatalogueEntry, where: str) -> SetError | None:
    """Return what is wrong with an entry, or nothing."""
    if not _ID.fullmatch(entry.id):
        what = Text(f"id no canónico: {entry.id}", f"id is not canonical: {entry.id}")
        return problem(
            "SLV-I046", what, where, Text("la forma es cl:ley:19886:art:12-bis", "as cl:ley:19886:art:12-bis")
        )
    for day in (entry.valid_from, entry.valid_to):
        if day is not None and not _DAY.fullmatch(day):
            return problem("SLV-I046", Text(f"fecha mal escrita: {day}", f"malformed date: {day}"), where)
    return None


def catalogue_of(entries: Iterable[tuple[CatalogueEntry, str]]) -> Catalogue:
    """Return the catalogue of entries, each with its place. Raises: ProblemsError with every problem."""
    found: dict[str, CatalogueEntry] = {}
    problems: list[SetError] = []
    for entry, where in entries:
        wrong = entry_problem(entry, where)
        if wrong is not None:
            problems.append(wrong)
        elif entry.id in found:
            what = Text(f"id repetido: {entry.id}", f"id {entry.id} stands twice")
            problems.append(problem("SLV-I046", what, where))
        else:
            found[entry.id] = entry
    if len(found) > MAX_ENTRIES or not found:
        problems.append(problem("SLV-I046", Text("catálogo vacío o demasiado grande", "empty or too large"), ""))
    if problems:
        raise ProblemsError(problems)
    return Catalogue(dict(sorted(found.items())))


def write_catalogue(entries: Iterable[CatalogueEntry]) -> bytes:
    """Return the canonical bytes, sorted by id."""
    return jsonl(entry.to_json() for entry in sorted(entries, key=lambda entry: entry.id))


def read_catalogue(data: bytes, name: str) -> Catalogue:
    """Read a canonical catalogue. Raises: ProblemsError with every problem of the file."""
    entries: list[tuple[CatalogueEntry, str]] = []
    problems: list[SetError] = []
    for number, line in enumerate(data.splitlines(), 1):
        where = f"{name}:{number}"
        try:
            tree = loads_canonical(line, max_depth=3)
        except StrictJsonError as error:
            problems.append(json_problem(error, where))
            continue
        entry = entry_of(tree)
        if entry is None:
            problems.append(problem("SLV-I046", Text("línea mal formada", "malformed line"), where))
        else:
            entries.append((entry, where))
    if problems:
        raise ProblemsError(problems)
    return catalogue_of(entries)


def entry_of(tree: JsonObject) -> CatalogueEntry | None:
    """Return the entry of a line's object, null if it has another shape."""
    name, aliases = tree.get("id"), tree.get("aliases", [])
    first, last = tree.get("valid_from"), tree.get("valid_to")
    if (
        not isinstance(name, str)
        or not isinstance(aliases, list)
        or set(tree) - {"id", "aliases", "valid_from", "valid_to"}
    ):
        return None
    texts = tuple(alias for alias in aliases if isinstance(alias, str))
    days = [day if isinstance(day, str) else None for day in (first, last)]
    if len(texts) != len(aliases) or any(day is not None and not isinstance(day, str) for day in (first, last)):
        return None
    return CatalogueEntry(name, texts, days[0], days[1])
