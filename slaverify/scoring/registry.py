"""The registry of rules: each is a pure function with name, version, kinds, settings and source.

Two rules of one name and version that differ are refused: what a contract names means one thing.

Source: docs/spec/scoring.md section 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from slaverify.canonical import digest_of, jcs
from slaverify.errors import SetError, Text
from slaverify.evalset import Reference
from slaverify.scoring.abstention import Value
from slaverify.scoring.resolution import Finding
from slaverify.scoring.rules.task import Task

Judge = Callable[[Task, Reference], Finding | None]
Candidates = Callable[[Task, Reference], list[Value]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, `name@version`.

    `judge` compares and returns null if the answer holds no value of the kind; `candidates` finds the values of
    the slot without looking at the reference's own.
    """

    name: str
    kinds: tuple[str, ...]
    policies: tuple[str, ...]
    source: str
    judge: Judge
    candidates: Candidates

    @property
    def digest(self) -> str:
        """The digest that tells two rules of one name apart: what is declared, and which function carries it out."""
        return digest_of(
            jcs(
                {
                    "name": self.name,
                    "kinds": list(self.kinds),
                    "policies": list(self.policies),
                    "source": self.source,
                    "function": f"{self.judge.__module__}.{self.judge.__qualname__}",
                }
            )
        )


class Registry:
    """Rules by `name@version`."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}

    def add(self, rule: Rule) -> None:
        """Register a rule. Raises: SetError SLV-I036 if another one has its name and version."""
        known = self._rules.get(rule.name)
        if known is not None and known.digest != rule.digest:
            raise SetError(
                "SLV-I036",
                Text(f"dos reglas distintas se llaman {rule.name}", f"two different rules are called {rule.name}"),
                fix=Text("dé otra versión a la nueva", "give the new one another version"),
            )
        self._rules[rule.name] = rule

    def get(self, name: str) -> Rule:
        """Return a rule. Raises: SetError SLV-I037 if there is none of that name and version."""
        rule = self._rules.get(name)
        if rule is None:
            known = ", ".join(sorted(self._rules))
            raise SetError(
                "SLV-I037",
                Text(f"no existe la regla {name}", f"there is no rule {name}"),
                fix=Text(f"use una de: {known}", f"use one of: {known}"),
            )
        return rule

    def names(self) -> tuple[str, ...]:
        """Return the names of all rules, sorted."""
        return tuple(sorted(self._rules))
