"""One function for each kind of custody vector: input tree -> output tree, or a CustodyError."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from slaverify import custody
from slaverify.custody import seeds
from slaverify.custody.exposure import eligible, remaining_audits
from slaverify.custody.manifest import parse_manifest

KINDS: dict[str, Callable[[dict], dict]] = {}


def kind(function: Callable[[dict], dict]) -> Callable[[dict], dict]:
    KINDS[function.__name__] = function
    return function


def _hex(items: list[str]) -> list[bytes]:
    return [bytes.fromhex(item) for item in items]


def _digest(hex_text: str) -> str:
    return "sha256:" + hex_text


@kind
def item_bytes(case: dict) -> dict:
    data = custody.item_bytes(case["json"].encode("utf-8", "surrogatepass"))
    import hashlib

    return {"canonical": data.decode(), "sha256": hashlib.sha256(data).hexdigest()}


@kind
def salt(case: dict) -> dict:
    return {"salt": custody.salt(bytes.fromhex(case["seed"]), case["i"], custody.Part(case["part"])).hex()}


@kind
def commitment(case: dict) -> dict:
    found = custody.commitment(bytes.fromhex(case["salt"]), custody.Part(case["part"]), case["content"].encode())
    return {"commitment": found.hex()}


@kind
def leaf(case: dict) -> dict:
    line = custody.Leaf(**case).line()
    return {"leaf": line.decode(), "leaf_hash": custody.leaf_hash(line).hex()}


@kind
def index(case: dict) -> dict:
    found = custody.parse_index(case["index_jsonl"].encode())
    assert found.file_bytes() == case["index_jsonl"].encode()
    return {"n": len(found.leaves), "root": found.root.hex(), "index_sha256": found.sha256()}


@kind
def manifest_digest(case: dict) -> dict:
    from slaverify.canonical import digest_of, jcs

    data = jcs(case["manifest"])
    assert parse_manifest(data).file_bytes() == data
    return {"canonical": data.decode(), "bank_digest": digest_of(data)}


@kind
def merkle_root(case: dict) -> dict:
    return {"root": custody.merkle_root(custody.leaf_hash(one) for one in _hex(case["leaves_hex"])).hex()}


@kind
def merkle_tree(case: dict) -> dict:
    leaves = [custody.leaf_hash(one) for one in _hex(case["leaves_hex"])]
    return {
        "root": custody.merkle_root(leaves).hex(),
        "inclusion": [[one.hex() for one in custody.inclusion_proof(leaves, i)] for i in range(len(leaves))],
        "consistency": {
            str(m): [one.hex() for one in custody.consistency_proof(leaves, m)] for m in range(1, len(leaves) + 1)
        },
    }


@kind
def inclusion(case: dict) -> dict:
    leaf_hash, root = bytes.fromhex(case["leaf_hash"]), bytes.fromhex(case["root"])
    return {"valid": custody.verify_inclusion(leaf_hash, case["i"], case["n"], _hex(case["proof"]), root)}


@kind
def consistency(case: dict) -> dict:
    roots = bytes.fromhex(case["root_m"]), bytes.fromhex(case["root_n"])
    return {"valid": custody.verify_consistency(case["m"], case["n"], *roots, _hex(case["proof"]))}


@kind
def note(case: dict) -> dict:
    custody.verify_note(case["note"].encode(), custody.parse_vkey(case["vkey"]))
    return {"valid": True}


@kind
def vkey(case: dict) -> dict:
    key = custody.NoteKey(case["name"], case["type"], bytes.fromhex(case["public_key"]))
    assert custody.parse_vkey(key.vkey()) == key
    return {"key_id": key.hash4.hex(), "vkey": key.vkey()}


@kind
def genesis_prev(case: dict) -> dict:
    return {"prev": custody.genesis_prev(case["origin"], bytes.fromhex(case["log_public_key"]))}


@kind
def ledger(case: dict) -> dict:
    stated = case["expected_checkpoint"]
    expected = None if stated is None else custody.Expected(stated["size"], bytes.fromhex(stated["root"]))
    lines = [line.encode() for line in case["lines"]]
    view = custody.verify_ledger(lines, custody.Trust(case["trust"]["origin"], case["trust"]["log_vkey"]), expected)
    assert view.file_bytes() == b"".join(line + b"\n" for line in lines)
    return {"valid": True, "size": view.size, "root": view.root.hex()}


@kind
def checkpoint(case: dict) -> dict:
    from slaverify.custody.note import log_policy

    stated = case["policy"]
    witnesses = [custody.parse_vkey(one) for one in stated["witnesses"]]
    policy = log_policy(stated["origin"], stated["log_vkey"], witnesses, stated["quorum"])
    found = custody.verify_checkpoint(case["checkpoint"].encode(), policy, datetime.fromtimestamp(stated["now"], UTC))
    return {"valid": True, "size": found.size, "root": found.root.hex(), "cosigned_at": dict(found.cosigned_at)}


@kind
def sshsig(case: dict) -> dict:
    custody.verify_sshsig(case["body"].encode(), case["public_key"], case["signature"])
    return {"valid": True}


@kind
def blind(case: dict) -> dict:
    return {"commitment": custody.blind_commitment(bytes.fromhex(case["salt"]), case["content"].encode()).hex()}


@kind
def draw_commit(case: dict) -> dict:
    nonce = bytes.fromhex(case["nonce"])
    found = custody.draw_commitment(case["role"], _digest(case["contract_digest"]), case["run"], nonce)
    return {"commitment": found.hex()}


@kind
def draw_seed(case: dict) -> dict:
    nonces = {role: bytes.fromhex(one) for role, one in case["nonces"].items()}
    light = None if case["beacon"] is None else bytes.fromhex(case["beacon"])
    root = bytes.fromhex(case["root"])
    return {"seed": custody.draw_seed(root, _digest(case["contract_digest"]), case["run"], nonces, light).hex()}


@kind
def draw_ticket(case: dict) -> dict:
    return {"ticket": seeds.ticket(bytes.fromhex(case["seed"]), case["arm"], case["id"]).hex()}


@kind
def draw_sample(case: dict) -> dict:
    leaves = custody.parse_index(case["index_jsonl"].encode())
    events = [
        custody.ExposureEvent("batch", 0, ("c", 1), tuple(case["sent"])),
        custody.ExposureEvent("disclosed", 1, ("c", 1), tuple(case["disclosed"])),
    ]
    seed = bytes.fromhex(case["seed"])
    found = custody.select(eligible(leaves, events), seed, case["n_per_stratum"], case["reserve"])
    return {
        "fresh": {name: list(ids) for name, ids in found.sample.items()},
        "reserve": {name: list(ids) for name, ids in found.reserve.items()},
        "sample_sha256": found.sha256,
    }


@kind
def beacon_randomness(case: dict) -> dict:
    if importlib.util.find_spec("py_ecc") is None:
        pytest.skip("py-ecc is not installed: beacon signatures are not checked here")
    signature, key = bytes.fromhex(case["signature"]), bytes.fromhex(case["public_key"])
    return {"valid": True, "randomness": custody.beacon_randomness(case["round"], signature, key).hex()}


@kind
def beacon_round(case: dict) -> dict:
    return {"round": custody.beacon_round(case["not_before"], case["genesis"], case["period"])}


@kind
def exposure(case: dict) -> dict:
    leaves = custody.parse_index(case["index_jsonl"].encode())
    events = [_event(number, one) for number, one in enumerate(case["events"])]
    states = custody.item_states(events)
    available = {stratum: len(ids) for stratum, ids in eligible(leaves, events).items()}
    return {
        "not_unused": {item: state.word for item, state in states.items()},
        "remaining_audits": remaining_audits(available, case["n_per_stratum"]),
    }


def _event(seq: int, one: dict) -> custody.ExposureEvent:
    names = {"run_aborted": "ended", "run_ended": "ended", "item_opened": "disclosed"}
    items = [*one.get("items", []), *one.get("sent", []), *one.get("in_flight", [])]
    items += [one["item"]] if "item" in one else []
    return custody.ExposureEvent(names.get(one["type"], one["type"]), seq, ("c", one.get("run", 0)), tuple(items))


@kind
def spot_check_power(case: dict) -> dict:
    found = custody.spot_check_power(case["bank_size"], case["bad_items"], case["opened"])
    return {"detection_probability": float(found)}


@kind
def honeytoken(case: dict) -> dict:
    return {"p_value": float(custody.honeytoken(case["asked"], case["hits"], case["variants"]))}


@kind
def twin_mcnemar(case: dict) -> dict:
    return {"p_value": float(custody.twin_mcnemar(case["original_only_right"], case["twin_only_right"]))}


@kind
def fresh_vs_exposed(case: dict) -> dict:
    names = ("exposed_right", "exposed_n", "fresh_right", "fresh_n")
    return {"p_value": float(custody.fresh_vs_exposed(*(case[name] for name in names)))}


@kind
def level(case: dict) -> dict:
    found = custody.level_of(case)
    return {"level": found.level, "name": found.name}


@kind
def dispute(case: dict) -> dict:
    state, reason = custody.dispute_state(case["as_scored"], case["all_for_vendor"], case["all_against_vendor"])
    return {"state": state} if reason is None else {"state": state, "reason": reason}


@kind
def opening(case: dict) -> dict:
    found = custody.verify_opening(
        case["opening"],
        case["manifest"].encode(),
        bank_digest=case["contract_bank_digest"],
        bank_vkey=case["bank_vkey"],
    )
    return {"valid": True, "i": found.leaf.i, "id": found.leaf.id}
