"""Levels of custody: facts computed from contract, manifest and ledger, never declared.

Source: docs/spec/ledger.md (levels).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from slaverify.custody.manifest import Manifest
from slaverify.custody.overlaps import same_organisation
from slaverify.custody.permit import RunPermit
from slaverify.custody.shapes import read_time
from slaverify.custody.spot import chosen_by
from slaverify.custody.terms import Terms
from slaverify.custody.view import LedgerView

LEVELS = (
    ("self", ("sealed", "ledger_valid")),
    ("custodied", ("vendor_separate", "start_anchored")),
    ("witnessed", ("opposed_witness", "two_party_draw")),
    ("split", ("roles_split", "shared_recovery", "spot_checked")),
)
"""Name of each level from 0 and the facts that it adds."""
FACTS = tuple(fact for _, facts in LEVELS for fact in facts)
DRILL_PASSED = "passed"
"""Result of a recovery drill that opened its envelope."""
_DRILL_DAYS = 400


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: whether it holds, and the ledger entries that show it."""

    name: str
    holds: bool
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """The level reached (None: not even sealed with a valid ledger), its name, and every fact that is missing."""

    level: int | None
    name: str | None
    missing: tuple[str, ...]


def level_of(facts: Mapping[str, bool]) -> Level:
    """Return the highest level all of whose facts, and of the levels below, hold. An absent fact does not hold."""
    reached = -1
    for number, (_, names) in enumerate(LEVELS):
        if not all(facts.get(name) is True for name in names):
            break
        reached = number
    missing = tuple(name for name in FACTS if facts.get(name) is not True)
    return Level(None, None, missing) if reached < 0 else Level(reached, LEVELS[reached][0], missing)


def capped(level: Level, terms: Terms, view: LedgerView) -> Level:
    """Return the level as it may be stated: a self-check and a demonstration bank are level 0 whatever else holds."""
    if level.level is not None and (terms.self_check or view.demo):
        return Level(0, LEVELS[0][0], level.missing)
    return level


def custody_facts(
    terms: Terms,
    manifest: Manifest,
    view: LedgerView,
    *,
    sealed: bool,
    ledger_valid: bool,
    permit: RunPermit | None,
    witnesses: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Fact, ...]:
    """Compute every fact for the run of `permit`.

    `sealed` and `ledger_valid` are the results of `check_bank` and `verify_ledger`; `permit` is None where the start
    could not be proved anchored. `witnesses` names who signed validly the checkpoints `start` and `end`.
    """
    anchored = permit is not None and bool(permit.anchors)
    spot = tuple(entry.seq for entry in view.find_all("spot_check") if chosen_by(entry) is not None)
    drills = _drills(view)
    return (
        Fact("sealed", sealed, _seqs(view, "bank_sealed")),
        Fact("ledger_valid", ledger_valid),
        Fact("vendor_separate", _vendor_separate(terms, manifest, view)),
        Fact("start_anchored", anchored, (permit.started_seq,) if permit is not None and anchored else ()),
        Fact("opposed_witness", _opposed(terms, witnesses or {})),
        _two_party_draw(terms, view, permit),
        Fact("roles_split", _roles_split(terms, manifest)),
        Fact("shared_recovery", manifest.recovery is not None and manifest.recovery[0] >= 2 and bool(drills), drills),
        Fact("spot_checked", bool(spot), spot),
    )


def _seqs(view: LedgerView, kind: str) -> tuple[int, ...]:
    return tuple(entry.seq for entry in view.find_all(kind))


def _vendor_separate(terms: Terms, manifest: Manifest, view: LedgerView) -> bool:
    vendors = {key.organisation for key in view.keys.values() if "vendor" in key.roles} | {
        terms.parties.get("vendor", "")
    }
    keepers = {manifest.author, manifest.custodian, *(one.organisation for one in manifest.plaintext_access)}
    keepers |= {terms.parties.get(role, "") for role in ("custodian", "auditor")}
    for key in view.keys.values():
        if "vendor" in key.roles and len(key.roles) > 1:
            return False
        if set(key.roles) & {"author", "custodian", "auditor"}:
            keepers.add(key.organisation)
    recipients = {one.age for one in manifest.recipients}
    vendor_ages = {key.age for key in view.keys.values() if "vendor" in key.roles and key.age is not None}
    if recipients & vendor_ages or any(one.role == "vendor" for one in manifest.recipients):
        return False
    return not any(same_organisation(vendor, keeper) for vendor in vendors if vendor for keeper in keepers if keeper)


def _opposed(terms: Terms, witnesses: Mapping[str, Sequence[str]]) -> bool:
    # Witnesses of custodian or auditor oppose nobody.
    interested = {one.name for one in terms.witnesses if one.role not in ("custodian", "auditor", "author")}
    needed = max(1, terms.quorum)
    return all(len(interested & set(witnesses.get(moment, ()))) >= needed for moment in ("start", "end"))


def _two_party_draw(terms: Terms, view: LedgerView, permit: RunPermit | None) -> Fact:
    record = None if permit is None else view.run(terms.contract_digest, permit.run)
    if record is None or record.draw is None or record.draw.data["method"] != "commit_reveal":
        return Fact("two_party_draw", False)
    organisations = {view.keys[entry.actor].organisation for entry in record.all("draw_reveal")}
    complete = sorted(record.roles("draw_commit")) == sorted(record.roles("draw_reveal"))
    seqs = tuple(entry.seq for entry in record.all("draw_reveal"))
    return Fact("two_party_draw", complete and len(organisations) >= 2, seqs)


def _roles_split(terms: Terms, manifest: Manifest) -> bool:
    three = [manifest.author, manifest.custodian, terms.parties.get("auditor", "")]
    return all(three) and not any(same_organisation(three[i], three[j]) for i in range(3) for j in range(i))


def _drills(view: LedgerView) -> tuple[int, ...]:
    last = read_time(view[view.size - 1].time)
    oldest = last - timedelta(days=_DRILL_DAYS)
    # A drill that failed, or whose result nobody wrote down, shows nothing.
    passed = view.find_all("drill", result=DRILL_PASSED)
    return tuple(entry.seq for entry in passed if read_time(entry.time) >= oldest)
