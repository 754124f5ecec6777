"""Joined patterns find what the plain alternation finds: same place, same length."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from slaverify.scoring.alternatives import joined
from slaverify.scoring.cues import CATEGORIES, DETECTORS
from slaverify.scoring.passage import Passage

ANSWERS = Path(__file__).parent / "abstention_set.tsv"

ATOMS = st.sampled_from(
    ["a", "b", "ab", " ", r"\|", r"\)", "[|)]", "[]a]", "[^]b]", r"[\]a]", r"\w", "(?:a|b)", "(?!b)", "a?"]
)
ROW = st.tuples(st.sampled_from(["", r"\b", "^", r"(?<!a)\b"]), st.lists(ATOMS, min_size=1, max_size=3)).map(
    lambda row: row[0] + "".join(row[1])
)
PATTERN = st.recursive(
    ROW,
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda rows: "|".join(f"(?:{row})" for row in rows)),
    max_leaves=6,
)


@given(st.lists(PATTERN, min_size=1, max_size=5), st.text("ab |)]", max_size=12))
def test_finds_what_the_alternation_finds(patterns: list[str], text: str) -> None:
    plain = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    assert [one.span() for one in re.finditer(joined(patterns), text)] == [one.span() for one in plain.finditer(text)]


def test_the_cues_find_what_their_rows_find() -> None:
    rows_of_set = ANSWERS.read_text(encoding="utf-8").splitlines()[1:]
    folded = [Passage(field).folded for row in rows_of_set for field in row.split("\t")]
    for category in CATEGORIES:
        rows = [dict(detector.patterns)[category] for detector in DETECTORS.values()]
        plain, quick = re.compile("|".join(f"(?:{row})" for row in rows)), re.compile(joined(rows))
        for text in folded:
            assert [one.span() for one in quick.finditer(text)] == [one.span() for one in plain.finditer(text)]
