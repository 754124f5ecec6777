"""Private keys of the parties: an Ed25519 signing key and an age identity for each, in a private folder.

Files of a party `<name>`: `<name>.ed25519.pem` (PKCS#8), `<name>.age` (age identity), `<name>.json` (organisation,
roles, date; public). Folder 0700, files 0600: anything looser is refused (SLV-K071). Keys are made only when asked
for; a missing key is refused (SLV-K071). The keys of a demonstration bank bear `demo` in their file names.

Not pure: a second door. Nothing here prints, logs or returns a secret but to the code that uses it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical
from slaverify.custody import ed25519
from slaverify.custody.entries import ROLES
from slaverify.custody.faults import fault
from slaverify.custody.files import PRIVATE, private_folder, read_bounded, require_private, write_whole
from slaverify.custody.note import COSIGNER, LOG, NoteKey, slug
from slaverify.custody.shapes import constant, is_name, is_time, list_of, shape_fault, text, texts, time_text, word
from slaverify.errors import Text

DEMO = "demo-"
"""How the file names of demonstration keys begin."""
RECEIPTS = "receipt"
"""Name of the key that signs exported receipts: it acts in no role, and signs nothing of a ledger but its own entry."""
_MAX_FILE = 16 * 1024
_CARD = {
    "type": constant("slaverify/key"),
    "v": constant(1),
    "name": is_name,
    "organisation": is_name,
    "roles": list_of(word(*ROLES, "recovery")),
    "created": is_time,
}


@dataclass(frozen=True)
class PartyKey:
    """A party's keys in memory. Signs; its `repr` tells no secret."""

    name: str
    organisation: str
    roles: tuple[str, ...]
    created: str
    age_recipient: str
    private: Ed25519PrivateKey = field(repr=False)
    age_identity: str = field(repr=False)

    @property
    def public(self) -> bytes:
        """The raw public key, 32 bytes."""
        return self.private.public_key().public_bytes_raw()

    @property
    def key_id(self) -> str:
        """The id of the key in a ledger."""
        return ed25519.key_id(self.public)

    @property
    def key_name(self) -> str:
        """The name of the key in a register: organisation and party."""
        return f"{slug(self.organisation)}/{self.name}"

    @property
    def vkey(self) -> str:
        """The verifier key under `key_name`; a witness's is a cosigner key."""
        return NoteKey(self.key_name, COSIGNER if self.roles == ("witness",) else LOG, self.public).vkey()

    def sign(self, data: bytes) -> bytes:
        """Return the Ed25519 signature, 64 bytes."""
        return self.private.sign(data)


def default_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Return where keys live: `$SLAVERIFY_KEYS`, else `keys` in the user's data folder."""
    chosen = environment.get("SLAVERIFY_KEYS")
    if chosen:
        return Path(chosen)
    data = environment.get("XDG_DATA_HOME")
    return (Path(data) if data else home / ".local" / "share") / "slaverify" / "keys"


class KeyStore:
    """A private folder of keys. `demo` keys have names that say so."""

    def __init__(self, folder: Path, *, demo: bool = False) -> None:
        self.folder = folder
        self.demo = demo

    @classmethod
    def open(cls, folder: Path, *, demo: bool = False) -> KeyStore:
        """Open a folder that must be there. Raises: CustodyError SLV-K071 if it is absent or too open."""
        if not folder.is_dir():
            raise _missing("la carpeta de claves", "the folder of keys", folder)
        require_private(folder)
        return cls(folder, demo=demo)

    @classmethod
    def create(cls, folder: Path, *, demo: bool = False) -> KeyStore:
        """Open a folder, made with mode 0700 if it is not there. Raises: CustodyError SLV-K071 if it is too open."""
        return cls(private_folder(folder), demo=demo)

    def has(self, name: str) -> bool:
        """Tell whether the store holds the party's signing key."""
        return self._path(name, "ed25519.pem").is_file()

    def names(self) -> tuple[str, ...]:
        """Return the names of the parties whose keys are here, ascending."""
        prefix = DEMO if self.demo else ""
        found = [path.name.removesuffix(".ed25519.pem") for path in self.folder.glob("*.ed25519.pem")]
        return tuple(sorted(name.removeprefix(prefix) for name in found if name.startswith(prefix)))

    def of_role(self, role: str, registered: Container[str] = ()) -> PartyKey:
        """Return the keys of the party in a role; one of the ids `registered` in a ledger is preferred.

        Raises: CustodyError SLV-K071 if no party here has that role.
        """
        found = self.find_role(role, registered)
        if found is None:
            raise fault(
                71,
                f"falta la clave de {role}",
                f"no key of the {role}",
                where=str(self.folder),
                fix=Text(f"créela con «slaverify keys new --role {role}»", f"`slaverify keys new --role {role}`"),
            )
        return found

    def find_role(self, role: str, registered: Container[str] = ()) -> PartyKey | None:
        """Return what `of_role` does, None if no party here has that role.

        Raises: CustodyError SLV-K071 if keys are there and cannot be read.
        """
        held = [key for key in map(self.get, self.names()) if role in key.roles and key.name != RECEIPTS]
        return next(iter([key for key in held if key.key_id in registered] or held), None)

    def get(self, name: str) -> PartyKey:
        """Return a party's keys; of one whose age identity was destroyed what is left signs and opens nothing.

        Raises: CustodyError SLV-K071 if a key is missing, malformed or readable by others.
        """
        pem = self._private(name, "ed25519.pem")
        path = self._path(name, "age")
        identity = "" if is_destroyed(path) else read_age_identity(path)
        try:
            card = loads_canonical(self._private(name, "json"), max_depth=3)
            private = serialization.load_pem_private_key(pem, password=None)
        except (StrictJsonError, ValueError, TypeError) as error:
            raise _unreadable(self._path(name, "ed25519.pem")) from error
        if shape_fault(card, _CARD) is not None or not isinstance(private, Ed25519PrivateKey):
            raise _unreadable(self._path(name, "json"))
        return PartyKey(
            name=text(card, "name"),
            organisation=text(card, "organisation"),
            roles=texts(card, "roles"),
            created=text(card, "created"),
            age_recipient=age_recipient(identity) if identity else "",
            private=private,
            age_identity=identity,
        )

    def make(self, name: str, *, organisation: str, roles: Sequence[str], now: datetime) -> PartyKey:
        """Make a party's keys and return them. Raises: CustodyError SLV-K071 if there are keys of that name."""
        if self.has(name):
            raise fault(71, f"ya hay una clave «{name}»", f"there is a key `{name}` already", where=str(self.folder))
        private, identity = Ed25519PrivateKey.generate(), new_age_identity()
        card: JsonObject = {
            "type": "slaverify/key",
            "v": 1,
            "name": name,
            "organisation": organisation,
            "roles": list(roles),
            "created": time_text(now),
        }
        pem = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        write_whole(self._path(name, "json"), jcs(card), PRIVATE)
        write_age_identity(self._path(name, "age"), identity)
        # The signing key comes last: with it the party's keys are complete.
        write_whole(self._path(name, "ed25519.pem"), pem, PRIVATE)
        return self.get(name)

    def get_or_make(self, name: str, *, organisation: str, roles: Sequence[str], now: datetime) -> PartyKey:
        """Return a party's keys, made now if they are not there. For `seal`, `keys new` and the demo alone."""
        if self.has(name):
            return self.get(name)
        return self.make(name, organisation=organisation, roles=roles, now=now)

    def identity(self, name: str) -> str:
        """Return an age identity alone (recovery has no signing key). Raises: CustodyError SLV-K071."""
        return read_age_identity(self._path(name, "age"))

    def identity_path(self, name: str) -> Path:
        """Return where an age identity lies, for `age -d -i`."""
        return self._path(name, "age")

    def get_or_make_identity(self, name: str) -> str:
        """Return an age identity, made now if it is not there."""
        path = self._path(name, "age")
        if not path.is_file():
            write_age_identity(path, new_age_identity())
        return read_age_identity(path)

    def _path(self, name: str, kind: str) -> Path:
        if name != slug(name):
            raise fault(71, f"nombre de clave no válido: {name}", f"not a name of a key: {name}")
        return self.folder / f"{DEMO if self.demo else ''}{name}.{kind}"

    def _private(self, name: str, kind: str) -> bytes:
        return _read_private(self._path(name, kind))


def install_demo_keys(source: Path, folder: Path) -> KeyStore:
    """Copy the keys of a demonstration bank, which an installation leaves readable, to a private folder.

    Raises: CustodyError SLV-K071 if there are none.
    """
    store = KeyStore.create(folder, demo=True)
    found = sorted(path for path in source.glob(f"{DEMO}*") if path.is_file())
    if not found:
        raise _missing("las claves de demostración", "the demonstration keys", source)
    for path in found:
        write_whole(folder / path.name, path.read_bytes(), PRIVATE)
    return store


def export_demo_keys(store: KeyStore, target: Path) -> None:
    """Copy a demonstration store's files to the folder that is published with the bank."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(store.folder.glob(f"{DEMO}*")):
        shutil.copyfile(path, target / path.name)


DESTROYED = b"# destroyed"
"""How a file begins whose identity was destroyed."""


def new_age_identity() -> str:
    """Make an age identity (X25519)."""
    import pyrage

    return str(pyrage.x25519.Identity.generate())


def age_recipient(identity: str) -> str:
    """Return the public recipient of an identity. Raises: CustodyError SLV-K071."""
    import pyrage

    try:
        return str(pyrage.x25519.Identity.from_str(identity).to_public())
    except pyrage.IdentityError as error:
        raise fault(71, "identidad age mal formada", "malformed age identity") from error


def write_age_identity(path: Path, identity: str) -> None:
    """Write an identity file as `age-keygen` does."""
    data = f"# public key: {age_recipient(identity)}\n{identity}\n"
    write_whole(path, data.encode(), PRIVATE)


def is_destroyed(path: Path) -> bool:
    """Tell whether an identity was destroyed here; what stands in its place says so. Raises: CustodyError SLV-K071."""
    return _read_private(path).startswith(DESTROYED)


def read_age_identity(path: Path) -> str:
    """Return the first identity of a file of `age-keygen`. Raises: CustodyError SLV-K071."""
    lines = _read_private(path).decode("ascii", "replace").splitlines()
    found = [line.strip() for line in lines if line.startswith("AGE-SECRET-KEY-1")]
    if not found:
        raise _unreadable(path)
    return found[0]


def _read_private(path: Path) -> bytes:
    if not os.path.lexists(path):
        raise _missing(f"la clave {path.name}", f"the key {path.name}", path.parent)
    require_private(path)
    return read_bounded(path, _MAX_FILE, 71)


def _unreadable(path: Path) -> Exception:
    return fault(71, "la clave no se puede leer", "the key cannot be read", where=str(path))


def _missing(es: str, en: str, where: Path) -> Exception:
    return fault(
        71,
        f"falta {es}",
        f"missing: {en}",
        where=str(where),
        fix=Text(
            "indique la carpeta con SLAVERIFY_KEYS, o cree las claves con «slaverify keys new»",
            "name the folder with SLAVERIFY_KEYS, or make the keys with `slaverify keys new`",
        ),
    )
