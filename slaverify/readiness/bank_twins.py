"""Questions that are nearly or wholly the same (I024, I025), and twins that do not differ in the slot.

Candidates share one of their rarest pairs of words, so that 100,000 questions are not compared with each other.

Source: docs/spec/bank-check.md section 2; rapidfuzz, token_set_ratio.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from slaverify.canonical import JsonValue, jcs
from slaverify.errors import Text
from slaverify.evalset import Item
from slaverify.readiness.bank_findings import ERROR, WARNING, Finding, words

NEAR = 92
"""token_set_ratio, 0 to 100, from which two questions are near duplicates."""

_RAREST = 4
_BLOCK = 60
_MOST = 2_000


def check_twins(items: Sequence[Item]) -> list[Finding]:
    """Return every repeated question and every twin without a difference; near duplicates up to 2,000 pairs."""
    by_id = {item.id: item for item in items}
    out = list(_repeated(items))
    out.extend(finding for item in items if (finding := _twin(item, by_id)) is not None)
    known = {finding.items for finding in out}
    for one, other in _pairs(items):
        pair = tuple(sorted((one.id, other.id)))
        if pair not in known:
            out.append(_near(one, other, pair))
        if len(out) > _MOST:
            break
    return out


def _repeated(items: Sequence[Item]) -> Iterator[Finding]:
    first: dict[tuple[str, ...], Item] = {}
    for item in items:
        key = (*words(item.query_text()), item.as_of or "")
        before = first.setdefault(key, item)
        if before is item or item.messages or _slot(before) == _slot(item):
            continue
        yield Finding(
            code="SLV-I025",
            level=ERROR,
            items=tuple(sorted((before.id, item.id))),
            what=Text("la misma pregunta con dos respuestas correctas", "the same question with two right answers"),
            fix=Text("deje una, o precise las preguntas", "keep one, or make the questions more precise"),
        )


def _twin(item: Item, by_id: dict[str, Item]) -> Finding | None:
    original = by_id.get(item.twin_of or "")
    if original is None or item.twin_relation == "paraphrase" or _slot(original) != _slot(item):
        return None
    return Finding(
        code="SLV-I025",
        level=ERROR,
        items=tuple(sorted((original.id, item.id))),
        what=Text(
            f"gemelos ({item.twin_relation}) con la misma respuesta", f"twins ({item.twin_relation}) of one answer"
        ),
        fix=Text("un gemelo cambia lo que se responde", "a twin changes what is to be answered"),
    )


def _near(one: Item, other: Item, pair: tuple[str, ...]) -> Finding:
    differ = _slot(one) != _slot(other)
    return Finding(
        code="SLV-I024",
        level=ERROR if differ else WARNING,
        items=pair,
        what=Text(
            f"preguntas casi iguales en grupos distintos: «{one.query_text()[:60]}»"
            + (", con respuestas distintas" if differ else ""),
            f"near duplicates in different clusters: {one.query_text()[:60]!r}"
            + (", with different answers" if differ else ""),
        ),
        fix=Text("póngalas en un grupo, o distíngalas", "put them in one cluster, or tell them apart"),
    )


def _pairs(items: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
    from rapidfuzz import fuzz

    plain = [" ".join(words(item.query_text())) for item in items]
    seen: set[tuple[int, int]] = set()
    for block in _blocks(items):
        for left, right in combinations(block[:_BLOCK], 2):
            if (left, right) in seen or not _apart(items[left], items[right]):
                continue
            seen.add((left, right))
            if fuzz.token_set_ratio(plain[left], plain[right], score_cutoff=NEAR) >= NEAR:
                yield items[left], items[right]


def _blocks(items: Sequence[Item]) -> Iterator[list[int]]:
    shingles = [_shingles(words(item.query_text())) for item in items]
    counts = Counter(shingle for own in shingles for shingle in own)
    blocks: dict[tuple[str, ...], list[int]] = {}
    for at, own in enumerate(shingles):
        shared = [shingle for shingle in own if counts[shingle] > 1]
        for shingle in sorted(shared, key=lambda shingle: (counts[shingle], shingle))[:_RAREST]:
            blocks.setdefault(shingle, []).append(at)
    yield from (block for block in blocks.values() if len(block) > 1)


def _shingles(tokens: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {tokens[at : at + 2] for at in range(max(len(tokens) - 1, 1))}


def _apart(one: Item, other: Item) -> bool:
    related = one.id in (other.twin_of, other.id) or other.id == one.twin_of
    return (
        not related and (one.cluster is None or one.cluster != other.cluster) and not (one.messages or other.messages)
    )


def _slot(item: Item) -> bytes:
    tree: JsonValue = item.reference.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return jcs(tree)
