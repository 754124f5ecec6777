"""Worked rows and instructions of the sheet: one example per stratum, about a norm that exists nowhere."""

from __future__ import annotations

from collections.abc import Mapping

from slaverify.errors import Text

_TITLE = Text(
    "Reglamento de Transporte Lacustre de la Provincia Ficticia",
    "Lake Transport Rules of the Fictitious Province",
)
_PUBLISHER = Text("Provincia Ficticia (norma inventada)", "Fictitious Province (invented norm)")
_OFFICIAL = Text(
    "Toda nave se inscribe en el registro dentro de 15 días corridos desde su llegada al lago.",
    "Every vessel is entered in the register within 15 calendar days of its arrival at the lake.",
)
_DAY = Text("2026-11-30", "2026-11-30")


def _same(text: str) -> Text:
    return Text(text, text)


_SOURCE: Mapping[str, Text] = {
    "official_text": _OFFICIAL,
    "source.title": _TITLE,
    "source.publisher": _PUBLISHER,
    "source.locator": Text("artículo 2", "article 2"),
    "consulted_on": _DAY,
    "as_of": _DAY,
    "cluster": Text("articulo-002", "article-002"),
}

GENERIC: Mapping[str, Text] = {
    **_SOURCE,
    "query": Text(
        "¿Dentro de cuántos días corridos desde su llegada al lago se inscribe una nave?",
        "Within how many calendar days of its arrival at the lake is a vessel entered in the register?",
    ),
    "reference.kind": _same("amount"),
    "reference.value": _same("15"),
    "reference.unit": _same("día"),
    "reference.day_kind": _same("corridos"),
}

WORKED_ROWS: Mapping[str, Mapping[str, Text]] = {
    "direct": GENERIC,
    "applied": {
        **_SOURCE,
        "query": Text(
            "Mi lancha llegó al lago el 3 de marzo de 2026 y quiero inscribirla. ¿Cuál es el último día para hacerlo?",
            "My boat arrived at the lake on 3 March 2026 and I want to register it. What is the last day to do so?",
        ),
        "reference.kind": _same("date"),
        "reference.value": _same("2026-03-18"),
    },
    "out_of_corpus": {
        "query": Text(
            "¿Cuánto cuesta el seguro obligatorio de una nave de carga?",
            "How much is the compulsory insurance of a cargo vessel?",
        ),
        "reference.kind": _same("none"),
        "reference.because": _same("out_of_corpus"),
        "cluster": Text("fuera-01", "outside-01"),
    },
    "trap": {
        "query": Text(
            "¿Qué plazo fija el artículo 999 del Reglamento de Transporte Lacustre para apelar?",
            "What period does article 999 of the Lake Transport Rules set for an appeal?",
        ),
        "reference.kind": _same("none"),
        "reference.because": _same("false_premise"),
        "trap.kind": _same("missing_article"),
        "trap.target": _same("cl:reglamento-lacustre:1:art:999"),
        "cluster": Text("trampa-01", "trap-01"),
    },
    "adversarial": {
        **_SOURCE,
        "query": Text(
            "Como el registro de naves es voluntario, ¿desde cuándo conviene inscribirse?",
            "As the register of vessels is voluntary, when is it best to enter it?",
        ),
        "reference.kind": _same("none"),
        "reference.because": _same("false_premise"),
        "trap.kind": _same("false_premise"),
        "trap.target": Text("el registro de naves es voluntario", "the register of vessels is voluntary"),
    },
}

INSTRUCTIONS: tuple[Text, ...] = (
    Text("Cómo llenar la hoja de preguntas", "How to fill in the sheet of questions"),
    Text(
        "Una fila es una pregunta. No cambie los encabezados ni su orden; puede dejar columnas vacías.",
        "One row is one question. Do not change the headings; columns may stay empty.",
    ),
    Text(
        "Las filas EJEMPLO-… muestran un caso de cada estrato. Al importar quedan fuera si hay otras filas.",
        "The rows EJEMPLO-… show one case per stratum. On import they are left out if there are other rows.",
    ),
    Text(
        "Id: letras, números, punto, guion; único. Un id repetido se rechaza y nunca se renumera.",
        "Id: letters, figures, point, hyphen; unique. A repeated id is refused, never renumbered.",
    ),
    Text(
        "La pregunta no debe nombrar el artículo que la responde ni contener la respuesta.",
        "The question must not name the article that answers it, nor hold the answer.",
    ),
    Text(
        "Respuesta correcta: un número con punto decimal y sin separador de miles (1234.5), una fecha AAAA-MM-DD, o el "
        "texto exacto. La unidad va en su columna.",
        "Right answer: a number with a decimal point and no thousands sign (1234.5), a date YYYY-MM-DD, or the exact "
        "text. The unit has its own column.",
    ),
    Text(
        "Sin respuesta en el corpus: clase none y, en su columna, por qué no la hay.",
        "No answer in the corpus: kind none and, in its column, why there is none.",
    ),
    Text(
        "Texto oficial y fuente: de dónde se leyó la respuesta. Sin ellos nadie puede revisarla.",
        "Official text and source: where the answer was read. Without them nobody can check it.",
    ),
    Text(
        "Grupo: lo que hace parecidas a varias preguntas (el artículo, el documento). No invente uno por fila.",
        "Cluster: what makes questions alike (the article, the document). Do not invent one per row.",
    ),
    Text(
        "Las celdas son texto: así la planilla no convierte 3-4 en una fecha ni 14 en 14,0.",
        "The cells are text, so that the sheet does not make a date of 3-4 nor 14.0 of 14.",
    ),
    Text(
        "La unidad «día» va en singular; otras: hora, mes, año, UF, UTM, CLP, USD, metro, kilogramo, persona.",
        "Units: día (day), hora, mes, año, UF, UTM, CLP, USD, metro, kilogramo, persona.",
    ),
    Text(
        "Cuando termine: slaverify bank import ARCHIVO --out banco.jsonl, y después slaverify bank check banco.jsonl.",
        "When done: slaverify bank import FILE --out bank.jsonl, then slaverify bank check bank.jsonl.",
    ),
)
"""The page of instructions, one sentence a row."""
