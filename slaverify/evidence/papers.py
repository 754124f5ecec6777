"""Who signed the contract of a bundle, and whether its keys are those of the demonstration."""

from __future__ import annotations

from slaverify.contract import LoadedContract, PartySignature, Role, SignatureVerifier
from slaverify.contract.ports import SIGNATURE_NAMESPACE
from slaverify.custody import verify_sshsig
from slaverify.errors import CustodyError
from slaverify.evidence.bundle import Bundle
from slaverify.evidence.reading import CONTRACT
from slaverify.evidence.signature_facts import DEMO_POLICY


def party_signatures(bundle: Bundle, contract: LoadedContract) -> tuple[str, ...]:
    """Return the roles whose detached signature over the contract's bytes is by a key that the contract pins, sorted.

    Raises: EvidenceError if the contract's file cannot be read.
    """
    data = bundle.read(CONTRACT)
    return tuple(sorted(role.value for role in Role if _signed(bundle, contract, role, data)))


def is_demo(contract: LoadedContract) -> bool:
    """Say whether a root that the contract pins for its timestamps or its auditor is of the demonstration."""
    from cryptography import x509

    signature = contract.model.report.signature
    for pem in (*(signature.tsa_roots or ()), *(signature.auditor_roots or ())):
        for certificate in x509.load_pem_x509_certificates(pem.encode()):
            for extension in certificate.extensions:
                if isinstance(extension.value, x509.CertificatePolicies) and any(
                    entry.policy_identifier.dotted_string == DEMO_POLICY for entry in extension.value
                ):
                    return True
    return False


def _signed(bundle: Bundle, contract: LoadedContract, role: Role, data: bytes) -> bool:
    party = getattr(contract.model.parties, role.value)
    keys = () if party is None else party.keys
    stem = f"contract/signatures/{role.value}"
    if bundle.has(f"{stem}.sshsig"):
        signature = bundle.read(f"{stem}.sshsig").decode("ascii", "replace")
        if any(key.ssh is not None and _ssh_holds(data, key.ssh, signature) for key in keys):
            return True
    pinned = tuple(digest for key in keys for digest in (key.spki_sha256, key.certificate_sha256) if digest is not None)
    if not bundle.has(f"{stem}.p7s") or not pinned:
        return False
    token = bundle.read(f"{stem}.tsr") if bundle.has(f"{stem}.tsr") else None
    given = PartySignature(role, "cms", bundle.read(f"{stem}.p7s"), token)
    return _cms_reader().verify(data, given, pinned).valid


def _ssh_holds(data: bytes, key: str, signature: str) -> bool:
    try:
        verify_sshsig(data, key, signature, SIGNATURE_NAMESPACE)
    except CustodyError:
        return False
    return True


def _cms_reader() -> SignatureVerifier:
    # pyHanko is loaded only where a contract has such a signature.
    from slaverify.evidence.pades.party import PartyReader

    return PartyReader()
