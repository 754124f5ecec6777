"""What the tests of the room share: the two contracts, and problems as (code, line, column)."""

from __future__ import annotations

import copy
import re
from pathlib import Path

from slaverify.canonical import jcs
from slaverify.contract import LoadedContract
from slaverify.contract.load import parse_contract
from slaverify.contract.read_yaml import read_yaml
from slaverify.errors import ProblemsError
from slaverify.resources import resource

DEMO = resource("contratos", "demo-normativa-cl.yaml")
FULL = Path(__file__).parent / "data" / "full.yaml"


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def raw_tree(path: Path) -> dict:
    """The tree as the file writes it, nothing filled in."""
    tree = read_yaml(text_of(path), path.name).tree
    assert isinstance(tree, dict)
    return copy.deepcopy(tree)


def load(text: str | bytes, name: str = "c.yaml") -> LoadedContract:
    return parse_contract(text.encode() if isinstance(text, str) else text, name)


def load_tree(tree: object) -> LoadedContract:
    return parse_contract(jcs(tree), "c.json")


def problems(text: str | bytes, name: str = "c.yaml") -> list[tuple[str, int, int]]:
    """(code, line, column) of each problem, in order of place; empty if the contract is accepted."""
    try:
        load(text, name)
    except ProblemsError as error:
        out = []
        for problem in error.problems:
            assert problem.what.es and problem.what.en
            line, column = re.fullmatch(rf"{re.escape(name)}:([0-9]+):([0-9]+)", problem.where).groups()
            out.append((problem.code, int(line), int(column)))
        return out
    return []


def errors(text: str | bytes, name: str = "c.yaml") -> tuple:
    try:
        load(text, name)
    except ProblemsError as error:
        return error.problems
    return ()


def place(text: str, fragment: str, *, value: bool = False) -> tuple[int, int]:
    """Line and column of the one occurrence of `fragment`; with `value`, of what follows its `: `."""
    assert text.count(fragment) == 1, (text.count(fragment), fragment)
    offset = text.index(fragment)
    if value:
        offset += fragment.index(": ") + 2
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def set_at(tree: dict, path: str, value: object) -> dict:
    """A deep copy with the value at a dotted path replaced, added, or (with `...`) removed."""
    out = copy.deepcopy(tree)
    node = out
    *parents, last = path.split(".")
    for key in parents:
        node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
    if value is ...:
        del node[int(last) if isinstance(node, list) else last]
    else:
        node[int(last) if isinstance(node, list) else last] = value
    return out
