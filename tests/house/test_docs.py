"""The commands of README and guides are those that work; specification and decisions are linked and there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def commands_of(path: Path) -> list[list[str]]:
    """Return the `slaverify …` lines of code blocks and inline code."""
    text = path.read_text(encoding="utf-8")
    found = re.findall(r"^\s*(slaverify .+)$", text, re.M) + re.findall(r"`(slaverify [^`]+)`", text)
    return [shlex.split(line) for line in found]


def _command(words: list[str]):  # type: ignore[no-untyped-def]  # a click command, whose type typer hides
    import typer

    from slaverify.cli.app import app

    node = typer.main.get_command(app)
    rest = list(words)
    while rest and hasattr(node, "commands"):
        name = rest.pop(0)
        assert name in node.commands, f"no command {name}"
        node = node.commands[name]
    return node, rest


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_the_documents_show_exists_with_those_options(path: Path) -> None:
    for words in commands_of(path):
        node, rest = _command(words[1:])
        known = {name for parameter in node.params for name in (*parameter.opts, *parameter.secondary_opts)}
        unknown = [word for word in rest if word.startswith("--") and word not in known]
        assert not unknown, f"{path.name}: {' '.join(words)}: {unknown}"


def test_readme_shows_at_least_the_main_job() -> None:
    shown = {tuple(words[1:2]) for words in commands_of(ROOT / "README.md")}
    assert {("audit",), ("verify",), ("contract",), ("custody",), ("keys",)} <= shown


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "docs" / "adr" / "README.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_nothing_in_the_project_speaks_of_this_workplace() -> None:
    words = re.compile(r"(?<![\w.])/(?:work|farm)/|\bissue \d+\b|\bhelper session", re.I)
    for path in ROOT.rglob("*"):
        read = path.suffix in (".py", ".md", ".toml", ".yaml", ".json", ".sh", ".cff") and ".venv" not in path.parts
        if read and path.is_file() and path.stat().st_size < 300_000 and path != Path(__file__):
            assert not words.search(path.read_text(encoding="utf-8")), path
