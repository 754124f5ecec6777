"""Which engine answered: the version that a response declares, held against the echoes of the contract.

An echo is a declaration of the vendor. A black box cannot exclude a false one; the report says so.

Source: docs/spec/run.md, section "Identity".
"""

from __future__ import annotations

from enum import StrEnum

from slaverify.engine.spec import EndpointSpec


class Echo(StrEnum):
    """What a response says of its version."""

    ACCEPTED = "accepted"
    MISSING = "missing"
    OTHER = "other"


def check_echo(spec: EndpointSpec, versions: tuple[str, ...]) -> Echo:
    """Hold every declared version against the accepted echoes; several different ones are another engine."""
    if not versions:
        return Echo.MISSING
    if len(versions) == 1 and spec.echoes.match(versions[0]):
        return Echo.ACCEPTED
    return Echo.OTHER
