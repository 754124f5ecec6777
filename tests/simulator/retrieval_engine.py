"""A real, modest question-answering engine behind HTTP: BM25 retrieval of a sentence, then a span.

It is given passages only, never questions or references. It answers POST {"question": ...} with
{"answer": ..., "model": ...}. Run it alone: python retrieval_engine.py --squad FILE [--port N]; it prints its port.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import unicodedata
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

VERSION = "retrieval-span 1.0.0"
STOP = {
    "a",
    "al",
    "algo",
    "ante",
    "como",
    "con",
    "cual",
    "cuales",
    "cuando",
    "cuanto",
    "cuanta",
    "cuantos",
    "cuantas",
    "de",
    "del",
    "desde",
    "donde",
    "e",
    "el",
    "ella",
    "ellos",
    "en",
    "entre",
    "era",
    "eran",
    "es",
    "esa",
    "ese",
    "eso",
    "esta",
    "este",
    "esto",
    "estos",
    "fue",
    "fueron",
    "ha",
    "han",
    "hasta",
    "hay",
    "la",
    "las",
    "le",
    "les",
    "lo",
    "los",
    "mas",
    "me",
    "muy",
    "no",
    "o",
    "para",
    "pero",
    "por",
    "porque",
    "que",
    "quien",
    "quienes",
    "se",
    "ser",
    "si",
    "sin",
    "sobre",
    "son",
    "su",
    "sus",
    "tambien",
    "tenia",
    "tiene",
    "tuvo",
    "un",
    "una",
    "uno",
    "y",
    "ya",
    "qué",
}
WORD = re.compile(r"\w+(?:[.,]\d+)*", re.UNICODE)


def fold(text: str) -> str:
    """Lower-case without accents: for matching only, never for the answer."""
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")


def stem(word: str) -> str:
    """Cut the ending so that forms of one word meet."""
    return word[:5] if len(word) > 5 and not word[0].isdigit() else word


def terms(text: str) -> list[str]:
    """Return the content words of a text, folded and cut."""
    return [stem(w) for w in (fold(m.group()) for m in WORD.finditer(text)) if w not in STOP]


class Retriever:
    """BM25 over the sentences of the passages (k1 1.2, b 0.5), with half a weight for their passage."""

    def __init__(self, passages: list[str]) -> None:
        self.sentences: list[str] = []
        self.passage_of: list[int] = []
        for number, passage in enumerate(passages):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-ZÁÉÍÓÚÑ¿«\"])", passage):
                self.sentences.append(sentence)
                self.passage_of.append(number)
        self.bags = [Counter(terms(s)) for s in self.sentences]
        self.passage_bags = [Counter(terms(p)) for p in passages]
        self.idf = self._idf(self.bags)
        self.passage_idf = self._idf(self.passage_bags)

    @staticmethod
    def _idf(bags: list[Counter[str]]) -> dict[str, float]:
        df = Counter(t for bag in bags for t in bag)
        return {t: math.log(1 + (len(bags) - n + 0.5) / (n + 0.5)) for t, n in df.items()}

    @staticmethod
    def _bm25(query: list[str], bag: Counter[str], idf: dict[str, float], mean: float) -> float:
        length = sum(bag.values())
        return sum(idf[t] * bag[t] * 2.2 / (bag[t] + 1.2 * (0.5 + 0.5 * length / mean)) for t in set(query) if t in bag)

    def best(self, question: str) -> str:
        """Return the sentence that fits the question best."""
        query = terms(question)
        mean = sum(sum(b.values()) for b in self.bags) / len(self.bags)
        passage_mean = sum(sum(b.values()) for b in self.passage_bags) / len(self.passage_bags)
        passages = [self._bm25(query, b, self.passage_idf, passage_mean) for b in self.passage_bags]
        scores = [
            self._bm25(query, bag, self.idf, mean) + 0.5 * passages[p]
            for bag, p in zip(self.bags, self.passage_of, strict=True)
        ]
        return self.sentences[max(range(len(scores)), key=lambda i: (scores[i], -i))]


NUMBER = re.compile(
    r"\d+(?:[.,]\d+)*(?:\s?%)?|\b(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce)\b", re.I
)
DATE = re.compile(r"\d{1,2} de [a-z]+(?: de \d{4})?|\b[12]\d{3}\b")
NAME = re.compile(r"[A-ZÁÉÍÓÚÑ][\w.'-]*(?:(?: de| del| la| los| y)? [A-ZÁÉÍÓÚÑ][\w.'-]*)*")
PHRASE = re.compile(r"[\w'-]+(?: [\w'-]+){0,4}")


def span(question: str, sentence: str) -> str:
    """Pick the span of the sentence whose type fits the question and whose words it does not repeat."""
    asked = set(terms(question))
    q = fold(question)
    if re.search(r"\bcuant[oa]s?\b|\bque (porcentaje|numero|cantidad)", q):
        patterns = [NUMBER]
    elif re.search(r"\bcuando\b|\b(que|cual) (ano|fecha|dia|siglo)", q):
        patterns = [DATE, NUMBER]
    elif re.search(r"\bquien(es)?\b|\bdonde\b|\bcomo se llama|\b(que|cual) (ciudad|pais|equipo|jugador|nombre)", q):
        patterns = [NAME]
    else:
        patterns = [NAME, PHRASE]
    anchors = [m.start() for m in WORD.finditer(sentence) if stem(fold(m.group())) in asked]
    for pattern in patterns:
        found = []
        for match in pattern.finditer(sentence):
            words = terms(match.group())
            if not words or any(w in asked for w in words):
                continue
            near = min((abs(match.start() - a) for a in anchors), default=999)
            found.append((near + (40 if match.start() == 0 and pattern is NAME else 0), match.start(), match.group()))
        if found:
            return min(found)[2].strip(" ,;:")
    return sentence


def handler(retriever: Retriever) -> type[BaseHTTPRequestHandler]:
    """Return a request handler over one retriever."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            question = str(body["question"])
            answer = span(question, retriever.best(question))
            data = json.dumps({"answer": answer, "model": VERSION}, ensure_ascii=False).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def passages_of(squad: Path) -> list[str]:
    """Read the passages of a SQuAD file, and nothing else of it."""
    tree = json.loads(squad.read_text(encoding="utf-8"))
    return [p["context"].lstrip("\ufeff") for article in tree["data"] for p in article["paragraphs"]]


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--squad", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), handler(Retriever(passages_of(options.squad))))
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
