"""`slaverify extract`: lay a report or a bundle open for public tools. It verifies nothing and says so."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import t
from slaverify.cli.output import out, say

_HEAD = """\
# Nothing here was verified by slaverify. Each line is a public tool; run them in this folder.
# 1. Is auditor.pem the key that the contract pins? Compare with report.signature.auditor_spki_sha256:
openssl x509 -in auditor.pem -pubkey -noout | openssl pkey -pubin -outform DER | sha256sum
# 2. Did that key sign these bytes?
"""
_ROOTS = "# 3. When? tsa.pem holds the roots of the contract that was given:\n"
_NO_ROOTS = "# 3. When? Without --contract only the signer found in the file: this shows agreement, not trust.\n"
_TAIL = "# 4. Identity of the evidence; compare with bundle_digest of the report:\nsha256sum manifest.json\n"
_CMS = "openssl cms -verify -binary -inform DER -in {} -content {} -CAfile auditor.pem -purpose any -out /dev/null\n"
_TRUSTED, _AGREES = "-CAfile tsa.pem\n", "-CAfile tsa.signer.pem -partial_chain\n"


def _commands(signature: str, content: str, stamped: str, rooted: bool, sums: bool) -> bytes:
    stamp = f"openssl ts -verify {stamped} {_TRUSTED if rooted else _AGREES}"
    lines = [_HEAD, _CMS.format(signature, content), _ROOTS if rooted else _NO_ROOTS, stamp, _TAIL]
    return "".join([*lines, "sha256sum -c SHA256SUMS\n" if sums else ""]).encode()


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(help=t("Separa un informe en partes, para herramientas públicas.", "Lay a report open."))(extract)


def extract(
    file: Path = typer.Argument(..., metavar="FILE", help=t("PDF o paquete.", "PDF or bundle.")),
    folder: Path = typer.Argument(..., metavar="DIR", help=t("Carpeta nueva.", "New folder.")),
    contract: Path | None = typer.Option(None, "--contract", help=t("Contrato: da la raíz de la TSA.", "Contract.")),
) -> int:
    """Write the parts and the commands that check them into a new folder."""
    from slaverify.cli.files import read, write_new
    from slaverify.contract.load import load_contract
    from slaverify.errors import ApplicationError, Text

    if folder.exists():
        raise ApplicationError(
            "SLV-A010",
            Text("la carpeta ya existe; no se sobrescribe", "the folder exists and is not overwritten"),
            where=str(folder),
        )
    roots = () if contract is None else load_contract(contract).model.report.signature.tsa_roots or ()
    if file.is_file() and read(file)[:4] == b"%PDF":
        parts = _of_pdf(file, folder, bool(roots))
    else:
        parts = _of_bundle(file, folder, bool(roots))
    if roots:
        parts["tsa.pem"] = "\n".join(roots).encode("ascii")
    for name, data in sorted(parts.items()):
        write_new(folder / name, data)
    out(str(folder))
    say(t("no se verificó nada; vea COMMANDS.txt", "nothing was verified; see COMMANDS.txt"))
    return 0


def _of_pdf(file: Path, folder: Path, rooted: bool) -> dict[str, bytes]:
    from slaverify.cli.files import read
    from slaverify.evidence.pades import pdf_parts

    parts = pdf_parts(read(file))
    folder.mkdir(parents=True)
    stamped = "-data sigvalue.bin -in token.der -token_in"
    return {**parts, "COMMANDS.txt": _commands("sig.p7s", "signed.bin", stamped, rooted, sums=False)}


def _of_bundle(file: Path, folder: Path, rooted: bool) -> dict[str, bytes]:
    from slaverify.evidence import PARTIES, PUBLIC
    from slaverify.evidence.pades import certificates_pem
    from slaverify.evidence.read import open_bundle
    from slaverify.evidence.write import write_bundle

    bundle = open_bundle(file)
    signature, _ = bundle.envelope()
    whole = not bundle.withheld_paths()
    write_bundle(bundle, folder, PARTIES if whole else PUBLIC)
    commands = _commands("manifest.p7s", "manifest.json", "-data manifest.p7s -in manifest.tsr", rooted, sums=whole)
    parts = {"COMMANDS.txt": commands}
    return parts if signature is None else {**parts, "auditor.pem": certificates_pem(signature)}
