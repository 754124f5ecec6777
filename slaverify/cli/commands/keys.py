"""`slaverify keys …`: make the keys of a party and print the public lines for the contract."""

from __future__ import annotations

import os

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

group = typer.Typer(
    help=t("Las claves de una parte.", "The keys of a party."), rich_markup_mode=None, no_args_is_help=True
)


@group.command(
    help=t("Crea claves de libro, de cifrado y de firma.", "Make ledger, encryption and signing keys of a party.")
)
def new(
    role: str = typer.Option(..., "--role", help=t("auditor, custodian, buyer, vendor…", "auditor, custodian…")),
    organisation: str = typer.Option(..., "--org", help=t("Organización.", "Organisation.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Make a Ed25519 key, an age identity and a P-256 key with a self-signed certificate; print what is public."""
    from slaverify.cli.files import write_new
    from slaverify.cli.wiring import keys_folder, now
    from slaverify.contract import Role
    from slaverify.custody.keys import KeyStore
    from slaverify.evidence.envelope import load_key
    from slaverify.evidence.pades.demo import make_signer

    if role not in [word.value for word in Role]:
        raise typer.BadParameter(t(f"papel desconocido: {role}", f"unknown role: {role}"))
    store = KeyStore.create(keys_folder())
    secret = _new_passphrase()
    party = store.make(role, organisation=organisation, roles=[role], now=now())
    signer = make_signer(now(), name=organisation, policy=None)
    path = store.folder / f"{role}.signing.pem"
    write_new(path, _protected(signer.key_pem, secret) + signer.certificate_pem, mode=0o600)
    key = load_key(path, lambda: secret)
    public = {
        "role": role,
        "organisation": organisation,
        "spki_sha256": key.spki_sha256,
        "ledger_key": party.vkey,
        "age": party.age_recipient,
        "folder": str(store.folder),
    }
    if as_json:
        emit({"type": "slaverify/keys/1", **public})
        return 0
    out(f"spki_sha256: {key.spki_sha256}")
    out(f"vkey: {party.vkey}")
    out(f"age: {party.age_recipient}")
    say(t(f"claves privadas en {store.folder}; guarde una copia fuera de línea", f"private keys in {store.folder}"))
    return 0


def _new_passphrase() -> str:
    given = os.environ.get("SLAVERIFY_KEY_PASSPHRASE")
    if given is not None:
        return given
    question = t("Contraseña para la clave de firma", "Passphrase for the signing key")
    return str(typer.prompt(question, hide_input=True, confirmation_prompt=True))


def _protected(key_pem: bytes, secret: str) -> bytes:
    from cryptography.hazmat.primitives import serialization

    if not secret:
        say(t("aviso: la clave de firma queda sin contraseña", "warning: the signing key has no passphrase"))
        return key_pem
    key = serialization.load_pem_private_key(key_pem, None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(secret.encode()),
    )
