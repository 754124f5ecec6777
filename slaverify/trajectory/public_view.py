"""What an engine may see of a question: a closed list of keys, and nothing that betrays track kind or truth.

Source: docs/spec/trajectory.md, section "Public view".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slaverify.canonical import JsonObject, JsonValue
from slaverify.errors import Text, TrajectoryError
from slaverify.trajectory.answers import answer_schema
from slaverify.trajectory.question import Question, Track
from slaverify.trajectory.state_contract import StateContract
from slaverify.trajectory.state_model import Budget, Policy

KEYS = (
    "public_id",
    "text",
    "answer_schema",
    "actor",
    "role",
    "allowed_subsystems",
    "catalogue",
    "restricted_rule",
    "as_of",
    "budget",
    "rules",
)
"""Every key of a public view; a test holds it to this set."""

RULES = Text(
    "Un id que aparece en una búsqueda siempre se puede abrir; cualquier otro id se abre a riesgo del motor. "
    "Cite solo registros que prueben el hecho.",
    "An id listed by a search may always be fetched; any other id is fetched at the engine's own risk. "
    "Cite only artifacts that attest the fact.",
)
_RESTRICTED = Text(
    "En {names}, un registro lo ve quien participó en un hecho que lo nombra o a quien ese hecho se difundió.",
    "In {names}, an artifact is seen by whoever took part in an event that names it, or was told of it.",
)
_OPEN = Text("No hay lugares restringidos.", "No place is restricted.")


@dataclass(frozen=True, slots=True)
class PublicView:
    """What the gates and the loop need of a view, read back strictly."""

    public_id: str
    track: Track
    actor: str
    role: str
    as_of: str
    budget: Budget
    tree: JsonObject


def public_view(question: Question, contract: StateContract, locale: str) -> JsonObject:
    """Return the public view of a named question."""
    counterfactual = contract.evaluation.counterfactual
    mechanisms = () if counterfactual is None else tuple(link.name for link in counterfactual.causal_links)
    return view_tree(
        question.public_id,
        question.text,
        answer_schema(question.track, mechanisms),
        question.actor,
        question.role,
        question.as_of,
        contract.policy,
        contract.evaluation.budget,
        locale,
    )


def view_tree(
    public_id: str,
    text: str,
    schema: JsonObject,
    actor: str,
    role: str,
    as_of: str,
    policy: Policy,
    budget: Budget,
    locale: str,
) -> JsonObject:
    """Return a view from its parts."""
    rules = policy.roles.get(role)
    restricted = sorted(policy.restricted_subsystems)
    catalogue: list[JsonValue] = [
        {"name": name, "id_prefix": one.id_prefix, "description": one.description}
        for name, one in sorted(policy.subsystems.items())
    ]
    open_words = _OPEN.in_language(locale)
    restricted_words = _RESTRICTED.in_language(locale).replace("{names}", ", ".join(restricted))
    return {
        "public_id": public_id,
        "text": text,
        "answer_schema": schema,
        "actor": actor,
        "role": role,
        "allowed_subsystems": [] if rules is None else sorted(rules.subsystems),
        "catalogue": catalogue,
        "restricted_rule": restricted_words if restricted else open_words,
        "as_of": as_of,
        "budget": budget.model_dump(mode="json"),
        "rules": RULES.in_language(locale),
    }


def read_view(tree: JsonObject, *, where: str = "") -> PublicView:
    """Read a view back. Raises: TrajectoryError SLV-T003 for anything that is none."""
    budget = tree.get("budget")
    texts = [tree.get(key) for key in ("public_id", "actor", "role", "as_of")]
    track = _track(tree.get("answer_schema"))
    if set(tree) != set(KEYS) or track is None or not isinstance(budget, Mapping):
        raise _malformed(where)
    if not all(isinstance(text, str) for text in texts):
        raise _malformed(where)
    try:
        spent = Budget.model_validate(budget)
    except ValueError as error:
        raise _malformed(where) from error
    public_id, actor, role, as_of = (str(text) for text in texts)
    return PublicView(public_id, track, actor, role, as_of, spent, tree)


def _track(schema: JsonValue) -> Track | None:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    keys = set(properties) if isinstance(properties, Mapping) else set()
    return next((track for track in Track if keys == set(_keys_of(track))), None)


def _keys_of(track: Track) -> JsonObject:
    properties = answer_schema(track)["properties"]
    return properties if isinstance(properties, Mapping) else {}


def _malformed(where: str) -> TrajectoryError:
    return TrajectoryError(
        "SLV-T003",
        Text("la vista pública de una pregunta está mal formada", "the public view of a question is malformed"),
        fix=Text("vuelva a generar las preguntas", "generate the questions again"),
        where=where,
    )
