"""Read a contract from a file or from bytes: the impure door of the room and its TRUST BOUNDARY.

Every problem is reported at once, each with `file:line:column`, what, why and how to mend it. What is read as
YAML or as JSON gives the same tree and the same digest.

Source: docs/spec/contract.md section 1.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.blocks import Blocks, blocks_of, validated, without_faults
from slaverify.contract.checks import findings
from slaverify.contract.checks.endpoint import secrets_in
from slaverify.contract.checks.metrics import unknown_libraries
from slaverify.contract.digests import contract_digest
from slaverify.contract.findings import Finding, Path, short
from slaverify.contract.freezing import completed, number_findings, tree_of, with_numbers
from slaverify.contract.library import FILLED, with_library
from slaverify.contract.loaded import LoadedContract, edited
from slaverify.contract.model.root import Contract
from slaverify.contract.pending import Owed, excused, settled
from slaverify.contract.read_json import read_json
from slaverify.contract.source import MAX_BYTES, Source, Unreadable
from slaverify.contract.write_yaml import dump_yaml
from slaverify.errors import ContractError, ProblemsError, SlaverifyError, Text

__all__ = ["Draft", "dump_yaml", "edited", "load_contract", "load_draft", "parse_contract", "parse_draft"]


def load_contract(path: FilePath) -> LoadedContract:
    """Return the contract of a file (`.yaml`, `.yml` or `.json`).

    Raises: ProblemsError with every problem found; ContractError SLV-C001 if the file cannot be read.
    """
    return parse_contract(_bytes(path), str(path))


def parse_contract(data: bytes, name: str) -> LoadedContract:
    """Return the contract that `data` says; `name` is what places are printed with.

    Raises: ProblemsError with every problem found.
    """
    source = _read(data, name)
    examined = _examine(source)
    if examined.loaded is None or examined.owed or examined.found:
        raise _refused(source, [*(owed.finding for owed in examined.owed), *examined.found])
    return examined.loaded


def load_draft(path: FilePath) -> Draft:
    """Return what a draft says, what it still owes and by whom, and every other problem.

    Raises: ProblemsError for a file that cannot be read at all, ContractError SLV-C001.
    """
    return parse_draft(_bytes(path), str(path))


def parse_draft(data: bytes, name: str) -> Draft:
    """Return the draft that `data` says. Raises: ProblemsError for bytes that cannot be read at all."""
    source = _read(data, name)
    examined = _examine(source)
    problems = _refused(source, examined.found).problems if examined.found else ()
    return Draft(examined.loaded, tuple(examined.owed), problems, source.place)


def read_strict(data: bytes, name: str) -> tuple[JsonValue, Callable[[Path, bool], str]]:
    """Read YAML or JSON as strictly as a contract: return the tree, and where a path of it stands in the file.

    Raises: ProblemsError of SLV-C with every place.
    """
    source = _read(data, name)
    if source.findings:
        raise _refused(source, source.findings)
    return source.tree, source.place


@dataclass(frozen=True, slots=True)
class Draft:
    """A contract on its way. `loaded` has stand-ins where something is owed; None where it cannot be put together.

    `place` tells where a path of the tree stands in the file.
    """

    loaded: LoadedContract | None
    owed: tuple[Owed, ...]
    problems: tuple[SlaverifyError, ...]
    place: Callable[[Path, bool], str]


@dataclass(frozen=True, slots=True)
class _Examined:
    loaded: LoadedContract | None
    owed: list[Owed]
    found: list[Finding]


def _examine(source: Source) -> _Examined:
    if not isinstance(source.tree, dict):
        raise _refused(source, [_no_map(source)])
    written, owed = settled(source.tree)
    tree = with_library(written)
    unnamed = list(unknown_libraries(tree))
    model, faults = validated(tree)
    blocks = blocks_of(without_faults(tree, faults))
    found = [*source.findings, *unnamed]
    found += [fault for fault in faults if not _would_be_filled(fault, unnamed)]
    found += [*findings(blocks), *secrets_in(tree), *_zone(blocks)]
    if model is not None and not source.findings:
        found = found or list(number_findings(completed(model)))
    found = [finding for finding in found if not excused(finding, owed)]
    loaded = _loaded(model, written, source) if model is not None and not found else None
    return _Examined(loaded, owed, found)


def _loaded(model: Contract, read: JsonObject, source: Source) -> LoadedContract:
    whole = completed(model)
    marks = {**source.keys, **source.values}
    if model.contract.status == "frozen":
        return LoadedContract(whole, read, contract_digest(read), source.name, marks)
    whole = with_numbers(whole)
    tree = tree_of(whole)
    return LoadedContract(whole, tree, contract_digest(tree), source.name, marks)


def _bytes(path: FilePath) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ContractError(
            "SLV-C001",
            Text(f"no se pudo leer el contrato: {error.strerror}", f"the contract could not be read: {error.strerror}"),
            fix=Text("revise la ruta y los permisos", "check the path and its permissions"),
            where=str(path),
        ) from error


def _read(data: bytes, name: str) -> Source:
    source = Source(name)
    try:
        text = _text(data)
        json_first = name.lower().endswith(".json") or text.lstrip().startswith("{")
        if json_first:
            try:
                return read_json(text, name)
            except Unreadable as error:
                # A flow mapping is YAML too; a file that calls itself JSON has to be JSON.
                if name.lower().endswith(".json") or error.finding.code != "SLV-C002":
                    raise
        from slaverify.contract.read_yaml import read_yaml  # the YAML library is not needed to verify a bundle

        return read_yaml(text, name)
    except Unreadable as error:
        source.values[()] = error.mark
        raise _refused(source, [error.finding]) from error


def _text(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise Unreadable(
            "SLV-C008",
            Text("el contrato pesa más de 1 MiB", "the contract is larger than 1 MiB"),
            Text("los anexos van aparte, por su digest", "annexes go apart, by their digest"),
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise Unreadable(
            "SLV-C001",
            Text("el archivo no está en UTF-8", "the file is not UTF-8"),
            Text("guárdelo como UTF-8", "save it as UTF-8"),
            (line, column),
        ) from error


def _would_be_filled(fault: Finding, unnamed: list[Finding]) -> bool:
    """Return whether a missing key is one that a ready metric, had its name been right, would have filled."""
    return fault.code == "SLV-C010" and any(
        fault.path == finding.path[:-1] and any(f"].{key}`" in fault.what.en for key in FILLED) for finding in unnamed
    )


def _zone(blocks: Blocks) -> Iterator[Finding]:
    identity = blocks.contract
    if identity is None or identity.status == "frozen" or _has_zone(identity.time_zone):
        return
    if not _has_zone("America/Santiago"):
        return  # a machine without the table of zones cannot tell
    zone = identity.time_zone
    yield Finding(
        "SLV-C016",
        ("contract", "time_zone"),
        Text(f"zona horaria desconocida: {short(zone)}", f"unknown time zone: {short(zone)}"),
        Text("un nombre de IANA, por ejemplo `America/Santiago`", "an IANA name, for example `America/Santiago`"),
    )


def _has_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _no_map(source: Source) -> Finding:
    empty = source.tree is None
    return Finding(
        "SLV-C009",
        (),
        Text("el archivo está vacío", "the file is empty")
        if empty
        else Text("el contrato tiene que ser un mapa de claves", "a contract has to be a map of keys"),
        Text("parta de `contratos/demo-normativa-cl.yaml`", "start from `contratos/demo-normativa-cl.yaml`"),
    )


def _refused(source: Source, found: list[Finding]) -> ProblemsError:
    distinct = {(finding.code, finding.path, finding.what): finding for finding in found}
    ordered = sorted(distinct.values(), key=lambda finding: (source.mark(finding.path, finding.at_key), finding.code))
    return ProblemsError([finding.error(source.place(finding.path, finding.at_key)) for finding in ordered])
