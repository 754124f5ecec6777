"""Each attack is refused, by the code that names its flaw, in both languages."""

from __future__ import annotations

import pytest

from slaverify.errors import CustodyError
from tests.custody.attacks import ATTACKS, EXPECTED
from tests.custody.world import World


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_attack_is_refused_and_named(world: World, name: str) -> None:
    with pytest.raises(CustodyError) as caught:
        ATTACKS[name](world)
    assert caught.value.code == EXPECTED[name], caught.value.lines("en")
    assert caught.value.what.es and caught.value.what.en
