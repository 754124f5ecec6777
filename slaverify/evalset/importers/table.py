"""A table as it stands in a file: rows of cells with their place, before any column has a meaning."""

from __future__ import annotations

from dataclasses import dataclass, field

from slaverify.errors import SetError


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. `kind`: `text`, `number`, `percent`, `date`, `time`, `bool`, `error`, `formula` or `empty`.

    `text` is what a reader of the sheet means; `stored` what the program kept; `formula`: no value was stored.
    """

    text: str
    kind: str = "text"
    stored: str = ""
    place: str = ""

    @property
    def blank(self) -> bool:
        """Tell whether nothing is written in it."""
        return self.kind == "empty" or (self.kind == "text" and not self.text.strip())


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `line` is its number in the file (in a sheet, the row's), from 1."""

    line: int
    cells: tuple[Cell, ...]

    @property
    def blank(self) -> bool:
        """Tell whether every cell is blank."""
        return all(cell.blank for cell in self.cells)


@dataclass(slots=True)
class Table:
    """Every row that is to be read, with what was seen around it. `place` starts the place of an error."""

    rows: list[Row]
    place: str
    line_ends: str | None = None
    encoding: tuple[str, str] | None = None
    delimiter: str | None = None
    sheet: str | None = None
    skipped_first: int = 0
    hidden: tuple[int, ...] = ()
    sheets_hidden: tuple[str, ...] = ()
    sheets_other: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    problems: list[SetError] = field(default_factory=list)
