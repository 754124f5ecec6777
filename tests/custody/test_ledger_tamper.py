"""One forged ledger for each way to lie in it; each is refused with its own code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slaverify.canonical import jcs, loads_object, sha256_hex
from slaverify.custody import Expected, Trust, draw_commitment, merkle_root, read_ledger, verify_ledger
from slaverify.custody.blind import blind_commitment, check_blinds_opened
from slaverify.custody.entries import MAX_LINE, signed_bytes, split_lines
from slaverify.errors import CustodyError
from tests.custody.forge import AUDITOR, BANK, BUYER, CONTRACT, LOG, ORIGIN, STRANGER, VENDOR, Forge, Key


def refusal(forge: Forge, expected: Expected | None = None, trust: Trust | None = None) -> tuple[str, int]:
    if expected is None:
        size = len(forge.lines)
        from slaverify.custody import leaf_hash

        expected = Expected(size, merkle_root(leaf_hash(line) for line in forge.lines))
    with pytest.raises(CustodyError) as caught:
        verify_ledger(forge.lines, trust or forge.trust, expected)
    return caught.value.code, caught.value.exit_code


def test_an_honest_ledger_is_accepted() -> None:
    forge = Forge().started()
    forge.batch(1)
    forge.batch(2)
    forge.run("run_resumed", reason="power")
    forge.run("run_ended", sent=[], in_flight=[], outcomes={"answered": 2})
    forge.run("scored", scores_sha256="5c" * 32)
    forge.run("report_issued", report_id="r", signed_digest="x", bundle_digest=BANK, history_sha256=None, size=9)
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines), forge.trust)
    run = view.run(CONTRACT, 1)
    assert run is not None and not run.is_open and len(run.batches) == 2 and run.scored and run.report
    assert view.deciding_run(CONTRACT) == run
    assert view.keys[AUDITOR.id].organisation == "auditor.example"
    assert view.find("batch", run=1, number=2) == run.batches[1]
    assert view.upto(8).run(CONTRACT, 1).started is None
    assert view.upto(8).root == view.root_at(8)


Tamper = Callable[[Forge], None]


def edit_last(forge: Forge, **changes: object) -> None:
    """Change the last line after it was signed."""
    tree = dict(loads_object(forge.lines[-1])) | changes
    forge.lines[-1] = jcs(tree)


def not_json(forge: Forge) -> None:
    forge.base().lines[-1] = b"{"


def duplicate_key(forge: Forge) -> None:
    forge.base().lines[-1] = forge.lines[-1].replace(b'"v":1}', b'"v":1,"v":1}')


def spaces(forge: Forge) -> None:
    forge.base().lines[-1] = forge.lines[-1].replace(b'","', b'", "', 1)


def unknown_type(forge: Forge) -> None:
    forge.base().add("payment", {}, [LOG])


def other_version(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], v=2)


def extra_field(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], note="x")


def too_long(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x" * MAX_LINE}, [LOG])


def bad_time(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], time="2026-02-30T12:00:00Z")


def fractional_time(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], time="2027-02-20T12:00:00.5Z")


def true_offset(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], clock_offset_ms=True)


def no_signature(forge: Forge) -> None:
    forge.base()
    edit_last(forge, sigs=[])


def same_key_twice(forge: Forge) -> None:
    forge.base()
    one = loads_object(forge.lines[-1])["sigs"][0]
    edit_last(forge, sigs=[one, one])


def missing_data(forge: Forge) -> None:
    forge.base().add("bank_sealed", {"bank_digest": BANK}, [LOG])


def items_not_ascending(forge: Forge) -> None:
    forge.started().batch(items=[4, 1])


def genesis_absent(forge: Forge) -> None:
    del forge.base().lines[0]


def genesis_other_origin(forge: Forge) -> None:
    forge.lines[:] = Forge(origin="archive.example/ledger/deadbeef").base().lines


def genesis_other_key(forge: Forge) -> None:
    forge.lines[:] = Forge(log=STRANGER).lines


def genesis_constant_prev(forge: Forge) -> None:
    data = {"origin": ORIGIN, "log_vkey": LOG.vkey(ORIGIN), "organisation": "archive.example"}
    forge.lines.clear()
    forge.add("genesis", data, [LOG], prev="00" * 32)


def genesis_again(forge: Forge) -> None:
    data = {"origin": ORIGIN, "log_vkey": LOG.vkey(ORIGIN), "organisation": "archive.example"}
    forge.base().add("genesis", data, [LOG])


def genesis_by_a_stranger(forge: Forge) -> None:
    data = {"origin": ORIGIN, "log_vkey": LOG.vkey(ORIGIN), "organisation": "archive.example"}
    prev = loads_object(forge.lines[0])["prev"]
    forge.lines.clear()
    forge.add("genesis", data, [STRANGER], prev=prev)


def seq_skipped(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], seq=9)


def other_prev(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], prev="00" * 32)


def clock_back(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], time="2026-03-02T11:59:59Z")


def line_removed(forge: Forge) -> None:
    del forge.started().lines[3]


def other_signature(forge: Forge) -> None:
    forge.base()
    edit_last(forge, sigs=[{"key": LOG.id, "sig": loads_object(forge.lines[0])["sigs"][0]["sig"]}])


def new_key_does_not_own_itself(forge: Forge) -> None:
    class Thief(Key):
        def sign(self, data: bytes) -> bytes:
            return STRANGER.sign(data)

    forge.key(Thief("auditor"), ["auditor"], "auditor.example")


def actor_is_another(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG], actor=AUDITOR.id)


def unknown_key(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [STRANGER])


def wrong_role(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [AUDITOR])


def too_many_signers(forge: Forge) -> None:
    forge.base().add("incident", {"what": "x"}, [LOG, AUDITOR])


def delivery_by_one_side(forge: Forge) -> None:
    forge.started().add(
        "delivery", {"contract_digest": CONTRACT, "run": 1, "file_sha256": "00" * 32, "part": "query"}, [LOG]
    )


def key_expired(forge: Forge) -> None:
    forge.key(AUDITOR, ["auditor"], "auditor.example", valid_until="2026-03-02T12:02:00Z")
    forge.add("calibration", {"contract_digest": CONTRACT, "run": 1, "record_sha256": "00" * 32}, [AUDITOR])


def key_not_yet_valid(forge: Forge) -> None:
    forge.key(AUDITOR, ["auditor"], "auditor.example", valid_from="2027-01-01T00:00:00Z")
    forge.add("calibration", {"contract_digest": CONTRACT, "run": 1, "record_sha256": "00" * 32}, [AUDITOR])


def key_revoked(forge: Forge) -> None:
    forge.base()
    forge.add("key_revoked", {"key_id": AUDITOR.id, "from": "2026-03-02T12:00:00Z", "reason": "lost"}, [LOG])
    forge.run("run_opened")


def key_added_twice(forge: Forge) -> None:
    forge.base().key(AUDITOR, ["auditor", "custodian"], "auditor.example")


def key_without_possession(forge: Forge) -> None:
    forge.key(AUDITOR, ["auditor"], "auditor.example")
    forge.lines.pop()
    data = loads_object(Forge().key(AUDITOR, ["auditor"], "auditor.example").lines[-1])["data"]
    forge.add("key_added", dict(data), [LOG])


def key_id_of_another(forge: Forge) -> None:
    forge.key(AUDITOR, ["auditor"], "auditor.example", key_id=STRANGER.id)


def bank_unknown(forge: Forge) -> None:
    data = {
        "contract_digest": CONTRACT,
        "bank_digest": BANK,
        "vendor": "v",
        "exposure_group": "v",
        "run_budget": 1,
    }
    forge.add("contract_registered", data, [LOG])


def bank_twice(forge: Forge) -> None:
    forge.base().add(
        "bank_sealed", {"bank_digest": BANK, "root": "00" * 32, "n": 1, "ciphertext_sha256": "00" * 32}, [LOG]
    )


def contract_unregistered(forge: Forge) -> None:
    forge.base().add("run_opened", {"contract_digest": "sha256:" + "00" * 32, "run": 1}, [AUDITOR])


def number_chosen(forge: Forge) -> None:
    forge.base().run("run_opened", 7)


def started_twice(forge: Forge) -> None:
    forge.started().start(plan_sha256="00" * 32)


def batch_before_start(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.batch()


def batch_out_of_order(forge: Forge) -> None:
    forge.started().batch(1)
    forge.batch(3)


def batch_after_the_end(forge: Forge) -> None:
    forge.started().run("run_ended", sent=[], in_flight=[])
    forge.batch()


def ended_before_start(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.run("run_ended", sent=[], in_flight=[])


def scored_while_open(forge: Forge) -> None:
    forge.started().run("scored", scores_sha256="00" * 32)


def run_of_nobody(forge: Forge) -> None:
    forge.base().run("run_aborted", 3, reason="x")


def budget_used(forge: Forge) -> None:
    forge.base(budget=1).run("run_opened")
    forge.run("run_aborted", reason="x", sent=[], in_flight=[])
    forge.run("run_opened", 2)


def budget_raised(forge: Forge) -> None:
    forge.base().contract(CONTRACT, budget=99)


def two_open(forge: Forge) -> None:
    forge.started().run("run_opened", 2)


def unblinds_nothing(forge: Forge) -> None:
    forge.base().add("unblind", {"seq": 1, "salt": "00" * 32, "content": "{}"}, [AUDITOR])


def unblinds_another(forge: Forge) -> None:
    forge.base().add("blind", {"commitment": blind_commitment(b"0" * 32, b"{}").hex()}, [AUDITOR])
    forge.add("unblind", {"seq": 6, "salt": (b"0" * 32).hex(), "content": '{"type":"x"}'}, [AUDITOR])


def committed(forge: Forge, *, nonce: bytes = b"n" * 32, role: str = "buyer") -> None:
    forge.base().run("run_opened")
    commitment = draw_commitment(role, CONTRACT, 1, nonce).hex()
    forge.run("draw_commit", by=BUYER, role="buyer", commitment=commitment)


def reveals_another_nonce(forge: Forge) -> None:
    committed(forge)
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=(b"m" * 32).hex())


def copies_a_commitment(forge: Forge) -> None:
    committed(forge, role="vendor")
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=(b"n" * 32).hex())


def speaks_for_another(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.run("draw_commit", by=VENDOR, role="buyer", commitment="00" * 32)


def commits_after_a_reveal(forge: Forge) -> None:
    committed(forge)
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=(b"n" * 32).hex())
    forge.run("draw_commit", by=VENDOR, role="vendor", commitment="00" * 32)


def reveals_uncommitted(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=(b"n" * 32).hex())


def draws_before_all_revealed(forge: Forge) -> None:
    committed(forge)
    forge.draw(method="commit_reveal")


def draws_twice(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.draw()
    forge.draw()


def starts_undrawn(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.start()


def seed_chosen(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.draw(seed="00" * 32)


def at_size_of_the_past(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.draw(at_size=2)


def starts_another_sample(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.draw()
    forge.start(sample_sha256="00" * 32)


def beacon_malformed(forge: Forge) -> None:
    forge.base().run("run_opened")
    forge.draw(beacon={"randomness": "xx"})


def item_beyond_the_bank(forge: Forge) -> None:
    forge.started().batch(items=[12])


FORGERIES = {
    "SLV-K010": [bank_unknown, bank_twice],
    "SLV-K020": [
        not_json,
        duplicate_key,
        spaces,
        unknown_type,
        other_version,
        extra_field,
        too_long,
        bad_time,
        fractional_time,
        true_offset,
        no_signature,
        same_key_twice,
        missing_data,
        items_not_ascending,
    ],
    "SLV-K021": [seq_skipped, other_prev, clock_back, line_removed],
    "SLV-K022": [other_signature, new_key_does_not_own_itself],
    "SLV-K023": [
        actor_is_another,
        unknown_key,
        wrong_role,
        too_many_signers,
        delivery_by_one_side,
        key_expired,
        key_not_yet_valid,
        key_revoked,
        key_added_twice,
        key_without_possession,
        key_id_of_another,
        speaks_for_another,
        genesis_by_a_stranger,
    ],
    "SLV-K034": [genesis_absent, genesis_other_origin, genesis_other_key, genesis_constant_prev, genesis_again],
    "SLV-K040": [
        contract_unregistered,
        number_chosen,
        started_twice,
        batch_before_start,
        batch_out_of_order,
        batch_after_the_end,
        ended_before_start,
        scored_while_open,
        run_of_nobody,
    ],
    "SLV-K041": [budget_used, budget_raised],
    "SLV-K043": [unblinds_nothing, unblinds_another],
    "SLV-K045": [two_open],
    "SLV-K051": [reveals_another_nonce, copies_a_commitment],
    "SLV-K052": [
        commits_after_a_reveal,
        reveals_uncommitted,
        draws_before_all_revealed,
        draws_twice,
        starts_undrawn,
    ],
    "SLV-K053": [seed_chosen, at_size_of_the_past, starts_another_sample],
    "SLV-K055": [beacon_malformed],
    "SLV-K061": [item_beyond_the_bank],
}


@pytest.mark.parametrize(
    ("code", "tamper"), [pytest.param(c, t, id=f"{c}-{t.__name__}") for c, ts in FORGERIES.items() for t in ts]
)
def test_forgery(code: str, tamper: Tamper) -> None:
    forge = Forge()
    tamper(forge)
    found, exit_code = refusal(forge)
    assert found == code
    assert exit_code == (5 if code == "SLV-K010" else 4)


def test_the_last_torn_line_is_refused() -> None:
    with pytest.raises(CustodyError, match="SLV-K020"):
        split_lines(b"".join(line + b"\n" for line in Forge().base().lines)[:-1])


def test_an_empty_ledger() -> None:
    with pytest.raises(CustodyError, match="SLV-K034"):
        read_ledger(b"")
    with pytest.raises(CustodyError, match="SLV-K025"):
        verify_ledger([], None, Expected(3, b"0" * 32))


def test_forks_and_cuts_against_an_expected_checkpoint() -> None:
    honest, fork = Forge().base(), Forge().base()
    honest.add("incident", {"what": "one"}, [LOG])
    fork.add("incident", {"what": "other"}, [LOG])
    view = verify_ledger(honest.lines, honest.trust, Expected(7, _root(honest)))
    assert view.size == 7
    assert refusal(fork, Expected(7, _root(honest))) == ("SLV-K026", 4)
    honest.lines.pop()
    assert refusal(honest, Expected(7, _root(fork))) == ("SLV-K025", 4)
    with pytest.raises(CustodyError) as caught:
        verify_ledger(honest.lines, honest.trust, None)
    assert (caught.value.code, caught.value.exit_code) == ("SLV-K024", 3)


def _root(forge: Forge) -> bytes:
    return read_ledger(b"".join(line + b"\n" for line in forge.lines)).root


def test_commit_and_reveal_of_two_parties_and_a_refusal() -> None:
    forge = Forge().base()
    forge.run("run_opened")
    nonces = {"buyer": b"b" * 32, "vendor": b"v" * 32}
    for role, key in (("buyer", BUYER), ("vendor", VENDOR)):
        commitment = draw_commitment(role, CONTRACT, 1, nonces[role]).hex()
        forge.run("draw_commit", by=key, role=role, commitment=commitment)
    forge.run("draw_reveal", by=BUYER, role="buyer", nonce=nonces["buyer"].hex())
    forge.run("draw_defaulted", by=LOG, role="vendor", deadline="2026-03-05T12:00:00Z")
    forge.draw(method="commit_reveal", nonces={"buyer": nonces["buyer"]})
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines))
    assert view.run(CONTRACT, 1).draw is not None


def test_a_blind_entry_must_be_opened() -> None:
    forge = Forge().base()
    content = '{"data":{},"type":"heartbeat"}'
    forge.add("blind", {"commitment": blind_commitment(b"0" * 32, content.encode()).hex()}, [AUDITOR])
    with pytest.raises(CustodyError, match="SLV-K042"):
        check_blinds_opened(read_ledger(b"".join(line + b"\n" for line in forge.lines)))
    forge.add("unblind", {"seq": 6, "salt": (b"0" * 32).hex(), "content": content}, [AUDITOR])
    check_blinds_opened(read_ledger(b"".join(line + b"\n" for line in forge.lines)))


def test_a_change_check_uses_no_budget_and_decides_nothing() -> None:
    forge = Forge().base(budget=1)
    forge.run("run_opened", purpose="change_check", candidate={"version": "2", "accepted_echoes": ["2"]})
    forge.run("run_aborted", reason="x", sent=[], in_flight=[])
    forge.run("run_opened", 2)
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines))
    assert [run.purpose for run in view.runs(CONTRACT)] == ["change_check", None]
    assert view.deciding_run(CONTRACT) is None


def test_a_revocation_takes_down_what_was_not_anchored_before_it() -> None:
    forge = Forge().base()
    forge.run("run_opened")
    forge.add("key_revoked", {"key_id": AUDITOR.id, "from": "2026-03-02T12:07:00Z", "reason": "stolen"}, [LOG])
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines))
    assert view.tainted() == (6,)
    assert view.tainted([(7, "2026-03-02T12:06:30Z")]) == ()
    assert view.tainted([(6, "2026-03-02T12:06:30Z")]) == (6,)
    assert view.tainted([(7, "2026-03-02T12:07:00Z")]) == (6,)


def test_a_single_changed_byte_never_passes() -> None:
    forge = Forge().started()
    expected = Expected(len(forge.lines), _root(forge))
    data = b"\n".join(forge.lines)
    for place in range(0, len(data), 37):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(CustodyError):
            verify_ledger(changed.split(b"\n"), forge.trust, expected)


def test_the_signature_covers_every_field_but_itself() -> None:
    tree = dict(loads_object(Forge().base().lines[-1]))
    message = signed_bytes(tree)
    assert message.startswith(b"slaverify/entry/v1\n{")
    for key in tree:
        if key != "sigs":
            assert signed_bytes(tree | {key: "x"}) != message
    assert sha256_hex(message) != sha256_hex(jcs(tree))
