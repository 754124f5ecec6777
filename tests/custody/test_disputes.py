"""Disputes as the ledger tells them: once an item, resolved once, by whom the contract names."""

from __future__ import annotations

import pytest

from slaverify.custody import disputes_of, read_ledger, rulings
from slaverify.errors import CustodyError
from tests.custody.forge import AUDITOR, BUYER, CONTRACT, STRANGER, VENDOR, Forge

ONE, TWO = "it-000000000001", "it-000000000002"


def ended() -> Forge:
    forge = Forge().started()
    forge.run("run_ended")
    return forge


def found(forge: Forge, adjudicator: str | None = None) -> dict[str, str]:
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines), forge.trust)
    return {one.item: one.state for one in disputes_of(view.run(CONTRACT, 1), adjudicator)}


def test_what_was_disputed_and_decided() -> None:
    forge = ended()
    forge.run("dispute", by=VENDOR, item=ONE, part="reference", role="vendor", claim="sha256:" + "00" * 32)
    forge.run("dispute", by=BUYER, item=TWO, part="query", role="buyer", claim="")
    forge.run("dispute", by=BUYER, item=ONE, part="query", role="buyer", claim="")
    assert found(forge) == {ONE: "open", TWO: "open"}
    forge.run("dispute_resolved", by=AUDITOR, item=ONE, outcome="upheld")
    forge.run("dispute_resolved", by=AUDITOR, item=TWO, outcome="rejected")
    assert found(forge, AUDITOR.id) == {ONE: "upheld", TWO: "rejected"}
    view = read_ledger(b"".join(line + b"\n" for line in forge.lines))
    assert rulings(disputes_of(view.run(CONTRACT, 1))) == {ONE: "upheld"}


def test_who_is_not_named_decides_nothing() -> None:
    forge = ended()
    forge.run("dispute", by=VENDOR, item=ONE, part="reference")
    forge.run("dispute_resolved", by=VENDOR, item=ONE, outcome="upheld")
    with pytest.raises(CustodyError, match="SLV-K023"):
        found(forge, AUDITOR.id)
    assert found(forge) == {ONE: "upheld"}
    forge.run("dispute_resolved", by=STRANGER, item=ONE, outcome="rejected")
    with pytest.raises(CustodyError, match="SLV-K023"):
        found(forge)


@pytest.mark.parametrize("times", [0, 2])
def test_nothing_open_is_not_resolved(times: int) -> None:
    forge = ended()
    if times:
        forge.run("dispute", by=VENDOR, item=ONE, part="reference")
    for _ in range(max(1, times)):
        forge.run("dispute_resolved", by=AUDITOR, item=ONE, outcome="upheld")
    with pytest.raises(CustodyError, match="SLV-K040"):
        found(forge)
