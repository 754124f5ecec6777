"""A problem of a contract before it is printed: code, path in the tree, sentences.

The path becomes `file:line:column` in the loader, which alone knows the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slaverify.contract.tokens import looks_like_token
from slaverify.errors import NOTHING, ContractError, CustodyError, JudgeError, SlaverifyError, StatisticsError, Text

Path = tuple[str | int, ...]
"""Keys and indices from the root of the tree."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem. `at_key` points at the key instead of its value."""

    code: str
    path: Path
    what: Text
    fix: Text = NOTHING
    why: Text = NOTHING
    at_key: bool = False

    def error(self, where: str) -> SlaverifyError:
        """Return the error that people see, of the class of the room whose rule was broken."""
        if self.code.startswith("SLV-K"):
            return CustodyError(self.code, self.what, why=self.why, fix=self.fix, where=where, exit_code=2)
        kinds: dict[str, type[SlaverifyError]] = {"S": StatisticsError, "J": JudgeError}
        kind = kinds.get(self.code[4], ContractError)
        return kind(self.code, self.what, why=self.why, fix=self.fix, where=where)


Place = Callable[[Path, bool], str]
"""From a path (and whether its key is meant) to a printable place."""


def dotted(path: Sequence[str | int]) -> str:
    """Return the path as people write it: `metrics[0].decision.rule`."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out


def short(value: object) -> str:
    """Return a value for a sentence, cut at 60 characters; what looks like a secret is not repeated."""
    text = str(value)
    if looks_like_token(text):
        return "***"
    return text if len(text) <= 60 else text[:57] + "…"
