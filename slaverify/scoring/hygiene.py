"""Text hygiene: from the raw text of an answer to the clean copy that every rule reads.

Trust boundary: the text is the vendor's and is hostile; here alone the raw form is read. Nothing is repaired in
silence: what was hidden, marked up or out of order raises a flag. The raw text is kept elsewhere, as evidence.

Source: docs/spec/scoring.md section 6 (text hygiene); Unicode general category Cf as of Unicode 14 to 16.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from html.entities import html5

from slaverify.scoring.folding import GROUP_SPACE
from slaverify.scoring.latex import unwrap

CF_CLASS = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
_NO_JOINERS = CF_CLASS.replace("\u200b-\u200f", "\u200b\u200e\u200f")
_JOINED = "\u0600-\u1cff\ua840-\uabff"
_INVISIBLE = re.compile(
    f"[{_NO_JOINERS}"
    "\u034f\u17b4\u17b5\ufe00-\ufe0f\U000e0100-\U000e01ef\ufff0-\ufff8]"
    # a joiner stays only inside a word of a script that uses it
    f"|(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
)
_QUIET = re.compile(
    "^\ufeff|\u00ad|[\ufe00-\ufe0f]|(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|(?<=\U0001f3f4)[\U000e0020-\U000e007f]{1,8}"
)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAG_LETTERS = re.compile("[\U000e0041-\U000e005a\U000e0061-\U000e007a]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029\v\f]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_GROUP = re.compile("(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9])")
_SPACES = re.compile(
    "[\t\u00a0\u1680\u2000-\u200a\u205f\u3000\u115f\u1160\u3164\uffa0\u2800]|\u202f(?![0-9])|(?<![0-9])\u202f"
)
_TAG = re.compile(
    r"</?(?P<name>a|abbr|answer|article|b|blockquote|body|br|code|details|div|em|final|font|form|h[1-6]|head|hr|html|i"
    r"|iframe|img|input|li|link|mark|meta|object|ol|output|p|pre|response|s|script|section|small|span|strong|style"
    r"|sub|summary|sup|svg|table|tbody|td|template|textarea|th|thead|title|tr|u|ul|video)"
    r"(?:\s[^<>]{0,2000})?/?>",
    re.IGNORECASE,
)
_PLAIN_TAGS = frozenset({"b", "br", "em", "i", "p", "strong", "u", "sub", "sup", "code", "ul", "ol", "li"})
_BREAK_TAGS = frozenset({"br", "p", "li", "ul", "ol", "div", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table"})
_EMPHASIS = re.compile(
    r"(?<![0-9*])\*\*(?!\*)|(?<!\*)\*\*(?![0-9*])|~~|(?<![\w_])__(?=\w)|(?<=\w)__(?![\w_])"
    r"|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])"
    r"|(?<![\w_])_(?=[^\W_])|(?<=[^\W_])_(?![\w_])|(?<!`)`(?!`)"
)
_FOREIGN = re.compile("[\u0370-\u052f\u1f00-\u1fff]")
_MIXED = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u052f\u1f00-\u1fff]{3,64}")
_LOOK_ALIKES = frozenset("аеорсухіјѕԁһкмтвнАЕОРСУХІЈЅКМТВНαονρτυκιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_INJECTION = re.compile(
    r"\b(?:ignor[ae]\w*|olvid[ae]\w*|disregard|forget)\s(?:\w+\s){0,4}"
    r"(?:instruc\w+|prompt|rubric\w*|rules|reglas|criteri\w+|official\stext|texto\soficial|referenc\w+)\b"
    r"|\b(?:califi\w+|evalu\w+|grade|score|mark|rate)\s(?:\w+\s){0,5}(?:como|as)\s(?:\w+\s){0,2}"
    r"(?:correct\w*|accurate|exact\w*|perfect\w*|pass|v[aá]lid\w+)\b"
    r"|\b(?:eres|act[uú]a como|you are)\s(?:\w+\s){0,3}(?:juez|judge|evaluador\w*|grader|evaluator)\b"
    r"|[\"']?(?:verdict|veredicto|grade|score)[\"']?\s?[:=]\s?[\"']?(?:accurate|correct|pass|met)\b"
    r"|^\s?(?:system|assistant|developer)\s?:|<\|im_(?:start|end)\|>|\[/?INST\]",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Clean:
    """The clean copy and what was found in the raw text.

    `text` has no markup; `bare` keeps it, for answers that are JSON. `confirmed` names the flags that are more
    than a suspicion: hidden code points that spell four letters or more, a word that mixes scripts.
    """

    text: str
    bare: str
    flags: tuple[str, ...]
    confirmed: frozenset[str]

    @property
    def blank(self) -> bool:
        """Tell whether there is no letter and no digit."""
        return not any(character.isalnum() for character in self.text)


def clean(raw: str) -> Clean:
    """Return the clean copy of `raw`; linear in its length, never raises."""
    flags: set[str] = set()
    confirmed: set[str] = set()
    # 1 lone surrogates become U+FFFD
    text = raw if raw.isascii() else _SURROGATES.sub("\ufffd", raw)
    # 2 what cannot be seen goes out before entities are read, so that it cannot break one
    text = _strip_invisible(text, flags, confirmed)
    # 3 line ends LF, other controls out
    text = _LINE_ENDS.sub("\n", text)
    text, controls = _CONTROLS.subn("", text)
    if controls:
        flags.add("hidden_text")
    bare = unicodedata.normalize("NFC", text)
    # 4 HTML entities once, then again what they hid
    if "&" in text:
        text = _strip_invisible(_ENTITY.sub(_decode, text), flags, confirmed)
    # 5 comments and tags out, marks of emphasis out
    text = _strip_markup(text, flags)
    # 6 spaces and fillers, then LaTeX that is only notation
    if not text.isascii() or "\t" in text:
        text = _SPACES.sub(" ", _GROUP.sub(GROUP_SPACE, text))
    text = unwrap(text)
    # 7 NFC, last: a mark and its letter may only now be neighbours
    text = unicodedata.normalize("NFC", text).strip()
    if _FOREIGN.search(text) and any(_mixes(word.group()) for word in _MIXED.finditer(text)):
        flags.add("mixed_script_identifier")
        confirmed.add("mixed_script_identifier")
    if _INJECTION.search(text):
        flags.add("injection_suspected")
    return Clean(text, bare, tuple(sorted(flags)), frozenset(confirmed))


def _strip_invisible(text: str, flags: set[str], confirmed: set[str]) -> str:
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    loud = _QUIET.sub("", text)
    if _BIDI.search(loud):
        flags.add("bidi")
    if len(_TAG_LETTERS.findall(loud)) >= 4:
        confirmed.add("hidden_text")
    out, count = _INVISIBLE.subn("", loud)
    if count:
        flags.add("hidden_text")
    return out


def _decode(match: re.Match[str]) -> str:
    entity = match.group()
    if entity[1] != "#" and entity[1:] not in html5:
        return entity
    decoded = html.unescape(entity)
    return _SURROGATES.sub("\ufffd", decoded)


def _strip_markup(text: str, flags: set[str]) -> str:
    if "<!--" in text:
        text = _strip_comments(text, flags)
    if "<" in text:

        def _drop(match: re.Match[str]) -> str:
            name = match.group("name").lower()
            if name not in _PLAIN_TAGS:
                flags.add("markup")
            return "\n" if name in _BREAK_TAGS else ""

        text = _TAG.sub(_drop, text)
    if "*" in text or "_" in text or "`" in text or "~" in text:
        text = _EMPHASIS.sub("", text)
    return text


def _strip_comments(text: str, flags: set[str]) -> str:
    parts: list[str] = []
    position = 0
    while True:
        start = text.find("<!--", position)
        end = text.find("-->", start + 4) if start >= 0 else -1
        if start < 0 or end < 0:
            parts.append(text[position:])
            return "".join(parts)
        flags.add("markup")
        parts.append(text[position:start])
        position = end + 3


def _mixes(word: str) -> bool:
    return bool(_LATIN.search(word)) and any(character in _LOOK_ALIKES for character in word)
