"""`slaverify bank …`: import, check, export, template, catalogue. Each command has its own module."""

from __future__ import annotations

import typer

from slaverify.cli.commands import bank_check, bank_import, bank_questions, bank_sheets

group = typer.Typer(rich_markup_mode=None)

bank_import.register(group)
bank_check.register(group)
bank_sheets.register(group)
bank_questions.register(group)
