"""What the right answer is: one model per kind, told apart by `kind`.

Every kind of the specification is read here. Which kinds have a rule is the business of room `scoring`.

Source: docs/spec/item.md section 2.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from slaverify.evalset.fields import (
    DecimalText,
    Many,
    PartialDate,
    PositiveDecimal,
    Strict,
    Text1,
    Tree,
    Word,
    refuse,
)
from slaverify.evalset.json_schema import check_schema, satisfies

Granularity = Literal["norm", "article", "paragraph", "letter"]


class Tolerance(Strict):
    """How far a number may lie from the reference; the interval is closed.

    `absolute`: in the unit of the value; `relative`: a share of the value; `last_digit`: units of the last digit
    that the reference was written with.
    """

    kind: Literal["absolute", "relative", "last_digit"]
    value: PositiveDecimal


class _Reference(Strict):
    accepted: Many[Reference] = ()

    @model_validator(mode="after")
    def _alternatives(self) -> Self:
        for other in self.accepted:
            if other.accepted:
                raise refuse("SLV-I007", "accepted dentro de accepted", "accepted inside accepted")
            if other.kind in ("none", "trajectory") or self.kind in ("none", "trajectory"):  # type: ignore[attr-defined]  # every subclass has a kind
                raise refuse(
                    "SLV-I007",
                    "none y trajectory no son alternativas ni las tienen",
                    "none and trajectory are no alternatives and have none",
                )
        return self


class NumberReference(_Reference):
    """A number; `unit` is `none`, `%` or `‰`."""

    kind: Literal["number"]
    value: DecimalText
    unit: Literal["none", "%", "‰"] = "none"
    tolerance: Tolerance | None = None


class AmountReference(_Reference):
    """A number with a unit, or a closed range of it. `day_kind` tells working days from calendar days."""

    kind: Literal["amount"]
    value: DecimalText | None = None
    min: DecimalText | None = None
    max: DecimalText | None = None
    unit: Word
    day_kind: Literal["hábiles", "corridos"] | None = None
    tolerance: Tolerance | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        both = self.min is not None and self.max is not None
        one = self.min is None and self.max is None and self.value is not None
        if not one and not (both and self.value is None):
            raise refuse("SLV-I007", "se espera value, o min y max", "expected value, or min and max")
        return self


class DateReference(_Reference):
    """A day, a month or a year; compared at that precision. `order` overrides the order of the locale."""

    kind: Literal["date"]
    value: PartialDate
    order: Literal["dmy", "mdy", "ymd"] | None = None


class EntityReference(_Reference):
    """A name. `identifier` names a scheme with a check digit, such as `cl.rut`."""

    kind: Literal["entity"]
    value: Text1
    aliases: Many[Text1] = ()
    identifier: Word | None = None


class SetReference(_Reference):
    """Several references; `ordering` says what their order and repetition mean."""

    kind: Literal["set"]
    value: Annotated[Many[Reference], Field(min_length=1)]
    set_rule: Literal["equal", "at_least", "f1"] = "equal"
    ordering: Literal["set", "multiset", "sequence"] | None = None


class ChoiceReference(_Reference):
    """One label of `options`."""

    kind: Literal["choice"]
    value: Word
    options: Annotated[dict[Word, Text1], Field(min_length=2, max_length=64)]

    @model_validator(mode="after")
    def _listed(self) -> Self:
        if self.value not in self.options:
            raise refuse("SLV-I007", f"{self.value} no es una opción", f"{self.value} is no option")
        return self


class TextReference(_Reference):
    """Free text, equal after normalising. `normaliser` overrides the profile's."""

    kind: Literal["text"]
    value: Text1
    aliases: Many[Text1] = ()
    normaliser: Word | None = None


class CitationReference(_Reference):
    """The canonical id of a norm or a part of it."""

    kind: Literal["citation"]
    value: Word
    granularity: Granularity = "article"


class JsonReference(_Reference):
    """An object, compared by structure and type. `ignore` lists paths that do not count."""

    kind: Literal["json"]
    value: Tree
    schema_: Annotated[Tree | None, Field(alias="schema")] = None
    ignore: Many[Word] = ()

    @model_validator(mode="after")
    def _own_schema(self) -> Self:
        if self.schema_ is not None:
            check_schema(self.schema_)
            if not satisfies(self.value, self.schema_):
                raise refuse(
                    "SLV-I007", "el valor no cumple su propio schema", "the value does not meet its own schema"
                )
        return self


class TrajectoryReference(_Reference):
    """A question contract; scored by room `trajectory` alone."""

    kind: Literal["trajectory"]
    value: Tree


class NoneReference(_Reference):
    """There is no answer: the engine has to say so. `because` says why there is none."""

    kind: Literal["none"]
    value: None = None
    because: Literal["out_of_corpus", "not_in_document", "false_premise", "out_of_scope"]


Reference: TypeAlias = Annotated[
    NumberReference
    | AmountReference
    | DateReference
    | EntityReference
    | SetReference
    | ChoiceReference
    | TextReference
    | CitationReference
    | JsonReference
    | TrajectoryReference
    | NoneReference,
    Field(discriminator="kind"),
]

for _model in (
    NumberReference,
    AmountReference,
    DateReference,
    EntityReference,
    SetReference,
    ChoiceReference,
    TextReference,
    CitationReference,
    JsonReference,
    TrajectoryReference,
    NoneReference,
):
    _model.model_rebuild()
