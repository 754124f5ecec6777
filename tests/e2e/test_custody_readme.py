"""The custodian's procedure is carried out as it is written, one line after another, by a shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slaverify.custody import read_ledger
from slaverify.evalset import write_bank
from tests.simulator.arithmetic import items

README = Path(__file__).resolve().parents[2] / "custodia" / "README.md"
TOOLS = ("age", "ssh-keygen", "bash", "sha256sum", "openssl", "xxd")


def lines() -> tuple[list[str], list[str]]:
    spanish, english = README.read_text(encoding="utf-8").split("\n## English\n")
    return tuple(  # type: ignore[return-value]
        [line for block in re.findall(r"```sh\n(.*?)```", half, re.S) for line in block.splitlines()]
        for half in (spanish, english)
    )


def test_both_languages_give_the_same_commands() -> None:
    spanish, english = lines()
    assert spanish == english
    assert len(spanish) >= 15


@pytest.mark.nightly
@pytest.mark.skipif(any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}")
def test_the_procedure_works_as_it_is_written(tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    launcher = bin_folder / "slaverify"
    launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m slaverify "$@"\n')
    launcher.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "SLAVERIFY_KEYS": str(tmp_path / "llaves"),
        "SLAVERIFY_KEY_PASSPHRASE": "una frase larga",
        "SLAVERIFY_LANG": "es",
    }
    place = tmp_path / "mesa"
    place.mkdir()
    (place / "preguntas.jsonl").write_bytes(write_bank(items(20)))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / "llave-del-testigo"], check=True)
    said = ""
    for line in lines()[0]:
        done = subprocess.run(
            ["bash", "-c", line], cwd=place, env=environment, capture_output=True, text=True, timeout=120
        )
        # The procedure says of this one that it ends with 3.
        due = 3 if line.startswith("slaverify custody verify") else 0
        assert done.returncode == due, f"{line}: {done.returncode}\n{done.stdout}{done.stderr}"
        said += done.stdout + done.stderr
        if "custody seal" in line:
            # What the procedure has people do by hand: carry the shares away, delete the questions.
            for number in (1, 2, 3):
                share = tmp_path / "llaves" / "shares-mi-banco" / f"share-{number}.txt"
                share.rename(place / f"parte-{number}.txt")
            (place / "preguntas.jsonl").unlink()
    assert '{"canary":' in said
    assert "OK" in said
    assert "Queda posible:" in said
    assert "AGE-SECRET-KEY" not in said
    view = read_ledger((place / "custodia" / "mi-banco" / "ledger.jsonl").read_bytes())
    kinds = [entry.type for entry in view]
    assert {"drill", "deposit", "spot_check", "item_opened", "incident", "destruction"} <= set(kinds)
    assert list((place / "para-el-testigo").glob("*.sig"))
