"""Seal the demonstration bank into `custodia/`, with its public demonstration keys. Run once per new set.

Sealing draws randomness from the system, so the files are committed; `python -m tests.tools.build_demo_bank` makes
another bank of the same questions and replaces them.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from slaverify.cli.demo.stage import BANK, KEYS
from slaverify.cli.wiring import now
from slaverify.custody import Access, Recipient
from slaverify.custody.keys import KeyStore, age_recipient, export_demo_keys
from slaverify.custody.seal import SealItem, SealTerms, seal
from slaverify.evalset import item_schema_sha256, read_bank, split

CUSTODIA = Path(__file__).resolve().parents[2] / "custodia"
ORGANISATION = "Demo Auditora Ltda. (ficticia)"


def main() -> None:
    """Seal the questions and publish the keys."""
    source = CUSTODIA / "demo" / "preguntas.jsonl"
    items = read_bank(source.read_bytes(), source.name)
    for name in (BANK, KEYS):
        shutil.rmtree(CUSTODIA / name, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        store = KeyStore.create(Path(folder) / "keys", demo=True)
        custodian = store.make("custodian", organisation=ORGANISATION, roles=["custodian"], now=now())
        auditor = store.make("auditor", organisation=ORGANISATION, roles=["auditor"], now=now())
        store.get_or_make_identity("arbitro")
        recovery = store.get_or_make_identity("recovery")
        parts = [split(item) for item in items]
        seal(
            [
                SealItem(item.id, item.stratum, part.query, part.reference, item.twin_of, item.cluster)
                for item, part in zip(items, parts, strict=True)
            ],
            CUSTODIA,
            SealTerms(
                bank_id=BANK,
                name="Reglamento de Transporte Lacustre (ficticio)",
                item_schema_sha256=item_schema_sha256(),
                author=ORGANISATION,
                funding="Municipalidad de Ejemplo (ficticia)",
                plaintext_access=[Access(ORGANISATION, "author", now().strftime("%Y-%m-%d"))],
                recipients=[Recipient("recovery", age_recipient(recovery))],
            ),
            custodian=custodian,
            clock=now,
            register=[auditor],
        )
        export_demo_keys(store, CUSTODIA / KEYS)


if __name__ == "__main__":
    main()
