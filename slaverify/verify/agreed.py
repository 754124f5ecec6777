"""From a contract to what a verification takes of it: the contract itself, read strictly, and its pins.

Source: docs/spec/verification.md.
"""

from __future__ import annotations

from slaverify.canonical import StrictJsonError, digest_of, loads_canonical
from slaverify.contract import LoadedContract
from slaverify.errors import ContractError, Text
from slaverify.evidence import Pins

_NAME = "contract/contract.json"


def load_agreed(data: bytes) -> LoadedContract:
    """Read the contract of a bundle: RFC 8785 bytes of a frozen contract whose derived numbers follow.

    Raises: SlaverifyError (SLV-C, SLV-S008).
    """
    # The loader reads files too; its parser is pure, and only a verification with a bundle needs it.
    from slaverify.contract.load import parse_contract

    try:
        loads_canonical(data, max_depth=20)
    except StrictJsonError as error:
        raise ContractError(
            "SLV-C002",
            Text("el contrato no está en su forma canónica", "the contract is not in its canonical form"),
            why=Text(str(error), str(error)),
            where=_NAME,
            exit_code=4,
        ) from error
    loaded = parse_contract(data, _NAME)
    if loaded.model.contract.status != "frozen" or loaded.digest != digest_of(data):
        raise ContractError(
            "SLV-C053",
            Text("el contrato del paquete no está congelado", "the contract of the bundle is not frozen"),
            where=_NAME,
            exit_code=4,
        )
    return loaded


def pins_of(contract: LoadedContract) -> Pins:
    """Return the keys and roots that a contract fixes for its report."""
    signature = contract.model.report.signature
    certificates = tuple(
        key.certificate_sha256
        for key in contract.model.parties.auditor.keys
        if key.spki_sha256 == signature.auditor_spki_sha256 and key.certificate_sha256 is not None
    )
    return Pins(
        auditor_spki=signature.auditor_spki_sha256,
        tsa_roots=signature.tsa_roots or (),
        tsa_policy_oids=signature.tsa_policy_oids,
        level=signature.level,
        auditor_roots=signature.auditor_roots or (),
        auditor_certificates=certificates,
    )
