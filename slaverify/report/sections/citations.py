"""Citations in section 3: how many could be looked up, how many exist, and whether the right one was cited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject
from slaverify.contract import HOSTILE_STRATA
from slaverify.report.facts import Facts, at, integer
from slaverify.report.words import Node, bullets, heading, say

COUNTS = ("parsed", "unparsed", "unresolvable", "in_catalogue", "phantom")


def citations(facts: Facts) -> Iterator[Node]:
    """Yield the coverage of the citations where the profile asks for them; nothing else is claimed of them."""
    if facts.scores is None or facts.agreed("method.citation_grammar") is None:
        return
    scores = list(facts.scores)
    totals = {name: sum(_count(one, name) for one in scores) for name in COUNTS}
    cited = [one for one in scores if _count(one, "parsed") + _count(one, "unparsed")]
    answerable = [one for one in scores if one.get("stratum") not in HOSTILE_STRATA]
    whole = totals["parsed"] > 0 and totals["in_catalogue"] == totals["parsed"] and totals["unparsed"] == 0
    yield heading("results.citations", 3)
    yield bullets(
        [
            say("results.citations_coverage", answers=len(cited), **totals),
            say("results.citations_all" if whole else "results.citations_not_all"),
            say(
                "results.citations_phantom",
                n=sum(_count(one, "phantom") > 0 for one in scores),
                total=len(scores),
            ),
            say(
                "results.citations_expected",
                n=sum(_count(one, "expected_hit") for one in answerable),
                total=len(answerable),
                field=_flagged(answerable, "expected_in_field"),
                prose=_flagged(answerable, "expected_in_prose"),
            ),
            say(
                "results.citations_fabrication",
                strict=_flagged(scores, "fabrication_strict"),
                wide=_flagged(scores, "fabrication_wide"),
            ),
        ],
        id="citations",
    )


def _count(record: JsonObject, name: str) -> int:
    block = at(record, "citations")
    return integer(block if isinstance(block, Mapping) else {}, name)


def _flagged(records: list[JsonObject], flag: str) -> int:
    return sum(flag in found for one in records if isinstance(found := one.get("flags"), list | tuple))
