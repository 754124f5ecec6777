"""What the tests of the document share: drawable characters, the models and pages of all states, some PDFs."""

from __future__ import annotations

from functools import cache
from itertools import product

from slaverify.canonical import loads_object
from slaverify.report import build
from slaverify.report.fonts import drawable, prepare_fonts
from slaverify.report.page import page_html
from slaverify.report.pdf import render
from tests.report import sample

LANGUAGES = ("es", "en")
EVERY = tuple(product(sample.STATES, LANGUAGES))


@cache
def drawable_characters() -> frozenset[int]:
    faces = prepare_fonts()
    return drawable(faces.regular, faces.bold)


@cache
def model(state: str, language: str):
    return loads_object(build(sample.bundle(state), language))


@cache
def page(state: str, language: str) -> str:
    return page_html(model(state, language), drawable_characters())


@cache
def pdf(state: str, language: str) -> bytes:
    bundle = sample.bundle(state)
    return render(build(bundle, language), bundle.manifest_bytes)
