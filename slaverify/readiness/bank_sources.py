"""Leaks of the answer into the question (I020) and references that their own sources do not bear out (I023).

Source: docs/spec/bank-check.md section 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from slaverify.errors import Text
from slaverify.evalset import Catalogue, CitationReference, EntityReference, Item, TextReference
from slaverify.readiness.bank_articles import articles_named
from slaverify.readiness.bank_findings import ERROR, CheckOptions, Finding, is_right, locale_of, scored, words
from slaverify.readiness.bank_gold import notations

LEAKED_WORDS = 8
"""Consecutive words of the reference in the question that give it away."""

_ARTICLE_ID = re.compile(r"(.*):art:([0-9]+)(?:-(bis|ter|quater|quinquies|sexies|septies|octies|nonies))?.*")
_ID_STRATA = frozenset({"direct", "applied"})
_WINDOW = 6


def check_leaks(items: Sequence[Item]) -> list[Finding]:
    """Return what questions give away."""
    return [finding for item in items for finding in _leaks(item)]


def _leaks(item: Item) -> Iterator[Finding]:
    query = item.query_text()
    expected = [citation.id for citation in item.expected_citations]
    if isinstance(item.reference, CitationReference):
        expected.append(item.reference.value)
    if item.stratum in _ID_STRATA and expected:
        named = articles_named(query)
        for name in expected:
            match = _ARTICLE_ID.fullmatch(name)
            if match is not None and (int(match.group(2)), match.group(3) or "") in named:
                yield _leak(item, f"el artículo {match.group(2)}", f"article {match.group(2)}")
    for name in expected:
        if name.lower() in query.lower():
            yield _leak(item, name, name)
    run = _shared_run(item)
    if run:
        yield _leak(
            item, f"{LEAKED_WORDS} palabras seguidas de la respuesta: «{run}»", f"{LEAKED_WORDS} words: {run!r}"
        )


def _leak(item: Item, es: str, en: str) -> Finding:
    return Finding(
        code="SLV-I020",
        level=ERROR,
        items=(item.id,),
        what=Text(f"la pregunta revela la respuesta esperada: {es}", f"the question gives the answer away: {en}"),
        fix=Text("pregunte sin nombrarlo", "ask without naming it"),
    )


def _shared_run(item: Item) -> str:
    if not isinstance(item.reference, TextReference | EntityReference):
        return ""
    query = " ".join(words(item.query_text()))
    for value in (item.reference.value, *item.reference.aliases):
        parts = words(value)
        for at in range(len(parts) - LEAKED_WORDS + 1):
            run = " ".join(parts[at : at + LEAKED_WORDS])
            if f" {run} " in f" {query} ":
                return run
    return ""


def check_sources(items: Sequence[Item], options: CheckOptions) -> list[Finding]:
    """Return traps that exist, expected citations that do not, and answers that the official text does not hold."""
    out: list[Finding] = []
    for item in items:
        if options.catalogue is not None:
            out.extend(_against_catalogue(item, options.catalogue))
        if item.official_text is not None and not _borne_out(item, options):
            out.append(_unborne(item))
    return out


def _against_catalogue(item: Item, catalogue: Catalogue) -> Iterator[Finding]:
    for citation in item.expected_citations:
        if not catalogue.holds(citation.id, item.as_of):
            yield _source_finding(
                item,
                f"la cita esperada {citation.id} no está en el catálogo",
                f"the expected citation {citation.id} is not in the catalogue",
            )
    trap = item.trap
    if trap is None or trap.kind == "false_premise":
        return
    if catalogue.holds(trap.target, item.as_of):
        yield _source_finding(
            item,
            f"lo que la trampa da por inexistente sí existe: {trap.target}",
            f"what the trap takes for absent exists: {trap.target}",
        )
    norm = trap.target.partition(":art:")[0]
    if trap.kind == "missing_article" and not catalogue.holds(norm) and norm not in catalogue.counts():
        yield _source_finding(
            item,
            f"la norma de la trampa no está en el catálogo: {norm}",
            f"the norm of the trap is not in the catalogue: {norm}",
        )


def _unborne(item: Item) -> Finding:
    return _source_finding(
        item,
        "el texto oficial no contiene la respuesta correcta",
        "the official text does not hold the right answer",
    )


def _source_finding(item: Item, es: str, en: str) -> Finding:
    fix = Text("revise la referencia contra su fuente", "check the reference against its source")
    return Finding(code="SLV-I023", level=ERROR, items=(item.id,), what=Text(es, en), fix=fix)


def _borne_out(item: Item, options: CheckOptions) -> bool:
    """Tell whether the official text holds the slot value; kinds without a slot are not looked at."""
    reference = item.reference
    text = " ".join(words(item.official_text or ""))
    if reference.kind not in ("number", "amount", "date", "entity"):
        return True
    locale = locale_of(item, options)
    for other in (reference, *reference.accepted):
        shown = [other.value, *other.aliases] if isinstance(other, EntityReference) else notations(other, locale)[:2]
        if any(f" {' '.join(words(value))} " in f" {text} " for value in shown if words(value)):
            return True
    return _any_window(item, options)


def _any_window(item: Item, options: CheckOptions) -> bool:
    # written in another notation: number words, a unit further on
    tokens = (item.official_text or "").split()
    for size in range(1, _WINDOW + 1):
        for at in range(len(tokens) - size + 1):
            piece = " ".join(tokens[at : at + size])
            if is_right(scored(item, piece, options)):
                return True
    return False
