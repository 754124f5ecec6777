"""Write `slaverify/scoring/data/numbers.json`: decimal and group signs of the es and en locales, from CLDR.

The room that reads numbers is pure and may not open Babel's files; a test asserts that the file equals its output.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "slaverify" / "scoring" / "data" / "numbers.json"


def build() -> bytes:
    from babel import Locale, localedata
    from babel.core import get_cldr_version

    locales: dict[str, dict[str, object]] = {}
    for tag in sorted(localedata.locale_identifiers()):
        parts = tag.split("_")
        if parts[0] not in ("es", "en") or any(len(part) == 4 or len(part) > 4 for part in parts[1:]):
            continue
        locale = Locale.parse(tag)
        symbols = locale.number_symbols.get("latn", locale.number_symbols)
        grouping = locale.decimal_formats[None].grouping
        locales["-".join(parts)] = {
            "decimal": symbols["decimal"],
            "group": symbols["group"],
            "grouping": [int(size) for size in grouping],
        }
    rows = ",\n".join(f"  {json.dumps(tag)}: {json.dumps(row, ensure_ascii=False)}" for tag, row in locales.items())
    return f'{{\n "source": "Unicode CLDR {get_cldr_version()}",\n "locales": {{\n{rows}\n }}\n}}\n'.encode()


if __name__ == "__main__":
    TARGET.write_bytes(build())
