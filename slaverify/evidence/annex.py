"""The sealed annex: a deterministic archive, encrypted with age to the recipients that the contract names.

Trust boundary: the ciphertext comes from anybody. It is decrypted into a buffer of the announced size, and nothing
of it is used before age's last chunk verified; the plain archive then passes the same reader as a bundle's.

Source: C2SP age.md (X25519 recipients); docs/spec/bundle.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO

from slaverify.canonical import StrictJsonError, loads_canonical
from slaverify.custody.stanzas import recipient_count
from slaverify.errors import CustodyError, Text
from slaverify.evidence.archive import content, read_zip, write_zip_of
from slaverify.evidence.layout import ANNEX, MAX_FILES, MAX_NAME, path_order
from slaverify.evidence.manifest import AnnexEntry, Recipient
from slaverify.evidence.problems import bad_annex, bad_recipient

INDEX = "index.jsonl"
"""The one file that every annex has: its first line is the nonce."""
MAX_PLAIN = 128 * 1024**2
"""Most bytes of the plain archive: it is held in memory."""

_NAME = re.compile(r"[a-z0-9_]+(?:/[a-z0-9_][a-z0-9_.-]*){1,3}")
_NONCE = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class SealedAnnex:
    """The ciphertext and the manifest's entry that names it."""

    ciphertext: bytes
    entry: AnnexEntry


def annex_archive(files: Mapping[str, bytes]) -> bytes:
    """Return the plain archive of `files` (`index.jsonl` first, the rest by path bytes).

    Raises: EvidenceError SLV-E013 for a name outside the form, or no `index.jsonl` with a nonce line.
    """
    _check_files(files)
    out = BytesIO()
    write_zip_of(files, [INDEX, *sorted((name for name in files if name != INDEX), key=path_order)], out)
    return out.getvalue()


def seal_annex(
    files: Mapping[str, bytes], recipients: Mapping[str, str], *, vendor: frozenset[str] = frozenset()
) -> SealedAnnex:
    """Seal `files` for the named recipients (name to public age key). age is randomised: sealed once, then evidence.

    `vendor`: names and age keys of the vendor and its affiliates, which are refused.
    Raises: EvidenceError SLV-E012 (recipients), SLV-E013 (files).
    """
    import pyrage

    plain = annex_archive(files)
    if len(plain) > MAX_PLAIN:
        raise bad_annex(Text("el anexo es demasiado grande", "the annex is too big"))
    named = tuple(Recipient(name, key) for name, key in sorted(recipients.items()))
    check_recipients(named, vendor)
    try:
        keys = [pyrage.x25519.Recipient.from_str(recipient.age) for recipient in named]
    except pyrage.RecipientError as error:
        raise bad_recipient("report.annex_recipients", Text("clave age mal formada", "malformed age key")) from error
    ciphertext = bytes(pyrage.encrypt(plain, keys))
    entry = AnnexEntry(ANNEX, len(ciphertext), _sha(ciphertext), _sha(plain), len(plain), named)
    return SealedAnnex(ciphertext, entry)


def check_recipients(recipients: tuple[Recipient, ...], vendor: frozenset[str]) -> None:
    """Refuse an annex without recipients, with one key twice, or that the vendor can open. Raises: SLV-E012."""
    if not recipients:
        raise bad_recipient("report.annex_recipients", Text("no hay ninguno", "there is none"))
    if len({recipient.age for recipient in recipients}) != len(recipients):
        raise bad_recipient("report.annex_recipients", Text("una clave se repite", "one key occurs twice"))
    refused = {" ".join(word.split()).casefold() for word in (*vendor, "vendor")}
    for recipient in recipients:
        for word in (recipient.name, recipient.age):
            if " ".join(word.split()).casefold() in refused:
                raise bad_recipient(recipient.name[:80], Text("es el proveedor", "it is the vendor"))


def check_sealed(ciphertext: bytes, entry: AnnexEntry, allowed: Mapping[str, str]) -> None:
    """Check an annex without opening it: digest, recipients of the contract, and no recipient but the declared ones.

    Raises: EvidenceError SLV-E012 (recipients), SLV-E013 (bytes).
    """
    if (len(ciphertext), _sha(ciphertext)) != (entry.size, entry.sha256):
        raise bad_annex(Text("no es el que nombra el manifiesto", "not the one that the manifest names"))
    if {recipient.name: recipient.age for recipient in entry.recipients} != dict(allowed):
        raise bad_recipient(ANNEX, Text("no son los del contrato", "they are not the contract's"))
    try:
        count = recipient_count(ciphertext)
    except CustodyError as error:
        raise bad_annex(error.what) from error
    if count != len(entry.recipients):
        raise bad_recipient(ANNEX, Text(f"la abren {count} claves", f"{count} keys can open it"))


def open_annex(ciphertext: bytes, entry: AnnexEntry, identity: str) -> dict[str, bytes]:
    """Decrypt an annex with an age identity and return its files by path.

    Raises: EvidenceError SLV-E013 (other identity, truncated, altered, not the plain archive of the manifest).
    """
    import pyrage

    if entry.plaintext_size > MAX_PLAIN:
        raise bad_annex(Text("el anexo declarado es demasiado grande", "the declared annex is too big"))
    buffer = _Bounded(entry.plaintext_size)
    try:
        key = pyrage.x25519.Identity.from_str(identity)
        pyrage.decrypt_io(BytesIO(ciphertext), buffer, [key])
    except Exception as error:
        # The library's own errors and the buffer's refusal alike: nothing of what came out so far is used.
        detail = Text("otra identidad, o archivo cortado o alterado", "another identity, or cut or altered")
        raise bad_annex(detail) from error
    plain = buffer.getvalue()
    if (len(plain), _sha(plain)) != (entry.plaintext_size, entry.plaintext_sha256):
        raise bad_annex(Text("el contenido no es el del manifiesto", "the content is not the manifest's"))
    return _files(plain)


class _Bounded(BytesIO):
    """A buffer that refuses to grow beyond what was announced."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]  # pyrage hands over bytes
        if self.tell() + len(piece) > self._limit:
            raise ValueError("more than announced")
        return super().write(piece)


def _files(plain: bytes) -> dict[str, bytes]:
    source = BytesIO(plain)
    entries = read_zip(source, max_entries=MAX_FILES, limit_of=lambda _: MAX_PLAIN, is_name=_is_name)
    files = {entry.name: b"".join(content(source, entry)) for entry in entries}
    _check_files(files)
    if annex_archive(files) != plain:
        raise bad_annex(Text("orden de las entradas", "order of the entries"))
    return files


def _is_name(name: str) -> bool:
    return name == INDEX or (len(name) <= MAX_NAME and ".." not in name and _NAME.fullmatch(name) is not None)


def _check_files(files: Mapping[str, bytes]) -> None:
    for name in files:
        if not _is_name(name):
            raise bad_annex(Text(f"nombre {ascii(name)[:80]}", f"name {ascii(name)[:80]}"))
    first = files.get(INDEX, b"").partition(b"\n")[0]
    try:
        line = loads_canonical(first)
    except StrictJsonError as error:
        raise bad_annex(Text("sin índice", "no index")) from error
    nonce = line.get("nonce")
    if set(line) != {"nonce"} or not isinstance(nonce, str) or _NONCE.fullmatch(nonce) is None:
        raise bad_annex(Text("índice sin nonce", "index without nonce"))


def _sha(data: bytes) -> str:
    return sha256(data).hexdigest()
