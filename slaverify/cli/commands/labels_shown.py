"""Print a calibration record: matrix, figures with limits, gates."""

from __future__ import annotations

from slaverify.canonical import JsonObject, JsonValue
from slaverify.cli.language import t

_REFUSALS = {
    "calibration_too_small": ("faltan etiquetas", "labels are missing"),
    "judge_not_informative": ("no distingue lo bueno de lo malo", "it does not tell right from wrong"),
    "judge_below_minimum": ("no alcanza lo pactado", "it does not reach what was agreed"),
}
_LABELS = {
    "sensitivity": ("sensibilidad", "sensitivity"),
    "specificity": ("especificidad", "specificity"),
    "agreement": ("acuerdo", "agreement"),
    "kappa": ("kappa", "kappa"),
    "ac1": ("AC1", "AC1"),
}


def figure_lines(record: JsonObject) -> list[str]:
    """Return the matrix and the figures of each subject, the detector and the people."""
    lines: list[str] = []
    for subject in subjects_of(record):
        counts = block(block(subject["matrix"])["counts"])
        lines.append(_name(subject))
        lines.append(
            t(
                f"  juez sí: {counts['positive_positive']} sí y {counts['positive_negative']} no de las personas · "
                f"juez no: {counts['negative_positive']} sí y {counts['negative_negative']} no",
                f"  judge yes: people {counts['positive_positive']} yes, {counts['positive_negative']} no · "
                f"judge no: people {counts['negative_positive']} yes, {counts['negative_negative']} no",
            )
        )
        lines += [f"  {t(*_LABELS[key]).ljust(14)} {_interval(block(subject[key]))}" for key in _LABELS]
        alone, corrected = _short(subject["uncorrected"]), _interval(block(subject["corrected"]))
        es, en = f"  el juez solo diría {alone}; corregido {corrected}", f"  judge alone {alone}; corrected {corrected}"
        lines.append(t(es, en))
    detector, people = block(record["detector"]), block(record["people"])
    recall, precision = _interval(block(detector["recall"])), _interval(block(detector["precision"]))
    lines.append(
        t(
            f"detector de abstenciones: recuerdo {recall}, precisión {precision}",
            f"detector of abstentions: recall {recall}, precision {precision}",
        )
    )
    rows, apart = people["rows"], people["differences"]
    lines.append(
        t(
            f"personas: {apart} diferencias en {rows} filas leídas dos veces",
            f"people: {apart} differences in {rows} rows",
        )
    )
    return lines


def gate_lines(record: JsonObject) -> list[str]:
    """Return, for each subject, whether the judge may be used, and what is lacking."""
    lines: list[str] = []
    for subject in subjects_of(record):
        gate = block(subject["gate"])
        if gate["met"] is True:
            lines.append(t(f"sirve: {_name(subject)}", f"usable: {_name(subject)}"))
            continue
        es, en = _REFUSALS[str(gate["reason"])]
        lacks = [
            f"{side} {block(gate[key])['labels']}/{block(gate[key])['needed']}"
            for key, side in (("positive", t("sí", "yes")), ("negative", "no"))
        ]
        lines.append(
            t(f"no sirve: {_name(subject)}: {es}", f"not usable: {_name(subject)}: {en}") + f" ({', '.join(lacks)})"
        )
    return lines


def _name(subject: JsonObject) -> str:
    return t("respuesta completa", "whole answer") if subject["subject"] is None else str(subject["subject"])


def _interval(figure: JsonObject) -> str:
    if figure["value"] is None:
        return t(f"no se mide ({figure['reason']})", f"not measured ({figure['reason']})")
    return f"{_short(figure['value'])} [{_short(figure['low'])}, {_short(figure['high'])}]"


def _short(value: JsonValue) -> str:
    return "-" if value is None else f"{float(str(value)):.3f}"


def subjects_of(record: JsonObject) -> list[JsonObject]:
    """Return the subjects of a calibration record."""
    found = record["subjects"]
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def block(value: JsonValue) -> JsonObject:
    """Return an object, empty for anything else."""
    return value if isinstance(value, dict) else {}
