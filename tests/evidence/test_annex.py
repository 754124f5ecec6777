"""The sealed annex: who can open it, and that nothing of a broken one is used."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyrage
import pytest

from slaverify.canonical import jsonl
from slaverify.errors import EvidenceError
from slaverify.evidence import Recipient
from slaverify.evidence.annex import INDEX, annex_archive, check_recipients, check_sealed, open_annex, seal_annex

FILES = {
    "references/it-000000000001.json": b"{}",
    INDEX: jsonl([{"nonce": "a" * 64}, {"path": "references/it-000000000001.json"}]),
    "references/it-000000000000.json": b'{"expected":"42"}',
}


def identity() -> tuple[str, str]:
    key = pyrage.x25519.Identity.generate()
    return str(key), str(key.to_public())


AUDITOR, ARBITER, VENDOR = identity(), identity(), identity()
NAMED = {"auditor": AUDITOR[1], "árbitro": ARBITER[1]}


def test_each_recipient_opens_it_and_nobody_else() -> None:
    sealed = seal_annex(FILES, NAMED)
    assert open_annex(sealed.ciphertext, sealed.entry, AUDITOR[0]) == FILES
    assert open_annex(sealed.ciphertext, sealed.entry, ARBITER[0]) == FILES
    check_sealed(sealed.ciphertext, sealed.entry, NAMED)
    with pytest.raises(EvidenceError) as caught:
        open_annex(sealed.ciphertext, sealed.entry, VENDOR[0])
    assert caught.value.code == "SLV-E013"


def test_the_plain_archive_is_deterministic() -> None:
    assert annex_archive(FILES) == annex_archive(dict(reversed(FILES.items())))
    first, second = seal_annex(FILES, NAMED), seal_annex(FILES, NAMED)
    assert first.entry.plaintext_sha256 == second.entry.plaintext_sha256
    assert first.ciphertext != second.ciphertext


def test_age_itself_opens_it(tmp_path: Path) -> None:
    sealed = seal_annex(FILES, NAMED)
    (tmp_path / "annex.age").write_bytes(sealed.ciphertext)
    (tmp_path / "id").write_text(AUDITOR[0] + "\n")
    plain = subprocess.run(
        ["age", "-d", "-i", tmp_path / "id", tmp_path / "annex.age"], check=True, capture_output=True
    ).stdout
    assert plain == annex_archive(FILES)


@pytest.mark.parametrize(
    ("recipients", "vendor"),
    [
        ({}, frozenset()),
        ({"a": AUDITOR[1], "b": AUDITOR[1]}, frozenset()),
        ({"Vendor": VENDOR[1]}, frozenset()),
        ({"ACME  SpA": VENDOR[1]}, frozenset({"Acme SpA"})),
        ({"someone": VENDOR[1]}, frozenset({VENDOR[1]})),
        ({"auditor": "age1nonsense"}, frozenset()),
    ],
)
def test_recipients_that_are_refused(recipients: dict[str, str], vendor: frozenset[str]) -> None:
    with pytest.raises(EvidenceError) as caught:
        seal_annex(FILES, recipients, vendor=vendor)
    assert (caught.value.code, caught.value.exit_code) == ("SLV-E012", 2)


def test_b35_a_truncated_or_altered_annex_gives_nothing() -> None:
    sealed = seal_annex(FILES, NAMED)
    data = sealed.ciphertext
    for broken in (data[:-1], data[:-17], data + b"x", data[:200], data[:-30] + b"\x00" + data[-29:], b""):
        with pytest.raises(EvidenceError) as caught:
            open_annex(broken, sealed.entry, AUDITOR[0])
        assert caught.value.code == "SLV-E013"
        with pytest.raises(EvidenceError):
            check_sealed(broken, sealed.entry, NAMED)


def test_b36_a_recipient_that_the_contract_does_not_name() -> None:
    more = seal_annex(FILES, {**NAMED, "tercero": VENDOR[1]})
    with pytest.raises(EvidenceError) as caught:
        check_sealed(more.ciphertext, more.entry, NAMED)
    assert caught.value.code == "SLV-E012"
    # A recipient that the manifest hides is counted in the ciphertext itself.
    from dataclasses import replace

    hidden = replace(more.entry, recipients=tuple(Recipient(name, key) for name, key in sorted(NAMED.items())))
    with pytest.raises(EvidenceError) as caught:
        check_sealed(more.ciphertext, hidden, NAMED)
    assert caught.value.code == "SLV-E012"


def test_more_than_was_announced_is_not_decrypted() -> None:
    from dataclasses import replace

    sealed = seal_annex(FILES, NAMED)
    for size in (10, sealed.entry.plaintext_size - 1, sealed.entry.plaintext_size + 1, 2**40):
        with pytest.raises(EvidenceError):
            open_annex(sealed.ciphertext, replace(sealed.entry, plaintext_size=size), AUDITOR[0])


@pytest.mark.parametrize("name", ["../x", "a", "a/../b", "A/b", "a/b\n"])
def test_names_outside_the_form(name: str) -> None:
    with pytest.raises(EvidenceError):
        annex_archive({**FILES, name: b""})


def test_an_annex_without_its_nonce() -> None:
    for index in (b"", b"{}\n", jsonl([{"nonce": "short"}])):
        with pytest.raises(EvidenceError):
            annex_archive({**FILES, INDEX: index})


def test_recipients_alone() -> None:
    check_recipients((Recipient("auditor", AUDITOR[1]),), frozenset({"acme"}))
