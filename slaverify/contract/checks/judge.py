"""The judge: independent of the engine, pinned, with something to ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from slaverify.contract.blocks import Blocks
from slaverify.contract.checks.endpoint import address
from slaverify.contract.checks.families import called, families_called, family_of_name
from slaverify.contract.findings import Finding, Path, short
from slaverify.contract.model.judge import Judge
from slaverify.errors import Text

_FLOATING = frozenset(
    {"latest", "current", "default", "auto", "stable", "prod", "production", "preview", "exp", "nightly", "main"}
)
_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|(?<![0-9])20[0-9]{6}(?![0-9])|sha256:[0-9a-f]{64}")


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the problems of the judge, and of a method that asks a judge who is not there."""
    if not blocks.judged and blocks.method is not None and blocks.method.judge_stage.ask:
        yield Finding(
            "SLV-C042",
            ("method", "judge_stage"),
            Text("se deja algo al juez y no hay juez", "something is left to the judge and there is none"),
            Text("agregue el bloque `judge` o borre `judge_stage`", "add the block `judge` or delete `judge_stage`"),
            at_key=True,
        )
    if blocks.judge is None:
        return
    yield from _members(blocks.judge)
    yield from _independence(blocks, blocks.judge)
    yield from _asked(blocks.judge)


def is_pinned(snapshot: str) -> bool:
    """Return whether a judge's snapshot carries a date or a digest and no floating word."""
    words = set(re.split(r"[^a-z0-9]+", snapshot.lower()))
    return not words & _FLOATING and _DATED.search(snapshot) is not None


def _members(judge: Judge) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, member in enumerate(judge.panel):
        path: Path = ("judge", "panel", index)
        if not is_pinned(member.snapshot):
            yield Finding(
                "SLV-J002",
                (*path, "snapshot"),
                Text(f"{short(member.snapshot)!r} no está fijado", f"{short(member.snapshot)!r} is not pinned"),
                Text("use una fecha o `sha256:` de los pesos", "use a date or `sha256:` of the weights"),
            )
        if member.id in seen:
            yield Finding(
                "SLV-C026",
                (*path, "id"),
                Text(f"`{member.id}` ya es otro miembro", f"`{member.id}` is another member already"),
                Text("dele otro nombre", "give it another name"),
            )
        seen.add(member.id)
        yield from address((*path, "endpoint", "url"), member.endpoint.url)


def _independence(blocks: Blocks, judge: Judge) -> Iterator[Finding]:
    engine = blocks.engine
    if engine is None:
        return
    base = engine.base_families if isinstance(engine.base_families, tuple) else ()
    own = {name.casefold() for name in (engine.family, *base) if name}
    echoes = tuple(echo for echo in engine.accepted_echoes if isinstance(echo, str))
    given = frozenset(found for name in (engine.version, *echoes) if (found := family_of_name(name)) is not None)
    known = given.union(*(families_called(name) for name in own))
    for index, member in enumerate(judge.panel):
        names = [found for name in (member.snapshot, member.expected_model_echo) if (found := family_of_name(name))]
        yield from _misnamed(member.family, names, index)
        if member.family.casefold() in own or known.intersection((*names, *families_called(member.family))):
            yield Finding(
                "SLV-J001",
                ("judge", "panel", index, "family"),
                Text("el juez es de la familia del motor", "the judge is of the engine's family"),
                Text("elija un modelo de otra familia", "choose a model of another family"),
            )
    if engine.base_families == "undisclosed" and len({member.family.casefold() for member in judge.panel}) < 2:
        yield Finding(
            "SLV-J001",
            ("judge", "panel"),
            Text(
                "con `base_families: undisclosed` hacen falta jueces de dos familias",
                "`base_families: undisclosed` needs judges of two families",
            ),
            Text("agregue un miembro de otra familia", "add a member of another family"),
            at_key=True,
        )


def _misnamed(declared: str, names: Sequence[str], index: int) -> Iterator[Finding]:
    """Refuse a member whose model's name belongs to another family than the one that is declared."""
    for family in dict.fromkeys(names):
        if not called(family, declared):
            yield Finding(
                "SLV-J001",
                ("judge", "panel", index, "family"),
                Text(
                    f"el nombre del modelo es de la familia {family}, no de {short(declared)!r}",
                    f"the model's name is of family {family}, not of {short(declared)!r}",
                ),
                Text("declare la familia del modelo", "declare the model's family"),
            )


def _asked(judge: Judge) -> Iterator[Finding]:
    if judge.rubric is not None and judge.criteria:
        yield Finding(
            "SLV-C044",
            ("judge", "rubric"),
            Text("hay `rubric` y también `criteria`", "there are `rubric` and `criteria`"),
            Text("deje uno de los dos", "keep one of them"),
            at_key=True,
        )
    if judge.rubric is None and not judge.criteria:
        yield Finding(
            "SLV-C010",
            ("judge",),
            Text("hace falta `rubric` o `criteria`, uno de los dos", "`rubric` or `criteria` is needed, one of them"),
            Text("por ejemplo `rubric: {name: reglab@1, digest: …}`", "e.g. `rubric: {name: reglab@1, digest: …}`"),
            at_key=True,
        )
    if judge.rubric is not None and judge.rubric.name.startswith("facts@") and judge.facts is None:
        yield Finding(
            "SLV-J005",
            ("judge",),
            Text("facts@1 necesita `facts.eligibility_rule`", "facts@1 needs `facts.eligibility_rule`"),
            Text("no tiene valor por omisión: elíjalo", "it has no default: choose it"),
            at_key=True,
        )
