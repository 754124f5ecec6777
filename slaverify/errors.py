"""Every error that a person may see: a code, what happened, why, how to mend it, and where.

A verdict is never an exception and a crash is never a verdict. The exit codes are those of the
command line: 2 an input refused before anything ran, 4 evidence invalid, 5 contract or custody does
not match, 6 something is unavailable and the work can be resumed, 70 an internal fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_CODE = re.compile(r"SLV-[A-Z][0-9]{3}")


class Text(NamedTuple):
    """A sentence for people in both languages of the product, Spanish first."""

    es: str
    en: str

    def in_language(self, language: str) -> str:
        """Return the sentence in `language` (a tag whose first two letters are read; Spanish unless `en`)."""
        return self.en if language[:2] == "en" else self.es


NOTHING = Text("", "")


class SlaverifyError(Exception):
    """A refusal that names its place and its mend.

    `code` is `SLV-<letter><3 digits>`; `where` is a place (`file:line:column`, a path of the tree, an
    entry number), never a secret; `exit_code` overrides the default of the class.
    """

    default_exit = 70

    def __init__(
        self,
        code: str,
        what: Text,
        *,
        why: Text = NOTHING,
        fix: Text = NOTHING,
        where: str = "",
        exit_code: int | None = None,
    ) -> None:
        if not _CODE.fullmatch(code):
            raise ValueError(f"not an error code: {code!r}")
        super().__init__(f"{code}: {what.en}" + (f" ({where})" if where else ""))
        self.code = code
        self.what = what
        self.why = why
        self.fix = fix
        self.where = where
        self.exit_code = self.default_exit if exit_code is None else exit_code

    def lines(self, language: str) -> list[str]:
        """Return the lines to print, in `language`: code and sentence, place, cause, mend."""
        out = [f"error[{self.code}]: {self.what.in_language(language)}"]
        if self.where:
            out.append(f"  --> {self.where}")
        if self.why != NOTHING:
            out.append(f"  = {self.why.in_language(language)}")
        if self.fix != NOTHING:
            help_word = "help" if language[:2] == "en" else "ayuda"
            out.append(f"  {help_word}: {self.fix.in_language(language)}")
        return out


class ContractError(SlaverifyError):
    """Whoever drafts the contract has to act."""

    default_exit = 2


class SetError(SlaverifyError):
    """Whoever writes the evaluation set has to act."""

    default_exit = 2


class StatisticsError(SlaverifyError):
    """A number outside its domain: the contract's drafter has to act, unless the text says otherwise."""

    default_exit = 2


class CustodyError(SlaverifyError):
    """The custodian has to act; the exit code follows the table of the custody specification."""

    default_exit = 5


class EndpointError(SlaverifyError):
    """The operator of the run, or the vendor, has to act; the run can be resumed."""

    default_exit = 6


class JudgeError(SlaverifyError):
    """The judge operator has to act: a criterion, a rubric, a judge, its sentinels or its calibration."""

    default_exit = 2


class EvidenceError(SlaverifyError):
    """The evidence (bundle, envelope, token) is not what it claims to be."""

    default_exit = 4


class ReportError(SlaverifyError):
    """The report cannot be made or signed as asked."""

    default_exit = 2


class TrajectoryError(SlaverifyError):
    """A state contract, its questions or a trace of tools is not what it has to be."""

    default_exit = 2


class ApplicationError(SlaverifyError):
    """The command line was used in a way that it refuses."""

    default_exit = 2


class ProblemsError(SlaverifyError):
    """Several problems of one input, reported at once. The exit code is the highest among them."""

    def __init__(self, problems: Sequence[SlaverifyError]) -> None:
        if not problems:
            raise ValueError("no problem to report")
        first = problems[0]
        super().__init__(
            first.code,
            first.what,
            why=first.why,
            fix=first.fix,
            where=first.where,
            exit_code=max(problem.exit_code for problem in problems),
        )
        self.problems = tuple(problems)

    def lines(self, language: str) -> list[str]:
        """Return the lines of each problem in turn."""
        return [line for problem in self.problems for line in problem.lines(language)]
