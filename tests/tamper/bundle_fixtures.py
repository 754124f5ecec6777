"""The named tamperings of a bundle, each built from the clean one. What they must give: `expected.json`."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from slaverify.canonical import jcs
from slaverify.evidence import ENVELOPE, MANIFEST, SUMS, TOKEN, build_manifest, parse_manifest
from slaverify.evidence.archive import _central_header, _end_record, _local_header, write_zip_of
from slaverify.evidence.manifest import file_entry, sums_bytes
from tests.evidence.bundles import HEADER, closed, on_disk, sealed, zip_bytes
from tests.evidence.pki import tsa

Files = dict[str, bytes]


def archive_of(files: Files) -> bytes:
    out = BytesIO()
    write_zip_of(files, list(files), out)
    return out.getvalue()


def ordered(files: Files) -> Files:
    first = [name for name in (MANIFEST, ENVELOPE, TOKEN) if name in files]
    rest = sorted(name for name in files if name not in first)
    return {name: files[name] for name in (*first, *rest)}


def resigned(files: Files) -> Files:
    """Close and sign again over files that the product's own closing would refuse."""
    entries = [
        file_entry(path, len(data), sha256(data).hexdigest(), data.count(b"\n"))
        for path, data in files.items()
        if path not in (MANIFEST, ENVELOPE, TOKEN, SUMS)
    ]
    sums = sums_bytes(entries)
    listed = file_entry(SUMS, len(sums), sha256(sums).hexdigest(), 0)
    return sealed({**files, SUMS: sums, MANIFEST: build_manifest(HEADER, [*entries, listed])})


def _zip(folder: Path, data: bytes) -> Path:
    path = folder / "bundle.zip"
    path.write_bytes(data)
    return path


def b01_flipped_byte(folder: Path) -> Path:
    data = bytearray(closed()["custody/ledger.jsonl"])
    data[8] ^= 1
    return on_disk({**closed(), "custody/ledger.jsonl": bytes(data)}, folder / "b")


def b02_swapped_files(folder: Path) -> Path:
    files = closed()
    one, two = "custody/bank.checkpoint", "statistics/results.json"
    return _zip(folder, archive_of(ordered({**files, one: files[two], two: files[one]})))


def b03_removed_file(folder: Path) -> Path:
    files = {name: data for name, data in closed().items() if name != "custody/ledger.jsonl"}
    return _zip(folder, archive_of(ordered(files)))


def b04_added_file(folder: Path) -> Path:
    return _zip(folder, archive_of(ordered({**closed(), "replies/vendor.json": b"{}"})))


def b05_path_traversal(folder: Path) -> Path:
    return _zip(folder, archive_of({**ordered(closed()), "run/../../escaped.json": b"{}"}))


def b06_absolute_path(folder: Path) -> Path:
    return _zip(folder, archive_of({**ordered(closed()), "/tmp/escaped.json": b"{}"}))


def b07_symlink(folder: Path) -> Path:
    root = on_disk(closed(), folder / "b")
    (root / "custody/ledger.jsonl").unlink()
    outside = folder / "outside.jsonl"
    outside.write_bytes(closed()["custody/ledger.jsonl"])
    (root / "custody/ledger.jsonl").symlink_to(outside)
    return root


def b08_case_collision(folder: Path) -> Path:
    return _zip(folder, archive_of({**ordered(closed()), "Run/plan.json": b"{}"}))


def b09_zip_bomb(folder: Path) -> Path:
    """Four gigabytes of zeros, deflated, under a name that the bundle has."""
    packed = zlib.compress(bytes(2**20), 9)[2:-4] * 64
    name = b"run/plan.json"
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 33, 0, len(packed), 2**32 - 1, len(name), 0)
    return _zip(folder, local + name + packed + _end_record(1, 0, 0))


def b10_overlapping_entries(folder: Path) -> Path:
    files = ordered(closed())
    name = next(iter(files))
    data = archive_of(files)
    central = data.index(b"PK\x01\x02")
    first = _central_header(name, len(files[name]), zlib.crc32(files[name]), 0)
    tail = first + first + data[central:-22]
    return _zip(folder, data[:central] + tail + _end_record(len(files) + 2, len(tail), central))


def b11_declared_size_lie(folder: Path) -> Path:
    files = ordered(closed())
    name = next(iter(files))
    clean = archive_of(files)
    lie = _local_header(name, 10, zlib.crc32(files[name]))
    return _zip(folder, lie + clean[len(lie) :])


def b12_duplicate_names(folder: Path) -> Path:
    files = ordered(closed())
    data = archive_of(files)
    central = data.index(b"PK\x01\x02")
    name = "statistics/results.json"
    again = _local_header(name, 2, zlib.crc32(b"{}")) + b"{}"
    tail = data[central:-22] + _central_header(name, 2, zlib.crc32(b"{}"), central)
    out = data[:central] + again + tail + _end_record(len(files) + 1, len(tail), central + len(again))
    return _zip(folder, out)


def b13_local_central_mismatch(folder: Path) -> Path:
    data = archive_of(ordered(closed()))
    central = data.index(b"PK\x01\x02")
    return _zip(folder, data[:central] + data[central:].replace(b"custody/ledger.jsonl", b"custody/ledgex.jsonl"))


def b14_prefix_and_trailing_bytes(folder: Path) -> Path:
    return _zip(folder, b"#!/bin/sh\n" + archive_of(ordered(closed())) + b"\n")


def b14_trailing_bytes(folder: Path) -> Path:
    return _zip(folder, archive_of(ordered(closed())) + b"\n")


def b25_envelope_of_other_manifest(folder: Path) -> Path:
    tree = json.loads(closed()[MANIFEST])
    other = sealed({**closed(), MANIFEST: jcs({**tree, "run_number": 2, "bundle_id": "acme.2"})})
    return _zip(folder, zip_bytes({**closed(), ENVELOPE: other[ENVELOPE], TOKEN: other[TOKEN]}))


def b26_tsr_over_manifest_not_p7s(folder: Path) -> Path:
    return _zip(folder, zip_bytes({**closed(), TOKEN: tsa().stamper().stamp(closed()[MANIFEST])}))


def _record(folder: Path, path: str, data: bytes) -> Path:
    return _zip(folder, archive_of(ordered(resigned({**closed(), path: data}))))


def b30_duplicate_json_key(folder: Path) -> Path:
    return _record(folder, "statistics/results.json", b'{"metrics":[],"metrics":[],"type":"slaverify/results/1"}')


def b31_float(folder: Path) -> Path:
    return _record(folder, "run/outcomes.jsonl", b'{"item_id":"it-000","latency_ms":1.5}\n')


def b32_int_over_2_53(folder: Path) -> Path:
    return _record(folder, "run/outcomes.jsonl", b'{"item_id":"it-000","latency_ms":9007199254740992}\n')


def b33_nfd_path(folder: Path) -> Path:
    return on_disk({**closed(), "replies/anexo\u0301.json": b"{}"}, folder / "b")


def b34_bom_crlf(folder: Path) -> Path:
    return _record(folder, "run/outcomes.jsonl", b'\xef\xbb\xbf{"item_id":"it-000"}\r\n')


def b37_public_edition(folder: Path) -> Path:
    return _zip(folder, zip_bytes(closed(), "public"))


def untouched(folder: Path) -> Path:
    return _zip(folder, zip_bytes(closed()))


FIXTURES: dict[str, Callable[[Path], Path]] = {
    name: value for name, value in sorted(globals().items()) if name.startswith("b") and name[1:3].isdigit()
}

assert parse_manifest(closed()[MANIFEST])
