"""Anchors, twins and honeytokens through whole audits: the vendor that learnt what it was sent, and the honest one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, loads_object
from slaverify.cli import run as command
from slaverify.cli.demo.servers import serve
from slaverify.cli.wiring import now
from slaverify.contract.load import load_contract
from slaverify.custody.keys import KeyStore
from slaverify.evalset import Item, parse_item
from slaverify.evidence import Bundle
from slaverify.evidence.read import open_folder
from slaverify.verify import Trust, VerifyRequest, verify
from tests.e2e.line import Place, audit_arguments, make_place, tsa, write_contract
from tests.simulator.arithmetic import VERSION, Calculator, items

SAMPLE: dict[str, JsonValue] = {
    "engine.version": VERSION,
    "engine.accepted_echoes": [VERSION],
    "evaluation_set.sample.method": "seeded",
    "evaluation_set.sample.per_stratum": {"direct": 60, "out_of_corpus": 20},
}
ARMS: dict[str, JsonValue] = {
    "contract.id": "prueba-brazos",
    "evaluation_set.sample.arms": {"anchor": 40, "twin": 25, "probe": 8},
}
_TOKEN = re.compile(r"expediente ficticio (\d+)")


def bank() -> list[Item]:
    """150 sums and 45 questions outside; of each sum a twin with other numbers; 8 files that do not exist."""
    found = items(150, 45)
    for number, one in enumerate(found[:150]):
        left, right = 9000 + 11 * number, 3 + number
        tree = {
            **one.to_json(),
            "id": f"gemela-{number:04d}",
            "query": f"Si se suman {left} más {right}, ¿cuánto da?",
            "reference": {"kind": "number", "value": str(left + right)},
            "twin_of": one.id,
            "twin_relation": "near_miss",
        }
        found.append(parse_item(tree, where=f"twins:{number}"))
    for number in range(8):
        tree = {
            "schema": "item/1",
            "id": f"plante-{number:04d}",
            "stratum": "probe",
            "locale": "es-CL",
            "query": f"¿Qué número de folio lleva el expediente ficticio {number}?",
            "reference": {"kind": "number", "value": str(7000 + 16 * number + (5 * number) % 16)},
            "honeytoken": True,
        }
        found.append(parse_item(tree, where=f"plants:{number}"))
    return found


class Learner(Calculator):
    """Remembers what it was asked before, with the right answer; `leaked` holds questions whose answers it was told."""

    def __init__(self, errs: Callable[[int, int], bool], leaked: dict[str, str] | None = None) -> None:
        super().__init__(errs)
        self.seen: frozenset[str] = frozenset()
        self.leaked = leaked or {}

    def learn(self) -> None:
        self.seen = frozenset(self.asked)

    def answer(self, question: str) -> str:
        if question in self.leaked:
            return f"El folio es {self.leaked[question]}."
        if _TOKEN.search(question):
            return "No conozco ese expediente."
        if question not in self.seen:
            return super().answer(question)
        errs, self.errs = self.errs, lambda left, right: False
        try:
            return super().answer(question)
        finally:
            self.errs = errs


def often_wrong(left: int, right: int) -> bool:
    return right % 2 == 0


def never_wrong(left: int, right: int) -> bool:
    return False


def audit(place: Place, vendor: Calculator, changes: dict[str, JsonValue], out: str, verb: str = "audit") -> int:
    with serve(vendor.respond) as url, tsa(place.authority) as authority:
        write_contract(place, f"{url}/q", authority, {**SAMPLE, **changes})
        words = [verb, *audit_arguments(place)[1:]]
        words[words.index("--out") + 1] = str(place.folder / out)
        return command(words)


def run_folder(place: Place, out: str) -> Path:
    (found,) = [path for path in (place.folder / out).iterdir() if path.name.endswith("-0001")]
    return found


def leaks_in(folder: Path) -> dict[str, dict]:
    tree = json.loads((folder / "statistics" / "integrity.json").read_bytes())
    return {"": tree, **{one["name"]: one for one in tree["tests"]}}


@pytest.fixture(scope="module")
def sent_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, dict[str, str]]:
    """A bank whose first sample was sent to the vendor's group; also the honeytokens with their sealed variant."""
    patch = pytest.MonkeyPatch()
    folder, rows = tmp_path_factory.mktemp("arms"), bank()
    place = make_place(folder, rows)
    patch.setenv("SLAVERIFY_KEYS", str(place.keys))
    patch.setenv("SLAVERIFY_LANG", "en")
    first = Calculator()
    assert audit(place, first, {}, "first", "run") == 0
    (folder / "asked.json").write_text(json.dumps(sorted(first.asked)))
    patch.undo()
    return place, {one.query_text(): str(one.to_json()["reference"]["value"]) for one in rows if one.honeytoken}


@pytest.fixture
def own(sent_once: tuple[Place, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place, _ = sent_once
    folder = tmp_path / "copy"
    shutil.copytree(place.folder, folder)
    moved = replace(place, folder=folder, keys=folder / "keys", bank=folder / place.bank.relative_to(place.folder))
    monkeypatch.setenv("SLAVERIFY_KEYS", str(moved.keys))
    monkeypatch.setenv("SLAVERIFY_LANG", "en")
    return moved


def learner(place: Place, errs: Callable[[int, int], bool], leaked: dict[str, str] | None = None) -> Learner:
    found = Learner(errs, leaked)
    found.seen = frozenset(json.loads((place.folder / "asked.json").read_text()))
    return found


def verified(place: Place, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict:
    """Verify report, bundle of the parties and annex, with the contract; return what `verify` says."""
    (pdf,), (bundle,) = (folder / "report").glob("*.es.pdf"), (folder / "report").glob("*.parties.zip")
    identity = place.folder / "arbitro.txt"
    identity.write_text(KeyStore.open(place.keys).identity("arbitro"))
    identity.chmod(0o600)
    capsys.readouterr()
    words = ["verify", str(pdf), "--bundle", str(bundle), "--contract", str(place.contract)]
    command([*words, "--identity", str(identity), "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_vendor_that_learnt_what_it_was_sent_is_named(own: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(own, learner(own, often_wrong), ARMS, "second") == 1
    folder = run_folder(own, "second")
    found = leaks_in(folder)
    assert found[""]["integrity"] == "signal"
    anchors, twins, tokens = found["anchors"], found["twins"], found["honeytokens"]
    assert (anchors["n"], anchors["right"], anchors["fresh_n"]) == (40, 40, 80)
    assert anchors["fresh_right"] < 65 and float(anchors["p_adjusted"]) < 0.01
    assert twins["n"] == 25 and twins["twin_only"] == 0 and twins["original_only"] > 8
    assert float(twins["p_adjusted"]) < 0.01 and tokens["repeated"] == []
    # what is shown of a test is what it could see, also where it found nothing
    assert tokens["hits_needed"] == 4 and twins["seen"] > 10 and anchors["seen"] > 10
    # only the sample feeds the metrics: no score of an arm stands among theirs
    scores = [json.loads(line) for line in (folder / "scoring" / "scores.jsonl").read_text().splitlines()]
    arms = [json.loads(line) for line in (folder / "scoring" / "arms.jsonl").read_text().splitlines()]
    assert len(scores) == 80 and len(arms) == 40 + 50 + 8
    assert not {one["item_id"] for one in scores} & {one["record"]["item_id"] for one in arms}
    told = verified(own, folder, capsys)
    assert told["outcome"] == "VERIFIED", [one for one in told["checks"] if one["result"] != "passed"]
    # a breach stays a breach
    assert told["verdict"]["state"] == "BREACH"


@pytest.mark.nightly
def test_a_vendor_that_repeats_honeytokens_loses_its_pass(
    own: Place, sent_once: tuple[Place, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(own, learner(own, never_wrong, sent_once[1]), ARMS, "second") == 3
    folder = run_folder(own, "second")
    found = leaks_in(folder)
    assert found[""]["integrity"] == "signal" and found["honeytokens"]["p_adjusted"] == "0.000000001"
    assert len(found["honeytokens"]["repeated"]) == 8
    decision = json.loads((folder / "decision" / "decision.json").read_bytes())
    assert decision["state"] == "INCONCLUSIVE"
    assert {one["reason"] for one in decision["metrics"]} == {"leak_signal"}
    told = verified(own, folder, capsys)
    assert told["outcome"] == "VERIFIED", [one for one in told["checks"] if one["result"] != "passed"]
    pages = json.dumps(loads_object(next((folder / "report").glob("*.es.json")).read_bytes()))
    assert "leak.word.signal" in pages and "next.leak" in pages and "L17.leaks_signal" in pages


@pytest.mark.nightly
def test_an_honest_vendor_is_not_named(own: Place, capsys: pytest.CaptureFixture[str]) -> None:
    vendor = Learner(never_wrong)
    assert audit(own, vendor, ARMS, "second") == 0
    folder = run_folder(own, "second")
    found = leaks_in(folder)
    assert found[""]["integrity"] == "no_signal"
    assert [found[name]["p"] for name in ("anchors", "twins", "honeytokens")] == ["1.000000000"] * 3
    # a pair is asked apart, and nothing that left tells an arm from the sample
    plan = json.loads((folder / "run" / "plan.json").read_bytes())["exchanges"]
    place = {one["item_id"]: one["position"] for one in plan}
    arms = json.loads((folder / "custody" / "draw.json").read_bytes())["arms"]
    assert len(arms["twin"]) == 25 and len(plan) == 80 + 40 + 50 + 8
    assert all(abs(place[pair["original"]] - place[pair["twin"]]) >= 20 for pair in arms["twin"])
    assert {tuple(sorted(json.loads(body))) for body in vendor.bodies} == {tuple(sorted(json.loads(vendor.bodies[0])))}
    told = verified(own, folder, capsys)
    assert told["outcome"] == "VERIFIED" and told["verdict"]["state"] == "PASS"
    # the public edition alone gives the tests again too, and what was changed in them is found
    (public,) = (folder / "report").glob("*.public.zip")
    capsys.readouterr()
    assert command(["verify", str(public), "--contract", str(own.contract), "--json"]) == 0
    for path, old, new, rule in (
        ("statistics/integrity.json", b'"no_signal"', b'"signal"', "V19"),
        ("scoring/arms.jsonl", b'"correctness":"correct"', b'"correctness":"incorrect"', "V18"),
    ):
        assert path in said_of(changed(folder, path, old, new), own, rule)


def changed(folder: Path, path: str, old: bytes, new: bytes) -> Bundle:
    """The closed evidence with one file changed, under the manifest that was signed."""
    bundle = open_folder(folder)
    assert bundle.manifest_bytes is not None
    envelope = {name: (folder / name).read_bytes() for name in ("manifest.json", "manifest.p7s", "manifest.tsr")}
    files = {name: bundle.read(name) for name in bundle.paths()}
    assert old in files[path]
    return Bundle.of_files({**files, **envelope, path: files[path].replace(old, new, 1)})


def said_of(bundle: Bundle, place: Place, rule: str) -> str:
    contract = load_contract(place.contract)
    found = verify(VerifyRequest(now=now(), bundle=bundle, trust=Trust(contract=contract))).check(rule)
    assert found.result.value == "failed"
    return found.reason.en
