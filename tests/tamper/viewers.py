"""What other software says of each tampered PDF, beside ours: rows of `docs/validation/signatures.md`.

`python -m tests.tamper.viewers` writes the document again. pyHanko is asked with its default policy and the roots of
the fixture; pdfsig without certificates (`-nocert`), since its list of roots is another matter than alteration.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib import metadata
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from slaverify.evidence import B_T, Pins
from slaverify.evidence.pades import pdf_facts
from slaverify.verify.checks import Check, Result, exit_code_of, fold, outcome_of
from slaverify.verify.signature import signature_parts
from slaverify.verify.signature_times import Circumstances, KeyWindow
from tests.evidence.pki import CLOSED_AT, NOW, auditor, pins_for, signed_pdf
from tests.tamper import line_fixtures
from tests.tamper.pdf_fixtures import FIXTURES, Base, Tampered, cms_of, flipped, with_cms
from tests.verify.checking import check, failures

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "validation" / "signatures.md"
GIVEN = Circumstances(
    closed_at=CLOSED_AT,
    contract_given=True,
    keys=(KeyWindow(NOW - timedelta(days=1), None),),
    effective=NOW - timedelta(days=9),
)
_STEP = 11


@dataclass(frozen=True)
class Row:
    """One file: what pyHanko, pdfsig and this product say."""

    name: str
    pyhanko: str
    pdfsig: str
    ours: str
    rules: str
    exit_code: str

    def line(self) -> str:
        return f"| {self.name} | {self.pyhanko} | {self.pdfsig} | {self.ours} | {self.rules} | {self.exit_code} |"


def checks_of(tampered: Tampered) -> list[Check]:
    parts = signature_parts(pdf_facts(tampered.pdf, tampered.pins), tampered.pins, GIVEN)
    return [fold(rule, found, required=True) for rule, found in parts.items()]


def failed_rules(tampered: Tampered) -> set[str]:
    return {check.id for check in checks_of(tampered) if check.result is Result.FAILED}


def have_pdfsig() -> bool:
    return shutil.which("pdfsig") is not None


def rows() -> Iterator[Row]:
    """The rows whose words are the same with any key: every named file."""
    for name, make in FIXTURES.items():
        tampered = make(Base(B_T))
        checks = checks_of(tampered)
        failed = ", ".join(sorted(one.id for one in checks if one.result is Result.FAILED)) or "none"
        ours = outcome_of(checks, demo=False).value
        yield _row(name, tampered, ours, failed, exit_code_of(checks, demo=False))
    attempt = line_fixtures.pdf21_page_contradicts_json()
    pdf = attempt.asked["pdf"]
    assert isinstance(pdf, bytes)
    found = check(attempt.made, attempt.files, **attempt.asked)
    named = ", ".join(sorted(failures(found)))
    paper = Tampered(pdf, pins_for(auditor()))
    yield _row("pdf21_page_contradicts_json", paper, found.outcome.value, named, found.exit_code)


def table(found: Iterator[Row]) -> str:
    return "\n".join(row.line() for row in sorted(found, key=lambda row: row.name))


def bottom_line(pdf: bytes, pins: Pins) -> bool:
    reader = PdfFileReader(BytesIO(pdf))
    signature = reader.embedded_regular_signatures[0]
    roots = [_asn1(pem) for pem in pins.auditor_roots] or [
        asn1_x509.Certificate.load(auditor().certificate.public_bytes(Encoding.DER))
    ]
    stamps = [_asn1(pem) for pem in pins.tsa_roots]
    try:
        status = validate_pdf_signature(
            signature,
            signer_validation_context=ValidationContext(trust_roots=roots, moment=NOW, allow_fetching=False),
            ts_validation_context=ValidationContext(trust_roots=stamps, moment=NOW, allow_fetching=False),
        )
    except Exception:  # noqa: BLE001 - the library's refusal, in whatever form
        return False
    return bool(status.bottom_line)


def pdfsig(pdf: bytes) -> str:
    """pdfsig's own words for the first signature."""
    with TemporaryDirectory(prefix="slaverify-pdfsig-") as folder:
        path = Path(folder) / "report.pdf"
        path.write_bytes(pdf)
        done = subprocess.run(["pdfsig", "-nocert", str(path)], capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    words = [row.partition(":")[2].strip() for row in said.splitlines() if "Signature Validation" in row]
    if not words:
        return "no signature"
    covers = "whole" if "- Total document signed" in said.partition("Signature #2")[0] else "part"
    count = f" ({len(words)} signatures)" if len(words) > 1 else ""
    return f"{words[0].rstrip('.')}, {covers}{count}"


def _row(name: str, tampered: Tampered, ours: str, rules: str, code: int) -> Row:
    return Row(name, _library(tampered), pdfsig(tampered.pdf), ours, rules, str(code))


def _library(tampered: Tampered) -> str:
    try:
        return "true" if bottom_line(tampered.pdf, tampered.pins) else "false"
    except Exception:  # noqa: BLE001 - not even a signature to ask about
        return "none"


def _flips() -> Row:
    """Every eleventh byte of the signature, each alone."""
    pdf, pins = signed_pdf(), pins_for(auditor())
    data = cms_of(pdf)
    spoilt = [Tampered(with_cms(pdf, flipped(data, at)), pins) for at in range(0, len(data), _STEP)]
    library = sum(_library(one) == "true" for one in spoilt)
    viewer = sum(pdfsig(one.pdf).startswith("Signature is Valid") for one in spoilt)
    ours = sum(not failed_rules(one) for one in spoilt)
    total = len(spoilt)
    return Row(
        f"pdf02_flip_cms_byte, {total} files",
        f"true in {library}",
        f"Signature is Valid in {viewer}",
        "VERIFIED" if ours else "NOT_VERIFIED",
        f"V05 in {total - ours}",
        "4",
    )


def _asn1(pem: str) -> asn1_x509.Certificate:
    return asn1_x509.Certificate.load(x509.load_pem_x509_certificate(pem.encode()).public_bytes(Encoding.DER))


def version_of_pdfsig() -> str:
    return subprocess.run(["pdfsig", "-v"], capture_output=True, text=True, check=False).stderr.split()[2]


def tools() -> str:
    """The versions that the document speaks of."""
    return f"pyHanko {metadata.version('pyhanko')}, pdfsig {version_of_pdfsig()}"


def main() -> None:
    """Write the document."""
    found = [*rows(), _flips()]
    tampered = [row for row in found if row.ours != "VERIFIED"]
    wrongly = sum(row.pyhanko.startswith("true") for row in tampered)
    viewer = sum(row.pdfsig.startswith("Signature is Valid") for row in tampered)
    lines = (
        "# What other software says of a tampered report",
        "",
        "Written by `python -m tests.tamper.viewers`; a test compares every row but pdf02, whose counts change",
        f"with the key. {tools()}. pyHanko: its default policy and bottom line,",
        "with the roots of the fixture and no fetching. pdfsig (poppler): with `-nocert`, its first signature, and",
        "whether it says that the whole file is signed. Level B-T.",
        "",
        f"Of {len(tampered)} kinds of tampering pyHanko alone accepts {wrongly} (of pdf02, some bytes), and pdfsig",
        f"calls the signature of {viewer} valid; this product accepts none. Neither tool claims what is asked of this",
        "one: the key that a contract pins, a trusted time, no later revision, nothing hidden, a page that follows",
        "from its data.",
        "",
        "| file | pyHanko | pdfsig | slaverify | failed rules | exit |",
        "|---|---|---|---|---|---|",
        table(iter(found)),
        "",
    )
    DOCUMENT.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
