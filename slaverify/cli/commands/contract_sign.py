"""`slaverify contract sign`: a party's detached signature, and what stands signed beside a contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.language import t
from slaverify.cli.output import out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonObject
    from slaverify.contract import LoadedContract, Party, PartySignature, Role, SignatureFinding

REQUIRED = ("buyer", "vendor", "auditor", "custodian")
"""Roles whose signatures make a contract a signed one."""
_MAX = 64 * 1024


def register(group: typer.Typer) -> None:
    """Add the command to its group."""
    group.command(help=t("Firma un contrato congelado.", "Sign a frozen contract."))(sign)


def sign(
    file: Path = typer.Argument(..., help=t("Contrato congelado.", "Frozen contract.")),
    role: str = typer.Option(..., "--role", help=t("Quién firma: buyer, vendor, auditor…", "Who signs: buyer…")),
    key: Path | None = typer.Option(
        None, "--key", help=t("Clave (PEM o PKCS#12); por defecto, <papel>.signing.pem.", "Key (PEM or PKCS#12).")
    ),
    timestamp: bool = typer.Option(
        False, "--timestamp", help=t("Pide además un sello de tiempo.", "Ask for a timestamp as well.")
    ),
) -> int:
    """Write `<id>.signatures/<role>.p7s` beside the contract, over its canonical bytes."""
    from slaverify.canonical import jcs
    from slaverify.cli.files import write_new
    from slaverify.cli.wiring import _passphrase, keys_folder, now, stamper
    from slaverify.contract import Role
    from slaverify.contract.load import load_contract
    from slaverify.errors import ApplicationError, Text
    from slaverify.evidence.envelope import load_key
    from slaverify.evidence.pades.party import PartySigner
    from slaverify.readiness import refuse_undecidable

    if role not in [word.value for word in Role]:
        raise typer.BadParameter(t(f"papel desconocido: {role}", f"unknown role: {role}"))
    loaded = load_contract(file)
    _must_be_frozen(loaded)
    refuse_undecidable(loaded, now())
    path = key or keys_folder() / f"{role}.signing.pem"
    if not path.is_file():
        raise ApplicationError(
            "SLV-A013",
            Text("falta la clave de firma", "the signing key is missing"),
            fix=Text(
                f"créela con «slaverify keys new --role {role}» o indique --key",
                f"make it with `slaverify keys new --role {role}`, or give --key",
            ),
            where=str(path),
            exit_code=5,
        )
    signing = load_key(path, partial(_passphrase, path))
    _must_be_pinned(loaded, role, signing.spki_sha256)
    made = PartySigner(signing).sign(jcs(loaded.tree), Role(role))
    folder = signatures_folder(file, loaded)
    folder.mkdir(exist_ok=True)
    target = folder / f"{role}.p7s"
    write_new(target, made.signature)
    say(t(f"firmado por {role}: {target}", f"signed by {role}: {target}"))
    if timestamp:
        stamping = stamper(loaded)
        if stamping is None:
            say(t("el contrato no nombra autoridad de sellado", "the contract names no timestamp authority"))
        else:
            write_new(target.with_suffix(".tsr"), stamping.stamp(made.signature))
    out(loaded.digest)
    return 0


@dataclass(frozen=True, slots=True)
class Standing:
    """Who signed, whose signature is not valid and why, and who is missing."""

    signed: tuple[str, ...]
    faulty: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    times: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """5 where a signature does not hold."""
        return 5 if self.faulty else 0

    def to_json(self) -> JsonObject:
        """Return the part `signatures` of `slaverify/contract-check/1`."""
        return {
            "signed": list(self.signed),
            "faulty": [{"file": name, "reason": reason} for name, reason in self.faulty],
            "missing": list(self.missing),
        }


def standing_of(file: Path, loaded: LoadedContract) -> Standing | None:
    """Verify every signature beside a frozen contract; None for a draft."""
    from slaverify.canonical import jcs
    from slaverify.cli.files import read
    from slaverify.contract import Role

    if loaded.model.contract.status != "frozen":
        return None
    data, folder = jcs(loaded.tree), signatures_folder(file, loaded)
    signed: set[str] = set()
    faulty: list[tuple[str, str]] = []
    times: dict[str, str] = {}
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in files:
        role = path.stem
        if path.suffix == ".tsr":
            continue
        if role not in [word.value for word in Role] or path.suffix not in (".p7s", ".sshsig"):
            faulty.append((path.name, t("no es la firma de una parte", "it is no signature of a party")))
            continue
        party = getattr(loaded.model.parties, role)
        token = path.with_suffix(".tsr")
        kept = read(token, _MAX) if path.suffix == ".p7s" and token.is_file() else None
        found = _verified(data, Role(role), path.suffix, read(path, _MAX), kept, party)
        if found.valid:
            signed.add(role)
            if found.signed_at is not None:
                times[role] = found.signed_at.isoformat()
            elif kept is not None:
                faulty.append((token.name, t("no es un sello de esta firma", "it is no token of this signature")))
        else:
            faulty.append((path.name, _reason(found.reason or "?")))
    return Standing(tuple(sorted(signed)), tuple(faulty), tuple(role for role in REQUIRED if role not in signed), times)


def signature_lines(standing: Standing | None) -> list[str]:
    """Return what stands signed, in words."""
    if standing is None:
        return []
    lines = []
    for role in standing.signed:
        at = f" ({standing.times[role]})" if role in standing.times else ""
        lines.append(t(f"   firmado por {role}{at}", f"   signed by {role}{at}"))
    lines += [
        t(f"   FIRMA NO VÁLIDA {name}: {reason}", f"   SIGNATURE NOT VALID {name}: {reason}")
        for name, reason in standing.faulty
    ]
    if standing.missing:
        names = ", ".join(standing.missing)
        lines.append(t(f"   faltan las firmas de: {names}", f"   signatures missing: {names}"))
    return lines


def signatures_folder(file: Path, loaded: LoadedContract) -> Path:
    """Return the folder of signatures beside a contract."""
    return file.resolve().parent / f"{loaded.model.contract.id}.signatures"


def _verified(
    data: bytes, role: Role, suffix: str, signature: bytes, token: bytes | None, party: Party | None
) -> SignatureFinding:
    from slaverify.contract import PartySignature

    keys = () if party is None else party.keys
    if suffix == ".sshsig":
        pinned = tuple(key.ssh for key in keys if key.ssh is not None)
        return _ssh(data, PartySignature(role, "sshsig", signature), pinned)
    from slaverify.evidence.pades.party import PartyReader

    pinned = tuple(digest for key in keys for digest in (key.spki_sha256, key.certificate_sha256) if digest is not None)
    return PartyReader().verify(data, PartySignature(role, "cms", signature, token), pinned)


def _ssh(data: bytes, signature: PartySignature, pinned: tuple[str, ...]) -> SignatureFinding:
    from slaverify.contract import SignatureFinding
    from slaverify.contract.ports import SIGNATURE_NAMESPACE
    from slaverify.custody import verify_sshsig
    from slaverify.errors import CustodyError

    reason = t("el contrato no nombra su llave", "by a key that the contract does not name")
    for key in pinned:
        try:
            verify_sshsig(data, key, signature.signature.decode("ascii", "replace"), SIGNATURE_NAMESPACE)
        except CustodyError as error:
            reason = t(*error.what)
            continue
        return SignatureFinding(signature.role, True, key, None, None)
    return SignatureFinding(signature.role, False, "", None, reason)


_REASONS = {
    "not of this contract": "no es de este contrato",
    "not by that key": "no la hizo esa llave",
    "by a key that the contract does not name": "es de una llave que el contrato no nombra",
    "certificate not covered: pin its certificate_sha256": "nada cubre su certificado: pacte su certificate_sha256",
}


def _reason(words: str) -> str:
    return t(_REASONS[words], words) if words in _REASONS else words


def _must_be_frozen(loaded: LoadedContract) -> None:
    from slaverify.errors import ContractError, Text

    if loaded.model.contract.status != "frozen":
        raise ContractError(
            "SLV-C053",
            Text(
                "un borrador no se firma: su digest todavía se mueve", "a draft is not signed: its digest still moves"
            ),
            fix=Text("congélelo con «slaverify contract freeze»", "freeze it with `slaverify contract freeze`"),
            where=loaded.source,
        )


def _must_be_pinned(loaded: LoadedContract, role: str, spki: str) -> None:
    from slaverify.errors import ContractError, Text

    party = getattr(loaded.model.parties, role)
    if party is None or spki not in [key.spki_sha256 for key in party.keys]:
        raise ContractError(
            "SLV-C057",
            Text(
                f"esta clave no es de `parties.{role}.keys`: nadie aceptaría la firma",
                f"this key is not one of `parties.{role}.keys`: nobody would accept the signature",
            ),
            fix=Text(
                f"la huella de la clave es {spki}; va en el borrador, antes de congelar",
                f"the digest of the key is {spki}; it goes into the draft, before the freeze",
            ),
            where=loaded.place(("parties", role)),
            exit_code=5,
        )
