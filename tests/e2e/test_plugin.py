"""A vendor that speaks no JSON: audited and verified through a pinned package of others, and only through that one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_canonical
from slaverify.cli.demo.servers import serve
from slaverify.engine.plugins import installed_pin
from tests.e2e.line import audit_arguments, make_place, slaverify, tsa, write_contract
from tests.engine.plugin_package import ADAPTER, NAME, SOURCE, VERSION, install
from tests.simulator.arithmetic import VERSION as ENGINE_VERSION
from tests.simulator.arithmetic import Calculator, items


def test_a_run_through_a_plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calculator = Calculator()

    def respond(body: bytes) -> tuple[int, str, bytes]:
        tree = json.loads(calculator.respond(body)[2])
        return 200, "text/plain", f"version: {tree['engine']['version']}\nanswer: {tree['answer']}".encode()

    site = tmp_path / "site"
    module = install(site)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    place = make_place(tmp_path, items(60))
    pin, _ = installed_pin(NAME)
    printed = slaverify(place, "contract", "plugin", NAME, check=True).stdout
    assert f'package_digest: "{pin.package_digest}"' in printed and ADAPTER in printed
    changes: dict[str, JsonValue] = {
        "engine.version": ENGINE_VERSION,
        "engine.accepted_echoes": [ENGINE_VERSION],
        "endpoint.adapter": ADAPTER,
        "endpoint.response": {},
        "method.plugins": [{"name": NAME, "version": VERSION, "package_digest": pin.package_digest}],
    }
    with serve(respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, changes)
        module.write_text(SOURCE.replace("key: value", "key: valor"))
        refused = slaverify(place, *audit_arguments(place))
        assert refused.returncode == 5 and "SLV-N061" in refused.stderr
        assert not calculator.asked
        module.write_text(SOURCE)
        done = slaverify(place, *audit_arguments(place, "--json"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "PASS"
    environment = loads_canonical((place.run / "environment" / "environment.json").read_bytes())
    assert environment["packages"][NAME] == VERSION
    pins = ("--contract", str(place.contract))
    same = slaverify(place, "verify", str(place.bundle()), *pins)
    assert same.returncode == 0, same.stdout
    module.write_text(SOURCE.replace("key: value", "key: valor"))
    other = slaverify(place, "verify", str(place.bundle()), *pins)
    # Another package reads nothing here: the outcomes stay underived, and that is said with what is missing.
    assert other.returncode == 3, other.stdout
    assert pin.package_digest in other.stdout
