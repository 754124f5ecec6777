"""The closed list of policies that an item or a contract may set, and the values that each may have.

Source: docs/spec/scoring.md section 10.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from slaverify.evalset.fields import PositiveDecimal, Strict
from slaverify.evalset.reference import Granularity


class Policies(Strict):
    """Overrides of the profile's policies; what is absent keeps the profile's value."""

    percent_equivalence: bool | None = None
    range_expansion: Annotated[str, StringConstraints(pattern=r"^(none|up_to:[1-9][0-9]?)$")] | None = None
    ordering: Literal["set", "multiset", "sequence"] | None = None
    fold_accents: bool | None = None
    granularity: Granularity | None = None
    json_: Annotated[Literal["strict", "fenced_allowed"] | None, Field(alias="json")] = None
    tolerance: PositiveDecimal | None = None
    number_words: bool | None = None
    scale_words: bool | None = None
    accounting_brackets: bool | None = None
    unit_in_query: bool | None = None
    year_pivot: Annotated[int, Field(ge=0, le=99)] | None = None
