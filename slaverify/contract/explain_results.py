"""What each result of a contract means: failures, consequences, chances, money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from slaverify.contract.explain_page import Chance, MoneyStep, Row, Section
from slaverify.contract.model.metrics import Extend, Metric, Retest
from slaverify.contract.model.root import Contract
from slaverify.contract.numbers import derived_numbers, metric_n, metric_strata
from slaverify.contract.speech import Speech
from slaverify.contract.words import PatternEvent
from slaverify.errors import Text

PASS, BREACH, OPEN = (
    Text("CUMPLE", "PASS"),
    Text("NO CUMPLE", "BREACH"),
    Text("NO CONCLUYENTE", "INCONCLUSIVE"),
)


_PATTERNS = {
    PatternEvent.CONSTANT_OUTPUT: Text(
        "un mismo texto para muchas preguntas distintas", "one text for many different questions"
    ),
    PatternEvent.DUPLICATE_ANSWER_BYTES: Text(
        "la misma respuesta, byte por byte, al repetir una pregunta",
        "the same answer, byte for byte, when a question is repeated",
    ),
    PatternEvent.CONSTANT_CONFIDENCE: Text(
        "la misma confianza declarada en todas las respuestas", "the same declared confidence in all answers"
    ),
    PatternEvent.PARTIAL_BODY: Text(
        "respuestas cortadas a medio camino en más del 1 % de las consultas",
        "answers cut half-way in more than 1 % of the exchanges",
    ),
    PatternEvent.LATENCY_CEILING: Text("una respuesta sobre el techo de tiempo", "an answer above the time ceiling"),
    PatternEvent.DECLARED_TRACE_ONLY: Text(
        "un camino que solo el proveedor declara", "a path that only the vendor declares"
    ),
}


def results_section(contract: Contract, speech: Speech, chances: Mapping[str, Chance]) -> Section:
    """Return what each state means: the three numbers of each binding metric in words, and what the sample can do."""
    heads = (
        speech.t("Promesa", "Promise"),
        speech.t("Preguntas", "Questions"),
        speech.say(PASS),
        speech.say(OPEN),
        speech.say(BREACH),
    )
    rows = [Row(heads)]
    rows += [Row(_numbers(contract, metric, speech)) for metric in contract.metrics if metric.severity == "binding"]
    lines = [
        speech.t(
            "Fallas que admite cada resultado; una falla es una pregunta que no salió como se promete.",
            "Failures that each result admits; a failure is a question that did not come out as promised.",
        )
    ]
    after = [
        speech.t(
            "El contrato CUMPLE si todas las promesas que obligan CUMPLEN; NO CUMPLE si alguna queda demostrada en "
            f"contra. Si el resultado es {speech.say(OPEN)}: {inconclusive_words(contract, speech)}",
            "The contract passes if every binding promise passes; it is in breach if any is shown broken. "
            f"If the result is {speech.say(OPEN)}: {inconclusive_words(contract, speech)}",
        )
    ]
    patterns = contract.verdict.integrity.binding_patterns
    if patterns:
        shown = "; ".join(pattern_words(contract, PatternEvent(code), speech) for code in patterns)
        after.append(
            speech.t(
                f"Aunque las cuentas alcancen, el resultado es {speech.say(OPEN)} si se ve: {shown}.",
                f"Even if the counts suffice, the result is {speech.say(OPEN)} if this is seen: {shown}.",
            )
        )
    for metric in contract.metrics:
        chance = chances.get(metric.id)
        if chance is not None and metric.severity == "binding":
            after.append(f"• {_chance(metric, chance, speech)}")
    return Section(speech.t("Qué significa cada resultado", "What each result means"), (*lines, *after), tuple(rows))


def pattern_words(contract: Contract, code: PatternEvent, speech: Speech) -> str:
    """Say what a pattern is that takes PASS away."""
    if code == PatternEvent.LATENCY_CEILING and contract.verdict.integrity.latency_ceiling_s is not None:
        ceiling = speech.number(contract.verdict.integrity.latency_ceiling_s)
        return speech.t(f"una respuesta que tarda más de {ceiling} s", f"an answer that takes more than {ceiling} s")
    return speech.say(_PATTERNS[code])


def _numbers(contract: Contract, metric: Metric, speech: Speech) -> tuple[str, ...]:
    name = metric.name.es if speech.spanish else metric.name.en
    numbers = derived_numbers(contract, metric)
    low, high = numbers.pass_max_failures, numbers.breach_min_failures
    n = speech.count(metric_n(contract, metric))
    where = f" ({', '.join(metric_strata(contract, metric))})"
    if low is None and high is None:
        shown = speech.t("si queda demostrado *", "if it is shown *")
        return name + where, n, shown, speech.t("si no queda demostrado", "if neither is shown"), shown
    passes = speech.t("nunca", "never") if low is None else speech.t(f"hasta {low}", f"up to {low}")
    breaches = speech.t("nunca", "never") if high is None else speech.t(f"{high} o más", f"{high} or more")
    first, last = (0 if low is None else low + 1), (metric_n(contract, metric) if high is None else high - 1)
    between = "-" if first > last else speech.t(f"de {first} a {last}", f"{first} to {last}")
    return name + where, n, passes, between, breaches


def _chance(metric: Metric, chance: Chance, speech: Speech) -> str:
    name = metric.name.es if speech.spanish else metric.name.en
    if metric.kind in ("mean", "corpus_rate") and metric.cut is None:
        better, worse = speech.number(Decimal(f"{chance.better:.3f}")), speech.number(Decimal(f"{chance.worse:.3f}"))
    else:
        better, worse = speech.percent(Decimal(f"{chance.better:.4f}")), speech.percent(Decimal(f"{chance.worse:.4f}"))
    passes, breaches = speech.of_hundred(chance.p_pass), speech.of_hundred(chance.p_breach)
    return speech.t(
        f"{name}: un proveedor cuya tasa real es {better} CUMPLE en {passes} de cada 100 auditorías; con {worse}, da "
        f"NO CUMPLE en {breaches} de cada 100.",
        f"{name}: a vendor whose true rate is {better} passes {passes} of 100 audits; at {worse} it is in breach in "
        f"{breaches} of 100.",
    )


def inconclusive_words(contract: Contract, speech: Speech) -> str:
    """Return what follows when nothing was demonstrated, in words."""
    rule = contract.verdict.inconclusive
    if isinstance(rule, Extend):
        more = sum(rule.extend.per_stratum.values())
        return speech.t(
            f"se hacen {more} preguntas más en la misma corrida, con números ya fijados.",
            f"{more} more questions are asked in the same run, by numbers that are fixed already.",
        )
    if isinstance(rule, Retest):
        return speech.t(
            "se pacta una versión nueva y se audita otra vez con preguntas frescas.",
            "a new version is agreed and audited again with fresh questions.",
        )
    if rule == "withhold":
        return speech.t(
            "la aceptación y el pago esperan, sin multa; la duda la soporta el proveedor.",
            "acceptance and payment wait, without a penalty; the vendor bears the doubt.",
        )
    return speech.t("no pasa nada; la duda la soporta el comprador.", "nothing follows; the buyer bears the doubt.")


def money_section(contract: Contract, speech: Speech, steps: Sequence[MoneyStep]) -> Section:
    """Return what each outcome means in money, with the arithmetic of every step."""
    terms = contract.remedies
    heading = speech.t("Qué significa en dinero", "What it means in money")
    lines: list[str] = []
    names = {metric.id: metric.name.es if speech.spanish else metric.name.en for metric in contract.metrics}
    rows = [
        Row(
            (
                speech.t("Si NO CUMPLE y la tasa medida es", "If in breach and the measured rate is"),
                speech.t("cuenta", "arithmetic"),
                speech.t("crédito", "credit"),
            )
        )
    ]
    for step in steps:
        bound, word = (
            (step.below, Text("menor que", "below"))
            if step.below is not None
            else (step.above, Text("mayor que", "above"))
        )
        when = f"{names.get(step.metric, step.metric)} {speech.say(word)} {speech.percent(bound or Decimal(0))}"
        weight = "" if step.weight == 1 else f" × {speech.percent(step.weight)}"
        amount = "-" if step.amount is None else speech.money(step.amount)
        base = "-" if terms.base_amount is None else speech.money(terms.base_amount)
        share = f" × {speech.percent(step.share)}" if step.share != 1 or not weight else ""
        rows.append(Row((when, f"{base}{weight}{share}", amount)))
    if not steps:
        lines.append(speech.t("No hay créditos pactados.", "No credits are agreed."))
    else:
        lines.append(
            speech.t(
                "Por métrica vale el tramo mayor que corresponda. Si CUMPLE o NO CONCLUYENTE, cero. Se calcula y se "
                "imprime; nadie lo ejecuta.",
                "Per metric the largest step that applies counts. At PASS or INCONCLUSIVE, zero. It is computed and "
                "printed; nobody executes it.",
            )
        )
    if terms.cap is not None and terms.base_amount is not None:
        cap = speech.money(terms.base_amount * terms.cap)
        lines.append(
            speech.t(
                f"Tope entre todas: {speech.percent(terms.cap)} de la base, {cap}.",
                f"Cap over all: {speech.percent(terms.cap)} of the base, {cap}.",
            )
        )
    lines += _after_breach(contract, speech)
    return Section(heading, tuple(lines), tuple(rows) if steps else ())


def _after_breach(contract: Contract, speech: Speech) -> Iterator[str]:
    terms = contract.remedies
    if terms.earn_back is not None:
        back = terms.earn_back
        yield speech.t(
            f"Se devuelve si la tasa llega a {speech.percent(back.target)} en {back.periods} períodos seguidos.",
            f"Earned back if the rate reaches {speech.percent(back.target)} in {back.periods} periods in a row.",
        )
    if terms.cure_days is not None:
        yield speech.t(
            f"El proveedor tiene {terms.cure_days} días para corregir"
            + (", y después se audita otra vez." if terms.retest else "."),
            f"The vendor has {terms.cure_days} days to cure" + (", and is audited again." if terms.retest else "."),
        )
    if terms.termination is not None:
        times, of = terms.termination.breaches, terms.termination.periods
        yield speech.t(
            f"Con {times} NO CUMPLE en {of} auditorías el comprador puede terminar el contrato.",
            f"After {times} breaches in {of} audits the buyer may leave.",
        )
