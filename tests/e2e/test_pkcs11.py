"""A whole audit whose report and evidence are signed inside a PKCS#11 token (SoftHSM2); no key file exists."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.cli.demo.servers import serve
from tests.e2e.conftest import ENGINE
from tests.e2e.line import audit_arguments, make_place, slaverify, tsa, write_contract
from tests.evidence.softhsm import PIN, Hsm, hsm  # noqa: F401 - a fixture
from tests.simulator.arithmetic import Calculator, items


@pytest.mark.nightly
def test_an_audit_signed_inside_a_token_verifies(
    hsm: Hsm,  # noqa: F811 - the fixture
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = replace(make_place(tmp_path, items(40)), spki=hsm.keys["ec"].spki_sha256)
    (place.keys / "auditor.signing.pem").unlink()
    monkeypatch.setenv("SLAVERIFY_PKCS11_PIN", "000000")
    with serve(Calculator().respond) as vendor, tsa(place.authority) as authority:
        write_contract(place, f"{vendor}/q", authority, ENGINE)
        refused = slaverify(place, *audit_arguments(place, "--key", hsm.uri("ec")))
        assert refused.returncode == 2, refused.stderr
        assert "SLV-R022" in refused.stderr
        monkeypatch.setenv("SLAVERIFY_PKCS11_PIN", PIN)
        done = slaverify(place, *audit_arguments(place, "--key", hsm.uri("ec")))
    assert done.returncode in (0, 3), done.stderr
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract), "--json"]
    found = json.loads(slaverify(place, *words).stdout)
    assert found["outcome"] == "VERIFIED", found
    (auditor,) = (one for one in found["identities"] if one["role"] == "auditor")
    assert auditor["spki_sha256"] == place.spki
    assert PIN not in "".join(path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file())
