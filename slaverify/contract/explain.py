"""A contract in plain words, one page: what is promised, how it is measured, what each result means, in money too.

Pure: the caller hands in what other rooms compute (the arithmetic of the remedies, the chances of each state).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.explain_page import Chance, MoneyStep, Page, Row, Section
from slaverify.contract.explain_results import money_section, results_section
from slaverify.contract.findings import dotted
from slaverify.contract.library import LIBRARY
from slaverify.contract.model.metrics import Metric
from slaverify.contract.model.root import Contract
from slaverify.contract.numbers import has_integers, sample_sizes
from slaverify.contract.speech import Speech
from slaverify.errors import Text

__all__ = ["Chance", "MoneyStep", "Page", "Row", "Section", "every_key", "explain"]


def explain(
    contract: Contract,
    digest: str,
    language: str,
    *,
    money: Sequence[MoneyStep] = (),
    chances: Mapping[str, Chance] | None = None,
) -> Page:
    """Return the explanation of a completed contract in `es` or `en`.

    Raises: SlaverifyError where its numbers cannot be computed.
    """
    speech = Speech(language, contract.contract.locale, contract.remedies.currency)
    draft = contract.contract.status == "draft"
    status = speech.t("borrador: todavía no obliga", "draft: it binds nobody yet") if draft else digest
    return Page(
        language=language,
        title=contract.contract.title,
        subtitle=f"{contract.contract.id} · v{contract.contract.version} · {status}",
        sections=(
            _promise(contract, speech),
            _measure(contract, speech),
            results_section(contract, speech, chances or {}),
            money_section(contract, speech, money),
            _people(contract, speech),
            _limits(contract, speech),
        ),
        foot=speech.t(
            "Esta página explica; obliga el contrato, por su digest. No es asesoría legal.",
            "This page explains; the contract binds, by its digest. It is no legal advice.",
        ),
    )


def every_key(tree: JsonObject) -> Iterator[str]:
    """Yield every key of a contract's tree with its value, one line each, in the order of the tree."""
    yield from _keys(tree, ())


def _keys(node: JsonValue, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(node, Mapping) and node:
        for key, member in node.items():
            yield from _keys(member, (*path, key))
    elif isinstance(node, list | tuple) and node:
        for index, member in enumerate(node):
            yield from _keys(member, (*path, index))
    else:
        value = "-" if node is None else str(node).replace("\n", " ⏎ ")
        yield f"{dotted(path)}: {value}"


def _promise(contract: Contract, speech: Speech) -> Section:
    intro = speech.t(
        f"{contract.parties.vendor.name} promete a {contract.parties.buyer.name}, sobre el servicio "
        f"«{contract.engine.name}» en su versión {contract.engine.version}:",
        f"{contract.parties.vendor.name} promises {contract.parties.buyer.name}, about the service "
        f"“{contract.engine.name}” in its version {contract.engine.version}:",
    )
    lines = [f"• {_promised(contract, metric, speech)}" for metric in contract.metrics]
    purpose = speech.t("Para qué se usa: ", "What it is used for: ") + contract.scope.intended_purpose.strip()
    return Section(speech.t("Qué se promete", "What is promised"), (intro, *lines, purpose))


def _promised(contract: Contract, metric: Metric, speech: Speech) -> str:
    name = metric.name.es if speech.spanish else metric.name.en
    ready = LIBRARY.get(metric.library or "")
    criteria = _criteria(contract, metric)
    meaning = "" if ready is None else f" ({ready.definition.in_language(speech.language)})"
    if criteria:
        meaning = speech.t(" de las respuestas: ", " of the answers: ") + " ".join(f"«{text}»" for text in criteria)
    least = speech.t("al menos", "at least") if metric.direction == "at_least" else speech.t("a lo más", "at most")
    if metric.kind == "quantile":
        limit = speech.number(metric.limit_s or Decimal(0))
        promise = speech.t(
            f"{speech.percent(metric.threshold)} de las respuestas en {limit} segundos o menos",
            f"{speech.percent(metric.threshold)} of the answers within {limit} seconds",
        )
    elif metric.kind == "mean" and metric.cut is None:
        promise = speech.t(
            f"puntaje medio de {least} {speech.number(metric.threshold)}",
            f"a mean score of {least} {speech.number(metric.threshold)}",
        )
    else:
        promise = f"{least} {speech.percent(metric.threshold)}"
    binds = "" if metric.severity == "binding" else speech.t("; sólo se informa", "; only reported")
    return f"{name}: {promise}{meaning}{binds}."


def _criteria(contract: Contract, metric: Metric) -> list[str]:
    """Return the text of each criterion that the metric counts as met."""
    if contract.judge is None or metric.count is None:
        return []
    named = {str(value).partition(":")[0] for value in metric.count.get("criteria", ())}
    return [criterion.text.strip().rstrip(".") for criterion in contract.judge.criteria if criterion.id in named]


def _measure(contract: Contract, speech: Speech) -> Section:
    bank, sizes = contract.evaluation_set, sample_sizes(contract)
    n, custodian = sum(sizes.values()), contract.parties.custodian.name
    drawn = ", ".join(f"{name} {size}" for name, size in sizes.items())
    lines = [
        speech.t(
            f"De un banco secreto de {speech.count(bank.size)} preguntas que guarda {custodian} se toman "
            f"{speech.count(n)} ({drawn}), {_draw(contract, speech)}. El proveedor no las conoce antes.",
            f"From a secret bank of {speech.count(bank.size)} questions kept by {custodian}, {speech.count(n)} are "
            f"taken ({drawn}), {_draw(contract, speech)}. The vendor does not know them before.",
        )
    ]
    if bank.frame is not None:
        lines.append(
            speech.t(
                f"La promesa habla de: {bank.frame.population}. Cómo se eligieron: {bank.frame.selection}.",
                f"The promise speaks of: {bank.frame.population}. How they were chosen: {bank.frame.selection}.",
            )
        )
    lines += _calls(contract, speech)
    judged = contract.method.judge_stage.strata if contract.judge is not None else ()
    if contract.judge is not None and judged:
        families = ", ".join(member.family for member in contract.judge.panel)
        lines.append(
            speech.t(
                f"Decide código; lo que ninguna regla resuelve en {', '.join(judged)} lo lee un juez de otra familia "
                f"({families}), corregido con al menos {contract.judge.calibration.min_labels} etiquetas de personas.",
                f"Code decides; what no rule settles in {', '.join(judged)} is read by a judge of another family "
                f"({families}), corrected by at least {contract.judge.calibration.min_labels} labels of people.",
            )
        )
    else:
        lines.append(
            speech.t(
                "Puntúa sólo código, con reglas pactadas; ningún juez.", "Code alone scores, by agreed rules; no judge."
            )
        )
    lines.append(
        speech.t(
            "Una llamada que falla por culpa del proveedor (error, corte, silencio, texto ilegible) cuenta como mala; "
            "una que falla por culpa ajena no le cuenta en contra.",
            "A call that fails by the vendor's fault (error, cut, silence, unreadable text) counts as wrong; one that "
            "fails by another's fault does not count against the vendor.",
        )
    )
    return Section(speech.t("Cómo se mide", "How it is measured"), tuple(lines))


def _calls(contract: Contract, speech: Speech) -> Iterator[str]:
    calls, again = contract.repetitions.per_item, contract.repetitions.dispersion_sample
    if calls > 1:
        yield speech.t(f"Cada pregunta se hace {calls} veces.", f"Each question is asked {calls} times.")
    if again is not None:
        yield speech.t(
            f"Además, {again.items} de ellas se hacen {again.repeats} veces más, para informar cuánto varía el "
            "servicio; eso no cuenta para el resultado.",
            f"Besides, {again.items} of them are asked {again.repeats} more times, to tell how much the service "
            "varies; that does not count for the result.",
        )


def _draw(contract: Contract, speech: Speech) -> str:
    words = {
        "full": Text("todas", "all of them"),
        "seeded": Text("por un sorteo que nadie elige", "by a draw that nobody chooses"),
        "commit_reveal": Text(
            "por un sorteo en que intervienen ambas partes", "by a draw in which both sides take part"
        ),
    }
    return speech.say(words[contract.evaluation_set.sample.method])


def _people(contract: Contract, speech: Speech) -> Section:
    parties = contract.parties
    roles = (
        (Text("Audita y firma el informe", "Audits and signs the report"), parties.auditor.name),
        (Text("Guarda las preguntas", "Keeps the questions"), parties.custodian.name),
        (
            Text("Opera el juez", "Runs the judge"),
            None if parties.judge_operator is None else parties.judge_operator.name,
        ),
        (
            Text("Paga la auditoría", "Pays for the audit"),
            None if parties.independence is None else _role(parties.independence.payer, speech),
        ),
        (
            Text("Decide una disputa", "Decides a dispute"),
            None if contract.disputes.adjudicator is None else contract.disputes.adjudicator.name,
        ),
    )
    lines = [f"{speech.say(what)}: {who}." for what, who in roles if who]
    lines.append(
        speech.t(
            f"El proveedor tiene {contract.report.reply_days} días para comentar el borrador del informe y "
            f"{contract.disputes.window_days} para disputarlo.",
            f"The vendor has {contract.report.reply_days} days to comment the draft report and "
            f"{contract.disputes.window_days} to dispute it.",
        )
    )
    return Section(speech.t("Quién hace qué", "Who does what"), (" ".join(lines),))


def _role(word: str, speech: Speech) -> str:
    known = {
        "buyer": Text("el comprador", "the buyer"),
        "vendor": Text("el proveedor", "the vendor"),
        "auditor": Text("la auditora", "the auditor"),
        "custodian": Text("la custodia", "the custodian"),
    }
    return speech.say(known[word]) if word in known else word


def _limits(contract: Contract, speech: Speech) -> Section:
    lines = [f"• {word.es if speech.spanish else word.en}" for word in contract.limitations]
    if any(metric.severity == "binding" and not has_integers(contract, metric) for metric in contract.metrics):
        lines.append(
            speech.t(
                "* Donde las preguntas se agrupan, pesan distinto o las lee un juez no hay un número fijo de fallas: "
                "se decide con los riesgos pactados sobre la muestra efectiva, y el informe muestra la cuenta.",
                "* Where questions come in groups, weigh differently or are read by a judge there is no fixed number "
                "of failures: it is decided at the agreed risks over the effective sample, and the report shows how.",
            )
        )
    risks = []
    for metric in contract.metrics:
        if metric.severity == "binding":
            passes, breaches = speech.percent(metric.decision.alpha_pass), speech.percent(metric.decision.alpha_breach)
            risks.append(
                speech.t(f"{metric.name.es}, {passes} y {breaches}", f"{metric.name.en}, {passes} and {breaches}")
            )
    risk = speech.t(
        f"Un CUMPLE o un NO CUMPLE puede estar errado con la probabilidad pactada para cada lado: {'; '.join(risks)}.",
        f"A PASS or a BREACH may be wrong with the probability agreed for each side: {'; '.join(risks)}.",
    )
    return Section(speech.t("Lo que conviene saber", "What is good to know"), (risk, *lines))
