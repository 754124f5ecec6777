"""The archive has one form: what it holds gives every byte, and every other byte is refused."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slaverify.errors import EvidenceError
from slaverify.evidence.archive import content, read_zip, write_zip_of

NAMES = st.from_regex(r"[a-z0-9_]{1,12}(/[a-z0-9_][a-z0-9_.-]{0,12}){1,2}", fullmatch=True)
FILES = st.dictionaries(NAMES, st.binary(max_size=300), max_size=6)


def packed(files: dict[str, bytes]) -> bytes:
    out = BytesIO()
    write_zip_of(files, list(files), out)
    return out.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    source = BytesIO(data)
    entries = read_zip(source, max_entries=50, limit_of=lambda _: 10_000, is_name=lambda name: name.isprintable())
    return {entry.name: b"".join(content(source, entry)) for entry in entries}


@given(FILES)
def test_what_was_packed_comes_back(files: dict[str, bytes]) -> None:
    assert unpacked(packed(files)) == files


@given(FILES)
def test_the_standard_library_writes_the_same_bytes(files: dict[str, bytes]) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, data)
    assert packed(files) == out.getvalue()


@settings(max_examples=200)
@given(FILES, st.data())
def test_no_other_byte_is_accepted(files: dict[str, bytes], data: st.DataObject) -> None:
    clean = packed(files)
    position = data.draw(st.integers(0, len(clean) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != clean[position]))
    changed = clean[:position] + bytes([value]) + clean[position + 1 :]
    with pytest.raises(EvidenceError):
        unpacked(changed)


@settings(max_examples=100)
@given(FILES, st.binary(min_size=1, max_size=40), st.data())
def test_no_byte_can_be_added_or_taken(files: dict[str, bytes], extra: bytes, data: st.DataObject) -> None:
    clean = packed(files)
    position = data.draw(st.integers(0, len(clean)))
    for changed in (clean[:position] + extra + clean[position:], clean[:position]):
        if changed != clean:
            with pytest.raises(EvidenceError):
                unpacked(changed)


@settings(max_examples=200)
@given(st.binary(max_size=400))
def test_noise_is_refused_and_nothing_else_is_raised(noise: bytes) -> None:
    for data in (noise, b"PK\x03\x04" + noise):
        with pytest.raises(EvidenceError):
            unpacked(data)


def test_a_declared_size_is_checked_before_its_content() -> None:
    with pytest.raises(EvidenceError) as caught:
        unpacked(packed({"a/b": bytes(20_000)}))
    assert caught.value.code == "SLV-E003"
