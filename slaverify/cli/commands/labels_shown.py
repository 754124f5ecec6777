"""Print a calibration record: matrix, figures with limits, gates."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from slaverify.canonical import JsonObject, JsonValue
from slaverify.cli.language import t

if TYPE_CHECKING:
    from slaverify.contract.model.judge import Calibration

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


def gate_lines(record: JsonObject, terms: Calibration) -> list[str]:
    """Return, for each subject, whether the judge may be used, what is lacking, and how many labels would give it."""
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
        if gate["reason"] == "judge_below_minimum":
            lines += [_wanted(subject, "sensitivity", terms.min_sensitivity, t("buenas", "right"))]
            lines += [_wanted(subject, "specificity", terms.min_specificity, t("malas", "wrong"))]
    return lines


def _wanted(subject: JsonObject, name: str, least: Decimal, which: str) -> str:
    from slaverify.judging.calibration import labels_that_reach

    figure, label = block(subject[name]), t(*_LABELS[name])
    shown = f"  {label} {_interval(figure)}, {t('se pide', 'asked')} {least}"
    if figure["value"] is None or float(str(figure["low"])) >= least:
        return shown
    count = labels_that_reach(float(str(figure["value"])), least)
    if count is None:
        return shown + t(": más etiquetas no bastan", ": more labels would not do")
    es, en = f": unas {count} respuestas {which} leídas lo mostrarían", f": about {count} {which} answers would show it"
    return shown + t(es, en)


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
