"""Turn messages into the text of one language: the catalogue, its placeholders, its plurals.

Everything that enters the page passes here: own sentences come from `plantillas/messages.<language>.toml`, texts of
the parties are made visible (`slaverify.report.visible`), numbers and dates are printed for the country. The
result is `Markup`: each piece was escaped when it was added, and no template marks anything as safe.
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import cache

from markupsafe import Markup, escape

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import ReportError, Text
from slaverify.report import numbers
from slaverify.report.visible import Visible
from slaverify.resources import resource

LANGUAGES = ("es", "en")
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_OWN_TAG = re.compile(r"<[^>]*>")
_PLURAL = {"zero", "one", "other"}
_DECIMAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?")
_SPAN = re.compile(r"P(?:(\d{1,3})Y)?(?:(\d{1,3})M)?(?:(\d{1,3})W)?(?:(\d{1,4})D)?")
_MOST_DEPTH = 8
_DIGEST = 64


@cache
def sentences(language: str) -> Mapping[str, Mapping[str, str]]:
    """Return the catalogue of `es` or `en`: dotted key to its forms.

    A form is `other`; `zero` and `one` stand beside it where a count rules.
    """
    out: dict[str, dict[str, str]] = {}
    for name in ("messages", "limitations"):
        path = resource("plantillas", f"{name}.{language}.toml" if name == "messages" else f"{name}.toml")
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
        _flatten(tree if name == "messages" else _limitations(tree, language), "", out)
    return out


def _flatten(tree: Mapping[str, object], prefix: str, out: dict[str, dict[str, str]]) -> None:
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, str):
            out[name] = {"other": value}
        elif isinstance(value, dict) and set(value) <= _PLURAL:
            out[name] = dict(value)
        elif isinstance(value, dict):
            _flatten(value, f"{name}.", out)


def _limitations(tree: Mapping[str, object], language: str) -> dict[str, object]:
    # [L01.parts.calibrated] es = "…", en = "…"  ->  limitation.L01.calibrated
    out: dict[str, object] = {}
    for code, entry in tree.items():
        if isinstance(entry, dict):
            out[code] = {part: forms[language] for part, forms in entry["sentences"].items()}
    return {"limitation": out}


class Catalogue:
    """Say messages in one language and locale; `altered` tells whether a foreign text had to be made visible."""

    def __init__(self, tag: str, drawable: frozenset[int]) -> None:
        """Prepare for the tag `es-CL` or `en`; `drawable` are the code points that the faces can draw."""
        language = tag[:2]
        if language not in LANGUAGES:
            raise _malformed(f"language {tag[:20]!r}")
        try:
            self.locale = numbers.locale_of(tag)
        except (ValueError, LookupError) as error:
            raise _malformed(f"language {tag[:20]!r}") from error
        self.language = language
        self._forms = sentences(language)
        self._visible = Visible(drawable)

    @property
    def altered(self) -> bool:
        """Return whether any foreign text so far held a character that was printed as its code."""
        return self._visible.altered

    def say(self, node: JsonValue, depth: int = 0) -> Markup:
        """Return the text of a message or argument. Raises: ReportError SLV-R014 for one of no known form."""
        if depth > _MOST_DEPTH:
            raise _malformed("messages nested too deep")
        if isinstance(node, bool) or node is None or isinstance(node, str):
            raise _malformed(f"bare value {str(node)[:40]!r}")
        if isinstance(node, int):
            return escape(numbers.count(node, self.locale))
        if not isinstance(node, Mapping):
            raise _malformed("a list where a message belongs")
        if "key" in node:
            return self._message(node, depth)
        if "list" in node:
            return self._list(node, depth)
        try:
            return self._value(node)
        except (ValueError, InvalidOperation, LookupError, OverflowError) as error:
            raise _malformed(repr(error)[:120]) from error

    def plain(self, node: JsonValue | Markup) -> str:
        """Return the text without markup, for titles, drawings and alternative texts (to be escaped again)."""
        said = node if isinstance(node, Markup) else self.say(node)
        # What is stripped are our own tags (a `<` of anybody else is an entity here); the caller escapes again.
        return html.unescape(_OWN_TAG.sub("", said))

    def _message(self, node: JsonObject, depth: int) -> Markup:
        key, args = _text(node, "key"), node.get("args")
        if not isinstance(args, Mapping):
            raise _malformed(f"message {key[:60]} without arguments")
        forms = self._forms.get(key)
        if forms is None:
            raise _malformed(f"unknown message {key[:60]!r}")
        form = _form(forms, args.get("n"))
        out: list[str] = []
        end = 0
        for match in _PLACEHOLDER.finditer(form):
            out.append(escape(form[end : match.start()]))
            if match.group(1) not in args:
                raise _malformed(f"message {key} without {match.group(1)}")
            out.append(self.say(args[match.group(1)], depth + 1))
            end = match.end()
        out.append(escape(form[end:]))
        return Markup("").join(out)

    def _list(self, node: JsonObject, depth: int) -> Markup:
        items = node["list"]
        if isinstance(items, str) or not isinstance(items, list | tuple) or not items:
            raise _malformed("an empty list")
        said = [self.say(item, depth + 1) for item in items]
        word = escape(self._forms["list.and"]["other"])
        if node.get("last") == "and" and len(said) > 1:
            return Markup(", ").join(said[:-1]) + Markup(" ") + word + Markup(" ") + said[-1]
        return Markup(", ").join(said)

    def _value(self, node: JsonObject) -> Markup:
        if "foreign" in node:
            return escape(self._visible.text(_text(node, "foreign")))
        if "code" in node:
            return self._code(_text(node, "code"))
        against = node.get("against")
        limit = None if against is None else _decimal(against)
        if "share" in node:
            rounding = _text(node, "rounding")
            return escape(numbers.percentage(_decimal(node["share"]), rounding, limit, self.locale))
        if "real" in node:
            digits = node["digits"]
            if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 9:
                raise ValueError("digits")
            rounding = _text(node, "rounding") if "rounding" in node else "near"
            return escape(numbers.real(_decimal(node["real"]), digits, limit, self.locale, rounding))
        if "instant" in node:
            return escape(numbers.instant(_text(node, "instant"), self.locale))
        if "clock" in node:
            return escape(numbers.clock(_text(node, "clock")))
        if "day" in node:
            return escape(numbers.day(_text(node, "day"), self.locale))
        if "span" in node:
            return self._span(_text(node, "span"))
        raise ValueError(f"no known argument: {sorted(node)[:4]}")

    def _code(self, text: str) -> Markup:
        kind = "code long" if len(text) >= _DIGEST and " " not in text else "code"
        return Markup('<span class="{}">{}</span>').format(kind, self._visible.text(text))

    def _span(self, text: str) -> Markup:
        match = _SPAN.fullmatch(text)
        if match is None or not any(match.groups()):
            return escape(self._visible.text(text))
        parts: list[JsonValue] = [
            {"key": f"span.{unit}", "args": {"n": int(value)}}
            for unit, value in zip(("year", "month", "week", "day"), match.groups(), strict=True)
            if value is not None
        ]
        return self._list({"list": parts, "last": "and"}, 0)


def _form(forms: Mapping[str, str], count: JsonValue) -> str:
    name = {0: "zero", 1: "one"}.get(count, "other") if isinstance(count, int) else "other"
    return forms.get(name, forms["other"])


def _text(node: JsonObject, key: str) -> str:
    value = node.get(key)
    if not isinstance(value, str):
        raise _malformed(f"{key} is no text")
    return value


def _decimal(value: JsonValue) -> Decimal:
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise ValueError("no decimal")
    return Decimal(value)


def _malformed(detail: str) -> ReportError:
    return ReportError(
        "SLV-R014",
        Text(f"report.json no tiene la forma que dice tener: {detail}", f"report.json is not what it says: {detail}"),
        fix=Text("genere el informe de nuevo a partir del paquete", "build the report again from the bundle"),
        exit_code=4,
    )
