"""`slaverify keys …`: make the keys of a party and print the public lines for the contract."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from slaverify.evidence.signature_facts import TokenFacts

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
    from slaverify.custody.entries import ROLES
    from slaverify.custody.keys import KeyStore
    from slaverify.evidence.envelope import load_key
    from slaverify.evidence.pades.demo import make_signer

    if role not in ROLES:
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


@group.command(
    help=t(
        "Prueba una autoridad de sellado de tiempo e imprime sus líneas.", "Try a timestamp authority; print its lines."
    )
)
def tsa(
    url: str = typer.Argument(..., help=t("Dirección de la autoridad.", "Address of the authority.")),
    as_json: bool = typer.Option(False, "--json", help=t("Un documento JSON.", "One JSON document.")),
) -> int:
    """Ask one token over random bytes; show chain, policy and root, and the lines for `report.signature`."""
    import secrets
    from hashlib import sha256

    from slaverify.engine.wire import post_timestamp
    from slaverify.evidence.pades.tokens import accept_reply, build_request, token_facts

    digest, nonce = sha256(secrets.token_bytes(32)).digest(), secrets.randbits(63) | 1 << 63
    try:
        token = accept_reply(post_timestamp(url, build_request(digest, nonce)), digest, nonce)
        chain = _chain(token)
    except ValueError as error:
        raise _no_token(url, str(error)) from error
    root = _pem(chain[-1])
    facts = token_facts(token, digest, (root,))
    if not (facts.imprint_matches and facts.cms.intact and facts.cms.valid):
        raise _no_token(url, t("el sello no es de lo que se pidió", "the token is not of what was asked"))
    subjects = [certificate.subject.rfc4514_string() for certificate in chain]
    complete = chain[-1].subject == chain[-1].issuer
    if as_json:
        emit(
            {
                "type": "slaverify/tsa/1",
                "url": url,
                "time": facts.at.isoformat(),
                "policy": facts.policy,
                "accuracy_ms": facts.accuracy_ms,
                "chain": subjects,
                "root_in_reply": complete,
                "trusted_under_last": facts.cms.trusted,
                "root_pem": root,
            }
        )
        return 0
    _print_authority(url, facts, chain, root)
    return 0


def _print_authority(url: str, facts: TokenFacts, chain: list[Certificate], root: str) -> None:
    for depth, certificate in enumerate(chain):
        say("  " * depth + certificate.subject.rfc4514_string())
    say(
        t(
            f"hora {facts.at.isoformat()}, política {facts.policy}",
            f"time {facts.at.isoformat()}, policy {facts.policy}",
        )
    )
    if chain[-1].subject != chain[-1].issuer:
        issuer = chain[-1].issuer.rfc4514_string()
        say(
            t(
                f"la respuesta no trae la raíz ({issuer}): pídala a la autoridad; abajo va el último emisor",
                f"the reply does not hold the root ({issuer}): get it from the authority; below is the last issuer",
            )
        )
    say(
        t(
            "compruebe esta raíz por otro camino antes de firmar el contrato",
            "check this root by another way before the contract is signed",
        )
    )
    out(f'tsa_urls: ["{url}"]')
    out(f"tsa_policy_oids: [{facts.policy}]")
    out("tsa_roots:")
    out("  - |")
    for line in root.strip().splitlines():
        out(f"    {line}")


def _chain(token: bytes) -> list[Certificate]:
    """Return the certificates of a token from the authority's own to the last issuer found. Raises: ValueError."""
    from cryptography.hazmat.primitives.serialization import pkcs7

    found = pkcs7.load_der_pkcs7_certificates(token)
    leaves = [one for one in found if _stamps(one)]
    if not leaves:
        raise ValueError(t("no trae certificado de sellado", "no timestamping certificate in it"))
    chain = [leaves[0]]
    while chain[-1].subject != chain[-1].issuer and len(chain) <= len(found):
        issuer = next((one for one in found if one.subject == chain[-1].issuer and one not in chain), None)
        if issuer is None:
            break
        chain.append(issuer)
    return chain


def _stamps(certificate: Certificate) -> bool:
    from cryptography import x509

    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return False
    return x509.oid.ExtendedKeyUsageOID.TIME_STAMPING in usage


def _pem(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM).decode("ascii")


def _no_token(url: str, reason: str) -> Exception:
    from slaverify.errors import ReportError, Text

    return ReportError(
        "SLV-R020",
        Text("la autoridad no dio un sello válido", "the authority gave no valid token"),
        why=Text(reason, reason),
        fix=Text("revise la dirección o pruebe otra autoridad", "check the address or try another authority"),
        where=url,
        exit_code=6,
    )


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
