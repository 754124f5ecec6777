"""Read from the bundle what the document says, once, into one frozen object.

A file that the run never wrote, or that this edition withholds, is None here: the section that needs it then
says so. What the verdict itself stands on (manifest, contract, decision, limitations, results) must be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from slaverify.canonical import JsonObject, JsonValue, StrictJsonError, digest_of, loads_object
from slaverify.custody import Demand
from slaverify.errors import ReportError, Text
from slaverify.report.level import CustodyLevel, custody_demands, custody_level


class BundleFiles(Protocol):
    """What `build` needs of a bundle: the manifest's bytes and the files that it lists, by path."""

    @property
    def manifest_bytes(self) -> bytes | None:
        """The exact bytes of `manifest.json`, whose SHA-256 is the bundle's identity; None before it is closed."""

    def paths(self) -> tuple[str, ...]:
        """Return the files that are here, less the envelope's."""

    def has(self, path: str) -> bool:
        """Tell whether the bundle holds the bytes of `path`."""

    def read(self, path: str) -> bytes:
        """Return the bytes of `path`."""

    def records(self, path: str) -> tuple[JsonObject, ...]:
        """Return the lines of a record file, each canonical; nobody changes them."""

    def withheld(self, path: str) -> bool:
        """Tell whether the manifest lists `path` and this edition leaves it out."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of the contract with its decision and its measurement."""

    id: str
    name: str
    spec: JsonObject
    decision: JsonObject
    result: JsonObject
    reason: str | None
    """Why it has its state; for a run that does not count, what was wrong with the run."""

    @property
    def state(self) -> str:
        """The state of this metric."""
        return text(self.decision, "state")

    @property
    def binding(self) -> bool:
        """Whether the metric moves the verdict."""
        return self.decision.get("binding") is True

    @property
    def lower_is_better(self) -> bool:
        """Whether the contract sets a ceiling (`at_most`) and not a floor."""
        return self.spec.get("direction") == "at_most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that the sections read. JSON trees are those of the bundle's files."""

    tag: str
    bundle_digest: str
    manifest: JsonObject
    contract: JsonObject
    decision: JsonObject
    limitations: JsonObject
    metrics: tuple[Metric, ...]
    strata: tuple[JsonObject, ...]
    scores: tuple[JsonObject, ...] | None
    outcomes: tuple[JsonObject, ...] | None
    signals: JsonObject | None
    ledger: tuple[JsonObject, ...] | None
    bank: JsonObject | None
    draw: JsonObject | None
    exposure: JsonObject | None
    integrity: JsonObject | None
    dispersion: JsonObject | None
    environment: JsonObject | None
    paths: JsonObject | None
    comparison: JsonObject | None
    """What a change check found; None for a run that measures the contract."""
    panel: JsonObject | None
    calibration: JsonObject | None
    replies: Mapping[str, JsonObject]
    opinion: JsonObject | None
    disputes: tuple[JsonObject, ...]
    amendment: JsonObject | None
    withheld: tuple[str, ...]
    custody_level: CustodyLevel | None
    demands: Mapping[str, Demand] | None

    @property
    def language(self) -> str:
        """`es` or `en`."""
        return self.tag[:2]

    @property
    def state(self) -> str:
        """The state of the whole."""
        return text(self.decision, "state")

    @property
    def unsigned_by(self) -> tuple[str, ...]:
        """The roles whose valid signature of the contract the bundle does not hold (argument of L25)."""
        papers = self.limitation("L25")
        return () if papers is None else tuple(texts(papers.get("unsigned")))

    @property
    def demo(self) -> bool:
        """Whether keys, authority or bank are those of the demonstration (argument of L24)."""
        signature = self.limitation("L24")
        return signature is not None and signature.get("demo") is True

    def agreed(self, path: str) -> JsonValue:
        """Return what the contract says at a dotted path, or None."""
        return at(self.contract, path)

    def limitation(self, code: str) -> JsonObject | None:
        """Return the arguments of a limitation of this run, or None if it does not apply."""
        for item in objects(self.limitations.get("items")):
            if item.get("code") == code:
                args = item.get("args")
                return args if isinstance(args, Mapping) else {}
        return None


def read_facts(bundle: BundleFiles, language: str) -> Facts:
    """Read the bundle. Raises: ReportError SLV-R001 naming the file that is missing or malformed."""
    manifest_bytes = bundle.manifest_bytes
    if manifest_bytes is None:
        raise _broken("manifest.json", "not closed")
    manifest = _parse("manifest.json", manifest_bytes)
    contract = _required(bundle, "contract/contract.json")
    decision = _required(bundle, "decision/decision.json")
    results = _required(bundle, "statistics/results.json")
    listed = objects(manifest.get("files"))
    return Facts(
        tag=_tag(contract, language),
        bundle_digest=digest_of(manifest_bytes),
        manifest=manifest,
        contract=contract,
        decision=decision,
        limitations=_required(bundle, "decision/limitations.json"),
        metrics=_metrics(contract, decision, results, language),
        strata=tuple(objects(results.get("strata"))),
        scores=_lines(bundle, "scoring/scores.jsonl"),
        outcomes=_lines(bundle, "run/outcomes.jsonl"),
        signals=_optional(bundle, "run/signals.json"),
        ledger=_lines(bundle, "custody/ledger.jsonl"),
        bank=_optional(bundle, "custody/bank_manifest.json"),
        draw=_optional(bundle, "custody/draw.json"),
        exposure=_optional(bundle, "custody/exposure.json"),
        integrity=_optional(bundle, "statistics/integrity.json"),
        dispersion=_optional(bundle, "statistics/dispersion.json"),
        environment=_optional(bundle, "environment/environment.json"),
        paths=_optional(bundle, "trajectory/summary.json"),
        comparison=_optional(bundle, "statistics/comparison.json"),
        panel=_optional(bundle, "judging/panel.json"),
        calibration=_optional(bundle, "judging/calibration.json"),
        replies={
            role: reply
            for role in ("vendor", "buyer")
            if (reply := _optional(bundle, f"replies/{role}.json")) is not None
        },
        opinion=_opinion(bundle, contract),
        disputes=_lines(bundle, "replies/disputes.jsonl") or (),
        amendment=_optional(bundle, "decision/amendment.json"),
        # What the public edition leaves out, not what this reader happens to lack: the page is the same for both.
        withheld=tuple(sorted(text(entry, "path") for entry in listed if entry.get("disclosure") != "public")),
        custody_level=custody_level(bundle, contract, manifest),
        demands=custody_demands(bundle, contract, manifest),
    )


def at(tree: JsonValue, path: str) -> JsonValue:
    """Return the value at a dotted path of a JSON tree, or None where a step does not exist."""
    node = tree
    for key in path.split("."):
        if not isinstance(node, Mapping):
            return None
        node = node.get(key)
    return node


def text(tree: JsonObject, key: str) -> str:
    """Return a text member. Raises: ReportError SLV-R001 if it is none."""
    value = tree.get(key)
    if not isinstance(value, str):
        raise _broken(key, "text expected")
    return value


def integer(tree: JsonObject, key: str) -> int:
    """Return a count. Raises: ReportError SLV-R001 if it is none."""
    value = tree.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _broken(key, "count expected")
    return value


def objects(value: JsonValue) -> list[JsonObject]:
    """Return the objects of a list; an absent list is empty."""
    if not isinstance(value, list | tuple):
        return []
    return [member for member in value if isinstance(member, Mapping)]


def texts(value: JsonValue) -> list[str]:
    """Return the texts of a list; an absent list is empty."""
    if not isinstance(value, list | tuple):
        return []
    return [member for member in value if isinstance(member, str)]


def _tag(contract: JsonObject, language: str) -> str:
    if language[:2] == "en":
        return "en"
    if language[:2] != "es":
        raise ReportError(
            "SLV-R002",
            Text(f"no hay informe en el idioma «{language[:20]}»", f"there is no report in language “{language[:20]}”"),
            fix=Text("use es o en", "use es or en"),
        )
    locale = at(contract, "contract.locale")
    return locale if isinstance(locale, str) and locale.startswith("es") else "es"


def _metrics(contract: JsonObject, decision: JsonObject, results: JsonObject, language: str) -> tuple[Metric, ...]:
    decided = {text(entry, "id"): entry for entry in objects(decision.get("metrics"))}
    found = {text(entry, "id"): entry for entry in objects(results.get("metrics"))}
    out = []
    for spec in objects(contract.get("metrics")):
        name = text(spec, "id")
        if name not in decided or name not in found:
            raise _broken(f"metrics.{name}", "not decided")
        label = at(spec, f"name.{language[:2]}")
        shown = label if isinstance(label, str) else name
        out.append(Metric(name, shown, spec, decided[name], found[name], _reason(decided[name], results)))
    return tuple(out)


def _reason(decided: JsonObject, results: JsonObject) -> str | None:
    reason = decided.get("reason")
    fault = at(results, "run.reason")
    if reason == "run_invalid" and isinstance(fault, str):
        return fault
    return reason if isinstance(reason, str) else None


def _required(bundle: BundleFiles, path: str) -> JsonObject:
    if not bundle.has(path):
        raise _broken(path, "missing")
    return _parse(path, bundle.read(path))


def _optional(bundle: BundleFiles, path: str) -> JsonObject | None:
    return _parse(path, bundle.read(path)) if bundle.has(path) else None


def _opinion(bundle: BundleFiles, contract: JsonObject) -> JsonObject | None:
    """Return the auditor's opinion, which is a signatory's or none."""
    path = "replies/auditor.json"
    found = _optional(bundle, path)
    if found is not None and found.get("author") not in texts(at(contract, "report.signature.signatories")):
        raise _broken(path, "author")
    return found


def _lines(bundle: BundleFiles, path: str) -> tuple[JsonObject, ...] | None:
    if not bundle.has(path):
        return None
    try:
        return bundle.records(path)
    except StrictJsonError as error:
        raise _broken(path, str(error)) from error


def _parse(path: str, data: bytes) -> JsonObject:
    try:
        return loads_object(data)
    except StrictJsonError as error:
        raise _broken(path, str(error)) from error


def _broken(place: str, detail: str) -> ReportError:
    return ReportError(
        "SLV-R001",
        Text(f"el paquete no alcanza para un informe: {place}", f"the bundle does not suffice for a report: {place}"),
        why=Text(detail, detail),
        fix=Text("decida la corrida y cierre el paquete antes", "decide the run and close the bundle first"),
        where=place,
    )
