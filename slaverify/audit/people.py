"""The people of a run on this machine: who reads which sheet, and what they have said so far. Private to the auditor.

One file a reader under `private/labels/`; nothing of it is bundled. What counts of it goes, without a text or a name,
into the calibration record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from slaverify.audit.session import Session
from slaverify.canonical import JsonObject, JsonValue, jcs, loads_canonical
from slaverify.contract import Contract
from slaverify.custody.files import private_folder, write_whole
from slaverify.errors import JudgeError, Text
from slaverify.judging.calibration import ADJUDICATOR, Label, UnitKey, label_json, read_label

FOLDER = "labels"
_TYPE = "slaverify/reader/1"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One person. `number` 1 or 2; 3 adjudicates. Digests in hex; `labels` so far, with their comments."""

    number: int
    name: str
    organisation: str
    empty_sha256: str
    filled_sha256: str | None = None
    labels: dict[UnitKey, Label] = field(default_factory=dict)
    comments: dict[UnitKey, str] = field(default_factory=dict)

    @property
    def adjudicates(self) -> bool:
        """Whether this person reads the differences of the other two."""
        return self.number == ADJUDICATOR


def readers_of(session: Session, number: int) -> list[Reader]:
    """Return the people of a run, by number."""
    folder = _folder(session, number)
    files = sorted(folder.glob("reader-*.json")) if folder.is_dir() else []
    return [_read(session.contract.model, path) for path in files]


def store(session: Session, number: int, reader: Reader) -> None:
    """Write what a person has said so far."""
    folder = private_folder(_folder(session, number))
    write_whole(folder / f"reader-{reader.number}.json", jcs(_tree(reader)), 0o600)


def named(readers: list[Reader], name: str) -> Reader | None:
    """Return the person of that name, or None."""
    return next((reader for reader in readers if _same(reader.name, name)), None)


def refuse_vendor(contract: Contract, name: str, organisation: str) -> None:
    """Refuse a person of the vendor. Raises: JudgeError SLV-J021."""
    vendor = contract.parties.vendor
    theirs = [known for known in (vendor.name, vendor.legal_id, vendor.exposure_group) if known]
    if any(_same(known, given) for known in theirs for given in (name, organisation)):
        raise JudgeError(
            "SLV-J021",
            Text(f"«{name}» es del proveedor", f"`{name}` is of the vendor"),
            why=Text("quien responde por el motor no lo evalúa", "who answers for the engine does not judge it"),
            fix=Text("elija a otra persona", "choose another person"),
            where="parties.vendor",
        )


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _folder(session: Session, number: int) -> Path:
    return session.run_folder(number) / "private" / FOLDER


def _tree(reader: Reader) -> JsonObject:
    rows: list[JsonValue] = [
        {
            "item_id": key.item_id,
            "repetition": key.repetition,
            "subject": key.subject,
            "label": label_json(reader.number, reader.labels[key]) if key in reader.labels else None,
            "comment": reader.comments.get(key, ""),
        }
        for key in sorted({*reader.labels, *reader.comments})
    ]
    return {
        "type": _TYPE,
        "number": reader.number,
        "name": reader.name,
        "organisation": reader.organisation,
        "empty_sha256": reader.empty_sha256,
        "filled_sha256": reader.filled_sha256,
        "rows": rows,
    }


def _read(contract: Contract, path: Path) -> Reader:
    try:
        tree = loads_canonical(path.read_bytes())
        labels: dict[UnitKey, Label] = {}
        comments: dict[UnitKey, str] = {}
        rows = tree["rows"]
        for row in rows if isinstance(rows, list) else ():
            assert isinstance(row, dict)  # noqa: S101 - our own file
            key = UnitKey(str(row["item_id"]), int(str(row["repetition"])), str(row["subject"]))
            label = row["label"]
            if isinstance(label, dict):
                labels[key] = read_label(contract, key.subject, label)[1]
            if row["comment"]:
                comments[key] = str(row["comment"])
        filled = tree["filled_sha256"]
        return Reader(
            number=int(str(tree["number"])),
            name=str(tree["name"]),
            organisation=str(tree["organisation"]),
            empty_sha256=str(tree["empty_sha256"]),
            filled_sha256=None if filled is None else str(filled),
            labels=labels,
            comments=comments,
        )
    except (AssertionError, KeyError, OSError, ValueError) as error:
        raise JudgeError(
            "SLV-J069",
            Text("las etiquetas guardadas no se pueden leer", "the stored labels cannot be read"),
            fix=Text("importe otra vez la hoja de esa persona", "import that person's sheet again"),
            where=str(path),
            exit_code=4,
        ) from error
