"""What surrounds a run in tests: permit, ledger, journal, and one call from plan to files."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from slaverify.canonical import loads_object
from slaverify.custody import RunPermit
from slaverify.custody import permit as custody_permit
from slaverify.engine import EndpointSpec
from slaverify.engine.wire import Secrets
from slaverify.run import Batch, DerivedRun, Plan, RunRules, build_plan, derive_outcomes, plan_sha256, signals_json
from slaverify.run.journal import Journal, RunHeader
from slaverify.run.progress import Progress
from slaverify.run.runner import RunInputs, RunResult, carry_out_run, export_run

CONTRACT = "sha256:" + "ab" * 32
RUN_ID = "ab" * 6 + "-0001"
SEED = bytes(range(32))


def now() -> datetime:
    return datetime.now(UTC)


def make_permit(plan: Plan | str) -> RunPermit:
    """A permit as `authorise` gives it; custody's own tests show that nothing else gives one."""
    return RunPermit(
        contract_digest=CONTRACT,
        run=1,
        sample_sha256="11" * 32,
        plan_sha256=plan if isinstance(plan, str) else plan_sha256(plan),
        started_seq=4,
        checkpoint_size=5,
        checkpoint_root="22" * 32,
        anchors=(),
        anchored_at=None,
        not_before=datetime(2020, 1, 1, tzinfo=UTC),
        grant=custody_permit._GRANT,
    )


@dataclass
class Ledger:
    """A ledger of batches alone, behind the runner's port."""

    batches: list[Batch] = field(default_factory=list)

    def on_batch(self, batch: Batch) -> int:
        assert self.find_batch(batch.number) is None, "batched twice"
        self.batches.append(batch)
        return 10 + batch.number

    def find_batch(self, number: int) -> int | None:
        return next((10 + one.number for one in self.batches if one.number == number), None)


@dataclass
class World:
    folder: Path
    spec: EndpointSpec
    count: int = 1
    repetitions: int = 1
    rules: RunRules = field(default_factory=RunRules)
    queries: list[str] | None = None
    ids: list[str] | None = None
    secrets: Secrets = field(default_factory=lambda: Secrets({}))
    ledger: Ledger = field(default_factory=Ledger)
    probes: bool = False
    roots: str | None = None

    def __post_init__(self) -> None:
        self.items = self.ids or [f"i-{number:05d}" for number in range(self.count)]
        self.plan = build_plan(RUN_ID, {"direct": self.items}, self.repetitions, SEED)
        texts = self.queries or [f"¿Qué plazo fija el artículo {number}?" for number in range(self.count)]
        self.texts = dict(zip(self.items, texts, strict=True))
        self.path = self.folder / f"{RUN_ID}.journal"
        self.header = RunHeader(
            RUN_ID,
            CONTRACT,
            "sha256:" + "cd" * 32,
            "11" * 32,
            plan_sha256(self.plan),
            "sha256:" + "ef" * 32,
            "0",
            stamp_now(),
        )

    def open(self) -> Journal:
        if self.path.exists():
            return Journal.open(self.path, expected=self.header)
        return Journal.create(self.path, self.header, self.plan, events=[("preflight", {"at": "x"})])

    def run(self, **changes: object) -> RunResult:
        with self.open() as journal:
            result = carry_out_run(journal, self.inputs(**changes))
            export_run(journal, self.spec, self.rules, self.plan, self.folder)
        return result

    def inputs(self, **changes: object) -> RunInputs:
        values: dict[str, object] = {
            "spec": self.spec,
            "rules": self.rules,
            "plan": self.plan,
            "queries": {item: {"query": text} for item, text in self.texts.items()},
            "permit": make_permit(self.plan),
            "secrets": self.secrets,
            "ledger": self.ledger,
            "clock": now,
            "progress": Progress(),
            "probes": self.probes,
            "roots": self.roots,
            "signals": False,
            **changes,
        }
        return RunInputs(**values)  # type: ignore[arg-type]

    def file(self, name: str) -> bytes:
        return (self.folder / "run" / name).read_bytes()

    def derived(self) -> DerivedRun:
        return derive_outcomes(
            self.spec, self.rules, self.plan, self.file("outcomes.jsonl"), self.file("exchanges.jsonl")
        )

    def signals(self) -> dict[str, tuple[int, ...]]:
        """Return where each signal of the run is, as its file has it; that is what the bytes show again."""
        stored = loads_object(self.file("signals.json"))
        assert stored == signals_json(self.plan.run_id, self.derived().signals)
        return {one["code"]: tuple(one["positions"]) for one in stored["signals"]}


def stamp_now() -> str:
    return now().strftime("%Y-%m-%dT%H:%M:%SZ")
