"""The settings of a contract that custody reads, with the contract's defaults.

Source: docs/spec/contract.md, docs/spec/ledger.md (settings read).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slaverify.canonical import JsonObject, JsonValue
from slaverify.custody.faults import fault
from slaverify.custody.ledger_rules import Trust
from slaverify.custody.note import COSIGNER, CheckpointPolicy, NoteKey, log_policy, parse_vkey
from slaverify.custody.shapes import counts, objects, optional_text, text, texts
from slaverify.errors import Text


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness that the contract names: a C2SP cosigner or an SSH key."""

    name: str
    role: str
    vkey: str | None
    ssh: str | None


@dataclass(frozen=True, slots=True)
class BeaconTerms:
    """The public beacon that a contract adds to the seed: chain hash (hex) and public key (96 bytes)."""

    chain_hash: str
    public_key: bytes


@dataclass(frozen=True)
class Terms:
    """What a contract says about custody. Digests are `sha256:<hex>`."""

    contract_digest: str
    bank_digest: str
    self_check: bool
    parties: Mapping[str, str]
    """Organisation of each role."""
    exposure_group: str
    method: str
    per_stratum: Mapping[str, int]
    reserve: int
    release_at_start: bool
    arms: Mapping[str, int]
    reuse: bool
    origin: str
    vkey: str
    witnesses: tuple[Witness, ...]
    quorum: int
    start_anchor: str
    run_budget: int
    deadline_hours: int
    blind: bool
    heartbeat_hours: int
    tsa_roots: tuple[str, ...]
    max_upheld: Decimal
    beacon: BeaconTerms | None = None
    alpha_leak: Decimal = Decimal("0.01")
    adjudicator: str | None = None
    """Key id of who alone resolves disputes, if the contract pins one."""
    extension: Mapping[str, int] = field(default_factory=dict)
    """Items of each stratum that a second stage adds; empty where the contract agrees on none."""

    @property
    def trust(self) -> Trust:
        """What the contract pins of the ledger."""
        return Trust(self.origin, self.vkey)

    def checkpoint_policy(self, *, quorum: int | None = None) -> CheckpointPolicy:
        """Return what a checkpoint of the ledger must satisfy; `quorum` overrides the contract's."""
        return log_policy(self.origin, self.vkey, self.cosigners(), self.quorum if quorum is None else quorum)

    def cosigners(self) -> tuple[NoteKey, ...]:
        """Return the keys of the witnesses that cosign. Raises: CustodyError SLV-K029 for a malformed one."""
        return tuple(_cosigner(one.vkey) for one in self.witnesses if one.vkey is not None)


def terms_of(tree: JsonObject, contract_digest: str) -> Terms:
    """Read the terms from a contract's tree (validated, frozen or with defaults filled in).

    Raises: CustodyError SLV-K010 if a key that custody needs is absent.
    """
    try:
        return _terms(tree, contract_digest)
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise fault(
            10,
            f"al contrato le falta lo que la custodia necesita: {error}",
            f"the contract lacks what custody needs: {error}",
            fix=Text("revise el contrato con «slaverify contract check»", "run `slaverify contract check`"),
        ) from error


def _terms(tree: JsonObject, contract_digest: str) -> Terms:
    head, parties, evaluation, ledger = (
        _block(tree, key) for key in ("contract", "parties", "evaluation_set", "ledger")
    )
    sample, vendor = _block(evaluation, "sample"), _block(parties, "vendor")
    self_check = head.get("purpose") == "self_check"
    group = optional_text(vendor, "exposure_group") or optional_text(vendor, "legal_id") or text(vendor, "name")
    disputes = _optional_block(tree, "disputes")
    signature = _optional_block(_optional_block(tree, "report"), "signature")
    return Terms(
        contract_digest=contract_digest,
        bank_digest=text(evaluation, "bank_digest"),
        self_check=self_check,
        parties={
            role: text(party, "name")
            for role, party in parties.items()
            if isinstance(party, Mapping) and "name" in party
        },
        exposure_group=group,
        method=text(sample, "method"),
        per_stratum=counts(sample, "per_stratum"),
        reserve=_number(sample.get("reserve"), 0),
        release_at_start=sample.get("release") == "at_start",
        arms=counts(sample, "arms"),
        reuse=evaluation.get("exposure") == "reuse",
        origin=text(ledger, "origin"),
        vkey=text(ledger, "vkey"),
        witnesses=tuple(
            Witness(text(one, "name"), text(one, "role"), optional_text(one, "vkey"), optional_text(one, "ssh"))
            for one in objects(ledger, "witnesses")
        ),
        quorum=_number(ledger.get("quorum"), 0),
        start_anchor=optional_text(ledger, "start_anchor") or ("none" if self_check else "timestamp"),
        run_budget=_number(ledger.get("run_budget"), 1),
        deadline_hours=_number(ledger.get("deadline_hours"), 72),
        blind=ledger.get("blind") == "on",
        heartbeat_hours=_number(ledger.get("heartbeat_hours"), 24),
        tsa_roots=texts(signature, "tsa_roots") if signature.get("tsa_roots") is not None else (),
        max_upheld=Decimal(optional_text(disputes, "max_upheld") or "0.05"),
        beacon=_beacon(ledger),
        alpha_leak=Decimal(optional_text(ledger, "alpha_leak") or "0.01"),
        adjudicator=optional_text(_optional_block(disputes, "adjudicator"), "key_id"),
        extension=counts(
            _optional_block(_optional_block(_optional_block(tree, "verdict"), "inconclusive"), "extend"), "per_stratum"
        ),
    )


def _beacon(ledger: JsonObject) -> BeaconTerms | None:
    if ledger.get("beacon") is None:
        return None
    stated = _block(ledger, "beacon")
    return BeaconTerms(text(stated, "chain_hash"), bytes.fromhex(text(stated, "public_key")))


def _block(tree: JsonObject, key: str) -> JsonObject:
    value = tree[key]
    if not isinstance(value, Mapping):
        raise TypeError(key)
    return value


def _optional_block(tree: JsonObject, key: str) -> JsonObject:
    value = tree.get(key)
    return value if isinstance(value, Mapping) else {}


def _number(value: JsonValue, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int):
        raise TypeError("not an integer")
    return value


def _cosigner(vkey: str) -> NoteKey:
    try:
        key = parse_vkey(vkey)
    except ValueError as error:
        raise fault(29, f"clave de testigo: {error}", f"witness key: {error}") from error
    if key.algorithm != COSIGNER:
        raise fault(29, f"{key.name} no es clave de cofirma", f"{key.name} is not a cosigner key")
    return key
