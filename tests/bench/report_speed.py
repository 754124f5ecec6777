"""Time and memory of a report over many items, and of its verification; writes docs/validation/report.md.

`python -m tests.bench.report_speed [--items 10000] [--write]`. The audit itself (seal, run, scores) is made first and
not counted. Each figure is of a process of its own, as a command is: peak memory is its `VmHWM`; the renderer's is
that of the process that draws, which is another one.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "validation" / "report.md"
_WRONG = 300
"""Wrong answers among the items: more than the rows that a page shows."""


def make(items: int, folder: Path) -> None:
    """Make the closed evidence of an audit of `items` questions, a fifth of them outside the corpus."""
    from tests.verify import sample

    outside = items // 5
    sample.DIRECT, sample.OUTSIDE = items - outside, outside
    sample.DRAWN = {"direct": items - outside, "out_of_corpus": outside}
    made = sample.line(_WRONG)
    files = sample.closed(made)
    (folder / "made.pickle").write_bytes(pickle.dumps((dict(files), dict(made.annex), made.closing_time)))
    (folder / "contract.json").write_bytes(files["contract/contract.json"])


def load(folder: Path):  # type: ignore[no-untyped-def]
    from slaverify.evidence import Bundle

    files, annex, closing = pickle.loads((folder / "made.pickle").read_bytes())
    return Bundle.of_files(files), files, annex, closing


def report(folder: Path) -> dict[str, float]:
    """Build, draw and sign the report: what a person waits for."""
    from slaverify.evidence.pades import sign_pdf
    from slaverify.report import build
    from slaverify.report.pdf import render, renderer
    from tests.evidence.pki import Tsa, auditor, tsa

    bundle, files, _, closing = load(folder)
    begun, worked = time.perf_counter(), time.process_time()
    model = build(bundle, "es", renderer())
    built = time.perf_counter()
    page = render(model, files["manifest.json"])
    drawn = time.perf_counter()
    pdf = sign_pdf(page, auditor(), Tsa(tsa().identity, closing).stamper().stamp_digest)
    signed = time.perf_counter()
    (folder / "report.pdf").write_bytes(pdf)
    (folder / "report.json").write_bytes(model)
    return {
        "build": built - begun,
        "draw": drawn - built,
        "sign": signed - drawn,
        "whole": signed - begun,
        "cpu": time.process_time() - worked + _children_cpu(),
        "pages": pdf.count(b"/Type /Page\n") + pdf.count(b"/Type/Page/") + pdf.count(b"/Type /Page "),
        "kb": len(pdf) / 1000,
        "mb": peak(),
        "mb_child": _children(),
    }


def check(folder: Path, annex: bool) -> dict[str, float]:
    """Verify the bundle (V16 to V19), with or without the opened annex."""
    from slaverify.contract.load import parse_contract
    from slaverify.verify import Trust, VerifyRequest, verify
    from tests.verify.checking import NOW

    bundle, _, opened, _ = load(folder)
    contract = parse_contract((folder / "contract.json").read_bytes(), "contract.json")
    begun, worked = time.perf_counter(), time.process_time()
    found = verify(
        VerifyRequest(now=NOW, bundle=bundle, trust=Trust(contract=contract), annex=opened if annex else None)
    )
    spent, cpu = time.perf_counter() - begun, time.process_time() - worked
    assert found.exit_code == 0, [(one.id, one.reason.en) for one in found.failed()]
    return {"whole": spent, "cpu": cpu, "mb": peak()}


def peak() -> float:
    """The high-water mark of this process, MB."""
    rows = Path("/proc/self/status").read_text().splitlines()
    return int(next(row for row in rows if row.startswith("VmHWM")).split()[1]) / 1024


def _children() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _children_cpu() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def alone(step: str, folder: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "tests.bench.report_speed", "--step", step, "--folder", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, print, and write the document where asked."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--items", type=int, default=10_000)
    reader.add_argument("--made", type=Path, help="a folder with the evidence of an earlier run")
    reader.add_argument("--only-make", action="store_true")
    reader.add_argument("--write", action="store_true")
    reader.add_argument("--step")
    reader.add_argument("--folder", type=Path)
    given = reader.parse_args()
    if given.step:
        steps = {
            "report": report,
            "verify": lambda folder: check(folder, False),
            "verify-annex": lambda folder: check(folder, True),
        }
        print(json.dumps(steps[given.step](given.folder)))
        return
    with TemporaryDirectory(prefix="slaverify-report-") as temporary:
        folder = given.made or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "made.pickle").is_file():
            make(given.items, folder)
        if given.only_make:
            return
        found = {step: alone(step, folder) for step in ("report", "verify", "verify-annex")}
        text = document(given.items, found, (folder / "report.json").stat().st_size)
    print(text)
    if given.write:
        DOCUMENT.write_text(text, encoding="utf-8")


def document(items: int, found: dict[str, dict[str, float]], model: int) -> str:
    one, check_public, check_annex = found["report"], found["verify"], found["verify-annex"]
    load_now = os.getloadavg()[0]
    lines = (
        "# A report over many items, and its verification",
        "",
        "Written by `python -m tests.bench.report_speed --write`. Each row is a process of its own; the audit was made",
        f"before. {items} items, {_WRONG} wrong answers; slaverify {metadata.version('slaverify')},",
        f"WeasyPrint {metadata.version('weasyprint')}, Python {platform.python_version()}, {os.cpu_count()} cores,",
        f"load {load_now:.1f}.",
        "",
        "| what | seconds | CPU, s | goal, s | peak, MB | goal |",
        "|---|---:|---:|---:|---:|---:|",
        f"| report.json from the bundle | {one['build']:.1f} | | | | |",
        f"| pages drawn (a process of its own) | {one['draw']:.1f} | | | {one['mb_child']:.0f} | 300 |",
        f"| signature and token | {one['sign']:.1f} | | | | |",
        f"| the report, whole | {one['whole']:.1f} | {one['cpu']:.1f} | 30 | {one['mb']:.0f} | 300 |",
        _row("verification of the bundle, V16 to V19", check_public, "5"),
        _row("the same with the opened annex (rules again)", check_annex, ""),
        "",
        "Seconds are those of the clock, other work on the machine included; CPU is what this work took on one core.",
        *_missed("report", one["cpu"], 30),
        *_missed("verification", check_public["cpu"], 5),
        "",
        f"The PDF has {one['kb']:.0f} kB, report.json {model / 1000:.0f} kB: items are capped on the page, the whole",
        "list stays in the evidence, under its digest. The files are held in memory here; a command reads from disk.",
        "",
    )
    return "\n".join(lines)


def _missed(name: str, cpu: float, goal: int) -> list[str]:
    return [f"Not met: the {name} takes {cpu:.1f} s of CPU, the goal is {goal} s."] if cpu > goal else []


def _row(name: str, found: dict[str, float], goal: str) -> str:
    return f"| {name} | {found['whole']:.1f} | {found['cpu']:.1f} | {goal} | {found['mb']:.0f} | |"


if __name__ == "__main__":
    main()
