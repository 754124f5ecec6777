"""What the contract and the profile fix for the scoring of one stratum, with the policies of section 10.

Source: docs/spec/scoring.md section 10; docs/spec/contract.md section 2 (`method`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from slaverify.canonical import JsonObject, decimal_text
from slaverify.errors import SetError, Text
from slaverify.evalset import HOSTILE_STRATA, Catalogue, Item, Policies
from slaverify.scoring.profiles import VERDICT_TABLES, Profile, profile

if TYPE_CHECKING:
    from slaverify.contract import Contract
    from slaverify.contract.model.judge import Criterion


_V = TypeVar("_V")


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySet:
    """The policies, each with its default; `tolerance` is absolute, in the unit of the value."""

    percent_equivalence: bool = False
    range_expansion: str = "none"
    ordering: str = "set"
    fold_accents: bool = False
    granularity: str = "article"
    json: str = "strict"
    tolerance: Decimal = Decimal(0)
    number_words: bool = True
    scale_words: bool = True
    accounting_brackets: bool = False
    unit_in_query: bool = True
    year_pivot: int = 70

    def changed(self, by: Policies) -> PolicySet:
        """Return the set with the values that `by` has; what is null there keeps its value."""
        return PolicySet(
            percent_equivalence=_or(by.percent_equivalence, self.percent_equivalence),
            range_expansion=_or(by.range_expansion, self.range_expansion),
            ordering=_or(by.ordering, self.ordering),
            fold_accents=_or(by.fold_accents, self.fold_accents),
            granularity=_or(by.granularity, self.granularity),
            json=_or(by.json_, self.json),
            tolerance=self.tolerance if by.tolerance is None else Decimal(by.tolerance),
            number_words=_or(by.number_words, self.number_words),
            scale_words=_or(by.scale_words, self.scale_words),
            accounting_brackets=_or(by.accounting_brackets, self.accounting_brackets),
            unit_in_query=_or(by.unit_in_query, self.unit_in_query),
            year_pivot=_or(by.year_pivot, self.year_pivot),
        )

    def used(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return the named policies as text, for the trace of a rule."""
        return tuple((name, _as_text(getattr(self, name))) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the answers of one stratum are scored.

    `locale` null: outside a contract, numbers with a separator are then ambiguous. `language` is the pinned
    language of answers (two letters) or null; `critical_fields` are those that make a
    document right (none: all); `judged` and `judged_grounding` say that an open correctness,
    or an open grounding, may go to the judge; `citation_field`
    that the endpoint returns citations apart; `catalogue` is what exists, null: citations are not looked up;
    `criteria` are those of the contract, for what code says of them.
    """

    locale: str | None
    language: str | None
    stratum: str | None = None
    profile: str = "qa@1"
    rules: tuple[str, ...] = ()
    normaliser: str = "es-legal@1"
    abstention: tuple[str, ...] = ("abstain-es@1", "abstain-en@1")
    verdict_table: str = "plain@1"
    null_tokens: tuple[str, ...] = ()
    policies: PolicySet = field(default_factory=PolicySet)
    critical_fields: tuple[str, ...] = ()
    max_chars: int = 20_000
    judged: bool = False
    judged_grounding: bool = False
    citation_field: bool = False
    catalogue: Catalogue | None = field(default=None, compare=False, repr=False)
    criteria: tuple[Criterion, ...] = ()

    def for_item(self, item: Item) -> Settings:
        """Return the settings with the item's own locale and policies."""
        out = self
        if item.locale is not None and item.locale != self.locale:
            out = replace(out, locale=item.locale)
        if item.settings.model_fields_set:
            out = replace(out, policies=out.policies.changed(item.settings))
        return out


def settings_for(contract: Contract, stratum: str, catalogue: Catalogue | None = None) -> Settings:
    """Return the settings that `contract` fixes for `stratum`; `catalogue` is the one of its scope.

    What the contract leaves out is the profile's. Raises: SetError SLV-I031 for a profile, SLV-I032 for a policy,
    SLV-I033 for a verdict table that this version does not have, SLV-I034 for a stratum that the profile has not.
    """
    method = contract.method
    locale = contract.contract.locale
    table = profile(method.profile)
    if table.strata is not None and stratum not in (*table.strata, "probe"):
        raise SetError(
            "SLV-I034", Text(f"el perfil {table.name} no tiene el estrato {stratum}", f"no stratum {stratum}")
        )
    verdicts = method.verdict_table or table.verdict_table
    if not isinstance(verdicts, str) or verdicts not in VERDICT_TABLES:
        raise SetError("SLV-I033", Text("tabla de veredictos desconocida", "unknown verdict table"))
    rules = (method.rules or {}).get(stratum, ())
    overrides = read_policies(method.policies.model_dump(mode="json", by_alias=True, exclude_none=True))
    policies = _profile_policies(table).changed(overrides)
    # where a norm's question is hostile, code decides alone
    asked = frozenset(method.judge_stage.ask)
    asks = stratum in method.judge_stage.strata and not (table.citations and stratum in HOSTILE_STRATA)
    return Settings(
        locale=locale,
        language=(method.answer.language or locale)[:2],
        stratum=stratum,
        profile=table.name,
        rules=tuple(rules),
        normaliser=method.normaliser or _normaliser_of(table, locale),
        abstention=tuple(method.abstention or table.abstention),
        verdict_table=verdicts,
        null_tokens=table.null_tokens if method.null_tokens is None else tuple(method.null_tokens),
        policies=policies,
        critical_fields=tuple(method.critical_fields or ()),
        max_chars=method.answer.max_chars,
        judged=asks and not asked.isdisjoint({"correctness", "eligibility"}),
        judged_grounding=asks and not asked.isdisjoint({"grounding", "eligibility"}),
        citation_field=contract.endpoint.response.citations is not None,
        catalogue=catalogue,
        criteria=() if contract.judge is None else contract.judge.criteria,
    )


def default_settings(profile_name: str, locale: str | None, stratum: str | None = None) -> Settings:
    """Return the settings of a profile without a contract, for lint and for trying an item."""
    table = profile(profile_name)
    return Settings(
        locale=locale,
        language=None if locale is None else locale[:2],
        stratum=stratum,
        profile=table.name,
        normaliser=_normaliser_of(table, locale or ""),
        abstention=table.abstention,
        verdict_table=table.verdict_table,
        null_tokens=table.null_tokens,
        policies=_profile_policies(table),
    )


def _normaliser_of(table: Profile, locale: str) -> str:
    return table.normaliser.get(locale[:2], table.normaliser["*"])


def read_policies(tree: JsonObject) -> Policies:
    """Read policies strictly. Raises: SetError SLV-I032 for an unknown policy or a value that it cannot have."""
    try:
        return Policies.model_validate(tree)
    except ValidationError as error:
        name = ".".join(str(part) for part in error.errors()[0]["loc"])
        known = ", ".join(entry.name for entry in fields(PolicySet))
        raise SetError(
            "SLV-I032",
            Text(f"política desconocida o con un valor que no admite: {name}", f"unknown policy or value: {name}"),
            fix=Text(f"las políticas son: {known}", f"the policies are: {known}"),
        ) from error


def _profile_policies(table: Profile) -> PolicySet:
    return PolicySet().changed(read_policies(table.policies))


def _or(value: _V | None, default: _V) -> _V:
    return default if value is None else value


def _as_text(value: object) -> str:
    if isinstance(value, Decimal):
        return decimal_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
