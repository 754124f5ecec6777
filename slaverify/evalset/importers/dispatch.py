"""One door for any file: propose or take its format, and read it.

Source: docs/spec/import.md section 1.
"""

from __future__ import annotations

from dataclasses import replace

from slaverify.errors import SlaverifyError, Text
from slaverify.evalset.importers.options import Deck, ImportOptions, Proposal, UndecidedError
from slaverify.evalset.importers.report import Imported
from slaverify.evalset.importers.sniffing import sniff
from slaverify.evalset.problems import problem

FORMATS = (
    "csv",
    "xlsx",
    "ods",
    "jsonl",
    "json",
    "squad",
    "promptfoo",
    "deepeval",
    "ragas",
    "inspect",
    "facts",
)
"""Formats that `--format` takes; `csv` is any separated text."""


def import_any(data: bytes, name: str, options: ImportOptions) -> Imported:
    """Read what people bring.

    Raises: UndecidedError where something is only proposed; ImportRefusedError with every problem and the report;
    SetError for a file that cannot be read at all.
    """
    try:
        return _import(data, name, options)
    except UndecidedError as error:
        first = error.proposals[0]
        if first.option != "--encoding" or options.encoding is not None:
            raise
        # read on with the first encoding shown, only to say at once what else is open
        raise UndecidedError((*error.proposals, *_further(data, name, options, first.value)), name) from error


def _further(data: bytes, name: str, options: ImportOptions, encoding: str) -> tuple[Proposal, ...]:
    try:
        _import(data, name, replace(options, encoding=encoding, accept=False))
    except UndecidedError as error:
        return error.proposals
    except SlaverifyError:
        return ()
    return ()


def _import(data: bytes, name: str, options: ImportOptions) -> Imported:
    deck = Deck(options)
    form = options.format
    if form is not None:
        deck.given("format")
    else:
        form, sure = sniff(data, name)
        if sure:
            deck.given("format", "file")
        else:
            why = Text("por su contenido", "by its content")
            deck.propose("format", Proposal("--format", form, why))
    if form not in FORMATS:
        known = ", ".join(FORMATS)
        what = Text(f"formato desconocido: {form}", f"unknown format: {form}")
        raise problem("SLV-I015", what, name, Text(f"use uno de: {known}", f"use one of: {known}"))
    return _read(form, data, name, deck)


def _read(form: str, data: bytes, name: str, deck: Deck) -> Imported:
    # imported here, so that each format costs only those who use it
    if form == "csv":
        from slaverify.evalset.importers.delimited import read_delimited
        from slaverify.evalset.importers.rows import import_table

        return import_table(read_delimited(data, name, deck), data, name, form, deck)
    if form in ("xlsx", "ods"):
        from slaverify.evalset.importers.rows import import_table
        from slaverify.evalset.importers.workbook import read_workbook

        return import_table(read_workbook(data, name, form, deck), data, name, form, deck)
    if form == "squad":
        from slaverify.evalset.importers.squad import import_squad

        deck.settle(name)
        return import_squad(data, name, stratum=deck.options.stratum, locale=deck.options.locale)
    if form == "jsonl":
        from slaverify.evalset.importers.lines import import_jsonl

        deck.settle(name)
        return import_jsonl(data, name, locale=deck.options.locale)
    if form == "promptfoo":
        from slaverify.evalset.importers.promptfoo import import_promptfoo

        return import_promptfoo(data, name, deck)
    from slaverify.evalset.importers.tools import import_tool

    return import_tool(form, data, name, deck)
