"""What the votes say of the instrument: `judging/panel.json`, a pure function of contract and `judgements.jsonl`.

Sentinels, drift, repeats, differential, counterfactual and shadow judgements, agreement among members. Anybody who
holds the public edition computes it again.

Source: docs/spec/judging.md section 7.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from slaverify.canonical import JsonObject, JsonValue, real9
from slaverify.contract.model.judge import Judge
from slaverify.errors import StatisticsError
from slaverify.judging.by_facts import is_grounded
from slaverify.judging.criteria import criterion_digest, probes_digest
from slaverify.judging.identity import judge_digest, member_identity
from slaverify.judging.records import FailureKind, Purpose, Vote
from slaverify.judging.rubrics import rubric_of
from slaverify.judging.sentences import splitter_digest
from slaverify.judging.sentinels import BASELINE_PASSES, KNOWN_WRONG, max_drift
from slaverify.judging.trivial import trivial_report

PANEL_TYPE = "slaverify/panel/1"

_Key = tuple[str, str | None, str]
"""A sentinel, a criterion and what was asked of it."""
_Asked = tuple[tuple[str, int, str], str | None, tuple[str, ...]]
"""An answer, a criterion and the fields asked: under `facts@1` an answer is asked twice."""


def panel_json(judge: Judge, votes: Sequence[Vote]) -> JsonObject:
    """Return `judging/panel.json`. Raises: JudgeError as `rubric_of`."""
    sentinels = [sentinel_report(judge, member.id, votes) for member in judge.panel]
    mismatches = sum(vote.failure == FailureKind.IDENTITY_MISMATCH for vote in votes)
    drifted = mismatches > 0 or not sentinels or any(one["drift"] is not False for one in sentinels)
    found = rubric_of(judge)
    criteria: list[JsonValue] = [
        {
            "id": one.id,
            "version": one.version,
            "digest": criterion_digest(one),
            "probes_digest": probes_digest(one),
            "tier": one.tier,
        }
        for one in judge.criteria
    ]
    members: list[JsonValue] = [_member(judge, member.id, votes) for member in judge.panel]
    return {
        "type": PANEL_TYPE,
        "judge_digest": judge_digest(judge),
        "rubric": {"name": found.name, "digest": found.digest},
        "criteria": criteria,
        "splitter": splitter_digest(),
        "aggregation": judge.aggregation,
        "members": members,
        "calls": _calls(votes),
        "sentinels": list(sentinels),
        "identity_mismatches": mismatches,
        "drift": drifted,
        "trivial": list(trivial_report(judge, votes)),
        "repeats": _repeats(judge, votes),
        "differential": _pairs(votes, (Purpose.RAW, Purpose.CUT)),
        "counterfactual": _counterfactual(votes),
        "shadow": _shadow(votes),
        "agreement": _agreement(judge, votes),
    }


def sentinel_report(judge: Judge, member: str, votes: Iterable[Vote]) -> dict[str, JsonValue]:
    """Return what the sentinels say of one member: wrong ones let through, the stable set, changes, drift.

    `drift` is true unless the whole set was asked before and after and no pass changed more than `max_drift`.
    """
    asked = [vote for vote in votes if vote.purpose is Purpose.SENTINEL and vote.member == member]
    baseline: dict[_Key, list[Vote]] = defaultdict(list)
    for vote in asked:
        if vote.vote < BASELINE_PASSES:
            baseline[_key(vote)].append(vote)
    stable = {key: own[0].values for key, own in baseline.items() if _agree(own)}
    flips = len(baseline) - len(stable)
    last = max((vote.vote for vote in asked), default=0)
    during = [vote for vote in asked if BASELINE_PASSES <= vote.vote < last]
    after = [vote for vote in asked if vote.vote == last >= BASELINE_PASSES]
    passes = [[vote for vote in during if _key(vote) in stable], [vote for vote in after if _key(vote) in stable]]
    changes = [sum(vote.values != stable[_key(vote)] for vote in one) for one in passes]
    limit = judge.sentinels.max_drift
    if limit is None:
        limit = max_drift(len(stable), flips, len(baseline)) if baseline else 0
    complete = bool(baseline) and {_key(vote) for vote in after} >= set(baseline)
    let_through = [sum(_let_through(vote) for vote in one) for one in (_first(baseline), during, after)]
    drift = not complete or max(changes) > limit or max(let_through[1:]) > judge.sentinels.max_wrong + _before(baseline)
    return {
        "member": member,
        "sentinels": len(baseline),
        "known_wrong": sum(own[0].known == KNOWN_WRONG for own in baseline.values()),
        "let_through_before": let_through[0],
        "let_through_during": let_through[1],
        "let_through_after": let_through[2],
        "not_as_expected": sum(own[0].right is not True for own in baseline.values()),
        "stable": len(stable),
        "flips": flips,
        "max_drift": limit,
        "changes_during": changes[0],
        "changes_after": changes[1],
        "complete": complete,
        "drift": drift,
    }


def unfit_before(judge: Judge, votes: Sequence[Vote]) -> str | None:
    """Return why a judge must not be used, from its baseline alone: one word, or null.

    `identity_mismatch`, `known_wrong_passed` (more than `max_wrong` let through), `one_verdict` for all sentinels.
    """
    asked = [vote for vote in votes if vote.purpose is Purpose.SENTINEL and vote.vote < BASELINE_PASSES]
    if any(vote.failure == FailureKind.IDENTITY_MISMATCH for vote in asked):
        return "identity_mismatch"
    for member in judge.panel:
        first = [vote for vote in asked if vote.member == member.id and vote.vote == 0]
        if sum(_let_through(vote) for vote in first) > judge.sentinels.max_wrong:
            return "known_wrong_passed"
        said = {_word(vote) for vote in first if vote.values is not None}
        if len(first) > 1 and len(said) <= 1:
            return "one_verdict"
    return None


def unstable(panel: JsonObject) -> frozenset[str | None]:
    """Return the criteria whose flip rate is above its cap; null stands for a rubric without criteria."""
    rows = panel.get("repeats")
    found = rows if isinstance(rows, list) else []
    return frozenset(
        None if row.get("criterion") is None else str(row["criterion"])
        for row in found
        if isinstance(row, dict) and row.get("within_cap") is not True
    )


def _key(vote: Vote) -> _Key:
    return vote.subject, vote.criterion, "/".join(vote.asked)


def _asked(vote: Vote) -> _Asked:
    return vote.answer_key, vote.criterion, vote.asked


def _agree(own: Sequence[Vote]) -> bool:
    return len(own) == BASELINE_PASSES and own[0].values is not None and all(v.values == own[0].values for v in own)


def _first(baseline: Mapping[_Key, Sequence[Vote]]) -> list[Vote]:
    return [vote for own in baseline.values() for vote in own if vote.vote == 0]


def _before(baseline: Mapping[_Key, Sequence[Vote]]) -> int:
    return sum(_let_through(vote) for vote in _first(baseline))


def _let_through(vote: Vote) -> bool:
    return vote.known == KNOWN_WRONG and vote.right is False


def _word(vote: Vote) -> str:
    return str(sorted((vote.values or {}).items()))


def _member(judge: Judge, name: str, votes: Sequence[Vote]) -> JsonObject:
    own = [vote for vote in votes if vote.member == name]
    items = Counter(_word_of(vote) for vote in own if vote.purpose is Purpose.ITEM)
    prints: Sequence[JsonValue] = sorted({vote.fingerprint for vote in own if vote.fingerprint is not None})
    identity = next(member_identity(member) for member in judge.panel if member.id == name)
    return {**identity, "fingerprints": prints, "said": dict(sorted(items.items()))}


def _word_of(vote: Vote) -> str:
    if vote.values is None:
        return vote.failure or "missing"
    return " ".join(str(value) for _, value in sorted(vote.values.items()) if not isinstance(value, list))


def _calls(votes: Sequence[Vote]) -> JsonObject:
    distinct = {vote.key: vote for vote in votes if vote.key is not None}
    failures = Counter(vote.failure for vote in votes if vote.failure is not None)
    parsed_at = Counter(str(vote.attempts) for vote in distinct.values() if vote.values is not None)
    return {
        "due": len(votes),
        "distinct": len(distinct),
        "attempts": sum(vote.attempts for vote in distinct.values()),
        "by_purpose": dict(sorted(Counter(vote.purpose.value for vote in votes).items())),
        "failures": dict(sorted(failures.items())),
        "parsed_at_attempt": dict(sorted(parsed_at.items())),
        "alarms": dict(sorted(Counter(alarm for vote in votes for alarm in vote.alarms).items())),
    }


def _repeats(judge: Judge, votes: Sequence[Vote]) -> list[JsonValue]:
    again: dict[tuple[_Asked, str], list[Vote]] = defaultdict(list)
    first: dict[tuple[_Asked, str], Vote] = {}
    for vote in votes:
        where = _asked(vote), vote.member
        if vote.purpose is Purpose.REPEAT:
            again[where].append(vote)
        elif vote.purpose is Purpose.ITEM and vote.vote == 0:
            first[where] = vote
    groups: dict[str | None, list[list[Vote]]] = defaultdict(list)
    for where, own in again.items():
        if where in first:
            groups[first[where].criterion].append([first[where], *own])
    return [_flips(judge, name, groups[name]) for name in sorted(groups, key=lambda name: name or "")]


def _flips(judge: Judge, criterion: str | None, rows: Sequence[Sequence[Vote]]) -> JsonObject:
    from slaverify.statistics import exact_bound

    whole = [row for row in rows if all(vote.values is not None for vote in row)]
    flipped = sum(len({_word(vote) for vote in row}) > 1 for row in whole)
    tier = next((one.tier for one in judge.criteria if one.id == criterion), "compliance")
    cap = getattr(judge.repeats.max_flip_rate, tier)
    limit = exact_bound(flipped, len(whole), 0.95).high if whole else None
    return {
        "criterion": criterion,
        "answers": len(rows),
        "complete": len(whole),
        "flipped": flipped,
        "upper": None if limit is None else real9(limit),
        "cap": format(cap, "f"),
        "within_cap": limit is not None and limit <= float(cap),
        "icc": _icc(whole),
    }


def _icc(rows: Sequence[Sequence[Vote]]) -> str | None:
    from slaverify.statistics import icc_one_way

    matrix = [[(vote.values or {}).get("score") for vote in row] for row in rows]
    numbers = [[float(one) for one in row if isinstance(one, int)] for row in matrix]
    if len(numbers) < 2 or any(len(row) != len(rows[0]) for row in numbers):
        return None
    try:
        found = icc_one_way(numbers).icc
    except StatisticsError:
        return None
    return None if found is None else real9(found)


def _pairs(votes: Sequence[Vote], purposes: tuple[Purpose, ...]) -> JsonObject:
    """Count the copies of each purpose, and those whose values differ from the same member's first vote."""
    first = {
        (vote.answer_key, vote.criterion, vote.member, vote.asked): vote
        for vote in votes
        if vote.purpose is Purpose.ITEM and vote.vote == 0
    }
    counts: dict[str, JsonValue] = {}
    for purpose in purposes:
        own = [vote for vote in votes if vote.purpose is purpose]
        both = [(vote, first.get((vote.answer_key, vote.criterion, vote.member, vote.asked))) for vote in own]
        compared = [(one, other) for one, other in both if other is not None and None not in (one.values, other.values)]
        counts[purpose.value] = len(own)
        counts[f"{purpose.value}_differ"] = sum(one.values != other.values for one, other in compared)
    return counts


def _shadow(votes: Sequence[Vote]) -> JsonObject:
    own = [vote for vote in votes if vote.purpose is Purpose.SHADOW]
    said = [vote.right for vote in own if vote.right is not None]
    return {"asked": len(own), "compared": len(said), "against_code": said.count(False)}


def _counterfactual(votes: Sequence[Vote]) -> JsonObject:
    own = [vote for vote in votes if vote.purpose is Purpose.COUNTERFACTUAL and vote.values is not None]
    first = {(_asked(vote), vote.member): vote for vote in votes if vote.purpose is Purpose.ITEM and vote.vote == 0}
    insensitive = 0
    for vote in own:
        before = first.get((_asked(vote), vote.member))
        insensitive += before is not None and _carried(before.values) and _carried(vote.values)
    return {"asked": len(own), "judge_insensitive": insensitive}


def _carried(values: JsonObject | None) -> bool:
    """Say whether a reply finds the answer carried by the official text that was shown."""
    said = values or {}
    labels = said.get("sentences")
    supported = isinstance(labels, list | tuple) and "supported" in labels
    return said.get("correctness") == "correct" or (supported and is_grounded(said, require_supported=True))


def _agreement(judge: Judge, votes: Sequence[Vote]) -> list[JsonValue]:
    said: dict[str, dict[tuple[tuple[str, int, str], str | None, tuple[str, ...]], str]] = defaultdict(dict)
    for vote in votes:
        if vote.purpose is Purpose.ITEM and vote.vote == 0 and vote.values is not None:
            said[vote.member][vote.answer_key, vote.criterion, vote.asked] = _word(vote)
    rows: list[JsonValue] = []
    for one, other in combinations([member.id for member in judge.panel], 2):
        shared = said[one].keys() & said[other].keys()
        equal = sum(said[one][key] == said[other][key] for key in shared)
        rows.append({"members": [one, other], "answers": len(shared), "equal": equal})
    return rows
