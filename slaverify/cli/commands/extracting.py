"""`slaverify extract`: lay a report or a bundle open for public tools. It verifies nothing and says so."""

from __future__ import annotations

from pathlib import Path

import typer

from slaverify.cli.language import t
from slaverify.cli.output import out, say

COMMANDS_PDF = """\
# Nothing here was verified by slaverify. Each line is a public tool; run them in this folder.
# 1. Is auditor.pem the key that the contract pins? Compare with report.signature.auditor_spki_sha256:
openssl x509 -in auditor.pem -pubkey -noout | openssl pkey -pubin -outform DER | sha256sum
# 2. Did that key sign these bytes?
openssl cms -verify -binary -inform DER -in sig.p7s -content signed.bin -CAfile auditor.pem -purpose any -out /dev/null
# 3. When, according to the timestamp authority (tsa.pem: take it from the contract)?
openssl ts -verify -data sigvalue.bin -in token.der -token_in -CAfile tsa.pem -partial_chain
openssl ts -reply -in token.der -token_in -text
# 4. Are the data those of the bundle? Compare with bundle_digest of report.json:
sha256sum manifest.json
"""
COMMANDS_BUNDLE = """\
# Nothing here was verified by slaverify. Each line is a public tool; run them in this folder.
# auditor.pem and tsa.pem: take them from the contract that you hold.
sha256sum -c SHA256SUMS
openssl cms -verify -binary -inform DER -in manifest.p7s -content manifest.json -CAfile auditor.pem -purpose any >body
openssl ts -verify -data manifest.p7s -in manifest.tsr -CAfile tsa.pem
sha256sum manifest.json
"""


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
    roots = None if contract is None else load_contract(contract).model.report.signature.tsa_roots
    if file.is_file() and read(file)[:4] == b"%PDF":
        from slaverify.evidence.pades import pdf_parts

        parts = {**pdf_parts(read(file)), "COMMANDS.txt": COMMANDS_PDF.encode()}
        if roots:
            parts["tsa.pem"] = "\n".join(roots).encode("ascii")
        folder.mkdir(parents=True)
        for name, data in sorted(parts.items()):
            write_new(folder / name, data)
    else:
        from slaverify.evidence import PARTIES, PUBLIC
        from slaverify.evidence.read import open_bundle
        from slaverify.evidence.write import write_bundle

        bundle = open_bundle(file)
        write_bundle(bundle, folder, PUBLIC if bundle.withheld_paths() else PARTIES)
        write_new(folder / "COMMANDS.txt", COMMANDS_BUNDLE.encode())
        if roots:
            write_new(folder / "tsa.pem", "\n".join(roots).encode("ascii"))
    out(str(folder))
    say(t("no se verificó nada; vea COMMANDS.txt", "nothing was verified; see COMMANDS.txt"))
    return 0
