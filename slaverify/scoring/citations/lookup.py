"""Is what a citation names in the catalogue? Exact ids, aliases of the catalogue alone, validity at the item's date.

What cannot be looked up is `unresolvable`: never verified, never phantom. So is an article of a norm that nobody named
where several norms have its number, a court case or an opinion against a catalogue of statutes, a title where the
catalogue has articles alone.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

from enum import StrEnum

from slaverify.evalset import Catalogue
from slaverify.scoring.citations.ids import UNKNOWN_NORM, CitationId, Fit, norm_fit
from slaverify.scoring.citations.norms import CASES

_ACTS = CASES | {"res", "circular", "ncg", "dex"}
"""Types that a catalogue of statutes does not hold; where it holds one of a type, that type can be looked up."""


class Found(StrEnum):
    """What the catalogue says of a citation; `unread`: no grammar reads it; `unchecked`: there is no catalogue."""

    IN_CATALOGUE = "in_catalogue"
    PHANTOM = "phantom"
    NOT_IN_FORCE = "not_in_force"
    UNRESOLVABLE = "unresolvable"
    UNREAD = "unread"
    UNCHECKED = "unchecked"


def look_up(wanted: CitationId, catalogue: Catalogue | None, day: str | None) -> Found:
    """Return what the catalogue says of the article, or norm, that `wanted` names; `day` is an ISO date or null."""
    if catalogue is None:
        return Found.UNCHECKED
    cited = wanted.down_to("article")
    norm = _norm(cited.norm, catalogue)
    if norm == UNKNOWN_NORM and UNKNOWN_NORM not in catalogue.articles:
        return _of_no_norm(cited, catalogue)
    if norm not in catalogue.articles:
        kind = norm.split(":")[1] if ":" in norm else ""
        known = any(f":{kind}:" in one for one in catalogue.articles)
        return Found.PHANTOM if known or kind not in _ACTS else Found.UNRESOLVABLE
    if not cited.parts:
        return _dated(norm, catalogue, day) if norm in catalogue.entries else Found.IN_CATALOGUE
    article = cited.part("art")
    if article is not None:
        if not catalogue.articles[norm]:
            return Found.UNRESOLVABLE
        return _dated(f"{norm}:art:{article}", catalogue, day)
    kind = cited.parts[-1][0]
    if not any(name.startswith(f"{norm}:{kind}:") or f":{kind}:" in name[len(norm) :] for name in catalogue.entries):
        return Found.UNRESOLVABLE
    return _dated(str(cited.of(norm)), catalogue, day)


def context_norm(catalogue: Catalogue | None) -> str | None:
    """Return the norm of a catalogue that has one alone, else null."""
    norms = [] if catalogue is None else list(catalogue.articles)
    return norms[0] if len(norms) == 1 else None


def _of_no_norm(cited: CitationId, catalogue: Catalogue) -> Found:
    article = cited.part("art")
    if article is None or any(article in known for known in catalogue.articles.values()):
        return Found.UNRESOLVABLE
    return Found.PHANTOM


def _norm(norm: str, catalogue: Catalogue) -> str:
    # "D.S. 250" without its year is the one decree of that number, if there is one alone
    if norm in catalogue.articles or norm == UNKNOWN_NORM:
        return norm
    open_to = [one for one in catalogue.articles if norm_fit(norm, one) is Fit.OPEN]
    return open_to[0] if len(open_to) == 1 else norm


def _dated(name: str, catalogue: Catalogue, day: str | None) -> Found:
    entry = catalogue.entries.get(name)
    if entry is None:
        return Found.PHANTOM
    return Found.IN_CATALOGUE if entry.valid_on(day) else Found.NOT_IN_FORCE
