"""Write `slaverify/evalset/item.schema.json` from the models; run it after a change of the models.

The file is what is pinned: a sealed bank names its digest.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "slaverify" / "evalset" / "item.schema.json"


def build() -> bytes:
    from slaverify.evalset.item import Item

    schema = Item.model_json_schema(by_alias=True, mode="validation")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["$id"] = "urn:slaverify:item:1"
    return json.dumps(schema, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"


if __name__ == "__main__":
    TARGET.write_bytes(build())
