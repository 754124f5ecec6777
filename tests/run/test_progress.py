"""Progress: a line each 10 %, nothing that tells a verdict or a text."""

from __future__ import annotations

import io

from slaverify.contract.words import Outcome
from slaverify.engine import Fault
from slaverify.run.progress import BarProgress, LineProgress, console_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_a_line_each_ten_percent():
    stream = io.StringIO()
    progress = console_progress(stream)
    assert isinstance(progress, LineProgress)
    progress.begin(200, 0)
    for number in range(200):
        progress.fault(Fault.RATE_LIMITED if number % 50 == 0 else Fault.RESET)
        progress.done(Outcome.ANSWERED)
    progress.end()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("10 %: 20/200, ")
    assert "429: 4" in lines[-1]
    assert not any(word in stream.getvalue() for word in ("answered", "PASS", "BREACH", "exactitud"))


def test_a_run_that_goes_on_counts_what_was_done():
    stream = io.StringIO()
    progress = LineProgress(stream, "en")
    progress.begin(10, 9)
    progress.done(Outcome.REFUSED)
    assert stream.getvalue().startswith("100 %: 10/10")


def test_a_terminal_gets_a_bar():
    stream = Terminal()
    progress = console_progress(stream)
    assert isinstance(progress, BarProgress)
    progress.begin(5, 0)
    for _ in range(5):
        progress.done(Outcome.ANSWERED)
    progress.end()
    assert "5/5" in stream.getvalue()


def test_a_closed_stream_does_not_end_the_run():
    stream = io.StringIO()
    progress = LineProgress(stream)
    progress.begin(1, 0)
    stream.close()
    progress.done(Outcome.ANSWERED)
