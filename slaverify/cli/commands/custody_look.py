"""`slaverify custody inspect | verify`: what bank and ledger are, and whether they hold. Needs no key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slaverify.cli.commands.custody_desk import private_place
from slaverify.cli.language import t
from slaverify.cli.output import emit, out, say

if TYPE_CHECKING:
    from slaverify.canonical import JsonValue
    from slaverify.custody import Bank, Fact, LedgerView, Level, Terms

_FACTS = {
    "sealed": ("sellado", "sealed"),
    "ledger_valid": ("libro válido", "valid ledger"),
    "vendor_separate": ("proveedor separado", "vendor separate"),
    "start_anchored": ("inicio anclado", "start anchored"),
    "opposed_witness": ("testigo opuesto", "opposed witness"),
    "two_party_draw": ("sorteo entre partes", "two-party draw"),
    "roles_split": ("papeles separados", "roles split"),
    "shared_recovery": ("recuperación repartida y ensayada", "shared recovery, drilled"),
    "spot_checked": ("inspeccionado antes de firmar", "spot-checked"),
}


_DEMANDS = {
    "identifier": ("identificador único", "unique identifier"),
    "access": ("quién accedió, cuándo y dónde", "who accessed, when, where"),
    "authority": ("salida con autoridad y dos firmas", "check-out with authority and two signatures"),
    "transfers": ("todo traspaso, sin vacíos", "every transfer, no gaps"),
    "changes": ("cambios inevitables, por qué y por quién", "unavoidable changes, why, by whom"),
    "everything": ("libro que solo crece", "append-only ledger"),
    "clock": ("desfase del reloj medido", "clock offset measured"),
    "digests": ("digest antes y después", "digest before and after"),
    "tools": ("herramientas y versiones", "tools and versions"),
    "complete": ("todas las corridas", "every run"),
    "handlers": ("quién interviene, con qué clave", "handlers and their keys"),
    "contemporaneous": ("anotado mientras ocurría", "recorded as it happened"),
    "disputes": ("disputas", "disputes"),
    "recovery": ("ensayo de recuperación", "recovery drill"),
    "retention": ("retención y destrucción", "retention and destruction"),
}


def look(folder: Path, contract: Path | None, as_json: bool) -> int:
    """Print what manifest and ledger tell, the level under a contract and what it lacks."""
    from slaverify.custody import checklist

    bank, view, terms = _load(folder, contract)
    runs = [entry for entry in view if entry.type == "run_opened"]
    level, facts = (None, ()) if terms is None else _level(folder, terms, bank, view)
    left = None if terms is None else _audits_left(bank, view, terms)
    manifest = bank.manifest
    if as_json:
        emit(
            {
                "type": "slaverify/inspect/1",
                "bank_id": manifest.bank_id,
                "bank_digest": bank.digest,
                "n": manifest.n,
                "strata": dict(manifest.strata),
                "custodian": manifest.custodian,
                "entries": view.size,
                "runs": len(runs),
                "level": None if level is None else level.level,
                "facts": {fact.name: fact.holds for fact in facts},
                "evidence": {fact.name: list(fact.evidence) for fact in facts},
                "remaining_audits": left,
                "checklist": [
                    {"demand": one.name, "state": one.state, "entries": list(one.evidence)} for one in checklist(view)
                ],
            }
        )
        return 0
    out(f"{manifest.bank_id}: {manifest.n} " + t("preguntas", "items"))
    out("  " + ", ".join(f"{name} {n}" for name, n in sorted(manifest.strata.items())))
    out(f"  {bank.digest}")
    out(
        t(
            f"  custodia: {manifest.custodian}; autoría: {manifest.author}",
            f"  custodian: {manifest.custodian}; author: {manifest.author}",
        )
    )
    out(t(f"  libro: {view.size} entradas, {len(runs)} corridas", f"  ledger: {view.size} entries, {len(runs)} runs"))
    _say_checklist(view)
    if level is None:
        say(t("con --contract: nivel y auditorías que quedan", "with --contract: level and audits left"))
        return 0
    _say_level(level, facts)
    out(t(f"  quedan {left} auditorías", f"  {left} audits left"))
    return 0


def _say_checklist(view: LedgerView) -> None:
    from slaverify.custody import checklist

    out(t("  cadena de custodia:", "  chain of custody:"))
    words = {
        "met": ("consta", "on record"),
        "absent": ("nada anotado", "nothing recorded"),
        "broken": ("roto", "broken"),
    }
    for one in checklist(view):
        last = "" if not one.evidence else t(f" (entrada {one.evidence[-1]})", f" (entry {one.evidence[-1]})")
        out(f"    {t(*_DEMANDS[one.name])}: {t(*words[one.state])}{last}")


def _say_level(level: Level, facts: tuple[Fact, ...]) -> None:
    number = t("sin nivel", "no level") if level.level is None else t(f"nivel {level.level}", f"level {level.level}")
    out(f"  {number}")
    for fact in facts:
        seqs = ", ".join(map(str, fact.evidence))
        mark = t("sí", "yes") if fact.holds else t("falta", "missing")
        out(f"    {mark:<8} {t(*_FACTS[fact.name])}" + (t(f" (entrada {seqs})", f" (entry {seqs})") if seqs else ""))


def _level(folder: Path, terms: Terms, bank: Bank, view: LedgerView) -> tuple[Level, tuple[Fact, ...]]:
    """Return the level of the last run of a contract, as far as the folder shows it."""
    from slaverify.cli.wiring import now
    from slaverify.custody import authorise, capped, custody_facts, level_of, signers, verify_checkpoint
    from slaverify.custody.checkpoints import read_checkpoints
    from slaverify.errors import SlaverifyError
    from slaverify.evidence.timestamp import TokenReader

    runs, permit = view.runs(terms.contract_digest), None
    record = runs[-1] if runs else None
    signed: dict[str, list[str]] = {"start": [], "end": []}
    for point in read_checkpoints(folder):
        try:
            proven = verify_checkpoint(point.data, terms.checkpoint_policy(quorum=0), now())
            view.against(proven.size, proven.root)
            names = [one.name for one in signers(proven, terms, point.ssh_signatures)]
            ended = None if record is None else record.last("run_ended")
            if ended is not None and proven.size > ended.seq:
                signed["end"] += names
            if record is not None and permit is None:
                permit = authorise(
                    view, terms, record.number, point.evidence, now=now(), timestamps=TokenReader(), over=True
                )
                signed["start"] += names
        except SlaverifyError:
            # `custody verify` says what is wrong with a checkpoint; here it only shows nothing.
            continue
    facts = custody_facts(terms, bank.manifest, view, sealed=True, ledger_valid=True, permit=permit, witnesses=signed)
    return capped(level_of({fact.name: fact.holds for fact in facts}), terms, view), facts


def _audits_left(bank: Bank, view: LedgerView, terms: Terms) -> JsonValue:
    from slaverify.canonical import loads_object
    from slaverify.custody import exposure_json

    return loads_object(exposure_json(bank.index, view, terms))["remaining_audits"]


def check(folder: Path, contract: Path | None, checkpoint: Path | None, identity: Path | None, as_json: bool) -> int:
    """Check all that lies in a bank's folder; return 0, or 3 where nothing from outside pins it."""
    from slaverify.custody import check_holders, check_spot_checks, unopened

    bank, view, terms = _load(folder, contract)
    holder = check_holders(view)
    check_spot_checks(bank.index, view)
    # Closed entries are how heartbeats work; it is a report that none of them may lie under.
    closed = len(unopened(view))
    points = _checkpoints(folder, view, terms)
    compared = None if checkpoint is None or terms is None else _compare(folder, checkpoint, view, terms)
    opened = None if identity is None else _open_all(folder, bank, identity)
    pinned = terms is not None
    if as_json:
        emit(
            {
                "type": "slaverify/custody-verify/1",
                "bank_digest": bank.digest,
                "entries": view.size,
                "root": view.root.hex(),
                "pinned": pinned,
                "holder": holder,
                "checkpoints": points,
                "checkpoint_from_elsewhere": compared,
                "items_opened": opened,
                "blind_entries_closed": closed,
            }
        )
    else:
        out(t(f"banco y libro concuerdan: {view.size} entradas", f"bank and ledger agree: {view.size} entries"))
        out(f"{bank.digest}")
        out(t(f"lo tiene: {holder}; puntos de control: {points}", f"held by: {holder}; checkpoints: {points}"))
        if closed:
            out(
                t(
                    f"entradas ciegas sin abrir: {closed}; con ellas ningún informe vale",
                    f"blind entries not opened: {closed}; no report is valid over them",
                )
            )
        if opened is not None:
            out(t(f"{opened} ítems abiertos y comprobados", f"{opened} items opened and checked"))
        if compared is not None:
            out(t(f"continúa el punto de control {compared}", f"continues checkpoint {compared}"))
    if pinned and compared is not None:
        return 0
    say(
        t(
            "SLV-K024: solo coherencia interna; faltan --contract y --checkpoint obtenidos de otra parte",
            "SLV-K024: internally consistent only; give --contract and --checkpoint, obtained elsewhere",
        )
    )
    return 3


def _checkpoints(folder: Path, view: LedgerView, terms: Terms | None) -> int:
    """Check every checkpoint of the folder with what lies beside it; return how many. Raises: CustodyError."""
    from slaverify.cli.wiring import now
    from slaverify.custody import signers, verify_checkpoint
    from slaverify.custody.checkpoints import read_checkpoints
    from slaverify.custody.note import log_policy
    from slaverify.evidence.timestamp import TokenReader

    found = read_checkpoints(folder)
    for point in found:
        policy = log_policy(view.origin, view.log_vkey) if terms is None else terms.checkpoint_policy(quorum=0)
        proven = verify_checkpoint(point.data, policy, now())
        view.against(proven.size, proven.root)
        if terms is not None:
            signers(proven, terms, point.ssh_signatures)
            if point.token is not None and terms.tsa_roots:
                TokenReader().time(proven.body, point.token, terms.tsa_roots)
    return len(found)


def _compare(folder: Path, checkpoint: Path, view: LedgerView, terms: Terms) -> int | None:
    from slaverify.cli.files import read
    from slaverify.cli.wiring import now
    from slaverify.custody import verify_checkpoint

    proven = verify_checkpoint(read(checkpoint, 64 * 1024), terms.checkpoint_policy(quorum=0), now())
    view.against(proven.size, proven.root)
    # What lies beside the ledger was given by who gave the ledger: it is no second source.
    return None if checkpoint.resolve().is_relative_to(folder.resolve()) else proven.size


def _open_all(folder: Path, bank: Bank, identity: Path) -> int:
    from slaverify.custody.keys import read_age_identity
    from slaverify.custody.vault import check_items

    with private_place() as private:
        return check_items(folder, bank, read_age_identity(identity), private)


def _load(folder: Path, contract: Path | None) -> tuple[Bank, LedgerView, Terms | None]:
    from slaverify.contract.load import load_contract
    from slaverify.custody import read_ledger, terms_of
    from slaverify.custody.vault import ledger_bytes, load_bank

    if contract is None:
        return load_bank(folder), read_ledger(ledger_bytes(folder), None), None
    loaded = load_contract(contract)
    terms = terms_of(loaded.tree, loaded.digest)
    return load_bank(folder, terms), read_ledger(ledger_bytes(folder), terms.trust), terms
