"""A whole audit whose draw waits for a public beacon: the round comes in a file, nothing is asked of any network."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_canonical
from slaverify.cli.demo.servers import serve
from slaverify.custody import read_ledger
from tests.custody.test_draw_order import signed_round
from tests.e2e.conftest import ENGINE
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.simulator.arithmetic import Calculator, items

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("py_ecc") is None, reason="py-ecc is not installed: no beacon is verified here"
)
CHAIN = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"


def draw(place: Place, file: Path) -> tuple[int, str]:
    words = ["custody", "draw", str(place.bank), "--contract", str(place.contract), "--beacon", str(file)]
    done = slaverify(place, *words)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.nightly
def test_the_walk_waits_for_the_round_and_goes_on_with_it(tmp_path: Path) -> None:
    place = make_place(tmp_path / "audit", items(60, 20))
    key, _ = signed_round(1)
    agreed: dict[str, JsonValue] = {
        **ENGINE,
        "report.languages": ["es"],
        "evaluation_set.sample.method": "seeded",
        "evaluation_set.sample.per_stratum": {"direct": 50, "out_of_corpus": 15},
        "metrics.0.threshold": "0.80",
        "metrics.1.threshold": "0.20",
        "ledger.beacon": {"chain_hash": CHAIN, "public_key": key.hex()},
    }
    vendor = Calculator()
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        write_contract(place, f"{url}/q", authority, agreed)
        waiting = slaverify(place, *audit_arguments(place))
        assert waiting.returncode == 6 and "SLV-K072" in waiting.stderr, waiting.stderr
        due = int(re.search(r"round (\d+) of the beacon", waiting.stderr)[1])
        file = tmp_path / "round.json"
        for number, code in ((due - 1, "SLV-K055"), (due + 1, "SLV-K055")):
            file.write_text(json.dumps(signed_round(number)[1]))
            refused, told = draw(place, file)
            assert refused == 4 and code in told
        file.write_text(json.dumps(signed_round(due)[1]))
        assert draw(place, file)[0] == 0
        done = slaverify(place, *audit_arguments(place, "--resume"))
    assert done.returncode == 0, done.stdout + done.stderr
    drawn = loads_canonical((place.run / "custody" / "draw.json").read_bytes())
    assert drawn["beacon"]["round"] == due
    view = read_ledger((place.bank / "ledger.jsonl").read_bytes())
    assert next(entry for entry in view if entry.type == "draw").data["beacon"]["round"] == due
    words = ["verify", str(place.pdf()), "--bundle", str(place.bundle()), "--contract", str(place.contract)]
    found = slaverify(place, *words, "--identity", str(place.keys / "arbitro.age"), "--rerender")
    assert found.returncode == 0, found.stdout + found.stderr
