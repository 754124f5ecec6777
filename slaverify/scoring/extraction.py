"""From the clean text to the answer in it: reasoning out, an invented next question cut, a declared marker obeyed.

Everything is a slice of the clean text, so that spans lie in it. Reasoning that was opened and never closed leaves
no answer (`truncated`); a closing tag alone closes. Of several markers the last one counts.

Source: docs/spec/scoring.md section 7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slaverify.scoring.abstention import courteous
from slaverify.scoring.passage import Passage
from slaverify.scoring.result import Span
from slaverify.scoring.settings import Settings

_TAG = re.compile(
    r"<(?P<close>/?)(?:think|thinking|reasoning|reason|analysis|thought|reflection|scratchpad)(?:\s[^<>]{0,200})?>"
    r"|\[(?P<bclose>/?)(?:think|reasoning|analysis)\]|<\|(?:end_of_)?(?:thinking|analysis)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s?(?P<name>[a-z]{1,20})(?:<\|message\|>)?", re.IGNORECASE)
_NEXT = re.compile(
    r"\n\s{0,8}(?:#{1,4}\s?)?(?:pregunta(?:\s[0-9]{1,3})?|consulta|usuario|question(?:\s[0-9]{1,3})?|user|human|q)\s?:",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"(?:^|(?<=[\s(*#>.;,]))(?:(?:la\s|mi\s|the\s|my\s)?(?:respuesta|resultado|answer|result)(?:\s(?:final|correcta|correct))?"
    r"|final\sanswer|respuesta\sfinal)\s?:[ \n]*|####[ ]?",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s?\{")
_INNER_END = re.compile(r"[\n.!?;…](?=[^.!?;…])")
_LEADING = re.compile(
    r"^\W*(?:hola|buen(?:os|as) (?:d[ií]as|tardes|noches)|claro(?: que s[ií])?|por supuesto|con (?:mucho )?gusto"
    r"|desde luego|hello|hi|sure|of course|certainly|good (?:morning|afternoon))\s?[,.:!]\s?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The answer inside a text. `whole` is what is left without reasoning and next questions; `answer` lies in it."""

    whole: Span
    answer: Span
    marked: bool
    truncated: bool


def extract(text: str, settings: Settings) -> Extracted:
    """Return where the answer stands in the clean `text`."""
    start, open_end = _after_reasoning(text)
    if open_end is not None:
        return Extracted(Span(start, start), Span(start, start), marked=False, truncated=True)
    next_question = _NEXT.search(text, _first_text(text, start))
    whole = _trimmed(text, Span(start, next_question.start() if next_question is not None else len(text)))
    marked = _marked(text, whole)
    if marked is not None:
        return Extracted(whole, marked, marked=True, truncated=False)
    return Extracted(whole, _without_courtesy(text, whole, settings), marked=False, truncated=False)


def _after_reasoning(text: str) -> tuple[int, int | None]:
    depth_start: int | None = None
    after = 0
    for match in _TAG.finditer(text):
        if match.group("close") == "/" or match.group("bclose") == "/" or match.group().startswith("<|"):
            after, depth_start = match.end(), None
        elif depth_start is None:
            depth_start = match.start()
    channels = list(_CHANNEL.finditer(text))
    if channels:
        last = channels[-1]
        if last.group("name").lower() == "final":
            return max(after, last.end()), depth_start
        return len(text), last.start()
    if depth_start is not None and depth_start > after and text[after:depth_start].strip():
        return after, depth_start
    return after, depth_start


def _first_text(text: str, start: int) -> int:
    # an answer may begin by repeating the question: the cut is only looked for after some text
    while start < len(text) and text[start].isspace():
        start += 1
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline


def _marked(text: str, whole: Span) -> Span | None:
    best: Span | None = None
    for match in _MARKER.finditer(text, whole.start, whole.end):
        if any(character.isalnum() for character in text[match.end() : whole.end]):
            best = Span(match.end(), whole.end)
    boxes = list(_BOXED.finditer(text, whole.start, whole.end))
    if boxes and (best is None or boxes[-1].end() > best.start):
        inside = _braced(text, boxes[-1].end(), whole.end)
        if inside is not None:
            best = inside
    return None if best is None else _trimmed(text, best)


def _braced(text: str, start: int, end: int) -> Span | None:
    depth = 1
    for at in range(start, end):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return Span(start, at)
    return None


def _trimmed(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _without_courtesy(text: str, whole: Span, settings: Settings) -> Span:
    body = text[whole.start : whole.end]
    lead = _LEADING.match(body)
    start = lead.end() if lead is not None and any(character.isalnum() for character in body[lead.end() :]) else 0
    # one sentence is the answer, whatever it is
    several = _INNER_END.search(body, start) is not None
    sentences = [span for span in Passage(body).sentences if span.end > start] if several else []
    while len(sentences) > 1 and courteous(body[sentences[0].start : sentences[0].end], settings):
        sentences = sentences[1:]
        start = sentences[0].start
    while len(sentences) > 1 and courteous(body[sentences[-1].start : sentences[-1].end], settings):
        sentences = sentences[:-1]
    end = sentences[-1].end if sentences else len(body)
    return _trimmed(text, Span(whole.start + start, whole.start + end))
