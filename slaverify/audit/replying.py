"""The right of reply: a draft for the vendor, days to answer it, and its answer, refusal or silence in the evidence.

A reply changes no figure. It is asked for before the evidence closes; with `report.reply_days` 0 nobody is asked.

Source: docs/spec/report.md (right of reply).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from slaverify.audit.closing import provisional_manifest
from slaverify.audit.session import Session, put, put_json
from slaverify.canonical import JsonObject, JsonValue, jcs, loads_canonical
from slaverify.contract import PartySignature, Role
from slaverify.custody.shapes import time_text
from slaverify.errors import ReportError, Text
from slaverify.evidence import MANIFEST, Bundle
from slaverify.evidence.pades import PartyReader
from slaverify.evidence.read import open_folder
from slaverify.report import build
from slaverify.report.pdf import render, renderer

TYPE = "slaverify/reply/1"
PATH = "replies/vendor.json"
MAX_CHARACTERS = 5_000
OPINION_TYPE = "slaverify/opinion/1"
OPINION = "replies/auditor.json"
DRAFTS = "drafts"
_SENT = "draft.json"


@dataclass(frozen=True)
class Reply:
    """What the vendor said: plain text of at most 5,000 characters, or None if it refused to reply.

    `signature`: a detached CMS over the bytes of the text, by a key that the contract pins for the vendor.
    """

    author: str
    text: str | None
    signature: bytes | None = None


class Unclosed:
    """The evidence of a run as it would close now: what a draft is built from."""

    def __init__(self, bundle: Bundle, manifest: bytes) -> None:
        self._bundle = bundle
        self.manifest_bytes: bytes | None = manifest

    def paths(self) -> tuple[str, ...]:
        """Return the files that are here."""
        return self._bundle.paths()

    def has(self, path: str) -> bool:
        """Tell whether a file is here."""
        return self._bundle.has(path)

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return self._bundle.read(path)

    def records(self, path: str) -> tuple[JsonObject, ...]:
        """Return the lines of a record file."""
        return self._bundle.records(path)

    def withheld(self, path: str) -> bool:
        """Say that nothing is left out."""
        return False


def draft_reports(session: Session, number: int) -> list[Path]:
    """Write the draft in each language: unsigned, marked on every page; note when it was first made.

    Raises: ReportError SLV-R036 if the evidence is closed.
    """
    folder = session.run_folder(number)
    _refuse_closed(folder)
    manifest, name = provisional_manifest(session, number)
    found = []
    for language in session.contract.model.report.languages:
        model = build(Unclosed(open_folder(folder), manifest), language, renderer(), draft=True)
        path = folder / "report" / DRAFTS / f"{name}.{language}.draft.pdf"
        put(path, render(model, manifest))
        found.append(path)
    if _sent_at(folder) is None:
        put(folder / "private" / _SENT, jcs({"time": time_text(session.ports.clock())}))
    return found


def add_reply(session: Session, number: int, reply: Reply) -> None:
    """Put the vendor's reply, or its refusal, into the evidence, verbatim.

    Raises: ReportError SLV-R036 (closed), SLV-R035 (too long, empty, no draft, another reply, signature).
    """
    folder = session.run_folder(number)
    _refuse_closed(folder)
    sent = _sent_at(folder)
    if sent is None:
        raise _refused(Text("no hay borrador que contestar", "there is no draft to reply to"))
    if (folder / PATH).is_file():
        raise _refused(Text("ya hay una réplica; no se reemplaza", "there is a reply; it is not replaced"))
    if reply.text is not None and not 0 < len(reply.text.strip()) <= len(reply.text) <= MAX_CHARACTERS:
        raise _refused(Text(f"de 1 a {MAX_CHARACTERS} caracteres", f"1 to {MAX_CHARACTERS} characters"))
    if reply.signature is not None:
        _check_signature(session, reply)
    status = "refused" if reply.text is None else "given"
    put_json(folder / PATH, _tree(status, sent, session.ports.clock(), reply))


def add_opinion(session: Session, number: int, author: str, text: str) -> None:
    """Put an opinion or interpretation of the auditor into the evidence, verbatim; it changes no figure.

    `author` is a signatory of the contract (`check_signatory`). The same words again change nothing.
    Raises: ReportError SLV-R036 (closed), SLV-R035 (empty, too long, another opinion there).
    """
    path = session.run_folder(number) / OPINION
    _refuse_closed(session.run_folder(number))
    if not 0 < len(text.strip()) <= len(text) <= MAX_CHARACTERS:
        raise _refused(Text(f"de 1 a {MAX_CHARACTERS} caracteres", f"1 to {MAX_CHARACTERS} characters"))
    if path.is_file():
        held = loads_canonical(path.read_bytes())
        if (held.get("author"), held.get("text")) != (author, text):
            raise _refused(Text("ya hay una opinión; no se reemplaza", "there is an opinion; it is not replaced"))
        return
    tree: dict[str, JsonValue] = {"type": OPINION_TYPE, "role": "auditor", "author": author}
    put_json(path, {**tree, "time": time_text(session.ports.clock()), "text": text})


def await_reply(session: Session, number: int) -> None:
    """Return once the vendor has replied, refused, or let its days pass; make the draft if there is none.

    Raises: ReportError SLV-R031 (exit 6, resumable) while its days run.
    """
    folder, days = session.run_folder(number), session.contract.model.report.reply_days
    if days == 0 or (folder / PATH).is_file() or (folder / MANIFEST).is_file():
        return
    if _sent_at(folder) is None:
        draft_reports(session, number)
    deadline = reply_deadline(session, number)
    assert deadline is not None  # noqa: S101 - a draft was just made
    now, sent = session.ports.clock(), _sent_at(folder)
    if now < deadline:
        raise _waiting(folder, deadline)
    assert sent is not None  # noqa: S101 - as above
    put_json(folder / PATH, _tree("silent", sent, now, None))


def reply_deadline(session: Session, number: int) -> datetime | None:
    """Return until when the vendor may reply; None where nothing waits for it."""
    folder = session.run_folder(number)
    sent, days = _sent_at(folder), session.contract.model.report.reply_days
    if sent is None or (folder / PATH).is_file() or (folder / MANIFEST).is_file():
        return None
    return sent + timedelta(days=days)


def _tree(status: str, sent: datetime, now: datetime, reply: Reply | None) -> JsonObject:
    signature = None if reply is None else reply.signature
    return {
        "type": TYPE,
        "role": Role.VENDOR.value,
        "status": status,
        "author": None if reply is None else reply.author,
        "time": time_text(now),
        "text": None if reply is None else reply.text,
        "draft_at": time_text(sent),
        "p7s": None if signature is None else base64.b64encode(signature).decode("ascii"),
    }


def _check_signature(session: Session, reply: Reply) -> None:
    keys = session.contract.model.parties.vendor.keys
    pinned = tuple(_digests(keys))
    assert reply.signature is not None and reply.text is not None  # noqa: S101 - the caller looked
    given = PartySignature(Role.VENDOR, "cms", reply.signature, None)
    found = PartyReader().verify(reply.text.encode("utf-8"), given, pinned)
    if not found.valid:
        detail = found.reason or ""
        raise _refused(Text(f"firma de la réplica: {detail}", f"signature of the reply: {detail}"))


def _digests(keys: object) -> Iterator[str]:
    for key in keys if isinstance(keys, tuple | list) else ():
        yield from (digest for digest in (key.spki_sha256, key.certificate_sha256) if digest is not None)


def _sent_at(folder: Path) -> datetime | None:
    path = folder / "private" / _SENT
    if not path.is_file():
        return None
    value: JsonValue = loads_canonical(path.read_bytes())["time"]
    return datetime.fromisoformat(str(value)).astimezone(UTC)


def _refuse_closed(folder: Path) -> None:
    if (folder / MANIFEST).is_file():
        raise ReportError(
            "SLV-R036",
            Text("la evidencia está cerrada", "the evidence is closed"),
            fix=Text("lo que cambie va en un informe enmendado (--amends)", "what changes goes into --amends"),
            where=str(folder / MANIFEST),
        )


def _refused(detail: Text) -> ReportError:
    return ReportError(
        "SLV-R035", Text("la réplica no se puede agregar", "the reply cannot be added"), why=detail, where="--reply"
    )


def _waiting(folder: Path, deadline: datetime) -> ReportError:
    when = time_text(deadline)
    return ReportError(
        "SLV-R031",
        Text(f"el borrador espera la réplica del proveedor hasta {when}", f"the draft waits for a reply until {when}"),
        why=Text(f"borradores en {folder / 'report' / DRAFTS}", f"drafts in {folder / 'report' / DRAFTS}"),
        fix=Text(
            f"envíele el borrador; con su réplica: slaverify report {folder} --reply ARCHIVO --reply-author NOMBRE "
            "--authorized-by NOMBRE (o --reply-refused). Vencido el plazo, siga",
            f"send it the draft; with its reply: slaverify report {folder} --reply FILE --reply-author NAME "
            "--authorized-by NAME (or --reply-refused). When its days are over, go on",
        ),
        where="report.reply_days",
        exit_code=6,
    )
