"""Throughput of a whole run beside the bare client and a peer, on one machine in one go. Prints the table of the docs.

`python -m tests.bench.throughput [--peer V/bin/python] [--large]`. Each row is a process of its own; the stub (50 ms an
answer) is another. `--large` adds memory at 200,000 items and the resume of a journal of that size.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DELAY_S = 0.05
Told = dict[str, float]


@contextmanager
def stub() -> Iterator[str]:
    """Serve the stub and yield its address."""
    command = [sys.executable, "-m", "tests.bench.throughput_stub", "--delay", str(DELAY_S)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1/chat/completions"
    finally:
        process.kill()
        process.wait()


def measured(*words: str, python: str = sys.executable) -> Told:
    """Run one row and return what it printed last; memory is that of the process and of those that it began."""
    process = subprocess.Popen([python, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    together = 0.0
    while process.poll() is None:
        together = max(together, tree_mb(process.pid))
        time.sleep(0.2)
    printed = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{words}: exit {process.returncode}")
    told: Told = json.loads(printed.splitlines()[-1])
    return {**told, "rss_mb": max(told["rss_mb"], together)} if "rss_mb" in told else told


def tree_mb(pid: int) -> float:
    """Return the memory of a process and its children, MB, a page that several of them hold counted once."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        rows = [Path(f"/proc/{one}/smaps_rollup").read_text().splitlines() for one in (str(pid), *children)]
    except OSError:
        return 0.0
    return sum(int(row.split()[1]) for lines in rows for row in lines if row.startswith("Pss:")) / 1024


def ours(url: str, items: int, connections: int) -> Told:
    with tempfile.TemporaryDirectory() as folder:
        return measured("-m", "tests.bench.throughput_ours", folder, url, str(items), str(connections))


def loop(url: str, items: int, connections: int) -> Told:
    return measured("-m", "tests.bench.throughput_loop", url, str(items), str(connections))


def resumed(url: str, items: int) -> Told:
    with tempfile.TemporaryDirectory() as folder:
        words = ("-m", "tests.bench.throughput_resume", folder, url, str(items), "64")
        measured(*words)
        return measured(*words)


def row(name: str, items: int, connections: int, told: Told) -> str:
    """Return one line of the table; `load` is that of the machine when the row ended."""
    ideal = items / connections * DELAY_S
    numbers = (
        f"{told['wall_s']:.1f}",
        f"{told['wall_s'] / ideal:.2f}",
        f"{1000 * told['cpu_s'] / items:.2f}",
        f"{told['rss_mb']:.0f}",
        f"{os.getloadavg()[0]:.1f}",
    )
    return f"| {name} | {items} | {connections} | {' | '.join(numbers)} |"


def show(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--peer", help="interpreter of an environment that has inspect-ai and openai")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    show(f"Python {platform.python_version()}, {os.cpu_count()} cores, load at start {os.getloadavg()[0]:.1f}\n")
    show("| what | items | connections | wall, s | × ideal | CPU, ms/item | peak RSS, MB | load |")
    show("|---|---|---|---|---|---|---|---|")
    with stub() as url:
        for connections in (64, 256):
            show(row("bare aiohttp loop", options.items, connections, loop(url, options.items, connections)))
            show(row("whole run", options.items, connections, ours(url, options.items, connections)))
        show(row("whole run", 2_000, 64, ours(url, 2_000, 64)))
        if options.peer:
            told = measured("tests/bench/throughput_peer.py", url, "2000", "64", python=options.peer)
            show(row(str(told["peer"]), 2_000, 64, told))
        if options.large:
            show(row("whole run", 200_000, 256, ours(url, 200_000, 256)))
            told = resumed(url, 200_000)
            show(f"\nresume of 200,000: first request after {told['first_request_s']:.2f} s, {told['rss_mb']:.0f} MB")


if __name__ == "__main__":
    main()
