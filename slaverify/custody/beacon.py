"""A public beacon as a second source of the seed: drand quicknet. Optional; it raises no level.

Source: drand quicknet (genesis 1692803367, period 3 s), RFC 9380 (hash to curve).
"""

from __future__ import annotations

import hashlib
from importlib import import_module

from slaverify.custody.faults import fault
from slaverify.errors import Text

QUICKNET_GENESIS = 1692803367
QUICKNET_PERIOD = 3
"""Seconds."""
_TAG = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"


def beacon_round(not_before: int, genesis: int = QUICKNET_GENESIS, period: int = QUICKNET_PERIOD) -> int:
    """Return the first round published at or after `not_before`: 1 + ceil((not_before - genesis) / period) (Unix s).

    Raises: ValueError before the genesis.
    """
    if not_before < genesis or period < 1:
        raise ValueError("before the beacon's first round")
    return 1 + -((genesis - not_before) // period)


def beacon_randomness(round_number: int, signature: bytes, public_key: bytes) -> bytes:
    """Return the 32 random bytes of a round whose signature (48 bytes, G1) holds under the chain's key (96 bytes, G2).

    Needs the extra `[beacon]` (py-ecc). Raises: CustodyError SLV-K055 (signature), SLV-K072 (extra not installed).
    """
    try:
        hashing = import_module("py_ecc.bls.hash_to_curve")
        compression = import_module("py_ecc.bls.point_compression")
        curve = import_module("py_ecc.optimized_bls12_381")
        groups = import_module("py_ecc.bls.g2_primitives")
    except ImportError as error:
        raise fault(
            72,
            "falta el complemento que verifica la baliza",
            "the extra that verifies the beacon is not installed",
            fix=Text("instale slaverify[beacon]", "install slaverify[beacon]"),
        ) from error
    if len(signature) != 48 or len(public_key) != 96:
        raise fault(55, "baliza mal formada", "malformed beacon")
    message = hashlib.sha256(round_number.to_bytes(8, "big")).digest()
    try:
        key = compression.decompress_G2(
            (int.from_bytes(public_key[:48], "big"), int.from_bytes(public_key[48:], "big"))
        )
        point = compression.decompress_G1(int.from_bytes(signature, "big"))
        # Outside the subgroup several signatures of one round would pass, each with randomness of its own.
        holds = groups.subgroup_check(point) and curve.pairing(curve.G2, point) == curve.pairing(
            key, hashing.hash_to_G1(message, _TAG, hashlib.sha256)
        )
    except (ValueError, AssertionError) as error:
        raise fault(55, "firma de la baliza", "beacon signature") from error
    if not holds:
        raise fault(55, "firma de la baliza", "beacon signature")
    return hashlib.sha256(signature).digest()
