"""The state contract as lines of the sealed annex: one record a line, its JSON as a string, so that none is too long.

Source: docs/spec/trajectory.md, section "Records".
"""

from __future__ import annotations

from collections.abc import Sequence

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, jcs, loads_object
from slaverify.errors import ProblemsError
from slaverify.trajectory.state_contract import StateContract, content_tree, malformed, read_state_contract

_LISTS = ("artifacts", "events")
_SINGLE = ("evaluation", "policy")


def state_lines(contract: StateContract) -> list[JsonObject]:
    """Return the lines, nonce line apart."""
    tree = content_tree(contract)
    lines: list[JsonObject] = []
    for part in _LISTS:
        members = tree[part]
        assert isinstance(members, list)  # noqa: S101 - our own content
        lines += [{"part": part, "content": jcs(member).decode("utf-8")} for member in members]
    return lines + [{"part": part, "content": jcs(tree[part]).decode("utf-8")} for part in _SINGLE]


def read_state_lines(lines: Sequence[JsonObject]) -> StateContract:
    """Put a state contract together from its lines. Raises: ProblemsError of SLV-T."""
    lists: dict[str, list[JsonValue]] = {part: [] for part in _LISTS}
    single: dict[str, JsonValue] = {}
    for number, line in enumerate(lines, 2):
        part, content = line.get("part"), line.get("content")
        try:
            value = loads_object(str(content).encode("utf-8"))
        except StrictJsonError as error:
            raise ProblemsError([malformed(f"state_contract.jsonl:{number}", str(error))]) from error
        if set(line) != {"part", "content"} or part not in (*_LISTS, *_SINGLE) or part in single:
            raise ProblemsError([malformed(f"state_contract.jsonl:{number}", "keys")])
        if part in lists:
            lists[str(part)].append(value)
        else:
            single[str(part)] = value
    return read_state_contract(jcs({**lists, **single}))
