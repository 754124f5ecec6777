"""The pure half knows no file, clock, network, key or age; the face of the room loads it alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import slaverify.custody

ROOM = Path(slaverify.custody.__file__).parent
DOORS = {"seal", "vault", "keys", "append", "acts", "blinding", "deliver", "drawing", "recovery", "witnessing"}
BEHIND = {"files", "agefile", "checkpoints", "ledger_file", "gather", "destruction"}
IMPURE = {"os", "time", "socket", "ssl", "subprocess", "tempfile", "random", "secrets", "uuid", "logging", "pathlib"}
IMPURE |= {"fcntl", "shutil", "pyrage", "pyhanko", "shamir_mnemonic"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_pure_modules_import_nothing_impure() -> None:
    pure = [path for path in ROOM.glob("*.py") if path.stem not in DOORS | BEHIND]
    assert len(pure) > 20
    for path in pure:
        names = imports(path)
        assert not {name.split(".")[0] for name in names} & IMPURE, path.name
        doors = {f"slaverify.custody.{door}" for door in DOORS | BEHIND}
        assert not names & doors, path.name


def test_the_face_loads_nothing_heavy() -> None:
    code = (
        "import sys, slaverify.custody; "
        "heavy = {'pyrage', 'scipy', 'weasyprint', 'pyhanko', 'aiohttp', 'pydantic', 'tempfile'}; "
        "doors = {f'slaverify.custody.{n}' for n in ('seal', 'vault', 'keys', 'append', 'acts', 'deliver')}; "
        "print(sorted((heavy | doors) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_tree_fits_in_120_lines_and_no_module_in_more_than_400() -> None:
    sizes = {path.name: len(path.read_text("utf-8").splitlines()) for path in ROOM.glob("*.py")}
    assert sizes["merkle.py"] <= 120
    assert max(sizes.values()) <= 400
