"""The own set of phrases of the abstention detectors: recall and precision, with intervals, printed and asserted.

`abstention_set.tsv`: part, language, kind of slot, class, text. The parts `fresh…` were each written and measured
before the cues were changed for them; what they gave at first sight stands in `docs/spec/abstention.md`. All parts
have since been used to write cues, so the figures here say that nothing got worse, not how well unseen phrases do.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer
from slaverify.scoring import default_settings, score
from slaverify.statistics import exact_interval
from tests.scoring.helpers import NONE, choice, entity, item, number, text

REFERENCES = {
    "none": NONE,
    "number": number("77"),
    "choice": choice("A", A="uno rojo", B="dos verde", C="tres azul"),
    "entity": entity("Zzz"),
    "text": text("zzz"),
}
LINES = (Path(__file__).parent / "abstention_set.tsv").read_text("utf-8").splitlines()
SET = [line.split("\t") for line in LINES]


def _class(language: str, kind: str, words: str) -> str:
    locale, query = ("es-CL", "¿Cuál es?") if language == "es" else ("en-US", "What is it?")
    given = item(REFERENCES[kind], query=query)
    record = score(given, Answer(words.replace("\\n", "\n")), Outcome.ANSWERED, default_settings("qa@1", locale)).record
    return record.answer_class.value if record.answer_class is not None else record.outcome.value


def test_recall_and_precision(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    excused = []
    for _, language, kind, wanted, words in SET:
        got = _class(language, kind, words)
        counts[wanted, got] += 1
        if wanted == "answer" and got == "abstention":
            excused.append(words)
    hits = counts["abstention", "abstention"]
    relevant = sum(count for (wanted, _), count in counts.items() if wanted == "abstention")
    claimed = sum(count for (_, got), count in counts.items() if got == "abstention")
    with capsys.disabled():
        for name, x, n in (("recall", hits, relevant), ("precision", hits, claimed)):
            limits = exact_interval(x, n, 0.95)
            print(f"\nabstention {name}: {x}/{n} = {x / n:.3f}, 95 % [{limits.low:.3f}, {limits.high:.3f}]", end="")
    assert len(SET) >= 300
    assert sum(row[1] == "es" for row in SET) >= 200 and sum(row[1] == "en" for row in SET) >= 80
    assert hits / relevant >= 0.95
    assert hits / claimed >= 0.98
    assert excused == []


def test_the_reference_plays_no_part() -> None:
    for _, language, kind, _, words in SET:
        if kind != "number":
            continue
        locale = "es-CL" if language == "es" else "en-US"
        classes = {
            score(
                item(number(value)), Answer(words), Outcome.ANSWERED, default_settings("qa@1", locale)
            ).record.answer_class
            for value in ("15", "30", "999")
        }
        assert len(classes) == 1, words
