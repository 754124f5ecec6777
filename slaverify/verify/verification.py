"""The result of a verification and its JSON form, `slaverify/verification/1`.

The outcome speaks of the verification; the verdict is what the report declares. Both stand side by side and
neither is derived from the other.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import NOTHING, Text
from slaverify.verify.checks import EXIT_OPEN, Check, Outcome, Result
from slaverify.version import __version__

TYPE = "slaverify/verification/1"
_VERDICT_EXIT = {"PASS": 0, "BREACH": 1}


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """What the report declares of one metric; counts are items. A null number does not exist for that rule."""

    id: str
    state: str
    reason: str | None
    binding: bool
    n: int | None
    failures: int | None
    pass_max_failures: int | None
    breach_min_failures: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the report declares: a state and those of its metrics, in the contract's order."""

    state: str
    metrics: tuple[MetricVerdict, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who stands behind a signature. `role` is a word of ours, digests are hex, absent values are empty."""

    role: str
    name: str
    spki_sha256: str = ""
    certificate_sha256: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: what happened, in UTC and in the contract's zone (empty where it is not known)."""

    name: str
    utc: str
    local: str = ""


@dataclass(frozen=True, slots=True)
class Withheld:
    """A file that the manifest names and this edition leaves out: path, size in bytes, SHA-256 (hex)."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """How a verification ended: outcome, exit code of the process, verdict as declared, and all twenty checks.

    `rescored`: the scores were computed again from recorded answers and the opened annex.
    """

    outcome: Outcome
    exit_code: int
    verdict: Verdict | None
    checks: tuple[Check, ...]
    names: tuple[tuple[str, str], ...] = ()
    identities: tuple[Identity, ...] = ()
    times: tuple[Moment, ...] = ()
    digests: tuple[tuple[str, str], ...] = ()
    withheld: tuple[Withheld, ...] = ()
    non_claims: tuple[Text, ...] = ()
    why: Text = NOTHING
    rescored: bool = False

    @property
    def verdict_exit_code(self) -> int:
        """The exit code of the verdict, 0 PASS, 1 BREACH, 3 any other; of the verification where that did not pass."""
        if self.exit_code != 0 or self.verdict is None:
            return self.exit_code or EXIT_OPEN
        return _VERDICT_EXIT.get(self.verdict.state, EXIT_OPEN)

    def check(self, rule: str) -> Check:
        """Return the check of a rule, `V01` to `V20`. Raises: KeyError."""
        for check in self.checks:
            if check.id == rule:
                return check
        raise KeyError(rule)

    def failed(self) -> tuple[Check, ...]:
        """Return the checks that failed, in order."""
        return tuple(check for check in self.checks if check.result is Result.FAILED)

    def to_json(self, language: str = "es") -> JsonObject:
        """Return the document `slaverify/verification/1`; sentences are in `language`."""
        return {
            "type": TYPE,
            "outcome": self.outcome.value,
            "exit_code": self.exit_code,
            "why": self.why.in_language(language),
            "verdict": None if self.verdict is None else _verdict(self.verdict),
            **dict(self.names),
            "checks": [_check(check, language) for check in self.checks],
            "identities": [_identity(identity) for identity in self.identities],
            "times": [{"name": one.name, "utc": one.utc, "local": one.local or None} for one in self.times],
            "digests": dict(self.digests),
            "withheld": [{"path": one.path, "size": one.size, "sha256": one.sha256} for one in self.withheld],
            "non_claims": [claim.in_language(language) for claim in self.non_claims],
            "tool": {"name": "slaverify", "version": __version__},
        }


def why_open(checks: Sequence[Check], outcome: Outcome, *, pinned: bool) -> Text:
    """Return in one sentence why the outcome is not VERIFIED, nothing where it is. `pinned`: by outside trust."""
    if outcome is Outcome.VERIFIED:
        return NOTHING
    if outcome is Outcome.DEMO:
        return _DEMO
    if outcome is Outcome.NOT_VERIFIED:
        ids = ", ".join(check.id for check in checks if check.result is Result.FAILED)
        return Text(f"no superan la verificación: {ids}", f"these checks failed: {ids}")
    if not pinned:
        return _NO_PIN
    ids = ", ".join(check.id for check in checks if check.required and check.result is Result.NOT_PERFORMED)
    return Text(f"falta realizar: {ids}", f"not performed: {ids}")


_NO_PIN = Text(
    "solo coherencia interna: nada obtenido aparte (contrato, o clave del auditor y raíz de sellos) lo respalda",
    "internally consistent only: nothing obtained elsewhere (contract, or auditor's key and timestamp root) pins it",
)
_DEMO = Text(
    "claves de demostración: la cadena está completa, pero no prueba nada ante nadie",
    "demonstration keys: the chain is complete, but proves nothing to anybody",
)


def _check(check: Check, language: str) -> JsonObject:
    return {
        "id": check.id,
        "title": check.title.in_language(language),
        "result": check.result.value,
        "required": check.required,
        "level": check.level.value,
        "reason": check.reason.in_language(language) or None,
        "remedy": check.remedy.in_language(language) or None,
        "expected": check.expected or None,
        "found": check.found or None,
    }


def _verdict(verdict: Verdict) -> JsonObject:
    metrics: list[JsonValue] = [
        {
            "id": metric.id,
            "state": metric.state,
            "reason": metric.reason,
            "binding": metric.binding,
            "n": metric.n,
            "failures": metric.failures,
            "pass_max_failures": metric.pass_max_failures,
            "breach_min_failures": metric.breach_min_failures,
        }
        for metric in verdict.metrics
    ]
    return {"state": verdict.state, "metrics": metrics}


def _identity(identity: Identity) -> JsonObject:
    return {
        "role": identity.role,
        "name": identity.name,
        "spki_sha256": identity.spki_sha256 or None,
        "certificate_sha256": identity.certificate_sha256 or None,
        "key": identity.key or None,
    }
