"""Parties, keys, dates and languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from slaverify.contract.blocks import Blocks
from slaverify.contract.findings import Finding, Path, dotted
from slaverify.contract.model.identity import Parties, Party, PartyKey
from slaverify.contract.model.metrics import Interval
from slaverify.contract.model.scalars import instant
from slaverify.errors import Text


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the problems of parties, of their keys and of every pair of dates."""
    if blocks.parties is not None:
        if blocks.purpose != "self_check":
            yield from _overlaps(blocks.parties)
        yield from _keys(blocks.parties)
        yield from _reused(blocks.parties)
    yield from _dates(blocks)


def _overlaps(parties: Parties) -> Iterator[Finding]:
    vendor = parties.vendor
    for role, other in (("auditor", parties.auditor), ("custodian", parties.custodian)):
        shared = _shared(vendor, other)
        if shared is not None:
            key, es, en = shared
            yield Finding(
                "SLV-K005",
                ("parties", role, key),
                Text(
                    f"el proveedor no puede ser también {_ROLES[role]}: comparten {es}",
                    f"the vendor may not be the {role} too: they share {en}",
                ),
                Text(
                    "nombre a otra organización, o declare `contract.purpose: self_check` "
                    "(el informe no tendrá valor contractual)",
                    "name another organisation, or declare `contract.purpose: self_check` "
                    "(the report will have no contractual value)",
                ),
            )


_ROLES = {"auditor": "auditor", "custodian": "custodio"}


def _shared(one: Party, other: Party) -> tuple[str, str, str] | None:
    if folded(one.name) == folded(other.name):
        return "name", "el nombre", "the name"
    if one.legal_id and other.legal_id and folded(one.legal_id) == folded(other.legal_id):
        return "legal_id", "el identificador legal", "the legal id"
    if _key_ids(one) & _key_ids(other):
        return "keys", "una llave", "a key"
    return None


def folded(name: str) -> str:
    """Return a name as it is compared: letters and digits alone, no accents, no case, compatibility forms unified."""
    text = unicodedata.normalize("NFKD", name).casefold()
    return "".join(character for character in text if character.isalnum())


def _key_ids(party: Party) -> set[str]:
    return {identity for key in party.keys if (identity := _key_id(key))}


def _key_id(key: PartyKey) -> str:
    return key.spki_sha256 or " ".join((key.ssh or "").split()[:2])


def _named(parties: Parties) -> Iterator[tuple[str, Party]]:
    yield from (
        ("buyer", parties.buyer),
        ("vendor", parties.vendor),
        ("auditor", parties.auditor),
        ("custodian", parties.custodian),
    )
    if parties.author is not None:
        yield "author", parties.author
    if parties.judge_operator is not None:
        yield "judge_operator", parties.judge_operator


def _keys(parties: Parties) -> Iterator[Finding]:
    for role, party in _named(parties):
        for index, key in enumerate(party.keys):
            path: Path = ("parties", role, "keys", index)
            if (key.spki_sha256 is None) == (key.ssh is None):
                yield Finding(
                    "SLV-C010",
                    path,
                    Text(
                        "una llave es `spki_sha256` o `ssh`, una de las dos",
                        "a key is `spki_sha256` or `ssh`, one of them",
                    ),
                    Text("imprímala con `slaverify keys new`", "print it with `slaverify keys new`"),
                )
            yield from _order(path, key.valid_from, key.valid_until, ("valid_from", "valid_until"))


def _reused(parties: Parties) -> Iterator[Finding]:
    seen: dict[str, tuple[str, Party]] = {}
    for role, party in _named(parties):
        for index, key in enumerate(party.keys):
            identity = _key_id(key)
            first, owner = seen.setdefault(identity, (role, party))
            if identity and first != role and folded(owner.name) != folded(party.name):
                yield Finding(
                    "SLV-C038",
                    ("parties", role, "keys", index),
                    Text(f"esta llave ya es de `{first}`", f"this key is already that of `{first}`"),
                    Text("cada organización firma con su propia llave", "each organisation signs with its own key"),
                )


def _dates(blocks: Blocks) -> Iterator[Finding]:
    if blocks.contract is not None:
        identity = blocks.contract
        yield from _order(("contract",), identity.effective, identity.expires, ("effective", "expires"))
    if blocks.schedule is not None and blocks.schedule.window is not None:
        yield from _interval(("schedule", "window"), blocks.schedule.window)
    if blocks.failed_calls is not None:
        for index, interval in enumerate(blocks.failed_calls.maintenance):
            yield from _interval(("failed_calls", "maintenance", index), interval)


def _interval(path: Path, interval: Interval) -> Iterator[Finding]:
    yield from _order(path, interval.from_, interval.to, ("from", "to"))


def _order(path: Path, first: str | None, last: str | None, names: tuple[str, str]) -> Iterator[Finding]:
    if first is not None and last is not None and instant(first) >= instant(last):
        yield Finding(
            "SLV-C033",
            (*path, names[1]),
            Text(
                f"`{dotted((*path, names[1]))}` no es posterior a `{names[0]}`",
                f"`{dotted((*path, names[1]))}` is not later than `{names[0]}`",
            ),
            Text("corrija una de las dos fechas", "mend one of the two dates"),
        )
