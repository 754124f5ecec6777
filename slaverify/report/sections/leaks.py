"""Part of section 7: what the leak tests used, found and could have seen; said also where nothing was tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, integer, objects, text, texts
from slaverify.report.words import (
    Node,
    bullets,
    code,
    column,
    heading,
    listing,
    paragraph,
    real,
    say,
    share,
    table,
)

WORDS = frozenset({"signal", "no_signal", "not_evaluable"})
REASONS = frozenset({"not_agreed", "nothing_to_draw", "nothing_decided"})
TESTS = frozenset({"anchors", "twins", "honeytokens"})
_DUE = real("0.80", 2)
"""Power with which the least advantage of a test is seen."""


def leaks(facts: Facts) -> Iterator[Node]:
    """Yield the blocks of the leak tests."""
    yield heading("leak.title", 3)
    found = facts.integrity
    if found is None:
        yield paragraph("leak.not_agreed" if not agreed(facts) else "leak.not_scored", id="leaks")
        return
    word = text(found, "integrity")
    yield paragraph(f"leak.word.{word}" if word in WORDS else "leak.not_scored", id="leaks", style="lead")
    tests = [one for one in objects(found.get("tests")) if one.get("name") in TESTS]
    columns = [column("leak_test", width=22), column("leak_data"), column("leak_p", width=24), column("leak_seen")]
    rows: list[list[JsonValue]] = [[_name(one), _data(one), _p(one), _seen(one)] for one in tests]
    yield table(say("leak.table", alpha=share(text(found, "alpha"), "exact")), columns, rows, id="leak-tests")
    yield bullets(_remarks(tests))


def agreed(facts: Facts) -> bool:
    """Tell whether the contract asks for any arm."""
    arms = facts.agreed("evaluation_set.sample.arms")
    return isinstance(arms, Mapping) and any(arms.values())


def _name(test: JsonObject) -> Node:
    return say(f"leak.name.{test['name']}")


def _data(test: JsonObject) -> Node:
    if test.get("p") is None:
        reason = test.get("reason")
        return say(f"leak.reason.{reason}") if reason in REASONS else say("leak.not_scored")
    counts: dict[str, JsonValue] = {key: value for key, value in test.items() if type(value) is int}
    return say(f"leak.data.{test['name']}", **{**counts, "hits": len(texts(test.get("repeated")))})


def _p(test: JsonObject) -> Node:
    p, adjusted = test.get("p"), test.get("p_adjusted")
    if not isinstance(p, str) or not isinstance(adjusted, str):
        return say("leak.not_measured")
    return say("leak.p", p=real(p, 4), adjusted=real(adjusted, 4))


def _seen(test: JsonObject) -> Node:
    if test.get("p") is None:
        return say("leak.not_measured")
    if test["name"] == "honeytokens":
        needed = test.get("hits_needed")
        return say("leak.needs", hits=needed) if isinstance(needed, int) else say("leak.needs_more")
    room = _room(test)
    if room < 1:
        return say("leak.no_room")
    points, power = test.get("seen"), real(text(test, "power_10"), 2)
    if not isinstance(points, int):
        return say("leak.sees_none", gain=min(10, room), power=power, due=_DUE)
    return say("leak.sees", points=points, gain=min(10, room), power=power, due=_DUE)


def _room(test: JsonObject) -> int:
    """Return by how many points already sent questions could do better than new ones at all."""
    if test["name"] != "anchors":
        return 100
    fresh = integer(test, "fresh_n")
    return 100 * (fresh - integer(test, "fresh_right")) // max(1, fresh)


def _remarks(tests: list[JsonObject]) -> Iterator[Node]:
    # of a pair of twins both are asked
    sent = sum(integer(one, "drawn") * (2 if one["name"] == "twins" else 1) for one in tests)
    yield say("leak.sent", n=sent)
    for one in tests:
        if integer(one, "drawn") < integer(one, "agreed"):
            yield say("leak.short", test=_name(one), drawn=one["drawn"], agreed=one["agreed"])
        if integer(one, "undecided"):
            yield say("leak.undecided", test=_name(one), undecided=one["undecided"])
        repeated = texts(one.get("repeated"))
        if repeated:
            yield say("leak.repeated", items=listing([code(name) for name in repeated], "and"))
    yield say("leak.effect")
    yield say("leak.residue")
