"""Part of section 9: the auditor's opinion, apart from the counts and under the name of a signatory.

Source: docs/spec/report.md, section 6; ISO/IEC 17025:2017 7.8.7, in own words (*unverified* against the licensed text).
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.report.facts import Facts, text
from slaverify.report.words import Node, foreign, instant, paragraph, say


def opinions(facts: Facts) -> Iterator[Node]:
    """Yield what the auditor says beyond the counts, apart and signed by name; the statement rests on none of it."""
    if facts.opinion is None:
        yield paragraph("limits.no_opinions", id="opinions")
        return
    yield paragraph("limits.opinion_apart", style="note")
    yield {
        "kind": "quote",
        "id": "opinions",
        "source": say(
            "limits.opinion_by",
            author=foreign(text(facts.opinion, "author")),
            time=instant(text(facts.opinion, "time")),
        ),
        "text": foreign(text(facts.opinion, "text")),
    }
