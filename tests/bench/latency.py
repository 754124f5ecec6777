"""What latency a run records of a vendor that answers after 50 ms: with the wire in its own process, and in the run's.

`python -m tests.bench.latency [--items N]` prints the table of docs/validation/throughput.md. Both are measured by
turns, each in a process of its own, against the same stub.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import quantiles
from unittest.mock import patch

from slaverify.contract.load import load_contract
from slaverify.run import runner
from slaverify.run.progress import Progress
from tests.bench.throughput import DELAY_S, ROOT, show, stub
from tests.bench.throughput_ours import Count, inputs_of, open_journal, write_contract


def main(folder: Path, url: str, count: int, connections: int, apart: bool) -> None:
    """Carry out one run and print the latencies of its journal, ms."""
    write_contract(folder / "contract.yaml", url, connections)
    model = load_contract(folder / "contract.yaml").model
    with open_journal(folder, count) as journal, patch.object(runner, "can_fork", lambda: apart):
        inputs = inputs_of(model, journal, count, Count(), Progress())
        runner.carry_out_run(journal, inputs)
        rows = journal.connection.execute("SELECT (end_ns - start_ns) / 1e6 FROM attempt").fetchall()
    cuts = quantiles((spent for (spent,) in rows), n=100)
    print(json.dumps([cuts[49], cuts[94], cuts[98]]))


def measured(url: str, count: int, connections: int, apart: bool) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        words = (folder, url, str(count), str(connections), "apart" if apart else "together")
        command = [sys.executable, "-m", "tests.bench.latency", *words]
        printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: list[float] = json.loads(printed.splitlines()[-1])
    return found


def table(items: int) -> None:
    show(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at start; the stub waits {1000 * DELAY_S:.0f} ms")
    show("| connections | wire | median, ms | 95 % | 99 % |\n|---|---|---|---|---|")
    with stub() as url:
        for connections in (4, 16, 64, 256):
            for apart in (False, True):
                spent = measured(url, min(items, connections * 100), connections, apart)
                name = "a process of its own" if apart else "in the run's process"
                show(f"| {connections} | {name} | {' | '.join(f'{one:.1f}' for one in spent)} |")


if __name__ == "__main__":
    if len(sys.argv) == 6:
        main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "apart")
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("--items", type=int, default=6_000)
        table(parser.parse_args().items)
