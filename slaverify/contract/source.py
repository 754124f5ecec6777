"""What a reader hands over: the plain tree, the place of each value, and the problems met while reading."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from slaverify.canonical import JsonValue
from slaverify.contract.findings import Finding, Path, dotted, short
from slaverify.errors import NOTHING, Text

MAX_BYTES = 1024 * 1024
"""Largest contract file, bytes."""
MAX_DEPTH = 20
"""Deepest nesting of maps and lists, the root included."""
MAX_NODES = 20_000
"""Most values in a file: no contract comes near."""
MAX_LINE = 65_536
"""Longest line of a YAML file, characters: the parser takes quadratic time on one token."""

Mark = tuple[int, int]
"""Line and column, from 1."""


@dataclass(slots=True)
class Source:
    """A read file: `tree` in NFC, marks of values and keys by path, and findings so far."""

    name: str
    tree: JsonValue = None
    values: dict[Path, Mark] = field(default_factory=dict)
    keys: dict[Path, Mark] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def mark(self, path: Path, at_key: bool) -> Mark:
        """Return the place of a value (or of its key); of the nearest thing around it, if it has none."""
        if at_key and path in self.keys:
            return self.keys[path]
        while path:
            if path in self.values:
                return self.values[path]
            path = path[:-1]
            if path in self.keys:
                return self.keys[path]
        return self.values.get((), (1, 1))

    def place(self, path: Path, at_key: bool = False) -> str:
        """Return `file:line:column` of `mark`."""
        line, column = self.mark(path, at_key)
        return f"{self.name}:{line}:{column}"

    def problem(self, code: str, path: Path, what: Text, fix: Text = NOTHING, *, at_key: bool = False) -> None:
        """Note a problem and go on reading."""
        self.findings.append(Finding(code, path, what, fix, at_key=at_key))

    def clean(self, text: str, path: Path, *, at_key: bool = False) -> str:
        """Return `text` in NFC; characters that no contract may hold are noted and dropped."""
        text = unicodedata.normalize("NFC", text)
        bad = [character for character in text if _forbidden(character)]
        if bad:
            self.problem(
                "SLV-C009",
                path,
                Text(f"carácter no permitido: U+{ord(bad[0]):04X}", f"character not allowed: U+{ord(bad[0]):04X}"),
                Text("bórrelo: no se ve y puede confundir", "delete it: it cannot be seen and may mislead"),
                at_key=at_key,
            )
            text = "".join(character for character in text if not _forbidden(character))
        return text

    def duplicate(self, path: Path) -> None:
        """Note a key that stands twice in one map."""
        self.problem(
            "SLV-C003",
            path,
            Text(f"la clave `{dotted(path)}` está dos veces", f"the key `{dotted(path)}` stands twice"),
            Text("deje una sola", "keep one of them"),
            at_key=True,
        )

    def unquoted(self, path: Path, text: str) -> None:
        """Note a number that has to stand in quotes, since as a number it would not keep its text."""
        if path[:2] == ("endpoint", "request") or path[:3] == ("endpoint", "candidate", "request"):
            self.problem(
                "SLV-C013",
                path,
                Text(
                    f"el número {short(text)} de la plantilla no es entero",
                    f"the number {short(text)} of the template is not whole",
                ),
                Text(
                    "sólo los enteros tienen una forma única que se pueda firmar: use un entero o quite la clave",
                    "whole numbers alone have one form that can be signed: use a whole number or drop the key",
                ),
            )
            return
        self.problem(
            "SLV-C013",
            path,
            Text(
                f"`{dotted(path)}`: número sin comillas: {short(text)}",
                f"`{dotted(path)}`: unquoted number: {short(text)}",
            ),
            Text(f'póngalo entre comillas: "{short(text)}"', f'quote it: "{short(text)}"'),
        )


class Unreadable(Exception):  # noqa: N818  (it carries the finding; the loader turns it into an error)
    """The file cannot be read at all; `finding` says why, `mark` where."""

    def __init__(self, code: str, what: Text, fix: Text = NOTHING, mark: Mark = (1, 1)) -> None:
        super().__init__(what.en)
        self.finding = Finding(code, (), what, fix)
        self.mark = mark


def too_deep(mark: Mark) -> Unreadable:
    """Return the refusal of a tree that is nested too deeply."""
    return Unreadable(
        "SLV-C007",
        Text(f"más de {MAX_DEPTH} niveles de anidación", f"nested more than {MAX_DEPTH} levels deep"),
        Text("ningún contrato lo necesita", "no contract needs that"),
        mark,
    )


def too_large(mark: Mark) -> Unreadable:
    """Return the refusal of a file with too many values, or with a line that is too long."""
    return Unreadable(
        "SLV-C008",
        Text(
            f"más de {MAX_NODES} valores, o una línea de más de {MAX_LINE} caracteres",
            f"more than {MAX_NODES} values, or a line of more than {MAX_LINE} characters",
        ),
        Text("los anexos van aparte, por su digest", "annexes go apart, by their digest"),
        mark,
    )


def _forbidden(character: str) -> bool:
    # Line feeds and tabs are text; other controls, lone surrogates and direction marks are not.
    if character in "\n\t":
        return False
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    )
