"""What vectors of citations are written with: references as text, catalogues as a first and a last id.

Source: docs/spec/citations.md.
"""

from __future__ import annotations

from slaverify.canonical import JsonObject, JsonValue
from slaverify.evalset import Catalogue, CatalogueEntry
from slaverify.scoring.citations.cited import Citations
from slaverify.scoring.citations.grammar import read_bare, read_citations
from slaverify.scoring.citations.ids import CitationId, parse_id
from slaverify.scoring.citations.norms import names


def reference_from_text(tree: JsonObject) -> JsonObject:
    """Return a reference whose `text` is read as a citation, also inside a list; others stay as they are.

    Raises: ValueError for a text that names no citation.
    """
    rest = {key: value for key, value in tree.items() if key not in ("text", "value", "accepted")}
    text, value, accepted = tree.get("text"), tree.get("value"), tree.get("accepted")
    if tree.get("kind") == "citation" and isinstance(text, str):
        return {**rest, "value": str(citation_of(text))}
    out: dict[str, JsonValue] = {**tree}
    if isinstance(value, list):
        out["value"] = [reference_from_text(one) if isinstance(one, dict) else one for one in value]
    if isinstance(accepted, list):
        out["accepted"] = [reference_from_text(one) if isinstance(one, dict) else one for one in accepted]
    return out


def citation_of(text: str) -> CitationId:
    """Return the one citation that a reference's text names. Raises: ValueError."""
    known = names()
    exact = parse_id(text) if ":" in text else None
    found = read_citations(text, known).mentions or read_bare(text, known)
    if exact is None and not found:
        raise ValueError(f"no citation: {text}")
    return found[0].id if exact is None else exact


def catalogue_from(tree: JsonObject) -> Catalogue:
    """Return the catalogue of all articles from `first_id` to `last_id`. Raises: ValueError, KeyError."""
    first, last = (parse_id(str(tree[key])) for key in ("first_id", "last_id"))
    if first is None or last is None or first.norm != last.norm:
        raise ValueError("first_id and last_id: articles of one norm are due")
    low, high = (int(one.part("art") or "") for one in (first, last))
    entries = [CatalogueEntry(str(CitationId(first.norm).plus("art", str(n)))) for n in range(low, high + 1)]
    if first.norm != "?":
        entries.append(CatalogueEntry(first.norm))
    return Catalogue({entry.id: entry for entry in entries})


def citation_results(found: Citations) -> dict[str, object]:
    """Return what a vector may expect of the citations of an answer."""
    counts = found.counts
    return {
        "expected_citation": found.hit() or "miss",
        "citations": {
            "parsed": counts.parsed,
            "unparsed": counts.unparsed,
            "unresolvable": counts.unresolvable,
            "in_catalogue": counts.in_catalogue,
            "phantom": counts.phantom,
        },
        "phantom_citations": list(found.phantoms),
        "all_verified_statement": found.all_verified,
    }
