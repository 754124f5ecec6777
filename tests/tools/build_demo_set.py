"""Write the demonstration norm and its questions, from the texts of `tests/tools/demo_set/`.

The norm, its bodies and its figures are fictional. Three files come out, always the same bytes:
`contratos/practica/norma_ficticia.json` (what the simulated engine reads), `custodia/demo/preguntas.jsonl` (the
300 items that are sealed) and `contratos/practica/preguntas_publicas.jsonl` (20 items for practice).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).resolve().parent / "demo_set"
NORM = ROOT / "contratos" / "practica" / "norma_ficticia.json"
BANK = ROOT / "custodia" / "demo" / "preguntas.jsonl"
PUBLIC = ROOT / "contratos" / "practica" / "preguntas_publicas.jsonl"

TITLE = "Reglamento de Transporte Lacustre de la Provincia Ficticia"
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


def _query(fact: Fact) -> str:
    if not fact.options:
        return fact.question
    listed = "; ".join(f"{label}) {text}" for label, text in zip("ABCDEF", fact.options, strict=False))
    return f"{fact.question} {listed}."


def _direct(article: Article, fact: Fact, item_id: str) -> dict[str, object]:
    reference: dict[str, object]
    if fact.options:
        options = dict(zip("ABCDEF", fact.options, strict=False))
        right = next(label for label, text in options.items() if text == fact.value)
        reference = {"kind": "choice", "value": right, "options": options}
    else:
        reference = {"kind": "number", "value": fact.value}
        if fact.unit == "%":
            reference["unit"] = "%"
    return {
        "schema": "item/1",
        "id": item_id,
        "stratum": "direct",
        "query": _query(fact),
        "reference": reference,
        "official_text": article.text,
        "source": {"title": TITLE, "publisher": PUBLISHER, "locator": f"artículo {article.number}"},
        "cluster": f"articulo-{article.number:03}",
    }


def _outside(query: str, item_id: str) -> dict[str, object]:
    return {
        "schema": "item/1",
        "id": item_id,
        "stratum": "out_of_corpus",
        "query": query,
        "reference": {"kind": "none", "because": "out_of_corpus"},
    }


def _outside_queries(public: bool) -> list[str]:
    lines = (SOURCE / "fuera.txt").read_text("utf-8").splitlines()
    return [line.removeprefix("* ") for line in lines if line.startswith("* ") == public and line.strip()]


def items(public: bool) -> list[dict[str, object]]:
    """Return the items of the practice set, or of the bank."""
    out: list[dict[str, object]] = []
    for article in articles():
        chosen = [fact for fact in article.facts if fact.public == public]
        for place, fact in enumerate(chosen, 1):
            prefix = "practica" if public else "lacustre"
            out.append(_direct(article, fact, f"{prefix}-{article.number:03}-{place}"))
    prefix = "practica-fuera" if public else "fuera"
    out += [_outside(query, f"{prefix}-{place:03}") for place, query in enumerate(_outside_queries(public), 1)]
    return out


def bank_jsonl(public: bool) -> bytes:
    """Return the canonical bytes of the practice set, or of the bank."""
    from slaverify.evalset import parse_item, write_bank

    return write_bank(parse_item(tree, where=str(tree["id"])) for tree in items(public))  # type: ignore[arg-type]


def build() -> dict[Path, bytes]:
    """Return every file with its bytes."""
    return {NORM: norm_json(), BANK: bank_jsonl(public=False), PUBLIC: bank_jsonl(public=True)}


if __name__ == "__main__":
    for target, data in build().items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
