"""The register of keys, as the ledger tells it.

Source: docs/spec/ledger.md (keys and roles).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from slaverify.custody.ed25519 import key_id
from slaverify.custody.entries import Entry
from slaverify.custody.note import LOG, parse_vkey
from slaverify.custody.shapes import optional_text, text, texts


@dataclass(frozen=True, slots=True)
class RegisteredKey:
    """One signing key: whose, in which roles, and from when until when (times as in the ledger)."""

    key_id: str
    name: str
    roles: tuple[str, ...]
    organisation: str
    public: bytes
    vkey: str
    valid_from: str
    valid_until: str | None
    seq: int
    """The entry that registered it."""
    age: str | None = None
    ssh: str | None = None
    revoked_from: str | None = None

    def valid_at(self, time: str) -> bool:
        """Tell whether the key may sign at `time`."""
        # Times of one fixed form compare as text.
        ended = [end for end in (self.valid_until, self.revoked_from) if end is not None]
        return self.valid_from <= time and all(time < end for end in ended)

    def revoked(self, since: str) -> RegisteredKey:
        """Return the key with its end of validity; the earliest revocation counts."""
        return replace(self, revoked_from=min(since, self.revoked_from or since))


def genesis_key(entry: Entry) -> RegisteredKey:
    """Return the custodian's first key, which the first line registers. Raises: ValueError for a malformed key."""
    vkey = text(entry.data, "log_vkey")
    key = parse_vkey(vkey)
    if key.algorithm != LOG:
        raise ValueError("not a log key")
    return RegisteredKey(
        key_id=key_id(key.public),
        name=key.name,
        roles=("custodian",),
        organisation=text(entry.data, "organisation"),
        public=key.public,
        vkey=vkey,
        valid_from=entry.time,
        valid_until=None,
        seq=entry.seq,
    )


def added_key(entry: Entry) -> RegisteredKey:
    """Return the key that a `key_added` entry registers. Raises: ValueError if its fields contradict each other."""
    vkey = text(entry.data, "vkey")
    key = parse_vkey(vkey)
    stated, until = text(entry.data, "key_id"), optional_text(entry.data, "valid_until")
    since, roles = text(entry.data, "valid_from"), texts(entry.data, "roles")
    if stated != key_id(key.public) or key.name != text(entry.data, "name"):
        raise ValueError("key id, name and vkey disagree")
    if not roles or len(set(roles)) != len(roles) or (until is not None and until <= since):
        raise ValueError("roles or validity")
    return RegisteredKey(
        key_id=stated,
        name=key.name,
        roles=roles,
        organisation=text(entry.data, "organisation"),
        public=key.public,
        vkey=vkey,
        valid_from=since,
        valid_until=until,
        seq=entry.seq,
        age=optional_text(entry.data, "age"),
        ssh=optional_text(entry.data, "ssh"),
    )


def with_entry(register: dict[str, RegisteredKey], entry: Entry) -> None:
    """Bring a register up to date with one verified entry (in place)."""
    if entry.type == "genesis":
        key = genesis_key(entry)
        register[key.key_id] = key
    elif entry.type == "key_added":
        key = added_key(entry)
        register[key.key_id] = key
    elif entry.type == "key_revoked":
        name = text(entry.data, "key_id")
        if name in register:
            register[name] = register[name].revoked(text(entry.data, "from"))
