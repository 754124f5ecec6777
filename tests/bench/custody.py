"""What the largest allowed bank costs: seal, draw, verify, one proof. `python -m tests.bench.custody [ITEMS]`.

CPU seconds of this process beside wall seconds, and the peak of memory in each step above what was held at its begin.
"""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from slaverify.custody import inclusion_proof, terms_of, verify_inclusion
from slaverify.custody.append import LedgerFile, open_run, record_draw, register_contract
from slaverify.custody.keys import KeyStore
from slaverify.custody.seal import SealItem, SealTerms, seal
from slaverify.custody.vault import check_items, load_bank
from tests.custody.world import CONTRACT, contract_tree

ITEMS = 100_000


def clock() -> datetime:
    return datetime.now(UTC)


def items(count: int) -> Iterator[SealItem]:
    for n in range(count):
        query = {"schema": "item/1", "query": f"¿Qué plazo fija el artículo {n}? " * 8}
        reference = {"schema": "item/1", "source_id": f"q-{n}", "official_text": "texto oficial del artículo " * 28}
        yield SealItem(f"q-{n}", "direct" if n % 4 else "trap", query, reference)


def memory_mib(field: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)[1]) / 1024


def timed(name: str, act: Callable[[], object]) -> object:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew (proc(5))
    before, wall, cpu = memory_mib("VmRSS"), time.perf_counter(), time.process_time()
    found = act()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"| {name} | {wall:.2f} | {cpu:.2f} | {memory_mib('VmHWM') - before:.0f} |", flush=True)
    return found


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store = KeyStore.create(folder / "keys")
        custodian = store.make("custodian", organisation="A", roles=["custodian"], now=clock())
        auditor = store.make("auditor", organisation="B", roles=["auditor"], now=clock())
        print(f"| {count} items, load {os.getloadavg()[0]:.1f} | wall, s | CPU, s | memory, MiB |\n|---|---|---|---|")
        stated = SealTerms("bank-one", "x", "5c" * 32, "A")
        made = timed(
            "seal",
            lambda: seal(items(count), folder / "c", stated, custodian=custodian, clock=clock, register=[auditor]),
        )
        sample = {"method": "seeded", "per_stratum": {"direct": 300, "trap": 100}, "reserve": 10}
        terms = terms_of(contract_tree(made, evaluation_set__sample=sample), CONTRACT)
        bank = timed("verify the public half: digests, index, tree, checkpoint", lambda: load_bank(made.folder, terms))
        ledger = LedgerFile.open(made.folder, clock, trust=terms.trust)
        register_contract(ledger, custodian, terms)
        run = open_run(ledger, auditor, terms).number
        timed("draw 400 and reserve", lambda: record_draw(ledger, auditor, bank.index, terms, run))
        timed(
            "verify every commitment with the identity",
            lambda: check_items(made.folder, bank, custodian.age_identity, folder),
        )
        hashes, root = bank.index.hashes, bank.index.root
        proof = inclusion_proof(hashes, count // 3)
        begin = time.perf_counter()
        for _ in range(1000):
            assert verify_inclusion(hashes[count // 3], count // 3, count, proof, root)
        print(f"| verify one inclusion proof | {(time.perf_counter() - begin) / 1000:.6f} | | |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(int(sys.argv[1]))
    else:
        subprocess.run([sys.executable, "-m", "tests.bench.custody", str(ITEMS)], check=True)
