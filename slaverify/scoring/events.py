"""The integrity events that the flags of one answer stand for.

Source: docs/spec/scoring.md section 2 and docs/spec/score-record.md (events).
"""

from __future__ import annotations

from slaverify.scoring.record import Event

_MANIPULATION = frozenset({"hidden_text", "mixed_script_identifier", "bidi", "injection_suspected", "markup"})
_FORMAT = {
    "overlong": "overlong_answer",
    "wrong_language": "wrong_language",
    "ambiguous_number": "ambiguous_number",
    "blank_answer": "blank_answer",
    "phantom_citation": "phantom_citation",
    "undeclared_citation": "undeclared_citation",
    "citation_cap": "citation_cap",
    "temporal_violation": "temporal_violation",
    "fabricated_quote": "fabricated_quote",
}


def events_of(flags: set[str], confirmed: frozenset[str]) -> tuple[Event, ...]:
    """Return the events of `flags`, by code; those of `confirmed` are more than a suspicion."""
    found = [Event(flag, "manipulation", flag in confirmed) for flag in flags & _MANIPULATION]
    found += [Event(_FORMAT[flag], "format", True) for flag in flags & _FORMAT.keys()]
    return tuple(sorted(found, key=lambda event: event.code))
