"""Write the demonstration norm and its questions, from the texts of `tests/tools/demo_set/`.

The norm, its bodies and its figures are fictional. Four files come out, always the same bytes:
`contratos/practica/norma_ficticia.json` (what the simulated engine reads), the catalogue beside the demo contract (the
norm and its articles), `custodia/demo/preguntas.jsonl` (the 620 items that are sealed, over five strata) and
`contratos/practica/preguntas_publicas.jsonl` (32 items for practice).

The norm's own files hold the direct questions; `aplicadas.txt` a case for two facts of each article; `premisas.txt` a
question with a falsehood in it for the third; `trampas.txt` what names an article, norm or case that does not exist;
`fuera.txt` what the norm does not hold. A line that begins with `* ` is for practice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).resolve().parent / "demo_set"
NORM = ROOT / "contratos" / "practica" / "norma_ficticia.json"
CATALOGUE = ROOT / "contratos" / "demo-normativa-cl.catalogue.jsonl"
BANK = ROOT / "custodia" / "demo" / "preguntas.jsonl"
PUBLIC = ROOT / "contratos" / "practica" / "preguntas_publicas.jsonl"

TITLE = "Reglamento de Transporte Lacustre de la Provincia Ficticia"
NORM_ID = "cl:reglamento-lacustre:1"
ALIASES = (TITLE, "Reglamento de Transporte Lacustre", "reglamento lacustre")
DAY = "2026-11-30"
PUBLISHER = "Provincia Ficticia (norma inventada)"
NOTICE = {
    "es": "Norma inventada para la demostración: no rige en ningún lugar.",
    "en": "A norm invented for the demonstration: it is in force nowhere.",
}


@dataclass(frozen=True)
class Fact:
    """One fact of an article. `value` is a decimal string, or the text of the right option."""

    article: int
    ask: str
    value: str
    unit: str
    question: str
    options: tuple[str, ...]
    public: bool

    @property
    def shown(self) -> str:
        """The value as the norm writes it."""
        if self.options:
            return self.value
        number = chilean(self.value)
        return f"{number} {self.unit}".strip()


@dataclass(frozen=True)
class Article:
    """One article: its number, title, text and facts."""

    number: int
    title: str
    text: str
    facts: tuple[Fact, ...]


def chilean(value: str) -> str:
    """Return a decimal string as `es-CL` writes it: 4500 is 4.500 and 1.5 is 1,5."""
    whole, _, fraction = value.partition(".")
    grouped = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+$)", ".", whole)
    return f"{grouped},{fraction}" if fraction else grouped


def articles() -> list[Article]:
    """Read the articles in order."""
    blocks: list[str] = []
    for path in sorted(SOURCE.glob("norma_*.txt")):
        blocks += [block for block in path.read_text("utf-8").split("# ")[1:] if block.strip()]
    return [_article(number, block.strip().split("\n")) for number, block in enumerate(blocks, 1)]


def _article(number: int, lines: list[str]) -> Article:
    title, sentence, *rows = lines
    facts: list[Fact] = []
    tails: list[str] = []
    for row in rows:
        public = row.startswith("* ")
        fields = [field.strip() for field in row.removeprefix("* ").split("|")]
        facts.append(_fact(number, fields, public))
        if public:
            tails.append(fields[4].replace("{1}", facts[-1].shown))
    for place, fact in enumerate((fact for fact in facts if not fact.public), 1):
        sentence = sentence.replace(f"{{{place}}}", fact.shown)
    return Article(number, title, " ".join([sentence, *tails]), tuple(facts))


def _fact(article: int, fields: list[str], public: bool) -> Fact:
    if fields[0] == "=":
        texts = [text.strip() for text in fields[1].split(";")]
        right = next(text[1:] for text in texts if text.startswith("*"))
        options = tuple(text.removeprefix("*") for text in texts)
        return Fact(article, fields[2], right, "", fields[3], options, public)
    return Fact(article, fields[2], fields[0], fields[1], fields[3], (), public)


def norm_json() -> bytes:
    """Return the norm with its facts."""
    every = articles()
    facts = [
        {
            "article": fact.article,
            "ask": [fact.ask],
            "kind": "choice" if fact.options else "number",
            "value": fact.value,
            "unit": fact.unit,
            **({"options": list(fact.options)} if fact.options else {}),
        }
        for article in every
        for fact in article.facts
    ]
    rows = ",\n".join("  " + json.dumps(fact, ensure_ascii=False) for fact in facts)
    texts = ",\n".join(
        "  " + json.dumps({"number": one.number, "title": one.title, "text": one.text}, ensure_ascii=False)
        for one in every
    )
    head = {
        "type": "slaverify/demo-norm/1",
        "title": TITLE,
        "notice": NOTICE,
        "locale": "es-CL",
    }
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items())
    return f'{{\n{lines},\n "articles": [\n{texts}\n ],\n "facts": [\n{rows}\n ]\n}}\n'.encode()


def _query(fact: Fact, question: str) -> str:
    if not fact.options:
        return question
    listed = "; ".join(f"{label}) {text}" for label, text in zip("ABCDEF", fact.options, strict=False))
    return f"{question} {listed}."


def _reference(fact: Fact) -> dict[str, object]:
    if fact.options:
        options = dict(zip("ABCDEF", fact.options, strict=False))
        right = next(label for label, text in options.items() if text == fact.value)
        return {"kind": "choice", "value": right, "options": options}
    unit, _, day_kind = fact.unit.partition(" ")
    if unit == "días" and day_kind:
        return {"kind": "amount", "value": fact.value, "unit": "día", "day_kind": day_kind}
    percent = {"unit": "%"} if fact.unit == "%" else {}
    return {"kind": "number", "value": fact.value, **percent}


def _of_norm(article: Article, fact: Fact, item_id: str, stratum: str, question: str) -> dict[str, object]:
    return {
        "schema": "item/1",
        "id": item_id,
        "stratum": stratum,
        "query": _query(fact, question),
        "reference": _reference(fact),
        "official_text": article.text,
        "source": {"title": TITLE, "publisher": PUBLISHER, "locator": f"artículo {article.number}"},
        "consulted_on": DAY,
        "as_of": DAY,
        "cluster": f"articulo-{article.number:03}",
    }


def _citing(article: Article, fact: Fact, item_id: str, stratum: str, question: str) -> dict[str, object]:
    item = _of_norm(article, fact, item_id, stratum, question)
    return {**item, "expected_citations": [{"id": f"{NORM_ID}:art:{article.number}"}]}


def _without_answer(stratum: str, query: str, item_id: str, because: str, cluster: str) -> dict[str, object]:
    reference = {"kind": "none", "because": because}
    item: dict[str, object] = {"schema": "item/1", "id": item_id, "stratum": stratum, "query": query}
    return {**item, "reference": reference, "cluster": cluster}


def _lines(name: str, public: bool) -> list[list[str]]:
    lines = (line for line in (SOURCE / name).read_text("utf-8").splitlines() if line.strip())
    chosen = [line.removeprefix("* ") for line in lines if line.startswith("* ") == public]
    return [[field.strip() for field in line.split(" | ")] for line in chosen]


def _direct(public: bool) -> Iterator[dict[str, object]]:
    for article in articles():
        chosen = [fact for fact in article.facts if fact.public == public]
        for place, fact in enumerate(chosen, 1):
            yield _citing(article, fact, f"directa-{article.number:03}-{place}", "direct", fact.question)


def _applied(public: bool) -> Iterator[dict[str, object]]:
    for place, question in _lines("aplicadas.txt", public):
        article, fact = _fact_at(place)
        yield _citing(article, fact, f"caso-{place.replace('.', '-')}", "applied", question)


def _adversarial(public: bool) -> Iterator[dict[str, object]]:
    for place, false, question in _lines("premisas.txt", public):
        article, fact = _fact_at(place)
        item = _of_norm(article, fact, f"premisa-{place.replace('.', '-')}", "adversarial", question)
        yield {**item, "trap": {"kind": "false_premise", "target": f"{article.title}: {false}"}}


_KINDS = {"art": "missing_article", "rol": "missing_case", "dictamen": "missing_case"}


def _trap(public: bool) -> Iterator[dict[str, object]]:
    for place, (target, question) in enumerate(_lines("trampas.txt", public), 1):
        kind = target.partition(":")[0]
        full = f"{NORM_ID}:{target}" if kind == "art" else f"cl:{target}"
        item = _without_answer("trap", question, f"trampa-{place:03}", "false_premise", f"trampa-{place:03}")
        yield {**item, "trap": {"kind": _KINDS.get(kind, "missing_norm"), "target": full}}


def _outside(public: bool) -> Iterator[dict[str, object]]:
    for place, (question,) in enumerate(_lines("fuera.txt", public), 1):
        name = f"fuera-{place:03}"
        yield _without_answer("out_of_corpus", question, name, "out_of_corpus", name)


@lru_cache(maxsize=1)
def _facts() -> dict[str, tuple[Article, Fact]]:
    found = {}
    for article in articles():
        secret = [fact for fact in article.facts if not fact.public]
        for place, fact in enumerate([*secret, *(fact for fact in article.facts if fact.public)], 1):
            found[f"{article.number}.{place}"] = (article, fact)
    return found


def _fact_at(place: str) -> tuple[Article, Fact]:
    return _facts()[place]


def items(public: bool) -> list[dict[str, object]]:
    """Return the items of the practice set, or of the bank."""
    prefix = "practica-" if public else ""
    found = [item for stratum in (_direct, _applied, _trap, _outside, _adversarial) for item in stratum(public)]
    return [{**item, "id": f"{prefix}{item['id']}"} for item in found]


def bank_jsonl(public: bool) -> bytes:
    """Return the canonical bytes of the practice set, or of the bank."""
    from slaverify.evalset import parse_item, write_bank

    return write_bank(parse_item(tree, where=str(tree["id"])) for tree in items(public))  # type: ignore[arg-type]


def catalogue_jsonl() -> bytes:
    """Return what exists: the norm, with the names that it goes by, and its articles."""
    from slaverify.evalset import CatalogueEntry, write_catalogue

    norm = CatalogueEntry(NORM_ID, ALIASES, DAY)
    found = [CatalogueEntry(f"{NORM_ID}:art:{article.number}", (), DAY) for article in articles()]
    return write_catalogue([norm, *found])


def build() -> dict[Path, bytes]:
    """Return every file with its bytes."""
    return {
        NORM: norm_json(),
        CATALOGUE: catalogue_jsonl(),
        BANK: bank_jsonl(public=False),
        PUBLIC: bank_jsonl(public=True),
    }


if __name__ == "__main__":
    for target, data in build().items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
