"""Sealing and opening: refusals, tampered folders, public tools, and the weight of a large bank."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.canonical import jcs, sha256_hex
from slaverify.custody import Part, parse_index, salt
from slaverify.custody.agefile import decrypted, encrypt
from slaverify.custody.keys import KeyStore
from slaverify.custody.manifest import Recipient
from slaverify.custody.package import MAX_PACKAGE
from slaverify.custody.seal import SealItem, SealTerms, seal
from slaverify.custody.stanzas import recipient_count
from slaverify.custody.vault import check_items, load_bank, open_bank
from slaverify.errors import CustodyError
from tests.custody.world import SCHEMA, World, items

AGE = pytest.mark.skipif(shutil.which("age") is None, reason="age is not installed: its check is not made here")


def terms(**changes: object) -> SealTerms:
    return replace(SealTerms("bank-two", "Banco", SCHEMA, "Autora"), **changes)


def sealed(world: World, given: Iterable[SealItem], **changes: object) -> object:
    return seal(given, world.folder / "custodia", terms(**changes), custodian=world.custodian, clock=world.clock)


def test_what_a_seal_leaves(world: World) -> None:
    folder = world.bank_folder
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {
        "manifest.json",
        "bank.checkpoint",
        "index.jsonl",
        "bank.age",
        "ledger.jsonl",
        "checkpoints/00000003.checkpoint",
        "verify_item.sh",
    }
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]
    bank = world.bank()
    assert bank.digest == "sha256:" + sha256_hex((folder / "manifest.json").read_bytes()) == world.sealed.bank_digest
    assert not (folder / "manifest.json").read_bytes().endswith(b"\n")
    assert bank.manifest.strata == {"direct": 20, "trap": 8}
    assert [one.role for one in bank.manifest.recipients] == ["custodian", "recovery"]
    assert [entry.type for entry in world.ledger().view] == ["genesis", "key_added", "bank_sealed"]


def test_the_public_half_tells_nothing_of_the_items(world: World) -> None:
    public = b"".join(path.read_bytes() for path in world.bank_folder.rglob("*") if path.is_file())
    assert "artículo".encode() not in public and b'"q-1"' not in public and b'"t-3"' not in public
    ids = [leaf.id for leaf in world.bank().index.leaves]
    assert all(one.startswith("it-") and len(one) == 15 for one in ids)
    sources = {sealed_id: source for source, sealed_id in world.sealed.sealed_ids.items()}
    assert [sources[one] for one in ids] != [f"q-{n}" for n in range(20)] + [f"t-{n}" for n in range(8)]


def test_items_come_back_as_they_were_given(world: World) -> None:
    bank = world.bank()
    by_source = {one.source_id: one for one in [*items(20), *items(8, stratum="trap", prefix="t")]}
    with open_bank(world.bank_folder, bank, world.custodian.age_identity, world.private) as opened:
        found = opened.items(leaf.id for leaf in bank.index.leaves)
        seed = opened.header.seed
        with pytest.raises(CustodyError, match="SLV-K054"):
            opened.items(["it-000000000000"])
    assert [one.i for one in found] == list(range(28))
    sources = {sealed_id: source for source, sealed_id in world.sealed.sealed_ids.items()}
    for one in found:
        given = by_source[sources[one.id]]
        assert (one.query, one.reference, one.stratum) == (jcs(given.query), jcs(given.reference), given.stratum)
        assert one.leaf(seed) == bank.index.by_id[one.id]
    assert len({salt(seed, i, part) for i in range(28) for part in Part}) == 56
    assert check_items(world.bank_folder, bank, world.store.identity("recovery"), world.private) == 28
    assert list(world.private.iterdir()) == []


def item(source: str = "a", **changes: object) -> SealItem:
    return replace(SealItem(source, "direct", {"query": "¿?"}, {"reference": {}}), **changes)


BAD_SETS: dict[str, Callable[[], tuple[list[SealItem], dict]]] = {
    "SLV-K001-nfd": lambda: ([item(query={"query": "e\u0301"})], {}),
    "SLV-K001-nfd_key": lambda: ([item(query={"e\u0301": "x"})], {}),
    "SLV-K001-float": lambda: ([item(reference={"x": 0.5})], {}),
    "SLV-K001-large": lambda: ([item(reference={"x": 2**53})], {}),
    "SLV-K001-surrogate": lambda: ([item(query={"query": "\ud800"})], {}),
    "SLV-K001-deep": lambda: ([item(query={"query": nested(70)})], {}),
    "SLV-K002-twice": lambda: ([item(), item()], {}),
    "SLV-K002-bank_id": lambda: ([item()], {"bank_id": "Banco Uno"}),
    "SLV-K002-there_already": lambda: ([item()], {"bank_id": "bank-one"}),
    "SLV-K003-of_nothing": lambda: ([item(twin_of="b")], {}),
    "SLV-K003-of_itself": lambda: ([item(twin_of="a")], {}),
    "SLV-K003-of_a_twin": lambda: ([item(), item("b", twin_of="a"), item("c", twin_of="b")], {}),
    "SLV-K003-other_stratum": lambda: ([item(), item("b", twin_of="a", stratum="trap")], {}),
    "SLV-K003-other_cluster": lambda: ([item(cluster="1"), item("b", twin_of="a", cluster="2")], {}),
    "SLV-K004-empty": lambda: ([], {}),
    "SLV-K004-item_cap": lambda: ([item(query={"query": "x" * (1 << 20)})], {}),
    "SLV-K004-attachment": lambda: ([item()], {"attachments": {"00" * 32: b"x"}}),
    "SLV-K005-vendor": lambda: ([item()], {"recipients": [Recipient("vendor", "age1x")]}),
    "SLV-K005-auditor": lambda: ([item()], {"recipients": [Recipient("auditor", "age1x")]}),
    "SLV-K005-malformed": lambda: ([item()], {"recipients": [Recipient("recovery", "age1x")]}),
}


def nested(depth: int) -> object:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("case", BAD_SETS)
def test_sets_that_are_refused(world: World, case: str) -> None:
    given, changes = BAD_SETS[case]()
    with pytest.raises(CustodyError) as caught:
        sealed(world, given, **changes)
    assert (caught.value.code, caught.value.exit_code) == (case[:8], 2)
    assert {path.name for path in (world.folder / "custodia").iterdir()} == {"bank-one"}


def test_newline_before_an_accent_is_nfc(world: World) -> None:
    sealed(world, [item(query={"query": 'a\n\u0301b "\u0338 \\\u0301'})])


def test_twins_and_attachments(world: World) -> None:
    content = os.urandom(3000)
    bank = sealed(
        world,
        [item("a", cluster="1"), item("b", cluster="1", twin_of="a")],
        attachments={sha256_hex(content): content},
    )
    found = load_bank(bank.folder)
    twins = [leaf for leaf in found.index.leaves if leaf.twin_of]
    assert [leaf.twin_of for leaf in twins] == [bank.sealed_ids["a"]]
    assert check_items(bank.folder, found, world.custodian.age_identity, world.private) == 2


def edit_manifest(world: World, **changes: object) -> None:
    path = world.bank_folder / "manifest.json"
    path.write_bytes(jcs(json.loads(path.read_bytes()) | changes))


def rewrite(world: World, name: str, change: Callable[[bytes], bytes]) -> None:
    path = world.bank_folder / name
    path.write_bytes(change(path.read_bytes()))


def clear_bytes(world: World) -> bytes:
    path, identity = world.bank_folder / "bank.age", world.custodian.age_identity
    with decrypted(path, identity, world.private, MAX_PACKAGE) as (clear, _):
        return clear.read()


def extra_recipient(world: World) -> None:
    """The whole bank encrypted once more, to one recipient too many, and a manifest that hides it."""
    stranger = KeyStore.create(world.folder / "stranger").get_or_make_identity("x")
    from slaverify.custody.keys import age_recipient

    bank = load_bank(world.bank_folder)
    with decrypted(world.bank_folder / "bank.age", world.custodian.age_identity, world.private, MAX_PACKAGE) as (
        clear,
        _,
    ):
        plain = clear.read()
    ages = [*(one.age for one in bank.manifest.recipients), age_recipient(stranger)]
    with (world.bank_folder / "bank.age").open("wb") as stream:
        _, cipher = encrypt([plain], stream, ages, MAX_PACKAGE)
    edit_manifest(world, ciphertext_sha256=cipher)


def swap_leaves(data: bytes) -> bytes:
    one, other, *rest = data.splitlines(keepends=True)
    return b"".join([other, one, *rest])


PUBLIC_TAMPER: dict[str, Callable[[World], object]] = {
    "SLV-K010-final_lf": lambda w: rewrite(w, "manifest.json", lambda d: d + b"\n"),
    "SLV-K010-name": lambda w: edit_manifest(w, name="otro"),
    "SLV-K011-flipped": lambda w: rewrite(w, "bank.age", lambda d: d[:-1] + bytes([d[-1] ^ 1])),
    "SLV-K011-absent": lambda w: (w.bank_folder / "bank.age").unlink(),
    "SLV-K013-leaf": lambda w: rewrite(w, "index.jsonl", lambda d: d.replace(b'"trap"', b'"trip"', 1)),
    "SLV-K013-checkpoint": lambda w: other_checkpoint(w),
    "SLV-K018-order": lambda w: rewrite(w, "index.jsonl", swap_leaves),
    "SLV-K018-no_lf": lambda w: rewrite(w, "index.jsonl", lambda d: d[:-1]),
    "SLV-K018-space": lambda w: rewrite(w, "index.jsonl", lambda d: d.replace(b'","', b'", "', 1)),
    "SLV-K027-form": lambda w: rewrite(w, "bank.checkpoint", lambda d: d.replace(b"\n28\n", b"\n028\n")),
    "SLV-K028-signature": lambda w: rewrite(w, "bank.checkpoint", lambda d: d.replace(b"\n28\n", b"\n29\n")),
}


def other_checkpoint(world: World) -> None:
    from slaverify.custody import bank_origin
    from slaverify.custody.note import sign_checkpoint

    data = sign_checkpoint(bank_origin("Archivo Neutral", "bank-one"), 28, b"0" * 32, world.custodian)
    (world.bank_folder / "bank.checkpoint").write_bytes(data)


@pytest.mark.parametrize("case", PUBLIC_TAMPER)
def test_folders_that_are_refused(world: World, case: str) -> None:
    world.bank()
    PUBLIC_TAMPER[case](world)
    with pytest.raises(CustodyError) as caught:
        world.bank()
    assert caught.value.code == case[:8]
    assert caught.value.exit_code == (4 if case[5:8] in ("027", "028") else 5)


def test_a_hidden_recipient_is_counted(world: World) -> None:
    extra_recipient(world)
    with pytest.raises(CustodyError, match="SLV-K014"):
        load_bank(world.bank_folder)
    with pytest.raises(CustodyError, match="SLV-K010"):
        world.bank()


@pytest.mark.parametrize(
    ("head", "count"),
    [
        (b"-> X25519 abc\nbody\n-> xyz-grease a b\nbody\n--- mac\n", 1),
        (b"-> X25519 a\nb\n-> X25519 a\nb\n--- mac\n", 2),
        (b"-> X25519 a\nb\n-> scrypt a 18\nb\n--- mac\n", None),
        (b"-> ssh-ed25519 a b\nb\n--- mac\n", None),
        (b"-> X25519 a\nb\n", None),
    ],
)
def test_stanzas(head: bytes, count: int | None) -> None:
    data = b"age-encryption.org/v1\n" + head
    if count is None:
        with pytest.raises(CustodyError, match="SLV-K014"):
            recipient_count(data)
    else:
        assert recipient_count(data) == count
    with pytest.raises(CustodyError, match="SLV-K014"):
        recipient_count(b"age-encryption.org/v2\n" + head)


def resealed(world: World, change: Callable[[bytes], bytes]) -> None:
    """Encrypt a changed package to the same recipients, with a manifest that owns up to it."""
    bank = load_bank(world.bank_folder)
    with decrypted(world.bank_folder / "bank.age", world.custodian.age_identity, world.private, MAX_PACKAGE) as (
        clear,
        _,
    ):
        plain = change(clear.read())
    with (world.bank_folder / "bank.age").open("wb") as stream:
        ages = [one.age for one in bank.manifest.recipients]
        package, cipher = encrypt([plain], stream, ages, MAX_PACKAGE)
    edit_manifest(world, ciphertext_sha256=cipher, package_sha256=package)


def swap_items(data: bytes) -> bytes:
    """Exchange the contents of two items and keep their numbers and ids."""
    lines = data.splitlines()
    one, other = json.loads(lines[1]), json.loads(lines[2])
    one["query"], other["query"] = other["query"], one["query"]
    lines[1:3] = [jcs(one), jcs(other)]
    return b"\n".join(lines) + b"\n"


def new_seed(data: bytes) -> bytes:
    head, _, rest = data.partition(b"\n")
    return jcs(json.loads(head) | {"seed": "00" * 32}) + b"\n" + rest


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("SLV-K016", swap_items),
        ("SLV-K016", new_seed),
        ("SLV-K012", lambda data: data.replace(b'"v":1', b'"v":2', 1)),
        ("SLV-K012", lambda data: data.replace(b'"n":28', b'"n":27', 1)),
        ("SLV-K012", lambda data: data.replace(b',"query":', b', "query":', 1)),
        ("SLV-K012", lambda data: b"\n".join(data.splitlines()[:-1]) + b"\n"),
        ("SLV-K012", lambda data: data + b'{"attachment":"' + b"0" * 64 + b'","base64":"AA=="}\n'),
        ("SLV-K012", lambda data: data + b"{}\n"),
    ],
)
def test_packages_that_are_refused(world: World, code: str, change: Callable[[bytes], bytes]) -> None:
    resealed(world, change)
    bank = load_bank(world.bank_folder)
    with pytest.raises(CustodyError, match=code):
        check_items(world.bank_folder, bank, world.custodian.age_identity, world.private)
    assert list(world.private.iterdir()) == []


def test_a_package_that_is_not_the_manifests(world: World) -> None:
    bank = world.bank()
    resealed(world, lambda data: data + b"\n")
    with pytest.raises(CustodyError, match="SLV-K012"):
        check_items(world.bank_folder, bank, world.custodian.age_identity, world.private)


@pytest.mark.parametrize("cut", [1, 16, 17, 5000])
def test_nothing_of_a_truncated_stream_is_used(world: World, cut: int) -> None:
    """A stream cut after whole chunks still emits plaintext; it must not reach anybody."""
    big = sealed(world, items(400))
    bank = load_bank(big.folder)
    rewrite_path = big.folder / "bank.age"
    rewrite_path.write_bytes(rewrite_path.read_bytes()[:-cut])
    with pytest.raises(CustodyError, match="SLV-K015") as caught:
        check_items(big.folder, bank, world.custodian.age_identity, world.private)
    assert caught.value.exit_code == 5
    assert list(world.private.iterdir()) == []


def test_another_identity_opens_nothing(world: World) -> None:
    bank = world.bank()
    with pytest.raises(CustodyError, match="SLV-K015"):
        check_items(world.bank_folder, bank, world.auditor.age_identity, world.private)
    with pytest.raises(CustodyError, match="SLV-K071"):
        check_items(world.bank_folder, bank, "AGE-SECRET-KEY-1X", world.private)


def test_more_plaintext_than_allowed_is_given_up(world: World) -> None:
    with (
        pytest.raises(CustodyError, match="SLV-K015"),
        decrypted(world.bank_folder / "bank.age", world.custodian.age_identity, world.private, 100),
    ):
        pass


@AGE
def test_age_opens_our_bank(world: World) -> None:
    identity = world.store.identity_path("recovery")
    done = subprocess.run(
        ["age", "-d", "-i", identity, world.bank_folder / "bank.age"], check=True, capture_output=True
    )
    assert sha256_hex(done.stdout) == world.bank().manifest.package_sha256
    head, first = done.stdout.splitlines()[:2]
    assert json.loads(head)["type"] == "slaverify/bank"
    line = json.loads(first)
    key = salt(bytes.fromhex(json.loads(head)["seed"]), line["i"], Part.QUERY)
    message = b"slaverify/commitment/v1\x00query\x00" + jcs(line["query"])
    if shutil.which("openssl"):
        command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}"]
        printed = subprocess.run(command, input=message, check=True, capture_output=True).stdout.decode().split()[-1]
        assert printed == world.bank().index.leaves[line["i"]].c_query


@AGE
def test_we_open_what_age_encrypts(world: World) -> None:
    path = world.folder / "theirs.age"
    content = os.urandom(200_000)
    command = ["age", "-r", world.custodian.age_recipient, "-o", path]
    subprocess.run(command, input=content, check=True)
    with decrypted(path, world.custodian.age_identity, world.private, 1 << 20) as (clear, digest):
        assert clear.read() == content
    assert digest == hashlib.sha256(content).hexdigest()
    assert recipient_count(path.read_bytes()) == 1


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_names_the_bank_digest(world: World) -> None:
    printed = subprocess.run(
        ["sha256sum", world.bank_folder / "manifest.json"], check=True, capture_output=True, text=True
    ).stdout
    assert "sha256:" + printed.split()[0] == world.sealed.bank_digest


def test_sealing_does_not_hold_the_items(world: World) -> None:
    """Sixty items of half a megabyte go through; what memory holds of them is far below two."""
    given = (SealItem(f"q-{n}", "direct", {"query": "a" * 500_000}, {"reference": {}}) for n in range(60))
    tracemalloc.start()
    try:
        bank = sealed(world, given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (bank.folder / "bank.age").stat().st_size > 30_000_000
    assert peak < 8_000_000


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no list of open files")
def test_items_in_clear_have_no_name_on_the_disk_while_they_are_sealed(world: World) -> None:
    seen: list[str] = []

    def watched() -> Iterator[SealItem]:
        for n in range(3):
            yield SealItem(f"q-{n}", "direct", {"query": "marca-en-claro" * 10_000}, {"reference": {}})
            seen.extend(
                path.name for path in world.folder.rglob("*") if path.is_file() and b"marca" in path.read_bytes()
            )
            links = [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
            assert [one for one in links if one.startswith(str(world.folder)) and one.endswith("(deleted)")]

    sealed(world, watched())
    assert seen == []


def heavy(count: int) -> list[SealItem]:
    text = "texto oficial del artículo " * 28
    return [
        SealItem(
            f"q-{n}",
            "direct",
            {"schema": "item/1", "query": f"¿Qué plazo fija el artículo {n}? " * 8},
            {"schema": "item/1", "source_id": f"q-{n}", "official_text": text, "reference": {"value": str(n)}},
        )
        for n in range(count)
    ]


@pytest.mark.nightly
def test_ten_thousand_items_within_six_seconds(world: World) -> None:
    given = heavy(10_000)
    begin = time.process_time()
    bank = sealed(world, given)
    assert time.process_time() - begin <= 6
    assert (bank.folder / "bank.age").stat().st_size > 12_000_000
    assert len(parse_index((bank.folder / "index.jsonl").read_bytes()).leaves) == 10_000
