"""What is refused, or warned of, in a contract's judge before anybody signs.

Source: docs/spec/judging.md section 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from slaverify.contract import Contract, Finding, regex_fault
from slaverify.contract.model.judge import Criterion, Judge
from slaverify.errors import JudgeError, Text
from slaverify.judging.calls import LARGEST_REPEATS
from slaverify.judging.criteria import same_versions
from slaverify.judging.rubrics import rubric_of
from slaverify.scoring import holds

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_LARGEST_SCALE = 11
_DOUBLE_NO = re.compile(r"\b(?:no|ni|nunca|never|not)\b.{1,60}\b(?:no|ni|nunca|never|not)\b", re.IGNORECASE)
_TWO = re.compile(r"\b(?:y además|así como|and also|as well as)\b", re.IGNORECASE)
_VAGUE = re.compile(r"\b(?:adecuadamente|razonablemente|suficientemente|appropriately|reasonably|sufficiently)\b", re.I)
_PATH = re.compile(r"[\w./\\-]+\.(?:txt|md|ya?ml|json|docx?|pdf)")


def refused(contract: Contract) -> Iterator[Finding]:
    """Yield what makes a judge unusable: a rubric, a scale, a criterion without probes, weights that say nothing."""
    judge = contract.judge
    if judge is None:
        return
    yield from _rubric(contract, judge)
    yield from _aggregation(judge)
    for index, criterion in enumerate(judge.criteria):
        yield from _scale(judge, criterion, index)
        yield from _probes(criterion, index)
        yield from _check(criterion, index)
        yield from _scope(contract, criterion, index)
    yield from _weights(judge)


def warned(contract: Contract) -> Iterator[Finding]:
    """Yield wordings that people and judges read in two ways."""
    judge = contract.judge
    if judge is None:
        return
    yield from _repeats(judge)
    for index, criterion in enumerate(judge.criteria):
        for pattern, es, en in _WORDINGS:
            if pattern.search(criterion.text):
                yield _finding(
                    "SLV-J015", ("judge", "criteria", index, "text"), f"«{criterion.id}» {es}", f"{criterion.id} {en}"
                )


_WORDINGS = (
    (_DOUBLE_NO, "niega dos veces", "has two negations"),
    (_TWO, "junta dos exigencias", "joins two requirements"),
    (_VAGUE, "usa un adverbio sin medida", "uses an adverb without a measure"),
    (_PATH, "nombra un archivo en vez de decir la exigencia", "names a file instead of stating the requirement"),
)


def _finding(code: str, path: tuple[str | int, ...], es: str, en: str, fix: Text | None = None) -> Finding:
    return Finding(code, path, Text(es, en), fix or Text("corríjalo en el contrato", "mend it in the contract"))


def _rubric(contract: Contract, judge: Judge) -> Iterator[Finding]:
    place = ("judge", "rubric") if judge.rubric is not None else ("judge", "criteria")
    try:
        found = rubric_of(judge)
        same_versions(judge.criteria)
    except JudgeError as error:
        # A draft may still carry a digest to be filled in; a frozen contract pins what will be asked.
        if error.code != "SLV-J008" or contract.contract.status == "frozen":
            yield Finding(error.code, place, error.what, error.fix)
        return
    if found.per_criterion and not judge.criteria:
        yield _finding("SLV-J009", place, f"{found.name} pide `criteria`", f"{found.name} needs `criteria`")


def _aggregation(judge: Judge) -> Iterator[Finding]:
    rule, facts = judge.aggregation, judge.facts is not None
    ordinal = bool(judge.criteria) and all(one.scale.kind == "ordinal" for one in judge.criteria)
    wrong = (
        (rule == "single" and len(judge.panel) > 1, "`single` es de un solo juez", "`single` is of one judge"),
        (rule == "median" and not ordinal, "`median` pide escalas ordinales", "`median` needs ordinal scales"),
        ((rule == "mean") != facts, "`mean` es de facts@1, y solo ella", "`mean` belongs to facts@1, and it alone"),
    )
    for is_wrong, es, en in wrong:
        if is_wrong:
            yield _finding("SLV-J014", ("judge", "aggregation"), es, en)


def _repeats(judge: Judge) -> Iterator[Finding]:
    """Warn of a sample of repeats in which not even 0 flips would show a rate below the cap."""
    size = LARGEST_REPEATS if judge.repeats.sample is None else judge.repeats.sample
    tiers = {criterion.tier for criterion in judge.criteria} or {"compliance"}
    cap = min(float(getattr(judge.repeats.max_flip_rate, tier)) for tier in tiers)
    if 1.0 - 0.05 ** (1.0 / size) > cap:
        yield _finding(
            "SLV-J017",
            ("judge", "repeats"),
            f"con {size} repetidas ni 0 cambios mostrarían una tasa bajo {cap}: nada juzgado se mediría",
            f"with {size} repeats not even 0 flips would show a rate below {cap}: nothing judged would be measured",
            Text("suba `sample` o el tope", "raise `sample` or the cap"),
        )


def _scale(judge: Judge, criterion: Criterion, index: int) -> Iterator[Finding]:
    scale = criterion.scale
    values = [point.value for point in scale.points]
    fractions = [point.fraction for point in scale.points]
    if scale.kind == "binary":
        good = values == ["met", "not_met"] and fractions == [Decimal(1), Decimal(0)]
    elif scale.kind == "labels":
        good = len(set(values)) == len(values) and all(isinstance(v, str) and _LABEL.fullmatch(v) for v in values)
    else:
        numbers = [value for value in values if isinstance(value, int)]
        consecutive = numbers == list(range(numbers[0], numbers[0] + len(values))) if numbers else False
        rising = all(low < high for low, high in pairwise(fractions))
        inside = consecutive and len(values) <= _LARGEST_SCALE and numbers[0] >= -10 and numbers[-1] <= 10
        good = inside and rising
    where = ("judge", "criteria", index, "scale")
    if not good:
        yield _finding(
            "SLV-J013",
            where,
            f"la escala de «{criterion.id}» no es {scale.kind}",
            f"the scale of {criterion.id} is not {scale.kind}",
            Text(
                "binary: met 1, not_met 0; labels: textos distintos; ordinal: enteros seguidos, fracciones crecientes",
                "binary: met 1, not_met 0; labels: distinct texts; ordinal: consecutive integers, rising fractions",
            ),
        )
    if criterion.tier == "compliance" and scale.kind != "binary" and not judge.allow_ordinal_compliance:
        yield _finding(
            "SLV-J016",
            where,
            f"«{criterion.id}» es `compliance` y su escala no es binaria",
            f"{criterion.id} is `compliance` and its scale is not binary",
            Text("use `binary` o firme `allow_ordinal_compliance`", "use `binary`, or sign `allow_ordinal_compliance`"),
        )


def _probes(criterion: Criterion, index: int) -> Iterator[Finding]:
    for carve_out in criterion.carve_outs:
        own = [probe for probe in criterion.probes if probe.carve_out == carve_out.id]
        where = ("judge", "criteria", index, "probes")
        if {probe.met for probe in own} != {True, False}:
            yield _finding(
                "SLV-J010",
                where,
                f"la salvedad «{carve_out.id}» no tiene una prueba que cumpla y otra que no",
                f"carve-out {carve_out.id} lacks a probe that meets it, or one that does not",
                Text("escriba las dos; que difieran solo en ella", "write both, differing in it alone"),
            )
        texts = [" ".join(probe.answer.split()).casefold() for probe in own]
        if len(set(texts)) != len(texts):
            yield _finding(
                "SLV-J011",
                where,
                f"dos pruebas de «{carve_out.id}» dicen lo mismo",
                f"two probes of {carve_out.id} say the same",
            )


def _check(criterion: Criterion, index: int) -> Iterator[Finding]:
    """Refuse a check that says nothing, cannot run, excuses in words, or says otherwise than its own probes."""
    check, where = criterion.check, ("judge", "criteria", index, "check")
    if check is None:
        return
    fault = None if check.pattern is None else regex_fault(check.pattern)
    empty = not check.contains and (check.pattern, check.min_chars, check.max_chars) == (None, None, None)
    wrong = (
        (empty, "no comprueba nada", "checks nothing"),
        (
            bool(criterion.carve_outs),
            "tiene salvedades, que el código no lee",
            "has carve-outs, which code does not read",
        ),
        (criterion.scale.kind != "binary", "pide una escala binaria", "needs a binary scale"),
    )
    for is_wrong, es, en in wrong:
        if is_wrong:
            yield _finding(
                "SLV-J018", where, f"la comprobación de «{criterion.id}» {es}", f"the check of {criterion.id} {en}"
            )
    if fault is not None:
        yield _finding("SLV-J018", (*where, "pattern"), f"«{criterion.id}»: {fault.es}", f"{criterion.id}: {fault.en}")
        return
    for number, probe in enumerate(criterion.probes):
        if holds(check, probe.answer) is not probe.met:
            yield _finding(
                "SLV-J018",
                ("judge", "criteria", index, "probes", number),
                f"la comprobación de «{criterion.id}» no dice lo que su prueba",
                f"the check of {criterion.id} says otherwise than its probe",
            )


def _scope(contract: Contract, criterion: Criterion, index: int) -> Iterator[Finding]:
    wanted = (criterion.applies_when or {}).get("stratum")
    if wanted is not None and not set(wanted) & set(contract.evaluation_set.strata):
        yield _finding(
            "SLV-J012",
            ("judge", "criteria", index, "applies_when"),
            f"«{criterion.id}» no se aplica a ningún ítem",
            f"{criterion.id} applies to no item",
        )


def _weights(judge: Judge) -> Iterator[Finding]:
    points = [criterion.points for criterion in judge.criteria]
    if all(value is None for value in points):
        return
    positive = sum(value for value in points if value is not None and value > 0)
    if positive == 0 or any(value in (None, 0) for value in points):
        yield _finding(
            "SLV-J006",
            ("judge", "criteria"),
            "los puntos de weighted@1 no suman nada positivo, o falta alguno",
            "the points of weighted@1 add up to nothing positive, or one is missing",
            Text("dé a cada criterio puntos distintos de 0", "give each criterion points other than 0"),
        )
