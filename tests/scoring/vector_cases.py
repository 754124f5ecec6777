"""How a line of the vectors becomes an item, an answer and settings, and how its expectation is read."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from slaverify.contract.words import Outcome
from slaverify.evalset import Answer, Item, Policies
from slaverify.scoring import Scored, Settings, default_settings, score

NOT_YET = {
    "citation": "citation grammar and catalogue: not in this line",
    "judgement": "judge output belongs to room judging",
    "counts": "aggregates for decision: not in this line",
    "trajectory": "trajectories belong to room trajectory",
}
POLICY_KEYS = set(Policies.model_fields) - {"json_"} | {"json"}


def load_cases(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "scoring.jsonl").read_text("utf-8").splitlines() if line]


def why_not(case: dict[str, Any]) -> str | None:
    """Return why the case cannot be run yet, null if it can."""
    kind = case["reference_kind"]
    if kind in NOT_YET:
        return NOT_YET[kind]
    if "wer" in case["settings"] or "aggregate" in case["settings"]:
        return "rates over words or items: not in this line"
    if "catalogue" in case["settings"]:
        return NOT_YET["citation"]
    return None


def item_of(case: dict[str, Any], locale: str | None) -> Item:
    given = case["settings"]
    tree: dict[str, Any] = {
        "schema": "item/1",
        "id": case["id"],
        "stratum": given.get("stratum", "direct"),
        "query": case["question"],
        "reference": case["item_reference"],
    }
    if "trap" in given:
        tree["trap"] = given["trap"]
    if locale is not None:
        tree["locale"] = locale
    return Item.model_validate(tree)


def settings_of(case: dict[str, Any], locale: str | None, **changes: Any) -> Settings:
    given = {**case["settings"], **changes}
    base = default_settings("qa@1", locale)
    policies = {key: given[key] for key in POLICY_KEYS & given.keys() if given[key] is not None}
    if "tolerance" in policies:
        policies["tolerance"] = str(policies["tolerance"])
    out = replace(base, policies=base.policies.changed(Policies.model_validate(policies)))
    if given.get("normaliser"):
        out = replace(out, normaliser=given["normaliser"])
    if "null_tokens" in given:
        out = replace(out, null_tokens=tuple(given["null_tokens"]))
    return out


def scored(case: dict[str, Any], **changes: Any) -> Scored:
    locale = changes.pop("locale", case["settings"].get("locale"))
    locale = None if locale == "none" else locale
    outcome = Outcome(case["settings"].get("run_outcome", "answered"))
    return score(item_of(case, locale), Answer(case["output"]), outcome, settings_of(case, locale, **changes))


def runs(case: dict[str, Any]) -> list[tuple[str, Scored, dict[str, Any]]]:
    """Return each run that the case asks for: its label, what came, what is expected."""
    expected = case["expected"]
    if "policy" not in expected:
        return [("as given", scored(case), expected)]
    policy = expected["policy"]
    out = [
        (f"{policy}={option}", scored(case, **{policy: option}), want) for option, want in expected["by_option"].items()
    ]
    default = expected["by_option"][expected["default"]]
    return [
        *out,
        ("default", scored(case) if policy != "locale" else scored(case, locale=expected["default"]), default),
    ]


def differences(got: Scored, want: dict[str, Any]) -> list[str]:
    record = got.record.to_json()
    out = []
    for key in ("outcome", "correctness", "class", "verdict", "abstention"):
        if key in want and record[key] != want[key]:
            out.append(f"{key}: {record[key]} instead of {want[key]}")
    if "reason" in want and want["reason"] not in [rule["reason"] for rule in record["rules"]]:
        out.append(f"reason: {record['rules']} instead of {want['reason']}")
    if "flags" in want and not set(want["flags"]) <= set(record["flags"]):
        out.append(f"flags: {record['flags']} without {want['flags']}")
    unread = want.keys() - {"outcome", "correctness", "class", "verdict", "abstention", "reason", "flags", "tolerance"}
    return out + [f"expectation not read: {key}" for key in sorted(unread)]


__all__ = ["Decimal", "differences", "load_cases", "runs", "why_not"]
