"""No byte of a drawn item leaves without a permit, and a permit comes from the ledger alone."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from slaverify.custody import RunPermit, StartEvidence, authorise, check_not_early
from slaverify.custody.append import Tally, abort_run, covering, open_run, record_incident, register_contract
from slaverify.custody.note import cosign
from slaverify.custody.shapes import read_time
from slaverify.errors import CustodyError
from tests.custody.forge import BUYER, VENDOR
from tests.custody.world import CONTRACT, Authority, World, other_terms


def code(world: World, evidence: StartEvidence, terms: object = None, **options: object) -> tuple[str, int]:
    with pytest.raises(CustodyError) as caught:
        authorise(world.ledger().view, terms or world.terms, 1, evidence, now=world.clock(), **options)
    return caught.value.code, caught.value.exit_code


def test_a_timestamped_start_gives_a_permit(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    world.started(ledger)
    point = ledger.checkpoint(world.custodian, authority)
    permit = authorise(ledger.view, world.terms, 1, point.evidence, now=world.clock(), timestamps=authority)
    assert permit.anchors == ("timestamp",)
    assert permit.checkpoint_root == ledger.root.hex()
    assert permit.anchored_at is not None
    assert permit.not_before == permit.anchored_at - timedelta(seconds=1)
    check_not_early(permit, permit.not_before)
    with pytest.raises(CustodyError, match="SLV-K044") as caught:
        check_not_early(permit, permit.not_before - timedelta(milliseconds=1))
    assert caught.value.exit_code == 3


def test_a_permit_cannot_be_made_otherwise(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    world.started(ledger)
    point = ledger.checkpoint(world.custodian, authority)
    permit = authorise(ledger.view, world.terms, 1, point.evidence, now=world.clock(), timestamps=authority)
    fields = {field.name: getattr(permit, field.name) for field in dataclasses.fields(permit)}
    for grant in (None, object(), True):
        with pytest.raises(TypeError):
            RunPermit(**fields, grant=grant)
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(permit, run=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        permit.run = 2


def test_what_is_not_on_record_or_not_anchored_is_refused(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    early = ledger.checkpoint(world.custodian, authority)
    assert code(world, early.evidence, timestamps=authority) == ("SLV-K040", 5)
    register_contract(ledger, world.custodian, world.terms)
    open_run(ledger, world.auditor, world.terms)
    assert code(world, ledger.checkpoint(world.custodian, authority).evidence) == ("SLV-K040", 5)
    abort_run(ledger, world.auditor, CONTRACT, 1, Tally("otra vez"))


def test_a_checkpoint_older_than_the_start(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    early = ledger.checkpoint(world.custodian, authority)
    world.started(ledger)
    assert code(world, early.evidence, timestamps=authority) == ("SLV-K040", 5)
    assert covering(world.bank_folder, ledger.view.size - 1) is None
    record_incident(ledger, world.custodian, what="después")
    later = ledger.checkpoint(world.custodian, authority)
    permit = authorise(ledger.view, world.terms, 1, later.evidence, now=world.clock(), timestamps=authority)
    assert permit.checkpoint_size == permit.started_seq + 2


def test_tokens_that_are_missing_or_of_something_else(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    world.started(ledger)
    point = ledger.checkpoint(world.custodian, authority)
    good = point.evidence
    assert code(world, dataclasses.replace(good, token=None), timestamps=authority) == ("SLV-K040", 5)
    assert code(world, good) == ("SLV-K040", 5)
    # A token over the whole note instead of its body would break when a cosignature is added.
    over_note = dataclasses.replace(good, token=authority.stamp(point.data))
    assert code(world, over_note, timestamps=authority) == ("SLV-K031", 4)
    no_roots = other_terms(world, CONTRACT, report__signature__tsa_roots=[])
    assert code(world, good, no_roots, timestamps=authority) == ("SLV-K031", 4)


def test_a_checkpoint_of_another_history_or_signer(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    world.started(ledger)
    good = ledger.checkpoint(world.custodian, authority).evidence
    changed = dataclasses.replace(good, checkpoint=good.checkpoint.replace(b"\n7\n", b"\n8\n"))
    assert code(world, changed, timestamps=authority) == ("SLV-K028", 4)
    from slaverify.custody.note import sign_checkpoint

    fork = sign_checkpoint(world.terms.origin, 7, b"0" * 32, world.custodian)
    forked = StartEvidence(fork, authority.stamp(fork.partition(b"\n\n")[0] + b"\n"))
    assert code(world, forked, timestamps=authority) == ("SLV-K026", 4)
    longer = sign_checkpoint(world.terms.origin, 99, b"0" * 32, world.custodian)
    assert code(world, StartEvidence(longer, None), timestamps=authority) == ("SLV-K025", 4)


def test_a_run_that_is_over_gives_no_permit_but_can_be_verified(world: World) -> None:
    ledger, authority = world.ledger(), Authority(world.clock)
    world.started(ledger)
    evidence = ledger.checkpoint(world.custodian, authority).evidence
    abort_run(ledger, world.auditor, CONTRACT, 1, Tally("x"))
    assert code(world, evidence, timestamps=authority) == ("SLV-K040", 5)
    permit = authorise(ledger.view, world.terms, 1, evidence, now=world.clock(), timestamps=authority, over=True)
    assert permit.run == 1
    with pytest.raises(CustodyError) as caught:
        authorise(ledger.view, world.terms, 2, evidence, now=world.clock(), timestamps=authority, over=True)
    assert (caught.value.code, caught.value.exit_code) == ("SLV-K040", 4)


def test_a_self_check_needs_no_anchor(world: World) -> None:
    terms = other_terms(world, CONTRACT, contract__purpose="self_check")
    ledger = world.ledger()
    world.started(ledger, terms)
    point = ledger.checkpoint(world.custodian)
    permit = authorise(ledger.view, terms, 1, point.evidence, now=world.clock())
    assert permit.anchors == () and permit.anchored_at is None
    assert permit.not_before == read_time(ledger.view.run(CONTRACT, 1).started.time)


WITNESSES = [
    {"name": "buyer.example/w", "role": "buyer", "vkey": BUYER.vkey("buyer.example/w", 4)},
    {"name": "vendor.example/w", "role": "vendor", "vkey": VENDOR.vkey("vendor.example/w", 4)},
]


def cosigned(data: bytes, body: bytes, *signers: tuple[str, object, datetime]) -> bytes:
    return data + b"".join(cosign(body, name, key, at).encode() for name, key, at in signers)


def test_witnesses_anchor_a_start(world: World) -> None:
    changes = {"ledger__witnesses": WITNESSES, "ledger__quorum": 2, "ledger__start_anchor": "witness"}
    terms = other_terms(world, CONTRACT, **changes)
    ledger = world.ledger()
    world.started(ledger, terms)
    point = ledger.checkpoint(world.custodian)
    at = world.clock()
    one = cosigned(point.data, point.body, ("buyer.example/w", BUYER, at))
    assert code(world, StartEvidence(one), terms) == ("SLV-K029", 4)
    late = at + timedelta(seconds=9)
    both = cosigned(one, point.body, ("vendor.example/w", VENDOR, late))
    permit = authorise(ledger.view, terms, 1, StartEvidence(both), now=late)
    assert permit.anchors == ("cosignature",) and permit.anchored_at == permit.not_before == late
    ahead = cosigned(one, point.body, ("vendor.example/w", VENDOR, late + timedelta(seconds=400)))
    assert code(world, StartEvidence(ahead), terms) == ("SLV-K029", 4)


def test_the_same_witness_under_two_names_counts_once(world: World) -> None:
    twice = [WITNESSES[0], {"name": "other.example/w", "role": "buyer", "vkey": BUYER.vkey("other.example/w", 4)}]
    changes = {"ledger__witnesses": twice, "ledger__quorum": 2, "ledger__start_anchor": "witness"}
    terms = other_terms(world, CONTRACT, **changes)
    ledger = world.ledger()
    world.started(ledger, terms)
    point, at = ledger.checkpoint(world.custodian), world.clock()
    data = cosigned(point.data, point.body, ("buyer.example/w", BUYER, at), ("other.example/w", BUYER, at))
    assert code(world, StartEvidence(data), terms) == ("SLV-K029", 4)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed: not checked here")
def test_a_witness_with_an_ssh_key_anchors_without_telling_a_time(world: World, tmp_path: Path) -> None:
    key = tmp_path / "w"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "w", "-f", key], check=True)
    witness = {"name": "Servicio Comprador", "role": "buyer", "ssh": (tmp_path / "w.pub").read_text().strip()}
    changes = {"ledger__witnesses": [witness], "ledger__quorum": 1, "ledger__start_anchor": "witness"}
    terms = other_terms(world, CONTRACT, **changes)
    ledger = world.ledger()
    world.started(ledger, terms)
    point = ledger.checkpoint(world.custodian)
    assert code(world, point.evidence, terms) == ("SLV-K029", 4)
    body = tmp_path / "body"
    body.write_bytes(point.body)
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-n", "slaverify-checkpoint", "-f", key, body]
    subprocess.run(sign, check=True, stderr=subprocess.DEVNULL)
    (tmp_path / "body.sig").rename(point.path.with_name(f"{point.path.name}.servicio-comprador.sshsig"))
    signed = covering(world.bank_folder, point.size - 1)
    assert signed is not None and set(signed.ssh_signatures) == {"servicio-comprador"}
    permit = authorise(ledger.view, terms, 1, signed.evidence, now=world.clock())
    assert permit.anchors == ("sshsig",) and permit.anchored_at is None
    other = dataclasses.replace(signed.evidence, ssh_signatures={"servicio-comprador": "x"})
    assert code(world, other, terms) == ("SLV-K030", 4)
