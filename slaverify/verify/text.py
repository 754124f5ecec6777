"""A verification in words, Spanish or English: outcome and verdict first, then what each check found.

Names and paths come from the files under test: a character that could move or hide text on a terminal is printed
as its code point.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from slaverify.errors import NOTHING, Text
from slaverify.verify.checks import Check, Outcome, Result
from slaverify.verify.verification import Identity, MetricVerdict, Moment, Verdict, Verification

_OUTCOMES = {
    Outcome.VERIFIED: Text("VERIFICADO", "VERIFIED"),
    Outcome.NOT_VERIFIED: Text("NO VERIFICADO", "NOT VERIFIED"),
    Outcome.INDETERMINATE: Text("INDETERMINADO", "INDETERMINATE"),
    Outcome.DEMO: Text("DEMO", "DEMO"),
}
STATES = {
    "PASS": Text("CUMPLE", "PASS"),
    "BREACH": Text("NO CUMPLE", "BREACH"),
    "INCONCLUSIVE": Text("NO CONCLUYENTE", "INCONCLUSIVE"),
    "NOT_MEASURED": Text("NO MEDIDO", "NOT MEASURED"),
    "INVALID_RUN": Text("CORRIDA INVÁLIDA", "INVALID RUN"),
}
"""The states as people read them."""
_MARKS = {Result.PASSED: "✓", Result.FAILED: "✗", Result.NOT_PERFORMED: "–"}
_LEVELS = (
    Text(
        "lo atestigua el auditor con su firma: respuestas tal como llegaron, votos del juez, reloj de la corrida",
        "attested by the auditor's signature: answers as received, votes of the judge, clock of the run",
    ),
    Text(
        "alguien lo declara: versión del motor sin prueba propia, no retención, alcance, fecha del corpus",
        "declared by somebody: engine version without proof of its own, no retention, scope, date of the corpus",
    ),
)
_ROLES = {
    "auditor": Text("auditor", "auditor"),
    "tsa": Text("sello de tiempo", "timestamp authority"),
    "custodian": Text("custodio", "custodian"),
    "witness": Text("testigo", "witness"),
}
_MOMENTS = {
    "run_started": Text("inicio de la corrida", "run started"),
    "run_ended": Text("fin de la corrida", "run ended"),
    "closed": Text("cierre de la evidencia", "evidence closed"),
    "checkpoint": Text("punto de control del libro", "checkpoint of the ledger"),
    "manifest_token": Text("sello de tiempo del paquete", "timestamp of the bundle"),
    "token": Text("sello de tiempo del informe", "timestamp of the report"),
}
_HEADINGS = {
    "checks": Text("Comprobaciones", "Checks"),
    "identities": Text("Identidades", "Identities"),
    "times": Text("Tiempos", "Times"),
    "digests": Text("Digestos", "Digests"),
    "withheld": Text("Reservado en esta edición", "Withheld in this edition"),
    "levels": Text("En qué se apoya cada afirmación", "What each claim rests on"),
    "claims": Text("Lo que una verificación no muestra", "What a verification does not show"),
}
_NONE = Text("nada", "nothing")


def render_text(verification: Verification, language: str = "es") -> str:
    """Return the lines for people, LF after each; `language` is `es` or `en`."""
    lines = [*_headline(verification, language), ""]
    checks = (line for group in _groups(verification.checks) for line in _check(group, language))
    lines += _section("checks", checks, language)
    identities = (line for one in verification.identities for line in _identity(one, language))
    lines += _section("identities", identities, language)
    lines += _section("times", (_moment(one, language) for one in verification.times), language)
    lines += _section("digests", (f"  {name:<16} {_grouped(value)}" for name, value in verification.digests), language)
    withheld = (f"  {visible(one.path)}  {one.size} B  {_grouped(one.sha256)}" for one in verification.withheld)
    lines += _section("withheld", withheld, language, always=True)
    levels = (*_derived(verification), *_LEVELS)
    lines += _section("levels", (f"  · {one.in_language(language)}" for one in levels), language)
    lines += _section("claims", (f"  · {one.in_language(language)}" for one in verification.non_claims), language)
    return "\n".join(lines).rstrip("\n") + "\n"


def _derived(verification: Verification) -> Iterable[Text]:
    """Say what was computed again here, and what could be but was not: never more than was done."""
    passed = {check.id for check in verification.checks if check.result is Result.PASSED}
    facts = (
        (verification.rescored and "V19" in passed, Text("reglas y puntajes", "rules and scores")),
        ("V19" in passed, Text("estadística y estados", "statistics and states")),
        ("V18" in passed, Text("sorteo y orden del libro", "draw and order of the ledger")),
        ("V20" in passed, Text("la página", "the page")),
    )
    for wanted, es, en in ((True, "se recalculó aquí: ", "re-derived here: "), (False, "no aquí: ", "not here: ")):
        found = [name for done, name in facts if done is wanted]
        if found:
            yield Text(es + ", ".join(one.es for one in found), en + ", ".join(one.en for one in found))


def visible(text: str) -> str:
    """Return `text` with control, format, bidirectional and separator characters as `[U+202E]`."""
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "C" or category in ("Zl", "Zp"):
        return f"[U+{ord(character):04X}]"
    return character


def _headline(verification: Verification, language: str) -> Iterable[str]:
    outcome = _OUTCOMES[verification.outcome].in_language(language)
    verdict = verification.verdict
    if verdict is None:
        yield f"{outcome} · " + Text("no se leyó ningún veredicto", "no verdict was read").in_language(language)
    else:
        whole = "report_id" in dict(verification.names)
        report, bundle = Text("el informe", "the report"), Text("el paquete", "the bundle")
        who = (report if whole else bundle).in_language(language)
        declares = f"{who} {Text('declara', 'declares').in_language(language)}"
        yield f"{outcome} · {declares} {state_word(verdict.state, language)}"
        yield sentence(verdict, language)
    if verification.why != NOTHING:
        yield verification.why.in_language(language)


def state_word(state: str, language: str) -> str:
    """Return the word of a state; one that no contract knows is shown as it was found."""
    return STATES[state].in_language(language) if state in STATES else visible(state)


def sentence(verdict: Verdict, language: str) -> str:
    """Return what the declared verdict stands on, metric by metric: counts and the two numbers agreed."""
    binding = [metric for metric in verdict.metrics if metric.binding] or list(verdict.metrics)
    if not binding:
        return Text("sin cláusulas medidas", "no clause was measured").in_language(language)
    return "; ".join(_counts(metric, language) for metric in binding)


def _counts(metric: MetricVerdict, language: str) -> str:
    name, state = visible(metric.id), state_word(metric.state, language)
    if metric.n is None or metric.failures is None:
        return f"{name}: {state}"
    bounds = []
    if metric.pass_max_failures is not None:
        bounds.append(Text(f"cumple hasta {metric.pass_max_failures}", f"PASS up to {metric.pass_max_failures}"))
    if metric.breach_min_failures is not None:
        number = metric.breach_min_failures
        bounds.append(Text(f"no cumple desde {number}", f"BREACH from {number}"))
    limits = "".join(", " + one.in_language(language) for one in bounds)
    counted = Text(f"{metric.failures} fallos de {metric.n}", f"{metric.failures} failures of {metric.n}")
    return f"{name}: {state} ({counted.in_language(language)}{limits})"


def _section(name: str, lines: Iterable[str], language: str, *, always: bool = False) -> list[str]:
    body = list(lines)
    if not body and not always:
        return []
    heading = _HEADINGS[name].in_language(language)
    return [heading, *(body or [f"  {_NONE.in_language(language)}"]), ""]


def _groups(checks: Iterable[Check]) -> Iterable[list[Check]]:
    """Put neighbours together that were not performed for one and the same reason."""
    group: list[Check] = []
    for check in checks:
        alike = [(one.result, one.required, one.reason, one.remedy) for one in (*group[-1:], check)]
        if group and (check.result is not Result.NOT_PERFORMED or alike[0] != alike[1]):
            yield group
            group = []
        group.append(check)
    if group:
        yield group


def _check(group: list[Check], language: str) -> Iterable[str]:
    check, note = group[0], ""
    if check.result is Result.NOT_PERFORMED:
        note = Text(" (no se realizó)", " (not performed)").in_language(language)
        if not check.required:
            note = Text(" (no se realizó; aquí no hace falta)", " (not performed; not needed here)").in_language(
                language
            )
    name = f"{check.id} {check.title.in_language(language)}" if len(group) == 1 else f"{check.id}-{group[-1].id}"
    yield f"  {_MARKS[check.result]} {name}{note}"
    if check.reason != NOTHING:
        yield f"      {visible(check.reason.in_language(language))}"
    if check.result is Result.FAILED and (check.expected or check.found):
        yield f"      {Text('esperado', 'expected').in_language(language)}: {visible(check.expected) or '–'}"
        yield f"      {Text('encontrado', 'found').in_language(language)}: {visible(check.found) or '–'}"
    if check.remedy != NOTHING:
        yield f"      → {visible(check.remedy.in_language(language))}"


def _identity(identity: Identity, language: str) -> Iterable[str]:
    role = _ROLES.get(identity.role, Text(identity.role, identity.role)).in_language(language)
    yield f"  {role}: {visible(identity.name)}" + (f" ({visible(identity.key)})" if identity.key else "")
    if identity.spki_sha256:
        yield f"      SPKI {_grouped(identity.spki_sha256)}"
    if identity.certificate_sha256:
        word = Text("certificado", "certificate").in_language(language)
        yield f"      {word} {_grouped(identity.certificate_sha256)}"


def _moment(moment: Moment, language: str) -> str:
    name = _MOMENTS.get(moment.name, Text(moment.name, moment.name)).in_language(language)
    local = f"  ({visible(moment.local)})" if moment.local else ""
    return f"  {name}: {visible(moment.utc)}{local}"


def _grouped(digest: str) -> str:
    prefix, _, body = digest.rpartition(":")
    groups = " ".join(body[start : start + 4] for start in range(0, len(body), 4))
    return visible(f"{prefix}: {groups}" if prefix else groups)
