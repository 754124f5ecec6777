"""One function for each kind of custody vector: plain JSON in, plain JSON out, or a refusal of this room.

Source: docs/spec/bank.md, docs/spec/ledger.md and the vector file itself.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from slaverify.canonical import JsonObject, digest_of, jcs, loads_object, sha256_hex
from slaverify.custody import merkle, seeds
from slaverify.custody.beacon import beacon_randomness, beacon_round
from slaverify.custody.blind import blind_commitment
from slaverify.custody.commitments import Leaf, Part, commitment, item_bytes, salt
from slaverify.custody.disputes import dispute_state
from slaverify.custody.draw import select
from slaverify.custody.exposure import ExposureEvent, eligible, item_states, remaining_audits
from slaverify.custody.index import parse_index
from slaverify.custody.leaks import fresh_vs_exposed, honeytoken, spot_check_power, twin_mcnemar
from slaverify.custody.ledger_rules import Expected, Trust, genesis_prev, verify_ledger
from slaverify.custody.levels import level_of
from slaverify.custody.manifest import parse_manifest
from slaverify.custody.note import NoteKey, log_policy, parse_vkey, verify_checkpoint, verify_note
from slaverify.custody.opening import verify_opening
from slaverify.custody.sshsig import verify_sshsig
from slaverify.statistics.vectors import Inputs, Outputs, integer, texts
from slaverify.statistics.vectors import text as _text

Kind: TypeAlias = Callable[[Inputs], Outputs]


class NotPerformedError(Exception):
    """A vector that this installation cannot run, and why."""


def text(case: Inputs, key: str) -> str:
    """Return a text that must be there. Raises: ValueError."""
    if key not in case:
        raise ValueError(f"{key}: a text is due")
    return _text(case, key)


def _hex(case: Inputs, key: str) -> bytes:
    return bytes.fromhex(text(case, key))


def _hexes(case: Inputs, key: str) -> list[bytes]:
    return [bytes.fromhex(one) for one in texts(case, key)]


def _object(case: Inputs, key: str) -> Mapping[str, object]:
    value = case.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{key}: an object is due")
    return value


def _objects(case: Inputs, key: str) -> list[Mapping[str, object]]:
    value = case.get(key)
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError(f"{key}: a list of objects is due")
    return value


def _counts(case: Inputs, key: str) -> dict[str, int]:
    found = _object(case, key)
    return {name: integer(found, name) for name in found}


def _tree(case: Inputs, key: str) -> JsonObject:
    return loads_object(json.dumps(_object(case, key)).encode())


def _digest(case: Inputs, key: str) -> str:
    return "sha256:" + text(case, key)


def _part(case: Inputs) -> Part:
    return Part(text(case, "part"))


def _item_bytes(case: Inputs) -> Outputs:
    data = item_bytes(text(case, "json").encode("utf-8", "surrogatepass"))
    return {"canonical": data.decode(), "sha256": sha256_hex(data)}


def _salt(case: Inputs) -> Outputs:
    return {"salt": salt(_hex(case, "seed"), integer(case, "i"), _part(case)).hex()}


def _commitment(case: Inputs) -> Outputs:
    return {"commitment": commitment(_hex(case, "salt"), _part(case), text(case, "content").encode()).hex()}


def _leaf(case: Inputs) -> Outputs:
    twin = text(case, "twin_of") if "twin_of" in case else None
    commitments = text(case, "c_query"), text(case, "c_reference")
    line = Leaf(integer(case, "i"), text(case, "id"), text(case, "stratum"), *commitments, twin).line()
    return {"leaf": line.decode(), "leaf_hash": merkle.leaf_hash(line).hex()}


def _index(case: Inputs) -> Outputs:
    data = text(case, "index_jsonl").encode()
    found = parse_index(data)
    return {"n": len(found.leaves), "root": found.root.hex(), "index_sha256": sha256_hex(data)}


def _manifest_digest(case: Inputs) -> Outputs:
    data = parse_manifest(jcs(_tree(case, "manifest"))).file_bytes()
    return {"canonical": data.decode(), "bank_digest": digest_of(data)}


def _merkle_root(case: Inputs) -> Outputs:
    return {"root": merkle.root(merkle.leaf_hash(one) for one in _hexes(case, "leaves_hex")).hex()}


def _merkle_tree(case: Inputs) -> Outputs:
    leaves = [merkle.leaf_hash(one) for one in _hexes(case, "leaves_hex")]
    sizes = range(1, len(leaves) + 1)
    return {
        "root": merkle.root(leaves).hex(),
        "inclusion": [[one.hex() for one in merkle.inclusion_proof(leaves, i)] for i in range(len(leaves))],
        "consistency": {str(m): [one.hex() for one in merkle.consistency_proof(leaves, m)] for m in sizes},
    }


def _inclusion(case: Inputs) -> Outputs:
    leaf, root, proof = _hex(case, "leaf_hash"), _hex(case, "root"), _hexes(case, "proof")
    return {"valid": merkle.verify_inclusion(leaf, integer(case, "i"), integer(case, "n"), proof, root)}


def _consistency(case: Inputs) -> Outputs:
    roots = _hex(case, "root_m"), _hex(case, "root_n")
    return {"valid": merkle.verify_consistency(integer(case, "m"), integer(case, "n"), *roots, _hexes(case, "proof"))}


def _note(case: Inputs) -> Outputs:
    verify_note(text(case, "note").encode(), parse_vkey(text(case, "vkey")))
    return {"valid": True}


def _vkey(case: Inputs) -> Outputs:
    key = NoteKey(text(case, "name"), integer(case, "type"), _hex(case, "public_key"))
    return {"key_id": key.hash4.hex(), "vkey": parse_vkey(key.vkey()).vkey()}


def _genesis_prev(case: Inputs) -> Outputs:
    return {"prev": genesis_prev(text(case, "origin"), _hex(case, "log_public_key"))}


def _ledger(case: Inputs) -> Outputs:
    trust = _object(case, "trust")
    expected = None
    if case.get("expected_checkpoint") is not None:
        stated = _object(case, "expected_checkpoint")
        expected = Expected(integer(stated, "size"), _hex(stated, "root"))
    lines = [line.encode() for line in texts(case, "lines")]
    view = verify_ledger(lines, Trust(text(trust, "origin"), text(trust, "log_vkey")), expected)
    return {"valid": True, "size": view.size, "root": view.root.hex()}


def _checkpoint(case: Inputs) -> Outputs:
    stated = _object(case, "policy")
    witnesses = [parse_vkey(one) for one in texts(stated, "witnesses")]
    policy = log_policy(text(stated, "origin"), text(stated, "log_vkey"), witnesses, integer(stated, "quorum"))
    now = datetime.fromtimestamp(integer(stated, "now"), UTC)
    found = verify_checkpoint(text(case, "checkpoint").encode(), policy, now)
    return {"valid": True, "size": found.size, "root": found.root.hex(), "cosigned_at": dict(found.cosigned_at)}


def _sshsig(case: Inputs) -> Outputs:
    verify_sshsig(text(case, "body").encode(), text(case, "public_key"), text(case, "signature"))
    return {"valid": True}


def _blind(case: Inputs) -> Outputs:
    return {"commitment": blind_commitment(_hex(case, "salt"), text(case, "content").encode()).hex()}


def _draw_commit(case: Inputs) -> Outputs:
    found = seeds.draw_commitment(
        text(case, "role"), _digest(case, "contract_digest"), integer(case, "run"), _hex(case, "nonce")
    )
    return {"commitment": found.hex()}


def _draw_seed(case: Inputs) -> Outputs:
    nonces = _object(case, "nonces")
    told = {role: _hex(nonces, role) for role in nonces}
    light = None if case.get("beacon") is None else _hex(case, "beacon")
    digest, run = _digest(case, "contract_digest"), integer(case, "run")
    return {"seed": seeds.draw_seed(_hex(case, "root"), digest, run, told, light).hex()}


def _draw_ticket(case: Inputs) -> Outputs:
    return {"ticket": seeds.ticket(_hex(case, "seed"), text(case, "arm"), text(case, "id")).hex()}


def _draw_sample(case: Inputs) -> Outputs:
    index = parse_index(text(case, "index_jsonl").encode())
    events = [
        ExposureEvent("batch", 0, ("c", 1), tuple(texts(case, "sent"))),
        ExposureEvent("disclosed", 1, ("c", 1), tuple(texts(case, "disclosed"))),
    ]
    planned, spare = _counts(case, "n_per_stratum"), integer(case, "reserve")
    found = select(eligible(index, events), _hex(case, "seed"), planned, spare)
    return {
        "fresh": {name: list(ids) for name, ids in found.sample.items()},
        "reserve": {name: list(ids) for name, ids in found.reserve.items()},
        "sample_sha256": found.sha256,
    }


def _beacon_randomness(case: Inputs) -> Outputs:
    if importlib.util.find_spec("py_ecc") is None:
        raise NotPerformedError("the extra `beacon` is not installed")
    found = beacon_randomness(integer(case, "round"), _hex(case, "signature"), _hex(case, "public_key"))
    return {"valid": True, "randomness": found.hex()}


def _beacon_round(case: Inputs) -> Outputs:
    return {"round": beacon_round(integer(case, "not_before"), integer(case, "genesis"), integer(case, "period"))}


_EVENTS = {"run_aborted": "ended", "run_ended": "ended", "item_opened": "disclosed"}


def _event(seq: int, one: Mapping[str, object]) -> ExposureEvent:
    items = [item for key in ("items", "sent", "in_flight") if key in one for item in texts(one, key)]
    items += [text(one, "item")] if "item" in one else []
    run = integer(one, "run") if "run" in one else 0
    return ExposureEvent(_EVENTS.get(text(one, "type"), text(one, "type")), seq, ("c", run), tuple(items))


def _exposure(case: Inputs) -> Outputs:
    index = parse_index(text(case, "index_jsonl").encode())
    events = [_event(seq, one) for seq, one in enumerate(_objects(case, "events"))]
    available = {stratum: len(ids) for stratum, ids in eligible(index, events).items()}
    return {
        "not_unused": {item: state.word for item, state in item_states(events).items()},
        "remaining_audits": remaining_audits(available, _counts(case, "n_per_stratum")),
    }


def _spot_check_power(case: Inputs) -> Outputs:
    sizes = (integer(case, name) for name in ("bank_size", "bad_items", "opened"))
    return {"detection_probability": float(spot_check_power(*sizes))}


def _honeytoken(case: Inputs) -> Outputs:
    return {"p_value": float(honeytoken(*(integer(case, name) for name in ("asked", "hits", "variants"))))}


def _twin_mcnemar(case: Inputs) -> Outputs:
    return {"p_value": float(twin_mcnemar(integer(case, "original_only_right"), integer(case, "twin_only_right")))}


def _fresh_vs_exposed(case: Inputs) -> Outputs:
    names = ("exposed_right", "exposed_n", "fresh_right", "fresh_n")
    return {"p_value": float(fresh_vs_exposed(*(integer(case, name) for name in names)))}


def _level(case: Inputs) -> Outputs:
    found = level_of({name: value is True for name, value in case.items()})
    return {"level": found.level, "name": found.name}


def _dispute(case: Inputs) -> Outputs:
    names = ("as_scored", "all_for_vendor", "all_against_vendor")
    state, reason = dispute_state(*(text(case, name) for name in names))
    return {"state": state, "reason": reason}


def _opening(case: Inputs) -> Outputs:
    found = verify_opening(
        _tree(case, "opening"),
        text(case, "manifest").encode(),
        bank_digest=text(case, "contract_bank_digest"),
        bank_vkey=text(case, "bank_vkey"),
    )
    return {"valid": True, "i": found.leaf.i, "id": found.leaf.id}


KINDS: Mapping[str, Kind] = {
    "beacon_randomness": _beacon_randomness,
    "beacon_round": _beacon_round,
    "blind": _blind,
    "checkpoint": _checkpoint,
    "commitment": _commitment,
    "consistency": _consistency,
    "dispute": _dispute,
    "draw_commit": _draw_commit,
    "draw_sample": _draw_sample,
    "draw_seed": _draw_seed,
    "draw_ticket": _draw_ticket,
    "exposure": _exposure,
    "fresh_vs_exposed": _fresh_vs_exposed,
    "genesis_prev": _genesis_prev,
    "honeytoken": _honeytoken,
    "inclusion": _inclusion,
    "index": _index,
    "item_bytes": _item_bytes,
    "leaf": _leaf,
    "ledger": _ledger,
    "level": _level,
    "manifest_digest": _manifest_digest,
    "merkle_root": _merkle_root,
    "merkle_tree": _merkle_tree,
    "note": _note,
    "opening": _opening,
    "salt": _salt,
    "spot_check_power": _spot_check_power,
    "sshsig": _sshsig,
    "twin_mcnemar": _twin_mcnemar,
    "vkey": _vkey,
}
"""Every kind that a custody vector may have."""
