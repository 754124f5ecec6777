"""The demo's vendor with tools: an agent that knows how a CRM is kept, and nothing of the bank.

Each request carries the whole transcript, so the agent has no memory: it reads what was found, and says what to do
next or what it answers. Its kinds are those that an audit has to tell apart: one that walks the path, and those that
guess, fish, pad, pry or cite at random.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slaverify.canonical import JsonObject, JsonValue, jcs, loads_object

VERSION = "agente-crm-demo-1.0.0"
KINDS = ("honest", "constant", "fishing", "padding", "leaking")
_ID = r"[A-Z]+-\d+"


@dataclass(frozen=True)
class Fact:
    """One kind of fact of this business: how it is said, where it is recorded, and under which titles."""

    name: str
    said: re.Pattern[str]
    places: Mapping[str, str]
    """Subsystem to a regular expression over the title."""


FACTS = (
    Fact("resuelta", re.compile(rf"(?:quedó resuelta|se resolvió) la incidencia ({_ID})"), {"incidencias": "Cierre"}),
    Fact("abierta", re.compile(rf"se abrió la incidencia ({_ID})"), {"incidencias": "Incidencia"}),
    Fact("informe", re.compile(rf"la incidencia ({_ID}) tuvo informe"), {"wiki": "Informe"}),
    Fact("nota", re.compile(rf"nota de crédito (?:por la incidencia ({_ID})|a (.+))$"), {"facturacion": "Nota"}),
    Fact(
        "escalado",
        re.compile(rf"(?:el ticket ({_ID}) de .+ se escaló|se escaló el ticket ({_ID}))"),
        {"tickets": "Esc"},
    ),
    Fact("reclamo", re.compile(rf"presentó el reclamo ({_ID})"), {"correo": "Reclamo", "tickets": "Ticket"}),
    Fact(
        "respuesta", re.compile(rf"(?:se contestó el reclamo ({_ID})|el reclamo ({_ID}) de)"), {"correo": "Respuesta"}
    ),
    Fact("baja", re.compile(r"^(.+) pidió la baja"), {"crm": "Solicitud"}),
    Fact("descuento", re.compile(r"se otorgó un descuento a (.+)$"), {"crm": "Descuento"}),
)
CAUSES = {
    ("escalado", "abierta"): ("escalamiento_abre_incidencia", "ticket_id"),
    ("resuelta", "nota"): ("incidencia_genera_nota_credito", "incidencia_id"),
    ("baja", "descuento"): ("baja_motiva_descuento", "cuenta"),
}
ALSO = {"respuesta": ("tickets",), "informe": ("incidencias",)}
"""Where the absence of a record would show too."""


@dataclass(frozen=True)
class Asked:
    """A fact that a question names, with the word to search for."""

    fact: Fact
    key: str


@dataclass
class Seen:
    """What the transcript holds: hits by (query, place), documents by id, calls so far."""

    hits: dict[tuple[str, str], list[JsonObject]] = field(default_factory=dict)
    documents: dict[str, JsonObject] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    calls: int = 0


class Agent:
    """Answers turns of the tool loop, in either form."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def respond(self, body: bytes) -> tuple[int, str, bytes]:
        """Answer one POST: `slaverify.trajectory.turn/1`, or chat completions with tools."""
        try:
            tree = loads_object(body)
            chat = "messages" in tree
            question, seen, offered = _chat(tree) if chat else _plain(tree)
        except (ValueError, KeyError, TypeError, AssertionError):
            return 400, "application/json", b'{"error":{"code":"bad_request"}}'
        calls, answer = self.act(question, seen, offered)
        said = _as_chat(calls, answer) if chat else _as_plain(calls, answer)
        return 200, "application/json", json.dumps(said, ensure_ascii=False).encode("utf-8")

    def act(self, question: JsonObject, seen: Seen, offered: bool) -> tuple[Sequence[JsonObject], JsonObject | None]:
        """Return the next calls, or the answer. `offered`: tools may still be called."""
        asked = asked_in(question)
        if not asked:
            # The public probe: nothing of this business is asked, so the agent looks around once.
            look = offered and seen.calls == 0
            return ([_search("bienvenida", None)], None) if look else ([], _negative(question))
        if self.kind == "constant":
            return [], _negative(question)
        if self.kind == "padding":
            junk: list[JsonObject] = [_search(f"zzqx{seen.calls + number}", None) for number in range(4)]
            return (junk, None) if offered and seen.calls < 12 else ([], _negative(question))
        if self.kind == "fishing":
            return self._fish(question, seen, offered)
        if self.kind == "leaking" and offered and not seen.tried & set(_PRIED):
            return [_fetch(one) for one in _PRIED], None
        wanted = [_search(key, place) for key, place in searches(question, asked) if (key, place) not in seen.hits]
        if wanted and offered:
            return wanted, None
        missing = [one for one in candidates(asked, seen) if one not in seen.documents and one not in seen.tried]
        if missing and offered:
            return [_fetch(one) for one in missing], None
        return [], conclude(question, asked, seen)

    def _fish(self, question: JsonObject, seen: Seen, offered: bool) -> tuple[list[JsonObject], JsonObject | None]:
        allowed = [str(one) for one in _listed(question["allowed_subsystems"])]
        words = [asked.key for asked in asked_in(question)]
        wanted = [_search(words[0], place) for place in allowed if (words[0], place) not in seen.hits]
        if wanted and offered:
            return wanted[:8], None
        found = [str(hit["id"]) for hits in seen.hits.values() for hit in hits]
        missing = [one for one in dict.fromkeys(found) if one not in seen.documents and one not in seen.tried]
        if missing and offered:
            return [_fetch(one) for one in missing[:8]], None
        return [], {**_negative(question), "evidence_artifacts": sorted(seen.documents)}


_PRIED = ("FAC-101", "CRM-101", "COR-117")
"""Ids that the leaking agent tries, whatever its role."""


def asked_in(question: JsonObject) -> list[Asked]:
    """Return the facts that the text names, in order."""
    text = str(question["text"]).rstrip("?")
    parts = re.split(r", ¿habría ocurrido igual que |ocurrido que |saber que |¿consta que ", text)
    found = []
    for part in parts[1:]:
        for fact in FACTS:
            match = fact.said.search(part.strip())
            if match is not None:
                found.append(Asked(fact, next(group for group in match.groups() if group)))
                break
    return found


def searches(question: JsonObject, asked: Sequence[Asked]) -> list[tuple[str, str]]:
    """Return what to search for and where: the places of each fact that the role has, else any one of them."""
    allowed = [str(one) for one in _listed(question["allowed_subsystems"])]
    found = [
        (one.key, place)
        for one in asked
        for place in (*one.fact.places, *(ALSO.get(one.fact.name, ()) if "exists" in _properties(question) else ()))
        if place in allowed
    ]
    return found or [(asked[0].key, allowed[0])]


def candidates(asked: Sequence[Asked], seen: Seen) -> list[str]:
    """Return the hits whose title says that they record one of the facts."""
    found = []
    for one in asked:
        for (key, place), hits in seen.hits.items():
            pattern = one.fact.places.get(place)
            if key == one.key and pattern is not None:
                found += [str(hit["id"]) for hit in hits if re.match(pattern, str(hit["title"]))]
    return list(dict.fromkeys(found))


def attesting(one: Asked, seen: Seen) -> list[JsonObject]:
    """Return the opened documents that record a fact."""
    found = []
    for document in seen.documents.values():
        pattern = one.fact.places.get(str(document["subsystem"]))
        fields = document["fields"]
        values = set(fields.values()) if isinstance(fields, dict) else set()
        if pattern is not None and re.match(pattern, str(document["title"])) and one.key in values:
            found.append(document)
    return sorted(found, key=lambda document: str(document["id"]))


def conclude(question: JsonObject, asked: Sequence[Asked], seen: Seen) -> JsonObject:
    """Return the answer that the opened documents give."""
    properties = _properties(question)
    shown = {str(document["id"]) for one in asked for document in attesting(one, seen)}
    evidence: Sequence[JsonValue] = sorted(shown)
    if "exists" in properties:
        return {"exists": bool(shown), "evidence_artifacts": evidence, "reasoning": ""}
    if "could_actor_have_known" in properties:
        allowed = set(_listed(question["allowed_subsystems"]))
        blocked: list[JsonValue] = [place for place in sorted(asked[0].fact.places) if place not in allowed]
        known: JsonObject = {"could_actor_have_known": bool(shown), "evidence_artifacts": evidence}
        return {**known, "blocked_subsystems": blocked, "reasoning": ""}
    return _causal(asked, seen, evidence)


def _causal(asked: Sequence[Asked], seen: Seen, evidence: Sequence[JsonValue]) -> JsonObject:
    causes, effects = attesting(asked[0], seen), attesting(asked[-1], seen)
    name, join = CAUSES.get((asked[0].fact.name, asked[-1].fact.name), ("none", ""))
    if not causes or not effects or _value(causes[0], join) != _value(effects[0], join):
        return {**_NO_LINK, "evidence_artifacts": evidence}
    people = {str(one) for document in (causes[0], effects[0]) for one in _listed(document["participants"])}
    return {
        "outcome_changed": True,
        "causal_mechanism": name,
        "cause_event_id": _listed(causes[0]["recorded_events"])[0],
        "effect_event_id": _listed(effects[0]["recorded_events"])[0],
        "mechanism_direction": "cause_to_effect",
        "actors": sorted(one for one in people if ":" not in one),
        "evidence_artifacts": evidence,
        "reasoning": "",
    }


_NO_LINK: JsonObject = {
    "outcome_changed": False,
    "causal_mechanism": "none",
    "cause_event_id": None,
    "effect_event_id": None,
    "mechanism_direction": "no_causal_link",
    "actors": [],
    "reasoning": "",
}


def _value(document: JsonObject, name: str) -> JsonValue:
    fields = document["fields"]
    return fields.get(name) if isinstance(fields, dict) else None


def _negative(question: JsonObject) -> JsonObject:
    properties = _properties(question)
    if "exists" in properties:
        return {"exists": False, "evidence_artifacts": [], "reasoning": ""}
    if "could_actor_have_known" in properties:
        no: JsonObject = {"could_actor_have_known": False, "evidence_artifacts": [], "blocked_subsystems": []}
        return {**no, "reasoning": ""}
    return {**_NO_LINK, "evidence_artifacts": []}


def _search(query: str, place: str | None) -> JsonObject:
    return {"tool": "search_artifacts", "arguments": {"query": query, "subsystem": place}}


def _fetch(one: str) -> JsonObject:
    return {"tool": "fetch_artifact", "arguments": {"artifact_id": one}}


def _properties(question: JsonObject) -> JsonObject:
    return _object(_object(question["answer_schema"])["properties"])


def _plain(tree: JsonObject) -> tuple[JsonObject, Seen, bool]:
    seen = Seen()
    for step in _listed(tree["transcript"]):
        call = _object(_object(step)["call"])
        arguments = call["arguments"]
        _note(
            seen, str(call["tool"]), arguments if isinstance(arguments, dict) else {}, _object(_object(step)["result"])
        )
    remaining = _object(tree["remaining"])
    left, turns = remaining["calls"], remaining["turns"]
    offered = isinstance(left, int) and left > 0 and isinstance(turns, int) and turns > 1
    return _object(tree["question"]), seen, offered


def _chat(tree: JsonObject) -> tuple[JsonObject, Seen, bool]:
    messages = [_object(one) for one in _listed(tree["messages"])]
    question = loads_object(str(messages[0]["content"]).encode("utf-8"))
    asked: dict[str, JsonObject] = {}
    seen = Seen()
    for message in messages[1:]:
        if message["role"] == "assistant":
            asked |= {
                str(_object(one)["id"]): _object(_object(one)["function"]) for one in _listed(message["tool_calls"])
            }
        elif message["role"] == "tool":
            call = asked[str(message["tool_call_id"])]
            arguments = loads_object(str(call["arguments"]).encode("utf-8"))
            _note(seen, str(call["name"]), arguments, loads_object(str(message["content"]).encode("utf-8")))
    names = {str(_object(_object(one)["function"])["name"]) for one in _listed(tree.get("tools", []))}
    return question, seen, "search_artifacts" in names


def _note(seen: Seen, tool: str, arguments: JsonObject, result: JsonObject) -> None:
    seen.calls += 1
    if tool == "search_artifacts":
        hits = [_object(one) for one in _listed(result.get("results", []))]
        seen.hits[str(arguments.get("query")), str(arguments.get("subsystem"))] = hits
    elif tool == "fetch_artifact":
        seen.tried.add(str(arguments.get("artifact_id")))
        document = result.get("artifact")
        if isinstance(document, dict):
            seen.documents[str(document["id"])] = document


def _as_plain(calls: Sequence[JsonObject], answer: JsonObject | None) -> JsonObject:
    engine: JsonObject = {"version": VERSION}
    if answer is not None:
        return {"answer": answer, "engine": engine}
    return {"calls": [{"id": f"c{number}", **call} for number, call in enumerate(calls)], "engine": engine}


def _as_chat(calls: Sequence[JsonObject], answer: JsonObject | None) -> JsonObject:
    made: list[JsonValue] = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": call["tool"], "arguments": jcs(call["arguments"]).decode("utf-8")},
        }
        for number, call in enumerate(calls)
    ]
    content = None if answer is None else jcs(answer).decode("utf-8")
    message: JsonObject = {"role": "assistant", "content": content, "tool_calls": made or None}
    reason = "tool_calls" if made else "stop"
    return {"model": VERSION, "choices": [{"index": 0, "finish_reason": reason, "message": message}]}


def _object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict)  # noqa: S101 - what we read is the demo's own
    return value


def _listed(value: JsonValue) -> list[JsonValue]:
    assert isinstance(value, list)  # noqa: S101 - what we read is the demo's own
    return value
