"""Run language-neutral vectors of scoring against this version: one line, one answer, what has to come of it.

A line is `{id, question, reference_kind, item_reference, output, settings, expected}`; `expected` may name a policy
with what follows from each of its options, and then every option is run. What another room decides (judge output,
trajectories) is not performed here, and the reason is said.

Source: docs/spec/scoring.md section 10; the header of the vector file's specification.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from slaverify.canonical import JsonObject
from slaverify.contract.words import Outcome
from slaverify.errors import ProblemsError, SlaverifyError
from slaverify.evalset import Answer, Item, Policies, parse_item
from slaverify.scoring.aggregates import bounded_mean, effective_n, pooled
from slaverify.scoring.citations.vectors import catalogue_from, citation_results, reference_from_text
from slaverify.scoring.normalisers import fold_accents, normaliser
from slaverify.scoring.pipeline import score
from slaverify.scoring.settings import Settings, default_settings, read_policies
from slaverify.scoring.words import count_words
from slaverify.statistics.vectors import VectorOutcome, same

ELSEWHERE = {
    "judgement": "judge output: room judging",
    "trajectory": "trajectories: room trajectory",
}
"""Kinds of reference that this room does not read, and why."""

_RECORD_KEYS = ("outcome", "correctness", "class", "verdict", "abstention", "grounding", "errors", "weight")
_POLICIES = frozenset(Policies.model_fields) - {"json_"} | {"json"}
_BOTH = (SlaverifyError, ProblemsError, ArithmeticError, LookupError, TypeError, ValueError)


def conformance(lines: Sequence[object]) -> tuple[VectorOutcome, ...]:
    """Run every line. Raises nothing: a line that is malformed, or that raises, has failed."""
    return tuple(_result(line, index) for index, line in enumerate(lines))


def _result(line: object, index: int) -> VectorOutcome:
    if not isinstance(line, dict) or not isinstance(line.get("id"), str):
        return VectorOutcome(f"#{index}", "failed", ("not a vector",))
    name, why = str(line["id"]), not_here(line)
    if why is not None:
        return VectorOutcome(name, "not_performed", (why,))
    try:
        found = tuple(differences(line))
    except _BOTH as error:
        found = (f"{type(error).__name__}: {error}",)
    return VectorOutcome(name, "failed" if found else "passed", found)


def not_here(line: Mapping[str, object]) -> str | None:
    """Return why this room cannot run the line, null if it can."""
    return ELSEWHERE.get(str(line.get("reference_kind")))


def differences(line: Mapping[str, object]) -> Iterator[str]:
    """Yield what the line expects and did not get, under each option of its policy."""
    expected = _map(line, "expected")
    policy = expected.get("policy")
    if not isinstance(policy, str):
        yield from _compared(line, _map(line, "settings"), expected, "")
        return
    options = _map(expected, "by_option")
    default = _word(expected.get("default"))
    line = {**line, "item_reference": _without_policy(_map(line, "item_reference"), policy)}
    for option, want in options.items():
        settings = {**_map(line, "settings"), policy: _option(option)}
        yield from _compared(line, settings, want, f"{policy}={option}: ")
    settings = {**_map(line, "settings"), policy: _option(default) if policy == "locale" else None}
    yield from _compared(line, settings, options[default], "default: ")


def _without_policy(tree: JsonObject, policy: str) -> JsonObject:
    # what is tested is the option, so the reference does not fix it
    return {key: value for key, value in tree.items() if key != policy}


def _compared(line: Mapping[str, object], settings: JsonObject, want: object, label: str) -> Iterator[str]:
    if not isinstance(want, dict) or not want:
        yield f"{label}nothing is expected"
        return
    got = _obtained(line, settings)
    tolerance = want.get("tolerance", 0)
    margin = float(tolerance) if isinstance(tolerance, int | float) else 0.0
    for key, value in want.items():
        if key == "tolerance":
            continue
        if key not in got:
            yield f"{label}{key}: not read by this version"
        elif key == "reason":
            if value not in _list(got[key]):
                yield f"{label}reason: {got[key]} instead of {value}"
        elif key == "flags":
            if not set(map(str, _list(value))) <= set(map(str, _list(got[key]))):
                yield f"{label}flags: {got[key]} without {value}"
        elif not same(value, got[key], margin):
            yield f"{label}{key}: {got[key]} instead of {value}"


def _obtained(line: Mapping[str, object], settings: JsonObject) -> Mapping[str, object]:
    if "aggregate" in settings:
        return _aggregate(json.loads(str(line["output"])), settings)
    if settings.get("wer") == "corpus":
        return _words(line, settings)
    return _scored(line, settings)


def _scored(line: Mapping[str, object], settings: JsonObject) -> Mapping[str, object]:
    locale = settings.get("locale")
    locale = None if locale in (None, "none") else str(locale)
    outcome = Outcome(str(settings.get("run_outcome", "answered")))
    item = _item(line, settings, locale)
    scored = score(item, Answer(str(line["output"])), outcome, _settings(settings, locale, _profile(line, settings)))
    record = scored.record.to_json()
    got: dict[str, object] = {key: record[key] for key in _RECORD_KEYS}
    rules = record["rules"]
    got["reason"] = [rule["reason"] for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []
    got["flags"] = record["flags"]
    return got if scored.citations is None else {**got, **citation_results(scored.citations)}


def _profile(line: Mapping[str, object], settings: JsonObject) -> str:
    cites = line.get("reference_kind") == "citation" or "catalogue" in settings or "trap" in settings
    return str(settings.get("profile", "regulatory@1" if cites else "qa@1"))


def _item(line: Mapping[str, object], settings: JsonObject, locale: str | None) -> Item:
    tree: JsonObject = {
        "schema": "item/1",
        "id": str(line["id"]),
        "stratum": str(settings.get("stratum", "direct")),
        "query": str(line["question"]),
        "reference": reference_from_text(_map(line, "item_reference")),
    }
    if "trap" in settings:
        tree = {**tree, "trap": settings["trap"]}
    return parse_item(tree if locale is None else {**tree, "locale": locale}, where=str(line["id"]))


def _settings(given: JsonObject, locale: str | None, profile: str) -> Settings:
    base = default_settings(profile, locale)
    policies = {key: given[key] for key in sorted(_POLICIES & given.keys()) if given[key] is not None}
    if "tolerance" in policies:
        policies["tolerance"] = str(policies["tolerance"])
    out = replace(base, policies=base.policies.changed(read_policies(policies)))
    if given.get("normaliser"):
        out = replace(out, normaliser=str(given["normaliser"]))
    if "catalogue" in given:
        out = replace(out, catalogue=catalogue_from(_map(given, "catalogue")))
    if "null_tokens" in given:
        out = replace(out, null_tokens=tuple(str(token) for token in _list(given["null_tokens"])))
    return out


def _words(line: Mapping[str, object], settings: JsonObject) -> Mapping[str, object]:
    said, heard = _texts(line["reference"]), _texts(line["output"])
    if len(said) != len(heard):
        raise ValueError("as many transcripts as references are due")
    normalise = normaliser(str(settings.get("normaliser") or "asr-es@1"))
    folding = settings.get("fold_accents") is True

    def words(text: str) -> list[str]:
        plain = normalise(text)
        return (fold_accents(plain) if folding else plain).split()

    found = [count_words(words(one), words(other)) for one, other in zip(said, heard, strict=True)]
    errors, weight = sum(one.errors for one in found), sum(one.weight for one in found)
    return {
        "value": Fraction(errors, weight) if weight else None,
        "errors": errors,
        "weight": weight,
        "substitutions": sum(one.substitutions for one in found),
        "deletions": sum(one.deletions for one in found),
        "insertions": sum(one.insertions for one in found),
    }


def _texts(value: object) -> list[str]:
    try:
        tree = json.loads(str(value))
    except ValueError:
        return [str(value)]
    return [str(text) for text in tree] if isinstance(tree, list) else [str(value)]


def _aggregate(given: object, settings: JsonObject) -> Mapping[str, object]:
    kind, rows = settings["aggregate"], given if isinstance(given, list) else [given]
    if kind == "pooled":
        pairs = [(_int(_list(row)[0]), _int(_list(row)[1])) for row in rows]
        return {"value": pooled(pairs), "denominator": sum(total for _, total in pairs)}
    if kind == "effective_n":
        n = effective_n(_calls(given))
        return {"value": n, "effective_n": n, "denominator": n}
    if kind != "bounds":
        raise ValueError(f"aggregate {kind}")
    scores = [None if one is None else Fraction(str(one)) for one in rows]
    spread = bounded_mean(scores)
    cut = [at for at in map(_int, _list(settings.get("interrupted_items", []))) if scores[at] is None]
    known = [one for one in scores if one is not None]
    return {
        "bounds": None if spread is None else [spread.low, spread.high],
        "denominator": len(scores),
        "unscorable": len(scores) - len(known) - len(cut),
        "not_sent": len(cut),
        "finished": len(known),
        "correct": sum(one == 1 for one in known),
    }


def _calls(given: object) -> list[str]:
    # repeats in one list an item, an item's id a call, or a count of items with a count of repeats
    if isinstance(given, dict):
        return [str(at) for at in range(int(given["items"]))]
    rows = _list(given)
    return [str(at) if isinstance(row, list) else json.dumps(row) for at, row in enumerate(rows)]


def _map(tree: Mapping[str, object], key: str) -> JsonObject:
    value = tree.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{key}: an object is due")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list | tuple):
        raise ValueError("a list is due")
    return list(value)


def _int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("an integer is due")
    return value


def _word(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | int) else str(value)


def _option(text: str) -> str | bool | int:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isascii() and text.isdigit() else text
