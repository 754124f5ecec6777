"""Writes the table of keys of docs/spec/contract.md from the models: `python -m tests.contract.spec_table`."""

from __future__ import annotations

from slaverify.contract import Contract
from slaverify.resources import resource

START, END = "<!-- keys -->\n", "<!-- /keys -->\n"
SPEC = resource("contratos").parent / "docs" / "spec" / "contract.md"


def key_table() -> str:
    """One row per key in the order of the models: path, required, values, default, meaning."""
    schema = Contract.model_json_schema(by_alias=True)
    rows = ["| key | ★ | values | default | meaning |", "|---|---|---|---|---|"]
    rows += [
        f"| `{path}` | {star} | {kind} | {default} | {text} |" for path, star, kind, default, text in _rows(schema)
    ]
    return "\n".join(rows) + "\n"


def _rows(schema: dict) -> list[tuple]:
    out: list[tuple] = []
    written: dict[int, str] = {}

    def walk(node: dict, path: str) -> None:
        for key, field in node["properties"].items():
            inner, suffix = _inner(field, schema["$defs"])
            where = (f"{path}.{key}" if path else key) + suffix
            required = key in node.get("required", ())
            default = "" if required else _default(field.get("default"))
            label = "block" if inner else _label(field, schema["$defs"])
            first = written.setdefault(id(inner), where) if inner else where
            if first != where:
                label = f"as `{first}`"
            out.append((where, "★" if required else "", label, default, field.get("description", "")))
            if inner and first == where:
                walk(inner, where)

    walk(schema, "")
    return out


def _inner(field: dict, definitions: dict) -> tuple[dict | None, str]:
    """The block that a field holds, by itself or as members of a list, and how its path is written."""
    for option in [field, *field.get("anyOf", ())]:
        if "$ref" in option:
            return definitions[option["$ref"].split("/")[-1]], ""
        if "$ref" in option.get("items", {}):
            return definitions[option["items"]["$ref"].split("/")[-1]], "[]"
    return None, ""


def _label(field: dict, definitions: dict) -> str:
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    for many in ("anyOf", "oneOf"):
        if many in field:
            options = [option for option in field[many] if option.get("type") != "null"]
            return " or ".join(_label(option, definitions) for option in options)
    if "$ref" in field:
        block = definitions[field["$ref"].split("/")[-1]]
        return "{" + ", ".join(block["properties"]) + "}"
    if field.get("type") == "array":
        return f"[{_label(field.get('items') or field['prefixItems'][0], definitions)}]"
    if field.get("type") == "object":
        members = [*field.get("patternProperties", {}).values(), field.get("additionalProperties")]
        return f"{{name: {_label(members[0] or {}, definitions)}}}"
    return _text_label(field)


PATTERNS = {
    "^-?(0|[1-9][0-9]*)": "decimal",
    "^sha256:": "digest",
    "^[0-9a-f]{64}$": "hex",
    "@[0-9]{1,4}$": "name@version",
    "BEGIN CERTIFICATE": "PEM",
    "://": "URL",
    "keyring:": "`env:`, `file:` or `keyring:`",
    "^P([0-9]": "ISO 8601 duration",
    "^(es|en)-": "es or en, country",
    "^age1": "age recipient",
}


def _text_label(field: dict) -> str:
    for part, label in PATTERNS.items():
        if part in field.get("pattern", ""):
            return label
    if "format" in field:
        return {"date-time": "time", "date": "date"}[field["format"]]
    return {"string": "text", "integer": "int", "boolean": "bool"}.get(field.get("type", ""), "any JSON")


def _default(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return "each its own" if value else "`{}`"
    if isinstance(value, list | tuple):
        return "all" if value else "`[]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def main() -> None:
    """Rewrite the table in place."""
    text = SPEC.read_text("utf-8")
    head, rest = text.split(START)
    SPEC.write_text(head + START + key_table() + END + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
