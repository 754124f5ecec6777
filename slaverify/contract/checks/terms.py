"""Money, report and ledger: references to metrics, credits, keys, roots, recipients, witnesses."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from slaverify.contract.blocks import Blocks
from slaverify.contract.checks.endpoint import address
from slaverify.contract.checks.parties import folded
from slaverify.contract.findings import Finding, Path
from slaverify.contract.model.metrics import Metric
from slaverify.contract.model.report import Ledger, Report
from slaverify.contract.model.terms import Credit, Remedies
from slaverify.contract.shape import nearest
from slaverify.errors import Text


def findings(blocks: Blocks) -> Iterator[Finding]:
    """Yield the problems of remedies, schedule, report and ledger."""
    metrics = {metric.id: metric for metric in blocks.metrics if metric is not None}
    complete = bool(metrics) and None not in blocks.metrics
    if blocks.remedies is not None:
        yield from _remedies(blocks.remedies, metrics if complete else None)
    if blocks.schedule is not None:
        check = blocks.schedule.change_check
        if blocks.schedule.paired_before_change and check is None:
            yield Finding(
                "SLV-C010",
                ("schedule", "paired_before_change"),
                Text("falta `schedule.change_check`", "`schedule.change_check` is missing"),
                Text("agréguelo o escriba `false`", "add it or write `false`"),
                at_key=True,
            )
        if check is not None and complete:
            for index, name in enumerate(check.metrics):
                yield from _known(("schedule", "change_check", "metrics", index), name, metrics)
    if blocks.report is not None:
        yield from _report(blocks, blocks.report)
    if blocks.ledger is not None:
        yield from _ledger(blocks.ledger)


def _known(path: Path, name: str, metrics: dict[str, Metric]) -> Iterator[Finding]:
    if name not in metrics:
        near = nearest(name, tuple(metrics))
        yield Finding(
            "SLV-C037",
            path,
            Text(f"no hay métrica `{name}`", f"there is no metric `{name}`"),
            Text(f"¿quiso decir `{near}`?", f"did you mean `{near}`?")
            if near
            else Text(f"las métricas son: {', '.join(metrics)}", f"the metrics are: {', '.join(metrics)}"),
            at_key=path[-1] == name,
        )


def _remedies(remedies: Remedies, metrics: dict[str, Metric] | None) -> Iterator[Finding]:
    if remedies.credits and (remedies.base_amount is None or remedies.currency is None):
        yield Finding(
            "SLV-C010",
            ("remedies",),
            Text("los créditos necesitan `base_amount` y `currency`", "credits need `base_amount` and `currency`"),
            Text(
                'por ejemplo `base_amount: "2500000"`, `currency: CLP`',
                'e.g. `base_amount: "2500000"`, `currency: CLP`',
            ),
            at_key=True,
        )
    if remedies.allocation is not None:
        total = sum(remedies.allocation.values(), Decimal(0))
        if total != 1:
            yield Finding(
                "SLV-C037",
                ("remedies", "allocation"),
                Text(f"las partes suman {total}, no 1", f"the shares sum to {total}, not 1"),
                Text("corríjalas", "mend them"),
                at_key=True,
            )
        for name in remedies.allocation:
            if metrics is not None:
                yield from _known(("remedies", "allocation", name), name, metrics)
    seen: dict[str, list[Credit]] = {}
    for index, credit in enumerate(remedies.credits):
        path: Path = ("remedies", "credits", index)
        if metrics is not None:
            yield from _known((*path, "metric"), credit.metric, metrics)
        yield from _credit(path, credit, remedies, None if metrics is None else metrics.get(credit.metric))
        earlier = seen.setdefault(credit.metric, [])
        if any(_overlap(credit, other) for other in earlier):
            yield Finding(
                "SLV-C037",
                path,
                Text("este tramo se superpone con otro", "this step overlaps another"),
                Text(
                    "un tramo por límite, y más crédito mientras peor es la tasa",
                    "one step per bound, and more credit the worse the rate",
                ),
            )
        earlier.append(credit)


def _credit(path: Path, credit: Credit, remedies: Remedies, metric: Metric | None) -> Iterator[Finding]:
    if (credit.below is None) == (credit.above is None):
        yield Finding(
            "SLV-C037",
            path,
            Text("un crédito lleva `below` o `above`, uno de los dos", "a credit has `below` or `above`, one of them"),
        )
    elif metric is not None and (credit.below is None) == (metric.direction == "at_least"):
        due = "below" if metric.direction == "at_least" else "above"
        yield Finding(
            "SLV-C037",
            path,
            Text(
                f"con `{metric.direction}` el crédito va con `{due}`",
                f"with `{metric.direction}` a credit goes with `{due}`",
            ),
        )
    part = Decimal(1) if remedies.allocation is None else remedies.allocation.get(credit.metric, Decimal(0))
    weight = part if remedies.at_risk is None else part * remedies.at_risk
    if remedies.cap is not None and credit.share * weight > remedies.cap:
        due = f"{(credit.share * weight).normalize():f}"
        yield Finding(
            "SLV-C037",
            (*path, "share"),
            Text(
                f"el crédito ({due} de la base) supera `cap` ({remedies.cap})",
                f"the credit ({due} of the base) exceeds `cap` ({remedies.cap})",
            ),
            Text("baje el crédito o suba el tope", "lower the credit or raise the limit"),
        )


def _overlap(one: Credit, other: Credit) -> bool:
    """Return whether two steps of a metric contradict each other: same bound, or the worse rate paid less."""
    if one.below is not None and other.below is not None:
        return one.below == other.below or (one.below < other.below) != (one.share > other.share)
    if one.above is not None and other.above is not None:
        return one.above == other.above or (one.above > other.above) != (one.share > other.share)
    return True


def _report(blocks: Blocks, report: Report) -> Iterator[Finding]:
    signature = report.signature
    if blocks.parties is not None:
        pinned = {key.spki_sha256 for key in blocks.parties.auditor.keys}
        if signature.auditor_spki_sha256 not in pinned:
            yield Finding(
                "SLV-C040",
                ("report", "signature", "auditor_spki_sha256"),
                Text("no es una llave de `parties.auditor.keys`", "it is no key of `parties.auditor.keys`"),
                Text("copie ahí la misma huella", "copy the same digest there"),
            )
        vendor = blocks.parties.vendor
        for name in report.annex_recipients:
            if folded(name) in (folded(vendor.name), "vendor", "proveedor"):
                yield Finding(
                    "SLV-C039",
                    ("report", "annex_recipients", name),
                    Text("el proveedor no puede abrir el anexo sellado", "the vendor may not open the sealed annex"),
                    Text("bórrelo: ahí están las referencias", "delete it: the references are in there"),
                    at_key=True,
                )
    if not signature.tsa_roots and blocks.purpose != "self_check":
        yield Finding(
            "SLV-C010",
            ("report", "signature"),
            Text("falta `report.signature.tsa_roots`", "`report.signature.tsa_roots` is missing"),
            Text("imprímalas con `slaverify keys tsa URL`", "print them with `slaverify keys tsa URL`"),
            at_key=True,
        )
    for index, url in enumerate(signature.tsa_urls):
        # A token is signed: http is what public authorities offer.
        yield from address(("report", "signature", "tsa_urls", index), url, plain=True)


def _ledger(ledger: Ledger) -> Iterator[Finding]:
    for index, witness in enumerate(ledger.witnesses):
        if (witness.vkey is None) == (witness.ssh is None):
            yield Finding(
                "SLV-C010",
                ("ledger", "witnesses", index),
                Text("un testigo lleva `vkey` o `ssh`, uno de los dos", "a witness has `vkey` or `ssh`, one of them"),
            )
    if ledger.quorum > len(ledger.witnesses):
        yield Finding(
            "SLV-C050",
            ("ledger", "quorum"),
            Text(
                f"se piden {ledger.quorum} testigos y hay {len(ledger.witnesses)}",
                f"{ledger.quorum} witnesses are asked, {len(ledger.witnesses)} exist",
            ),
            Text("baje `quorum` o agregue testigos", "lower `quorum` or add witnesses"),
        )
    elif ledger.start_anchor in ("witness", "both") and ledger.quorum == 0:
        yield Finding(
            "SLV-C050",
            ("ledger", "start_anchor"),
            Text("el ancla pide testigos y `quorum` es 0", "the anchor asks for witnesses and `quorum` is 0"),
            Text("suba `quorum` o use `timestamp`", "raise `quorum` or use `timestamp`"),
        )
