"""One opened item, checked by us and by a third party with bash and openssl alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from slaverify.canonical import jcs, loads_object
from slaverify.custody import Part, bank_origin, exposure_json, parse_opening, verify_opening
from slaverify.custody.deliver import open_item
from slaverify.custody.note import LOG, NoteKey
from slaverify.errors import CustodyError
from tests.custody.world import World

TOOLS = ("bash", "openssl", "xxd", "base64", "sed", "grep")
BASH = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason=f"not all of {', '.join(TOOLS)} are installed"
)


def opened(world: World, number: int, part: Part = Part.REFERENCE) -> Path:
    ledger, bank = world.ledger(), world.bank()
    item = bank.index.leaves[number].id
    private = world.private
    return open_item(
        ledger, bank, item, part, purpose="dispute", to="todos", custodian=world.custodian, private=private
    )


def bank_vkey(world: World) -> str:
    return NoteKey(bank_origin("Archivo Neutral", "bank-one"), LOG, world.custodian.public).vkey()


def verify(world: World, folder: Path) -> object:
    return verify_opening(
        parse_opening((folder / "opening.json").read_bytes()),
        (folder / "manifest.json").read_bytes(),
        bank_digest=world.sealed.bank_digest,
        bank_vkey=bank_vkey(world),
    )


def test_an_opening_verifies_and_burns_the_item(world: World) -> None:
    folder = opened(world, 5)
    assert verify(world, folder).leaf.i == 5
    entry = world.ledger().view.find("item_opened")
    assert entry is not None and entry.data["purpose"] == "dispute"
    states = loads_object(exposure_json(world.bank().index, world.ledger().view, world.terms))["states"]
    assert states == {"unused": 27, "drawn": 0, "sent": 0, "disclosed": 1}
    assert opened(world, 5) == folder
    assert len(world.ledger().view.find_all("item_opened")) == 1


def test_malformed_openings(world: World) -> None:
    folder = opened(world, 5)
    data = (folder / "opening.json").read_bytes()
    tree = dict(loads_object(data))
    with pytest.raises(CustodyError, match="SLV-K016"):
        parse_opening(data + b"\n")
    for code, changes in {
        "SLV-K016": {"salt": "00"},
        "SLV-K018": {"leaf": "{}"},
        "SLV-K017": {"proof": "x"},
        "SLV-K027": {"proof": str(tree["proof"]).replace("\n28\n", "\n028\n")},
        "SLV-K013": {"proof": str(tree["proof"]).replace("\n28\n", "\n27\n")},
        "SLV-K010": {"bank_digest": "sha256:" + "00" * 32},
    }.items():
        (folder / "opening.json").write_bytes(jcs(tree | changes))
        with pytest.raises(CustodyError, match=code):
            verify(world, folder)
    (folder / "opening.json").write_bytes(jcs(tree | {"note": "x"}))
    with pytest.raises(CustodyError, match="SLV-K016"):
        verify(world, folder)


def script(world: World, folder: Path, *, pinned: bool = True) -> tuple[int, str]:
    command = ["bash", world.bank_folder / "verify_item.sh", folder]
    command += [world.sealed.bank_digest, world.sealed.ledger_vkey] if pinned else []
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()[-1]


@BASH
def test_the_script_says_ok_for_every_leaf(world: World) -> None:
    for number, part in [
        (0, Part.QUERY),
        (1, Part.REFERENCE),
        (13, Part.QUERY),
        (26, Part.QUERY),
        (27, Part.REFERENCE),
    ]:
        folder = opened(world, number, part)
        assert script(world, folder) == (0, "OK")
        assert script(world, folder, pinned=False) == (0, "OK")


def replaced(name: str, old: bytes, new: bytes) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        data = (folder / name).read_bytes()
        assert old in data
        (folder / name).write_bytes(data.replace(old, new, 1))

    return change


def flipped_hash(folder: Path) -> None:
    lines = (folder / "item.tlog-proof").read_text("utf-8").split("\n")
    lines[2], lines[3] = lines[3], lines[2]
    (folder / "item.tlog-proof").write_text("\n".join(lines), "utf-8")


def other_root(folder: Path) -> None:
    """Another root in manifest and checkpoint alike."""
    import base64

    root = str(loads_object((folder / "manifest.json").read_bytes())["root"])
    replaced("manifest.json", root.encode(), b"0" * 64)(folder)
    old = base64.b64encode(bytes.fromhex(root))
    replaced("item.tlog-proof", old, base64.b64encode(bytes(32)))(folder)


def other_signature(folder: Path) -> None:
    data = (folder / "item.tlog-proof").read_bytes()
    place = len(data) - 20
    (folder / "item.tlog-proof").write_bytes(
        data[:place] + (b"A" if data[place : place + 1] != b"A" else b"B") + data[place + 1 :]
    )


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": replaced("content.json", b'"unit"', b'"Unit"'),
    "content-lf": lambda folder: (folder / "content.json").write_bytes((folder / "content.json").read_bytes() + b"\n"),
    "salt": lambda folder: (folder / "salt.hex").write_text("00" * 32),
    "part": lambda folder: (folder / "part.txt").write_text("query"),
    "leaf": replaced("leaf.json", b'"stratum":"', b'"stratum":"x'),
    "leaf-lf": lambda folder: (folder / "leaf.json").write_bytes((folder / "leaf.json").read_bytes() + b"\n"),
    "index": replaced("item.tlog-proof", b"index 5\n", b"index 4\n"),
    "proof": flipped_hash,
    "root": other_root,
    "manifest": replaced("manifest.json", b"Banco de prueba", b"Banco de otros"),
    "size": replaced("item.tlog-proof", b"\n28\n", b"\n27\n"),
    "signature": other_signature,
    "missing": lambda folder: (folder / "salt.hex").unlink(),
}


@BASH
@pytest.mark.parametrize("name", CHANGES)
def test_the_script_says_fail(world: World, name: str) -> None:
    folder = opened(world, 5)
    CHANGES[name](folder)
    code, last = script(world, folder)
    assert code == 1 and last.startswith("FAIL"), last
    if name not in ("manifest", "signature", "root"):
        assert script(world, folder, pinned=False)[0] == 1
