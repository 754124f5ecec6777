"""The catalogue of an audit: the file beside the contract, whose digest the contract pins.

Trust boundary: the file comes from anybody; only its pinned digest makes it the catalogue.
"""

from __future__ import annotations

from pathlib import Path

from slaverify.canonical import digest_of
from slaverify.contract import LoadedContract
from slaverify.errors import ApplicationError, Text
from slaverify.evalset import Catalogue, read_catalogue

CATALOGUE = "contract/catalogue.jsonl"
"""File of the bundle with the catalogue that citations were looked up in."""


def catalogue_of(contract: LoadedContract) -> Catalogue | None:
    """Return the catalogue that the contract pins, None if it pins none.

    It is `<id>.catalogue.jsonl` beside the contract, or `catalogue.jsonl` in the folder of a run.
    Raises: ApplicationError SLV-A033 (it is not there: exit 2, or another one: exit 5), ProblemsError (its lines).
    """
    pinned = contract.model.scope.catalogue
    if pinned is None:
        return None
    folder = Path(contract.source).resolve().parent
    named = folder / f"{contract.model.contract.id}.catalogue.jsonl"
    path = named if named.is_file() else folder / "catalogue.jsonl"
    if not path.is_file():
        raise ApplicationError(
            "SLV-A033",
            Text("falta el catálogo que el contrato fija", "the catalogue that the contract pins is missing"),
            fix=Text(f"déjelo junto al contrato: {named.name}", f"put it beside the contract: {named.name}"),
            where=str(named),
        )
    data = path.read_bytes()
    if digest_of(data) != pinned.digest:
        raise ApplicationError(
            "SLV-A033",
            Text("el catálogo no es el que el contrato fija", "the catalogue is not the one that the contract pins"),
            why=Text(
                f"contrato {pinned.digest}, archivo {digest_of(data)}", f"{pinned.digest} is not {digest_of(data)}"
            ),
            fix=Text("use el archivo original", "use the original file"),
            where=str(path),
            exit_code=5,
        )
    return read_catalogue(data, path.name)
