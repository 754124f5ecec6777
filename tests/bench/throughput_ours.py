"""One whole run for the benchmark, in a process of its own: contract file → journal → evidence files → scores.

Queries and references are computed one by one, so that what is measured is the run and not a list in memory.
`python -m tests.bench.throughput_ours FOLDER URL ITEMS CONNECTIONS` prints one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from slaverify.canonical import JsonObject, jsonl
from slaverify.contract import Contract, edited
from slaverify.contract.load import dump_yaml, load_contract
from slaverify.engine import compile_endpoint
from slaverify.engine.wire import Secrets
from slaverify.evalset import parse_item
from slaverify.resources import resource as resource_path
from slaverify.run import Batch, build_plan, plan_sha256, rules_of
from slaverify.run.export import over_slices, stream_run
from slaverify.run.journal import Journal, RunHeader
from slaverify.run.progress import LineProgress, Progress
from slaverify.run.rows import JournalRows, Slice
from slaverify.run.runner import LedgerPort, RunInputs, carry_out_run, export_run
from slaverify.scoring import score, settings_for
from tests.bench.memory import peak_mb
from tests.run.world import CONTRACT, RUN_ID, SEED, make_permit, now, stamp_now
from tests.tools.plain_draft import plain

BANK, METHOD, SAMPLE = "sha256:" + "cd" * 32, "sha256:" + "ef" * 32, "11" * 32


class Queries(Mapping[str, JsonObject]):
    """The question of an item, made when it is asked for."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __getitem__(self, item: str) -> JsonObject:
        return {"query": question(int(item[2:]))}

    def __iter__(self) -> Iterator[str]:
        return (item_id(number) for number in range(self.count))

    def __len__(self) -> int:
        return self.count


class Count:
    """A ledger that numbers batches and forgets them; that of custody writes a file."""

    def on_batch(self, batch: Batch) -> int:
        return batch.number

    def find_batch(self, number: int) -> int | None:
        return None


def item_id(number: int) -> str:
    return f"i-{number:06d}"


def question(number: int) -> str:
    return f"¿Cuál es el número del expediente CODE-{number}?"


def item(number: int) -> JsonObject:
    return {
        "schema": "item/1",
        "id": item_id(number),
        "stratum": "direct",
        "locale": "es-CL",
        "query": question(number),
        "reference": {"kind": "number", "value": str(number)},
    }


def write_contract(path: Path, url: str, connections: int) -> None:
    draft = load_contract(resource_path("contratos", "demo-normativa-cl.yaml"))
    changes = {
        "engine.version": "stub-1.0",
        "engine.accepted_echoes": ["stub-1.0"],
        "endpoint.adapter": "openai_chat@1",
        "endpoint.url": url,
        "endpoint.request": {"model": "stub-1", "messages": "${messages}"},
        "endpoint.response": {},
        "endpoint.call.concurrency": connections,
    }
    path.write_text(dump_yaml(edited(plain(draft.tree), changes)), encoding="utf-8")


def open_journal(folder: Path, count: int) -> Journal:
    """Make the journal of a run of `count` items, or open the one that stands."""
    path = folder / f"{RUN_ID}.journal"
    if path.exists():
        return Journal.open(path)
    plan = build_plan(RUN_ID, {"direct": [item_id(number) for number in range(count)]}, 1, SEED)
    header = RunHeader(RUN_ID, CONTRACT, BANK, SAMPLE, plan_sha256(plan), METHOD, "0", stamp_now())
    return Journal.create(path, header, plan)


def inputs_of(model: Contract, journal: Journal, count: int, ledger: LedgerPort, progress: Progress) -> RunInputs:
    return RunInputs(
        spec=compile_endpoint(model),
        rules=rules_of(model),
        plan=None,
        queries=Queries(count),
        permit=make_permit(journal.header.plan_sha256),
        secrets=Secrets({}),
        ledger=ledger,
        clock=now,
        progress=progress,
        probes=False,
    )


def main(folder: Path, url: str, count: int, connections: int) -> None:
    write_contract(folder / "contract.yaml", url, connections)
    began, cpu = time.perf_counter(), time.process_time()
    model: Contract = load_contract(folder / "contract.yaml").model
    with open_journal(folder, count) as journal:
        inputs = inputs_of(model, journal, count, Count(), LineProgress(sys.stderr))
        spec, rules = inputs.spec, inputs.rules
        result = carry_out_run(journal, inputs)
        ran = time.perf_counter() - began
        export_run(journal, spec, rules, None, folder)
        settings, key, accurate = settings_for(model, "direct"), journal.mac_key, 0

        def scores(rows: JournalRows, part: Slice) -> tuple[bytes]:
            found = list(stream_run(rows, spec, rules, key, part))
            items = [parse_item(item(int(one.planned.item_id[2:])), where="bench") for one in found]
            pairs = zip(items, found, strict=True)
            records = [score(tree, one.answer, one.outcome, settings).record for tree, one in pairs]
            return (jsonl(record.to_json() for record in records),)

        with (folder / "scores.jsonl").open("wb") as file:
            for (lines,) in over_slices(journal, scores):
                accurate += lines.count(b'"verdict":"accurate"')
                file.write(lines)
    print(
        json.dumps(
            {
                "wall_s": time.perf_counter() - began,
                "run_s": ran,
                "cpu_s": time.process_time() - cpu + of_children(),
                "rss_mb": peak_mb(),
                "answered": {outcome.value: number for outcome, number in result.counts.items() if number},
                "accurate": accurate,
            }
        )
    )


def of_children() -> float:
    """Return the CPU that processes begun by this one have used, seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
