"""Tamperings of custody in whole bundles: the auditor and the custodian write the ledger again, sign it and its
checkpoints with their own keys, have them stamped, and close and sign the evidence over it.

Whatever two of three parties can sign is signed: what is left to find them out is what anybody recomputes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slaverify.canonical import jcs
from slaverify.custody import SigningKey, blind_commitment, genesis_prev, key_id, merkle_root
from slaverify.custody.append import key_data
from slaverify.custody.blind import blind_content
from slaverify.custody.entries import parse_entry, write_line
from slaverify.custody.note import LOG, NoteKey, sign_checkpoint
from slaverify.evidence import LedgerHead
from tests.evidence.pki import Tsa, tsa
from tests.tamper.line_fixtures import LEDGER, Attempt
from tests.verify.sample import Line, closed, forced, line

INDEX, MANIFEST = "custody/index.jsonl", "custody/bank_manifest.json"
_CHECKPOINT = re.compile(r"custody/checkpoints/(\d{8})\.checkpoint(\.tsr)?")
Trees = list[dict]
Edit = Callable[[Trees, Line], None]


class Stranger:
    """A key that nobody registered."""

    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()

    @property
    def public(self) -> bytes:
        return self._key.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)


def rewritten(made: Line, edit: Edit, *more: SigningKey) -> Attempt:
    """The ledger after `edit`, which may change, insert and remove entries; each new one says who signs (`by`)."""
    keys = {key.key_id: key for key in (made.custodian, made.examiner)}
    keys |= {key_id(key.public): key for key in more}
    trees: Trees = [json.loads(entry.line) for entry in made.view]
    for tree in trees:
        tree["by"] = [one["key"] for one in tree.pop("sigs")]
    before = list(trees)
    drawn = entry(trees, "draw")["data"]
    known = drawn["at_size"]
    edit(trees, made)
    drawn["at_size"] = trees.index(before[known - 1]) + 1
    lines: list[bytes] = []
    for seq, tree in enumerate(trees):
        signers = [keys[name] for name in tree["by"]]
        fresh = {name: value for name, value in tree.items() if name != "by"} | {"seq": seq, "v": 1}
        fresh["actor"] = key_id(signers[0].public)
        fresh.setdefault("clock_offset_ms", None)
        if lines:
            fresh["prev"] = parse_entry(lines[-1], "").digest
        lines.append(write_line(fresh, signers))
    return over(made, lines, lambda size: trees.index(before[size - 1]) + 1)


def over(made: Line, lines: list[bytes], moved: Callable[[int], int] = int) -> Attempt:
    """The bundle over other lines: checkpoints made again where `moved` says, head and manifest too."""
    leaves = [parse_entry(row, "").leaf for row in lines]
    origin, changes = made.view.origin, {LEDGER: b"".join(row + b"\n" for row in lines)}
    for path in made.files:
        found = _CHECKPOINT.fullmatch(path)
        if found is None:
            continue
        changes.setdefault(path, None)
        if found[2] is None:
            size = moved(int(found[1]))
            note = sign_checkpoint(origin, size, merkle_root(leaves[:size]), made.custodian)
            at = datetime.fromisoformat(json.loads(lines[size - 1])["time"]) + timedelta(seconds=1)
            body = note.partition(b"\n\n")[0] + b"\n"
            changes[f"custody/checkpoints/{size:08d}.checkpoint"] = note
            if f"{path}.tsr" in made.files:
                changes[f"custody/checkpoints/{size:08d}.checkpoint.tsr"] = (
                    Tsa(tsa().identity, at).stamper().stamp(body)
                )
    head = LedgerHead(origin, len(lines), merkle_root(leaves).hex())
    return Attempt(made, closed(made, changes, header=replace(made.header, ledger=head)))


def entry(trees: Trees, kind: str) -> dict:
    return next(tree for tree in trees if tree["type"] == kind)


def insert(trees: Trees, after: str, kind: str, data: dict, *by: SigningKey) -> None:
    """Insert an entry after the first one of a type, at its time."""
    place = trees.index(entry(trees, after))
    new = {"type": kind, "time": trees[place]["time"], "data": data, "by": [key_id(key.public) for key in by]}
    trees.insert(place + 1, new)


def c01_untouched() -> Attempt:
    """Written again without a change: nothing to find, so that what the others show is their tampering."""
    return rewritten(line(), lambda trees, made: None)


def c02_blind_entry_never_opened() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        insert(trees, "draw", "blind", {"commitment": "ab" * 32}, made.examiner)

    return rewritten(line(), edit)


def c03_blind_entry_opened_as_something_else() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        beat = blind_content("heartbeat", {})
        insert(trees, "run_started", "unblind", {"seq": 0, "salt": "01" * 32, "content": beat.decode()}, made.examiner)
        insert(trees, "draw", "blind", {"commitment": blind_commitment(bytes(32), beat).hex()}, made.examiner)
        entry(trees, "unblind")["data"]["seq"] = trees.index(entry(trees, "blind"))

    return rewritten(line(), edit)


def c04_item_sent_outside_the_draw() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        drawn = {one for tree in trees if tree["type"] == "batch" for one in tree["data"]["items"]}
        stray = next(number for number in range(30) if number not in drawn)
        entry(trees, "run_ended")["data"]["sent"] = [stray]

    return rewritten(line(), edit)


def c05_backdated_entry() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        entry(trees, "run_started")["time"] = trees[0]["time"]

    return rewritten(line(), edit)


def c06_duplicate_keys_in_an_entry() -> Attempt:
    made = line()
    lines = [one.line for one in made.view]
    lines[3] = lines[3].replace(b'{"actor":', b'{"actor":"' + b"00" * 32 + b'","actor":', 1)
    return Attempt(made, forced(closed(made), LEDGER, b"".join(row + b"\n" for row in lines)))


def c07_forged_from_genesis() -> Attempt:
    """The same origin under another log key: everything in it is signed and coherent."""
    made, other = line(), Stranger()
    origin = made.view.origin

    def edit(trees: Trees, _: Line) -> None:
        public = NoteKey(origin, LOG, other.public)
        trees[0]["data"]["log_vkey"] = public.vkey()
        trees[0]["prev"] = genesis_prev(origin, other.public)
        for tree in trees:
            tree["by"] = [key_id(other.public) if name == made.custodian.key_id else name for name in tree["by"]]

    return rewritten(made, edit, other)


def c08_deposit_by_who_does_not_hold_the_bank() -> Attempt:
    other = Stranger()

    def edit(trees: Trees, made: Line) -> None:
        vkey = NoteKey("otra/custodia", LOG, other.public).vkey()
        at = datetime.fromisoformat(entry(trees, "contract_registered")["time"])
        data = dict(key_data(vkey, ["custodian"], "Otra Custodia", None, now=at))
        sealed = entry(trees, "bank_sealed")["data"]["ciphertext_sha256"]
        told = {"place": "otra bóveda", "medium": "disco", "ciphertext_sha256": sealed}
        insert(trees, "contract_registered", "deposit", told, other)
        insert(trees, "contract_registered", "key_added", data, made.custodian, other)

    return rewritten(line(), edit, other)


def c09_draw_of_other_items() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        for kind in ("draw", "run_started"):
            entry(trees, kind)["data"]["sample_sha256"] = "ab" * 32

    return rewritten(line(), edit)


def c10_draw_with_items_that_the_vendor_had_seen() -> Attempt:
    """The ledger says that the vendor was shown drawn items before the draw: the sample is not what then results."""

    def edit(trees: Trees, made: Line) -> None:
        seen = entry(trees, "batch")["data"]["items"][:3]
        shown = {"party": "Proveedor", "role": "vendor", "items": seen, "channel": "correo"}
        insert(trees, "contract_registered", "exposure", shown, made.custodian)

    return rewritten(line(), edit)


def c11_contract_never_registered() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        gone = entry(trees, "contract_registered")
        trees[trees.index(gone)] = {**gone, "type": "incident", "data": {"what": "nada", "items": []}}

    return rewritten(line(), edit)


def c12_second_run_opened_while_the_first_is_open() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        data = {**entry(trees, "run_opened")["data"], "run": 2}
        insert(trees, "run_started", "run_opened", data, made.examiner)

    return rewritten(line(), edit)


def c13_run_beyond_the_budget() -> Attempt:
    def edit(trees: Trees, made: Line) -> None:
        data = {**entry(trees, "run_opened")["data"], "run": 2}
        insert(trees, "run_ended", "run_opened", data, made.examiner)

    return rewritten(line(), edit)


def c14_swapped_leaf() -> Attempt:
    """One item of the index replaced by another after the sealing."""
    made = line()
    rows = made.files[INDEX].splitlines(keepends=True)
    row = json.loads(rows[5])
    row["c_reference"] = "cd" * 32
    rows[5] = jcs(row) + b"\n"
    return Attempt(made, closed(made, {INDEX: b"".join(rows)}))


def c15_other_bank() -> Attempt:
    """A manifest with another root in the place of the one that the contract pins."""
    made = line()
    tree = json.loads(made.files[MANIFEST])
    tree["root"] = "cd" * 32
    return Attempt(made, closed(made, {MANIFEST: jcs(tree)}))


def c16_reveal_before_a_checkpoint() -> Attempt:
    """Commit and reveal without a checkpoint over the commitments: the second to commit had seen the first reveal."""
    made = line(commit="both")
    commits = [one.seq for one in made.view.find_all("draw_commit")]
    reveal = made.view.find_all("draw_reveal")[0].seq
    between = [size for size in range(reveal + 1) if size > commits[-1]]
    gone = {path: None for path in made.files for size in between if f"/{size:08d}." in path}
    assert gone
    return Attempt(made, closed(made, gone))


def c17_commit_and_reveal_untouched() -> Attempt:
    made = line(commit="both")
    return Attempt(made, closed(made))


def c18_revealed_number_is_another() -> Attempt:
    """The last to reveal tells another number than it committed to, and the seed follows from it."""
    made = line(commit="both")

    def edit(trees: Trees, _: Line) -> None:
        entry(trees, "draw_reveal")["data"]["nonce"] = "77" * 32

    return rewritten(made, edit, *made.parties)


def c19_defaulted_before_its_time() -> Attempt:
    """Whoever draws says that the vendor did not reveal, days before its time was over, and leaves its number out."""
    made = line(commit="hasty")
    return Attempt(made, closed(made))


FIXTURES: dict[str, Callable[[], Attempt]] = {
    name: value for name, value in sorted(globals().items()) if name.startswith("c") and name[1:3].isdigit()
}
