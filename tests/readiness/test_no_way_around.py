"""Check, freeze, sign and audit refuse the same contract: there is no path around the lint."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from slaverify.audit.session import open_session
from slaverify.cli import run
from slaverify.contract import freeze
from slaverify.contract.load import dump_yaml, parse_contract
from slaverify.errors import ProblemsError
from slaverify.resources import resource
from tests.contract.support import load_tree, raw_tree, set_at

AGENT = raw_tree(resource("contratos", "agente-crm.yaml"))


def undecidable() -> dict:
    """A binding mean that 960 perfect scores could not show; no integer says so, the lint alone does."""
    return set_at(set_at(AGENT, "metrics.2.severity", "binding"), "metrics.2.threshold", "0.9999")


def test_every_door_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft, frozen = tmp_path / "d.yaml", tmp_path / "f.yaml"
    draft.write_text(dump_yaml(undecidable()), encoding="utf-8")
    # The pure function knows no lint: whoever writes the frozen file by hand still comes to nothing.
    frozen.write_text(dump_yaml(freeze(load_tree(undecidable()).model)), encoding="utf-8")
    audit = ["audit", str(frozen), "--bank", str(tmp_path), "--out", str(tmp_path / "o"), "--authorized-by", "x"]
    for words in (
        ["contract", "check", str(draft)],
        ["contract", "check", str(frozen)],
        ["contract", "freeze", str(draft)],
        ["contract", "sign", str(frozen), "--role", "vendor", "--key", str(draft)],
    ):
        assert run(words) == 2, words
        seen = capsys.readouterr()
        assert "SLV-S007" in seen.err, words
    assert run(audit) != 0
    assert not (tmp_path / "o").exists()
    assert not list(tmp_path.glob("*.frozen.yaml"))


def test_an_audit_refuses_before_it_looks_at_the_bank(tmp_path: Path) -> None:
    loaded = parse_contract(dump_yaml(freeze(load_tree(undecidable()).model)).encode(), "f.yaml")
    ports = SimpleNamespace(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(ProblemsError) as caught:
        open_session(loaded, tmp_path / "nowhere", tmp_path, SimpleNamespace(), ports)
    assert {problem.code for problem in caught.value.problems} == {"SLV-S007"}
    assert caught.value.problems[0].where.startswith("f.yaml:")


def test_no_option_turns_it_off() -> None:
    import typer

    from slaverify.cli.app import app

    group = typer.main.get_command(app).commands["contract"]
    for name, command in group.commands.items():
        flags = {flag for parameter in command.params for flag in parameter.opts}
        assert not {flag for flag in flags if "force" in flag or "no-lint" in flag or "skip" in flag}, name
