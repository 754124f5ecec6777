"""A witness signs only what continues what it signed before, remembers across processes, and reads hostile requests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.custody import UNTIMED, signers, verify_checkpoint
from slaverify.custody.append import record_incident
from slaverify.custody.keys import KeyStore
from slaverify.custody.note import log_policy
from slaverify.custody.witness import parse_request
from slaverify.custody.witnessing import add_signature, last_seen, request_for, sign_request
from slaverify.errors import CustodyError
from tests.custody.forge import BUYER, STRANGER, VENDOR
from tests.custody.world import CONTRACT, Authority, World, other_terms

NAME = "buyer.example/w"


def named(world: World, **more: object) -> object:
    witnesses = [
        {"name": "Compradora", "role": "buyer", "vkey": BUYER.vkey(NAME, 4)},
        {"name": "Proveedora", "role": "vendor", "vkey": VENDOR.vkey("vendor.example/w", 4)},
    ]
    return other_terms(world, CONTRACT, **({"ledger__witnesses": witnesses, "ledger__quorum": 1} | more))


def ask(world: World, old: int) -> bytes:
    ledger = world.ledger()
    return request_for(ledger.view, ledger.checkpoint(world.custodian), old)


def test_a_witness_follows_a_growing_ledger(world: World) -> None:
    policy, folder = log_policy(world.terms.origin, world.terms.vkey), world.folder / "witness"
    sizes = [0]
    for grows in (False, True, False, True):
        if grows:
            record_incident(world.ledger(), world.custodian, what=f"algo {len(sizes)}")
        proven, line = sign_request(ask(world, sizes[-1]), folder, policy, BUYER, NAME, world.clock())
        sizes.append(proven.size)
        assert line.startswith(f"— {NAME} ")
    assert sizes == [0, 3, 4, 4, 5]
    assert last_seen(folder, policy.origin).size == sizes[-1]
    assert folder.stat().st_mode & 0o077 == 0


def test_a_proof_from_elsewhere_is_refused_with_the_number_to_ask_for(world: World) -> None:
    policy, folder = log_policy(world.terms.origin, world.terms.vkey), world.folder / "witness"
    sign_request(ask(world, 0), folder, policy, BUYER, NAME, world.clock())
    record_incident(world.ledger(), world.custodian, what="algo")
    with pytest.raises(CustodyError, match="SLV-K032") as caught:
        sign_request(ask(world, 2), folder, policy, BUYER, NAME, world.clock())
    assert "--old 3" in caught.value.fix.es
    with pytest.raises(CustodyError, match="SLV-K032"):
        request_for(world.ledger().view, world.ledger().checkpoint(world.custodian), 99)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"origin":"x","root":"00","size":1,"type":"slaverify/witness","v":1}'])
def test_a_witness_that_lost_its_memory_does_not_sign(world: World, data: bytes) -> None:
    policy, folder = log_policy(world.terms.origin, world.terms.vkey), world.folder / "witness"
    sign_request(ask(world, 0), folder, policy, BUYER, NAME, world.clock())
    (memory,) = folder.glob("witness-*.json")
    memory.write_bytes(data)
    with pytest.raises(CustodyError, match="SLV-K071"):
        sign_request(ask(world, 0), folder, policy, BUYER, NAME, world.clock())


def test_what_comes_back_is_checked_before_it_is_kept(world: World) -> None:
    terms, authority, at = named(world), Authority(world.clock), world.clock()
    point = world.ledger().checkpoint(world.custodian)
    policy = log_policy(terms.origin, terms.vkey)
    _, line = sign_request(ask(world, 0), world.folder / "w", policy, BUYER, NAME, at)
    _, strange = sign_request(ask(world, 0), world.folder / "s", policy, STRANGER, "stranger/w", at)
    _, posing = sign_request(ask(world, 0), world.folder / "p", policy, STRANGER, NAME, at)

    def add(data: bytes, **options: object) -> object:
        return add_signature(point, data, terms, now=at, timestamps=authority, **options)

    for data, code in (
        (strange.encode(), "K029"),
        (posing.encode(), "K029"),
        (line.encode()[:-1], "K029"),
        (line.encode() * 20, "K029"),
        (b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n", "K030"),
        (b"\x30\x03\x02\x01\x00", "K031"),
        (authority.stamp(b"something else"), "K031"),
        (b"", "K031"),
    ):
        with pytest.raises(CustodyError, match=f"SLV-{code}"):
            add(data)
    assert point.path.read_bytes() == point.data
    assert add(line.encode(), write=False).signed == ()
    assert point.path.read_bytes() == point.data
    added = add(line.encode())
    assert (added.kind, [one.name for one in added.signed]) == ("cosignature", ["Compradora"])
    assert add(authority.stamp(point.body)).kind == "timestamp"
    # The same again changes nothing, and the token still fits: it is over the body alone.
    before = point.path.read_bytes()
    again = world.ledger().checkpoint(world.custodian)
    add_signature(again, line.encode(), terms, now=at, timestamps=authority)
    assert point.path.read_bytes() == before
    assert authority.time(again.body, again.token, terms.tsa_roots)


def test_ssh_keygen_is_a_witness(world: World, tmp_path: Path) -> None:
    key = tmp_path / "k"
    try:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    except FileNotFoundError:
        pytest.skip("ssh-keygen is not installed")
    public = key.with_suffix(".pub").read_text().strip()
    terms = named(world, ledger__witnesses=[{"name": "Notaría Ñuñoa", "role": "witness", "ssh": public}])
    point, body = world.ledger().checkpoint(world.custodian), tmp_path / "body"
    body.write_bytes(point.body)
    sign = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n"]
    subprocess.run([*sign, "slaverify-checkpoint", body], check=True, stderr=subprocess.DEVNULL)
    armour = tmp_path.joinpath("body.sig").read_bytes()
    added = add_signature(point, armour, terms, now=world.clock(), timestamps=Authority(world.clock))
    assert [(one.name, one.kind, one.at) for one in added.signed] == [("Notaría Ñuñoa", "sshsig", None)]
    found = world.ledger().checkpoint(world.custodian)
    proven = verify_checkpoint(found.data, terms.checkpoint_policy(quorum=0), UNTIMED)
    assert len(signers(proven, terms, found.ssh_signatures)) == 1
    tmp_path.joinpath("body.sig").unlink()
    subprocess.run([*sign, "file", body], check=True, stderr=subprocess.DEVNULL)
    with pytest.raises(CustodyError, match="SLV-K030"):
        other = tmp_path.joinpath("body.sig").read_bytes()
        add_signature(point, other, terms, now=world.clock(), timestamps=Authority(world.clock))


@given(st.binary(max_size=300))
@settings(max_examples=80, deadline=None)
def test_arbitrary_requests(data: bytes) -> None:
    try:
        found = parse_request(data)
    except CustodyError as error:
        assert error.code == "SLV-K027"
    else:
        assert found.old >= 0


def test_keys_of_a_role(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    store = KeyStore.create(tmp_path / "k")
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.of_role("auditor")
    one, two = (
        store.make(name, organisation=name, roles=["auditor"], now=datetime(2026, 1, 1, tzinfo=UTC)) for name in "ab"
    )
    assert store.of_role("auditor").key_id == one.key_id
    assert store.of_role("auditor", {two.key_id}).key_id == two.key_id
