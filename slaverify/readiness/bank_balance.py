"""Sets that are lopsided (I027), stale or read by one person alone (I028). Warnings, printed in the report.

Source: docs/spec/bank-check.md section 2.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence

from slaverify.errors import Text
from slaverify.evalset import ChoiceReference, Item
from slaverify.readiness.bank_findings import WARNING, CheckOptions, Finding, named

UNBALANCED = 0.01
"""p under which the keys of choices are unbalanced."""

FEW = 20
"""Items under which no balance is judged."""

CLUSTER_SHARE = 0.2
STALE_DAYS = 180


def check_balance(items: Sequence[Item], options: CheckOptions) -> list[Finding]:
    """Return what is lopsided: keys, lengths, clusters, strata."""
    return [*_choices(items), *_clusters(items), *_sizes(items, options)]


def _choices(items: Sequence[Item]) -> Iterator[Finding]:
    from scipy.stats import binom, chisquare

    groups: dict[tuple[str, ...], list[ChoiceReference]] = {}
    for item in items:
        if isinstance(item.reference, ChoiceReference):
            groups.setdefault(tuple(sorted(item.reference.options)), []).append(item.reference)
    for labels, references in groups.items():
        if len(references) < FEW:
            continue
        keys = Counter(reference.value for reference in references)
        p = float(chisquare([keys[label] for label in labels]).pvalue)
        if p < UNBALANCED:
            shown = ", ".join(f"{label} {keys[label]}" for label in labels)
            yield _warn("SLV-I027", f"claves desbalanceadas: {shown} (p {p:.4f})", f"unbalanced keys: {shown}")
        longest = sum(_is_longest(reference) for reference in references)
        if float(binom.sf(longest - 1, len(references), 1 / len(labels))) < UNBALANCED:
            counts = f"{longest}/{len(references)}"
            yield _warn(
                "SLV-I027",
                f"la respuesta correcta es la más larga en {counts}",
                f"the right option is the longest one in {counts}",
            )


def _is_longest(reference: ChoiceReference) -> bool:
    own = len(reference.options[reference.value])
    return all(len(text) < own for label, text in reference.options.items() if label != reference.value)


def _clusters(items: Sequence[Item]) -> Iterator[Finding]:
    counts = Counter(item.cluster for item in items if item.cluster is not None)
    for cluster, count in counts.items():
        if len(items) >= FEW and count > CLUSTER_SHARE * len(items):
            yield _warn(
                "SLV-I027",
                f"el grupo {cluster} reúne {count} de {len(items)} ítems",
                f"cluster {cluster} holds {count} of {len(items)} items",
            )
    if len(items) >= FEW and counts and len(counts) == sum(counts.values()):
        yield _warn("SLV-I027", "cada ítem tiene su propio grupo", "every item has a cluster of its own")


def _sizes(items: Sequence[Item], options: CheckOptions) -> Iterator[Finding]:
    counts = Counter(item.stratum for item in items)
    for stratum, wanted in sorted(options.sizes.items()):
        if counts[stratum] < wanted:
            yield _warn(
                "SLV-I027",
                f"el estrato {stratum} tiene {counts[stratum]} ítems y el contrato sortea {wanted}",
                f"stratum {stratum} has {counts[stratum]} items and the contract draws {wanted}",
            )


def check_age(items: Sequence[Item], options: CheckOptions) -> list[Finding]:
    """Return what is stale, undated, or has no second reader."""
    out: list[Finding] = []
    if options.today is not None:
        limit = datetime.date.fromisoformat(options.today) - datetime.timedelta(days=STALE_DAYS)
        stale = [item.id for item in items if item.consulted_on is not None and item.consulted_on < limit.isoformat()]
        if stale:
            shown = named(stale)
            out.append(
                _warn(
                    "SLV-I028",
                    f"fuente consultada hace más de {STALE_DAYS} días: {shown}",
                    f"source read more than {STALE_DAYS} days ago: {shown}",
                    stale,
                )
            )
    undated = [item.id for item in items if item.source is not None and item.as_of is None]
    if undated:
        shown = named(undated)
        out.append(
            _warn("SLV-I028", f"sin fecha de vigencia (as_of): {shown}", f"no as_of in a dated norm: {shown}", undated)
        )
    reversed_ = [item.id for item in items if item.as_of and item.consulted_on and item.as_of > item.consulted_on]
    if reversed_:
        shown = named(reversed_)
        what = f"as_of posterior a la consulta: {shown}"
        out.append(_warn("SLV-I028", what, f"as_of later than consulted_on: {shown}", reversed_))
    if not any(item.annotations for item in items):
        out.append(
            _warn(
                "SLV-I028",
                "ninguna muestra tiene una segunda persona que la haya respondido",
                "no sample has been answered by a second person",
            )
        )
    return out


def _warn(code: str, es: str, en: str, items: Sequence[str] = ()) -> Finding:
    return Finding(code=code, level=WARNING, items=tuple(items), what=Text(es, en))
