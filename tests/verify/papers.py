"""A signed PDF over the sample's evidence: one page of text, the two attachments, the auditor's signature."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path

from slaverify.canonical import jcs
from slaverify.evidence import Bundle, bundle_digest
from slaverify.evidence.envelope import SigningKey
from slaverify.evidence.pades import sign_pdf
from slaverify.report import build
from tests.evidence.pki import NOW, Tsa, auditor, tsa
from tests.verify.sample import Edit, Line

VERSIONS = {"weasyprint": "70.0", "pydyf": "0.13", "fonts": {"regular": "ab" * 32}}
REPORT_ID = "demo-normativa-cl-0001"


def report(made: Line, files: Mapping[str, bytes], edit: Edit | None = None) -> bytes:
    """A report.json over a bundle, with an edit of its tree."""
    header = made.header
    tree = {
        "type": "slaverify/report/1",
        "report_id": REPORT_ID,
        "language": "es",
        "bundle_digest": bundle_digest(files["manifest.json"]),
        "contract_digest": header.contract_digest,
        "bank_digest": header.bank_digest,
        "method_digest": header.method_digest,
        "run_id": header.run_id,
        "closed_at": header.closed_at,
        "decision": json.loads(files["decision/decision.json"]),
        "limitations": json.loads(files["decision/limitations.json"]),
        "amends": None,
        "render": VERSIONS,
        "sections": json.loads(build(Bundle.of_files(files), "es", VERSIONS))["sections"],
    }
    if edit is not None:
        edit(tree)
    return jcs(tree)


@cache
def unsigned(report_json: bytes, manifest: bytes, says: str = "Informe") -> bytes:
    """A page in the report's font, with one heading and both attachments."""
    import fontpkg_ibm_plex_sans
    from weasyprint import HTML, Attachment

    folder = Path(fontpkg_ibm_plex_sans.__file__).parent / "files"
    face = next(path for path in sorted(folder.glob("*.ttf")) if "Italic" not in path.name)
    style = f'@font-face{{font-family:"IBM Plex Sans";src:url("{face.as_uri()}")}}*{{font-family:"IBM Plex Sans"}}'
    html = (
        f'<html lang="es"><head><title>Informe</title><style>{style}</style></head><body><h1>{says}</h1></body></html>'
    )
    attachments = [
        Attachment(string=data, name=name, relationship="Data", created=NOW, modified=NOW)
        for name, data in {"manifest.json": manifest, "report.json": report_json}.items()
    ]
    return HTML(string=html).write_pdf(
        pdf_variant="pdf/a-3a",
        uncompressed_pdf=True,
        attachments=attachments,
        pdf_identifier=sha256(report_json).digest()[:16],
    )


def pdf(
    made: Line,
    files: Mapping[str, bytes],
    edit: Edit | None = None,
    *,
    at: datetime | None = None,
    key: SigningKey | None = None,
) -> bytes:
    """A signed report over a bundle."""
    stamper = Tsa(tsa().identity, at or made.closing_time).stamper()
    page = unsigned(report(made, files, edit), files["manifest.json"])
    return sign_pdf(page, key or auditor(), stamper.stamp_digest)
