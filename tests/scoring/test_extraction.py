"""From a text to the answer in it."""

from __future__ import annotations

import pytest

from slaverify.scoring import default_settings
from slaverify.scoring.extraction import extract

SETTINGS = default_settings("qa@1", "es-CL")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Son 20 días.", "Son 20 días."),
        ("<think>15</think>Son 20 días.", "Son 20 días."),
        ("ver 15</think>20 días", "20 días"),
        ("<think>a</think>x<think>b</think>y", "y"),
        ("[THINK]a[/THINK]b", "b"),
        ("<|channel|>analysis<|message|>15<|channel|>final<|message|>20", "20"),
        ("Respuesta: 15", "15"),
        ("Puede ser 20. Respuesta final: 15", "15"),
        ("Respuesta: 20\nRespuesta: 15", "15"),
        ("La respuesta correcta: 15 días", "15 días"),
        ("Answer: 72", "72"),
        ("#### 72", "72"),
        ("Luego \\boxed{\\frac{1}{2}} fin", "\\frac{1}{2}"),
        ("Respuesta: 15\nPregunta: ¿otra?\nRespuesta: 20", "15"),
        ("15 días\n\nQ: otra", "15 días"),
        ("Pregunta: ¿cuál?\nRespuesta: 15", "15"),
        ("Solución:", "Solución:"),
        ("Hola, 15 días", "15 días"),
        ("Buenos días. Son 15. Saludos cordiales.", "Son 15."),
        ("Gracias por su consulta. Son 15. Espero que le sirva.", "Son 15."),
        ("Gracias.", "Gracias."),
        ("Lo siento. No consta.", "No consta."),
    ],
)
def test_extract(text: str, answer: str) -> None:
    found = extract(text, SETTINGS)
    assert not found.truncated
    assert text[found.answer.start : found.answer.end] == answer


@pytest.mark.parametrize(
    "text",
    [
        "<think>el artículo dice 15",
        "hola <reasoning>x",
        "<|channel|>analysis<|message|>15",
        "<think>a</think>b<think>c",
    ],
)
def test_reasoning_that_never_closes(text: str) -> None:
    assert extract(text, SETTINGS).truncated
