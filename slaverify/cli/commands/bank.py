"""`slaverify bank …`: import, check, export, template, catalogue. Each command has its own module."""

from __future__ import annotations

import typer

from slaverify.cli.commands import bank_check, bank_import, bank_questions, bank_sheets
from slaverify.cli.language import t

group = typer.Typer(
    help=t(
        "El banco de preguntas: importar, derivar, revisar, exportar, planilla, catálogo.",
        "The evaluation set: import, derive, check, export, template, catalogue.",
    ),
    rich_markup_mode=None,
    no_args_is_help=True,
)

bank_import.register(group)
bank_check.register(group)
bank_sheets.register(group)
bank_questions.register(group)
