"""Shows how a run goes: a bar on a terminal, else a line each 10 % or 30 s. Second door of the room.

No verdict, no running accuracy, no text of an item: nobody may stop a run on a good or a bad score.

Source: docs/spec/run.md, section "Progress".
"""

from __future__ import annotations

from collections import Counter, deque
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from slaverify.contract.words import Outcome
from slaverify.engine import Fault
from slaverify.errors import Text

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

LAST = 100
"""Exchanges from which the rest is estimated."""
STEP = 0.1
PERIOD_S = 30.0


class Progress:
    """Counts what happens and shows nothing; the base of what shows."""

    def __init__(self) -> None:
        self.planned = self.count = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.faults: Counter[Fault] = Counter()
        self._ends: deque[float] = deque(maxlen=LAST)

    def begin(self, planned: int, done: int) -> None:
        """Take the number of planned exchanges and of those that were done before."""
        self.planned, self.count = planned, done
        self._ends.append(monotonic())

    def done(self, outcome: Outcome) -> None:
        """Take one exchange that is durable and done."""
        self.count += 1
        self.outcomes[outcome] += 1
        self._ends.append(monotonic())

    def fault(self, fault: Fault) -> None:
        """Take one fault of an attempt."""
        self.faults[fault] += 1

    def end(self) -> None:
        """Stop showing."""

    @property
    def rate_per_s(self) -> float:
        """Return exchanges per second over the last 100."""
        spent = self._ends[-1] - self._ends[0] if len(self._ends) > 1 else 0.0
        return (len(self._ends) - 1) / spent if spent > 0 else 0.0

    @property
    def rest_s(self) -> float | None:
        """Return the estimated time that is left, seconds; None before there is a rate."""
        rate = self.rate_per_s
        return (self.planned - self.count) / rate if rate else None


class LineProgress(Progress):
    """Writes a line each 10 % or 30 s, for pipes and logs."""

    def __init__(self, stream: TextIO, language: str = "es") -> None:
        """Write to `stream`, in `language`."""
        super().__init__()
        self._stream, self._language = stream, language
        self._shown_at, self._shown = monotonic(), 0.0

    def done(self, outcome: Outcome) -> None:
        """Take one exchange, and write a line if one is due."""
        super().done(outcome)
        share, now = self.count / max(1, self.planned), monotonic()
        if share - self._shown >= STEP or now - self._shown_at >= PERIOD_S or self.count == self.planned:
            self._shown_at, self._shown = now, share
            with suppress(OSError, ValueError):
                print(line_text(self).in_language(self._language), file=self._stream, flush=True)


class BarProgress(Progress):
    """Shows a bar on a terminal."""

    def __init__(self, stream: TextIO, language: str = "es") -> None:
        """Draw on `stream`, in `language`."""
        super().__init__()
        self._stream, self._language = stream, language
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._drawn_at = 0.0

    def begin(self, planned: int, done: int) -> None:
        """Start the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        super().begin(planned, done)
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            console=Console(file=self._stream),
            transient=True,
            auto_refresh=False,
        )
        self._bar.start()
        self._task = self._bar.add_task("", total=planned, completed=done)

    def done(self, outcome: Outcome) -> None:
        """Take one exchange; redraw at most ten times a second."""
        super().done(outcome)
        now = monotonic()
        if (
            self._bar is not None
            and self._task is not None
            and (now - self._drawn_at > 0.1 or self.count == self.planned)
        ):
            self._drawn_at = now
            words = line_text(self).in_language(self._language).partition(": ")[2]
            self._bar.update(self._task, completed=self.count, description=words, refresh=True)

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


def line_text(progress: Progress) -> Text:
    """Return the line of a progress: done of planned, rate, 429s, faults, time left."""
    share = int(100 * progress.count / max(1, progress.planned))
    rest = progress.rest_s
    limited = progress.faults[Fault.RATE_LIMITED]
    others = sum(progress.faults.values()) - limited
    head = f"{share} %: {progress.count}/{progress.planned}"
    es, en = f"{head}, {progress.rate_per_s:.1f}/s", f"{head}, {progress.rate_per_s:.1f}/s"
    if limited:
        es, en = f"{es}, 429: {limited}", f"{en}, 429: {limited}"
    if others:
        es, en = f"{es}, intentos con falla: {others}", f"{en}, failed attempts: {others}"
    if rest is not None and progress.count < progress.planned:
        es, en = f"{es}, faltan {_clock(rest)}", f"{en}, {_clock(rest)} left"
    return Text(es, en)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"


def console_progress(stream: TextIO, language: str = "es") -> Progress:
    """Return the progress that fits `stream`: a bar on a terminal, lines elsewhere."""
    return BarProgress(stream, language) if stream.isatty() else LineProgress(stream, language)
