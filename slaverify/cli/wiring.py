"""Wire the ports of an audit on this machine: clock, keys, timestamp authorities, progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from slaverify.cli.language import language, t
from slaverify.errors import ApplicationError, Text

if TYPE_CHECKING:
    from slaverify.audit.session import Ports, Session
    from slaverify.contract import LoadedContract
    from slaverify.custody.keys import KeyStore
    from slaverify.evidence.envelope import SigningKey
    from slaverify.evidence.timestamp import Stamper

_MAX_CRL = 16 * 1024 * 1024
SIGNING_KEY = "auditor.signing.pem"
"""Default name, in the folder of keys, of the auditor's X.509 key and certificate."""


def now() -> datetime:
    """Return the present, aware, in UTC: the one clock of the product."""
    return datetime.now(UTC)


def keys_folder() -> Path:
    """Return the folder of private keys of this user."""
    from slaverify.custody.keys import default_folder

    return default_folder(os.environ, Path.home())


def key_store(folder: Path | None = None) -> KeyStore:
    """Open the keys; those of a demonstration say so in their names. Raises: CustodyError SLV-K071."""
    from slaverify.custody.keys import KeyStore

    place = folder or keys_folder()
    return KeyStore.open(place, demo=any(place.glob("demo-*")) if place.is_dir() else False)


def stamper(contract: LoadedContract, first: Sequence[str] = ()) -> Stamper | None:
    """Return what asks timestamp authorities: `first`, then the contract's; None where there is none.

    Whoever answers, the token has to chain to the roots that the contract pins.
    """
    from slaverify.engine.wire import post_timestamp
    from slaverify.evidence.timestamp import Authority, Stamper

    signature = contract.model.report.signature
    urls = dict.fromkeys((*first, *signature.tsa_urls))
    if not urls:
        return None
    authorities = [Authority(url, partial(post_timestamp, url)) for url in urls]
    return Stamper(authorities, tuple(signature.tsa_roots or ()))


def ports(
    contract: LoadedContract, signing: Callable[[], SigningKey], crls: Sequence[Path] = (), tsa: Sequence[str] = ()
) -> Ports:
    """Return the ports of an audit of `contract`."""
    from slaverify.audit.session import Ports
    from slaverify.cli.files import read
    from slaverify.evidence.timestamp import TokenReader
    from slaverify.run.progress import console_progress

    return Ports(
        clock=now,
        timestamper=stamper(contract, tsa),
        timestamps=TokenReader(),
        signing_key=cache(signing),
        progress=lambda: console_progress(sys.stderr, language()),
        language=language(),
        crls=tuple(read(path, _MAX_CRL) for path in crls),
    )


def session_for(
    contract: LoadedContract,
    bank: Path,
    out: Path,
    key: str | Path | None = None,
    keys: Path | None = None,
    crls: Sequence[Path] = (),
    tsa: Sequence[str] = (),
) -> Session:
    """Open an audit with the keys of this user; `tsa` is asked before the contract's authorities.

    Raises: ContractError, CustodyError.
    """
    from slaverify.audit.session import open_session

    store = key_store(keys)
    signing = key or store.folder / SIGNING_KEY
    return open_session(contract, bank, out, store, ports(contract, partial(_load_signing, signing), crls, tsa))


def session_of_run(
    run: Path, key: str | Path | None = None, crls: Sequence[Path] = (), tsa: Sequence[str] = ()
) -> tuple[Session, int]:
    """Open the audit that a run folder belongs to, and return it with the run's number."""
    from slaverify.audit.session import contract_of_run, read_pointers

    folder = run.resolve()
    pointers = read_pointers(folder)
    contract = contract_of_run(folder)
    session = session_for(contract, pointers["bank"], pointers["out"], key, pointers["keys"], crls, tsa)
    number = int(folder.name.rpartition("-")[2])
    if session.run_folder(number) != folder:
        raise ApplicationError(
            "SLV-A022",
            Text("esta carpeta se movió o es una copia", "this folder was moved, or is a copy"),
            fix=Text(
                f"use la original: {session.run_folder(number)}", f"use the original: {session.run_folder(number)}"
            ),
            where=str(folder),
        )
    return session, number


def _load_signing(given: str | Path) -> SigningKey:
    from slaverify.evidence.envelope import load_key
    from slaverify.evidence.pkcs11 import SCHEME, load_token_key

    if str(given).startswith(SCHEME):
        return load_token_key(str(given), _pin)
    path = Path(given)
    if not path.is_file():
        raise ApplicationError(
            "SLV-A013",
            Text("falta la clave de firma del auditor", "the auditor's signing key is missing"),
            fix=Text(
                "créela con «slaverify keys new --role auditor» o indique --key",
                "make it with `slaverify keys new --role auditor`, or give --key",
            ),
            where=str(path),
            exit_code=5,
        )
    return load_key(path, partial(_passphrase, path))


def _pin(token: str) -> str:
    import getpass

    given = os.environ.get("SLAVERIFY_PKCS11_PIN")
    return given if given is not None else getpass.getpass(t(f"PIN de {token}: ", f"PIN of {token}: "))


def _passphrase(path: Path) -> str:
    import getpass

    given = os.environ.get("SLAVERIFY_KEY_PASSPHRASE")
    if given is not None:
        return given
    return getpass.getpass(t(f"Contraseña de {path.name}: ", f"Passphrase of {path.name}: "))
