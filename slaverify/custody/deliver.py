"""Deliveries to the auditor, and single openings to everybody.

A delivery holds the drawn items and their reserve, one part, encrypted. The query part goes out before `run_started`;
the reference part after `run_ended`, or at the start where the contract says `release: at_start`. The receiver checks
each item against its commitment before using it (SLV-K016).

Not pure: a second door.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from slaverify.canonical import JsonObject, StrictJsonError, jcs, loads_canonical, sha256_hex
from slaverify.custody.agefile import decrypted, encrypt
from slaverify.custody.commitments import MAX_DEPTH, Part, commitment, salt
from slaverify.custody.draw import Draw
from slaverify.custody.entries import Entry
from slaverify.custody.faults import fault
from slaverify.custody.files import read_bounded, staged, write_whole
from slaverify.custody.keys import PartyKey
from slaverify.custody.ledger_file import Draft, LedgerFile
from slaverify.custody.manifest import Bank
from slaverify.custody.opening import make_opening
from slaverify.custody.package import MAX_PACKAGE, PackageItem, parse_attachment
from slaverify.custody.shapes import (
    constant,
    integer,
    is_count,
    is_digest,
    is_hex32,
    is_id,
    is_name,
    is_object,
    shape_fault,
    text,
    word,
)
from slaverify.custody.terms import Terms
from slaverify.custody.vault import open_bank
from slaverify.custody.view import LedgerView
from slaverify.errors import CustodyError, Text

_HEADER = {
    "type": constant("slaverify/delivery"),
    "v": constant(1),
    "bank_digest": is_digest,
    "contract_digest": is_digest,
    "run": is_count,
    "part": word(*Part),
    "sample_sha256": is_hex32,
}
_ATTACHED = b'{"attachment":'
_MAX_CHECKPOINT = 64 * 1024
_LINE = {"i": is_count, "id": is_id, "stratum": is_name, "content": is_object, "salt": is_hex32}


@dataclass(frozen=True)
class Delivery:
    """A delivery that the ledger records: where the file lies and the entry."""

    path: Path
    entry: Entry


@dataclass(frozen=True, slots=True)
class DeliveredItem:
    """One part of one item, checked against its commitment. `twin_of` comes from the public index."""

    i: int
    id: str
    stratum: str
    content: JsonObject
    salt: str
    twin_of: str | None


def deliver(
    ledger: LedgerFile,
    bank: Bank,
    terms: Terms,
    drawn: Draw,
    part: Part,
    *,
    custodian: PartyKey | None,
    auditor: PartyKey,
    private: Path,
) -> Delivery:
    """Encrypt one part of the drawn items to the auditor and record it, signed by both.

    A delivery that is on record, and whose file stands, is returned as it is; that is all that is possible where the
    custodian's key lies on another machine (None).
    Raises: CustodyError SLV-K052 (before its time; exit 6 where it must come from the custodian), and what opening the
    bank raises.
    """
    view = ledger.refresh()
    path = delivery_path(ledger.folder, view, drawn, part)
    known = _recorded(view, drawn, part)
    if known is not None and path.is_file() and _file_sha256(path) == text(known.data, "file_sha256"):
        return Delivery(path, known)
    _check_time(view, terms, drawn, part)
    if custodian is None:
        raise _from_elsewhere(path, part)
    data = _hand_over(ledger, bank, drawn, part, custodian, auditor.age_recipient, path, private)
    signers = (custodian,) if custodian.key_id == auditor.key_id else (custodian, auditor)
    return Delivery(path, ledger.transact(lambda _: Draft("delivery", data, signers)))


def propose_delivery(
    ledger: LedgerFile, bank: Bank, terms: Terms, drawn: Draw, part: Part, *, custodian: PartyKey, private: Path
) -> tuple[Path, bytes]:
    """Encrypt one part to the registered auditor who opened the run; return the file and the entry to countersign.

    Raises: CustodyError SLV-K052 (before its time), K071 (the auditor registered no age recipient), and what opening
    the bank raises.
    """
    view = ledger.refresh()
    _check_time(view, terms, drawn, part)
    record = view.run(drawn.contract_digest, drawn.run)
    receiver = None if record is None else view.keys[record.opened.actor].age
    if not receiver:
        raise fault(71, "el auditor no registró dónde recibir", "the auditor registered no recipient")
    path = delivery_path(ledger.folder, view, drawn, part)
    data = _hand_over(ledger, bank, drawn, part, custodian, receiver, path, private)
    return path, ledger.propose("delivery", data, custodian)


def _hand_over(
    ledger: LedgerFile,
    bank: Bank,
    drawn: Draw,
    part: Part,
    custodian: PartyKey,
    receiver: str,
    path: Path,
    private: Path,
) -> JsonObject:
    """Write the encrypted file and return the data of its entry."""
    path.parent.mkdir(exist_ok=True)
    with open_bank(ledger.folder, bank, custodian.age_identity, private) as opened, staged(path) as stream:
        items = opened.items(drawn.all_ids)
        attached = opened.attachments(_named(items)) if part is Part.QUERY else ()
        pieces = chain(_pieces(_header(bank.digest, drawn, part), items, opened.header.seed, part), attached)
        encrypt(pieces, stream, [receiver], MAX_PACKAGE)
    return {
        "contract_digest": drawn.contract_digest,
        "run": drawn.run,
        "file_sha256": _file_sha256(path),
        "part": part.value,
        "purpose": "audit",
        "clause": "",
    }


def _from_elsewhere(path: Path, part: Part) -> CustodyError:
    error = fault(
        52,
        f"falta la entrega «{part.value}» del custodio",
        f"the custodian's delivery `{part.value}` is missing",
        where=str(path),
        fix=Text(
            f"pídala: él escribe «slaverify custody deliver BANCO --contract CONTRATO --part {part.value} --propose "
            "ARCHIVO»; usted la firma con «custody ledger countersign» y ambos la anotan con «custody ledger accept»",
            f"ask for it: the custodian types `slaverify custody deliver BANK --contract CONTRACT --part {part.value} "
            "--propose FILE`; you sign it with `custody ledger countersign` and both record it with `custody ledger "
            "accept`",
        ),
    )
    # A step of other people: the walk goes on later.
    error.exit_code = 6
    return error


def delivery_path(folder: Path, view: LedgerView, drawn: Draw, part: Part) -> Path:
    """Return where a delivery lies: `deliveries/run-<n:04d>.<part>.age`.

    Where another contract's run of the same number was delivered before, the contract's first 12 hex stand in between.
    """
    first = next((entry for entry in view.find_all("delivery", run=drawn.run, part=part.value)), None)
    mine = first is None or first.contract_digest == drawn.contract_digest
    infix = "" if mine else f".{drawn.contract_digest.removeprefix('sha256:')[:12]}"
    return folder / "deliveries" / f"run-{drawn.run:04d}{infix}.{part.value}.age"


def _recorded(view: LedgerView, drawn: Draw, part: Part) -> Entry | None:
    return view.find("delivery", contract_digest=drawn.contract_digest, run=drawn.run, part=part.value)


def _check_time(view: LedgerView, terms: Terms, drawn: Draw, part: Part) -> None:
    record = view.run(drawn.contract_digest, drawn.run)
    if record is None or record.draw is None:
        raise fault(52, "la entrega precede al sorteo", "delivery before the draw")
    ended = record.terminal is not None and not record.aborted
    if part is Part.REFERENCE and not ended and not terms.release_at_start:
        raise fault(
            52,
            "las referencias se entregan cuando la corrida terminó",
            "references are delivered once the run has ended",
        )


def _header(bank_digest: str, drawn: Draw, part: Part) -> JsonObject:
    return {
        "type": "slaverify/delivery",
        "v": 1,
        "bank_digest": bank_digest,
        "contract_digest": drawn.contract_digest,
        "run": drawn.run,
        "part": part.value,
        "sample_sha256": drawn.sample_sha256,
    }


def _pieces(header: JsonObject, items: Iterable[PackageItem], seed: bytes, part: Part) -> Iterator[bytes]:
    yield jcs(header) + b"\n"
    for one in items:
        rest = jcs({"i": one.i, "id": one.id, "salt": salt(seed, one.i, part).hex(), "stratum": one.stratum})
        # `content` sorts first and is JCS already: the line is put together, not written again.
        yield b'{"content":' + one.part(part) + b"," + rest[1:] + b"\n"


def open_delivery(
    path: Path, identity: str, bank: Bank, drawn: Draw, part: Part, private: Path
) -> tuple[DeliveredItem, ...]:
    """Decrypt a delivery and return its items by leaf number, all of them checked.

    Raises: CustodyError SLV-K015 (decryption), K010 (another bank), K053 (another run or sample), K054 (an item that
    was not drawn, or one missing), K016 (a content that is not the committed one, or a malformed line).
    """
    with decrypted(path, identity, private, MAX_PACKAGE) as (stream, _):
        _check_header(stream.readline(), bank, drawn, part)
        items = tuple(_item(line, bank, part) for line in stream if not line.startswith(_ATTACHED))
    numbers = [one.i for one in items]
    if numbers != sorted(set(numbers)) or {one.id for one in items} != set(drawn.all_ids):
        raise fault(
            54, "la entrega no trae exactamente los ítems sorteados", "the delivery is not exactly the drawn items"
        )
    return items


def open_attachments(path: Path, identity: str, bank: Bank, drawn: Draw, private: Path) -> dict[str, bytes]:
    """Decrypt the delivery of the queries and return its attachments by digest (hex), each checked against it.

    Raises: CustodyError SLV-K015, K010, K053 as `open_delivery`, K012 (an attachment that is not its digest).
    """
    with decrypted(path, identity, private, MAX_PACKAGE) as (stream, _):
        _check_header(stream.readline(), bank, drawn, Part.QUERY)
        lines = [(number, line) for number, line in enumerate(stream, 2) if line.startswith(_ATTACHED)]
        return dict(parse_attachment(line.rstrip(b"\n"), number) for number, line in lines)


def _named(items: Iterable[PackageItem]) -> Iterator[str]:
    for item in items:
        listed = loads_canonical(item.query, max_depth=MAX_DEPTH).get("attachments", [])
        for one in listed if isinstance(listed, list) else []:
            if isinstance(one, Mapping):
                yield text(one, "digest").removeprefix("sha256:")


def _check_header(line: bytes, bank: Bank, drawn: Draw, part: Part) -> None:
    tree = _tree(line, 2)
    if shape_fault(tree, _HEADER) is not None:
        raise _malformed("cabecera", "header")
    if tree["bank_digest"] != bank.digest:
        raise fault(10, "la entrega es de otro banco", "the delivery is of another bank")
    if dict(tree) != dict(_header(bank.digest, drawn, part)):
        raise fault(53, "la entrega es de otra corrida, parte o muestra", "delivery of another run, part or sample")


def _item(line: bytes, bank: Bank, part: Part) -> DeliveredItem:
    tree = _tree(line, MAX_DEPTH + 1)
    content = tree.get("content")
    if shape_fault(tree, _LINE) is not None or not isinstance(content, Mapping):
        raise _malformed("línea", "line")
    leaf = bank.index.by_id.get(text(tree, "id"))
    if leaf is None or (leaf.i, leaf.stratum) != (integer(tree, "i"), text(tree, "stratum")):
        raise fault(54, "un ítem que el banco no tiene", "an item that the bank does not have", where=text(tree, "id"))
    found = commitment(bytes.fromhex(text(tree, "salt")), part, jcs(content))
    if found.hex() != leaf.commitment_of(part):
        raise fault(16, f"{leaf.id} no es el ítem comprometido", f"{leaf.id} is not the committed item", where=leaf.id)
    return DeliveredItem(leaf.i, leaf.id, leaf.stratum, content, text(tree, "salt"), leaf.twin_of)


def _tree(line: bytes, depth: int) -> JsonObject:
    try:
        return loads_canonical(line.rstrip(b"\n"), max_depth=depth)
    except StrictJsonError as error:
        raise _malformed(str(error), str(error)) from error


def _malformed(es: str, en: str) -> Exception:
    return fault(16, f"entrega mal formada: {es}", f"malformed delivery: {en}")


def open_item(
    ledger: LedgerFile,
    bank: Bank,
    item_id: str,
    part: Part,
    *,
    purpose: str,
    to: str,
    custodian: PartyKey,
    private: Path,
) -> Path:
    """Record that one part of an item is opened, then write the opening and its plain files; return their folder.

    From the entry on the item is disclosed: it is never drawn again.
    Raises: CustodyError SLV-K054 (no such item), and what opening the bank raises.
    """
    wanted = [(item_id, part)]
    return open_items(ledger, bank, wanted, purpose=purpose, to=to, custodian=custodian, private=private)[0]


def open_items(
    ledger: LedgerFile,
    bank: Bank,
    wanted: Sequence[tuple[str, Part]],
    *,
    purpose: str,
    to: str,
    custodian: PartyKey,
    private: Path,
) -> list[Path]:
    """Open several parts, the bank being decrypted once; return their folders. Raises: as `open_item`."""
    checkpoint = read_bounded(ledger.folder / "bank.checkpoint", _MAX_CHECKPOINT, 27)
    made = []
    with open_bank(ledger.folder, bank, custodian.age_identity, private) as opened:
        for item_id, part in wanted:
            found = opened.items([item_id])[0]
            key = salt(opened.header.seed, found.i, part)
            made.append((found, part, key))
    folders = []
    for found, part, key in made:
        data: JsonObject = {"item": found.id, "part": part.value, "purpose": purpose, "to": to}
        ledger.append("item_opened", data, [custodian])
        folders.append(_write_opening(ledger.folder, bank, found, part, key, checkpoint))
    return folders


def _write_opening(root: Path, bank: Bank, found: PackageItem, part: Part, key: bytes, checkpoint: bytes) -> Path:
    opening = make_opening(bank.digest, bank.index, found.i, part, key, found.part(part), checkpoint)
    folder = root / "openings" / f"{found.id}.{part.value}"
    folder.mkdir(parents=True, exist_ok=True)
    plain = {
        "opening.json": opening,
        "manifest.json": bank.manifest.file_bytes(),
        "leaf.json": bank.index.leaves[found.i].line(),
        "content.json": found.part(part),
        "salt.hex": key.hex().encode(),
        "part.txt": part.value.encode(),
        "item.tlog-proof": text(loads_canonical(opening), "proof").encode(),
    }
    for name, content in plain.items():
        write_whole(folder / name, content)
    return folder


def _file_sha256(path: Path) -> str:
    return sha256_hex(read_bounded(path, 2 * MAX_PACKAGE, 11))
