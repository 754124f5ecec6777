"""The library of ready metrics: each is data that fills kind, count, among and direction of a metric.

What the contract writes itself wins. `strata` says which strata of the bank the denominator takes: `answerable`
(those where an answer exists), `hostile` (those where the right thing is to abstain or deny) or `all`.

Source: docs/spec/contract.md section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.profiles import HOSTILE_STRATA
from slaverify.errors import Text

FILLED = ("kind", "count", "among", "direction")
"""The keys of a metric that the library fills where the contract leaves them out."""


@dataclass(frozen=True, slots=True)
class ReadyMetric:
    """A metric of the library: what it fills, what it means, where it comes from, and one worked example.

    `binding` false: the figure may only be reported. `count` None: the kind needs no numerator, or the contract has to
    write it (which criterion). `more`: other keys that it fills.
    """

    direction: Literal["at_least", "at_most"]
    strata: Literal["answerable", "hostile", "all"]
    definition: Text
    example: Text
    source: str
    count: Mapping[str, tuple[str | int, ...]] | None = None
    among: Mapping[str, tuple[str, ...]] | None = None
    kind: Literal["rate", "mean", "corpus_rate", "quantile"] = "rate"
    binding: bool = True
    more: Mapping[str, str | tuple[str, ...]] | None = None

    def fills(self, strata: Iterable[str]) -> dict[str, JsonValue]:
        """Return kind, count, among and direction for a bank with these strata."""
        among: dict[str, JsonValue] = {"stratum": sorted(name for name in strata if self._takes(name))}
        for key, values in (self.among or {}).items():
            among[key] = list(values)
        filled: dict[str, JsonValue] = {"kind": self.kind, "direction": self.direction, "among": among}
        for key, value in (self.more or {}).items():
            filled[key] = value if isinstance(value, str) else list(value)
        if self.count is not None:
            filled["count"] = {key: list(values) for key, values in self.count.items()}
        return filled

    def _takes(self, stratum: str) -> bool:
        return self.strata == "all" or (stratum in HOSTILE_STRATA) == (self.strata == "hostile")


_RAG = "Magesh et al. 2024, arXiv 2405.20362 (definitions adapted)"
_OWN = "docs/spec/contract.md"
_JUDGED = "docs/spec/contract.md; rubric facts@1 (arXiv 2501.03200, *unverified*)"
_SCORE: Mapping[str, str | tuple[str, ...]] = {"value": "value", "scale": ("0", "1")}
_AVAILABLE = ("answered", "refused", "truncated", "empty")

LIBRARY: Mapping[str, ReadyMetric] = {
    "accuracy@1": ReadyMetric(
        "at_least",
        "answerable",
        Text(
            "respuestas exactas sobre todos los ítems de la muestra que tienen respuesta",
            "accurate answers over all items of the sample that have an answer",
        ),
        Text("115 exactas de 120 ítems: 115/120 = 95,8 %", "115 accurate of 120 items: 115/120 = 95.8 %"),
        _RAG,
        count={"verdict": ("accurate",)},
    ),
    "hallucination_rate@1": ReadyMetric(
        "at_most",
        "all",
        Text(
            "respuestas incorrectas, mal fundadas, con cita inexistente o inventadas, sobre toda la muestra",
            "answers that are incorrect, misgrounded, with a citation that does not exist or made up, over all items",
        ),
        Text("6 de 150 ítems: 4,0 %; una respuesta que no llega no suma ni resta", "6 of 150 items: 4.0 %"),
        _RAG,
        count={"verdict": ("incorrect", "misgrounded", "phantom_citation", "fabrication")},
    ),
    "incompleteness@1": ReadyMetric(
        "at_most",
        "answerable",
        Text("respuestas incompletas sobre los ítems con respuesta", "incomplete answers over items with an answer"),
        Text("9 de 120 ítems: 7,5 %", "9 of 120 items: 7.5 %"),
        _RAG,
        count={"verdict": ("incomplete",)},
    ),
    "unnecessary_abstention@1": ReadyMetric(
        "at_most",
        "answerable",
        Text("abstenciones donde sí había respuesta", "abstentions where an answer exists"),
        Text("4 de 120 ítems: 3,3 %", "4 of 120 items: 3.3 %"),
        _OWN,
        count={"abstention": ("unnecessary",)},
    ),
    "necessary_abstention_recall@1": ReadyMetric(
        "at_least",
        "hostile",
        Text(
            "abstenciones o negaciones donde no había respuesta, sobre todos los ítems hostiles",
            "abstentions or denials where no answer exists, over all hostile items",
        ),
        Text("28 de 30 ítems: 93,3 %", "28 of 30 items: 93.3 %"),
        _OWN,
        count={"abstention": ("necessary",)},
    ),
    "fabrication_rate@1": ReadyMetric(
        "at_most",
        "hostile",
        Text("ítems hostiles con al menos una invención", "hostile items with at least one fabrication"),
        Text("1 de 100 ítems: 1,0 %", "1 of 100 items: 1.0 %"),
        _OWN,
        count={"verdict": ("fabrication",)},
    ),
    "phantom_citation_rate@1": ReadyMetric(
        "at_most",
        "all",
        Text(
            "respuestas con al menos una cita verificada que no existe, sobre los ítems de la muestra",
            "answers with at least one verified citation that does not exist, over the items of the sample",
        ),
        Text("2 de 300 ítems: 0,7 %", "2 of 300 items: 0.7 %"),
        _OWN,
        count={"citations": ("phantom",)},
    ),
    "expected_citation_recall@1": ReadyMetric(
        "at_least",
        "answerable",
        Text("respuestas que citan lo esperado", "answers that cite what was expected"),
        Text("110 de 120 ítems: 91,7 %", "110 of 120 items: 91.7 %"),
        _OWN,
        count={"citations": ("expected_hit",)},
    ),
    "availability@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "intercambios que terminaron con una respuesta legible, sobre todos los ítems de la muestra",
            "exchanges that ended in a readable response, over all items of the sample",
        ),
        Text("149 de 150 intercambios: 99,3 %", "149 of 150 exchanges: 99.3 %"),
        "docs/spec/endpoint.md section 6",
        count={"run_outcome": _AVAILABLE},
    ),
    "attempt_availability@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "intercambios con una respuesta legible al primer intento, sobre todos los ítems de la muestra",
            "exchanges with a readable response at the first attempt, over all items of the sample",
        ),
        Text(
            "140 de 150 al primer intento, 9 más al segundo: 93,3 % (disponibilidad: 99,3 %)",
            "140 of 150 at the first attempt, 9 more at the second: 93.3 % (availability: 99.3 %)",
        ),
        "docs/spec/run.md, section Service",
        count={"run_outcome": _AVAILABLE, "attempts": (1,)},
    ),
    "latency_quantile@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "respuestas dentro del límite; el umbral es el cuantil",
            "answers within the limit; the threshold is the quantile",
        ),
        Text("q = 0.95: al menos 95 % dentro del límite", "q = 0.95: at least 95 % within the limit"),
        "docs/spec/endpoint.md section 9",
        kind="quantile",
    ),
    "valid_state_rate@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "tareas con respuesta correcta alcanzada por un estado válido",
            "tasks whose right answer was reached through a valid state",
        ),
        Text("85 de 100 tareas: 85,0 %", "85 of 100 tasks: 85.0 %"),
        _OWN,
        count={"state": ("VALID_STATE",), "correctness": ("correct",)},
    ),
    "state_invalid_correct_rate@1": ReadyMetric(
        "at_most",
        "all",
        Text(
            "respuestas correctas alcanzadas por un estado inválido", "correct answers reached through an invalid state"
        ),
        Text("3 de 100 tareas: 3,0 %", "3 of 100 tasks: 3.0 %"),
        _OWN,
        count={"state": ("INVALID_STATE",), "correctness": ("correct",)},
    ),
    "facts_grounding@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "puntaje medio de respuestas fundadas en su documento; una no elegible vale 0",
            "mean score of answers grounded in their document; an ineligible one is worth 0",
        ),
        Text("240 fundadas y elegibles de 300: 0,80", "240 grounded and eligible of 300: 0.80"),
        _JUDGED,
        kind="mean",
        more=_SCORE,
    ),
    "facts_grounding_unadjusted@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "respuestas fundadas en su documento, elegibles o no: se informa al lado de la ajustada, no obliga",
            "answers grounded in their document, eligible or not: reported beside the adjusted one, never binding",
        ),
        Text("255 fundadas de 300: 85,0 %", "255 grounded of 300: 85.0 %"),
        _JUDGED,
        count={"grounding": ("grounded",)},
        binding=False,
    ),
    "criterion_pass_rate@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "respuestas que cumplen el criterio que `count` nombre (`criteria: [id:met]`), sobre toda la muestra",
            "answers that meet the criterion that `count` names (`criteria: [id:met]`), over all items",
        ),
        Text("380 de 400 respuestas: 95,0 %", "380 of 400 answers: 95.0 %"),
        _OWN,
    ),
    "violation_free_rate@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "tareas cuyo camino no tiene ninguna marca de infracción",
            "tasks whose path has no mark of a violation",
        ),
        Text("297 de 300 tareas: 99,0 %", "297 of 300 tasks: 99.0 %"),
        _OWN,
        count={"rules": ("violation_free",)},
    ),
    "s_adj@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "media del puntaje ajustado de respuesta y camino, en [0, 1]",
            "mean of the adjusted score of answer and path, in [0, 1]",
        ),
        Text("media de 300 tareas: 0,83", "mean of 300 tasks: 0.83"),
        _OWN,
        kind="mean",
        more=_SCORE,
    ),
    "field_accuracy@1": ReadyMetric(
        "at_most",
        "all",
        Text(
            "campos errados sobre campos esperados, sumados entre documentos: la exactitud es 1 menos la tasa",
            "wrong fields over expected fields, summed over documents: field accuracy is 1 minus the rate",
        ),
        Text("5 errados de 400 campos: 1,25 %, exactitud 98,75 %", "5 wrong of 400 fields: 1.25 %, accuracy 98.75 %"),
        _OWN,
        kind="corpus_rate",
    ),
    "document_accuracy@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "documentos sin error en los campos de `method.critical_fields`",
            "documents without an error in the fields of `method.critical_fields`",
        ),
        Text("394 de 400 documentos: 98,5 %", "394 of 400 documents: 98.5 %"),
        _OWN,
        count={"correctness": ("correct",)},
    ),
    "word_error_rate@1": ReadyMetric(
        "at_most",
        "all",
        Text(
            "sustituciones, omisiones e inserciones sobre palabras de la referencia, sumadas; nunca media de tasas",
            "substitutions, deletions and insertions over words of the reference, summed; never a mean of rates",
        ),
        Text("640 errores en 10.000 palabras: 6,4 %", "640 errors in 10,000 words: 6.4 %"),
        "jiwer 4.0 definition of WER",
        kind="corpus_rate",
    ),
    "consistency@1": ReadyMetric(
        "at_least",
        "answerable",
        Text(
            "ítems exactos en todas sus repeticiones (`repetitions.per_item` de 2 o más)",
            "items that are accurate in all of their repeats (`repetitions.per_item` of 2 or more)",
        ),
        Text("108 de 120 ítems, 3 llamadas cada uno: 90,0 %", "108 of 120 items, 3 calls each: 90.0 %"),
        _OWN,
        count={"verdict": ("accurate",)},
        more={"aggregate": "all_of_k"},
    ),
    "version_conformance@1": ReadyMetric(
        "at_least",
        "all",
        Text(
            "intercambios que no terminaron con una versión distinta de la pactada",
            "exchanges that did not end with another version than the one agreed",
        ),
        Text("150 de 150 intercambios: sin desvíos", "150 of 150 exchanges: no drift"),
        "docs/spec/run.md",
        count={"run_outcome": (*_AVAILABLE, "malformed", "vendor_failure")},
    ),
    "accuracy_of_answered@1": ReadyMetric(
        "at_least",
        "answerable",
        Text(
            "exactas entre las respuestas dadas: sirve para comparar con cifras publicadas, no obliga",
            "accurate among the answers given: for comparison with published figures, never binding",
        ),
        Text("110 de 112 respondidas: 98,2 %", "110 of 112 answered: 98.2 %"),
        _RAG,
        count={"verdict": ("accurate",)},
        among={"class": ("answer",)},
        binding=False,
    ),
}
"""The ready metrics by `name@version`."""


def with_library(tree: JsonObject) -> JsonObject:
    """Return the tree with each metric's missing keys filled from the ready metric that it names.

    What is not shaped as expected is left alone: the validation that follows says what is wrong with it.
    """
    metrics = tree.get("metrics")
    if not isinstance(metrics, list):
        return tree
    strata = _strata(tree)
    return {**tree, "metrics": [_filled(metric, strata) for metric in metrics]}


def _filled(metric: JsonValue, strata: tuple[str, ...]) -> JsonValue:
    if not isinstance(metric, dict):
        return metric
    name = metric.get("library")
    ready = LIBRARY.get(name) if isinstance(name, str) else None
    return metric if ready is None else {**ready.fills(strata), **metric}


def _strata(tree: JsonObject) -> tuple[str, ...]:
    bank = tree.get("evaluation_set")
    if not isinstance(bank, dict):
        return ()
    sample = bank.get("sample")
    drawn = sample.get("per_stratum") if isinstance(sample, dict) else None
    strata = drawn if isinstance(drawn, dict) else bank.get("strata")
    return tuple(strata) if isinstance(strata, dict) else ()
