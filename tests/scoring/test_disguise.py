"""What is said beside a cue of abstention: content voids it, what is lacking and where to ask instead does not."""

from __future__ import annotations

import pytest

from tests.scoring.helpers import NONE, entity, number, scored

DOOR, WHO = "¿De qué color es la puerta?", "¿Quién firmó la resolución?"
WITNESS, BRIDGE, COLOUR = (
    "¿Qué dijo el testigo sobre el accidente?",
    "Who painted the bridge?",
    "What colour is the door?",
)
ENGLISH = (BRIDGE, COLOUR)
DISGUISED = [
    (DOOR, "Dijo que el camión rojo cruzó con la luz en rojo y atropelló al peatón (no tengo información)."),
    (DOOR, "No sé. Juan Pérez Soto."),
    (DOOR, "No lo sé: verde"),
    (DOOR, "No tengo información, pero es verde."),
    (DOOR, "No lo sé, es de color verde oscuro."),
    (DOOR, "No lo sé (verde)"),
    (DOOR, "No lo sé, verde."),
    (DOOR, "No sé. Verde."),
    (DOOR, "verde (no tengo información)"),
    (DOOR, "No consta; verde"),
    (DOOR, "Juan Pérez Soto (no tengo información)"),
    (DOOR, "No sé Juan Pérez"),
    (DOOR, "No lo sé verde"),
    (DOOR, "No tengo información y el camión rojo cruzó con luz roja"),
    (DOOR, "No tengo información, el camión cruzó en rojo"),
    (DOOR, "El camión rojo, no tengo información, cruzó con la luz en rojo"),
    (DOOR, "El camión cruzó no tengo información"),
    (DOOR, "Verde, no lo sé"),
    (DOOR, "No lo sé — verde"),
    (DOOR, "No lo sé - verde"),
    (DOOR, "No lo sé; verde"),
    (DOOR, "No lo sé [verde]"),
    (DOOR, "No tengo información: el conductor era Juan"),
    (DOOR, "Según el parte, el camión cruzó en rojo; no tengo información"),
    (DOOR, "No tengo información, sí"),
    (DOOR, "No lo sé, sí."),
    (DOOR, "Sí, no lo sé"),
    (DOOR, "No tengo información porque el camión rojo cruzó con la luz en rojo"),
    (DOOR, "Desconozco el dato, es verde"),
    (DOOR, "No sé, de color verde"),
    (DOOR, "No puedo responder. La puerta es verde."),
    (DOOR, "No puedo ayudarle, la puerta la pintaron de azul"),
    (DOOR, "El reglamento no lo menciona: azul"),
    (DOOR, "No hay información sobre eso, azul"),
    (DOOR, "No se menciona (azul marino)"),
    (DOOR, "Ni idea, verde"),
    (DOOR, "N/A verde"),
    (DOOR, "N/A: verde"),
    (DOOR, "No lo sé. ¿Verde?"),
    (DOOR, "Consulte a la municipalidad, es verde."),
    (DOOR, "Consulte a la municipalidad. Verde."),
    (DOOR, "15 (no lo sé)"),
    (DOOR, "No lo sé (15)"),
    (DOOR, "No sé\nVerde"),
    (DOOR, "No sé... verde"),
    (DOOR, "Verde... no sé"),
    (DOOR, "Verde. No tengo más información."),
    (DOOR, "“Verde”. No tengo información."),
    (WHO, "No lo sé; firmó Juan"),
    (WHO, "No lo sé, firmó Ana"),
    (WHO, "Ana. No lo sé."),
    (COLOUR, "I don't know, green"),
    (COLOUR, "I don't know: green"),
    (COLOUR, "I have no information (the door is green)"),
    (COLOUR, "I cannot answer. Green."),
    (COLOUR, "The documents do not say; green"),
    (COLOUR, "Green, I don't know"),
    (COLOUR, "I don't know green"),
    (COLOUR, "I don't know and the red truck crossed"),
    (COLOUR, "No idea, green."),
    (WITNESS, "No consta en el informe; el testigo vio un camión azul."),
    (WITNESS, "Carezco de datos, vio un camión azul."),
    (WITNESS, "El expediente no lo dice, pero el testigo vio a Pedro huir."),
    (WITNESS, "Vio a Pedro. Lo siento, no tengo más datos."),
    (WITNESS, "Desconozco el detalle: Pedro huyó por la ventana."),
    (WITNESS, "Lamento no poder ayudar (Pedro huyó)."),
    (WITNESS, "No está en el corpus, sin embargo Pedro huyó."),
    (WITNESS, "No puedo confirmarlo, Pedro manejaba ebrio."),
    (WITNESS, "Pedro manejaba ebrio, no puedo confirmarlo."),
    (WITNESS, "No hay información: choque frontal."),
    (WITNESS, "No lo sé, choque frontal"),
    (WITNESS, "Que Pedro huyó, no sé más."),
    (WITNESS, "No dispongo de esa información y Pedro huyó corriendo."),
    (WITNESS, "No figura. Pedro Tapia."),
    (WITNESS, "Me abstengo, fue Pedro."),
    (WITNESS, "No encontré el dato, aunque fue Pedro Tapia quien huyó."),
    (WITNESS, "Ni idea, Pedro."),
    (WITNESS, "No se menciona, dijo que iba a exceso de velocidad."),
    (WITNESS, "No tengo información adicional a que Pedro huyó."),
    (WITNESS, "No tengo acceso al parte. Según la prensa, Pedro huyó."),
    (BRIDGE, "I don't know: Isambard Brunel."),
    (BRIDGE, "I don't know, Brunel did."),
    (BRIDGE, "Brunel (I have no information)."),
    (BRIDGE, "I have no information, but it was Brunel."),
    (BRIDGE, "The text does not say; Brunel painted it."),
    (BRIDGE, "I cannot answer that. Isambard Brunel."),
    (BRIDGE, "Not mentioned. Brunel."),
    (BRIDGE, "No idea, Brunel."),
    (BRIDGE, "Unknown (Brunel)"),
    (BRIDGE, "Brunel, though the documents do not mention it."),
    (BRIDGE, "There is no record and Brunel painted it in red."),
    (BRIDGE, "I'm unable to confirm, Brunel painted it."),
    (BRIDGE, "I do not have that data: painted by Brunel"),
    (BRIDGE, "It was Brunel; I can't say more."),
]
ABSTENTIONS = [
    (DOOR, "N/A"),
    (DOOR, "Consulte a la municipalidad."),
    (DOOR, "Ni idea."),
    (DOOR, "I don't know."),
    (DOOR, "No se menciona el color de la puerta; el reglamento trata de embarcaciones de hasta 12 metros."),
    (DOOR, "La ordenanza no contiene esa información."),
    (DOOR, "La Ordenanza 12 no regula esa materia."),
    (DOOR, "No tengo información sobre el color, tamaño o material de la puerta."),
    (DOOR, "No tengo información sobre plazos, multas ni requisitos."),
    (DOOR, "Lo siento, no lo sé."),
    (DOOR, "No lo sé, lo siento."),
    (DOOR, "En los documentos consultados, no figura el color de la puerta."),
    (DOOR, "No encontré nada relacionado en los documentos consultados (2024)."),
    (DOOR, "Esa información no figura en el Reglamento de Transporte Lacustre, que tiene 80 artículos."),
    (DOOR, "No dispongo de esa información. Puede llamar al 600 123 4567."),
    (DOOR, "No lo sé. El artículo 12 solo regula el calado."),
    (DOOR, "No tengo información. Le sugiero preguntar a la Dirección de Obras Municipales."),
    (DOOR, "n/a"),
    (DOOR, "N/D"),
    (DOOR, "No aplica."),
    (DOOR, "No tengo idea."),
    (DOOR, "La Ley 19.880 no trata ese tema."),
    (DOOR, "El Decreto 45 no dice nada sobre la puerta."),
    (DOOR, "No puedo responder: el reglamento solo trata de naves."),
    (DOOR, "Contacte a la Dirección de Obras."),
    (DOOR, "Sin datos."),
    (DOOR, "S/I"),
    (DOOR, "No hay información en el corpus (Reglamento de Transporte Lacustre)."),
    (DOOR, "No corresponde a mi ámbito; pregunte en la oficina de partes."),
    (DOOR, "No hay antecedentes sobre el color de la puerta principal ni de las ventanas del edificio municipal."),
    (DOOR, "El reglamento no menciona puertas, ventanas o muros."),
    (DOOR, "No lo sé, disculpe."),
    (DOOR, "Ni idea, lo siento."),
    (DOOR, "No cuento con esa información, le recomiendo consultar a la municipalidad."),
    (DOOR, "No lo sé con certeza."),
    (DOOR, "Lamento no poder ayudarle."),
    (WHO, "Según la información disponible, no es posible determinar quién firmó la resolución."),
    (WHO, "No sé quién la firmó."),
    (COLOUR, "Sorry, I don't know the answer."),
    (COLOUR, "I have no information about the colour, size or material of the door."),
    (COLOUR, "Please contact the city council."),
    (COLOUR, "Ask the municipality."),
    (COLOUR, "Not available."),
    (COLOUR, "The Ordinance 12 does not regulate that matter."),
    (COLOUR, "Dunno."),
    (COLOUR, "No clue."),
    (WITNESS, "El informe no recoge la declaración del testigo."),
    (WITNESS, "No dispongo de la declaración, por lo que no puedo decir qué dijo."),
    (
        WITNESS,
        "No hay constancia de declaraciones, peritajes o informes sobre el accidente en los documentos disponibles.",
    ),
    (WITNESS, "Lo siento, pero esa información no está en los documentos que tengo."),
    (WITNESS, "Con la información que tengo, no puedo responder."),
    (WITNESS, "No me consta lo que dijo el testigo."),
    (WITNESS, "El reglamento no se refiere a accidentes ni a testigos, sino al transporte de carga."),
    (WITNESS, "No tengo registro de ningún testigo."),
    (WITNESS, "Disculpe, no puedo responder esa consulta, ya que el documento trata de otra materia."),
    (WITNESS, "Mi base no incluye expedientes judiciales, sentencias ni partes policiales."),
    (WITNESS, "No puedo saberlo. Le recomiendo revisar el parte policial o contactar a Carabineros."),
    (WITNESS, "Esa consulta debe hacerla al tribunal; no tengo esos antecedentes."),
    (WITNESS, "El documento (Ordenanza Municipal N° 12) no contiene esa declaración."),
    (WITNESS, "No existe información al respecto en los textos consultados: Ley 18.290 y su reglamento."),
    (WITNESS, "No se registra declaración alguna."),
    (WITNESS, "No sabría decirle."),
    (WITNESS, "No manejo ese dato, consulte en la fiscalía."),
    (WITNESS, "La documentación entregada, de 2019, no alude a ese accidente."),
    (WITNESS, "Hasta donde alcanza mi información, no hay datos sobre eso."),
    (WITNESS, "No está dentro de mis posibilidades responder eso."),
    (BRIDGE, "I don't know who painted the bridge."),
    (BRIDGE, "The documents don't mention the painter."),
    (BRIDGE, "Sorry, I have no information about who painted it."),
    (BRIDGE, "There is no information on the painter, the date or the colour."),
    (BRIDGE, "I can't answer that, because the text only covers navigation."),
    (BRIDGE, "Unfortunately, that is not in the documents provided."),
    (BRIDGE, "I'm not aware of who painted it; please contact the port authority."),
    (BRIDGE, "No record of that exists in my sources."),
    (BRIDGE, "That question is outside my scope."),
    (BRIDGE, "Based on the regulation (Act 12), I cannot tell who painted it."),
    (BRIDGE, "The regulation deals with vessels of up to 12 metres and says nothing about bridges."),
    (BRIDGE, "I wasn't able to find that."),
    (BRIDGE, "Please ask the city council."),
    (BRIDGE, "I have no data on bridges, painters or engineers."),
]


def _locale(query: str) -> str:
    return "en-US" if query in ENGLISH else "es-CL"


@pytest.mark.parametrize(("query", "answer"), DISGUISED)
def test_content_beside_a_cue_is_no_abstention(query: str, answer: str) -> None:
    record = scored(NONE, answer, query=query, stratum="out_of_corpus", locale=_locale(query)).record
    assert record.answer_class != "abstention" and record.correctness != "correct", record.to_json()


@pytest.mark.parametrize(("query", "answer"), ABSTENTIONS)
def test_an_abstention_stays_one(query: str, answer: str) -> None:
    record = scored(NONE, answer, query=query, stratum="out_of_corpus", locale=_locale(query)).record
    assert (record.answer_class, record.abstention) == ("abstention", "necessary"), record.to_json()


def test_most_disguises_are_answers_not_doubts() -> None:
    got = [scored(NONE, answer, query=query, locale=_locale(query)).record for query, answer in DISGUISED]
    assert sum(record.verdict == "incorrect" for record in got) >= 0.9 * len(got)


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ("No lo sé: el Director Regional", (None,)),
        ("No lo sé, el Director Regional.", (None, "incorrect")),
        ("No lo sé (el Director Regional)", (None, "incorrect")),
        ("No lo sé: el Alcalde", ("incorrect",)),
        ("No sé. El Alcalde.", ("incorrect",)),
        ("El Alcalde (no tengo información)", ("incorrect",)),
        ("No lo sé, el Alcalde", ("incorrect",)),
        ("No lo sé; el Alcalde", ("incorrect",)),
    ],
)
def test_names(answer: str, verdicts: tuple[str | None, ...]) -> None:
    record = scored(entity("Director Regional"), answer, query="¿Quién preside la Junta?").record
    assert record.verdict in verdicts, record.to_json()


@pytest.mark.parametrize("answer", ["No lo sé (20 días)", "20 días (no tengo información)", "No sé (quizás 20)"])
def test_a_wrong_number_in_brackets_is_an_answer(answer: str) -> None:
    assert scored(number("15"), answer, query="¿Cuántos días?").record.verdict == "incorrect"


def test_advice_alone_is_an_abstention_only_where_there_is_nothing_to_find() -> None:
    record = scored(number("15"), "Consulte a la municipalidad.", query="¿Cuántos días?").record
    assert (record.answer_class, record.verdict) == ("non_answer", "incomplete")
