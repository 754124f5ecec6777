"""One attack a function, named by its flaw: each does what a cheat would do and then what a reader does.

Each must raise the refusal of `EXPECTED`. They start from an honest bank and ledger made with real keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pyrage

from slaverify.canonical import jcs, sha256_hex
from slaverify.custody import (
    Expected,
    Part,
    check_blinds_opened,
    check_sent,
    draw_commitment,
    draw_run,
    item_bytes,
    parse_manifest,
    read_ledger,
    verify_ledger,
    verify_opening,
)
from slaverify.custody.append import Tally, end_run, open_run, record_batch, record_draw
from slaverify.custody.commitments import commitment
from slaverify.custody.deliver import open_item
from slaverify.custody.note import cosign, log_policy, sign_checkpoint
from slaverify.custody.opening import parse_opening
from slaverify.custody.permit import authorise
from slaverify.custody.vault import load_bank, open_bank
from slaverify.custody.witness import Seen, check_request, parse_request
from slaverify.custody.witnessing import request_for, sign_request
from tests.custody.forge import AUDITOR, BUYER, LOG, VENDOR, Forge
from tests.custody.forge import CONTRACT as FORGED
from tests.custody.world import CONTRACT, Authority, World, other_terms

EXPECTED = {
    "swapped_item": "SLV-K016",
    "resalted_item": "SLV-K016",
    "item_of_another_leaf": "SLV-K017",
    "extra_recipient": "SLV-K014",
    "extra_recipient_in_a_new_file": "SLV-K011",
    "truncated_stream": "SLV-K015",
    "ledger_forged_from_genesis": "SLV-K034",
    "ledger_forged_by_its_own_custodian": "SLV-K026",
    "truncated_tail": "SLV-K025",
    "no_checkpoint_from_elsewhere": "SLV-K024",
    "fork_shown_to_two_witnesses": "SLV-K033",
    "rolled_back_to_a_witness": "SLV-K032",
    "run_started_before_registration": "SLV-K040",
    "run_number_chosen_by_the_caller": "SLV-K040",
    "second_run_hidden": "SLV-K026",
    "third_run_beyond_the_budget": "SLV-K041",
    "back_dated_entry": "SLV-K021",
    "back_dated_start": "SLV-K031",
    "revoked_key": "SLV-K023",
    "replayed_opening": "SLV-K010",
    "opening_of_the_other_part": "SLV-K016",
    "draw_with_exposed_items": "SLV-K053",
    "item_sent_outside_the_draw": "SLV-K061",
    "drawer_who_refuses_to_reveal": "SLV-K052",
    "drawer_who_changes_the_nonce": "SLV-K051",
    "copied_commitment": "SLV-K051",
    "duplicate_keys_in_an_entry": "SLV-K020",
    "nfd_item": "SLV-K001",
    "blind_entry_never_opened": "SLV-K042",
    "blind_entry_opened_as_something_else": "SLV-K043",
    "cosignature_in_the_future": "SLV-K029",
}


def _opened(world: World) -> tuple[dict, bytes, str]:
    ledger, bank = world.ledger(), world.bank()
    item = bank.index.leaves[0].id
    folder = open_item(
        ledger,
        bank,
        item,
        Part.QUERY,
        purpose="dispute",
        to="buyer",
        custodian=world.custodian,
        private=world.private,
    )
    return json.loads((folder / "opening.json").read_bytes()), (world.bank_folder / "manifest.json").read_bytes(), item


def _check(world: World, opening: dict, manifest: bytes) -> None:
    verify_opening(
        parse_opening(jcs(opening)), manifest, bank_digest=world.terms.bank_digest, bank_vkey=world.terms.vkey
    )


def swapped_item(world: World) -> None:
    opening, manifest, _ = _opened(world)
    content = json.loads(opening["content"]) | {"query": "¿Otra pregunta, más fácil?"}
    _check(world, opening | {"content": jcs(content).decode()}, manifest)


def resalted_item(world: World) -> None:
    """A new salt cannot make another content fit the published commitment."""
    opening, manifest, _ = _opened(world)
    key = bytes(32)
    commitment(key, Part.QUERY, opening["content"].encode())
    _check(world, opening | {"salt": key.hex()}, manifest)


def item_of_another_leaf(world: World) -> None:
    """A leaf that commits to a made-up item, with the honest proof of another one."""
    opening, manifest, _ = _opened(world)
    content, key = jcs({"query": "inventada"}).decode(), "11" * 32
    leaf = json.loads(opening["leaf"])
    leaf["c_query"] = commitment(bytes.fromhex(key), Part.QUERY, content.encode()).hex()
    _check(world, opening | {"leaf": jcs(leaf).decode(), "content": content, "salt": key}, manifest)


def replayed_opening(world: World) -> None:
    """An honest opening of one bank, shown in an audit of another."""
    opening, manifest, _ = _opened(world)
    other = "sha256:" + "0b" * 32
    verify_opening(parse_opening(jcs(opening)), manifest, bank_digest=other, bank_vkey=world.terms.vkey)


def opening_of_the_other_part(world: World) -> None:
    opening, manifest, _ = _opened(world)
    _check(world, opening | {"part": "reference"}, manifest)


def _reencrypted(world: World, *more: str) -> None:
    path = world.bank_folder / "bank.age"
    identity = pyrage.x25519.Identity.from_str(world.custodian.age_identity)
    plain = pyrage.decrypt(path.read_bytes(), [identity])
    declared = [one.age for one in world.sealed.manifest.recipients]
    keys = [pyrage.x25519.Recipient.from_str(one) for one in (*declared, *more)]
    path.write_bytes(pyrage.encrypt(plain, keys))


def extra_recipient(world: World) -> None:
    """The vendor's key hidden among the recipients, with a manifest that pins the new file and hides the key."""
    _reencrypted(world, str(pyrage.x25519.Identity.generate().to_public()))
    path = world.bank_folder / "manifest.json"
    digest = sha256_hex((world.bank_folder / "bank.age").read_bytes())
    forged = replace(parse_manifest(path.read_bytes()), ciphertext_sha256=digest)
    path.write_bytes(forged.file_bytes())
    load_bank(world.bank_folder, replace(world.terms, bank_digest=forged.digest()))


def extra_recipient_in_a_new_file(world: World) -> None:
    _reencrypted(world, str(pyrage.x25519.Identity.generate().to_public()))
    load_bank(world.bank_folder, world.terms)


def truncated_stream(world: World) -> None:
    """age gives out plaintext before it fails: nothing of it is used and nothing of it stays."""
    bank, path = world.bank(), world.bank_folder / "bank.age"
    path.write_bytes(path.read_bytes()[:-40])
    try:
        with open_bank(world.bank_folder, bank, world.custodian.age_identity, world.private) as opened:
            raise AssertionError(f"opened: {opened.header.n}")
    finally:
        assert list(world.private.iterdir()) == []


def ledger_forged_from_genesis(world: World) -> None:
    """A whole ledger of somebody's own, consistent in itself, under the origin that the contract pins."""
    forged = Forge(log=VENDOR, origin=world.terms.origin).base()
    read_ledger(b"".join(line + b"\n" for line in forged.lines), world.terms.trust)


def _honest_checkpoint(lines: list[bytes]) -> Expected:
    view = read_ledger(b"".join(line + b"\n" for line in lines))
    return Expected(view.size, view.root)


def ledger_forged_by_its_own_custodian(world: World) -> None:
    """Good keys, good chain, another story: only a checkpoint from elsewhere can tell."""
    honest, forged = Forge().base(), Forge().base(budget=9)
    verify_ledger(forged.lines, forged.trust, _honest_checkpoint(honest.lines))


def truncated_tail(world: World) -> None:
    honest = Forge().started()
    expected = _honest_checkpoint(honest.lines)
    verify_ledger(honest.lines[:-1], honest.trust, expected)


def no_checkpoint_from_elsewhere(world: World) -> None:
    honest = Forge().started()
    verify_ledger(honest.lines, honest.trust, None)


def fork_shown_to_two_witnesses(world: World) -> None:
    """Each witness alone is content; the first one who compares refuses."""
    one, other = Forge().base(), Forge().base(budget=9)
    policy = log_policy(one.origin, one.trust.log_vkey)
    shown = [_signed(forge) for forge in (one, other)]
    seen = [check_request(parse_request(b"old 0\n\n" + note), None, policy) for note in shown]
    one.run("run_opened")
    view = read_ledger(b"".join(line + b"\n" for line in one.lines))

    class Point:
        size, data = view.size, _signed(one)

    grown = parse_request(request_for(view, Point(), seen[0].size))
    assert check_request(grown, Seen(seen[0].size, seen[0].root), policy).size == view.size
    check_request(grown, Seen(seen[1].size, seen[1].root), policy)


def _signed(forge: Forge) -> bytes:
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines))
    return sign_checkpoint(forge.origin, view.size, view.root, LOG)


def rolled_back_to_a_witness(world: World) -> None:
    """A witness on disk signs; then the ledger is shown to it without its last line."""
    honest = Forge().started()
    policy, at = log_policy(honest.origin, honest.trust.log_vkey), world.clock()
    sign_request(b"old 0\n\n" + _signed(honest), world.keys, policy, BUYER, "buyer.example/w", at)
    honest.lines.pop()
    sign_request(b"old 0\n\n" + _signed(honest), world.keys, policy, BUYER, "buyer.example/w", at)


def run_started_before_registration(world: World) -> None:
    forge = Forge().key(AUDITOR, ["auditor"], "auditor.example")
    forge.run("run_opened")
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def run_number_chosen_by_the_caller(world: World) -> None:
    forge = Forge().base()
    forge.run("run_opened", 2)
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def second_run_hidden(world: World) -> None:
    """A failed run is cut out and the ledger written anew: a witness of the first history sees another root."""
    honest = Forge().started()
    honest.run("run_ended")
    expected = _honest_checkpoint(honest.lines)
    again = Forge().base()
    again.run("run_opened", purpose="change_check", candidate={})
    again.draw()
    again.start()
    again.run("run_ended")
    verify_ledger(again.lines, again.trust, expected)


def third_run_beyond_the_budget(world: World) -> None:
    forge = Forge().base(budget=2)
    for number in (1, 2, 3):
        forge.run("run_opened", number)
        forge.run("run_aborted", number)
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def back_dated_entry(world: World) -> None:
    forge = Forge().base()
    forge.run("run_opened")
    forge.add("incident", {"what": "antes"}, [LOG], time="2026-03-02T11:59:59Z")
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def back_dated_start(world: World) -> None:
    """The token of an earlier checkpoint does not anchor a later one."""
    ledger, authority = world.ledger(), Authority(world.clock)
    early = ledger.checkpoint(world.custodian, authority)
    world.started(ledger)
    late = ledger.checkpoint(world.custodian)
    evidence = replace(late.evidence, token=early.token)
    authorise(ledger.view, world.terms, 1, evidence, now=world.clock(), timestamps=authority)


def revoked_key(world: World) -> None:
    forge = Forge().base()
    forge.add("key_revoked", {"key_id": AUDITOR.id, "from": "2026-03-02T12:00:00Z", "reason": "robada"}, [LOG])
    forge.run("run_opened")
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def draw_with_exposed_items(world: World) -> None:
    """The second run's auditor draws as if nothing had been sent, and records that sample."""
    ledger, bank = world.ledger(), world.bank()
    number = world.started(ledger)
    drawn = draw_run(bank.index, ledger.view, world.terms, number)
    sent = [bank.index.by_id[one].i for one in drawn.selection.ids]
    record_batch(
        ledger, world.auditor, CONTRACT, number, number=1, first=0, last=len(sent) - 1, items=sent, root=bytes(32)
    )
    end_run(ledger, world.auditor, CONTRACT, number, Tally())
    second = open_run(ledger, world.auditor, world.terms).number
    honest = draw_run(bank.index, ledger.view, world.terms, second)
    unseen = other_terms(world, CONTRACT, evaluation_set__exposure="reuse")
    greedy = draw_run(bank.index, ledger.view, unseen, second)
    assert set(greedy.selection.ids) & set(drawn.selection.ids)
    assert not set(honest.selection.ids) & set(drawn.selection.ids)
    record_draw(ledger, world.auditor, bank.index, unseen, second)
    draw_run(bank.index, ledger.view, world.terms, second)


def item_sent_outside_the_draw(world: World) -> None:
    ledger, bank = world.ledger(), world.bank()
    number = world.started(ledger)
    drawn = draw_run(bank.index, ledger.view, world.terms, number)
    stray = next(leaf.i for leaf in bank.index.leaves if leaf.id not in drawn.selection.all_ids)
    record_batch(ledger, world.auditor, CONTRACT, number, number=1, first=0, last=0, items=[stray], root=bytes(32))
    check_sent(bank.index, ledger.view, world.terms, number)


def drawer_who_refuses_to_reveal(world: World) -> None:
    """A draw that does as if the one who refused had never committed."""
    forge = Forge().base()
    forge.run("run_opened")
    for key, role in ((BUYER, "buyer"), (VENDOR, "vendor")):
        told = draw_commitment(role, FORGED, 1, b"9" * 32)
        forge.run("draw_commit", by=key, role=role, commitment=told.hex())
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=(b"9" * 32).hex())
    forge.draw(method="commit_reveal", nonces={"buyer": b"9" * 32})
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def drawer_who_changes_the_nonce(world: World) -> None:
    forge = Forge().base()
    forge.run("run_opened")
    told = draw_commitment("buyer", FORGED, 1, bytes(32))
    forge.run("draw_commit", by=BUYER, role="buyer", commitment=told.hex())
    honest = b"".join(line + b"\n" for line in forge.lines)
    assert read_ledger(honest).size == len(forge.lines)
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce="01" * 32)
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def copied_commitment(world: World) -> None:
    """The vendor commits to the buyer's commitment and reveals the buyer's nonce after it."""
    forge = Forge().base()
    forge.run("run_opened")
    told = draw_commitment("buyer", FORGED, 1, b"7" * 32).hex()
    forge.run("draw_commit", by=BUYER, role="buyer", commitment=told)
    forge.run("draw_commit", by=VENDOR, role="vendor", commitment=told)
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=(b"7" * 32).hex())
    forge.run("draw_reveal", by=VENDOR, role="vendor", nonce=(b"7" * 32).hex())
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def duplicate_keys_in_an_entry(world: World) -> None:
    forge = Forge().base()
    line = forge.lines[-1].replace(b'"run_budget":2', b'"run_budget":2,"run_budget":9')
    read_ledger(b"".join(one + b"\n" for one in (*forge.lines[:-1], line)))


def nfd_item(world: World) -> None:
    item_bytes('{"query": "¿Qué plazo?"}'.replace("é", "e\u0301").encode())


def blind_entry_never_opened(world: World) -> None:
    forge = Forge().base()
    forge.add("blind", {"commitment": "ab" * 32}, [AUDITOR])
    check_blinds_opened(read_ledger(b"".join(line + b"\n" for line in forge.lines)))


def blind_entry_opened_as_something_else(world: World) -> None:
    forge = Forge().base()
    forge.add("blind", {"commitment": "ab" * 32}, [AUDITOR])
    seq = len(forge.lines) - 1
    forge.add("unblind", {"seq": seq, "salt": "00" * 32, "content": "{}"}, [AUDITOR])
    read_ledger(b"".join(line + b"\n" for line in forge.lines))


def cosignature_in_the_future(world: World) -> None:
    witness = {"name": "b", "role": "buyer", "vkey": BUYER.vkey("buyer.example/w", 4)}
    terms = other_terms(world, CONTRACT, ledger__witnesses=[witness], ledger__quorum=1, ledger__start_anchor="witness")
    ledger = world.ledger()
    world.started(ledger, terms)
    point, at = ledger.checkpoint(world.custodian), world.clock()
    ahead = cosign(point.body, "buyer.example/w", BUYER, at + timedelta(seconds=301))
    authorise(
        ledger.view, terms, 1, replace(point.evidence, checkpoint=point.data + ahead.encode()), now=at, timestamps=None
    )


ATTACKS: dict[str, Callable[[World], None]] = {name: globals()[name] for name in EXPECTED}
