"""Sets of documents, transcripts and encounters: right in each notation, and no mutant of them is."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache

import pytest

from slaverify.evalset import Item
from slaverify.readiness.bank import check_bank
from slaverify.readiness.bank_findings import CheckOptions
from slaverify.scoring import default_settings
from tests.e2e.test_profiles import encounters, invoices, transcripts
from tests.scoring.helpers import item
from tests.scoring.test_parts import INVOICE

SETS = {"extraction@1": invoices, "speech@1": transcripts, "coding@1": encounters}


@pytest.mark.parametrize("profile", SETS)
def test_gold_is_right_and_no_mutant_is(profile: str) -> None:
    items = SETS[profile]().items[:12]
    found = check_bank(items, CheckOptions(settings=cache(lambda stratum: default_settings(profile, "es-CL", stratum))))
    assert found.gold_correct == found.gold_total >= 24
    assert (found.mutants_correct, found.mutants_least >= 5) == (0, True)
    assert not [one.what.en for one in found.findings if one.code in ("SLV-I021", "SLV-I022")]


def _check(items: list[Item], profile: str, **more: object) -> tuple[int, int, int]:
    own = cache(lambda stratum: replace(default_settings(profile, "es-CL", stratum), **more))
    found = check_bank(items, CheckOptions(settings=own))
    return found.gold_total - found.gold_correct, found.mutants_correct, found.mutants_least


def test_mutants_touch_what_decides() -> None:
    asked = [item(INVOICE)]
    assert _check(asked, "extraction@1")[:2] == (0, 0)
    assert _check(asked, "extraction@1", critical_fields=("total",))[:2] == (0, 0)
    base = default_settings("speech@1", "es-CL").policies
    said = [item({"kind": "text", "value": "uno de los testigos declaró que no vio nada aquel día lunes por la tarde"})]
    wrong, passed, least = _check(said, "speech@1", policies=replace(base, tolerance=Decimal("0.1")))
    assert (wrong, passed) == (0, 0) and least >= 5
