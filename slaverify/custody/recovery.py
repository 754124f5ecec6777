"""Recovery shares: k of n people together get back the identity that opens a bank; fewer learn nothing.

A secret of 32 bytes is split by SLIP-39. The recovery identity lies beside the bank, encrypted by age with the
secret's 64 hex digits as its passphrase: `shamir recover`, `age -d recovery.identity.age` and `age -d -i` suffice
without this program. Shares and secrets are read from files, never from arguments, and are never printed or logged.

An offline ceremony only: the library does not run in constant time.

Not pure: a second door. Source: SLIP-39 (python-shamir-mnemonic), C2SP age.md (scrypt).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

from slaverify.custody.faults import fault
from slaverify.custody.keys import age_recipient, new_age_identity
from slaverify.errors import NOTHING, CustodyError, Text

IDENTITY_FILE = "recovery.identity.age"
MAX_SHARES = 16
_PLAN = re.compile(r"slip39:([1-9][0-9]?)of([1-9][0-9]?)")
_MAX_SHARE = 1024


@dataclass(frozen=True)
class Shared:
    """A shared recovery: any `k` of the shares open `identity_file`, which holds the identity of `recipient`."""

    k: int
    recipient: str
    identity_file: bytes
    shares: tuple[str, ...] = field(repr=False)


def parse_plan(text: str) -> tuple[int, int]:
    """Read `slip39:2of3`. Raises: CustodyError SLV-K070."""
    found = _PLAN.fullmatch(text)
    k, n = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 2 <= k <= n <= MAX_SHARES:
        raise _refused(
            f"reparto no válido: {text}",
            f"not a sharing plan: {text}",
            Text("escriba por ejemplo slip39:2of3", "write for example slip39:2of3"),
        )
    return k, n


def share_recovery(k: int, n: int) -> Shared:
    """Make a recovery identity and split what opens it among `n` people, any `k` of whom suffice.

    Raises: CustodyError SLV-K072 if the extra is not installed.
    """
    import pyrage

    shamir, secret, identity = _library(), secrets.token_bytes(32), new_age_identity()
    (shares,) = shamir.generate_mnemonics(1, [(k, n)], secret)
    recipient = age_recipient(identity)
    plain = f"# public key: {recipient}\n{identity}\n".encode()
    return Shared(k, recipient, pyrage.passphrase.encrypt(plain, secret.hex()), tuple(shares))


def recover_identity(shares: Sequence[str], identity_file: bytes) -> str:
    """Return the identity that enough shares open.

    Raises: CustodyError SLV-K070 (too few, mistyped, of another set), SLV-K072 (extra not installed).
    """
    import pyrage

    shamir = _library()
    try:
        given = list(dict.fromkeys(" ".join(one.split()) for one in shares))
        # The library wants exactly as many shares as are needed.
        needed = max((shamir.Share.from_mnemonic(one).member_threshold for one in given), default=0)
        secret = bytes(shamir.combine_mnemonics(given[:needed]))
    except (shamir.MnemonicError, ValueError) as error:
        # The library's reason speaks of counts and checksums, never of the words themselves.
        raise _refused(
            "faltan partes, o alguna está mal escrita o es de otro reparto",
            "too few shares, or one is mistyped or of another set",
        ) from error
    try:
        plain = pyrage.passphrase.decrypt(identity_file, secret.hex())
    except pyrage.DecryptError as error:
        raise _refused("las partes son de otro banco", "the shares are of another bank") from error
    found = [line for line in plain.decode("ascii", "replace").splitlines() if line.startswith("AGE-SECRET-KEY-1")]
    if not found:
        raise _refused("lo recuperado no es una identidad", "what was recovered is no identity")
    return found[0]


def drill(identity: str, recipients: Sequence[str]) -> None:
    """Open a test envelope of a recovery key of the bank; the bank itself stays shut.

    Raises: CustodyError SLV-K070 if the identity is that of none of `recipients`.
    """
    import pyrage

    recipient = age_recipient(identity)
    if recipient not in recipients:
        raise _refused("esta identidad no es la de recuperación del banco", "not this bank's recovery identity")
    envelope = secrets.token_bytes(32)
    sealed = pyrage.encrypt(envelope, [pyrage.x25519.Recipient.from_str(recipient)])
    if pyrage.decrypt(sealed, [pyrage.x25519.Identity.from_str(identity)]) != envelope:
        raise _refused("el sobre de prueba no se abrió igual", "the test envelope did not open the same")


def read_share(data: bytes) -> str:
    """Return the words of a share's file (lines that begin with # are notes). Raises: CustodyError SLV-K070."""
    lines = data[: _MAX_SHARE + 1].decode("ascii", "replace").splitlines()
    words = " ".join(line for line in lines if not line.startswith("#")).split()
    if len(data) > _MAX_SHARE or not words:
        raise _refused("la parte no se puede leer", "the share cannot be read")
    return " ".join(words)


def _library() -> ModuleType:
    try:
        return import_module("shamir_mnemonic")
    except ImportError as error:
        raise fault(
            72,
            "falta el complemento de las partes de recuperación",
            "the extra for recovery shares is not installed",
            fix=Text("instale slaverify[recovery]", "install slaverify[recovery]"),
        ) from error


def _refused(es: str, en: str, fix: Text = NOTHING) -> CustodyError:
    return fault(70, es, en, fix=fix)
