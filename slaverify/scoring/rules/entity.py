"""`entity@1`: a name. Equal to the value or an alias after the normaliser, in whole tokens, never a substring.

Asserted whole inside a longer answer it is undetermined, because a list or a dump would hold it too; negated or
absent it is wrong. An identifier with a check digit is compared without its dots and hyphens.

Source: docs/spec/scoring.md section 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from slaverify.evalset import EntityReference
from slaverify.scoring.assertion import Assertion, assertion
from slaverify.scoring.folding import fold
from slaverify.scoring.identifiers import canonical_identifier
from slaverify.scoring.normalisers import normal_pair, normaliser
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.resolution import Finding
from slaverify.scoring.result import Span
from slaverify.scoring.rules.task import Task

NAME = "entity@1"

_BRACKETED = re.compile(r"([^()]{1,400}?)\s?\(([^()]{1,400})\)\.?")
_TOKEN = re.compile(r"\S+")
_EITHER = re.compile(r"\s(?:o|u|or|y/o|and/or)\s(?:bien\s|quizas?\s|tal\svez\s|maybe\s|perhaps\s)?|\s?/\s?|\s?\|\s?")
_LISTED = re.compile(r"[,;\n•]|\s(?:y|e|and)\s|\n\s?[-*]\s|\n?\s?[0-9]{1,2}[.)]\s")
_CONNECTIVE = re.compile(
    r"(?:segun|conforme|de|del|en|por|que|como|para|con|sin|ya|pues|donde|cuyo|cuya|quien|la cual|el cual|according"
    r"|as|which|who|where|because|per|in|of|on|under|es|is|art|articulo)\b"
)
_MAX_ELEMENT_WORDS = 8


def judge(task: Task, reference: EntityReference) -> Finding | None:
    """Return what the answer comes to; an empty answer never gets here."""
    names = (reference.value, *reference.aliases)
    if reference.identifier is not None:
        return _identifier(task, names, reference.identifier)
    text = task.passage.text
    normalise = normaliser(task.settings.normaliser)
    folding = task.settings.policies.fold_accents
    for name in names:
        comparable = normal_pair(normalise, name, folding)
        if comparable(text) == comparable(name):
            return Finding(Correctness.CORRECT, Reason.EQUAL, None)
    if _named_twice(task, names):
        return Finding(Correctness.CORRECT, Reason.EQUAL, None)
    inside = [found for name in names for found in whole_tokens(task, name)]
    if not inside:
        return Finding(Correctness.INCORRECT, Reason.ABSENT, None)
    if all(how is Assertion.NEGATED for _, how in inside):
        return Finding(Correctness.INCORRECT, Reason.NEGATED, None)
    if _one_of_several(task, names):
        return Finding(Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, None)
    return Finding(Correctness.UNDETERMINED, Reason.ASSERTED_INSIDE, None)


def _named_twice(task: Task, names: Sequence[str]) -> bool:
    # "Dirección de Tránsito (DT)": the name and, in brackets, another name of it
    match = _BRACKETED.fullmatch(task.passage.text.strip())
    if match is None:
        return False
    normalise, folding = normaliser(task.settings.normaliser), task.settings.policies.fold_accents
    pairs = [(normal_pair(normalise, name, folding), name) for name in names]
    return all(any(same(part) == same(name) for same, name in pairs) for part in match.groups())


def whole_tokens(task: Task, name: str) -> list[tuple[Span, Assertion]]:
    """Return where `name` stands in the answer in whole tokens, each with how it is asserted."""
    normalise = normaliser(task.settings.normaliser)
    comparable = normal_pair(normalise, name, task.settings.policies.fold_accents)
    wanted = comparable(name).split()
    passage = task.passage
    out: list[tuple[Span, Assertion]] = []
    for clause in passage.clauses or (Span(0, len(passage.text)),):
        tokens = [
            (match.start(), match.end(), word)
            for match in _TOKEN.finditer(passage.text, clause.start, clause.end)
            for word in comparable(match.group()).split() or ([] if match.group() else [""])
        ]
        words = [word for _, _, word in tokens]
        for at in _positions(words, wanted):
            span = Span(tokens[at][0], tokens[at + len(wanted) - 1][1])
            out.append((span, assertion(passage, span)))
    return out


def _positions(words: Sequence[str], wanted: Sequence[str]) -> list[int]:
    if not wanted:
        return []
    first, size = wanted[0], len(wanted)
    return [
        at for at in range(len(words) - size + 1) if words[at] == first and list(words[at : at + size]) == list(wanted)
    ]


def _one_of_several(task: Task, names: Sequence[str]) -> bool:
    # "X o Y" offers two; "X, Y y Z" is a list if its elements are names and not the rest of a sentence
    text, folded = task.passage.text, task.passage.folded
    if _is_element(task, names, _pieces(text, folded, _EITHER), ends=True):
        return True
    pieces = _pieces(text, folded, _LISTED)
    named = any(name[:1].isupper() for name in names)
    return all(_is_name(piece.strip(), named) for piece in pieces) and _is_element(task, names, pieces, ends=False)


def _is_name(piece: str, capital: bool) -> bool:
    first = re.sub(r"^(?:el|la|los|las|the)\s", "", piece)[:1]
    short = len(piece.split()) <= _MAX_ELEMENT_WORDS and not _CONNECTIVE.match(fold(piece))
    return short and (not capital or first.isupper() or first.isdigit())


def _is_element(task: Task, names: Sequence[str], pieces: list[str], *, ends: bool) -> bool:
    # with `ends`, the first element may carry the sentence before it and the last one what follows
    if len(pieces) < 2:
        return False
    normalise, folding = normaliser(task.settings.normaliser), task.settings.policies.fold_accents
    for name in names:
        comparable = normal_pair(normalise, name, folding)
        wanted = comparable(name)
        found = [comparable(piece) for piece in pieces]
        if wanted in found:
            return True
        if ends and (found[0].endswith(" " + wanted) or found[-1].startswith(wanted + " ")):
            return True
    return False


def _pieces(text: str, folded: str, pattern: re.Pattern[str]) -> list[str]:
    out: list[str] = []
    start = 0
    for match in pattern.finditer(folded):
        out.append(text[start : match.start()])
        start = match.end()
    out.append(text[start:])
    return [piece for piece in out if any(character.isalnum() for character in piece)]


def _identifier(task: Task, names: Sequence[str], scheme: str) -> Finding:
    wanted = {canonical_identifier(name, scheme) for name in names} - {None}
    found = canonical_identifier(task.passage.text, scheme)
    if found is not None and found in wanted:
        return Finding(Correctness.CORRECT, Reason.EQUAL, None)
    inside = {
        canonical_identifier(match.group().strip(".,;:()"), scheme) for match in _TOKEN.finditer(task.passage.text)
    }
    inside.discard(None)
    if len(inside) > 1:
        return Finding(Correctness.INCORRECT, Reason.MULTIPLE_ANSWERS, None)
    if inside & wanted:
        return Finding(Correctness.UNDETERMINED, Reason.ASSERTED_INSIDE, None)
    return Finding(Correctness.INCORRECT, Reason.OTHER_VALUE if inside else Reason.ABSENT, None)
