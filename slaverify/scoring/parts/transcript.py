"""`speech@1`: the words of a transcript. Errors are counted against words; names and figures are judged apart.

A segment is correct if its errors are at most the policy `tolerance` times its words. Who speaks is not measured.

Source: docs/spec/scoring.md section 9 (`speech@1`); jiwer 4.0 for the alignment.
"""

from __future__ import annotations

import re
from decimal import Decimal

from slaverify.evalset import Item, NoneReference, TextReference
from slaverify.scoring.normalisers import fold_accents, normaliser
from slaverify.scoring.parts.found import Parts, part
from slaverify.scoring.reasons import Reason
from slaverify.scoring.record import Correctness
from slaverify.scoring.settings import Settings
from slaverify.scoring.words import WordCounts, count_words

RULE = "words@1"
NAMES = "names-and-figures@1"
_WORD = re.compile(r"[^\W_][\w'’.-]*")
_SENTENCE_END = re.compile(r"[.!?…:]\s*[\"'»”)]?\s*[¿¡\"'«“(—-]*\s*$")


def weight_of(item: Item, settings: Settings) -> int:
    """Return the words of the reference, normalised; 0 for a silence."""
    reference = item.reference
    return len(_words(reference.value, settings)) if isinstance(reference, TextReference) else 0


def parts_of(item: Item, text: str, bare: str, settings: Settings) -> Parts | None:
    """Align the transcript with its reference, the nearest of `accepted`; null for another kind of reference."""
    reference = item.reference
    heard = _words(text, settings)
    if isinstance(reference, NoneReference):
        wrong = Correctness.INCORRECT if heard else Correctness.CORRECT
        reason = Reason.INVENTED_VALUE if heard else Reason.EQUAL
        return Parts(wrong, (part(RULE, wrong, reason, "words"),), errors=len(heard))
    if not isinstance(reference, TextReference):
        return None
    said = [reference.value, *reference.aliases]
    said += [other.value for other in reference.accepted if isinstance(other, TextReference)]
    counted = [(count_words(_words(one, settings), heard), one) for one in said]
    found, best = min(counted, key=lambda row: row[0].errors)
    return _judged(found, best, settings)


def _judged(found: WordCounts, said: str, settings: Settings) -> Parts:
    allowed = settings.policies.tolerance * found.weight
    right = Decimal(found.errors) <= allowed
    correctness = Correctness.CORRECT if right else Correctness.INCORRECT
    reason = Reason.EQUAL if not found.errors else Reason.WITHIN_TOLERANCE if right else Reason.OTHER_WORDS
    counts = f"S{found.substitutions} D{found.deletions} I{found.insertions} N{found.weight}"
    traces = [part(RULE, correctness, reason, "words", got=counts)]
    words = _words(said, settings)
    marked = [at for at in found.missed if words[at] in _names(said, settings) or _is_figure(words[at])]
    named = Correctness.INCORRECT if marked else Correctness.CORRECT
    got = " ".join(words[at] for at in marked) or None
    traces.append(part(NAMES, named, Reason.OTHER_VALUE if marked else Reason.EQUAL, "names and figures", got=got))
    return Parts(correctness, tuple(traces), errors=found.errors)


def _words(text: str, settings: Settings) -> list[str]:
    plain = normaliser(settings.normaliser)(text)
    return (fold_accents(plain) if settings.policies.fold_accents else plain).split()


def _names(said: str, settings: Settings) -> frozenset[str]:
    # a capital that no start of a sentence explains
    found: set[str] = set()
    for match in _WORD.finditer(said):
        before = said[: match.start()]
        starts = not before.strip() or _SENTENCE_END.search(before[-12:]) is not None
        if match.group()[0].isupper() and not starts:
            found.update(_words(match.group(), settings))
    return frozenset(found)


def _is_figure(word: str) -> bool:
    return any("0" <= character <= "9" for character in word)
