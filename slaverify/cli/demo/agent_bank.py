"""The bank of the demonstration with tools: questions derived from the example state contract, sealed on the spot."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from slaverify.cli.wiring import now
from slaverify.resources import resource

if TYPE_CHECKING:
    from slaverify.custody.keys import KeyStore

STATE = "estado-crm"
"""Folder of the example state contract, beside the example contracts."""


def seal_agent_bank(place: Path, store: KeyStore, name: str) -> str:
    """Derive the questions, seal them with their state contract into `place`/`name`, and return its digest.

    Raises: ProblemsError of SLV-T for a state contract that no set can be made of.
    """
    from slaverify.canonical import sha256_hex
    from slaverify.custody.seal import SealItem, SealTerms, seal
    from slaverify.evalset import item_schema_sha256, split
    from slaverify.trajectory import generate
    from slaverify.trajectory.items import question_items
    from slaverify.trajectory.state_files import read_state_files

    root = resource("contratos", STATE)
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    contract, locale = read_state_files(files)
    nonce = secrets.token_bytes(32)
    items = question_items(contract, generate(contract, locale, nonce), locale, nonce, lambda: secrets.token_hex(8))
    custodian = next(key for key in map(store.get, store.names()) if "custodian" in key.roles)
    seal(
        [
            SealItem(item.id, item.stratum, part.query, part.reference, item.twin_of, item.cluster)
            for item, part in ((item, split(item)) for item in items)
        ],
        place,
        SealTerms(
            bank_id=name,
            name=STATE,
            item_schema_sha256=item_schema_sha256(),
            author=custodian.organisation,
            attachments={sha256_hex(contract.content): contract.content},
        ),
        custodian=custodian,
        clock=now,
    )
    return contract.digest
