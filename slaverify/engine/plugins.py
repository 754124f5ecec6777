"""Adapters of others: installed packages that a contract pins by name, version and digest. Runs code of others.

Nothing is loaded that no contract pins. Order for each pin: (1) the installed distribution has the pinned version;
(2) the digest over its files, as they lie on the disk, is the pinned one; (3) its entry points of the group
`slaverify.adapters` are imported from exactly those files, never from a compiled cache; (4) each gives an adapter of
the name that it has there.

Source: docs/spec/run.md, section "Plug-ins"; the entry points specification of the Python packaging authority.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from types import ModuleType

from slaverify.canonical import digest_of, jcs
from slaverify.contract.model.bank import Plugin
from slaverify.engine.adapters import Adapter, AdapterFacts, Pin, plug_in
from slaverify.errors import EndpointError, Text

GROUP = "slaverify.adapters"
"""Group of entry points in which a package offers adapters; the name of each is `name@version`."""
_OF_THE_INSTALLER = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"})
_NO_CACHE = "/nonexistent/slaverify"


def load_plugins(pins: Iterable[Plugin]) -> tuple[str, ...]:
    """Load the adapters of the pinned packages and return their names.

    Raises: EndpointError SLV-N060 (not installed), SLV-N061 (another version or digest), SLV-N062 (not loadable);
    exit 5.
    """
    names: list[str] = []
    for pin in pins:
        found = _installed(pin)
        files = dict(_files(found))
        digest = _digest(files)
        if (found.version, digest) != (pin.version, pin.package_digest):
            raise _another(pin, found.version, digest)
        for point in found.entry_points.select(group=GROUP):
            plug_in(_adapter(pin, point, files), Pin(pin.name, pin.version, pin.package_digest))
            names.append(point.name)
    return tuple(names)


def installed_pin(name: str) -> tuple[Pin, tuple[str, ...]]:
    """Return the pin of a package as it is installed here, and the adapters that it offers; nothing of it is run.

    Raises: EndpointError SLV-N060.
    """
    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError) as error:
        raise _absent(name) from error
    pin = Pin(name, found.version, _digest(dict(_files(found))))
    return pin, tuple(sorted(point.name for point in found.entry_points.select(group=GROUP)))


def _installed(pin: Plugin) -> Distribution:
    try:
        return distribution(pin.name)
    except (PackageNotFoundError, ValueError) as error:
        raise _absent(pin.name) from error


def _files(found: Distribution) -> Iterator[tuple[str, Path]]:
    """Yield (path inside the installation, file) of what the package brought; what the installer wrote is left out."""
    for entry in found.files or ():
        path = PurePosixPath(entry.as_posix())
        own = ".." not in path.parts and not path.is_absolute() and path.suffix != ".pyc"
        if own and not (path.parent.suffix == ".dist-info" and path.name in _OF_THE_INSTALLER):
            yield str(path), Path(str(found.locate_file(entry)))


def _digest(files: dict[str, Path]) -> str:
    hashes = {}
    for name, path in files.items():
        # A file that is listed and gone makes another package.
        hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    return digest_of(jcs(hashes))


def _adapter(pin: Plugin, point: EntryPoint, files: dict[str, Path]) -> Adapter:
    ours = {path.resolve() for path in files.values()}
    try:
        with _from_source():
            module = import_module(point.module)
            _all_from(module, ours)
            offered: object = module
            for part in point.attr.split("."):
                offered = getattr(offered, part)
            made: object = offered() if isinstance(offered, type) else offered
    except Exception as error:
        raise _broken(pin, point.name, f"{type(error).__name__}: {error}"[:200]) from error
    facts = getattr(made, "facts", None)
    members = ("type_allowed", "parse", "shape", "partial", "odd_turn")
    if not isinstance(facts, AdapterFacts) or not all(callable(getattr(made, name, None)) for name in members):
        raise _broken(pin, point.name, "no adapter")
    if facts.name != point.name:
        raise _broken(pin, point.name, f"it calls itself {facts.name!r}"[:200])
    return made  # type: ignore[return-value]  # its members were just looked at; what they do is guarded


def _all_from(module: ModuleType, ours: set[Path]) -> None:
    """Refuse a module that was not read from the files under the digest (an editable install, another path)."""
    origin = module.__file__
    if origin is None or Path(origin).resolve() not in ours:
        raise ImportError(f"{module.__name__} is not of the package's files")


@contextmanager
def _from_source() -> Iterator[None]:
    """Import without compiled caches: the digest is over the sources, and a cache may hold other code."""
    before = sys.pycache_prefix, sys.dont_write_bytecode
    sys.pycache_prefix, sys.dont_write_bytecode = _NO_CACHE, True
    try:
        yield
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = before


def _absent(name: str) -> EndpointError:
    return EndpointError(
        "SLV-N060",
        Text(f"el complemento {name} no está instalado", f"the plug-in {name} is not installed"),
        fix=Text("instale el paquete que el contrato fija", "install the package that the contract pins"),
        where="method.plugins",
        exit_code=5,
    )


def _another(pin: Plugin, version: str, digest: str) -> EndpointError:
    return EndpointError(
        "SLV-N061",
        Text(f"el complemento {pin.name} es otro que el pactado", f"the plug-in {pin.name} is not the agreed one"),
        why=Text(
            f"pactado {pin.version} {pin.package_digest}; instalado {version} {digest}",
            f"agreed {pin.version} {pin.package_digest}; installed {version} {digest}",
        ),
        fix=Text("instale el que el contrato fija", "install the one that the contract pins"),
        where="method.plugins",
        exit_code=5,
    )


def _broken(pin: Plugin, point: str, detail: str) -> EndpointError:
    return EndpointError(
        "SLV-N062",
        Text(
            f"el complemento {pin.name} no da el adaptador {point}", f"the plug-in {pin.name} gives no adapter {point}"
        ),
        why=Text(detail, detail),
        fix=Text("pida otra versión a su autor", "ask its author for another version"),
        where="method.plugins",
        exit_code=5,
    )
