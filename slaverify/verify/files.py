"""V17, the part that is not the envelope: every file of the bundle is the one that the manifest names.

Source: docs/spec/verification.md (V17).
"""

from __future__ import annotations

from collections.abc import Iterator

from slaverify.errors import SlaverifyError, Text
from slaverify.evidence import ANNEX, PARTIES, PUBLIC, Bundle, Disclosure, Manifest
from slaverify.verify.checks import PASSED, Part, failed, no_bundle, noted, refused
from slaverify.verify.material import Material
from slaverify.verify.verification import Withheld


def files_parts(material: Material) -> list[Part]:
    """Return the parts of V17 about files: sizes, digests, records, SHA256SUMS, annex, manifest of the PDF."""
    parts = list(material.problems.get("V17", ()))
    bundle = material.bundle
    if bundle is None or bundle.manifest is None:
        if not parts:
            parts.append(no_bundle(given=False))
        return parts
    parts += _findings(bundle)
    parts += _annex(material, bundle, bundle.manifest)
    attached = None if material.facts is None else material.facts.attachment("manifest.json")
    if attached is not None and attached != bundle.manifest_bytes:
        parts.append(
            failed(
                Text(
                    "el manifiesto adjunto al PDF no es el del paquete", "the manifest in the PDF is not the bundle's"
                ),
                expected=f"bundle_digest {bundle.digest}",
            )
        )
    withheld = len(bundle.withheld_paths())
    if withheld:
        parts.append(noted(Text(f"{withheld} archivos reservados", f"{withheld} files withheld")))
    return parts or [PASSED]


def withheld_files(bundle: Bundle | None) -> tuple[Withheld, ...]:
    """Return the files that the manifest names and this edition leaves out, with size and digest."""
    if bundle is None or bundle.manifest is None:
        return ()
    absent = set(bundle.withheld_paths())
    return tuple(
        Withheld(entry.path, entry.size, entry.sha256) for entry in bundle.manifest.files if entry.path in absent
    )


def edition_of(bundle: Bundle) -> str:
    """Return `parties` if any file of that level is here, else `public`. An edition is whole or it lost something."""
    entries = () if bundle.manifest is None else bundle.manifest.files
    beyond = any(entry.disclosure is not Disclosure.PUBLIC and bundle.has(entry.path) for entry in entries)
    return PARTIES if beyond else PUBLIC


def _findings(bundle: Bundle) -> Iterator[Part]:
    try:
        for finding in bundle.findings(edition_of(bundle)):
            yield refused(finding.error, finding.path)
    except Exception as error:  # noqa: BLE001 - whatever the reader raises fails the check that it served
        yield refused(error, "manifest.json")


def _annex(material: Material, bundle: Bundle, manifest: Manifest) -> Iterator[Part]:
    given = material.request.annex
    if isinstance(given, SlaverifyError):
        yield refused(given, ANNEX)
    if material.contract is None:
        return
    agreed = material.contract.model.report.annex_recipients
    if manifest.annex is None:
        # What is scored and has readers agreed in the contract cannot lose the one file that lets them score again.
        if agreed and manifest.entry("scoring/scores.jsonl") is not None:
            yield failed(Text("falta el anexo que el contrato pacta", "the annex that the contract agrees is missing"))
        return
    if bundle.has(ANNEX):
        # Stanzas are counted, nothing is decrypted.
        from slaverify.evidence.annex import MAX_PLAIN, check_sealed

        try:
            check_sealed(bundle.read(ANNEX, 2 * MAX_PLAIN), manifest.annex, agreed)
        except Exception as error:  # noqa: BLE001 - whatever the reader raises fails the check that it served
            yield refused(error, ANNEX)
        return
    if {recipient.name: recipient.age for recipient in manifest.annex.recipients} != dict(agreed):
        yield failed(Text("el anexo tiene otros destinatarios", "the annex has other recipients than the contract's"))
