"""Adapters of others: pinned by name, version and digest; any other file is another package."""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from slaverify.canonical import digest_of, jcs, sha256_hex
from slaverify.contract.model.bank import Method, Plugin
from slaverify.contract.words import Outcome
from slaverify.engine import Fault, Received, adapter_of, is_plugged, read_response
from slaverify.engine.plugins import installed_pin, load_plugins
from slaverify.engine.spec import compile_endpoint
from slaverify.errors import ContractError, EndpointError
from tests.engine.plugin_package import ADAPTER, NAME, SOURCE, VERSION, install


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name == "acme" or name.startswith("acme.")]:
        del sys.modules[name]


def pinned() -> Plugin:
    pin, adapters = installed_pin(NAME)
    assert adapters == (ADAPTER,)
    return Plugin(name=pin.name, version=pin.version, package_digest=pin.package_digest)


def contract(plugin: Plugin | None, adapter: str = ADAPTER) -> SimpleNamespace:
    spec_like = endpoint_contract(adapter)
    spec_like.method = Method(profile="qa@1", plugins=() if plugin is None else (plugin,))
    return spec_like


def endpoint_contract(adapter: str) -> SimpleNamespace:
    """The blocks `engine` and `endpoint` of the helper, with another adapter."""
    from slaverify.contract.model.engine import Endpoint, Engine

    tree = {
        "adapter": adapter,
        "url": "http://127.0.0.1:9/",
        "request": {"q": "${query}"},
        "response": {},
        "public_probe": {"query": "¿?"},
    }
    engine = {"name": "X", "version": "1", "accepted_echoes": ("engine-x@1",), "on_missing": "limitation"}
    return SimpleNamespace(engine=Engine.model_validate(engine), endpoint=Endpoint.model_validate(tree))


def test_the_digest_is_over_what_the_package_brought(site):
    install(site)
    info = f"acme_lineas-{VERSION}.dist-info"
    brought = ["acme/__init__.py", f"{info}/METADATA", f"{info}/WHEEL", f"{info}/entry_points.txt"]
    expected = digest_of(jcs({name: sha256_hex((site / name).read_bytes()) for name in brought}))
    assert pinned().package_digest == expected
    (site / info / "INSTALLER").write_text("otro\n")
    assert pinned().package_digest == expected


def test_a_pinned_adapter_reads_its_protocol(site):
    install(site)
    plugin = pinned()
    assert adapter_of(contract(plugin)) is None, "nothing is loaded before it is asked for"
    assert load_plugins([plugin]) == (ADAPTER,)
    spec = compile_endpoint(contract(plugin))
    assert is_plugged(contract(plugin))
    headers = {"content-type": "text/plain", "content-length": "9"}
    answered = read_response(spec, Received(200, headers, b"version: engine-x@1\nanswer: 15"))
    assert answered.outcome is Outcome.ANSWERED and answered.answer is not None and answered.answer.text == "15"
    other = read_response(spec, Received(200, headers, b"version: engine-y\nanswer: 15"))
    assert other.outcome is Outcome.ENGINE_MISMATCH
    odd = read_response(spec, Received(200, headers, b"nothing"))
    assert (odd.outcome, odd.fault) == (Outcome.MALFORMED, Fault.SYNTAX)


def test_what_breaks_in_it_is_ours(site):
    install(site)
    plugin = pinned()
    load_plugins([plugin])
    spec = compile_endpoint(contract(plugin))
    broken = read_response(spec, Received(200, {"content-type": "text/plain"}, b"BOOM"))
    assert (broken.outcome, broken.fault) == (Outcome.AUDITOR_FAILURE, Fault.PLUGIN)


def refusal(plugin: Plugin) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        load_plugins([plugin])
    assert caught.value.exit_code == 5
    return caught.value


def test_another_file_another_version_and_nothing_at_all_are_refused(site):
    module = install(site)
    plugin = pinned()
    module.write_text(SOURCE.replace("ENCODING", "SYNTAX"))
    assert refusal(plugin).code == "SLV-N061"
    module.write_text(SOURCE)
    assert load_plugins([plugin]) == (ADAPTER,)
    assert refusal(plugin.model_copy(update={"version": "1.2.1"})).code == "SLV-N061"
    module.unlink()
    assert refusal(plugin).code == "SLV-N061"
    assert refusal(plugin.model_copy(update={"name": "no-such-package"})).code == "SLV-N060"


def test_a_compiled_cache_is_never_run(site):
    """Its header says that it is of this source; its code is of another one."""
    module = install(site, SOURCE.replace('partition(": ")', 'partition("= ")'))
    stamp = module.stat()
    compileall.compile_file(str(module), quiet=2)
    install(site)
    assert len(SOURCE) == stamp.st_size
    os.utime(module, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    plugin = pinned()
    load_plugins([plugin])
    spec = compile_endpoint(contract(plugin))
    answered = read_response(spec, Received(200, {"content-type": "text/plain"}, b"version: engine-x@1\nanswer: 15"))
    assert answered.outcome is Outcome.ANSWERED


def test_code_from_elsewhere_is_refused(site, tmp_path_factory, monkeypatch):
    """The module that Python finds first is not the one under the digest."""
    install(site)
    plugin = pinned()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "acme").mkdir()
    (elsewhere / "acme" / "__init__.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(elsewhere))
    assert refusal(plugin).code == "SLV-N062"


@pytest.mark.parametrize(
    ("source", "point"),
    [
        (SOURCE, "otro@1 = acme:Lines"),
        (SOURCE, f"{ADAPTER} = acme:Nothing"),
        ("raise ValueError", f"{ADAPTER} = acme:Lines"),
        (SOURCE.replace("def parse", "def parsed"), f"{ADAPTER} = acme:Lines"),
        ("Lines = 3", f"{ADAPTER} = acme:Lines"),
    ],
)
def test_what_is_no_adapter_of_its_name_is_refused(site, source, point):
    install(site, source, point=point)
    pin, _ = installed_pin(NAME)
    found = refusal(Plugin(name=pin.name, version=pin.version, package_digest=pin.package_digest))
    assert found.code == "SLV-N062"


def test_no_plug_in_replaces_an_adapter_of_the_product(site):
    source = SOURCE.replace('name="acme_lineas@1"', 'name="json_http@1"')
    install(site, source, point="json_http@1 = acme:Lines")
    pin, _ = installed_pin(NAME)
    plugin = Plugin(name=pin.name, version=pin.version, package_digest=pin.package_digest)
    load_plugins([plugin])
    assert not is_plugged(contract(plugin, "json_http@1"))


def test_a_loaded_plug_in_is_unknown_to_a_contract_that_does_not_pin_it(site):
    install(site)
    load_plugins([pinned()])
    with pytest.raises(ContractError, match="acme_lineas@1"):
        compile_endpoint(contract(None))
    other = pinned().model_copy(update={"package_digest": "sha256:" + "0" * 64})
    assert adapter_of(contract(other)) is None
