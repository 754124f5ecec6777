"""Every vector that this version scores, under each option of its policy; the others skip with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.scoring.vectors import conformance


def _lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "scoring.jsonl").read_text("utf-8").splitlines() if line]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = _lines(metafunc.config.getoption("--vectors-dir"))
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


def test_vector(case: dict) -> None:
    (found,) = conformance([case])
    if found.result == "not_performed":
        pytest.skip(f"{case['id']}: {found.differences[0]}")
    assert found.result == "passed", (case["why"], found.differences)


def test_the_file_is_the_one_that_was_handed_over() -> None:
    found = conformance(_lines(Path(__file__).resolve().parents[1] / "vectors"))
    assert len(found) == 72
    assert sum(one.result == "passed" for one in found) >= 51


_BASE = {
    "id": "X001",
    "question": "¿Cuál es el plazo?",
    "reference_kind": "amount",
    "item_reference": {"kind": "amount", "value": "15", "unit": "día"},
    "output": "15 días",
    "settings": {"locale": "es-CL"},
    "expected": {"outcome": "answered", "correctness": "correct"},
}


def _one(**changes: object) -> tuple[str, tuple[str, ...]]:
    (found,) = conformance([{**_BASE, **changes}])
    return found.result, found.differences


def test_a_wrong_expectation_fails_and_says_what_came() -> None:
    assert _one() == ("passed", ())
    result, why = _one(expected={"correctness": "incorrect"})
    assert result == "failed"
    assert why == ("correctness: correct instead of incorrect",)


@pytest.mark.parametrize(
    "changes",
    [
        {"expected": {}},
        {"expected": None},
        {"expected": {"correctness": "correct", "colour": "red"}},
        {"item_reference": {"kind": "amount"}},
        {"item_reference": None},
        {"settings": {"locale": "es-CL", "tolerance": "mucha"}},
        {"settings": {"run_outcome": "nada"}},
        {"expected": {"policy": "json", "by_option": {"strict": {}}, "default": "strict"}},
        {"expected": {"policy": "json", "by_option": {}, "default": "strict"}},
        {"settings": {"aggregate": "bounds"}, "output": "no es JSON"},
        {"settings": {"aggregate": "magic"}, "output": "[1]"},
        {"settings": {"aggregate": "pooled"}, "output": "[[5, 4]]"},
        {"settings": {"wer": "corpus"}, "reference": "[]", "output": '["a"]'},
    ],
)
def test_a_bad_line_fails_and_raises_nothing(changes: dict) -> None:
    assert _one(**changes)[0] == "failed"


def test_no_line_at_all_fails() -> None:
    assert [one.result for one in conformance([3, {}, {"id": 7}])] == ["failed"] * 3


def test_each_option_of_a_policy_is_run_and_its_default() -> None:
    want = {"true": {"correctness": "correct"}, "false": {"correctness": "incorrect"}}
    case = {
        "question": "¿Qué proporción?",
        "item_reference": {"kind": "number", "value": "35", "unit": "%"},
        "output": "0,35",
    }
    assert (
        _one(**case, expected={"policy": "percent_equivalence", "by_option": want, "default": "false"})[0] == "passed"
    )
    result, why = _one(**case, expected={"policy": "percent_equivalence", "by_option": want, "default": "true"})
    assert result == "failed"
    assert why[0].startswith("default: ")


@pytest.mark.parametrize(
    ("settings", "output", "expected"),
    [
        # pooled, not the mean of 9/10 and 1/1
        ({"aggregate": "pooled"}, "[[9, 10], [1, 1]]", {"value": 10 / 11, "tolerance": 1e-12}),
        ({"aggregate": "pooled"}, "[]", {"value": None}),
        ({"aggregate": "effective_n"}, json.dumps([[1, 1, 1, 1, 1]] * 40), {"value": 40}),
        ({"aggregate": "effective_n"}, '{"items": 40, "repeats": 5}', {"effective_n": 40}),
        ({"aggregate": "effective_n"}, json.dumps(["a", "b", "a"]), {"value": 2}),
        ({"aggregate": "bounds"}, "[0.5, null, 1]", {"bounds": [0.5, 2.5 / 3], "unscorable": 1, "tolerance": 1e-12}),
        (
            {"aggregate": "bounds", "interrupted_items": [1]},
            "[1, null, null]",
            {"not_sent": 1, "unscorable": 1, "finished": 1, "denominator": 3},
        ),
    ],
)
def test_aggregates(settings: dict, output: str, expected: dict) -> None:
    assert _one(settings=settings, output=output, expected=expected, reference_kind="counts") == ("passed", ())


@pytest.mark.parametrize(
    ("said", "heard", "expected"),
    [
        ('["uno dos", ""]', '["uno dos", "eh tres"]', {"errors": 1, "weight": 2, "insertions": 1}),
        ('[""]', '["algo"]', {"value": None, "errors": 1, "weight": 0}),
        ('["Son veinticinco."]', '["son 25"]', {"errors": 0}),
        ('["la parte"]', '["una parte"]', {"substitutions": 1, "errors": 1}),
        ('["a b c"]', '[""]', {"deletions": 3, "value": 1}),
    ],
)
def test_words(said: str, heard: str, expected: dict) -> None:
    settings = {"locale": "es-CL", "wer": "corpus", "normaliser": "asr-es@1"}
    found = _one(settings=settings, reference=said, output=heard, expected=expected, reference_kind="text")
    assert found == ("passed", ())


def test_accents_count_unless_the_policy_folds_them() -> None:
    options = {"true": {"errors": 0}, "false": {"errors": 1}}
    found = _one(
        settings={"locale": "es-CL", "wer": "corpus", "normaliser": "asr-es@1"},
        reference='["más"]',
        output='["mas"]',
        reference_kind="text",
        expected={"policy": "fold_accents", "by_option": options, "default": "false"},
    )
    assert found == ("passed", ())
