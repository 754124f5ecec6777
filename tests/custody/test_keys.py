"""Private keys: made on demand, refused when missing or readable by others, usable with public tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from slaverify.custody.keys import (
    KeyStore,
    age_recipient,
    default_folder,
    export_demo_keys,
    install_demo_keys,
    read_age_identity,
)
from slaverify.errors import CustodyError
from tests.custody.world import TestClock

CLOCK = TestClock()


def make(folder: Path, *, demo: bool = False) -> KeyStore:
    store = KeyStore.create(folder, demo=demo)
    store.make("auditor", organisation="Auditora Ñuñoa Ltda.", roles=["auditor"], now=CLOCK())
    return store


def test_keys_come_back_as_they_were_made(tmp_path: Path) -> None:
    store = make(tmp_path / "keys")
    key = store.get("auditor")
    assert (key.name, key.roles, key.organisation) == ("auditor", ("auditor",), "Auditora Ñuñoa Ltda.")
    assert key.key_name == "auditora-nunoa-ltda/auditor"
    assert key.vkey.startswith("auditora-nunoa-ltda/auditor+")
    assert store.names() == ("auditor",)
    assert store.get_or_make("auditor", organisation="x", roles=["vendor"], now=CLOCK()).key_id == key.key_id
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.make("auditor", organisation="x", roles=["auditor"], now=CLOCK())
    for path in (tmp_path / "keys").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


def test_no_secret_in_the_repr(tmp_path: Path) -> None:
    key = make(tmp_path / "keys").get("auditor")
    shown = repr(key)
    assert key.age_identity not in shown and "PRIVATE" not in shown and "private" not in shown


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_files_that_others_can_read_are_refused(tmp_path: Path, mode: int) -> None:
    for kind in ("ed25519.pem", "age", "json"):
        store = make(tmp_path / kind)
        (tmp_path / kind / f"auditor.{kind}").chmod(mode)
        with pytest.raises(CustodyError, match="SLV-K071") as caught:
            store.get("auditor")
        assert caught.value.exit_code == 5


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "keys")
    (tmp_path / "keys").chmod(0o750)
    for opener in (KeyStore.open, KeyStore.create):
        with pytest.raises(CustodyError, match="SLV-K071"):
            opener(tmp_path / "keys")


def test_links_and_missing_things_are_refused(tmp_path: Path) -> None:
    store = make(tmp_path / "keys")
    (tmp_path / "keys" / "auditor.age").rename(tmp_path / "elsewhere")
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.get("auditor")
    (tmp_path / "keys" / "auditor.age").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.get("auditor")
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.get("custodian")
    with pytest.raises(CustodyError, match="SLV-K071"):
        KeyStore.open(tmp_path / "nowhere")
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.get("../auditor")


@pytest.mark.parametrize(("kind", "data"), [("ed25519.pem", b"x"), ("age", b"# nothing\n"), ("json", b"{}")])
def test_malformed_files_are_refused(tmp_path: Path, kind: str, data: bytes) -> None:
    store = make(tmp_path / "keys")
    (tmp_path / "keys" / f"auditor.{kind}").write_bytes(data)
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.get("auditor")


def test_a_key_of_another_algorithm_is_refused(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    store = make(tmp_path / "keys")
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "keys" / "auditor.ed25519.pem").write_bytes(pem)
    with pytest.raises(CustodyError, match="SLV-K071"):
        store.get("auditor")


def test_demo_keys_say_so_and_become_private_when_installed(tmp_path: Path) -> None:
    store = make(tmp_path / "keys", demo=True)
    export_demo_keys(store, tmp_path / "published")
    names = {path.name for path in (tmp_path / "published").iterdir()}
    assert names == {"demo-auditor.ed25519.pem", "demo-auditor.age", "demo-auditor.json"}
    for path in (tmp_path / "published").iterdir():
        path.chmod(0o644)
    installed = install_demo_keys(tmp_path / "published", tmp_path / "mine")
    assert installed.get("auditor").key_id == store.get("auditor").key_id
    assert KeyStore.open(tmp_path / "mine").names() == ("demo-auditor",)
    with pytest.raises(CustodyError, match="SLV-K071"):
        install_demo_keys(tmp_path / "nothing", tmp_path / "mine")


def test_where_keys_live(tmp_path: Path) -> None:
    assert default_folder({"SLAVERIFY_KEYS": "/k"}, tmp_path) == Path("/k")
    assert default_folder({"XDG_DATA_HOME": "/d"}, tmp_path) == Path("/d/slaverify/keys")
    assert default_folder({}, tmp_path) == tmp_path / ".local/share/slaverify/keys"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed: its check is not made here")
def test_openssl_verifies_our_signature(tmp_path: Path) -> None:
    store = make(tmp_path / "keys")
    pem = tmp_path / "keys" / "auditor.ed25519.pem"
    (tmp_path / "m").write_bytes(b"message")
    (tmp_path / "s").write_bytes(store.get("auditor").sign(b"message"))
    public = tmp_path / "p.pem"
    subprocess.run(["openssl", "pkey", "-in", pem, "-pubout", "-out", public], check=True)
    check = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin", "-inkey", public, "-in", tmp_path / "m"]
    subprocess.run([*check, "-sigfile", tmp_path / "s"], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.skipif(shutil.which("age-keygen") is None, reason="age is not installed: its check is not made here")
def test_age_keygen_and_we_read_each_other(tmp_path: Path) -> None:
    store = make(tmp_path / "keys")
    path = store.identity_path("auditor")
    theirs = subprocess.run(["age-keygen", "-y", path], check=True, capture_output=True, text=True).stdout.strip()
    assert theirs == store.get("auditor").age_recipient
    made = tmp_path / "made.age"
    subprocess.run(["age-keygen", "-o", made], check=True, capture_output=True)
    assert made.stat().st_mode & 0o077 == 0 or os.name != "posix"
    public = subprocess.run(["age-keygen", "-y", made], check=True, capture_output=True, text=True).stdout.strip()
    assert age_recipient(read_age_identity(made)) == public
