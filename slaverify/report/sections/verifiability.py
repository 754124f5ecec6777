"""Section 10: digests, keys, versions, and the exact commands with which anybody checks the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slaverify.canonical import JsonObject, JsonValue
from slaverify.report import figures
from slaverify.report.facts import Facts, objects, text
from slaverify.report.sections.summary import report_id
from slaverify.report.words import (
    Node,
    bullets,
    code,
    column,
    fact,
    fact_table,
    heading,
    instant,
    listing,
    paragraph,
    say,
    section,
    table,
)

CMS = "openssl cms -verify -binary -inform DER -in manifest.p7s -content manifest.json"
STATES = frozenset({"PASS", "BREACH", "INCONCLUSIVE", "NOT_MEASURED", "INVALID_RUN"})
COMMANDS = (
    "slaverify verify {report} --bundle {bundle} --contract {contract} --rerender",
    "slaverify extract {bundle} {folder} --contract {contract}",
    "cd {folder}",
    "openssl x509 -in auditor.pem -pubkey -noout | openssl pkey -pubin -outform DER | sha256sum",
    f"{CMS} -CAfile auditor.pem -purpose any -out /dev/null",
    "openssl ts -verify -data manifest.p7s -in manifest.tsr -CAfile tsa.pem",
    "sha256sum manifest.json",
)
FILES = {
    "es": {"report": "informe.pdf", "bundle": "paquete.zip", "contract": "contrato.yaml", "folder": "carpeta"},
    "en": {"report": "report.pdf", "bundle": "bundle.zip", "contract": "contract.yaml", "folder": "folder"},
}


def verifiability(facts: Facts, renderer: JsonObject) -> Node:
    """Return section 10."""
    return section(
        "verifiability",
        [
            heading("section.verifiability", id="verifiability"),
            paragraph("verify.intro"),
            fact_table(_digests(facts), id="digests"),
            *_amended(facts),
            heading("verify.commands", 3),
            paragraph("verify.commands_intro"),
            {"kind": "commands", "id": "commands", "lines": [code(line) for line in _commands(facts)]},
            paragraph("verify.expired", style="note"),
            heading("verify.signature", 3),
            bullets(_signature(facts), id="signature"),
            heading("verify.levels", 3),
            table(
                say("verify.level_table"),
                [column("level", width=24), column("means")],
                [[say(f"level.{name}"), say(f"level.{name}_means")] for name in ("derivable", "attested", "declared")],
            ),
            heading("verify.versions", 3),
            fact_table(_versions(facts, renderer), id="versions"),
            paragraph("verify.not_validated", style="note"),
            paragraph("verify.withheld", n=len(facts.withheld)) if facts.withheld else paragraph("verify.all_here"),
        ],
    )


def _amended(facts: Facts) -> Iterator[Node]:
    """Say what this report replaces, with every figure that changed, old and new; or that it replaces none."""
    if facts.amendment is None:
        yield paragraph("verify.not_amended", id="amended")
        return
    changes = objects(facts.amendment.get("changes"))
    rows: list[list[JsonValue]] = [
        [code(text(change, "field")), _figure(change.get("old")), _figure(change.get("new"))] for change in changes
    ]
    if not rows:
        yield paragraph("verify.amended_words", id="amended")
        return
    columns = [column("field"), column("was", width=26), column("now", width=26)]
    yield table(say("verify.amended_table"), columns, rows, marked=list(range(len(rows))), id="amended")


def _figure(value: JsonValue) -> Node:
    if value is None:
        return say("word.none")
    if isinstance(value, str) and value in STATES:
        return say(f"state.{value}")
    return code(str(value))


def _commands(facts: Facts) -> list[str]:
    return [line.format(**FILES[facts.language]) for line in COMMANDS]


def _digests(facts: Facts) -> Iterator[Node]:
    yield fact("report_id", code(report_id(facts)))
    yield fact("bundle_digest", code(facts.bundle_digest))
    for key in ("contract_digest", "bank_digest", "method_digest", "run_id"):
        yield fact(key, code(text(facts.manifest, key)))
    yield fact("closed_at", instant(text(facts.manifest, "closed_at")), id="closed-at")
    ledger = facts.manifest.get("ledger")
    if isinstance(ledger, Mapping):
        yield fact("ledger_root", say("verify.root", size=ledger.get("size"), root=code(text(ledger, "root"))))


def _signature(facts: Facts) -> Iterator[Node]:
    level = facts.agreed("report.signature.level")
    yield say("verify.level_text", level=figures.code_or(level, "absent.agreed"))
    yield say("verify.pin", pin=figures.code_or(facts.agreed("report.signature.auditor_spki_sha256"), "absent.agreed"))
    yield say("verify.tsa", urls=figures.code_or(facts.agreed("report.signature.tsa_urls"), "absent.agreed"))
    names = facts.agreed("report.signature.signatories")
    yield say("verify.signatories", names=figures.text_or(names, "absent.agreed"))
    yield say("verify.unknown_identity")
    if facts.unsigned_by:
        yield say("verify.unsigned", roles=listing([say(f"role.{role}") for role in facts.unsigned_by], "and"))
    if facts.demo:
        yield say("verify.demo")


def _versions(facts: Facts, renderer: JsonObject) -> Iterator[Node]:
    tool = facts.manifest.get("tool")
    if isinstance(tool, Mapping):
        yield fact("tool", code(f"{tool.get('name')} {tool.get('version')}"))
        yield fact("lock", code(str(tool.get("lock_sha256"))))
    environment = facts.environment
    if environment is None:
        yield fact("environment", say("absent.environment"))
    else:
        parts = [f"Python {environment.get('python')}", str(environment.get("os")), str(environment.get("machine"))]
        yield fact("environment", listing([code(part) for part in parts]))
    yield fact("renderer", _renderer(renderer))
    fonts = renderer.get("fonts")
    known = [code(word) for word in fonts.split()] if isinstance(fonts, str) else []
    yield fact("fonts", listing(list(known)) if known else say("absent.renderer"))
    yield fact("templates", figures.code_or(renderer.get("templates_sha256"), "absent.renderer"))


def _renderer(renderer: JsonObject) -> Node:
    apart = ("fonts", "templates_sha256")
    known: list[JsonValue] = [
        code(f"{name} {value}") for name, value in renderer.items() if isinstance(value, str) and name not in apart
    ]
    return listing(known) if known else say("absent.renderer")
