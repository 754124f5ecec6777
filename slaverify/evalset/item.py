"""One item of a bank, schema `item/1`: what is asked, what is right, and where that comes from.

Source: docs/spec/item.md section 1.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from slaverify.canonical import JsonObject, JsonValue
from slaverify.evalset.fields import (
    Day,
    Digest,
    ItemId,
    Locale,
    Many,
    Query,
    Size,
    Strict,
    Text1,
    Tree,
    Word,
    refuse,
)
from slaverify.evalset.policies import Policies
from slaverify.evalset.reference import Granularity, Reference

HOSTILE_STRATA = frozenset({"trap", "out_of_corpus", "adversarial"})
"""Strata in which abstaining or denying the premise is right."""

PROBE_STRATUM = "probe"
"""Custody's plants; never in a metric."""


class Message(Strict):
    """One turn of a conversation that the query consists of."""

    role: Literal["system", "user", "assistant"]
    content: Query


class Attachment(Strict):
    """A file that goes with the query; `size` in bytes, its bytes travel in the package."""

    name: Word
    media_type: Word
    digest: Digest
    size: Size


class ExpectedCitation(Strict):
    """A citation that a right answer carries; `match` applies to the whole list."""

    id: Word
    match: Literal["all", "any"] = "all"
    granularity: Granularity = "article"


class Source(Strict):
    """Where the right answer was read."""

    title: Text1
    publisher: Text1 | None = None
    locator: Text1 | None = None


class Trap(Strict):
    """The falsehood in the question; `target` is a canonical id or the false statement."""

    kind: Literal["missing_article", "missing_norm", "missing_case", "false_premise"]
    target: Text1


class Author(Strict):
    """Who wrote the item; for a model its family."""

    kind: Literal["person", "model"]
    family: Word | None = None
    role: Word | None = None


class Annotation(Strict):
    """What a second reader gave as the right answer."""

    annotator: Word
    value: Text1


class Item(Strict):
    """An item as its authors wrote it, or as it was opened (`id` is then the sealed id, `source_id` the author's)."""

    schema_: Annotated[Literal["item/1"], Field(alias="schema")]
    id: ItemId
    stratum: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    locale: Locale | None = None
    query: Query | None = None
    messages: Many[Message] = ()
    attachments: Many[Attachment] = ()
    tools: Many[Tree] = ()
    reference: Reference
    expected_citations: Many[ExpectedCitation] = ()
    official_text: Text1 | None = None
    source: Source | None = None
    consulted_on: Day | None = None
    as_of: Day | None = None
    cluster: Word | None = None
    twin_of: ItemId | None = None
    twin_relation: Literal["paraphrase", "near_miss", "negated", "entity_swap"] | None = None
    trap: Trap | None = None
    settings: Policies = Policies()
    criteria: Many[Word] = ()
    authors: Many[Author] = ()
    annotations: Many[Annotation] = ()
    honeytoken: bool = False
    ext: Tree | None = None
    source_id: ItemId | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        broken = [(es, en) for is_broken, es, en in self._rules() if is_broken]
        if broken:
            raise refuse("SLV-I008", "; ".join(es for es, _ in broken), "; ".join(en for _, en in broken))
        return self

    def _rules(self) -> tuple[tuple[bool, str, str], ...]:
        cites = bool(self.expected_citations)
        return (
            (
                (self.query is None) == (not self.messages),
                "se espera query o messages, exactamente uno",
                "expected query or messages, exactly one",
            ),
            (
                bool(self.messages) and self.messages[-1].role != "user",
                "el último mensaje tiene que ser del usuario",
                "the last message has to be the user's",
            ),
            (
                cites and (self.official_text is None or self.source is None),
                "una cita esperada exige official_text y source",
                "an expected citation needs official_text and source",
            ),
            (
                self.stratum in ("trap", "adversarial") and self.trap is None,
                f"el estrato {self.stratum} exige trap",
                f"stratum {self.stratum} needs trap",
            ),
            (
                (self.twin_of is None) != (self.twin_relation is None),
                "twin_of y twin_relation van juntos",
                "twin_of and twin_relation go together",
            ),
            (self.twin_of == self.id, "un ítem no es gemelo de sí mismo", "an item is no twin of itself"),
            (
                self.honeytoken and self.stratum != PROBE_STRATUM,
                "honeytoken solo en el estrato probe",
                "honeytoken only in stratum probe",
            ),
            (
                bool(self.tools) and self.reference.kind != "trajectory",
                "tools solo con una referencia trajectory",
                "tools only with a trajectory reference",
            ),
        )

    @property
    def hostile(self) -> bool:
        """Tell whether abstaining or denying is right here."""
        return self.stratum in HOSTILE_STRATA or self.reference.kind == "none"

    def query_text(self) -> str:
        """Return what the user types: the query, or the last message."""
        return self.query if self.query is not None else self.messages[-1].content

    def to_json(self) -> JsonObject:
        """Return the canonical tree: keys that are absent or equal to their default are left out."""
        tree: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return tree
