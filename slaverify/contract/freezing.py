"""Freeze a contract: every key written with its value, the derived numbers computed, undecidable promises refused.

Source: docs/spec/contract.md sections 1 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonObject, JsonValue, decimal_text
from slaverify.contract.findings import Finding, dotted
from slaverify.contract.model.identity import Parties
from slaverify.contract.model.metrics import Derived, Metric
from slaverify.contract.model.root import Contract
from slaverify.contract.numbers import (
    default_margin,
    derived_numbers,
    has_integers,
    metric_n,
    nearest_threshold,
    sample_sizes,
    smallest_n,
)
from slaverify.contract.profiles import PROFILES, default_policies
from slaverify.errors import ContractError, ProblemsError, SlaverifyError, Text

_JUDGE_SAMPLE = 60


def freeze(contract: Contract) -> JsonObject:
    """Return the frozen tree of a draft: every key with its value, derived numbers, status `frozen`.

    Raises: ProblemsError with SLV-S007 for each binding metric that can never PASS, SLV-C051 where numbers cannot be
    computed, SLV-C052 for a contract that is frozen already.
    """
    if contract.contract.status == "frozen":
        raise ProblemsError([_already_frozen()])
    whole = completed(contract)
    problems = [finding.error(dotted(finding.path)) for finding in number_findings(whole)]
    if problems:
        raise ProblemsError(problems)
    identity = whole.contract.model_copy(update={"status": "frozen"})
    return tree_of(with_numbers(whole).model_copy(update={"contract": identity}))


def completed(contract: Contract) -> Contract:
    """Return the contract with every default that depends on other keys written.

    Those are the profile's choices, the vendor's exposure group, the anchor of the start, the judge's sample and,
    per metric, unit, estimand, aggregate and margin.
    """
    profile = PROFILES.get(contract.method.profile)
    self_check = contract.contract.purpose == "self_check"
    anchor = contract.ledger.start_anchor or ("none" if self_check else "timestamp")
    changes: dict[str, object] = {
        "parties": _parties(contract.parties),
        "ledger": contract.ledger.model_copy(update={"start_anchor": anchor}),
        "metrics": tuple(_metric(contract, metric, profile.unit if profile else None) for metric in contract.metrics),
    }
    if profile is not None:
        changes["method"] = _method(contract)
    if contract.judge is not None:
        sample = contract.judge.repeats.sample or min(_JUDGE_SAMPLE, sum(sample_sizes(contract).values()))
        repeats = contract.judge.repeats.model_copy(update={"sample": sample})
        changes["judge"] = contract.judge.model_copy(update={"repeats": repeats})
    return contract.model_copy(update=changes)


def with_numbers(contract: Contract) -> Contract:
    """Return a completed contract with the derived numbers of each metric written.

    Raises: SlaverifyError where numbers cannot be computed (`number_findings` says which).
    """
    metrics = tuple(
        metric.model_copy(update={"derived": derived_numbers(contract, metric)}) for metric in contract.metrics
    )
    return contract.model_copy(update={"metrics": metrics})


def tree_of(contract: Contract) -> dict[str, JsonValue]:
    """Return the tree of a contract: every key, texts and decimals exactly as written."""
    tree: dict[str, JsonValue] = contract.model_dump(mode="json", by_alias=True)
    return tree


def number_findings(contract: Contract) -> Iterator[Finding]:
    """Yield what is wrong with the numbers of a completed contract.

    That is SLV-S007 for each binding metric that can never PASS, with the smallest change that mends it; SLV-S008 for
    each metric of a frozen contract whose written numbers are not those that follow; and what the rule itself refuses.
    """
    for index, metric in enumerate(contract.metrics):
        try:
            due = derived_numbers(contract, metric)
        except SlaverifyError as error:
            yield Finding(error.code, ("metrics", index), error.what, error.fix, error.why)
            continue
        binds = metric.severity == "binding" and contract.contract.purpose not in ("pilot", "self_check")
        if binds and not _can_pass(contract, metric, due):
            yield _undecidable(contract, metric, index)
        elif contract.contract.status == "frozen" and metric.derived != due:
            yield _different(metric, due, index)


def _parties(parties: Parties) -> Parties:
    vendor = parties.vendor
    group = vendor.exposure_group or vendor.legal_id or vendor.name
    return parties.model_copy(update={"vendor": vendor.model_copy(update={"exposure_group": group})})


def _method(contract: Contract) -> object:
    method, profile = contract.method, PROFILES[contract.method.profile]
    language = contract.contract.locale[:2]
    policies = default_policies(method.profile)
    chosen = {name: value for name, value in method.policies if value is not None}
    return method.model_copy(
        update={
            "rules": {} if method.rules is None else method.rules,
            "normaliser": method.normaliser or profile.normaliser[language],
            "abstention": (profile.abstention.format(language=language),)
            if method.abstention is None
            else method.abstention,
            "citation_grammar": method.citation_grammar or profile.citation_grammar,
            "verdict_table": profile.verdict_table if method.verdict_table is None else method.verdict_table,
            "policies": policies.model_copy(update=chosen),
            "null_tokens": () if method.null_tokens is None else method.null_tokens,
            "critical_fields": () if method.critical_fields is None else method.critical_fields,
            "answer": method.answer.model_copy(update={"language": method.answer.language or contract.contract.locale}),
        }
    )


def _metric(contract: Contract, metric: Metric, unit: str | None) -> Metric:
    return metric.model_copy(
        update={
            "unit": metric.unit or unit,
            "estimand": metric.estimand or contract.evaluation_set.estimand,
            "aggregate": metric.aggregate or contract.repetitions.aggregate,
            "margin": default_margin(metric) if metric.margin is None else metric.margin,
        }
    )


def _can_pass(contract: Contract, metric: Metric, due: Derived) -> bool:
    if due.pass_max_failures is not None or any(stage.pass_max_failures is not None for stage in due.stages):
        return True
    if metric.kind == "corpus_rate" or (metric.kind == "mean" and metric.cut is None):
        return True  # bounded means are decided by another rule, whose smallest n the decidability lint computes
    if has_integers(contract, metric):
        return False
    needed = smallest_n(contract, metric)
    return needed is not None and metric_n(contract, metric) >= needed


def _different(metric: Metric, due: Derived, index: int) -> Finding:
    numbers = (
        f"n {due.n}, pass_max_failures {_or_null(due.pass_max_failures)}, "
        f"breach_min_failures {_or_null(due.breach_min_failures)}"
    )
    return Finding(
        "SLV-S008",
        ("metrics", index, "derived"),
        Text(
            f"los números derivados de `{metric.id}` no son los que resultan del contrato",
            f"the derived numbers of `{metric.id}` are not those that follow from the contract",
        ),
        Text(f"resultan {numbers}: congele el borrador de nuevo", f"they are {numbers}: freeze the draft again"),
    )


def _undecidable(contract: Contract, metric: Metric, index: int) -> Finding:
    n, needed = metric_n(contract, metric), smallest_n(contract, metric)
    threshold, alpha = decimal_text(metric.threshold), decimal_text(metric.decision.alpha_pass)
    other = nearest_threshold(metric, n)
    lower = metric.direction == "at_least" or metric.kind == "quantile"
    ways_es = [] if needed is None else [f"suba n a {needed}"]
    ways_en = [] if needed is None else [f"raise n to {needed}"]
    if other is not None:
        ways_es.append(f"{'baje' if lower else 'suba'} el umbral a {decimal_text(other)}")
        ways_en.append(f"{'lower' if lower else 'raise'} the threshold to {decimal_text(other)}")
    least = "más ítems que el banco" if needed is None else f"al menos {needed} ítems"
    least_en = "more items than the bank has" if needed is None else f"at least {needed} items"
    return Finding(
        "SLV-S007",
        ("metrics", index, "threshold"),
        Text(
            f"`{metric.id}`: {threshold} con n = {n} y α {alpha} nunca puede CUMPLIR",
            f"`{metric.id}`: {threshold} with n = {n} and α {alpha} can never PASS",
        ),
        Text(" o ".join(ways_es), " or ".join(ways_en)),
        Text(
            f"ni con cero fallas: hacen falta {least}",
            f"not even with zero failures: {least_en} are needed",
        ),
    )


def _already_frozen() -> ContractError:
    return ContractError(
        "SLV-C052",
        Text("el contrato ya está congelado", "the contract is frozen already"),
        fix=Text(
            "para cambiarlo, haga una versión nueva que nombre su digest en `supersedes`",
            "to change it, make a new version that names its digest in `supersedes`",
        ),
    )


def _or_null(number: int | None) -> str:
    return "null" if number is None else str(number)
