"""Decide which limitations apply, L01 to L28: generated from what was and was not done, none can be switched off.

A limitation is a code and its arguments; the sentences stand in the report's catalogue. Conditions and arguments:
docs/spec/decision.md section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract import Contract, sample_sizes
from slaverify.decision.facts import LimitationFacts, MetricFacts
from slaverify.decision.results import ENOUGH_POWER, FEW_CLUSTERS_LIMIT, SMALL_STRATUM

LIMITATIONS_TYPE = "slaverify/limitations/1"

Args = dict[str, JsonValue]

_SIGNING_ROLES = ("auditor", "buyer", "custodian", "vendor")
_NEVER_COVERED = ("latency", "cost", "security", "injection", "isolation", "personal_data")


def limitations(contract: Contract, facts: LimitationFacts) -> JsonObject:
    """Return `slaverify/limitations/1`: the codes that apply, sorted, each with its arguments. Raises nothing."""
    items: list[JsonValue] = []
    for code, condition in _CONDITIONS.items():
        args = condition(contract, facts)
        if args is not None:
            items.append({"code": code, "args": args})
    return {"type": LIMITATIONS_TYPE, "items": items}


def _judge(_: Contract, facts: LimitationFacts) -> Args | None:
    if facts.judged_items == 0:
        return None
    known = facts.calibration
    if known is None:
        return {"judged": facts.judged_items, "calibrated": False, **_without_one(facts)}
    return {
        **_without_one(facts),
        "judged": facts.judged_items,
        "calibrated": True,
        "labels": known.labels,
        "annotators": known.annotators,
        "sensitivity": known.sensitivity,
        "specificity": known.specificity,
        "kappa": known.kappa,
        "kappa_low": known.kappa_low,
        "disagreement": known.disagreement,
        "equivalent_labels": known.equivalent_labels,
    }


def _without_one(facts: LimitationFacts) -> Args:
    """Return the states without one judge or family; nothing where there is one judge alone."""
    return {"without_one": list(facts.without_one)} if facts.without_one else {}


def _domain(contract: Contract, _: LimitationFacts) -> Args | None:
    corpus = contract.scope.corpus
    return {
        "purpose": contract.scope.intended_purpose,
        "strata": sorted(sample_sizes(contract)),
        "corpus": None if corpus is None else corpus.name,
        "as_of": None if corpus is None else corpus.as_of,
    }


def _one_call(contract: Contract, facts: LimitationFacts) -> Args | None:
    again = facts.dispersion
    sample: Args = {}
    if again is not None:
        sample["sample"] = {"items": again.items, "repeats": again.repeats, "icc": again.icc}
    return {"repetitions": contract.repetitions.per_item, "icc": facts.icc, **sample}


def _uncovered(contract: Contract, _: LimitationFacts) -> Args | None:
    timed = any(metric.kind == "quantile" for metric in contract.metrics)
    return {
        "metrics": [metric.id for metric in contract.metrics],
        "uncovered": [part for part in _NEVER_COVERED if not (timed and part == "latency")],
    }


def _phrases(contract: Contract, facts: LimitationFacts) -> Args | None:
    detectors = contract.method.abstention
    if detectors is not None and len(detectors) == 0:
        return None
    return {
        "detectors": [*(detectors or ())],
        "abstentions": facts.abstentions,
        "reviewed": facts.abstentions_reviewed,
    }


def _catalogue(contract: Contract, _: LimitationFacts) -> Args | None:
    catalogue = contract.scope.catalogue
    if catalogue is None:
        return {"catalogue": False}
    given = contract.endpoint.response.citations
    return {
        "catalogue": True,
        "digest": catalogue.digest,
        "as_of": catalogue.as_of,
        "marked": given is not None and given.fields.verified is not None,
    }


def _as_received(contract: Contract, _: LimitationFacts) -> Args | None:
    author = contract.parties.author
    if author is not None and author.name == contract.parties.auditor.name:
        return None
    return {"author": None if author is None else author.name}


def _estimand(contract: Contract, _: LimitationFacts) -> Args | None:
    bank = contract.evaluation_set
    spoken = {metric.id: metric.estimand or bank.estimand for metric in contract.metrics}
    return {
        "population": [name for name, estimand in spoken.items() if estimand == "population"],
        "bank": [name for name, estimand in spoken.items() if estimand == "bank"],
        "frame": None if bank.frame is None else bank.frame.population,
        "bank_size": bank.size,
    }


def _references(_: Contract, facts: LimitationFacts) -> Args | None:
    if facts.references_unreviewed == 0 and facts.disputed == 0:
        return None
    states = facts.dispute_states
    return {
        "unreviewed": facts.references_unreviewed,
        "disputed": facts.disputed,
        "state_for": None if states is None else states[0],
        "state_against": None if states is None else states[1],
    }


def _small_strata(contract: Contract, facts: LimitationFacts) -> Args | None:
    sizes = dict(facts.strata)
    small: list[JsonValue] = [{"stratum": name, "n": n} for name, n in sorted(sizes.items()) if 0 < n < SMALL_STRATUM]
    absent: list[JsonValue] = [name for name in sorted(contract.evaluation_set.strata) if sizes.get(name, 0) == 0]
    return {"small": small, "absent": absent} if small or absent else None


def _few_clusters(contract: Contract, facts: LimitationFacts) -> Args | None:
    floors = {metric.id: metric.cluster is not None for metric in contract.metrics}
    rows: list[JsonValue] = [
        {"id": metric.id, "clusters": metric.clusters, "floor": floors.get(metric.id, False)}
        for metric in facts.metrics
        if metric.clusters is not None and (metric.clusters < FEW_CLUSTERS_LIMIT or not floors.get(metric.id, False))
    ]
    return {"metrics": rows} if rows else None


def _weak(_: Contract, facts: LimitationFacts) -> Args | None:
    rows: list[JsonValue] = [
        {
            "id": metric.id,
            "margin": metric.margin,
            "power_pass": metric.power_pass,
            "power_breach": metric.power_breach,
            "shortfall": metric.shortfall,
        }
        for metric in facts.metrics
        if _is_weak(metric)
    ]
    return {"metrics": rows} if rows else None


def _is_weak(metric: MetricFacts) -> bool:
    powers = (metric.power_pass, metric.power_breach)
    return metric.margin is not None and any(power is None or Fraction(power) < ENOUGH_POWER for power in powers)


def _families(contract: Contract, facts: LimitationFacts) -> Args | None:
    items = facts.judge_family_items
    if contract.judge is None:
        return {"undisclosed": False, "shared": [], "items": items} if items else None
    bases = contract.engine.base_families
    undisclosed = bases is None or bases == "undisclosed"
    own = {contract.engine.family, *(() if bases is None or isinstance(bases, str) else bases)}
    shared = sorted({member.family for member in contract.judge.panel} & {*filter(None, own)})
    if not undisclosed and not shared and not items:
        return None
    return {"undisclosed": undisclosed, "shared": [*shared], "items": items}


def _transport(_: Contract, facts: LimitationFacts) -> Args | None:
    return {} if facts.calibration is not None and facts.calibration.design == "external" else None


def _identity(contract: Contract, facts: LimitationFacts) -> Args | None:
    if facts.answers > 0 and facts.attested >= facts.answers:
        return None
    return {
        "answers": facts.answers,
        "echoes": facts.echoes,
        "attested": facts.attested,
        "on_missing": contract.engine.on_missing,
    }


def _special_treatment(_: Contract, __: LimitationFacts) -> Args | None:
    return {}


def _exposure(contract: Contract, facts: LimitationFacts) -> Args | None:
    return {
        "reused": facts.reused_items,
        "fresh_left": facts.fresh_left,
        "audits_left": facts.audits_left,
        "no_training": contract.confidentiality.no_training,
        "leaks": facts.leaks,
    }


def _both_bounds(_: Contract, facts: LimitationFacts) -> Args | None:
    rows: list[JsonValue] = [
        {
            "id": metric.id,
            "unresolved": metric.unresolved,
            "open": metric.open,
            "low": metric.rate_low,
            "high": metric.rate_high,
        }
        for metric in facts.metrics
        if metric.unresolved + metric.open > 0
    ]
    return {"metrics": rows} if rows else None


def _departures(_: Contract, facts: LimitationFacts) -> Args | None:
    if facts.retries == 0 and facts.excluded == 0 and not facts.deviations:
        return None
    return {"retries": facts.retries, "excluded": facts.excluded, "deviations": [*sorted(facts.deviations)]}


def _auditors_word(contract: Contract, facts: LimitationFacts) -> Args | None:
    draw = contract.evaluation_set.sample.method
    if facts.witnesses > 0 and facts.beacon and draw == "commit_reveal":
        return None
    anchor = contract.ledger.start_anchor
    default = "none" if contract.contract.purpose == "self_check" else "timestamp"
    return {
        "witnesses": facts.witnesses,
        "timestamps": facts.timestamps,
        "beacon": facts.beacon,
        "draw": draw,
        "anchor": default if anchor is None else anchor,
        "custodian_is_auditor": contract.parties.custodian.name == contract.parties.auditor.name,
    }


def _withheld(contract: Contract, _: LimitationFacts) -> Args | None:
    return {"recipients": [*sorted(contract.report.annex_recipients)]}


def _votes(_: Contract, facts: LimitationFacts) -> Args | None:
    return {"votes": facts.judge_votes} if facts.judge_votes > 0 else None


def _accreditation(contract: Contract, _: LimitationFacts) -> Args | None:
    return {"auditor": contract.parties.auditor.name}


def _signature(contract: Contract, facts: LimitationFacts) -> Args | None:
    level = contract.report.signature.level
    if level == "B-LTA" and facts.self_signed is False and not facts.demo:
        return None
    return {"level": level, "self_signed": facts.self_signed, "demo": facts.demo}


def _papers(contract: Contract, facts: LimitationFacts) -> Args | None:
    unsigned: list[JsonValue] = [role for role in _SIGNING_ROLES if role not in facts.signatures]
    independence = contract.parties.independence
    limits = None if independence is None else independence.auditor_limits
    payer = None if independence is None else independence.payer
    if not unsigned and limits is None and payer is None:
        return None
    return {"unsigned": unsigned, "limits": limits, "payer": payer}


def _self_check(contract: Contract, _: LimitationFacts) -> Args | None:
    return {} if contract.contract.purpose == "self_check" else None


def _construct(contract: Contract, _: LimitationFacts) -> Args | None:
    silent: list[JsonValue] = [metric.id for metric in contract.metrics if metric.predicts is None]
    return {"metrics": silent} if silent else None


def _own_tools(contract: Contract, _: LimitationFacts) -> Args | None:
    return {} if contract.method.profile.partition("@")[0] == "trajectory" else None


_CONDITIONS: dict[str, Callable[[Contract, LimitationFacts], Args | None]] = {
    "L01": _judge,
    "L02": _domain,
    "L03": _one_call,
    "L04": _uncovered,
    "L05": _phrases,
    "L06": _catalogue,
    "L07": _as_received,
    "L08": _estimand,
    "L09": _references,
    "L10": _small_strata,
    "L11": _few_clusters,
    "L12": _weak,
    "L13": _families,
    "L14": _transport,
    "L15": _identity,
    "L16": _special_treatment,
    "L17": _exposure,
    "L18": _both_bounds,
    "L19": _departures,
    "L20": _auditors_word,
    "L21": _withheld,
    "L22": _votes,
    "L23": _accreditation,
    "L24": _signature,
    "L25": _papers,
    "L26": _self_check,
    "L27": _construct,
    "L28": _own_tools,
}
