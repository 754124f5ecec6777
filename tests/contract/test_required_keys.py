"""Every required key of the tree, taken out one at a time, is missed at the line of the block that lacks it."""

from __future__ import annotations

import pytest

from slaverify.contract.load import dump_yaml
from slaverify.contract.shape import _models_at, field_at, known_keys, nearest
from tests.contract.support import DEMO, FULL, errors, load, problems, raw_tree, set_at

TREES = {path.stem: raw_tree(path) for path in (DEMO, FULL)}


def _required(tree: object, path: tuple = ()) -> list[tuple]:
    out = []
    if isinstance(tree, dict):
        for key, value in tree.items():
            field = field_at((*path, key))
            if field is not None and field.is_required():
                out.append((*path, key))
            out += _required(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            out += _required(value, (*path, index))
    return out


CASES = [(stem, path) for stem, tree in TREES.items() for path in _required(tree)]


def test_enough_keys_are_tried() -> None:
    assert len(CASES) > 150


@pytest.mark.parametrize(("stem", "path"), CASES, ids=[f"{stem}-{'.'.join(map(str, path))}" for stem, path in CASES])
def test_a_required_key_is_missed(stem: str, path: tuple) -> None:
    tree = set_at(TREES[stem], ".".join(map(str, path)), ...)
    text = dump_yaml(tree)
    filled = len(path) == 3 and path[0] == "metrics" and path[2] in FILLED and "library" in tree["metrics"][path[1]]
    if filled:
        assert problems(text) == []
        return
    found = [error for error in errors(text) if error.code == "SLV-C010"]
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    missing = [error for error in found if f"`{dotted}`" in error.what.es]
    assert len(missing) == 1, [error.lines("en") for error in errors(text)]
    assert missing[0].where == f"c.yaml:{_line_of(text, path[:-1])}"
    assert missing[0].fix.es


FILLED = ("kind", "count", "among", "direction")


def _line_of(text: str, path: tuple) -> str:
    """Where the block of `path` stands in block-style YAML, read by eye: its key, or the first key of a list's item."""
    if not path:
        return "1:1"
    lines = text.split("\n")
    row, indent = -1, 0
    for part in path:
        if isinstance(part, int):
            count = -1
            while count < part:
                row += 1
                if lines[row].startswith(" " * indent + "- "):
                    count += 1
            indent += 2
            lines[row] = lines[row].replace("- ", "  ", 1)
            row -= 1
            column = indent
        else:
            row += 1
            while not lines[row].startswith(" " * indent + f"{part}:"):
                row += 1
            column = indent
            indent += 2
    return f"{row + 1 if isinstance(path[-1], str) else row + 2}:{column + 1}"


def test_conditional_keys() -> None:
    for stem, path in (
        ("demo-normativa-cl", "evaluation_set.frame"),
        ("demo-normativa-cl", "report.signature.tsa_roots"),
        ("demo-normativa-cl", "endpoint.response.answer"),
        ("full", "engine.family"),
        ("full", "engine.base_families"),
        ("full", "judge.criteria"),
        ("full", "schedule.change_check"),
        ("full", "metrics.2.value"),
        ("full", "metrics.3.scale"),
        ("full", "metrics.4.w_max"),
        ("full", "metrics.5.limit_s"),
        ("full", "metrics.1.decision.f0"),
        ("full", "remedies.currency"),
    ):
        codes = [code for code, *_ in problems(dump_yaml(set_at(TREES[stem], path, ...)))]
        assert codes == ["SLV-C010"], (path, codes)


def test_both_contracts_are_accepted_as_they_are() -> None:
    for stem, tree in TREES.items():
        assert problems(dump_yaml(tree)) == [], stem


def test_the_two_contracts_use_every_key() -> None:
    """Every key of every block stands in a file that is loaded, so that each of them is seen by the tests."""
    declared, used = set(), set()
    for tree in TREES.values():
        for path in [(), *_paths(tree, ())]:
            for model in _models_at(path):
                names = {field.alias or name for name, field in model.model_fields.items()}
                declared |= {(model.__name__, name) for name in names}
                node = tree
                for part in path:
                    node = node[part]
                used |= {(model.__name__, name) for name in names if isinstance(node, dict) and name in node}
    written_by_freeze = {("Metric", "derived"), ("Derived", "stages")}
    alternatives = {("Judge", "rubric"), ("Witness", "ssh")}
    blocks_in_neither = {("Retest", "retest"), ("RetestTerms", "fresh")}
    assert declared - used - written_by_freeze - alternatives - blocks_in_neither == set()


def _unused(tree: object, path: tuple) -> set[str]:
    out: set[str] = set()
    if isinstance(tree, dict):
        for key in known_keys(path):
            if key not in tree:
                out.add("".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in (*path, key)).lstrip("."))
        for key, value in tree.items():
            out |= _unused(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            out |= _unused(value, (*path, index))
    return out


def test_every_field_says_what_it_is() -> None:
    for path in [path for tree in TREES.values() for path in _paths(tree, ())]:
        for model in _models_at(path):
            assert model.__doc__
            assert all(field.description for field in model.model_fields.values()), model


def _paths(tree: object, path: tuple) -> list[tuple]:
    out = [path] if path else []
    if isinstance(tree, dict):
        for key, value in tree.items():
            out += _paths(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            out += _paths(value, (*path, index))
    return out


@pytest.mark.parametrize("letter", range(8))
def test_a_misspelt_key_is_named_with_its_neighbour(letter: int) -> None:
    """Each key of the demo, with two letters swapped, is refused at its own place with the right word."""
    wanted = [path for path in _paths(TREES["demo-normativa-cl"], ()) if field_at(path) is not None]
    for path in wanted[letter::8]:
        key = path[-1]
        if len(key) < 4:
            continue
        wrong = key[:2] + key[3] + key[2] + key[4:]
        if wrong == key or nearest(wrong, known_keys(path[:-1])) != key:
            continue
        tree = set_at(TREES["demo-normativa-cl"], ".".join(map(str, path)), ...)
        node = tree
        for part in path[:-1]:
            node = node[part]
        node[wrong] = "x"
        text = dump_yaml(tree)
        unknown = [error for error in errors(text) if error.code == "SLV-C011"]
        assert len(unknown) == 1, path
        assert f"`{key}`" in unknown[0].fix.es, path
        line, column = (int(part) for part in unknown[0].where.split(":")[1:])
        assert text.split("\n")[line - 1][column - 1 :].lstrip('"').startswith(wrong)


def test_loading_a_draft_fills_every_default() -> None:
    tree = load(dump_yaml(TREES["demo-normativa-cl"])).tree
    assert _unused(tree, ()) == set()
