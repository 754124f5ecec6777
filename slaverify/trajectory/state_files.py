"""Reads the four files of a state contract folder from their bytes: YAML, JSON Lines and one JSON file an artifact.

TRUST BOUNDARY: paths and bytes are written by people. Listing a folder is the caller's; here are names and bytes.

Source: docs/spec/trajectory.md, section "State contract".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from slaverify.canonical import JsonValue, StrictJsonError, loads_object
from slaverify.contract.load import read_strict
from slaverify.errors import ProblemsError, SlaverifyError
from slaverify.evalset.fields import Strict
from slaverify.trajectory.state_contract import StateContract, dangling, malformed, read_record, state_contract
from slaverify.trajectory.state_model import MAX_ARTIFACT_BYTES, SCHEMAS, Artifact, Evaluation, Event, Policy

ENTRY = "state_contract.yaml"
_KEYS = ("schema", "name", "locale", "event_log", "artifacts_dir", "policy", "evaluation")
_Model = TypeVar("_Model", bound=Strict)


def read_state_files(files: Mapping[str, bytes]) -> tuple[StateContract, str]:
    """Read a folder given as bytes by relative path (with `/`); return the contract and its locale.

    Raises: ProblemsError of SLV-T001 (form, unknown key, path outside the folder) and SLV-T010 to T013.
    """
    entry = _entry(files)
    problems: list[SlaverifyError] = []
    policy = _yaml(Policy, files, entry["policy"], problems)
    evaluation = _yaml(Evaluation, files, entry["evaluation"], problems)
    events = _events(files, entry["event_log"], problems)
    artifacts = _artifacts(files, entry["artifacts_dir"], problems)
    if problems or policy is None or evaluation is None:
        raise ProblemsError(problems or [malformed(ENTRY, "incomplete")])
    return state_contract(events, artifacts, policy, evaluation), entry["locale"]


def _entry(files: Mapping[str, bytes]) -> dict[str, str]:
    if ENTRY not in files:
        raise ProblemsError([malformed(ENTRY, "absent")])
    tree, place = read_strict(files[ENTRY], ENTRY)
    problems: list[SlaverifyError] = []
    if not isinstance(tree, dict) or not all(isinstance(value, str) for value in tree.values()):
        raise ProblemsError([malformed(ENTRY, "texts by key")])
    problems += [malformed(place((key,), True), f"unknown key {key}") for key in tree if key not in _KEYS]
    problems += [malformed(place((), False), f"missing key {key}") for key in _KEYS if key not in tree]
    found = {key: str(value) for key, value in tree.items()}
    if found.get("schema", SCHEMAS["contract"]) != SCHEMAS["contract"]:
        problems.append(malformed(place(("schema",), False), "schema"))
    for key in ("event_log", "artifacts_dir", "policy", "evaluation"):
        path = found.get(key, "")
        if path.startswith("/") or "\\" in path or ".." in path.split("/") or ":" in path:
            problems.append(malformed(place((key,), False), "a path outside the folder"))
    if problems:
        raise ProblemsError(problems)
    return found


def _yaml(model: type[_Model], files: Mapping[str, bytes], path: str, problems: list[SlaverifyError]) -> _Model | None:
    if path not in files:
        problems.append(malformed(path, "absent"))
        return None
    tree, place = read_strict(files[path], path)
    found: list[SlaverifyError] = []
    record = read_record(model, tree, "", found)
    for one in found:
        steps = _steps(one.where, tree)
        one.where = f"{place(steps, one.what.en.endswith('not permitted'))}"
    problems += found
    return record


def _steps(where: str, tree: JsonValue) -> tuple[str | int, ...]:
    """Return the path of a problem as the reader of the file keeps it."""
    steps: list[str | int] = []
    here: JsonValue = tree
    for word in where.removeprefix(": ").split("."):
        if isinstance(here, list) and word.isdigit() and int(word) < len(here):
            steps.append(int(word))
            here = here[int(word)]
        elif isinstance(here, dict) and word in here:
            steps.append(word)
            here = here[word]
    return tuple(steps)


def _events(files: Mapping[str, bytes], path: str, problems: list[SlaverifyError]) -> Sequence[Event]:
    if path not in files:
        problems.append(malformed(path, "absent"))
        return ()
    found: list[Event] = []
    for number, line in enumerate(files[path].split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            tree = loads_object(line)
        except StrictJsonError as error:
            problems.append(malformed(f"{path}:{number}", str(error)))
            continue
        event = read_record(Event, tree, f"{path}:{number}", problems)
        found += [] if event is None else [event]
    return found


def _artifacts(files: Mapping[str, bytes], folder: str, problems: list[SlaverifyError]) -> Sequence[Artifact]:
    found: list[Artifact] = []
    lead = folder.rstrip("/") + "/"
    for path in sorted(name for name in files if name.startswith(lead)):
        steps = path[len(lead) :].split("/")
        if len(steps) != 2 or not steps[1].endswith(".json") or len(files[path]) > MAX_ARTIFACT_BYTES:
            problems.append(malformed(path, "<subsystem>/<id>.json, at most 256 KiB"))
            continue
        try:
            tree = loads_object(files[path])
        except StrictJsonError as error:
            problems.append(malformed(path, str(error)))
            continue
        artifact = read_record(Artifact, tree, path, problems)
        if artifact is not None and (artifact.subsystem, f"{artifact.id}.json") != (steps[0], steps[1]):
            problems.append(dangling(path, f"{artifact.subsystem}/{artifact.id}"))
        found += [] if artifact is None else [artifact]
    return found
