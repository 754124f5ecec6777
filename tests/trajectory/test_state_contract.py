"""A folder of four inputs is read whole or refused at its place; what it is pinned by moves with its content alone."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from slaverify.errors import ProblemsError
from slaverify.trajectory import read_state_contract
from slaverify.trajectory.state_files import read_state_files
from tests.trajectory.state import crm, files

LOG, POLICY, EVALUATION = "event_log.jsonl", "policy.yaml", "evaluation.yaml"


def codes(changed: dict[str, bytes]) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        read_state_files(changed)
    return [(one.code, one.where) for one in caught.value.problems]


def edit(name: str, old: str, new: str, count: int = 1) -> dict[str, bytes]:
    text = files()[name].decode()
    assert old in text
    return {**files(), name: text.replace(old, new, count).encode()}


def artifact(path: str, **changes: object) -> dict[str, bytes]:
    tree = json.loads(files()[path])
    return {**files(), path: json.dumps({**tree, **changes}).encode()}


def test_the_example_is_read() -> None:
    contract = crm()
    assert (len(contract.events), len(contract.artifacts), len(contract.policy.subsystems)) == (54, 64, 6)
    assert read_state_contract(contract.content).digest == contract.digest


def test_the_digest_follows_content_not_layout() -> None:
    lines = files()[LOG].decode().splitlines()
    shuffled = {**files(), LOG: ("\n\n".join(reversed(lines)) + "\n").encode()}
    assert read_state_files(shuffled)[0].digest == crm().digest
    assert read_state_files(edit(LOG, '"prioridad": "alta"', '"prioridad": "baja"'))[0].digest != crm().digest


@pytest.mark.parametrize(
    ("changed", "code", "place"),
    [
        (edit(LOG, "2026-03-02T09:10:00-03:00", "2026-03-02T09:10:00"), "SLV-T010", f"{LOG}:1: timestamp"),
        (edit(LOG, "2026-03-02T09:10:00-03:00", "2026-03-02 23:59:59-03:00"), "SLV-T010", f"{LOG}:1: timestamp"),
        (edit(LOG, '"TCK-101"', '"TCK-999"'), "SLV-T011", "EV-001"),
        (edit(LOG, '"id": "EV-002"', '"id": "EV-001"'), "SLV-T011", "TCK-102"),
        (artifact("artifacts/crm/CRM-101.json", recorded_events=[]), "SLV-T011", "CRM-101"),
        (edit(POLICY, "marta: soporte", "marta: nadie"), "SLV-T011", "actors.marta"),
        (edit(POLICY, 'id_prefix: "CRM-"', 'id_prefix: "C"'), "SLV-T012", "C"),
        (edit(EVALUATION, "reviewer: revisor", "reviewer: nadie"), "SLV-T011", "reviewer"),
        (
            edit(EVALUATION, "      join: [{cause: facts.cuenta, effect: facts.cuenta}]\n", ""),
            "SLV-T013",
            "evaluation: baja_motiva_descuento",
        ),
        (edit(EVALUATION, "mode: tool", "modo: tool"), "SLV-T001", f"{EVALUATION}:3:1"),
        (edit(EVALUATION, "max_turns: 10", "max_turns: 0"), "SLV-T001", f"{EVALUATION}:6:21"),
        (edit("state_contract.yaml", "artifacts_dir: artifacts", "artifacts_dir: ../x"), "SLV-T001", None),
        (edit("state_contract.yaml", "locale: es-CL", "local: es-CL"), "SLV-T001", None),
        ({**files(), "artifacts/crm/CRM-999.txt": b"{}"}, "SLV-T001", "artifacts/crm/CRM-999.txt"),
        ({**files(), LOG: files()[LOG] + b"{not json}\n"}, "SLV-T001", f"{LOG}:55"),
    ],
)
def test_a_contradiction_is_named_at_its_place(changed: dict[str, bytes], code: str, place: str | None) -> None:
    found = codes(changed)
    assert code in {one for one, _ in found}
    assert place is None or (code, place) in found


def test_instants_compare_as_instants() -> None:
    """An offset moves a text and not an instant: the cone stays what it was."""
    moved = edit(LOG, "2026-03-02T09:10:00-03:00", "2026-03-02T12:10:00+00:00")
    before, after = crm().corpus, read_state_files(moved)[0].corpus
    for one in before.ordered:
        for actor, role in crm().policy.actors.items():
            at = datetime.fromisoformat("2026-03-02T12:30:00+00:00")
            assert before.visible(one, actor, role, at) == after.visible(after.by_id[one.id], actor, role, at)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"events":1,"artifacts":[],"policy":{},"evaluation":{}}', b"\xff"]
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ProblemsError):
        read_state_contract(data)
