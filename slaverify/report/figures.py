"""Say a measured figure: its count, its rate, its interval, its threshold, its state and the reason of it.

No figure is printed without its n, and none where nothing was measured: the reason stands there instead.
"""

from __future__ import annotations

from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, Metric, at, integer, text
from slaverify.report.words import Node, amount, code, foreign, listing, real, say, share

_DIGITS = 3
"""Decimals of a value that is no share, at least."""
RUN_REASONS = frozenset(
    {"bank_digest", "ledger", "run_aborted", "run_not_ended", "engine_version", "clock", "disputes"}
)
"""What can be wrong with a run as a whole: the words of the evidence."""
ROLES = frozenset({"buyer", "vendor", "auditor", "custodian", "author", "judge_operator"})
REASONS = RUN_REASONS | {
    "judge_drift",
    "unresolved_above_limit",
    "no_observations",
    "one_cluster",
    "few_clusters",
    "calibration_too_small",
    "calibration_inconsistent",
    "judge_not_informative",
    "judge_below_minimum",
    "judge_unstable",
    "judge_uncalibrated",
    "provenance_declared",
    "provenance_insufficient",
    "provenance_not_measured",
    "data_absent",
    "score_off_scale",
    "rule_undefined",
    "engine_mismatch",
    "manipulation_confirmed",
    "binding_pattern",
    "leak_signal",
    "dispute_sensitive",
    "naive_judge_rate",
    "run_invalid",
    "no_binding_metric",
}
"""Reasons that the catalogues put in words; any other is printed as its code."""


def reason(value: JsonValue) -> Node:
    """Say why a state is what it is."""
    word = "none" if value is None else str(value)
    if word == "none":
        return say("reason.none")
    return say(f"reason.{word}") if word in REASONS else say("reason.other", code=code(word))


def why(metric: Metric) -> Node:
    """Say why a metric has its state; where the count alone says it, which of the two rules held."""
    if metric.reason is None:
        return say(f"by_count.{metric.state}")
    return reason(metric.reason)


def state_word(state: str) -> Node:
    """Say a state: CUMPLE, PASS."""
    return say(f"state.{state}")


def is_measured(entry: JsonObject) -> bool:
    """Tell whether the entry has a figure that may be printed beside a threshold."""
    actionable = entry.get("provenance") in ("measured", "derived")
    if entry.get("state") in ("INVALID_RUN", "NOT_MEASURED"):
        return False
    return actionable and isinstance(entry.get("rate"), str) and integer(entry, "n") > 0


def lower_is_better(entry: JsonObject) -> bool:
    """Tell whether the entry is a ceiling on events."""
    return entry.get("direction") == "at_most"


def events(entry: JsonObject) -> int:
    """Return the count in the contract's own sense: matching answers, or events for a ceiling."""
    return failures(entry) if lower_is_better(entry) else integer(entry, "x")


def failures(entry: JsonObject) -> int:
    """Return the count of failures, those by not answering included; 0 where nothing was counted."""
    return _sum(entry, "failures", "failures_vendor")


def calls(entry: JsonObject) -> int:
    """Return the denominator of the count: items, or calls where each call of an item counts."""
    return _sum(entry, "x", "failures", "failures_vendor", "unresolved", "open")


def _sum(entry: JsonObject, *keys: str) -> int:
    return sum(value for key in keys if isinstance(value := entry.get(key), int))


def observed(entry: JsonObject) -> Node:
    """Say what was counted: 115 de 120 (95,8 %)."""
    if not is_measured(entry):
        return say("figure.not_measured", reason=reason(entry.get("reason")))
    if not is_share(entry):
        return say("figure.value", value=valued(entry, text(entry, "rate"), "near"), n=integer(entry, "n"))
    n, seen = calls(entry), events(entry)
    if seen in (0, n):
        return say("figure.bare", x=seen, total=n)
    return say("figure.rate", x=seen, total=n, rate=share(text(entry, "rate"), "near", text(entry, "threshold")))


def shown(metric: Metric) -> Node:
    """Say what was counted for a metric, or why nothing was."""
    if is_measured(metric.result):
        return observed(metric.result)
    return say("figure.not_measured", reason=reason(metric.reason))


def is_share(entry: JsonObject) -> bool:
    """Tell whether the metric is a share of counted answers; a mean and a corpus rate stand on scales of their own."""
    return entry.get("kind") not in ("mean", "corpus_rate")


def valued(entry: JsonObject, value: str, rounding: str) -> Node:
    """Say a value of the metric: a mean in its own scale; a share, and errors per weight below 1, in per cent."""
    limit = None if rounding == "exact" else text(entry, "threshold")
    if is_share(entry) or (entry.get("kind") == "corpus_rate" and 0 < Decimal(value) < 1):
        return share(value, rounding, limit)
    return amount(value, rounding, _DIGITS, limit)


def interval(entry: JsonObject, method: str = "exact") -> Node:
    """Say an interval, rounded outward: 90,5 % a 98,6 %; at an end of the scale only the other bound."""
    low, high = at(entry, f"{method}.low"), at(entry, f"{method}.high")
    if not isinstance(low, str) or not isinstance(high, str):
        return say("figure.no_interval")
    if not is_share(entry):
        return say("interval.both", low=valued(entry, low, "down"), high=valued(entry, high, "up"))
    if Decimal(low) <= 0 and Decimal(high) >= 1:
        return say("interval.unbounded")
    if Decimal(low) <= 0:
        return say("interval.up_to", high=valued(entry, high, "up"))
    if Decimal(high) >= 1:
        return say("interval.from", low=valued(entry, low, "down"))
    return say("interval.both", low=valued(entry, low, "down"), high=valued(entry, high, "up"))


def required(entry: JsonObject) -> Node:
    """Say the threshold with its direction: al menos 90 %."""
    return say(f"required.{text(entry, 'direction')}", limit=threshold(entry))


def threshold(entry: JsonObject) -> Node:
    """Say the threshold alone."""
    return valued(entry, text(entry, "threshold"), "exact")


def numbers(entry: JsonObject) -> Node:
    """Say the acceptance and the rejection number of the rule."""
    accept, reject = entry.get("pass_max_failures"), entry.get("breach_min_failures")
    if isinstance(accept, int) and isinstance(reject, int):
        return say("numbers.both", accept=accept, reject=reject)
    if isinstance(accept, int):
        return say("numbers.accept", accept=accept)
    if isinstance(reject, int):
        return say("numbers.reject", reject=reject)
    return say("numbers.none")


def numbers_short(entry: JsonObject) -> Node:
    """Say both numbers for a narrow column: hasta 5 / desde 21."""
    accept, reject = entry.get("pass_max_failures"), entry.get("breach_min_failures")
    first = say("numbers.up_to", n=accept) if isinstance(accept, int) else say("figure.none")
    second = say("numbers.from", n=reject) if isinstance(reject, int) else say("figure.none")
    return say("numbers.short", accept=first, reject=second)


def zero_note(entry: JsonObject, name: JsonValue) -> Node | None:
    """Say the one-sided bound where no event, or nothing but events, was seen."""
    bound = entry.get("zero_bound")
    if not is_measured(entry) or not isinstance(bound, str):
        return None
    n, seen = calls(entry), events(entry)
    confidence = share(text(entry, "confidence"), "exact")
    if seen == 0:
        return say("figure.zero", metric=name, total=n, bound=share(bound, "up"), confidence=confidence)
    floor = share(str(1 - Decimal(bound)), "down")
    return say("figure.all", metric=name, x=seen, total=n, bound=floor, confidence=confidence)


def probability(value: JsonValue, against: JsonValue = None) -> Node:
    """Say a probability of the decision with four decimals."""
    if not isinstance(value, str):
        return say("figure.none")
    return real(value, 4, against if isinstance(against, str) else None)


def risk(value: JsonValue) -> Node:
    """Say a risk as a percentage, rounded up."""
    if not isinstance(value, str):
        return say("figure.none")
    if not 0 < Decimal(value) < 1:
        return say("figure.none") if Decimal(value) >= 1 else say("figure.negligible")
    return share(value, "up")


def deciding(facts: Facts) -> Metric | None:
    """Return the binding metric on which the verdict rests.

    BREACH: the smallest adjusted tail. PASS: the one nearest to its limit. Else: the first in that state.
    """
    binding = [metric for metric in facts.metrics if metric.binding]
    same = [metric for metric in binding if metric.state == facts.state]
    if facts.state == "BREACH" and same:
        return min(same, key=lambda metric: _tail(metric.result, "p_breach_adjusted", "1"))
    if facts.state == "PASS" and same:
        return max(same, key=lambda metric: _tail(metric.result, "p_pass", "0"))
    return next(iter(same or binding), None)


def _tail(entry: JsonObject, key: str, absent: str) -> Decimal:
    value = entry.get(key)
    return Decimal(value if isinstance(value, str) else absent)


def organisation(facts: Facts, role: str) -> Node:
    """Say the name of a party, or that the contract names none."""
    name = facts.agreed(f"parties.{role}.name")
    return foreign(name) if isinstance(name, str) and name else say("party.none")


def payer(value: JsonValue) -> Node:
    """Say who paid: a role of the contract, or a name."""
    if isinstance(value, str) and value in ROLES:
        return say(f"role.{value}")
    return text_or(value, "absent.payer")


def text_or(value: JsonValue, absent: str) -> Node:
    """Say a text of the contract, or the message `absent` where it has none."""
    if isinstance(value, str) and value:
        return foreign(value)
    if isinstance(value, bool):
        return say("word.yes" if value else "word.no")
    if isinstance(value, int):
        return say("figure.count", value=value)
    if isinstance(value, list | tuple) and value and all(isinstance(member, str) for member in value):
        return listing([foreign(str(member)) for member in value])
    return say(absent)


def code_or(value: JsonValue, absent: str) -> Node:
    """Say an identifier, or several, or the message `absent` where there is none."""
    if isinstance(value, str) and value:
        return code(value)
    if isinstance(value, list | tuple) and value:
        return listing([code(str(member)) for member in value])
    return say(absent)
