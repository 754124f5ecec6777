"""The lint of a set, whole: is it fit to be sealed? Pure: items and options in, findings and counts out.

Source: docs/spec/bank-check.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract
from slaverify.errors import Text
from slaverify.evalset import Item
from slaverify.readiness.bank_balance import check_age, check_balance
from slaverify.readiness.bank_findings import CheckOptions, Finding, has_rule
from slaverify.readiness.bank_gold import check_gold, notations
from slaverify.readiness.bank_mutants import check_mutants
from slaverify.readiness.bank_personal import check_personal
from slaverify.readiness.bank_sources import check_leaks, check_sources
from slaverify.readiness.bank_twins import check_twins
from slaverify.readiness.baselines import Baseline, run_baselines

_LEVELS = {"E": 0, "W": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class BankCheck:
    """What came of it. `gold` and `mutants` count answers; `not_performed` says what was left out, and why."""

    items: int
    findings: tuple[Finding, ...]
    gold_total: int
    gold_correct: int
    mutants_total: int
    mutants_correct: int
    mutants_least: int
    baselines: tuple[Baseline, ...]
    not_performed: tuple[Text, ...]

    @property
    def refused(self) -> bool:
        """Tell whether the set cannot be sealed as it is."""
        return any(finding.refuses for finding in self.findings)

    def to_json(self) -> JsonObject:
        """Return the check as a document, type `slaverify/bank-check/1`."""
        findings: list[JsonValue] = [finding.to_json() for finding in self.findings]
        baselines: list[JsonValue] = [baseline.to_json() for baseline in self.baselines]
        skipped: list[JsonValue] = [{"es": text.es, "en": text.en} for text in self.not_performed]
        return {
            "type": "slaverify/bank-check/1",
            "items": self.items,
            "refused": self.refused,
            "findings": findings,
            "gold": {"total": self.gold_total, "correct": self.gold_correct},
            "mutants": {
                "total": self.mutants_total,
                "correct": self.mutants_correct,
                "least_per_item": self.mutants_least,
            },
            "baselines": baselines,
            "not_performed": skipped,
        }


def check_bank(items: Sequence[Item], options: CheckOptions, contract: Contract | None = None) -> BankCheck:
    """Return every finding of a set, errors first.

    Raises: SetError if the contract names a profile or policy that this version does not have.
    """
    ruled, skipped = _with_rules(items, options)
    if options.catalogue is None:
        skipped.append(
            Text(
                "I023: sin catálogo no se comprueban trampas ni citas esperadas",
                "I023: without a catalogue neither traps nor expected citations are checked",
            )
        )
    if options.today is None:
        skipped.append(
            Text("I028: sin fecha de hoy no se juzga la antigüedad", "I028: without a day, no age is judged")
        )
    if contract is None:
        skipped.append(
            Text(
                "I026: sin contrato se usa el umbral 0.9 sobre todo el banco; con --contract decide el contrato",
                "I026: without a contract, threshold 0.9 over the whole set; with --contract the contract decides",
            )
        )
    gold, gold_total, gold_correct = check_gold(ruled, options)
    mutated, total, passed, least = check_mutants(ruled, options)
    trivial, baselines = run_baselines(items, options, contract)
    findings = [
        *check_leaks(items),
        *gold,
        *mutated,
        *check_sources(ruled, options),
        *check_twins(items),
        *trivial,
        *check_balance(items, options),
        *check_age(items, options),
        *check_personal(items, options),
    ]
    return BankCheck(
        items=len(items),
        findings=tuple(sorted(findings, key=lambda one: (_LEVELS[one.level], one.code, one.items))),
        gold_total=gold_total,
        gold_correct=gold_correct,
        mutants_total=total,
        mutants_correct=passed,
        mutants_least=least,
        baselines=tuple(baselines),
        not_performed=tuple(skipped),
    )


def _with_rules(items: Sequence[Item], options: CheckOptions) -> tuple[list[Item], list[Text]]:
    """Part the items whose kind of reference has a rule; a reference that nobody can match has none to check."""
    known: dict[tuple[str, str], bool] = {}
    ruled: list[Item] = []
    left: Counter[str] = Counter()
    judged = 0
    for item in items:
        key = (item.stratum, item.reference.kind)
        if key not in known:
            known[key] = has_rule(item, options)
        if not known[key] or (item.reference.kind == "citation" and not notations(item.reference, None)):
            left[item.reference.kind] += 1
        elif item.reference.kind == "text" and not any(letter.isalnum() for letter in item.reference.value):
            judged += 1
        else:
            ruled.append(item)
    skipped = [
        Text(
            f"I021, I022, I023: {count} ítems de clase {kind}, que esta revisión no sabe escribir o puntuar",
            f"I021, I022, I023: {count} items of kind {kind}, which this check cannot write or score",
        )
        for kind, count in sorted(left.items())
    ]
    if judged:
        skipped.append(
            Text(
                f"I021, I022: {judged} ítems sin respuesta correcta; los decide el juez",
                f"I021, I022: {judged} items without a right answer; the judge decides them",
            )
        )
    return ruled, skipped
