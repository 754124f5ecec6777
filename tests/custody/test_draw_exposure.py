"""Draws that anybody recomputes, and the states of items over several runs, contracts and vendors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slaverify.canonical import jcs, loads_object
from slaverify.custody import (
    LedgerView,
    check_sent,
    draw_json,
    draw_run,
    exposure_json,
    parse_index,
    read_ledger,
    remaining_audits,
)
from slaverify.custody.append import (
    Tally,
    abort_run,
    end_run,
    open_run,
    record_batch,
    record_draw,
    record_exposure,
    register_contract,
    start_run,
    void_item,
)
from slaverify.custody.draw import select
from slaverify.custody.entries import write_line
from slaverify.custody.exposure import eligible
from slaverify.custody.seal import SealItem, SealTerms, seal
from slaverify.custody.vault import load_bank
from slaverify.errors import CustodyError
from tests.custody.world import CONTRACT, SCHEMA, World, other_terms, run_start

SECOND = "sha256:" + "d1" * 32


def whole_run(world: World, terms: object, *, sent: int | None = None) -> tuple:
    ledger, index = world.ledger(), world.bank().index
    register_contract(ledger, world.custodian, terms)
    number = open_run(ledger, world.auditor, terms).number
    drawn = record_draw(ledger, world.auditor, index, terms, number)
    start_run(ledger, world.auditor, drawn, run_start())
    digest = terms.contract_digest
    numbers = [index.by_id[item].i for item in drawn.selection.ids][:sent]
    batch = {"number": 1, "first": 0, "last": len(numbers), "items": numbers, "root": bytes(32)}
    record_batch(ledger, world.auditor, digest, number, **batch)
    end_run(ledger, world.auditor, digest, number, Tally())
    return drawn, number


def states(world: World, terms: object = None) -> dict:
    return loads_object(exposure_json(world.bank().index, world.ledger().view, terms or world.terms))


def test_the_draw_is_a_function_of_index_and_ledger(world: World) -> None:
    drawn, number = whole_run(world, world.terms)
    index = parse_index((world.bank_folder / "index.jsonl").read_bytes())
    view = read_ledger((world.bank_folder / "ledger.jsonl").read_bytes())
    again = draw_run(index, view, world.terms, number)
    assert again == drawn and draw_json(again) == draw_json(drawn)
    tree = loads_object(draw_json(drawn))
    assert jcs(tree) == draw_json(drawn)
    assert list(tree) == sorted(tree)
    assert tree["sample_sha256"] == view.run(CONTRACT, 1).draw.data["sample_sha256"]
    assert {name: len(ids) for name, ids in tree["sample"].items()} == {"direct": 6, "trap": 2}
    assert drawn.remaining_audits == 2


def test_items_that_were_sent_are_not_drawn_again(world: World) -> None:
    first, _ = whole_run(world, world.terms)
    second_terms = other_terms(world, SECOND)
    second, _ = whole_run(world, second_terms)
    assert not set(first.selection.ids) & set(second.selection.ids)
    third_terms = other_terms(world, "sha256:" + "d2" * 32)
    whole_run(world, third_terms)
    assert states(world)["remaining_audits"] == 0
    with pytest.raises(CustodyError, match="SLV-K050") as caught:
        whole_run(world, other_terms(world, "sha256:" + "d3" * 32))
    assert caught.value.exit_code == 5 and "0 audits left" in caught.value.what.en


def staged(world: World, digest: str, more: dict[str, int]) -> object:
    rule = {"inconclusive": {"extend": {"per_stratum": more, "spending": ["0.005", "0.0225"]}}}
    return other_terms(world, digest, verdict=rule)


def test_a_second_stage_is_what_follows_sample_and_reserve(world: World) -> None:
    terms = staged(world, SECOND, {"direct": 5})
    drawn, number = whole_run(world, terms)
    plain = select_of(world, drawn.seed, {"direct": 12, "trap": 3})
    order = plain.sample["direct"]
    selection = drawn.selection
    assert (selection.sample["direct"], selection.reserve["direct"]) == (order[:6], order[6:7])
    assert selection.extension == {"direct": order[7:12]}
    assert selection.all_ids == (*selection.ids, *selection.reserve["direct"], *selection.reserve["trap"], *order[7:12])
    entry = world.ledger().view.run(SECOND, number).draw
    assert (entry.data["extension"], entry.data["reserve"]) == ({"direct": 5}, 1)
    assert entry.data["n_per_stratum"] == {"direct": 6, "trap": 2}
    again = draw_run(world.bank().index, read_ledger((world.bank_folder / "ledger.jsonl").read_bytes()), terms, number)
    assert again == drawn
    assert loads_object(draw_json(drawn))["extension"] == {"direct": list(order[7:12])}
    # What was drawn and never sent may be drawn again.
    assert states(world)["states"] == {"unused": 15, "drawn": 5, "sent": 8, "disclosed": 0}


def select_of(world: World, seed: str, planned: dict[str, int]) -> object:
    return select(eligible(world.bank().index, ()), bytes.fromhex(seed), planned, 0)


def test_the_items_of_a_second_stage_may_be_sent_and_no_others(world: World) -> None:
    terms = staged(world, SECOND, {"direct": 5})
    drawn, number = whole_run(world, terms)
    assert check_sent(world.bank().index, world.ledger().view, terms, number) == drawn
    stranger = staged(world, SECOND, {"direct": 4})
    with pytest.raises(CustodyError, match="SLV-K053"):
        draw_run(world.bank().index, world.ledger().view, stranger, number)


def test_a_run_without_an_end_has_sent_its_second_stage_too(world: World) -> None:
    world.started(world.ledger(), staged(world, SECOND, {"direct": 5}))
    assert states(world)["states"] == {"unused": 15, "drawn": 0, "sent": 13, "disclosed": 0}


@pytest.mark.parametrize(("more", "code"), [({"direct": 14}, "SLV-K050"), ({"other": 1}, "SLV-K054")])
def test_a_second_stage_that_the_bank_cannot_give_is_refused_before_the_first(
    world: World, more: dict[str, int], code: str
) -> None:
    with pytest.raises(CustodyError, match=code):
        whole_run(world, staged(world, SECOND, more))


def test_another_vendor_has_seen_nothing_and_an_affiliate_all(world: World) -> None:
    whole_run(world, world.terms)
    assert states(world)["states"] == {"unused": 20, "drawn": 0, "sent": 8, "disclosed": 0}
    stranger = other_terms(world, SECOND, parties__vendor__legal_id="99.999.999-9")
    assert states(world, stranger)["states"]["sent"] == 0
    affiliate = other_terms(
        world, SECOND, parties__vendor__name="Filial", parties__vendor__exposure_group="76.000.000-0"
    )
    assert states(world, affiliate)["states"]["sent"] == 8


def test_reuse_may_draw_what_was_sent(world: World) -> None:
    for digest in (CONTRACT, SECOND, "sha256:" + "d2" * 32):
        whole_run(world, other_terms(world, digest))
    terms = other_terms(world, "sha256:" + "d3" * 32, evaluation_set__exposure="reuse")
    drawn, number = whole_run(world, terms)
    assert len(drawn.selection.ids) == 8
    assert check_sent(world.bank().index, world.ledger().view, terms, number) == drawn
    # Contracts that do not reuse still read the same ledger.
    assert states(world)["states"]["sent"] == 24 - 0 + len(set(drawn.selection.ids) - sent_before(world))


def sent_before(world: World) -> set[str]:
    index, view = world.bank().index, world.ledger().view
    batches = [entry for entry in view.find_all("batch") if entry.contract_digest != "sha256:" + "d3" * 32]
    return {item for entry in batches for item in index.ids(entry.data["items"])}


def test_a_started_run_without_an_end_has_sent_its_whole_sample(world: World) -> None:
    ledger = world.ledger()
    number = world.started(ledger)
    assert states(world)["states"] == {"unused": 20, "drawn": 0, "sent": 8, "disclosed": 0}
    abort_run(ledger, world.auditor, CONTRACT, number, Tally("x", in_flight=[_first(world, number)]))
    assert states(world)["states"] == {"unused": 20, "drawn": 7, "sent": 1, "disclosed": 0}


def _first(world: World, number: int) -> int:
    index = world.bank().index
    drawn = draw_run(index, world.ledger().view, world.terms, number)
    return index.by_id[drawn.selection.ids[0]].i


def test_exposures_and_voided_items(world: World) -> None:
    ledger, index = world.ledger(), world.bank().index
    record_exposure(ledger, world.auditor, party="Juez", role="judge_operator", items=[0], channel="api")
    assert states(world)["states"]["unused"] == 28
    record_exposure(ledger, world.custodian, party="Proveedor", role="vendor", items=[1], channel="correo")
    assert states(world)["states"]["disclosed"] == 1
    register_contract(ledger, world.custodian, world.terms)
    number = open_run(ledger, world.auditor, world.terms).number
    drawn = record_draw(ledger, world.auditor, index, world.terms, number)
    assert index.leaves[1].id not in drawn.selection.all_ids
    void_item(ledger, world.auditor, drawn, drawn.selection.ids[0], reason="x", substitute=None)
    abort_run(ledger, world.auditor, CONTRACT, number, Tally("x"))
    again = record_draw(ledger, world.auditor, index, world.terms, open_run(ledger, world.auditor, world.terms).number)
    assert drawn.selection.ids[0] not in again.selection.all_ids


def forged(world: World, view: LedgerView, place: int, **data: object) -> LedgerView:
    """The same ledger with one entry's data changed and everything after it signed anew by the true keys."""
    keys = {key.key_id: key for key in (world.custodian, world.auditor)}
    lines: list[bytes] = []
    from slaverify.canonical import sha256_hex

    for entry in view:
        tree = {key: value for key, value in loads_object(entry.line).items() if key != "sigs"}
        if entry.seq == place:
            tree["data"] = dict(tree["data"]) | data
        if lines:
            tree["prev"] = sha256_hex(lines[-1])
        lines.append(write_line(tree, [keys[signer] for signer, _ in entry.sigs]))
    return read_ledger(b"".join(line + b"\n" for line in lines))


def test_a_draw_that_is_not_the_one_that_results(world: World) -> None:
    _, number = whole_run(world, world.terms)
    index, view = world.bank().index, world.ledger().view
    draw, start = view.run(CONTRACT, number).draw, view.run(CONTRACT, number).started
    other = forged(world, view.upto(draw.seq + 1), draw.seq, sample_sha256="00" * 32)
    with pytest.raises(CustodyError, match="SLV-K053"):
        draw_run(index, other, world.terms, number)
    fewer = forged(world, view.upto(draw.seq + 1), draw.seq, n_per_stratum={"direct": 5})
    with pytest.raises(CustodyError, match="SLV-K053"):
        draw_run(index, fewer, world.terms, number)
    assert start is not None


def test_an_item_sent_without_being_drawn(world: World) -> None:
    drawn, number = whole_run(world, world.terms)
    index, view = world.bank().index, world.ledger().view
    assert check_sent(index, view, world.terms, number) == drawn
    stray = next(leaf.i for leaf in index.leaves if leaf.id not in drawn.selection.all_ids)
    batch = view.run(CONTRACT, number).batches[0]
    with pytest.raises(CustodyError, match="SLV-K061"):
        check_sent(index, forged(world, view, batch.seq, items=[stray]), world.terms, number)
    end = view.run(CONTRACT, number).terminal
    with pytest.raises(CustodyError, match="SLV-K061"):
        check_sent(index, forged(world, view, end.seq, in_flight=[stray]), world.terms, number)


def test_strata_arms_and_runs_that_do_not_exist(world: World) -> None:
    number, view = world.started(world.ledger()), world.ledger().view
    index = world.bank().index
    for code, terms in {
        "SLV-K054": replace(world.terms, per_stratum={"nowhere": 1}),
        "SLV-K040": replace(world.terms, contract_digest=SECOND),
    }.items():
        with pytest.raises(CustodyError, match=code):
            draw_run(index, view, terms, number)
    with pytest.raises(CustodyError, match="SLV-K054"):
        draw_run(index, view, replace(world.terms, method="full", arms={"anchor": 1}), number)
    with pytest.raises(CustodyError, match="SLV-K054"):
        draw_run(index, view, replace(world.terms, reuse=True, arms={"twin": 1}), number)


def special_bank(world: World) -> object:
    given = [SealItem(f"d-{n}", "direct", {"query": str(n)}, {"reference": {}}, cluster="c") for n in range(4)]
    given.append(SealItem("p-0", "probe", {"query": "p"}, {"reference": {}}))
    terms = SealTerms("bank-two", "x", SCHEMA, "A")
    return given, terms


@pytest.mark.parametrize("twin", [False, True])
def test_a_full_draw_takes_everything_but_probes_and_refuses_twins(world: World, twin: bool) -> None:
    given, sealing = special_bank(world)
    if twin:
        given.append(SealItem("d-9", "direct", {"query": "t"}, {"reference": {}}, twin_of="d-0", cluster="c"))
    sealed = seal(
        given,
        world.folder / "custodia",
        sealing,
        custodian=world.custodian,
        clock=world.clock,
        register=[world.auditor],
    )
    world.sealed = sealed
    terms = other_terms(world, CONTRACT, evaluation_set__sample={"method": "full"})
    world.terms = terms
    index = load_bank(sealed.folder).index
    ledger = world.ledger()
    register_contract(ledger, world.custodian, terms)
    open_run(ledger, world.auditor, terms)
    if twin:
        with pytest.raises(CustodyError, match="SLV-K050"):
            record_draw(ledger, world.auditor, index, terms, 1)
        sampled = replace(terms, method="seeded", per_stratum={"direct": 4})
        drawn = draw_run(index, ledger.view, sampled, 1)
        assert sealed.sealed_ids["d-9"] not in drawn.selection.all_ids
        return
    drawn = record_draw(ledger, world.auditor, index, terms, 1)
    assert len(drawn.selection.ids) == 4 and drawn.n_per_stratum == {"direct": 4}
    assert loads_object(exposure_json(index, ledger.view, terms))["eligible"] == {"direct": 4}


def test_an_empty_stratum_does_not_count_in_the_audits_left() -> None:
    assert remaining_audits({"a": 7, "b": 0}, {"a": 3, "b": 0}) == 2
    assert remaining_audits({"a": 7}, {"a": 3, "b": 1}) == 0
    assert remaining_audits({"a": 7}, {}) == 0
