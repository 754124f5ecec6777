r"""Joins many patterns into one that finds the same and fails sooner.

The regular expression engine tries every alternative at every position. Where neighbours begin with the same assertion
(`\b` or `^`), it is asked once for all of them: `\ba|\bb` becomes `\b(?:a|b)`. Order is kept, so the same alternative
matches at the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

_ASSERTIONS = (r"\b", "^")


def joined(patterns: Iterable[str]) -> str:
    """Return one pattern that matches what the first of `patterns` that matches does, in their order.

    `patterns` are without inline flags, numbered groups and comments.
    """
    rows = [row for pattern in patterns for row in _alternatives(pattern)]
    parts: list[str] = []
    for assertion, neighbours in groupby(rows, key=_assertion):
        rest = "|".join(row[len(assertion) :] for row in neighbours)
        parts.append(f"{assertion}(?:{rest})" if assertion else rest)
    return "|".join(parts)


def _assertion(row: str) -> str:
    return next((one for one in _ASSERTIONS if row.startswith(one)), "")


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the alternatives of a pattern; those of a group that is a whole alternative are alternatives too."""
    cuts = [end for end, character in _outside(pattern) if character == "|"]
    for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(pattern)], strict=True):
        row = pattern[start:end]
        if row.startswith("(?:") and _closes_at_end(row):
            yield from _alternatives(row[3:-1])
        else:
            yield row


def _closes_at_end(row: str) -> bool:
    """Tell whether the bracket that opens a row is closed by its last character."""
    first = next((index for index, character in _outside(row) if character == ")"), -1)
    return first == len(row) - 1


def _outside(pattern: str) -> Iterator[tuple[int, str]]:
    """Yield index and character of what stands in no group and no set: `|`, and the `)` that ends a group."""
    depth, index = 0, 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            index += 1
        elif character == "[":
            # A bracket that comes first in a set is one of its characters.
            index += 3 if pattern.startswith("[^]", index) else 2 if pattern.startswith("[]", index) else 1
            while pattern[index] != "]":
                index += 2 if pattern[index] == "\\" else 1
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        if depth == 0 and character in "|)":
            yield index, character
        index += 1
