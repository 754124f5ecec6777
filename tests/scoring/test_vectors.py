"""Every vector whose kind this version scores, under each option of its policy; the others skip with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scoring.vector_cases import differences, load_cases, runs, why_not


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = load_cases(metafunc.config.getoption("--vectors-dir"))
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


def test_vector(case: dict) -> None:
    reason = why_not(case)
    if reason is not None:
        pytest.skip(f"{case['id']}: {reason}")
    wrong = {label: found for label, got, want in runs(case) if (found := differences(got, want))}
    assert not wrong, (case["why"], wrong)


def test_the_file_is_the_one_that_was_handed_over() -> None:
    cases = load_cases(Path(__file__).resolve().parents[1] / "vectors")
    assert len(cases) == 72
    assert sum(why_not(case) is None for case in cases) == 48
