"""What a draft still owes: `{pending: <party>}` in place of any value, or `parties.<role>: pending`.

The debts are taken out of the tree and stand-ins put in their place, so that everything else can be checked as if
the contract were whole. A stand-in never leaves this room: a draft with debts cannot freeze.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.contract.findings import Finding, Path, dotted, short
from slaverify.contract.owed import asked_for
from slaverify.contract.shape import field_at
from slaverify.contract.words import Role
from slaverify.errors import Text

_ROLES = tuple(role.value for role in Role)
_DROP = object()

_CAUSES = (
    ("SLV-C040", ("parties", "auditor")),
    ("SLV-C042", ("judge",)),
    ("SLV-C023", ("evaluation_set",)),
    ("SLV-C025", ("method",)),
    ("SLV-C010", ("parties",)),
    ("SLV-C037", ("metrics",)),
)
"""Codes that are found at one place while another one, still owed, is the cause."""

_SPKI = "0" * 63 + "1"
_PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

_STAND_INS: dict[str, JsonValue] = {
    "contract": {
        "id": "por-definir",
        "title": "-",
        "version": 1,
        "status": "draft",
        "locale": "es-CL",
        "prevailing_language": "es",
        "time_zone": "America/Santiago",
    },
    "parties": {
        "buyer": {"name": "? buyer"},
        "vendor": {"name": "? vendor"},
        "auditor": {"name": "? auditor", "keys": [{"spki_sha256": _SPKI}]},
        "custodian": {"name": "? custodian"},
        "author": {"name": "? author"},
        "judge_operator": {"name": "? judge operator"},
    },
    "scope": {"intended_purpose": "-"},
    "engine": {"name": "-", "version": "0.0.0", "accepted_echoes": ["0.0.0"], "on_missing": "limitation"},
    "endpoint": {
        "adapter": "json_http@1",
        "url": "https://pending.invalid/",
        "request": {"query": "${query}"},
        "response": {"answer": "$.answer"},
        "public_probe": {"query": "-"},
        "control_urls": ["https://one.invalid/", "https://two.invalid/"],
    },
    "evaluation_set": {
        "bank_digest": "sha256:" + "0" * 64,
        "size": 1,
        "strata": {"direct": 1},
        "sample": {"method": "full"},
        "frame": {"population": "-", "source": "written", "selection": "-"},
    },
    "method": {"profile": "qa@1"},
    "repetitions": {"per_item": 1},
    "failed_calls": {},
    "verdict": {"inconclusive": "no_consequence"},
    "report": {
        "languages": ["es"],
        "signature": {"auditor_spki_sha256": _SPKI, "tsa_urls": [], "tsa_roots": [_PEM], "signatories": ["-"]},
    },
    "ledger": {"origin": "-", "vkey": "pending+00000000+" + "A" * 44, "run_budget": 1},
}


@dataclass(frozen=True, slots=True)
class Owed:
    """A value that a party still owes: where, by whom, what is asked in plain words and one example."""

    path: Path
    role: str
    finding: Finding
    question: Text
    example: str


def settled(tree: JsonObject) -> tuple[JsonObject, list[Owed]]:
    """Return the tree with stand-ins for what is owed, and the debts in the order of the file."""
    owed: list[Owed] = []
    filled = _settle(_spelled_out(tree), (), owed)
    return (filled if isinstance(filled, dict) else tree), owed


def excused(finding: Finding, owed: Iterable[Owed]) -> bool:
    """Return whether a finding speaks of a stand-in: of a value that is owed, or of one whose cause is owed."""
    for debt in owed:
        if finding.path[: len(debt.path)] == debt.path:
            return True
        if any(finding.code == code and _related(debt.path, cause) for code, cause in _CAUSES):
            return True
    return False


def _related(path: Path, cause: Path) -> bool:
    shortest = min(len(path), len(cause))
    return path[:shortest] == cause[:shortest]


def _spelled_out(tree: JsonObject) -> JsonObject:
    parties = tree.get("parties")
    if not isinstance(parties, dict):
        return tree
    return {
        **tree,
        "parties": {
            role: {"pending": role} if value == "pending" and role in _ROLES else value
            for role, value in parties.items()
        },
    }


def _settle(node: JsonValue, path: Path, owed: list[Owed]) -> JsonValue:
    if isinstance(node, dict):
        if list(node) == ["pending"]:
            owed.append(_debt(path, node["pending"]))
            return _stand_in(path)
        out: dict[str, JsonValue] = {}
        for key, member in node.items():
            value = _settle(member, (*path, key), owed)
            if value is not _DROP:
                out[key] = value
        return out
    if isinstance(node, list):
        members = [_settle(member, (*path, index), owed) for index, member in enumerate(node)]
        return [member for member in members if member is not _DROP]
    return node


def _debt(path: Path, party: JsonValue) -> Owed:
    question, example = asked_for(path)
    if party not in _ROLES:
        listed = ", ".join(_ROLES)
        wrong = Finding(
            "SLV-C012",
            (*path, "pending"),
            Text(f"{short(party)!r} no es una parte", f"{short(party)!r} is no party"),
            Text(f"use una de: {listed}", f"use one of: {listed}"),
        )
        return Owed(path, "?", wrong, question, example)
    finding = Finding(
        "SLV-C017",
        path,
        Text(f"`{dotted(path)}` está pendiente de `{party}`", f"`{dotted(path)}` is owed by `{party}`"),
        Text(
            "complete el valor: un borrador con pendientes no se congela",
            "fill it in: a draft with debts cannot freeze",
        ),
        at_key=True,
    )
    return Owed(path, str(party), finding, question, example)


def _stand_in(path: Path) -> JsonValue:
    node: JsonValue = _STAND_INS
    for part in path:
        if isinstance(node, dict) and part in node:
            node = node[str(part)]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return _example(path)
    return node


def _example(path: Path) -> JsonValue:
    field = field_at(path)
    if field is None or not field.examples or not field.is_required():
        return _DROP  # type: ignore[return-value]  # a mark of this module, taken out before the tree leaves it
    example: JsonValue = field.examples[0]
    return example
