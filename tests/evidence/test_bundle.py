"""Closing, editions, and what does not agree inside a bundle."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from slaverify.canonical import jsonl
from slaverify.errors import ApplicationError, EvidenceError
from slaverify.evidence import MANIFEST, PARTIES, PUBLIC, SUMS, Bundle, close
from slaverify.evidence.read import open_bundle, open_folder
from slaverify.evidence.write import close_folder, write_bundle
from tests.evidence.bundles import HEADER, closed, content, on_disk, zip_bytes


def test_closing_is_a_function_of_the_files(tmp_path: Path) -> None:
    folder = on_disk(content(), tmp_path / "run")
    first = close_folder(folder, HEADER).manifest_bytes
    assert close_folder(folder, HEADER).manifest_bytes == first == closed()[MANIFEST]
    assert (folder / SUMS).read_bytes() == closed()[SUMS]


def test_sha256sum_agrees(tmp_path: Path) -> None:
    folder = on_disk(closed(), tmp_path)
    subprocess.run(["sha256sum", "-c", "--strict", "--quiet", SUMS], cwd=folder, check=True)


def test_the_run_folder_keeps_what_is_not_evidence(tmp_path: Path) -> None:
    folder = on_disk({**content(), "private/secret.txt": b"x", "report/a.pdf": b"x", "r.journal": b"x"}, tmp_path)
    assert set(open_folder(folder).paths()) == set(content())
    (folder / "run/notes.txt").write_bytes(b"x")
    with pytest.raises(EvidenceError) as caught:
        open_folder(folder)
    assert caught.value.code == "SLV-E005"


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_both_editions_read_back(tmp_path: Path, kind: str) -> None:
    source = Bundle.of_files(closed())
    for edition in (PUBLIC, PARTIES):
        destination = tmp_path / (edition + (".zip" if kind == "zip" else ""))
        write_bundle(source, destination, edition)
        bundle = open_bundle(destination)
        assert bundle.digest == source.digest
        assert bundle.findings() == []
        assert bundle.findings(PUBLIC) == []
        withheld = () if edition == PARTIES else ("run/exchanges.jsonl", "scoring/traces.jsonl")
        assert bundle.withheld_paths() == withheld
        assert all(bundle.withheld(path) and not bundle.has(path) for path in withheld)
        assert bool(bundle.findings(PARTIES)) == bool(withheld)
        with pytest.raises(ApplicationError):
            write_bundle(source, destination, edition)


def test_the_archive_is_the_same_in_other_processes() -> None:
    program = (
        "import hashlib; from tests.evidence.bundles import closed, zip_bytes, content;"
        "from slaverify.evidence import *; from tests.evidence.bundles import HEADER;"
        "c = close(Bundle.of_files(content()), HEADER);"
        "files = {**content(), SUMS: c.sums, MANIFEST: c.manifest, ENVELOPE: b'e', TOKEN: b't'};"
        "print(hashlib.sha256(zip_bytes(files)).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C.UTF-8", "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("0", "UTC"), ("77", "America/Santiago"))
    }
    assert len(digests) == 1


def test_bytes_leave_only_if_the_manifest_names_them() -> None:
    bundle = Bundle.of_files({**closed(), "statistics/results.json": b"{}"})
    with pytest.raises(EvidenceError) as caught:
        bundle.read("statistics/results.json")
    assert caught.value.code == "SLV-E006"
    changed = closed()["run/outcomes.jsonl"].replace(b"answered", b"Answered", 1)
    with pytest.raises(EvidenceError):
        list(Bundle.of_files({**closed(), "run/outcomes.jsonl": changed}).lines("run/outcomes.jsonl"))


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("run/outcomes.jsonl", b'{"a":1,"a":2}\n'),
        ("run/outcomes.jsonl", b'{"a":1.5}\n'),
        ("run/outcomes.jsonl", b'{"a":9007199254740992}\n'),
        ("run/outcomes.jsonl", b'\xef\xbb\xbf{"a":1}\n'),
        ("run/outcomes.jsonl", b'{"a":1}\r\n'),
        ("run/outcomes.jsonl", b'{"a":1}'),
        ("run/outcomes.jsonl", b'{"b":1,"a":1}\n'),
        ("statistics/results.json", b'{"a":1}\n'),
        ("run/exchanges.jsonl", jsonl([{"item_id": "x"}])),
        ("run/exchanges.jsonl", b""),
    ],
)
def test_a_record_file_that_a_verifier_would_refuse_is_not_closed(path: str, data: bytes) -> None:
    with pytest.raises(EvidenceError) as caught:
        close(Bundle.of_files({**content(), path: data}), HEADER)
    assert caught.value.code == "SLV-E009"


def test_nothing_is_left_of_an_archive_that_failed(tmp_path: Path) -> None:
    files = {name: data for name, data in closed().items() if name != "run/exchanges.jsonl"}
    with pytest.raises(EvidenceError):
        write_bundle(Bundle.of_files(files), tmp_path / "b.zip", PARTIES)
    with pytest.raises(EvidenceError):
        write_bundle(Bundle.of_files(files), tmp_path / "b", PARTIES)
    assert list(tmp_path.iterdir()) == []


def test_the_envelope_stands_first_and_the_rest_by_path() -> None:
    with zipfile.ZipFile(BytesIO(zip_bytes(closed()))) as archive:
        names = archive.namelist()
    assert names == ["manifest.json", "manifest.p7s", "manifest.tsr", *sorted(names[3:])]
