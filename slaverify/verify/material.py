"""Put in one place what the checks read: report, manifests, contract, pins; each parsed once, each problem kept.

Boundary: all of it but the request's trust comes from the files under test. Nothing read here is believed: a
problem stands beside the value and fails the check that it belongs to.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonObject, StrictJsonError, loads_canonical
from slaverify.contract import LoadedContract
from slaverify.errors import EvidenceError, SlaverifyError, Text
from slaverify.evidence import Bundle, Manifest, Pins, SignatureFacts, parse_manifest
from slaverify.verify.agreed import load_agreed, pins_of
from slaverify.verify.checks import Part, failed, refused
from slaverify.verify.request import Trust, VerifyRequest

REPORT_TYPE = "slaverify/report/1"
REPORT_KEYS = frozenset(
    (
        "amends",
        "bank_digest",
        "bundle_digest",
        "closed_at",
        "contract_digest",
        "decision",
        "language",
        "limitations",
        "method_digest",
        "render",
        "report_id",
        "run_id",
        "sections",
        "type",
    )
)
_MAX_REPORT = 4 * 1024**2
_REPORT_DEPTH = 64
_CONTRACT_PATH = "contract/contract.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What the checks read. None: not given, or not readable; `problems` says which, by the check that fails.

    `report` is report.json of the signed revision; `attached` the manifest attached to the PDF; `contract` the one
    that the evidence is recomputed by (the bundle's own where it holds one, so that another contract of the caller
    fails its pin and nothing else); `pins` the keys it is judged by, `outside` whether they come from outside.
    """

    request: VerifyRequest
    facts: SignatureFacts | None
    report: JsonObject | None
    attached: Manifest | None
    bundle: Bundle | None
    contract: LoadedContract | None
    pins: Pins | None
    outside: bool
    problems: Mapping[str, tuple[Part, ...]]

    @property
    def manifest(self) -> Manifest | None:
        """The manifest that the other digests are compared with: the bundle's, else the one in the PDF."""
        return self.bundle.manifest if self.bundle is not None else self.attached

    @property
    def annex(self) -> Mapping[str, bytes] | None:
        """The opened annex by path, None if it was not given or not readable."""
        return None if isinstance(self.request.annex, SlaverifyError) else self.request.annex


def gather(request: VerifyRequest) -> Material:
    """Read the files of a request once. No exception leaves: each becomes a problem of the check it served."""
    problems: dict[str, list[Part]] = {}
    bundle = _bundle(request, problems)
    contract = _contract(request.trust, bundle, problems)
    pins, outside = _pins(request.trust, contract)
    facts = _facts(request, pins if outside else None, problems)
    report = _report(facts, problems)
    attached = _attached(facts, problems)
    return Material(
        request=request,
        facts=facts,
        report=report,
        attached=attached,
        bundle=bundle,
        contract=contract,
        pins=pins,
        outside=outside,
        problems={rule: tuple(parts) for rule, parts in problems.items()},
    )


def _note(problems: dict[str, list[Part]], rule: str, part: Part) -> None:
    problems.setdefault(rule, []).append(part)


def _bundle(request: VerifyRequest, problems: dict[str, list[Part]]) -> Bundle | None:
    given = request.bundle
    if isinstance(given, SlaverifyError):
        _note(problems, "V17", refused(given))
        return None
    if given is not None and given.manifest is None:
        _note(problems, "V17", failed(Text("el paquete no está cerrado", "the bundle is not closed")))
        return None
    return given


def _contract(trust: Trust, bundle: Bundle | None, problems: dict[str, list[Part]]) -> LoadedContract | None:
    if bundle is None or not bundle.has(_CONTRACT_PATH):
        return trust.contract
    try:
        return load_agreed(bundle.read(_CONTRACT_PATH))
    except Exception as error:  # noqa: BLE001 - bytes from anybody: whatever the reader raises fails the check
        _note(problems, "V16", refused(error, _CONTRACT_PATH))
        return None


def _pins(trust: Trust, contract: LoadedContract | None) -> tuple[Pins | None, bool]:
    if trust.contract is not None:
        return pins_of(trust.contract), True
    if trust.contract_digest is not None:
        matches = contract is not None and contract.digest == trust.contract_digest
        return (pins_of(contract), True) if contract is not None and matches else (None, False)
    if trust.auditor_spki is not None and trust.tsa_roots:
        level = Pins.level if contract is None else pins_of(contract).level
        return Pins(auditor_spki=trust.auditor_spki, tsa_roots=trust.tsa_roots, level=level), True
    return (None, False) if contract is None else (pins_of(contract), False)


def _facts(request: VerifyRequest, pins: Pins | None, problems: dict[str, list[Part]]) -> SignatureFacts | None:
    if request.pdf is None:
        return None
    # The one package that imports pyHanko: loaded only when there is a PDF to read.
    from slaverify.evidence.pades import pdf_facts

    try:
        return pdf_facts(request.pdf, pins)
    except Exception as error:  # noqa: BLE001 - a PDF from anybody
        _note(problems, "V01", refused(error, "PDF"))
        return None


def _report(facts: SignatureFacts | None, problems: dict[str, list[Part]]) -> JsonObject | None:
    data = None if facts is None else facts.attachment("report.json")
    if data is None:
        return None
    try:
        if len(data) > _MAX_REPORT:
            raise StrictJsonError("syntax", f"more than {_MAX_REPORT} bytes")
        tree = loads_canonical(data, max_depth=_REPORT_DEPTH)
    except StrictJsonError as error:
        _note(problems, "V16", refused(error, f"report.json: {error}"))
        return None
    unknown = sorted(REPORT_KEYS.symmetric_difference(tree))
    if unknown or tree["type"] != REPORT_TYPE:
        keys = ", ".join(unknown) or "type"
        _note(problems, "V16", failed(Text(f"report.json no sigue su esquema: {keys}", f"report.json: schema: {keys}")))
        return None
    return tree


def _attached(facts: SignatureFacts | None, problems: dict[str, list[Part]]) -> Manifest | None:
    data = None if facts is None else facts.attachment("manifest.json")
    if data is None:
        return None
    try:
        return parse_manifest(data)
    except EvidenceError as error:
        _note(problems, "V16", refused(error, "manifest.json"))
        return None
