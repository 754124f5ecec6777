"""Gather what a verification needs from files, and say what came of it. Nothing here touches a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from slaverify.canonical import StrictJsonError, loads_object
from slaverify.errors import ApplicationError, SlaverifyError, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slaverify.evidence import Bundle
    from slaverify.verify import Rerendered, Trust, Verification

MAX_PDF = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Pinned:
    """What the reader knows from outside: paths and words of the command line, as given."""

    contract: Path | None = None
    contract_digest: str = ""
    auditor_spki: str = ""
    tsa_roots: tuple[Path, ...] = ()
    checkpoint: Path | None = None
    run_id: str = ""
    report_id: str = ""
    crls: tuple[Path, ...] = field(default=())


@dataclass(frozen=True)
class Files:
    """The files under test."""

    pdf: bytes | None
    bundle: Bundle | SlaverifyError | None


def verify_files(
    files: Files,
    pinned: Pinned,
    now: datetime,
    *,
    identity: Path | None = None,
    rerender: bool = False,
    strict: bool = False,
    allow_demo: bool = False,
) -> Verification:
    """Verify the files against the pins. Raises: SlaverifyError for a pin that cannot be read, never for the files."""
    from slaverify.cli.files import read
    from slaverify.verify import VerifyRequest, verify

    trust = _trust(pinned)
    _load_plugins(trust, files)
    return verify(
        VerifyRequest(
            now=now,
            pdf=files.pdf,
            bundle=files.bundle,
            trust=trust,
            checkpoint=None if pinned.checkpoint is None else read(pinned.checkpoint, 64 * 1024),
            run_id=pinned.run_id or None,
            report_id=pinned.report_id or None,
            annex=None if identity is None else _annex(files.bundle, identity),
            page_data=_page_data(files),
            rerendered=_rerendered(files.pdf) if rerender else None,
            crls=tuple(read(path, MAX_PDF) for path in pinned.crls),
            strict=strict,
            allow_demo=allow_demo,
        )
    )


def open_files(paths: list[Path]) -> Files:
    """Open one PDF, one bundle, or one of each. Raises: ApplicationError SLV-A014 for anything else."""
    pdfs = [path for path in paths if path.is_file() and _head(path).startswith(b"%PDF")]
    others = [path for path in paths if path not in pdfs]
    if len(pdfs) > 1 or len(others) > 1 or not paths:
        raise ApplicationError(
            "SLV-A014",
            Text("se verifica un PDF, un paquete, o uno de cada uno", "give one PDF, one bundle, or one of each"),
            fix=Text("verifique cada informe por separado", "verify each report by itself"),
        )
    pdf = _bounded(pdfs[0]) if pdfs else None
    return Files(pdf, _bundle(others[0]) if others else None)


def _bundle(path: Path) -> Bundle | SlaverifyError:
    from slaverify.evidence.read import open_bundle, open_folder

    if not path.exists():
        raise ApplicationError("SLV-A011", Text("no existe", "it does not exist"), where=str(path))
    try:
        # The folder of a run holds more than its bundle: journal, private files and reports stay out.
        return open_folder(path) if (path / "private").is_dir() else open_bundle(path)
    except SlaverifyError as error:
        return error


def _trust(pinned: Pinned) -> Trust:
    from slaverify.cli.files import read
    from slaverify.contract.load import load_contract
    from slaverify.verify import Trust

    return Trust(
        contract=None if pinned.contract is None else load_contract(pinned.contract),
        contract_digest=pinned.contract_digest or None,
        auditor_spki=pinned.auditor_spki or None,
        tsa_roots=tuple(read(path, 64 * 1024).decode("ascii", "replace") for path in pinned.tsa_roots),
    )


def _load_plugins(trust: Trust, files: Files) -> None:
    """Load the adapter that the contract pins, where exactly that package is installed; else V19 says so."""
    from slaverify.contract.load import parse_contract
    from slaverify.engine.plugins import load_plugins
    from slaverify.evidence.reading import CONTRACT

    try:
        contract = trust.contract
        if contract is None and files.bundle is not None and not isinstance(files.bundle, SlaverifyError):
            contract = parse_contract(files.bundle.read(CONTRACT, 1024 * 1024), CONTRACT)
        if contract is not None:
            load_plugins(contract.model.method.plugins)
    except SlaverifyError:
        # Whatever is wrong with the contract or its plug-in is a finding of the verification, which reads it again.
        return


def _annex(bundle: Bundle | SlaverifyError | None, identity: Path) -> Mapping[str, bytes] | SlaverifyError | None:
    from slaverify.custody.keys import read_age_identity
    from slaverify.evidence import ANNEX
    from slaverify.evidence.annex import open_annex

    if bundle is None or isinstance(bundle, SlaverifyError):
        return None
    if bundle.manifest is None or bundle.manifest.annex is None or not bundle.has(ANNEX):
        raise ApplicationError(
            "SLV-A015",
            Text("este paquete no trae el anexo sellado", "this bundle does not hold the sealed annex"),
            fix=Text("quite --identity o use la edición de las partes", "drop --identity, or use the parties' edition"),
        )
    try:
        return open_annex(bundle.read(ANNEX, 512 * 1024 * 1024), bundle.manifest.annex, read_age_identity(identity))
    except SlaverifyError as error:
        return error


def _page_data(files: Files) -> bytes | SlaverifyError | None:
    """Build the data of the page again from the evidence, in the report's language and for its renderer."""
    from slaverify.evidence.pades import pdf_facts
    from slaverify.report import build

    if files.pdf is None or files.bundle is None or isinstance(files.bundle, SlaverifyError):
        return None
    model = pdf_facts(files.pdf, None).attachment("report.json")
    try:
        stated = {} if model is None else loads_object(model)
        renderer = stated.get("render")
        if not isinstance(renderer, dict):
            raise ApplicationError("SLV-A016", Text("el PDF no trae sus datos", "the PDF does not hold its data"))
        return build(files.bundle, str(stated.get("language", ""))[:2], renderer)
    except StrictJsonError as error:
        return ApplicationError("SLV-A016", Text(f"report.json: {error}", f"report.json: {error}"))
    except SlaverifyError as error:
        return error


def _rerendered(pdf: bytes | None) -> Rerendered | SlaverifyError | None:
    """Render the page again from the data that the PDF holds."""
    from slaverify.evidence.pades import pdf_facts
    from slaverify.report.pdf import render, renderer
    from slaverify.verify import Rerendered

    if pdf is None:
        return None
    facts = pdf_facts(pdf, None)
    model, manifest = facts.attachment("report.json"), facts.attachment("manifest.json")
    try:
        if model is None or manifest is None:
            raise ApplicationError("SLV-A016", Text("el PDF no trae sus datos", "the PDF does not hold its data"))
        return Rerendered(render(model, manifest), renderer())
    except SlaverifyError as error:
        return error


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(5)


def _bounded(path: Path) -> bytes:
    with path.open("rb") as file:
        # One byte beyond the cap is enough for the rule on size to see it.
        return file.read(MAX_PDF + 1)
