"""The document: model, pages, signature, own verification, history, entry in the ledger. One PDF per language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from slaverify.audit.closing import fit_signing_key
from slaverify.audit.history import history_line
from slaverify.audit.scoring import annex_files
from slaverify.audit.session import Session, put
from slaverify.canonical import loads_canonical, sha256_hex
from slaverify.custody import RunRecord
from slaverify.custody.append import record_report
from slaverify.errors import ReportError, Text
from slaverify.evidence import AMENDMENT, B_LTA, PARTIES, PUBLIC, Bundle
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.pades import LongTerm, pdf_facts, sign_pdf
from slaverify.evidence.read import open_folder
from slaverify.evidence.timestamp import Stamper
from slaverify.evidence.write import replacing, write_bundle
from slaverify.report import build
from slaverify.report.pdf import render, renderer
from slaverify.verify import Outcome, Trust, Verification, VerifyRequest, verify

FOLDER = "report"


@dataclass(frozen=True)
class Issued:
    """A report that was issued: where it lies, in which language, and its identity."""

    path: Path
    language: str
    report_id: str
    signed_digest: str


def issue_reports(session: Session, number: int) -> list[Issued]:
    """Write, sign, verify and register the report in each language of the contract, or of the session.

    Raises: ReportError SLV-R020 (no token, exit 6), SLV-R011 (system library, exit 6), SLV-R026 (own verification).
    """
    wanted = session.languages or tuple(session.contract.model.report.languages)
    bundle = open_folder(session.run_folder(number))
    for edition in (PUBLIC, PARTIES):
        _edition(session, number, bundle, edition)
    return [_issue(session, number, bundle, language) for language in wanted]


def in_language(session: Session, tag: str) -> Session:
    """Return the session that issues one language alone. Raises: ReportError SLV-R002 for one that was not agreed."""
    agreed = session.contract.model.report.languages
    chosen = tag.partition("-")[0].lower()
    if chosen not in agreed:
        raise ReportError(
            "SLV-R002",
            Text(f"el contrato no pacta informe en «{tag}»", f"the contract agrees on no report in `{tag}`"),
            fix=Text(f"use uno de: {', '.join(agreed)}", f"use one of: {', '.join(agreed)}"),
            where="report.languages",
        )
    return replace(session, languages=(chosen,))


def report_json(session: Session, number: int, language: str) -> bytes:
    """Return the model of the document, as it follows from the closed evidence and this machine's renderer."""
    return build(open_folder(session.run_folder(number)), language, renderer())


def _issue(session: Session, number: int, bundle: Bundle, language: str) -> Issued:
    folder = session.run_folder(number)
    target = folder / FOLDER / f"{report_number(bundle)}.{language}.pdf"
    if not target.is_file():
        _refuse_second(session, number, bundle, language, target)
        _write_pdf(session, number, bundle, language, target)
    pdf = target.read_bytes()
    facts = pdf_facts(pdf, None)
    embedded = facts.attachment("report.json")
    if embedded is None or not facts.signed_digest:
        raise _not_verified(target, "report.json")
    identifier = str(loads_canonical(embedded)["report_id"])
    issued = Issued(target, language, identifier, facts.signed_digest)
    _register(session, number, bundle, issued)
    return issued


def _refuse_second(session: Session, number: int, bundle: Bundle, language: str, target: Path) -> None:
    """Refuse to sign again what the ledger says was issued. Raises: ReportError SLV-R027."""
    entries = session.record(number).all("report_issued")
    if any(
        entry.data.get("language") == language and entry.data["bundle_digest"] == bundle.digest for entry in entries
    ):
        raise ReportError(
            "SLV-R027",
            Text("el informe ya se emitió y su archivo no está", "the report was issued and its file is not here"),
            why=Text("dos firmas del mismo informe serían dos informes", "two signatures of one report would be two"),
            fix=Text("recupere el archivo de una copia", "restore the file from a copy"),
            where=str(target),
            exit_code=4,
        )


def issued_languages(record: RunRecord) -> frozenset[str]:
    """Return the languages in which the ledger says that a run's report was issued."""
    return frozenset(str(entry.data.get("language")) for entry in record.all("report_issued"))


def _write_pdf(session: Session, number: int, bundle: Bundle, language: str, target: Path) -> None:
    key = fit_signing_key(session)
    assert bundle.manifest_bytes is not None  # noqa: S101 - the evidence is closed
    model = build(bundle, language, renderer())
    put(target.with_name(f"{target.stem}.json"), model)
    page = render(model, bundle.manifest_bytes)
    signed = sign_pdf(page, key, _stamper(session).stamp_digest, _long_term(session, key))
    checked = own_verification(session, number, bundle, signed, model)
    if checked.outcome not in (Outcome.VERIFIED, Outcome.DEMO):
        failed = next((check for check in checked.checks if check.result.value != "passed"), None)
        raise _not_verified(target, "" if failed is None else f"{failed.id}: {failed.reason.en}")
    with replacing(target) as file:
        file.write(signed)


def _long_term(session: Session, key: SigningKey) -> LongTerm | None:
    """Return what B-LTA adds, by the roots of the contract; None at B-T."""
    agreed = session.contract.model.report.signature
    if agreed.level != B_LTA:
        return None
    own = agreed.auditor_roots or (key.certificate_pem.decode("ascii"),)
    return LongTerm((*own, *(agreed.tsa_roots or ())), session.ports.clock(), session.ports.crls)


def own_verification(session: Session, number: int, bundle: Bundle, pdf: bytes, model: bytes) -> Verification:
    """Verify a report before anybody else does: against the contract, with the evidence and the opened annex."""
    annex = annex_files(session.run_folder(number))
    sealed = bundle.manifest is not None and bundle.manifest.annex is not None
    return verify(
        VerifyRequest(
            now=session.ports.clock(),
            pdf=pdf,
            bundle=bundle,
            trust=Trust(contract=session.contract),
            annex=annex if sealed else None,
            page_data=model,
            allow_demo=True,
        )
    )


def bundle_id(bundle: Bundle) -> str:
    """Return `<contract id>.<run number>`."""
    assert bundle.manifest is not None  # noqa: S101 - the evidence is closed
    return bundle.manifest.header.bundle_id


def report_number(bundle: Bundle) -> str:
    """Return the number of the reports over a bundle: its id, and `-A<k>` for an amendment."""
    suffix = f"-A{bundle.json(AMENDMENT)['number']}" if bundle.has(AMENDMENT) else ""
    return f"{bundle_id(bundle)}{suffix}"


def _edition(session: Session, number: int, bundle: Bundle, edition: str) -> None:
    target = session.run_folder(number) / FOLDER / f"{report_number(bundle)}.{edition}.zip"
    if not target.is_file():
        target.parent.mkdir(exist_ok=True, parents=True)
        write_bundle(bundle, target, edition)


def _stamper(session: Session) -> Stamper:
    if not isinstance(session.ports.timestamper, Stamper):
        raise ReportError(
            "SLV-R020",
            Text("no hay autoridad de sellado de tiempo", "there is no timestamp authority"),
            fix=Text("agregue report.signature.tsa_urls al contrato", "add report.signature.tsa_urls to the contract"),
            where="report.signature.tsa_urls",
            exit_code=6,
        )
    return session.ports.timestamper


def _register(session: Session, number: int, bundle: Bundle, issued: Issued) -> None:
    record = session.record(number)
    if any(entry.data.get("signed_digest") == issued.signed_digest for entry in record.all("report_issued")):
        return
    view = session.ledger.refresh()
    line = history_line(session.history, bundle, session.contract, view, issued.report_id, issued.signed_digest)
    assert bundle.manifest is not None  # noqa: S101 - the evidence is closed
    record_report(
        session.ledger,
        session.auditor,
        session.contract.digest,
        number,
        report_id=issued.report_id,
        signed_digest=issued.signed_digest,
        bundle_digest=bundle.digest,
        history_sha256=sha256_hex(line),
        size=bundle.manifest.header.ledger.size,
        language=issued.language,
    )
    session.checkpoint_if_here()


def _not_verified(target: Path, detail: str) -> ReportError:
    return ReportError(
        "SLV-R026",
        Text("el informe no pasó su propia verificación; no se emitió", "the report failed its own verification"),
        why=Text(detail, detail),
        fix=Text(
            "revise la evidencia con «slaverify verify»; el informe no quedó escrito",
            "look at the evidence with `slaverify verify`; no report was written",
        ),
        where=target.name,
        exit_code=4,
    )
