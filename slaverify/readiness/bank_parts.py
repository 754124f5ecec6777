"""Gold and mutants of profiles that count parts: documents as JSON, transcripts as speech, encounters as code lists.

A mutant differs in what decides an item: a critical field where the contract names some, more words than the
tolerance, a code or the order of the principal one.

Source: docs/spec/bank-check.md sections 3 and 4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import TypeAdapter, ValidationError

from slaverify.evalset import EntityReference, Item, JsonReference, Reference, SetReference, TextReference
from slaverify.scoring import Settings, profile

Notations = Callable[[Reference, str | None], list[str]]
_REFERENCE: TypeAdapter[Reference] = TypeAdapter(Reference)
_STRANGE = "zárate"
_CODE = "Z99.9"
_FIELDS = 4


def part_renderings(item: Item, settings: Settings, locale: str | None, notations: Notations) -> list[str]:
    """Return the reference as answers of this profile's form; none where the item is the unit."""
    unit, reference = profile(settings.profile).unit, item.reference
    if unit == "field" and isinstance(reference, JsonReference):
        trees = [_document(reference.value, at, locale, notations) for at in (0, -1)]
        texts = [json.dumps(tree, ensure_ascii=False) for tree in trees]
        return list(dict.fromkeys([*texts, json.dumps(_without_null(trees[0]), ensure_ascii=True, indent=1)]))
    if unit == "word" and isinstance(reference, TextReference):
        bare = re.sub(r"(?<![0-9])[.,;:!?¿¡«»\"()]+|[.,;:!?¿¡«»\"()]+(?![0-9])", " ", reference.value)
        return list(dict.fromkeys([reference.value, reference.value.lower(), " ".join(bare.split()).lower()]))
    codes = _codes(reference)
    if unit == "code" and codes:
        return [", ".join(codes), json.dumps(codes), "\n".join(code.lower() for code in codes)]
    return []


def part_mutants(item: Item, settings: Settings, locale: str | None, notations: Notations) -> list[str]:
    """Return wrong answers of this profile's form; none where the item is the unit."""
    unit, reference = profile(settings.profile).unit, item.reference
    if unit == "field" and isinstance(reference, JsonReference):
        found = _documents(reference.value, settings, locale, notations)
    elif unit == "word" and isinstance(reference, TextReference):
        found = _transcripts(reference.value, settings)
    elif unit == "code" and (codes := _codes(reference)):
        found = _encounters(codes)
    else:
        return []
    return list(dict.fromkeys(found))


def _document(due: object, at: int, locale: str | None, notations: Notations) -> object:
    if isinstance(due, Mapping) and due.get("kind") == "rows":
        return _document(due.get("value"), at, locale, notations)
    if isinstance(due, Mapping) and "kind" in due:
        try:
            found = notations(_REFERENCE.validate_python(due), locale)
        except ValidationError:
            return None
        # the second notation is a sentence, which no field holds
        return found[0 if at == 0 else -1] if found and due["kind"] != "none" else None
    if isinstance(due, Mapping):
        return {str(key): _document(value, at, locale, notations) for key, value in due.items()}
    if isinstance(due, Sequence) and not isinstance(due, str):
        return [_document(value, at, locale, notations) for value in due]
    return due


def _without_null(tree: object) -> object:
    if isinstance(tree, dict):
        return {key: _without_null(value) for key, value in tree.items() if value is not None}
    return tree


def _documents(due: object, settings: Settings, locale: str | None, notations: Notations) -> Iterator[str]:
    right = _document(due, 0, locale, notations)
    if not isinstance(right, dict):
        return
    decisive = [key for key in right if not settings.critical_fields or key in settings.critical_fields]
    for key in decisive[:_FIELDS]:
        others: tuple[object, ...] = (_STRANGE, None) if right[key] is not None else (_STRANGE, 0)
        for other in others:
            yield json.dumps({**right, key: other}, ensure_ascii=False)
        if isinstance(right[key], str):
            yield json.dumps({**right, key: f"{right[key]} o {_STRANGE}"}, ensure_ascii=False)
            yield json.dumps({**right, key: [right[key], _STRANGE]}, ensure_ascii=False)
    whole = json.dumps(right, ensure_ascii=False)
    yield whole[:-1]
    yield f"[{whole}]"
    yield f"{whole} {_STRANGE}"
    yield json.dumps(whole)


def _transcripts(said: str, settings: Settings) -> Iterator[str]:
    words = said.split()
    more = int(settings.policies.tolerance * len(words) * 2) + 1
    extra = [_STRANGE] * more
    yield " ".join([*words, *extra])
    yield " ".join([*extra, *words])
    yield " ".join([*words[:1], *extra, *words[1:]])
    yield " ".join([*extra, *words[more:]])
    yield " ".join([*words[:-more], *extra]) if more < len(words) else " ".join(extra)
    yield " ".join(extra * 2)


def _encounters(codes: Sequence[str]) -> Iterator[str]:
    yield ", ".join([*codes, _CODE])
    yield ", ".join([_CODE, *codes])
    yield ", ".join([_CODE, *codes[1:]])
    yield f"{codes[0]} o {_CODE}" + "".join(f", {code}" for code in codes[1:])
    yield f"No presenta {' ni '.join(codes)}"
    yield _CODE
    if len(codes) > 1:
        yield ", ".join(codes[1:])
        yield ", ".join(codes[:-1])
        yield ", ".join(reversed(codes))


def _codes(reference: Reference) -> list[str]:
    members = reference.value if isinstance(reference, SetReference) else ()
    return [member.value for member in members if isinstance(member, EntityReference)]
