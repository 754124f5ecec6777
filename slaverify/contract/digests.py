"""The digests that pin a contract, and the identifier of a run.

Source: docs/spec/contract.md sections 1 and 5.
"""

from __future__ import annotations

from slaverify.canonical import JsonObject, JsonValue, digest_of, jcs

_DIGEST_PREFIX = "sha256:"
_METHOD_BLOCKS = ("failed_calls", "method", "repetitions")


def contract_digest(tree: JsonObject) -> str:
    """Return `sha256:<hex>` of the RFC 8785 bytes of a contract's tree, as it stands.

    For a frozen contract `tree` is the tree of the file; for a draft, that with every default written.
    """
    return digest_of(jcs(tree))


def method_digest(tree: JsonObject) -> str:
    """Return the digest of how a figure is measured: catalogue, failed calls, judge, method, repetitions.

    The endpoints of the judge's members are left out (an address measures nothing); absent blocks are null.
    """
    scope = tree.get("scope")
    catalogue = scope.get("catalogue") if isinstance(scope, dict) else None
    measured: dict[str, JsonValue] = {name: tree.get(name) for name in _METHOD_BLOCKS}
    measured["catalogue"] = catalogue
    measured["judge"] = _without_endpoints(tree.get("judge"))
    return digest_of(jcs(measured))


def run_id(digest: str, number: int) -> str:
    """Return the identifier of run `number` (from 1): 12 hex digits of the contract digest, `-`, 4 digits.

    Raises: ValueError for a number outside 1 to 9999 or a text that is no digest.
    """
    hexadecimal = digest.removeprefix(_DIGEST_PREFIX)
    if len(hexadecimal) != 64 or hexadecimal.strip("0123456789abcdef"):
        raise ValueError("not a contract digest")
    if not 1 <= number <= 9999:
        raise ValueError("run numbers go from 1 to 9999")
    return f"{hexadecimal[:12]}-{number:04d}"


def _without_endpoints(judge: JsonValue) -> JsonValue:
    if not isinstance(judge, dict):
        return None
    panel = judge.get("panel")
    if not isinstance(panel, list):
        return judge
    members = [
        {key: value for key, value in member.items() if key != "endpoint"} if isinstance(member, dict) else member
        for member in panel
    ]
    return {**judge, "panel": members}
