"""LaTeX that is only a way of writing: `\\text{…}` without its command, `\\frac{1}{2}` as `1/2`, math signs out.

What it means is not touched: powers, roots and relations stay as they are written, and no rule reads them.

Source: docs/spec/scoring.md section 2.
"""

from __future__ import annotations

import re

from slaverify.scoring.folding import GROUP_SPACE

_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|textrm|texttt|textnormal|emph|mathrm|mathbf|mathit|mathsf|mbox|operatorname|underline)\s?"
    r"\{([^{}\\$]{0,400})\}"
)
_FRACTION = re.compile(r"\\[dtc]?frac\s?\{\s?([0-9][0-9.,]{0,19})\s?\}\s?\{\s?([0-9][0-9.,]{0,19})\s?\}")
_SIGN_IN_BRACES = re.compile(r"(?<=[0-9])\{([.,])\}(?=[0-9])")
_THIN = re.compile(r"(?<=[0-9])\\[,;:!](?=[0-9])")
_SPACE = re.compile(r"\\[,;:! ]|\\q?quad(?![A-Za-z])")
_ESCAPED = re.compile(r"(?<!\\)\\([%$#&_])")
_DELIMITER = re.compile(r"\\[()\[\]]")
# a pair of dollar signs around figures, commands and signs; `$5 (US$)` is money and stays
_MATH = re.compile(
    r"(?<![\w$\\])\$\$?(?=[^\s$])"
    r"((?:\\(?:text|textbf|mathrm|mathbf|mbox)\s?\{[^{}$\\]{0,100}\}|\\[A-Za-z]{1,20}|\\[,;:!%$ ]"
    r"|[0-9.,{}\s%+\-−×*/=()^_<>|:]|(?<![A-Za-z])[A-Za-z](?![A-Za-z])){1,200}?)(?<![\s\\])\$\$?(?![\w$])"
)
_DOUBLE = re.compile(r"(?<=\S) {2,}(?=\S)")
_DEEPEST = 8


def unwrap(text: str) -> str:
    """Return the text without LaTeX that is notation alone; linear, never raises."""
    if "$" in text:
        text = _MATH.sub(r"\1", text)
    if "\\" not in text:
        return _SIGN_IN_BRACES.sub(r"\1", text) if "{" in text else text
    for _ in range(_DEEPEST):
        plain = _FRACTION.sub(r"\1/\2", _WRAPPED.sub(r"\1", text))
        if plain == text:
            break
        text = plain
    text = _SIGN_IN_BRACES.sub(r"\1", _THIN.sub(GROUP_SPACE, text))
    return _DOUBLE.sub(" ", _ESCAPED.sub(r"\1", _DELIMITER.sub("", _SPACE.sub(" ", text))))
