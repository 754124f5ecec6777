"""Build `report.json` from a bundle: the whole model of the document, and nothing that the bundle does not hold."""

from __future__ import annotations

from slaverify.canonical import JsonObject, JsonValue, jcs
from slaverify.report.facts import BundleFiles, Facts, read_facts, text
from slaverify.report.sections.annexes import annexes
from slaverify.report.sections.change import change_results, change_statement, change_summary
from slaverify.report.sections.custody import custody
from slaverify.report.sections.deviations import deviations
from slaverify.report.sections.item import item
from slaverify.report.sections.limits import limits
from slaverify.report.sections.method import method
from slaverify.report.sections.results import results
from slaverify.report.sections.sheet import sheet
from slaverify.report.sections.statement import statement
from slaverify.report.sections.summary import report_id, summary
from slaverify.report.sections.verifiability import verifiability
from slaverify.report.words import Node, code, say, section

TYPE = "slaverify/report/1"
RENDER_KEYS = (
    "weasyprint",
    "pydyf",
    "fonttools",
    "pango",
    "harfbuzz",
    "jinja2",
    "babel",
    "segno",
    "fonts",
    "templates_sha256",
    "cldr",
)


def build(bundle: BundleFiles, language: str, renderer: JsonObject | None = None, *, draft: bool = False) -> bytes:
    """Return the bytes of `report.json` (RFC 8785) in `es` or `en`; a `draft` says so on every page.

    `renderer` is what `slaverify.report.pdf.renderer()` says of this machine; without it the versions are null, and
    nobody can later claim that a second render must give the same bytes.

    Raises: ReportError SLV-R001 if the bundle lacks what a verdict stands on, SLV-R002 for another language.
    """
    facts = read_facts(bundle, language)
    known: JsonObject = renderer or {}
    render: dict[str, JsonValue] = {key: known.get(key) for key in RENDER_KEYS}
    manifest = facts.manifest
    return jcs(
        {
            "type": TYPE,
            "report_id": report_id(facts),
            "language": facts.tag,
            "bundle_digest": facts.bundle_digest,
            "contract_digest": text(manifest, "contract_digest"),
            "bank_digest": text(manifest, "bank_digest"),
            "method_digest": text(manifest, "method_digest"),
            "run_id": text(manifest, "run_id"),
            "closed_at": text(manifest, "closed_at"),
            "decision": facts.decision,
            "limitations": facts.limitations,
            "amends": _amends(facts),
            "render": render,
            "sections": _sections(facts, render, draft),
        }
    )


def _sections(facts: Facts, render: JsonObject, draft: bool) -> list[JsonValue]:
    first = (
        [summary(facts), statement(facts), results(facts)]
        if facts.comparison is None
        else [change_summary(facts), change_statement(), change_results(facts)]
    )
    return [
        _marks(facts, draft),
        *first,
        sheet(facts),
        item(facts),
        method(facts),
        custody(facts),
        deviations(facts),
        limits(facts),
        verifiability(facts, render),
        *annexes(facts),
    ]


def _amends(facts: Facts) -> JsonObject | None:
    """Return what this report replaces, why and what changed; None for a first report."""
    if facts.amendment is None:
        return None
    return {key: facts.amendment.get(key) for key in ("report_id", "signed_digest", "reason", "changes")}


def _marks(facts: Facts, draft: bool) -> Node:
    """Return what stands on each page: watermarks, number, short digest."""
    applies = {
        "draft": draft,
        "demo": facts.demo,
        "self_check": facts.limitation("L26") is not None,
        "unsigned": bool(facts.unsigned_by),
    }
    marks: list[JsonValue] = [
        {"kind": "watermark", "id": name, "text": say(f"mark.{name}")} for name, holds in applies.items() if holds
    ]
    digits = facts.bundle_digest.removeprefix("sha256:")[:16]
    footer: Node = {"kind": "footer", "id": "footer", "number": code(report_id(facts)), "digest": code(digits)}
    return section("marks", [*marks, footer])
