"""What the measurement ran on: versions and machine, as `environment/environment.json` holds it."""

from __future__ import annotations

import platform
import re
import sqlite3
import sys
import unicodedata
from collections.abc import Iterable
from importlib import metadata

from slaverify.canonical import JsonObject, jcs, sha256_hex
from slaverify.version import __version__

TYPE = "slaverify/environment/1"


def packages(plugins: Iterable[str] = ()) -> dict[str, str]:
    """Return name and version of every installed package that the product and `plugins` need, from their metadata."""
    found: dict[str, str] = {}
    waiting = ["slaverify", *plugins]
    while waiting:
        name = waiting.pop()
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        key = _normal(distribution.metadata["Name"])
        if key in found:
            continue
        found[key] = distribution.version
        waiting += [_normal(need) for need in distribution.requires or () if "extra ==" not in need]
    return dict(sorted(found.items()))


def lock_sha256(installed: dict[str, str]) -> str:
    """Return the SHA-256 (hex) of the RFC 8785 form of {package: version}."""
    return sha256_hex(jcs(installed))


def environment(plugins: Iterable[str] = ()) -> JsonObject:
    """Return the environment of this process with the named plug-ins. `clock_offset_ms` null means not measured."""
    from babel import __version__ as babel_version

    installed = packages(plugins)
    return {
        "type": TYPE,
        "harness_version": __version__,
        "lock_sha256": lock_sha256(installed),
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "byte_order": sys.byteorder,
        "cldr": f"babel {babel_version}",
        "unicode": unicodedata.unidata_version,
        "sqlite": sqlite3.sqlite_version,
        "clock_offset_ms": None,
        "packages": installed,
    }


def _normal(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    return "" if name is None else re.sub(r"[-_.]+", "-", name.group()).lower()
