"""Hostile bytes: whatever comes in, either a contract or a list of problems comes out, and soon."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slaverify.canonical import jcs
from slaverify.contract import edited
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.contract.read_json import read_json
from slaverify.contract.read_yaml import read_yaml
from slaverify.contract.source import Unreadable
from slaverify.errors import ContractError, ProblemsError
from tests.contract.support import DEMO, load, raw_tree, set_at, text_of

TEXT = text_of(DEMO)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
YAML_SIGNS = "{}[]:,-?!&*#|>'\"%@`\n \t\r\\0aé~<=\x85\u2028"


def refuses_or_loads(data: bytes, name: str) -> None:
    try:
        parse_contract(data, name)
    except ProblemsError as error:
        assert all(problem.where.startswith(f"{name}:") for problem in error.problems)
        assert error.exit_code == 2
        assert error.lines("es") and error.lines("en")


@SLOW
@given(st.binary(max_size=300) | st.text(alphabet=YAML_SIGNS, max_size=200).map(lambda text: text.encode()))
def test_any_bytes(data: bytes) -> None:
    for name in ("c.yaml", "c.json"):
        refuses_or_loads(data, name)
        refuses_or_loads(b"a: " + data, name)


@SLOW
@given(st.integers(0, len(TEXT) - 1), st.text(alphabet=YAML_SIGNS, max_size=3), st.integers(0, 40))
def test_a_contract_with_something_cut_and_something_put_in(at: int, put: str, cut: int) -> None:
    refuses_or_loads((TEXT[:at] + put + TEXT[at + cut :]).encode(), "c.yaml")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@SLOW
@given(st.data(), JSON)
def test_any_value_in_any_place(data: st.DataObject, value: object) -> None:
    tree = raw_tree(DEMO)
    keys = data.draw(st.sampled_from(sorted(tree)))
    node = tree[keys]
    path = keys
    while isinstance(node, dict) and node and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(node)))
        path, node = f"{path}.{key}", node[key]
    refuses_or_loads(json.dumps(set_at(tree, path, value)).encode(), "c.json")


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=6), JSON, min_size=1, max_size=4))
def test_what_is_written_as_yaml_reads_back(tree: dict) -> None:
    """Texts that no contract may hold (controls, direction marks) are outside; all others come back as they were."""
    try:
        clean = read_json(json.dumps(tree), "t.json")
    except Unreadable:
        return
    if clean.findings:
        return
    again = read_yaml(dump_yaml(clean.tree), "t.yaml")
    assert not again.findings
    assert again.tree == clean.tree


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "No",
        "off",
        "y",
        "1",
        "0.9",
        "1e3",
        "",
        " x",
        "x ",
        "# x",
        "a: b",
        "- a",
        "a\nb",
        "a\n\nb\n",
        "|",
        "'",
        '"',
        "\t",
    ],
)
def test_texts_that_yaml_could_take_for_something_else(text: str) -> None:
    assert read_yaml(dump_yaml({"a": text, "b": [text, {text: text}]}), "t").tree == {
        "a": text,
        "b": [text, {text: text}],
    }


def test_places_are_the_same_from_both_readers() -> None:
    text = json.dumps(raw_tree(DEMO), indent=2, ensure_ascii=False)
    json_source, yaml_source = read_json(text, "a"), read_yaml(text, "a")
    assert json_source.tree == yaml_source.tree
    assert json_source.values == yaml_source.values
    assert json_source.keys == yaml_source.keys


def test_json_that_two_parsers_could_read_in_two_ways() -> None:
    body = jcs(raw_tree(DEMO)).decode()
    for bad, code in (
        (body.replace('"version":1', '"version":1,"version":1'), "SLV-C003"),
        (body.replace('"version":1', '"version":1.0'), "SLV-C013"),
        (body.replace('"version":1', '"version":1e0'), "SLV-C013"),
        (body.replace('"version":1', '"version":9007199254740993'), "SLV-C013"),
        (body.replace('"version":1', '"version":NaN'), "SLV-C002"),
        (body + "{}", "SLV-C002"),
        (body[:-1] + ",}", "SLV-C002"),
        ("// x\n" + body, "SLV-C002"),
        (body.replace('"version":1', '"version":"\\ud800"'), "SLV-C002"),
    ):
        with pytest.raises(ProblemsError) as caught:
            load(bad, "c.json")
        assert code in {problem.code for problem in caught.value.problems}, bad[:80]


def test_no_text_takes_long() -> None:
    mega = 1024 * 1024
    for text in (
        "a" * mega,
        '"' * mega,
        "[" * mega,
        "{" * mega,
        "- " * (mega // 2),
        "a:\n" * (mega // 3),
        "? " * (mega // 2),
        '{"a":' * (mega // 5),
        '{"a": "' + "\\" * (mega - 20),
        "&" * mega,
        "{" + ",".join(f'"k{number}":1' for number in range(mega // 12)) + "}",
        "{" + ",".join(f'"k{number}":1' for number in range(19_000)) + "}",
        "\n".join(f"k{number}: 1" for number in range(19_000)),
        "!" * mega,
        "[" + "a," * (mega // 2 - 9),
        "a: 'x'\n" * (mega // 8),
    ):
        start = time.process_time()
        refuses_or_loads(text.encode(), "c.yaml")
        assert time.process_time() - start < 5, text[:10]


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract(tmp_path / "nada.yaml")
    assert caught.value.code == "SLV-C001"
    with pytest.raises(ContractError):
        load_contract(tmp_path)
    file = tmp_path / "c.yaml"
    file.write_text(TEXT, encoding="utf-8")
    loaded = load_contract(file)
    assert loaded.source == str(file)
    assert loaded.digest == load(TEXT).digest


def test_edited_is_a_copy() -> None:
    tree = load(TEXT).tree
    out = edited(
        tree, {"endpoint.url": "http://127.0.0.1:1/x", "parties.auditor.keys.0.ssh": None, "metrics.1.margin": "0.1"}
    )
    assert out["endpoint"]["url"] == "http://127.0.0.1:1/x"
    assert out["metrics"][1]["margin"] == "0.1"
    assert tree["endpoint"]["url"] != out["endpoint"]["url"]
    assert tree["metrics"][1]["margin"] == "0.05"
    assert out["metrics"][0] is tree["metrics"][0]
    for path in ("nada.x", "metrics.9.id", "metrics.x.id", "endpoint.url.x"):
        with pytest.raises(KeyError):
            edited(tree, {path: 1})
