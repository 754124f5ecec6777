"""Room run: plans the exchanges, keeps a journal that survives a kill, and attributes every outcome.

Here stands the pure half, which `verify` uses too. Second doors: `slaverify.run.journal`, `slaverify.run.runner`,
`slaverify.run.progress`.
"""

from slaverify.run.attribution import count_outcomes, end_exchange, unsent_attribution
from slaverify.run.batches import Batch, batch_root, batches_of, make_batch
from slaverify.run.derive import (
    DerivedExchange,
    DerivedRun,
    Mismatch,
    derive_outcomes,
    recorded_run,
)
from slaverify.run.plan import (
    SIDES,
    Plan,
    PlannedExchange,
    again_of,
    build_plan,
    plan_bytes,
    plan_sha256,
    read_plan,
)
from slaverify.run.records import EXCHANGES, OUTCOMES, PLAN, AttemptKey, AttemptRecord, exchange_line, outcome_line
from slaverify.run.rules import RunRules, Span, moment, rules_of, stamp
from slaverify.run.service import Available, Quantile, Service, service_of
from slaverify.run.signals import PUBLIC, SIGNALS, Signal, patterns_of, signals_json
from slaverify.run.stages import in_stages, on_both_sides

__all__ = [
    "EXCHANGES",
    "OUTCOMES",
    "PLAN",
    "PUBLIC",
    "SIDES",
    "SIGNALS",
    "AttemptKey",
    "AttemptRecord",
    "Available",
    "Batch",
    "DerivedExchange",
    "DerivedRun",
    "Mismatch",
    "Plan",
    "PlannedExchange",
    "Quantile",
    "RunRules",
    "Service",
    "Signal",
    "Span",
    "again_of",
    "batch_root",
    "batches_of",
    "build_plan",
    "count_outcomes",
    "derive_outcomes",
    "end_exchange",
    "exchange_line",
    "in_stages",
    "make_batch",
    "moment",
    "on_both_sides",
    "outcome_line",
    "patterns_of",
    "plan_bytes",
    "plan_sha256",
    "read_plan",
    "recorded_run",
    "rules_of",
    "service_of",
    "signals_json",
    "stamp",
    "unsent_attribution",
]
