"""Part of section 5: what the exchanges have in common, and what was seen in single answers. It decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report.facts import Facts, integer, objects, text, texts
from slaverify.report.words import Node, code, column, heading, paragraph, say, table

SIGNALS = frozenset(
    {
        *("constant_output", "duplicate_answer_bytes", "constant_confidence", "partial_body", "latency_ceiling"),
        *("identical_answers", "cached_repeat", "input_cut", "late", "outside_window"),
        *("drift_echo", "drift_fingerprint", "drift_spki"),
    }
)
EVENTS = frozenset(
    {
        *("injection_suspected", "hidden_text", "bidi", "markup", "mixed_script_identifier", "judge_swayed"),
        *("overlong_answer", "wrong_language", "ambiguous_number", "blank_answer", "phantom_citation"),
        *("undeclared_citation", "citation_cap", "temporal_violation", "fabricated_quote", "access_violation"),
        *("unfetched_evidence", "declared_trace_only"),
    }
)


def signals(facts: Facts) -> Iterator[Node]:
    """Yield the signals of the run and the events of its answers."""
    yield heading("item.signals", 3)
    if facts.signals is None:
        yield paragraph("absent.signals", id="signals")
    else:
        yield from _signals(facts, facts.signals)
    if facts.scores is not None:
        yield from _events(facts.scores)


def _signals(facts: Facts, stored: JsonObject) -> Iterator[Node]:
    found = objects(stored.get("signals"))
    if not found:
        yield paragraph("signal.none", id="signals")
        return
    binding = texts(facts.agreed("verdict.integrity.binding_patterns"))
    columns = [column("signal"), column("exchanges", "right", 14), column("questions", "right", 14)]
    columns += [column("order", width=24), column("signal_effect", width=16)]
    yield table(say("signal.table"), columns, [_signal(one, binding) for one in found], id="signals")
    yield paragraph("signal.meaning", style="note")


def _signal(one: JsonObject, binding: list[str]) -> list[JsonValue]:
    word = text(one, "code")
    listed = one.get("positions")
    # The order is counted from 1 on the page.
    places = [at + 1 for at in listed if type(at) is int] if isinstance(listed, list | tuple) else []
    name = say(f"signal.word.{word}") if word in SIGNALS else code(word)
    where = say("signal.order", first=min(places, default=0), last=max(places, default=0))
    effect = say("signal.binds" if word in binding else "signal.told")
    return [name, len(places), integer(one, "items"), where, effect]


def _events(scores: tuple[JsonObject, ...]) -> Iterator[Node]:
    seen: Counter[tuple[str, str]] = Counter()
    shown: Counter[tuple[str, str]] = Counter()
    for line in scores:
        # Patterns stand in the table of signals.
        for one in objects(line.get("events")):
            if one.get("code") in SIGNALS:
                continue
            kind = (text(one, "level"), text(one, "code"))
            seen[kind] += 1
            shown[kind] += one.get("confirmed") is True
    if not seen:
        yield paragraph("event.none", id="events-seen")
        return
    columns = [column("event_seen"), column("confirmed", "right", 20), column("suspected", "right", 20)]
    rows: list[list[JsonValue]] = [[_event(kind[1]), shown[kind], seen[kind] - shown[kind]] for kind in sorted(seen)]
    yield table(say("event.table"), columns, rows, id="events-seen")
    yield paragraph("event.meaning", style="note")


def _event(word: str) -> Node:
    return say(f"event.word.{word}") if word in EVENTS else code(word)
