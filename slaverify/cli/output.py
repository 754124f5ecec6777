"""Print: results to stdout, words for people to stderr, `--json` as one document."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from slaverify.canonical import JsonValue
from slaverify.cli.language import language, t
from slaverify.errors import SlaverifyError


def say(text: str = "") -> None:
    """Print a line for people (stderr)."""
    print(text, file=sys.stderr, flush=True)


def out(text: str = "") -> None:
    """Print a line of the result (stdout)."""
    print(text, flush=True)


def emit(document: JsonValue) -> None:
    """Print one JSON document, the result under `--json`."""
    print(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True), flush=True)


def fail(error: SlaverifyError) -> int:
    """Print an error with its place and its mend; return its exit code."""
    for line in error.lines(language()):
        say(line)
    return error.exit_code


_RESUMABLE = ("audit", "run", "judge")


def interrupted(arguments: list[str]) -> int:
    """Say how to go on, which only the commands that keep a journal can do where they stopped; return 130."""
    say()  # a question or a line of progress may stand open
    if arguments and arguments[0] in _RESUMABLE:
        say(
            t(
                "interrumpido; nada se perdió: repita la orden con --resume",
                "interrupted; nothing was lost: add --resume",
            )
        )
    else:
        say(t("interrumpido: la orden no terminó; repítala", "interrupted: the command did not finish; run it again"))
    return 130


def usage_error(error: Exception, arguments: list[str]) -> int | None:
    """Print an error of usage (an unknown option, a missing argument); null if it is something else."""
    import typer

    if isinstance(error, typer.Exit):
        return int(error.exit_code)
    if isinstance(error, typer.Abort):
        return interrupted(arguments)
    show = getattr(error, "format_message", None)
    if show is None:
        return None
    context = getattr(error, "ctx", None)
    if context is not None:
        say(context.get_usage())
    say(f"error[SLV-A001]: {show()}")
    return 2


def crash(error: Exception) -> int:
    """Report a fault of our own. A crash is never a verdict; the traceback holds no values."""
    say(f"error[SLV-A070]: {t('fallo interno', 'internal error')}: {type(error).__name__}: {error}")
    if os.environ.get("SLAVERIFY_TRACE"):
        traceback.print_exc()
    else:
        last = traceback.extract_tb(error.__traceback__)[-1]
        say(f"  --> {Path(last.filename).name}:{last.lineno}")
    say(
        t(
            "  ayuda: no es un veredicto. Avise con la orden que usó; SLAVERIFY_TRACE=1 muestra dónde.",
            "  help: this is no verdict. Report the command you used; SLAVERIFY_TRACE=1 shows where.",
        )
    )
    return 70
