"""How long 100,000 answers take to score on one core, and that memory does not grow with them. Prints the table.

`python -m tests.bench.scoring_speed [N]`. The answers are the project's own cases of every kind and its phrases of the
abstention set, in turn: short and mostly hostile ones, a sentence or two each.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, parse_item
from slaverify.scoring import Settings, default_settings, score
from tests.bench.memory import peak_mb

TESTS = Path(__file__).resolve().parents[1] / "scoring"
KINDS = ("number", "amount", "percent", "date", "set", "choice", "entity", "text", "json", "none", "abstention")
LONGEST = 2_000


def pairs() -> list[tuple[Item, Answer, Settings]]:
    """Return every answer of the cases and of the abstention set with its item and settings."""
    found: list[tuple[Item, Answer, Settings]] = []
    settings = {locale: default_settings("qa@1", locale) for locale in ("es-CL", "es-MX", "en-US")}
    for kind in KINDS:
        for line in (TESTS / "cases" / f"{kind}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            tree = {"schema": "item/1", "id": case["id"], "stratum": "direct", "query": case["question"]}
            item = parse_item({**tree, "reference": case["item_reference"]}, where=case["id"])
            found.append((item, Answer(case["output"]), settings[case["settings"]["locale"]]))
    nothing = {"kind": "none", "because": "out_of_corpus"}
    for number, line in enumerate((TESTS / "abstention_set.tsv").read_text("utf-8").splitlines()):
        _, language, _, _, text = line.split("\t")
        tree = {"schema": "item/1", "id": f"a{number}", "stratum": "out_of_corpus", "query": "¿Cuál es?"}
        own = settings["es-CL" if language == "es" else "en-US"]
        found.append((parse_item({**tree, "reference": nothing}, where="a"), Answer(text), own))
    return [row for row in found if len(row[1].text) <= LONGEST]


def run(rows: list[tuple[Item, Answer, Settings]], count: int) -> float:
    """Score `count` answers in turn; return CPU seconds."""
    start = time.process_time()
    for item, answer, settings in _turns(rows, count):
        score(item, answer, Outcome.ANSWERED, settings)
    return time.process_time() - start


def _turns(rows: list[tuple[Item, Answer, Settings]], count: int) -> Iterator[tuple[Item, Answer, Settings]]:
    return islice(cycle(rows), count)


def memory_mb() -> float:
    """Return the peak resident memory of this process, in MB."""
    return peak_mb()


def main() -> None:
    """Print one row for a tenth of the answers and one for all."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rows = pairs()
    length = sum(len(answer.text) for _, answer, _ in rows) / len(rows)
    print(f"Python {platform.python_version()}, {len(rows)} distinct answers, {length:.0f} characters on average")
    print("| answers | CPU, s | µs an answer | peak RSS, MB |\n|---|---|---|---|")
    for count in (total // 10, total):
        spent = run(rows, count)
        print(f"| {count:,} | {spent:.1f} | {spent / count * 1e6:.0f} | {memory_mb():.0f} |")


if __name__ == "__main__":
    main()
