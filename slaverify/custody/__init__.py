"""The escrow: commitments, Merkle tree, ledger, checkpoints, draw, exposure, openings, levels.

This face is the pure half: values in, values out, no file, clock or network. What touches the disk or a private key
stands behind second doors: `custody.seal`, `custody.vault`, `custody.keys`, `custody.append`, `custody.deliver`.

Trust boundary: sealed banks, openings, ledgers, checkpoints and deliveries come from outside and may be truncated,
forged, forked or replayed.
"""

from slaverify.custody.arms import ARM_NAMES, Arms
from slaverify.custody.beacon import beacon_randomness, beacon_round
from slaverify.custody.blind import BlindSecret, blind_commitment, check_blinds_opened, longest_gap, unopened
from slaverify.custody.checklist import Demand, checklist
from slaverify.custody.commitments import Leaf, Part, commitment, item_bytes, part_bytes, salt
from slaverify.custody.cosigners import UNTIMED, Signer, signers
from slaverify.custody.disputes import Dispute, dispute_state, disputes_of, rulings
from slaverify.custody.draw import (
    Draw,
    Selection,
    arms_left,
    check_sent,
    draw_data,
    draw_json,
    draw_run,
    exposure_json,
    ledger_events,
    select,
)
from slaverify.custody.draw_order import DRAWERS, check_draw_order, due_round, read_round, waiting
from slaverify.custody.ed25519 import SigningKey, key_id
from slaverify.custody.entries import Entry, split_lines
from slaverify.custody.exposure import ExposureEvent, ItemState, eligible, item_states, remaining_audits
from slaverify.custody.holders import check_holders
from slaverify.custody.index import PROBE, Index, parse_index
from slaverify.custody.leaks import (
    Integrity,
    anchor_power,
    fresh_vs_exposed,
    honeytoken,
    integrity,
    spot_check_power,
    twin_mcnemar,
    twin_power,
)
from slaverify.custody.ledger_rules import (
    Expected,
    LedgerState,
    Trust,
    genesis_prev,
    read_ledger,
    verify_ledger,
)
from slaverify.custody.levels import Fact, Level, capped, custody_facts, level_of
from slaverify.custody.manifest import Access, Bank, Manifest, Recipient, check_bank, parse_manifest
from slaverify.custody.merkle import (
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    verify_consistency,
    verify_inclusion,
)
from slaverify.custody.merkle import root as merkle_root
from slaverify.custody.note import (
    CheckpointPolicy,
    NoteKey,
    VerifiedCheckpoint,
    bank_origin,
    parse_vkey,
    slug,
    verify_checkpoint,
    verify_note,
)
from slaverify.custody.opening import Opened, make_opening, parse_opening, verify_opening
from slaverify.custody.permit import RunPermit, StartEvidence, authorise, check_not_early
from slaverify.custody.ports import Clock, Timestamper, TimestampVerifier, TokenTime
from slaverify.custody.register import RegisteredKey
from slaverify.custody.runs import SECOND_STAGE, RunRecord
from slaverify.custody.seeds import draw_commitment, draw_seed, ticket
from slaverify.custody.spot import bad_rate_bound, check_spot_checks, spot_items
from slaverify.custody.sshsig import verify_sshsig
from slaverify.custody.terms import Terms, Witness, terms_of
from slaverify.custody.view import LedgerView

__all__ = [
    "ARM_NAMES",
    "DRAWERS",
    "PROBE",
    "SECOND_STAGE",
    "UNTIMED",
    "Access",
    "Arms",
    "Bank",
    "BlindSecret",
    "CheckpointPolicy",
    "Clock",
    "Demand",
    "Dispute",
    "Draw",
    "Entry",
    "Expected",
    "ExposureEvent",
    "Fact",
    "Frontier",
    "Index",
    "Integrity",
    "ItemState",
    "Leaf",
    "LedgerState",
    "LedgerView",
    "Level",
    "Manifest",
    "NoteKey",
    "Opened",
    "Part",
    "Recipient",
    "RegisteredKey",
    "RunPermit",
    "RunRecord",
    "Selection",
    "Signer",
    "SigningKey",
    "StartEvidence",
    "Terms",
    "TimestampVerifier",
    "Timestamper",
    "TokenTime",
    "Trust",
    "VerifiedCheckpoint",
    "Witness",
    "anchor_power",
    "arms_left",
    "authorise",
    "bad_rate_bound",
    "bank_origin",
    "beacon_randomness",
    "beacon_round",
    "blind_commitment",
    "capped",
    "check_bank",
    "check_blinds_opened",
    "check_draw_order",
    "check_holders",
    "check_not_early",
    "check_sent",
    "check_spot_checks",
    "checklist",
    "commitment",
    "consistency_proof",
    "custody_facts",
    "dispute_state",
    "disputes_of",
    "draw_commitment",
    "draw_data",
    "draw_json",
    "draw_run",
    "draw_seed",
    "due_round",
    "eligible",
    "exposure_json",
    "fresh_vs_exposed",
    "genesis_prev",
    "honeytoken",
    "inclusion_proof",
    "integrity",
    "item_bytes",
    "item_states",
    "key_id",
    "leaf_hash",
    "ledger_events",
    "level_of",
    "longest_gap",
    "make_opening",
    "merkle_root",
    "parse_index",
    "parse_manifest",
    "parse_opening",
    "parse_vkey",
    "part_bytes",
    "read_ledger",
    "read_round",
    "remaining_audits",
    "rulings",
    "salt",
    "select",
    "signers",
    "slug",
    "split_lines",
    "spot_check_power",
    "spot_items",
    "terms_of",
    "ticket",
    "twin_mcnemar",
    "twin_power",
    "unopened",
    "verify_checkpoint",
    "verify_consistency",
    "verify_inclusion",
    "verify_ledger",
    "verify_note",
    "verify_opening",
    "verify_sshsig",
    "waiting",
]
