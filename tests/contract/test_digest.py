"""One digest for one meaning: layout, key order, comments and Unicode form do not move it, a word does."""

from __future__ import annotations

import copy
import json
import random
import unicodedata
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slaverify.canonical import jcs, loads_canonical
from slaverify.contract import contract_digest, freeze, method_digest, run_id, tree_of
from slaverify.contract.load import dump_yaml
from slaverify.contract.model.root import Contract
from slaverify.errors import ProblemsError
from tests.contract.support import DEMO, FULL, load, load_tree, raw_tree, set_at, text_of

TREES = {path.stem: raw_tree(path) for path in (DEMO, FULL)}
FROZEN = {stem: freeze(load_tree(tree).model) for stem, tree in TREES.items()}


def shuffled(node: object, seed: random.Random) -> object:
    if isinstance(node, dict):
        keys = list(node)
        seed.shuffle(keys)
        return {key: shuffled(node[key], seed) for key in keys}
    return [shuffled(member, seed) for member in node] if isinstance(node, list) else node


@pytest.mark.parametrize("path", [DEMO, FULL], ids=lambda path: path.stem)
def test_the_same_from_yaml_json_reordered_recommented_and_decomposed(path: object) -> None:
    text, tree = text_of(path), raw_tree(path)
    digest = load(text).digest
    rest = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    assert load(rest).digest == digest
    assert load("# otro comentario\n\n" + text + "\n# fin\n").digest == digest
    assert load(text.replace("\n", "\r\n")).digest == digest
    assert load(unicodedata.normalize("NFD", text)).digest == digest
    assert load(dump_yaml(tree)).digest == digest
    for document in (jcs(tree), json.dumps(tree, indent=3).encode(), json.dumps(tree, ensure_ascii=False).encode()):
        assert load(document, "c.json").digest == digest
        assert load(document, "c.yaml").digest == digest
    for seed in range(3):
        again = shuffled(tree, random.Random(seed))
        assert load(dump_yaml(again)).digest == digest
        assert load(json.dumps(again, indent="\t").encode(), "c.json").digest == digest


@pytest.mark.parametrize("stem", TREES)
def test_a_frozen_contract_is_digested_as_it_stands(stem: str) -> None:
    frozen = FROZEN[stem]
    digest = contract_digest(frozen)
    loaded = load(dump_yaml(frozen, heading="una nota\n\notra"))
    assert (loaded.digest, loaded.tree) == (digest, frozen)
    assert load(jcs(frozen), "c.json").digest == digest
    # A key that this version knows and an older one did not write: absent, it reads as its default and moves nothing.
    older = set_at(frozen, "ledger.alpha_leak", ...)
    again = load_tree(older)
    assert again.digest == contract_digest(older) != digest
    assert "alpha_leak" not in again.tree["ledger"]
    assert again.model.ledger.alpha_leak is not None


def leaves(node: object, path: tuple = ()) -> list[tuple]:
    if isinstance(node, dict):
        return [leaf for key, value in node.items() for leaf in leaves(value, (*path, key))]
    if isinstance(node, list):
        return [leaf for index, value in enumerate(node) for leaf in leaves(value, (*path, index))]
    return [path]


def test_true_in_the_place_of_one_moves_the_digest() -> None:
    tree = set_at(TREES["full"], "endpoint.request.l", [1])
    assert load_tree(set_at(tree, "endpoint.request.l", [True])).digest != load_tree(tree).digest


def alike(one: object, other: object) -> bool:
    """Say whether two trees are the same JSON: `true` is no 1, though Python takes them for equal."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == other and isinstance(one, bool) is isinstance(other, bool)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_change_of_a_value_is_refused_or_moves_the_digest(data: st.DataObject) -> None:
    stem = data.draw(st.sampled_from(list(TREES)))
    tree = TREES[stem]
    path = data.draw(st.sampled_from(leaves(tree)))
    new = data.draw(
        st.sampled_from(["otro", "0.5", "1", "", "2026-06-01T00:00:00Z", "2026-06-01", "es", "en"])
        | st.integers(0, 400)
        | st.booleans()
        | st.none()
    )
    node = copy.deepcopy(tree)
    parent = node
    for part in path[:-1]:
        parent = parent[part]
    if parent[path[-1]] == new and type(parent[path[-1]]) is type(new):
        return
    parent[path[-1]] = new
    before = load_tree(tree)
    try:
        after = load_tree(node)
    except ProblemsError:
        return
    same_meaning = alike(after.tree, before.tree)  # a value written out that is the default anyway
    assert (after.digest == before.digest) == same_meaning


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(FROZEN)), st.randoms(use_true_random=False))
def test_from_yaml_to_model_to_jcs_to_model_and_back(stem: str, seed: random.Random) -> None:
    tree = shuffled(FROZEN[stem], seed)
    model = load(dump_yaml(tree)).model
    written = jcs(tree_of(model))
    assert Contract.model_validate_json(written) == model
    assert load(written, "c.json").model == model
    assert loads_canonical(written) == FROZEN[stem]
    assert jcs(tree_of(load(written, "c.json").model)) == written


@settings(max_examples=40, deadline=None)
@given(st.from_regex(r"\A-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?\Z"))
def test_a_decimal_is_kept_as_it_was_written(text: str) -> None:
    tree = set_at(TREES["demo-normativa-cl"], "remedies.earn_back", {"expected": text, "target": text, "periods": 1})
    loaded = load_tree(tree)
    assert loaded.tree["remedies"]["earn_back"]["expected"] == text
    assert load(dump_yaml(loaded.tree)).tree == loaded.tree


def test_method_digest_is_of_how_it_is_measured() -> None:
    tree = load_tree(TREES["full"]).tree
    digest = method_digest(tree)
    assert method_digest(set_at(tree, "metrics.0.threshold", "0.7")) == digest
    assert method_digest(set_at(tree, "judge.panel.0.endpoint.url", "https://other.example.org/")) == digest
    for path, value in (
        ("scope.catalogue.as_of", "2026-02-02"),
        ("failed_calls.unresolved_max", "0.03"),
        ("judge.panel.0.snapshot", "modelo-j-2025-06-02"),
        ("method.policies.fold_accents", False),
        ("repetitions.per_item", 4),
        ("judge", None),
        ("scope.catalogue", None),
    ):
        assert method_digest(set_at(tree, path, value)) != digest, path
    empty = (
        "sha256:"
        + __import__("hashlib")
        .sha256(b'{"catalogue":null,"failed_calls":null,"judge":null,"method":null,"repetitions":null}')
        .hexdigest()
    )
    assert method_digest({}) == empty


def test_run_identifiers() -> None:
    digest = "sha256:" + "0123456789abcdef" * 4
    assert run_id(digest, 1) == "0123456789ab-0001"
    assert run_id(digest, 9999) == "0123456789ab-9999"
    for bad, number in ((digest, 0), (digest, 10_000), ("sha256:abc", 1), ("x" * 64, 1)):
        with pytest.raises(ValueError, match=r"run numbers|not a contract digest"):
            run_id(bad, number)


def test_the_digest_of_the_demo_is_pinned() -> None:
    """A default of contract/1 never changes: if this fails, a key or a default did."""
    golden = (DEMO.parent.parent / "tests" / "contract" / "data" / "digests.json").read_text("utf-8")
    found = {stem: contract_digest(frozen) for stem, frozen in FROZEN.items()}
    assert found == json.loads(golden)
