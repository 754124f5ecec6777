"""A package of others as an installer leaves it: sources, metadata, entry points. Real files, no pip needed."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

NAME, VERSION, ADAPTER = "acme-lineas", "1.2.0", "acme_lineas@1"

SOURCE = '''
"""Reads `key: value` lines: the protocol of a vendor that speaks no JSON."""
from slaverify.engine import AdapterFacts, Fault, Parsed

FACTS = AdapterFacts(name="acme_lineas@1", accept="text/plain", fields={"answer": "$.answer", "version": "$.version"})


class Lines:
    facts = FACTS

    def type_allowed(self, kind):
        return kind == "text/plain"

    def parse(self, body):
        try:
            lines = body.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            return Parsed(None, Fault.ENCODING)
        if "BOOM" in lines:
            raise ZeroDivisionError
        tree = {}
        for line in lines:
            key, colon, value = line.partition(": ")
            if not colon:
                return Parsed(None, Fault.SYNTAX)
            tree[key] = value
        return Parsed(tree)

    def shape(self, tree):
        return None

    def partial(self, body):
        return None

    def odd_turn(self, tree):
        return False
'''


def install(
    site: Path, source: str = SOURCE, *, version: str = VERSION, point: str = f"{ADAPTER} = acme:Lines"
) -> Path:
    """Write the package into `site`, a folder of a path for imports, and return its module."""
    info = site / f"acme_lineas-{version}.dist-info"
    files = {
        "acme/__init__.py": source,
        f"{info.name}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n",
        f"{info.name}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info.name}/entry_points.txt": f"[slaverify.adapters]\n{point}\n",
        f"{info.name}/INSTALLER": "prueba\n",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    rows = [f"{name},sha256={_record(text)},{len(text.encode())}" for name, text in files.items()]
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,", "../../../bin/acme,,", ""]))
    return site / "acme" / "__init__.py"


def _record(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
