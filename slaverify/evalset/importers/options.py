"""What the person decides about an import, and what the program may only propose.

Nothing is guessed in silence: what the file does not say for certain is proposed with its evidence, and the import
goes on only when the person gave the value as an option or accepted the proposals.

Source: docs/spec/import.md section 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slaverify.canonical import JsonObject
from slaverify.errors import SetError, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The decisions of a person; null or empty: none taken. Rows and lines are counted from 1.

    `mapping` pairs a column with a field; `strata` a value of the file with a stratum; `null_tokens` a text that
    stands for "no answer" with the reason why there is none; `references` an id with its whole reference.
    """

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: int | None = None
    sheet: str | None = None
    mapping: tuple[tuple[str, str], ...] = ()
    stratum: str | None = None
    strata: tuple[tuple[str, str], ...] = ()
    locale: str | None = None
    kind: str | None = None
    choices: tuple[str, ...] = ()
    ids: str | None = None
    null_tokens: tuple[tuple[str, str], ...] = ()
    date_order: str | None = None
    dates: str | None = None
    list_separator: str | None = None
    several: str | None = None
    hidden: bool = False
    exclude: frozenset[int] = frozenset()
    references: Mapping[str, JsonObject] = field(default_factory=dict)
    accept: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing to be confirmed: the option that settles it, its value, why, and what was seen."""

    option: str
    value: str
    why: Text
    seen: tuple[str, ...] = ()


class UndecidedError(SetError):
    """The file leaves something open. `proposals` are to be accepted or given as options."""

    def __init__(self, proposals: Sequence[Proposal], where: str) -> None:
        names = ", ".join(dict.fromkeys(proposal.option for proposal in proposals))
        super().__init__(
            "SLV-I014",
            Text(f"hay que decidir antes de importar: {names}", f"to be decided before importing: {names}"),
            fix=Text("repita la orden con esas opciones", "repeat the command with these options"),
            where=where,
        )
        self.proposals = tuple(proposals)


class Deck:
    """Collects what was decided, by whom, and what is still only proposed."""

    def __init__(self, options: ImportOptions) -> None:
        self.options = options
        self.proposals: list[Proposal] = []
        self.known: dict[str, str] = {}

    def given(self, what: str, by: str = "option") -> None:
        """Note that `what` is known, and how: `option`, `file`, `format`, `template`."""
        self.known[what] = by

    def propose(self, what: str, proposal: Proposal) -> None:
        """Note that `what` is only proposed."""
        self.known[what] = "proposal"
        self.proposals.append(proposal)

    def settle(self, where: str) -> None:
        """Go on only if nothing is open. Raises: UndecidedError with every proposal."""
        if self.proposals and not self.options.accept:
            raise UndecidedError(self.proposals, where)
