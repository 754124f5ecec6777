"""V16: report, manifest, contract, bank, method and run are one thing, and the one that the caller pinned.

Exit 4 where a document is malformed, 5 where a digest is another's.

Source: docs/spec/verification.md (V16).
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.canonical import JsonObject, digest_of
from slaverify.contract import LoadedContract, method_digest, run_id
from slaverify.errors import Text
from slaverify.evidence import Header, bundle_digest
from slaverify.verify.checks import EXIT_PIN, PASSED, Part, failed, refused, skipped
from slaverify.verify.material import Material

_BANK = "custody/bank_manifest.json"
_CONTRACT = "contract/contract.json"
_NO_PIN = Text("no se fijó nada desde fuera", "nothing was pinned from outside")
_GIVE_PIN = Text(
    "agregue --contract con el contrato que firmó, o --contract-digest",
    "add --contract with the contract you signed, or --contract-digest",
)


def identity_parts(material: Material) -> list[Part]:
    """Return the parts of V16: form, agreement of the documents among themselves, agreement with the pins."""
    parts = list(material.problems.get("V16", ()))
    manifest = material.manifest
    if manifest is not None:
        parts += _inner(material, manifest.header)
        parts += _outer(material, manifest.header)
    elif material.report is None and not parts:
        parts.append(skipped(Text("no hay informe ni manifiesto legibles", "no readable report nor manifest")))
    if material.facts is not None and material.attached is None and not parts:
        parts.append(failed(Text("el PDF no lleva manifest.json", "the PDF carries no manifest.json")))
    if manifest is not None:
        parts.append(PASSED)
    return parts


def _inner(material: Material, header: Header) -> Iterator[Part]:
    pairs: list[tuple[str, str, str]] = []
    if material.report is not None:
        pairs += _report_pairs(material.report, header, _digest_of_manifest(material))
    contract = _own_contract(material)
    if contract is not None:
        pairs += _contract_pairs(contract, header)
    yield from (_differs(*pair) for pair in pairs if pair[1] != pair[2])
    if material.bundle is not None and material.bundle.has(_BANK):
        try:
            found = digest_of(material.bundle.read(_BANK))
        except Exception as error:  # noqa: BLE001 - whatever the reader raises fails the check
            yield refused(error, _BANK)
            return
        if found != header.bank_digest:
            yield _differs("bank_digest", header.bank_digest, found)
    for path in (_CONTRACT, _BANK):
        if material.bundle is not None and not material.bundle.has(path):
            yield failed(Text(f"falta {path}", f"{path} is missing"))


def _digest_of_manifest(material: Material) -> str:
    # The report names the manifest that is attached to it; V17 says whether that is the bundle's.
    data = None if material.facts is None else material.facts.attachment("manifest.json")
    return "" if data is None else bundle_digest(data)


def _report_pairs(report: JsonObject, header: Header, attached: str) -> list[tuple[str, str, str]]:
    expected = {
        "bundle_digest": attached,
        "contract_digest": header.contract_digest,
        "bank_digest": header.bank_digest,
        "method_digest": header.method_digest,
        "run_id": header.run_id,
        "closed_at": header.closed_at,
    }
    return [(f"report.json {key}", value, str(report[key])) for key, value in expected.items()]


def _own_contract(material: Material) -> LoadedContract | None:
    """Return the contract that the evidence itself carries, if it carries one."""
    return material.contract if material.bundle is not None else None


def _contract_pairs(contract: LoadedContract, header: Header) -> list[tuple[str, str, str]]:
    model = contract.model
    return [
        ("contract_digest", header.contract_digest, contract.digest),
        ("contract_id", header.contract_id, model.contract.id),
        ("bank_digest", header.bank_digest, model.evaluation_set.bank_digest),
        ("method_digest", header.method_digest, method_digest(contract.tree)),
        ("run_id", header.run_id, _run_id(contract.digest, header.run_number)),
    ]


def _run_id(digest: str, number: int) -> str:
    try:
        return run_id(digest, number)
    except ValueError as error:
        return str(error)


def _outer(material: Material, header: Header) -> Iterator[Part]:
    request, trust = material.request, material.request.trust
    if trust.contract is not None:
        yield from _against(trust.contract, header)
        if trust.contract.model.contract.status != "frozen":
            yield failed(
                Text("el contrato dado no está congelado", "the contract given is not frozen"), exit_code=EXIT_PIN
            )
    if trust.contract_digest is not None and header.contract_digest != trust.contract_digest:
        yield _differs("contract_digest", trust.contract_digest, header.contract_digest)
    pins = material.pins if material.outside else None
    if trust.auditor_spki is not None and pins is not None and pins.auditor_spki != trust.auditor_spki:
        yield _differs("auditor_spki", trust.auditor_spki, pins.auditor_spki)
    if request.run_id is not None and header.run_id != request.run_id:
        yield _differs("run_id", request.run_id, header.run_id)
    if not trust.given:
        yield skipped(_NO_PIN, _GIVE_PIN)
    yield from _asked(material)


def _against(contract: LoadedContract, header: Header) -> Iterator[Part]:
    # A manifest that repeats the pinned digest but describes another contract fails among its own documents.
    pairs = [
        ("contract_digest", contract.digest, header.contract_digest),
        ("bank_digest", contract.model.evaluation_set.bank_digest, header.bank_digest),
        ("method_digest", method_digest(contract.tree), header.method_digest),
    ]
    yield from (_differs(*pair) for pair in pairs if pair[1] != pair[2])


def _asked(material: Material) -> Iterator[Part]:
    request = material.request
    if request.run_id is None:
        yield skipped(
            Text("no se indicó qué corrida se espera", "no run was named"),
            Text("agregue --run con la corrida que espera", "add --run with the run that you expect"),
            optional=True,
        )
    if request.report_id is None:
        if material.report is not None:
            yield skipped(
                Text("no se indicó qué informe se espera", "no report was named"),
                Text("agregue --report-id con el número que espera", "add --report-id with the number that you expect"),
                optional=True,
            )
        return
    if material.report is None:
        yield skipped(
            Text("sin PDF no hay número de informe", "without the PDF there is no report number"),
            Text("agregue el PDF del informe", "add the report's PDF"),
        )
    elif material.report["report_id"] != request.report_id:
        yield _differs("report_id", request.report_id, str(material.report["report_id"]))


def _differs(name: str, expected: str, found: str) -> Part:
    return failed(
        Text(f"{name} no coincide", f"{name} does not agree"),
        expected=f"{name} {expected}",
        found=f"{name} {found}",
        exit_code=EXIT_PIN,
    )
