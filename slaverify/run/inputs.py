"""What a run takes and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slaverify.canonical import JsonObject
from slaverify.contract.words import Outcome
from slaverify.custody import RunPermit
from slaverify.engine import EndpointSpec
from slaverify.engine.wire import Secrets
from slaverify.run.batcher import LedgerPort
from slaverify.run.conversation import ToolProbe
from slaverify.run.plan import Plan
from slaverify.run.progress import Progress
from slaverify.run.rules import RunRules


class RunState(StrEnum):
    """How a call of `run_exchanges` ended; `stopped` and `interrupted` go on with a resume."""

    COMPLETE = "complete"
    INVALID = "invalid"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of it. `counts` are of all planned exchanges, as if nothing more were sent; Σ = planned.

    `reason`: `done`, `engine_mismatch`, `unauthorised`, `quota`, `private_address`, `network`, `window`,
    `maintenance`, `signal`, `part`. `sent` and `in_flight` are item ids that no batch holds: with and without a result.
    """

    state: RunState
    reason: str
    counts: Mapping[Outcome, int]
    sent: tuple[str, ...]
    in_flight: tuple[str, ...]
    started_exchanges: int


@dataclass(frozen=True, slots=True)
class Part:
    """One of `count` parts of a run, by position modulo `count`; `index` from 0."""

    index: int
    count: int

    def holds(self, position: int) -> bool:
        """Say whether an exchange is of this part."""
        return position % self.count == self.index


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What a run needs. `queries` maps item id to query package, and may read them one by one.

    `plan`: must be that of the journal, whose rows are what is carried out; None where the caller did not read it.

    `withdrawn`: items that may no longer be exposed; their exchanges stay `not_sent`. `probes`: send the public
    probe again at 25, 50, 75 and 100 %. `roots`: PEM of a private authority. `signals`: end orderly on SIGINT and
    SIGTERM. `part`: carry out these exchanges alone, on a copy of the journal; nothing is batched, and the run stays
    open until the parts are merged. `tools`: how the public probe is asked where the engine has tools.
    """

    spec: EndpointSpec
    rules: RunRules
    plan: Plan | None
    queries: Mapping[str, JsonObject]
    permit: RunPermit
    secrets: Secrets
    ledger: LedgerPort
    clock: Callable[[], datetime]
    progress: Progress
    withdrawn: frozenset[str] = frozenset()
    probes: bool = True
    roots: str | None = None
    signals: bool = True
    part: Part | None = None
    tools: ToolProbe | None = None
