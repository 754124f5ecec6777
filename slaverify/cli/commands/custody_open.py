"""`slaverify custody open | expose | recover`: what leaves the vault, who has seen what, and getting back in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from slaverify.cli.commands.custody_desk import (
    BANK,
    CONTRACT,
    DRY,
    JSON,
    YES,
    ask,
    done,
    open_desk,
    open_ledger,
    private_place,
)
from slaverify.cli.language import t
from slaverify.cli.output import emit, out
from slaverify.errors import ApplicationError, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slaverify.canonical import JsonValue
    from slaverify.cli.commands.custody_desk import Desk
    from slaverify.custody import Terms

_DISCLOSED = Text(
    "quien lo recibe puede copiarlo y pasarlo; el ítem ya no se vuelve a sortear",
    "whoever gets it can copy it and pass it on; the item is never drawn again",
)


def register(group: typer.Typer) -> None:
    """Add the verbs to `slaverify custody`."""
    group.command("open", help=t("Abre un ítem, o los de una inspección.", "Open one item, or a spot check."))(open_)
    group.command(help=t("Qué se ha visto y cuántas auditorías quedan.", "What was seen; audits left."))(expose)
    group.command(help=t("Recupera la identidad, o ensaya.", "Recover the identity, or drill."))(recover)


def open_(
    folder: Path = BANK,
    item: str = typer.Argument("", metavar="[ITEM]", help=t("Id del ítem.", "Id of the item.")),
    part: str = typer.Option("query", "--part", help="query, reference"),
    purpose: str = typer.Option("", "--purpose", help=t("Para qué se abre.", "What it is opened for.")),
    to: str = typer.Option("", "--to", help=t("Quién lo recibe.", "Who gets it.")),
    spot: int = typer.Option(0, "--spot-check", metavar="K", help=t("Abre K ítems antes de firmar.", "Open K items.")),
    nonce: str = typer.Option("", "--nonce", help=t("Número de la contraparte (64 hex).", "Counterparty's nonce.")),
    role: str = typer.Option("buyer", "--role", help=t("Papel de la contraparte.", "Role of the counterparty.")),
    findings: int = typer.Option(-1, "--findings", help=t("Cuántos resultaron malos.", "How many were bad.")),
    yes: bool = YES,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Open parts of items to everybody, each with its proof; they are never drawn again."""
    from slaverify.cli.wiring import key_store
    from slaverify.custody import Part
    from slaverify.custody.deliver import open_items
    from slaverify.custody.vault import load_bank

    if spot:
        return _spot_check(folder, spot, nonce, role, findings, yes=yes, dry=dry, as_json=as_json)
    if not item or not purpose or part not in list(Part):
        raise typer.BadParameter(t("indique ITEM, --part y --purpose", "give ITEM, --part and --purpose"))
    ledger, bank = open_ledger(folder), load_bank(folder)
    custodian = key_store().of_role("custodian", ledger.view.keys)
    if item not in bank.index.by_id:
        raise ApplicationError(
            "SLV-A027", Text(f"el banco no tiene {item}", f"the bank does not have {item}"), exit_code=5
        )
    place = folder / "openings" / f"{item}.{part}"
    if not dry:
        ask(Text(f"¿Abrir {part} de {item} a todos?", f"Open {part} of {item} to everybody?"), yes)
        with private_place() as private:
            open_items(ledger, bank, [(item, Part(part))], purpose=purpose, to=to, custodian=custodian, private=private)
    return done(
        {"type": "slaverify/opening/1", "item": item, "part": part, "folder": str(place)},
        Text(
            f"{part} de {item} abierto en {place}; cualquiera lo comprueba con bash y openssl: ./verify_item.sh",
            f"{part} of {item} opened in {place}; anybody checks it with bash and openssl: ./verify_item.sh",
        ),
        _DISCLOSED,
        as_json=as_json,
        dry=dry,
    )


def _spot_check(
    folder: Path, k: int, nonce: str, role: str, findings: int, *, yes: bool, dry: bool, as_json: bool
) -> int:
    from slaverify.cli.wiring import key_store
    from slaverify.custody import Part, bad_rate_bound, spot_check_power, spot_items
    from slaverify.custody.acts import record_spot_check
    from slaverify.custody.deliver import open_items
    from slaverify.custody.vault import load_bank

    ledger, bank = open_ledger(folder), load_bank(folder)
    try:
        chosen = bytes.fromhex(nonce)
    except ValueError:
        chosen = b""
    if len(chosen) != 32:
        raise typer.BadParameter(t("--nonce son 64 cifras hexadecimales", "--nonce is 64 hex digits"))
    custodian = key_store().of_role("custodian", ledger.view.keys)
    leaves, n = spot_items(bank.index, role, chosen, k), bank.manifest.n
    bad = -(-n // 20)
    if not dry:
        ask(Text(f"¿Abrir {k} ítems a ambas partes?", f"Open {k} items to both sides?"), yes)
        wanted = [(leaf.id, part) for leaf in leaves for part in Part]
        with private_place() as private:
            open_items(ledger, bank, wanted, purpose="spot_check", to=role, custodian=custodian, private=private)
        record_spot_check(
            ledger,
            custodian,
            items=[leaf.i for leaf in leaves],
            role=role,
            nonce=chosen,
            findings=None if findings < 0 else findings,
        )
    power = float(spot_check_power(n, bad, k))
    bound = None if findings < 0 else float(bad_rate_bound(n, k, findings))
    es = "" if bound is None else f"; {findings} malos, cota al 95 % del banco: {bound:.3f}".replace(".", ",")
    en = "" if bound is None else f"; {findings} bad, 95 % upper bound for the bank: {bound:.3f}"
    return done(
        {
            "type": "slaverify/spot-check/1",
            "items": [leaf.id for leaf in leaves],
            "detects_5_percent": f"{power:.9f}",
            "bad_rate_bound": None if bound is None else f"{bound:.9f}",
        },
        Text(
            f"{k} ítems elegidos por el número de {role}; con 5 % de malos la inspección ve alguno con probabilidad "
            f"{power:.3f}".replace(".", ",")
            + es,
            f"{k} items chosen by the nonce of {role}; with 5 % bad the check meets one with probability "
            f"{power:.3f}{en}",
        ),
        Text(
            "los malos que no salieron siguen en el banco; estos ítems no se usan más",
            "bad items that were not chosen stay in the bank; these items are not used again",
        ),
        as_json=as_json,
        dry=dry,
    )


def expose(
    folder: Path = BANK,
    contract: Path = CONTRACT,
    party: str = typer.Option("", "--party", help=t("Otro grupo de exposición.", "Another exposure group.")),
    as_json: bool = JSON,
) -> int:
    """Say what the vendor's group has seen, how many audits are left, and what the leak tests could see."""
    from dataclasses import replace

    from slaverify.canonical import loads_object
    from slaverify.custody import exposure_json

    desk = open_desk(folder, contract)
    terms = replace(desk.terms, exposure_group=party) if party else desk.terms
    found = loads_object(exposure_json(desk.bank.index, desk.view, terms))
    leaks = _leaks(desk, terms)
    if as_json:
        emit({**found, "leaks": leaks})
        return 0
    states = found["states"]
    assert isinstance(states, dict)  # noqa: S101 - our own bytes
    out(t(f"grupo {terms.exposure_group}", f"group {terms.exposure_group}"))
    for word, es in (("unused", "sin usar"), ("drawn", "sorteados"), ("sent", "enviados"), ("disclosed", "revelados")):
        out(f"  {t(es, word)}: {states[word]}")
    left = found["remaining_audits"]
    out(t(f"quedan {left} auditorías", f"{left} audits left"))
    for line in _told(leaks):
        out(line)
    return 0


def _told(leaks: Mapping[str, JsonValue]) -> Iterator[str]:
    agreed, there = leaks["agreed"], leaks["available"]
    assert isinstance(agreed, dict)  # noqa: S101 - our own tree
    assert isinstance(there, dict)  # noqa: S101 - our own tree
    names = (
        ("anchor", "ya enviadas", "sent before"),
        ("twin", "gemelas", "twins"),
        ("probe", "señuelos", "honeytokens"),
    )
    for arm, es, en in names:
        yield t(
            f"control, {es}: pactadas {agreed[arm]}, hay {there[arm]} para sortear",
            f"control, {en}: {agreed[arm]} agreed, {there[arm]} there to draw",
        )
    word, anchors, twins = leaks["integrity"], leaks["power_at_10_points"], leaks["twin_power_at_10_points"]
    yield t(
        f"fugas: {word}; 10 puntos más se verían con potencia {anchors} (ya enviadas) y {twins} (gemelas)",
        f"leaks: {word}; 10 points more are seen with power {anchors} (sent before) and {twins} (twins)",
    )


def _leaks(desk: Desk, terms: Terms) -> dict[str, JsonValue]:
    """Say what the leak tests of the next run could see, with what is there to draw now; nothing was found yet."""
    from fractions import Fraction

    from slaverify.custody import arms_left, integrity

    left = arms_left(desk.bank.index, desk.view, terms)
    sizes = {arm: min(terms.arms.get(arm, 0), there) for arm, there in left.items()}
    fresh, alpha = sum(terms.per_stratum.values()), Fraction(terms.alpha_leak)
    found = integrity(
        {}, asked_tokens=0, anchor_n=sizes["anchor"], fresh_n=fresh, base=0.8, alpha=alpha, pairs=sizes["twin"]
    )
    agreed: dict[str, JsonValue] = {arm: terms.arms.get(arm, 0) for arm in left}
    return {
        "integrity": found.word,
        "agreed": agreed,
        "available": {**left},
        "anchors": sizes["anchor"],
        "fresh": fresh,
        "alpha": str(terms.alpha_leak),
        "base": "0.80",
        "power_at_10_points": f"{found.power:.9f}",
        "twin_power_at_10_points": f"{found.twin_power:.9f}",
    }


def recover(
    folder: Path = BANK,
    shares: list[Path] = typer.Option([], "--share", help=t("Archivo con una parte.", "File with one share.")),
    identity: Path | None = typer.Option(None, "--identity", help=t("Identidad sin partes.", "Unshared identity.")),
    target: Path | None = typer.Option(None, "--out", help=t("Archivo de la identidad.", "File for the identity.")),
    drill: bool = typer.Option(False, "--drill", help=t("Ensayo: el banco sigue cerrado.", "Drill: bank stays shut.")),
    yes: bool = YES,
    dry: bool = DRY,
    as_json: bool = JSON,
) -> int:
    """Get the recovery identity back from enough shares, or prove that it could be done."""
    from slaverify.cli.files import read, write_new
    from slaverify.cli.wiring import key_store, now
    from slaverify.custody.acts import record_drill
    from slaverify.custody.keys import age_recipient, read_age_identity
    from slaverify.custody.recovery import IDENTITY_FILE, read_share, recover_identity
    from slaverify.custody.recovery import drill as open_envelope
    from slaverify.custody.vault import load_bank

    bank = load_bank(folder)
    if not drill and target is None:
        raise typer.BadParameter(t("indique --out, o --drill", "give --out, or --drill"))
    if identity is not None:
        found = read_age_identity(identity)
    else:
        words = [read_share(read(path, 64 * 1024)) for path in shares]
        found = recover_identity(words, read(folder / IDENTITY_FILE, 64 * 1024))
    ours = [one.age for one in bank.manifest.recipients if one.role == "recovery"]
    open_envelope(found, ours)
    plan = "" if bank.manifest.recovery is None else "{}-of-{}".format(*bank.manifest.recovery)
    if drill:
        if not dry:
            ledger = open_ledger(folder)
            custodian = key_store().of_role("custodian", ledger.view.keys)
            record_drill(ledger, custodian, what=f"recovery {plan}".strip(), now=now())
        did = Text(
            "el sobre de prueba se abrió; el banco sigue cerrado", "the test envelope opened; the bank stays shut"
        )
    else:
        assert target is not None  # noqa: S101 - asked for above
        if not dry:
            ask(Text("¿Escribir la identidad que abre el banco?", "Write the identity that opens the bank?"), yes)
            write_new(target, f"# public key: {age_recipient(found)}\n{found}\n".encode(), mode=0o600)
        did = Text(
            f"identidad en {target}: ábralo con «age -d -i {target} {folder / 'bank.age'}»",
            f"identity in {target}: open it with `age -d -i {target} {folder / 'bank.age'}`",
        )
    return done(
        {"type": "slaverify/recovery/1", "drill": drill, "plan": plan or None},
        did,
        Text(
            "quienes juntan las partes bastan para abrir el banco sin avisar",
            "holders who put their shares together can open the bank without telling",
        ),
        as_json=as_json,
        dry=dry,
    )
