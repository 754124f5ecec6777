"""Citations in gold against gold and gold against mutated gold: ids written as words, and words that are nearly right.

Source: docs/spec/bank-check.md sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Catalogue, CitationReference, Item
from slaverify.scoring import Settings, profile, score
from slaverify.scoring.citations.ids import CitationId, parse_id
from slaverify.scoring.citations.wording import in_words


def citation_texts(reference: CitationReference) -> list[str]:
    """Return a citation in three notations, none where its norm has no words."""
    text = _words(reference.value)
    return [] if text is None else [text, f"Respuesta: {text}", f"{text[0].upper()}{text[1:]}."]


def citation_mutants(reference: CitationReference) -> Iterator[str]:
    """Yield citations that differ by one thing."""
    cited, text = parse_id(reference.value), _words(reference.value)
    if cited is None or text is None:
        return
    for other in _near(cited):
        found = in_words(other)
        if found is not None:
            yield found
    yield f"No es {text}."
    neighbour = next((in_words(other) for other in _near(cited)), None)
    if neighbour is not None:
        yield f"{text} o {neighbour}"


def grounded_gold(item: Item, text: str, settings: Settings, catalogue: Catalogue | None) -> bool | None:
    """Tell whether the right answer with what it has to cite is accurate; null where nothing is to be cited."""
    expected = _expected(item, settings)
    words = [in_words(one, catalogue) for one in expected]
    if not expected or None in words:
        return None
    return _accurate(item, f"{text} ({' y '.join(filter(None, words))})", settings)


def misgrounded_gold(item: Item, text: str, settings: Settings, catalogue: Catalogue | None) -> tuple[int, list[str]]:
    """Return how many right answers with a wrong citation, or none, were tried, and those that are accurate."""
    expected = _expected(item, settings)
    tried = [text] if expected else []
    for one in expected[:1]:
        tried += [f"{text} ({found})" for other in _near(one) if (found := in_words(other, catalogue)) is not None]
    return len(tried), [text for text in tried if _accurate(item, text, settings)]


def _expected(item: Item, settings: Settings) -> list[CitationId]:
    if not profile(settings.profile).citations:
        return []
    found = [parse_id(one.id) for one in item.expected_citations]
    return [one for one in found if one is not None]


def _accurate(item: Item, text: str, settings: Settings) -> bool:
    return score(item, Answer(text), Outcome.ANSWERED, settings).record.verdict == "accurate"


def _words(value: str) -> str | None:
    cited = parse_id(value)
    return None if cited is None else in_words(cited)


def _near(cited: CitationId) -> Iterator[CitationId]:
    """Yield the next article, one with another suffix, the transitory one, ten times it; or another number of norm."""
    article = cited.part("art")
    bare = (article or "").partition("-")[0]
    if article is not None and bare.isdigit():
        others = (
            str(int(bare) + 1),
            f"{bare}-bis" if article == bare else bare,
            f"{bare}-trans",
            f"{bare}0",
            f"1{bare}",
        )
        yield from (cited.plus("art", other) for other in others if other != article)
    head, _, number = cited.norm.rpartition(":")
    plain, _, year = number.partition("-")
    if plain.isdigit() and head.count(":") == 1:
        tail = f"-{year}" if year else ""
        yield from (cited.of(f"{head}:{other}{tail}") for other in (str(int(plain) + 1), f"{plain}0", f"1{plain}"))
        if year.isdigit():
            yield cited.of(f"{head}:{plain}-{int(year) + 1}")
