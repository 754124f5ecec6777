"""Why a rule decided as it did: a closed list, each word with its sentence for people."""

from __future__ import annotations

from enum import StrEnum

from slaverify.errors import Text


class Reason(StrEnum):
    """Why a rule gave its result."""

    EQUAL = "equal"
    WITHIN_TOLERANCE = "within_tolerance"
    NULL_TOKEN = "null_token"  # noqa: S105  # a token of text, no secret
    ABSTAINED = "abstained"
    API_REFUSAL = "api_refusal"
    OTHER_VALUE = "other_value"
    OTHER_UNIT = "other_unit"
    OTHER_DAY_KIND = "other_day_kind"
    OTHER_SUFFIX = "other_suffix"
    OTHER_NORM = "other_norm"
    OTHER_TYPE = "other_type"
    SIGN = "sign"
    SCALE = "scale"
    NEGATED = "negated"
    ABSENT = "absent"
    MISSING_ELEMENT = "missing_element"
    EXTRA_ELEMENT = "extra_element"
    OTHER_ORDER = "other_order"
    MULTIPLE_ANSWERS = "multiple_answers"
    CONTRADICTION = "contradiction"
    INVENTED_VALUE = "invented_value"
    ANSWERED_OUT_OF_CORPUS = "answered_out_of_corpus"
    ANSWER_MALFORMED = "answer_malformed"
    AMBIGUOUS_SEPARATOR = "ambiguous_separator"
    IMPOSSIBLE_DATE = "impossible_date"
    RELATIVE_DATE = "relative_date"
    UNIT_MISSING = "unit_missing"
    QUALIFIED = "qualified"
    UNRESOLVED_CANDIDATES = "unresolved_candidates"
    ASSERTED_INSIDE = "asserted_inside"
    OTHER_WORDS = "other_words"
    PARAPHRASE = "paraphrase"
    NO_VALUE = "no_value"
    NO_VISIBLE_TEXT = "no_visible_text"
    REASONING_NOT_CLOSED = "reasoning_not_closed"
    OVERLONG = "overlong"
    WRONG_LANGUAGE = "wrong_language"
    CLASS_UNDETERMINED = "class_undetermined"
    CUT_BODY = "cut_body"
    NO_RULE = "no_rule"
    HIT_BY_RANGE = "hit_by_range"
    LESS_PRECISE = "less_precise"
    NORM_NOT_SAID = "norm_not_said"
    EXPECTED_CITED = "expected_cited"
    OTHER_CITED = "other_cited"
    SOME_CITED = "some_cited"
    NOTHING_CITED = "nothing_cited"
    NO_CITATION_ASKED = "no_citation_asked"
    TOO_MANY_CITED = "too_many_cited"
    PHANTOM_CITATION = "phantom_citation"
    FABRICATION = "fabrication"


SENTENCES: dict[Reason, Text] = {
    Reason.EQUAL: Text("El valor es el de la referencia.", "The value is that of the reference."),
    Reason.WITHIN_TOLERANCE: Text(
        "El valor está dentro de la tolerancia acordada.", "The value is within the agreed tolerance."
    ),
    Reason.NULL_TOKEN: Text("La respuesta declara que no hay dato.", "The answer declares that there is no value."),
    Reason.ABSTAINED: Text("El motor declara que no puede responder.", "The engine says that it cannot answer."),
    Reason.API_REFUSAL: Text("La interfaz del motor rechazó la consulta.", "The engine's interface refused the query."),
    Reason.OTHER_VALUE: Text("El valor es otro.", "The value is another."),
    Reason.OTHER_UNIT: Text("La unidad es otra.", "The unit is another."),
    Reason.OTHER_DAY_KIND: Text(
        "Confunde días hábiles con días corridos.", "Working days and calendar days are confused."
    ),
    Reason.OTHER_SUFFIX: Text(
        "El sufijo del artículo es otro (bis, ter…).", "The article's suffix is another (bis, ter…)."
    ),
    Reason.OTHER_NORM: Text("La norma es otra.", "The norm is another."),
    Reason.OTHER_TYPE: Text("El tipo del dato es otro.", "The type of the value is another."),
    Reason.SIGN: Text("El signo es el contrario.", "The sign is the opposite."),
    Reason.SCALE: Text("El valor difiere en una potencia de diez.", "The value differs by a power of ten."),
    Reason.NEGATED: Text("La respuesta niega el valor correcto.", "The answer denies the right value."),
    Reason.ABSENT: Text("El valor correcto no aparece.", "The right value does not appear."),
    Reason.MISSING_ELEMENT: Text("Falta un elemento.", "An element is missing."),
    Reason.EXTRA_ELEMENT: Text("Sobra un elemento.", "There is one element too many."),
    Reason.OTHER_ORDER: Text("El orden es otro.", "The order is another."),
    Reason.MULTIPLE_ANSWERS: Text(
        "Ofrece varias respuestas sin elegir una.", "It offers several answers without choosing one."
    ),
    Reason.CONTRADICTION: Text("Afirma dos valores que se contradicen.", "It states two values that contradict."),
    Reason.INVENTED_VALUE: Text("Da un valor donde no hay ninguno.", "It gives a value where there is none."),
    Reason.ANSWERED_OUT_OF_CORPUS: Text(
        "Respondió una pregunta que el corpus no permite responder (no se afirma que lo dicho sea falso).",
        "It answered a question that the corpus does not answer (which does not say that the answer is false).",
    ),
    Reason.ANSWER_MALFORMED: Text("La respuesta no tiene la forma pedida.", "The answer has not the agreed form."),
    Reason.AMBIGUOUS_SEPARATOR: Text(
        "El número no se puede leer según la configuración regional acordada.",
        "The number cannot be read in the agreed locale.",
    ),
    Reason.IMPOSSIBLE_DATE: Text("La fecha no existe.", "There is no such date."),
    Reason.RELATIVE_DATE: Text(
        "La fecha es relativa y no se puede fijar.", "The date is relative and cannot be fixed."
    ),
    Reason.UNIT_MISSING: Text(
        "El valor coincide, pero no dice la unidad.", "The value agrees, but its unit is not said."
    ),
    Reason.QUALIFIED: Text(
        "El valor aparece con una salvedad que ninguna regla resuelve.",
        "The value comes with a qualification that no rule resolves.",
    ),
    Reason.UNRESOLVED_CANDIDATES: Text(
        "Hay varios valores y ninguna regla dice cuál es la respuesta.",
        "There are several values and no rule says which one is the answer.",
    ),
    Reason.ASSERTED_INSIDE: Text(
        "El valor aparece dentro de una respuesta más larga, que ninguna regla decide.",
        "The value stands inside a longer answer, which no rule decides.",
    ),
    Reason.OTHER_WORDS: Text(
        "La transcripción difiere en más palabras que lo acordado.",
        "The transcript differs in more words than agreed.",
    ),
    Reason.PARAPHRASE: Text(
        "El texto es distinto; puede ser una paráfrasis.", "The text is different; it may be a paraphrase."
    ),
    Reason.NO_VALUE: Text("No da ningún valor.", "It gives no value."),
    Reason.NO_VISIBLE_TEXT: Text("La respuesta no tiene texto visible.", "The answer has no visible text."),
    Reason.REASONING_NOT_CLOSED: Text(
        "El razonamiento quedó abierto y no hay respuesta.", "The reasoning was never closed: there is no answer."
    ),
    Reason.OVERLONG: Text("La respuesta excede el largo acordado.", "The answer is longer than agreed."),
    Reason.WRONG_LANGUAGE: Text(
        "La respuesta no está en el idioma acordado.", "The answer is not in the agreed language."
    ),
    Reason.CLASS_UNDETERMINED: Text(
        "No se puede saber si responde o se abstiene.", "It cannot be told whether it answers or abstains."
    ),
    Reason.CUT_BODY: Text(
        "La respuesta llegó en un segundo intento, tras un cuerpo cortado.",
        "The answer came in a second try, after a body that was cut.",
    ),
    Reason.HIT_BY_RANGE: Text(
        "El artículo está dentro de un rango citado.", "The article lies inside a range that is cited."
    ),
    Reason.LESS_PRECISE: Text("Es menos preciso que lo pedido.", "It is less precise than what was asked."),
    Reason.NORM_NOT_SAID: Text(
        "El artículo coincide, pero no se sabe de qué norma.", "The article agrees, but its norm is not said."
    ),
    Reason.EXPECTED_CITED: Text("Cita lo que la referencia espera.", "It cites what the reference expects."),
    Reason.OTHER_CITED: Text(
        "Cita artículos distintos del que corresponde.", "It cites other articles than the right one."
    ),
    Reason.SOME_CITED: Text("Cita sólo una parte de lo esperado.", "It cites only a part of what was expected."),
    Reason.NOTHING_CITED: Text("No cita nada que se pueda buscar.", "It cites nothing that can be looked up."),
    Reason.NO_CITATION_ASKED: Text("La pregunta no espera ninguna cita.", "The question expects no citation."),
    Reason.TOO_MANY_CITED: Text(
        "Cita tantos artículos que no señala ninguno.", "It cites so many articles that it points at none."
    ),
    Reason.PHANTOM_CITATION: Text(
        "Cita como verificado algo que no está en el catálogo.", "It cites as verified what is not in the catalogue."
    ),
    Reason.FABRICATION: Text(
        "Da por existente lo que la pregunta inventa.", "It takes as existing what the question made up."
    ),
    Reason.NO_RULE: Text("Ninguna regla cubre esta clase de referencia.", "No rule covers this kind of reference."),
}
"""The sentence of each reason; a test asserts that none is missing."""
