"""Measure what the decisions promise: coverage and risks, by exact enumeration where possible, else seeded Monte Carlo.

    python -m tests.bench.coverage [--out docs/validation/coverage.md] [--processes N] [--scale S] [--only G2,G4]

Each cell draws from its own seed (the number of the cell), so that any number of processes gives the same table.
A cell's figures are at the boundary: the true rate is the threshold, where each risk is largest.
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

from slaverify.statistics import (
    SPENDING,
    Confusion,
    acceptance_numbers,
    bounded_mean_log_e,
    change_check,
    check_spending,
    clustered_decision,
    exact_interval,
    human_audit,
    judge_corrected,
    limits_at,
    mixed_interval,
    one_sided_log_e,
    two_stage,
    wilson_interval,
)
from slaverify.version import __version__

ALPHA = 0.025
A = Decimal("0.025")
SIZES = (50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Cell:
    """One cell of one table: its group, its terms in words, what to run and how many replicates."""

    group: str
    name: tuple[str, ...]
    work: Callable[..., tuple[float, ...]]
    arguments: tuple
    replicates: int

    def run(self, scale: float) -> tuple[float, ...]:
        seed = zlib.crc32("/".join((self.group, *self.name)).encode())
        return self.work(np.random.default_rng(seed), max(1, int(self.replicates * scale)), *self.arguments)


# G1: independent items, exact


def g1(_: np.random.Generator, __: int, n: int) -> tuple[float, ...]:
    grid = [Decimal(9000 + 5 * k) / 10000 for k in range(191)]
    p = np.array([float(rate) for rate in grid])[:, None]
    masses = stats.binom.pmf(np.arange(n + 1)[None, :], n, p)

    def worst(intervals: Sequence) -> float:
        low, high = np.array([i.low for i in intervals]), np.array([i.high for i in intervals])
        return float((masses * ((low[None, :] <= p) & (p <= high[None, :]))).sum(axis=1).min())

    x = np.arange(n + 1)
    half = 1.959963984540054 * np.sqrt(x / n * (1 - x / n) / n)
    wald = float((masses * ((x / n - half <= p) & (p <= x / n + half))).sum(axis=1).min())
    numbers = [acceptance_numbers(rate, n, A, A) for rate in grid]
    return (
        worst([exact_interval(k, n, 0.95) for k in range(n + 1)]),
        float(max(one.risk_false_pass for one in numbers)),
        float(max(one.risk_false_breach for one in numbers)),
        worst([wilson_interval(k, n, 0.95) for k in range(n + 1)]),
        wald,
    )


# G2: clusters and repeats, Monte Carlo


def beta_binomial(rng: np.random.Generator, sizes: np.ndarray, p: float, icc: float) -> np.ndarray:
    if icc <= 0:
        return rng.binomial(sizes, p)
    a = p * (1 - icc) / icc
    b = (1 - p) * (1 - icc) / icc
    return rng.binomial(sizes, rng.beta(a, b, size=len(sizes)))


def sizes_of(design: str, n: int) -> np.ndarray:
    if design == "m = 5":
        return np.full(n // 5, 5)
    cycle, out = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), []
    while sum(out) < n:
        out.append(min(cycle[len(out) % 10], n - sum(out)))
    return np.array(out)


def tally(limits: Iterable[tuple[float, float]], p: float) -> tuple[float, float, float]:
    """Coverage, false PASS and false BREACH at T = p of two one-sided limits."""
    low, high = np.array(list(limits)).T
    return float(((low <= p) & (p <= high)).mean()), float((low >= p).mean()), float((high <= p).mean())


def g2(rng: np.random.Generator, r: int, design: str, n: int, p: float, icc: float, floor: float) -> tuple[float, ...]:
    sizes = sizes_of(design, n)

    def one() -> tuple[float, float]:
        found = clustered_decision([float(v) for v in beta_binomial(rng, sizes, p, icc)], sizes.tolist(), floor, ALPHA)
        return found.low, found.high

    return tally((one() for _ in range(r)), p)


def repeats(
    rng: np.random.Generator, r: int, items: int, p: float, icc: float, floor: float | None
) -> tuple[float, ...]:
    """K = 5 calls an item: n_eff = items (floor null), against clusters of 5 with a floor."""
    sizes = np.full(items, 5)

    def one() -> tuple[float, float]:
        calls = beta_binomial(rng, sizes, p, icc)
        if floor is None:
            found = limits_at(float(calls.sum()) / 5, items, ALPHA)
        else:
            found = clustered_decision([float(v) for v in calls], sizes.tolist(), floor, ALPHA)
        return found.low, found.high

    return tally((one() for _ in range(r)), p)


# G3: calibrated judge, Monte Carlo


def judged(rng: np.random.Generator, n: int, p: float, se: float, sp: float) -> int:
    right = rng.binomial(n, p)
    return int(rng.binomial(right, se) + rng.binomial(n - right, 1 - sp))


def g3(rng: np.random.Generator, r: int, m: int, n: int, se: float, sp: float, p: float) -> tuple[float, ...]:
    covered = passed = breached = guarded = naive = 0
    for _ in range(r):
        confusion = Confusion(int(rng.binomial(m, sp)), m, int(rng.binomial(m, se)), m)
        k = judged(rng, n, p, se, sp)
        found = judge_corrected(k, n, confusion, 0.95)
        naive += exact_interval(k, n, 0.95).low >= p
        if found.guard is not None or found.low_raw is None or found.high_raw is None:
            guarded += 1
            continue
        covered += found.low_raw <= p <= found.high_raw
        passed += found.low_raw >= p
        breached += found.high_raw <= p
    usable = max(1, r - guarded)
    return covered / usable, passed / r, breached / r, guarded / r, naive / r


def g3_mixed(
    rng: np.random.Generator, r: int, share: float, n: int, m: int, se: float, sp: float, p: float
) -> tuple[float, ...]:
    covered = passed = breached = guarded = 0
    n_judged = round(share * n)
    for _ in range(r):
        confusion = Confusion(int(rng.binomial(m, sp)), m, int(rng.binomial(m, se)), m)
        x_rule, k = int(rng.binomial(n - n_judged, p)), judged(rng, n_judged, p, se, sp)
        found = mixed_interval(x_rule, n - n_judged, k, n_judged, confusion, 0.95)
        if found.guard is not None or found.low is None or found.high is None:
            guarded += 1
            continue
        covered += found.low <= p <= found.high
        passed += found.low >= p
        breached += found.high <= p
    usable = max(1, r - guarded)
    return covered / usable, passed / r, breached / r, guarded / r


# G4: human audit of the same run, Monte Carlo


def g4(
    rng: np.random.Generator, r: int, n_h: int, n: int, p: float, se: float, sp: float, pairs: bool
) -> tuple[float, ...]:
    def one() -> tuple[float, float]:
        truth = rng.random(n) < p
        judge = np.where(truth, rng.random(n) < se, rng.random(n) >= sp)
        h, j, u = truth[:n_h].astype(float), judge[:n_h].astype(float), judge[n_h:].astype(float)
        if pairs:
            found = human_audit(h.tolist(), j.tolist(), u.tolist(), 0.95)
            return found.low, found.high
        return without_pairs(h, j, u)

    return tally((one() for _ in range(r)), p)


def without_pairs(h: np.ndarray, j: np.ndarray, u: np.ndarray) -> tuple[float, float]:
    """The same estimate with the textbook variance: shows why the two added pairs are there."""
    everyone = np.concatenate([j, u])
    v = everyone.var(ddof=1)
    lam = (
        0.0 if v == 0 else float(np.clip(np.mean((h - h.mean()) * (j - j.mean())) / ((1 + len(h) / len(u)) * v), 0, 1))
    )
    estimate = float(np.clip(h.mean() + lam * (u.mean() - j.mean()), 0, 1))
    s2 = np.var(h - lam * j, ddof=1) / len(h) + lam**2 * u.var(ddof=1) / len(u)
    n_eff = float(len(h))
    if 0 < estimate < 1:
        n_eff = (
            float(len(h) + len(u))
            if s2 == 0
            else min(float(len(h) + len(u)), max(len(h), estimate * (1 - estimate) / s2))
        )
    found = limits_at(estimate * n_eff, n_eff, ALPHA)
    return found.low, found.high


# G5: two stages and early stop, exact


def g5_stages(_: np.random.Generator, __: int, n1: int, n2: int, threshold: str) -> tuple[float, ...]:
    risks = check_spending(two_stage(n1, n2, Decimal(threshold), SPENDING, SPENDING), Decimal(threshold), A, A)
    return float(risks.p_pass), float(risks.p_breach)


@cache
def bets(s: int, f: int, side: str) -> float:
    return one_sided_log_e(s, f, Decimal("0.95"), 19, 1, side)


def g5_early(_: np.random.Generator, __: int, rate: float, n: int) -> tuple[float, ...]:
    bar = -math.log(ALPHA)
    alive = {0: 1.0}
    passed = breached = read = 0.0
    for size in range(1, n + 1):
        following: dict[int, float] = {}
        for failures, mass in alive.items():
            following[failures] = following.get(failures, 0.0) + mass * rate
            following[failures + 1] = following.get(failures + 1, 0.0) + mass * (1 - rate)
        alive = {}
        for f, mass in following.items():
            if mass < 1e-15:
                continue
            if bets(size - f, f, "pass") >= bar:
                passed, read = passed + mass, read + mass * size
            elif bets(size - f, f, "breach") >= bar:
                breached, read = breached + mass, read + mass * size
            else:
                alive[f] = mass
    return passed, breached, read + n * sum(alive.values())


# G6: bounded means, Monte Carlo at a mean that is the threshold

SHAPES: dict[str, tuple[float, Callable[[np.random.Generator, int], np.ndarray]]] = {
    "five levels": (0.9, lambda g, n: g.choice([0, 0.25, 0.5, 0.75, 1.0], size=n, p=[0.02, 0.03, 0.05, 0.13, 0.77])),
    "zero and one inflated beta": (
        0.84,
        lambda g, n: np.where((u := g.random(n)) < 0.04, 0.0, np.where(u < 0.64, 1.0, g.beta(4, 2, n))),
    ),
    "rare zeros under 0.985": (0.985 * 0.98, lambda g, n: np.where(g.random(n) < 0.02, 0.0, 0.985)),
    "rare zeros under 0.99": (0.99 * 0.995, lambda g, n: np.where(g.random(n) < 0.005, 0.0, 0.99)),
    "binary 0.95": (0.95, lambda g, n: (g.random(n) < 0.95).astype(float)),
}


def g6(rng: np.random.Generator, r: int, shape: str, n: int) -> tuple[float, ...]:
    mean, draw = SHAPES[shape]
    if shape.startswith("zero"):
        mean = 0.60 * 1.0 + 0.36 * (4 / 6)
    elif shape == "five levels":
        mean = 0.25 * 0.03 + 0.5 * 0.05 + 0.75 * 0.13 + 0.77
    passed = breached = student = 0
    bar = math.log(1 / ALPHA)
    for _ in range(r):
        scores = draw(rng, n)
        found = bounded_mean_log_e(scores.tolist(), 0, 1, mean)
        passed += found.log_e_pass >= bar
        breached += found.log_e_breach >= bar
        spread = scores.std(ddof=1) / math.sqrt(n)
        student += scores.mean() - stats.t.ppf(1 - ALPHA, n - 1) * spread >= mean if spread else scores.mean() > mean
    return passed / r, breached / r, student / r


# G7: change check, exact


def g7(_: np.random.Generator, __: int, n: int, loss: str, gain: float) -> tuple[float, ...]:
    """P(accepted) with a true loss of exactly the margin; and the same for mean ± z SE, which MUST NOT decide."""
    d = float(loss)
    p_c, p_b = gain, gain + d
    accepted = textbook = 0.0
    z = 1.959963984540054
    for c in range(n + 1):
        mass_c = stats.binom.pmf(c, n, p_c)
        if mass_c < 1e-13:
            continue
        masses = stats.binom.pmf(np.arange(n - c + 1), n - c, p_b / (1 - p_c))
        for b, mass in enumerate(masses):
            if mass < 1e-13:
                continue
            weight = mass_c * mass
            accepted += weight * (change_check(b, c, n, Decimal(loss), A).state == "accepted")
            mean = (c - b) / n
            se = math.sqrt(max(0.0, (b + c) / n - mean * mean) / n)
            textbook += weight * (mean - z * se >= -d)
    return accepted, textbook


# Gaming: three quarters of the would-be errors timed out, exact


def gaming(_: np.random.Generator, __: int, excluded: bool) -> tuple[float, ...]:
    """P(PASS), P(BREACH) of a vendor at .93 against .95, n 500, whose time-outs count (or, wrongly, leave)."""
    passed = breached = 0.0
    for errors in range(501):
        mass = stats.binom.pmf(errors, 500, 0.07)
        for timed in range(errors + 1):
            weight = mass * stats.binom.pmf(timed, errors, 0.75)
            if weight < 1e-13:
                continue
            n, failures = (500 - timed, errors - timed) if excluded else (500, errors)
            numbers = numbers_at(n)
            passed += weight * (numbers[0] is not None and failures <= numbers[0])
            breached += weight * (numbers[1] is not None and failures >= numbers[1])
    return passed, breached


@cache
def numbers_at(n: int) -> tuple[int | None, int | None]:
    found = acceptance_numbers(Decimal("0.95"), n, A, A)
    return found.pass_max_failures, found.breach_min_failures


def cells() -> list[Cell]:
    out = [Cell("G1", (f"n {n}",), g1, (n,), 1) for n in SIZES]
    for design in ("m = 5", "sizes 1-10"):
        for icc in (0.0, 0.1, 0.3):
            for p in (0.90, 0.95, 0.97, 0.99):
                for n in SIZES:
                    name = (design, f"ICC {icc}", f"p {p}", f"n {n}")
                    replicates = 12_000 if icc == 0.3 else 4000
                    out.append(Cell("G2", name, g2, (design, n, p, icc, 0.2), replicates))
    for icc in (0.6, 0.8):
        for p in (0.90, 0.95, 0.97, 0.99):
            for items in (50, 100, 200):
                for floor in (None, 0.2):
                    name = (f"ICC {icc}", f"p {p}", f"items {items}", "n_eff = items" if floor is None else "floor 0.2")
                    group = "G2 repeats" if floor is None else "G2 repeats with the floor"
                    out.append(Cell(group, name, repeats, (items, p, icc, floor), 4000))
    for m in (30, 100, 200):
        for n in (100, 500, 1000):
            for se, sp in ((0.9, 0.9), (0.97, 0.9)):
                for p in (0.90, 0.95, 0.98):
                    name = (f"m {m}", f"n {n}", f"se {se} sp {sp}", f"p {p}")
                    out.append(Cell("G3", name, g3, (m, n, se, sp, p), 4000))
    for share in (0.2, 0.5, 0.8):
        for n in (200, 500, 1000):
            for se, sp in ((0.9, 0.9), (0.97, 0.9)):
                for p in (0.90, 0.95):
                    name = (f"judged {share}", f"n {n}", f"se {se} sp {sp}", f"p {p}")
                    out.append(Cell("G3 mixed", name, g3_mixed, (share, n, 100, se, sp, p), 3000))
    judges = ((0.9, 0.7), (0.98, 0.5), (0.97, 0.9), (1.0, 1.0))
    for n_h in (50, 100, 200):
        for n in (300, 500, 1000):
            for p in (0.90, 0.95, 0.98):
                for se, sp in judges:
                    name = (f"n_h {n_h}", f"n {n}", f"se {se} sp {sp}", f"p {p}")
                    out.append(Cell("G4", name, g4, (n_h, n, p, se, sp, True), 3000))
    for n_h in (50, 100, 200):
        for n in (500, 1000):
            for p in (0.95, 0.98):
                for se, sp in judges[1:]:
                    name = (f"n_h {n_h}", f"n {n}", f"se {se} sp {sp}", f"p {p}")
                    out.append(Cell("G4 without pairs", name, g4, (n_h, n, p, se, sp, False), 2000))
    for n1, n2 in ((100, 100), (250, 250), (500, 500)):
        for threshold in ("0.90", "0.95", "0.98"):
            out.append(Cell("G5 stages", (f"{n1} + {n2}", f"T {threshold}"), g5_stages, (n1, n2, threshold), 1))
    out += [Cell("G5 early stop", (f"p {rate}",), g5_early, (rate, 1000), 1) for rate in (0.90, 0.95, 0.98)]
    out += [Cell("G6", (shape, f"n {n}"), g6, (shape, n), 3000) for shape in SHAPES for n in (200, 500, 1000)]
    for n in (60, 100, 200, 300, 500):
        for loss in ("0.01", "0.02", "0.05", "0.10"):
            for gain in (0.0, 0.05, 0.2):
                out.append(Cell("G7", (f"n {n}", f"loss {loss}", f"gain {gain}"), g7, (n, loss, gain), 1))
    out += [Cell("Gaming", (name,), gaming, (name == "excluded",), 1) for name in ("time-outs count", "excluded")]
    return out


@dataclass(frozen=True)
class Table:
    """How a group is printed: its columns, the bound of each (null: for comparison) and whether it is a minimum."""

    title: str
    columns: tuple[str, ...]
    bounds: tuple[tuple[str, float] | None, ...]
    exact: bool
    note: str = ""


COVERAGE = ("coverage", "false PASS", "false BREACH")
TABLES: dict[str, Table] = {
    "G1": Table(
        "Independent items: exact interval and integer numbers, rates .90 to .995 in steps of .0005",
        (*COVERAGE, "coverage of Wilson", "coverage of Wald"),
        ((">=", 0.950), ("<=", 0.025), ("<=", 0.025), None, None),
        True,
        "Minimum of the coverages and maximum of the risks over the grid. Wilson and Wald are for comparison.",
    ),
    "G2": Table(
        "Clusters: beta-binomial, declared floor 0.2",
        COVERAGE,
        ((">=", 0.950), ("<=", 0.025), ("<=", 0.025)),
        False,
    ),
    "G2 repeats": Table(
        "Repeats: 5 calls an item, n_eff = items",
        COVERAGE,
        ((">=", 0.950), ("<=", 0.025), ("<=", 0.025)),
        False,
    ),
    "G2 repeats with the floor": Table(
        "The same calls as clusters of 5 with a floor of 0.2: why repeats do not buy items",
        COVERAGE,
        (None, None, None),
        False,
    ),
    "G3": Table(
        "Calibrated judge (guards included)",
        (*COVERAGE, "guarded", "naive false PASS"),
        ((">=", 0.940), ("<=", 0.030), ("<=", 0.035), None, None),
        False,
        "Coverage among the runs without a guard; risks over all runs.",
    ),
    "G3 mixed": Table(
        "Rules and judge together (m0 = m1 = 100)",
        (*COVERAGE, "guarded"),
        (None, ("<=", 0.030), ("<=", 0.035), None),
        False,
    ),
    "G4": Table(
        "Human audit of the same run",
        COVERAGE,
        ((">=", 0.950), ("<=", 0.025), ("<=", 0.025)),
        False,
    ),
    "G4 without pairs": Table(
        "Human audit without the two added pairs: why they are there",
        COVERAGE,
        (None, None, None),
        False,
    ),
    "G5 stages": Table(
        "Two stages, spending 0.005 and 0.0225",
        ("false PASS", "false BREACH"),
        (("<=", 0.025), ("<=", 0.025)),
        True,
    ),
    "G5 early stop": Table(
        "Early stop by one-sided e-processes, T = .95, at most 1 000 items",
        ("PASS", "BREACH", "mean items read"),
        (None, None, None),
        True,
        "At p = .95 both are risks and stay under 2.5 %.",
    ),
    "G6": Table(
        "Bounded means: betting at a true mean equal to the threshold",
        ("false PASS", "false BREACH", "false PASS of Student t"),
        (("<=", 0.025), ("<=", 0.025), None),
        False,
    ),
    "G7": Table(
        "Change check: true loss equal to the margin",
        ("false acceptance", "false acceptance of mean ± z SE"),
        (("<=", 0.026), None),
        True,
    ),
    "Gaming": Table(
        "A vendor at .93 against .95, n = 500, three quarters of its errors timed out",
        ("PASS", "BREACH"),
        (None, None),
        True,
    ),
}
TOLERANCE = 0.005
"""Monte Carlo tolerance on every bound that is not exact."""


def worst(table: Table, rows: Sequence[tuple[float, ...]]) -> list[float]:
    lowest = [column.startswith("coverage") for column in table.columns]
    return [min(column) if low else max(column) for low, column in zip(lowest, zip(*rows, strict=True), strict=True)]


def holds(table: Table, row: Sequence[float]) -> bool:
    slack = 0.0 if table.exact else TOLERANCE
    for bound, value in zip(table.bounds, row, strict=True):
        if bound is None:
            continue
        sense, limit = bound
        if (sense == ">=" and value < limit - slack) or (sense == "<=" and value > limit + slack):
            return False
    return True


def shown(column: str, value: float) -> str:
    return f"{value:.1f}" if column.startswith("mean") else f"{100 * value:.2f} %"


def section(group: str, found: list[tuple[Cell, tuple[float, ...]]], scale: float) -> list[str]:
    table = TABLES[group]
    rows = [row for _, row in found]
    replicates = max(1, int(min(cell.replicates for cell, _ in found) * scale))
    how = "exact enumeration" if table.exact else f"Monte Carlo, {replicates} replicates a cell or more"
    error = (
        "" if table.exact else f"; standard error of 2.5 % is {100 * math.sqrt(0.025 * 0.975 / replicates):.2f} points"
    )
    bounds = ", ".join(
        f"{column} {sense[0]} {100 * sense[1]:.1f} %"
        for column, sense in zip(table.columns, table.bounds, strict=True)
        if sense is not None
    )
    lines = [f"## {group}. {table.title}", "", f"{how.capitalize()}{error}. {table.note}".rstrip(), ""]
    if bounds:
        verdict = "every cell holds" if all(holds(table, row) for row in rows) else "NOT every cell holds"
        lines += [f"Bounds: {bounds}. {len(rows)} cells: {verdict}.", ""]
    lines.append("| cell | " + " | ".join(table.columns) + " |")
    lines.append("|---|" + "---:|" * len(table.columns))
    lines.append("| **worst** | " + " | ".join(map(shown, table.columns, worst(table, rows))) + " |")
    lines += [f"| {', '.join(cell.name)} | " + " | ".join(map(shown, table.columns, row)) + " |" for cell, row in found]
    return [*lines, ""]


def one(task: tuple[Cell, float]) -> tuple[float, ...]:
    return task[0].run(task[1])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/validation/coverage.md"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the replicates of every Monte Carlo cell")
    parser.add_argument("--only", default="", help="groups, separated by commas")
    options = parser.parse_args(arguments)
    wanted = set(filter(None, options.only.split(",")))
    tasks = [cell for cell in cells() if not wanted or cell.group in wanted]
    if options.processes > 1:
        with ProcessPoolExecutor(options.processes) as pool:
            rows = list(pool.map(one, [(cell, options.scale) for cell in tasks], chunksize=4))
    else:
        rows = [cell.run(options.scale) for cell in tasks]
    lines = [
        "# Coverage and risks, measured",
        "",
        "Written by `python -m tests.bench.coverage`; seeded, so that the same versions give the same file.",
        f"slaverify {__version__}, numpy {np.__version__}, scipy {scipy.__version__}.",
        "Level 0.025 per side, confidence 0.95.",
        "",
    ]
    failed = False
    for group, table in TABLES.items():
        found = [(cell, row) for cell, row in zip(tasks, rows, strict=True) if cell.group == group]
        if found:
            lines += section(group, found, options.scale)
            failed = failed or not all(holds(table, row) for _, row in found)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines), "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
