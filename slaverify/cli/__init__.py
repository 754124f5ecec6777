"""The command line: parse, wire the ports, show progress, print. Nothing is decided here."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with the code of the specification (0 to 6, 70, 130)."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; every error is printed in the reader's language."""
    from slaverify.cli.output import fail, interrupted
    from slaverify.errors import SlaverifyError

    try:
        from slaverify.cli.app import app

        result = app(arguments, prog_name="slaverify", standalone_mode=False)
    except SlaverifyError as error:
        return fail(error)
    except KeyboardInterrupt:
        return interrupted(arguments)
    except Exception as error:  # noqa: BLE001 - a crash is reported as one, never as a verdict
        from slaverify.cli.output import crash, usage_error

        code = usage_error(error, arguments)
        return crash(error) if code is None else code
    return result if isinstance(result, int) else 0
