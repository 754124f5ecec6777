"""Anchors, twins and probes: drawn from what the group was sent, by ticket, and recomputed by anybody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.canonical import loads_object
from slaverify.custody import Draw, Terms, check_sent, draw_json, draw_run, exposure_json, ticket
from slaverify.custody.append import (
    Tally,
    end_run,
    open_run,
    record_batch,
    record_draw,
    record_exposure,
    register_contract,
    start_run,
)
from slaverify.custody.arms import quotas
from slaverify.custody.seal import SealItem, SealTerms, seal
from slaverify.custody.vault import load_bank
from slaverify.errors import CustodyError
from tests.custody.world import CONTRACT, SCHEMA, World, other_terms, run_start

SECOND = "sha256:" + "d1" * 32
THIRD = "sha256:" + "d2" * 32
ASKED = {"anchor": 6, "twin": 4, "probe": 3}


def set_with_arms() -> list[SealItem]:
    """30 direct and 15 trap items, a twin of each direct one (of two of them two), 5 probes."""
    rows = [SealItem(f"d-{n}", "direct", {"query": f"d{n}"}, {"reference": {}}, cluster="c") for n in range(30)]
    rows += [SealItem(f"t-{n}", "trap", {"query": f"t{n}"}, {"reference": {}}, cluster="c") for n in range(15)]
    rows += [
        SealItem(f"g-{n}-{k}", "direct", {"query": f"g{n}{k}"}, {"reference": {}}, twin_of=f"d-{n}", cluster="c")
        for n in range(30)
        for k in range(2 if n < 2 else 1)
    ]
    return rows + [SealItem(f"p-{n}", "probe", {"query": f"p{n}"}, {"reference": {}}) for n in range(5)]


@pytest.fixture
def armed(world: World) -> World:
    world.sealed = seal(
        set_with_arms(),
        world.folder / "custodia",
        SealTerms("bank-arms", "x", SCHEMA, "A"),
        custodian=world.custodian,
        clock=world.clock,
        register=[world.auditor],
    )
    return world


def terms_with(world: World, digest: str, arms: dict[str, int], **changes: object) -> Terms:
    world.terms = other_terms(
        world, CONTRACT, evaluation_set__sample={"method": "seeded", "per_stratum": {"direct": 10, "trap": 5}}
    )
    return replace(world.terms, contract_digest=digest, run_budget=1, arms=arms, **changes)


def sent_by(drawn: Draw) -> tuple[str, ...]:
    return (*drawn.selection.ids, *drawn.beside.ids)


def run_of(world: World, terms: Terms) -> Draw:
    """Walk one run whole; everything that was drawn is sent."""
    index = load_bank(world.bank_folder).index
    ledger = world.ledger()
    register_contract(ledger, world.custodian, terms)
    number = open_run(ledger, world.auditor, terms).number
    drawn = record_draw(ledger, world.auditor, index, terms, number)
    start_run(ledger, world.auditor, drawn, run_start())
    numbers = [index.by_id[item].i for item in sent_by(drawn)]
    batch = {"number": 1, "first": 0, "last": len(numbers), "items": numbers, "root": bytes(32)}
    record_batch(ledger, world.auditor, terms.contract_digest, number, **batch)
    end_run(ledger, world.auditor, terms.contract_digest, number, Tally())
    assert check_sent(index, world.ledger().view, terms, number) == drawn
    return drawn


def test_a_first_run_has_nothing_to_draw_for_anchors_and_twins(armed: World) -> None:
    drawn = run_of(armed, terms_with(armed, CONTRACT, ASKED))
    assert drawn.beside.counts == {"anchor": 0, "twin": 0, "probe": 3}
    assert loads_object(draw_json(drawn))["arms"] == {"anchor": [], "twin": [], "probe": list(drawn.beside.probe)}


def test_arms_come_from_what_the_group_was_sent(armed: World) -> None:
    first = run_of(armed, terms_with(armed, CONTRACT, {}))
    second = run_of(armed, terms_with(armed, SECOND, ASKED))
    index, sent = load_bank(armed.bank_folder).index, set(first.selection.ids)
    arms, strata = second.beside, {leaf.id: leaf.stratum for leaf in index.leaves}
    assert arms.counts == ASKED
    # the mix of the sample: 10 direct to 5 trap
    assert sorted(strata[item] for item in arms.anchor) == ["direct"] * 4 + ["trap"] * 2
    originals = [original for original, _ in arms.twin]
    assert set(arms.anchor) | set(originals) <= sent and not set(arms.anchor) & set(originals)
    assert all(index.by_id[twin].twin_of == original for original, twin in arms.twin)
    assert len(set(originals)) == 4 and not {twin for _, twin in arms.twin} & sent
    assert {strata[item] for item in arms.probe} == {"probe"}
    assert not set(arms.ids) & set(second.selection.all_ids)
    # by ticket: the probes are the first three of the whole stratum
    seed, probes = bytes.fromhex(second.seed), [leaf.id for leaf in index.leaves if leaf.stratum == "probe"]
    assert list(arms.probe) == sorted(probes, key=lambda item: ticket(seed, "probe", item))[:3]


def test_what_an_arm_was_sent_is_exposed_and_later_runs_still_recompute(armed: World) -> None:
    first = run_of(armed, terms_with(armed, CONTRACT, {}))
    second = run_of(armed, terms_with(armed, SECOND, ASKED))
    third = run_of(armed, terms_with(armed, THIRD, {"twin": 30, "probe": 9}))
    # a twin is used once, and so is a probe: what is left is drawn and nothing is topped up
    assert not {twin for _, twin in second.beside.twin} & {twin for _, twin in third.beside.twin}
    assert third.beside.counts["probe"] == 2
    used = {original for original, _ in (*second.beside.twin,)}
    two = [original for original, _ in third.beside.twin if original in used]
    index = load_bank(armed.bank_folder).index
    assert all(sum(leaf.twin_of == one for leaf in index.leaves) == 2 for one in two)
    states = loads_object(exposure_json(index, armed.ledger().view, terms_with(armed, THIRD, {})))["states"]
    assert states["sent"] == len({item for drawn in (first, second, third) for item in sent_by(drawn)})


def test_a_disclosed_item_is_no_anchor_and_no_original(armed: World) -> None:
    first = run_of(armed, terms_with(armed, CONTRACT, {}))
    index = load_bank(armed.bank_folder).index
    known = [index.by_id[item].i for item in first.selection.sample["direct"]]
    record_exposure(armed.ledger(), armed.custodian, party="Proveedor", role="vendor", items=known, channel="x")
    second = run_of(armed, terms_with(armed, SECOND, ASKED))
    # without direct items the mix of strata cannot be kept, so there is no anchor
    assert second.beside.counts == {"anchor": 0, "twin": 0, "probe": 3}


def test_a_ledger_that_records_other_arms_is_refused(armed: World) -> None:
    run_of(armed, terms_with(armed, CONTRACT, {}))
    terms = terms_with(armed, SECOND, ASKED)
    run_of(armed, terms)
    index, view = load_bank(armed.bank_folder).index, armed.ledger().view
    for asked in ({**ASKED, "anchor": 7}, {**ASKED, "twin": 3}, {}):
        with pytest.raises(CustodyError, match="SLV-K053"):
            draw_run(index, view, replace(terms, arms=asked), 1)


@given(
    st.integers(0, 60),
    st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 50), min_size=1).filter(
        lambda found: sum(found.values()) > 0
    ),
)
def test_quotas_share_everything_in_proportion(total: int, sizes: dict[str, int]) -> None:
    found, whole = quotas(total, sizes), sum(sizes.values())
    assert sum(found.values()) == total and set(found) == set(sizes)
    assert all(abs(n - total * sizes[name] / whole) < 1 for name, n in found.items())
