"""V19 with a bundle: from records to counts, numbers, states, remedies and limitations, again, by the same functions.

Order: 1. wire bytes to outcomes and answers (edition of the parties); 2. score records agree with run and index;
3. items to commitments and rules to verdicts (annex); 4. the draw of what people read, the figures of the judge and
its gate, from their labels; 5. leak tests, dispersion and counts; 6. numbers and states (reals of nine places within 1
in the last: scipy and processors differ); 7. verdict and remedies; 8. limitations; 9. the same in report.json; 10. the
page follows.
Nobody is asked anything: no judge, no vendor, no network.

Source: docs/spec/verification.md (V19), docs/spec/decision.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from slaverify.canonical import JsonObject, JsonValue, jcs
from slaverify.contract import LoadedContract
from slaverify.decision import compare_versions, decide, inputs, limitations, results
from slaverify.errors import Text
from slaverify.evidence import (
    AMENDMENT,
    CALIBRATION,
    COMPARISON,
    DISPERSION,
    INTEGRITY,
    Bundle,
    calibration_committed,
    calibrations,
    dispersion_of,
    dispute_rulings,
    integrity_of,
    is_change_check,
    limitation_facts,
    record_again,
    run_validity,
    unfounded_rulings,
)
from slaverify.verify.amendment import amendment_parts
from slaverify.verify.checks import PASSED, Part, failed, no_bundle, refused, skipped
from slaverify.verify.material import Material
from slaverify.verify.page import page_alone, page_of_bundle
from slaverify.verify.recount import recount_parts
from slaverify.verify.replay import replay_parts
from slaverify.verify.trees import first_difference, obj

SCORES = "scoring/scores.jsonl"
INPUTS = "statistics/inputs.json"
RESULTS = "statistics/results.json"
DECISION = "decision/decision.json"
LIMITATIONS = "decision/limitations.json"
_REAL = re.compile(r"(-?)([0-9]+)\.([0-9]{9})")


def verdict_parts(material: Material) -> list[Part]:
    """Return the parts of V19."""
    if material.bundle is not None:
        return _of_bundle(material, material.bundle)
    return _of_report(material)


def _of_report(material: Material) -> list[Part]:
    report, contract = material.report, material.contract
    if material.request.pdf is None:
        return [no_bundle(given=material.request.bundle is not None)]
    if report is None:
        return [skipped(Text("no hay informe legible", "there is no readable report"))]
    if contract is None:
        return [
            skipped(
                Text("sin contrato no hay reglas con que recalcular", "without the contract there are no rules"),
                Text("agregue --contract, o --bundle", "add --contract, or --bundle"),
            )
        ]
    if report["contract_digest"] != contract.digest:
        return [
            skipped(
                Text("el contrato dado es otro (V16)", "the contract given is another (V16)"),
                Text("dé el contrato del informe", "give the contract of the report"),
            )
        ]
    try:
        return [
            *recount_parts(contract.model, obj(report, "decision"), amended=report["amends"] is not None),
            *page_alone(report),
        ]
    except Exception as error:  # noqa: BLE001 - report.json comes from anybody
        return [refused(error, "report.json")]


def _of_bundle(material: Material, bundle: Bundle) -> list[Part]:
    contract = material.contract
    if contract is None:
        return [failed(Text("sin contrato legible no hay reglas", "without a readable contract there are no rules"))]
    parts: list[Part] = []
    for place, step in (
        (SCORES, lambda: replay_parts(bundle, contract, material.annex)),
        (CALIBRATION, lambda: _people(bundle, contract)),
        (INTEGRITY, lambda: _results_beside(bundle, INTEGRITY, integrity_of(bundle, contract))),
        (DISPERSION, lambda: _results_beside(bundle, DISPERSION, dispersion_of(bundle, contract))),
        (INPUTS, lambda: _numbers(bundle, contract)),
        (LIMITATIONS, lambda: _limitations(bundle, contract)),
        (AMENDMENT, lambda: amendment_parts(bundle, contract, material.report)),
        ("report.json", lambda: _report(material, bundle)),
    ):
        parts += _guarded(place, step)
    return parts


def _guarded(place: str, step: Callable[[], Iterator[Part]]) -> list[Part]:
    found: list[Part] = []
    try:
        found.extend(step())
    except Exception as error:  # noqa: BLE001 - whatever a reader raises fails the check that it served
        found.append(refused(error, place))
    # A step that ran to its end and found nothing has passed.
    return found or [PASSED]


def _numbers(bundle: Bundle, contract: LoadedContract) -> Iterator[Part]:
    validity = run_validity(bundle, contract)
    records = list(bundle.lines(SCORES)) if bundle.has(SCORES) else []
    counted = inputs(contract.model, records, dispute_rulings(bundle, contract))
    yield from _same(INPUTS, bundle.json(INPUTS), counted)
    stored = bundle.json(RESULTS)
    people = calibrations(bundle, contract)
    yield from _same(RESULTS, stored, results(contract.model, counted, validity, people), within=1)
    # From the stored numbers, which may differ in a last place: what follows from them is compared to the byte.
    yield from _same(DECISION, bundle.json(DECISION), decide(contract.model, stored, validity))
    yield from _comparison(bundle, contract, records)


def _comparison(bundle: Bundle, contract: LoadedContract, records: list[JsonObject]) -> Iterator[Part]:
    """Compare both versions again in a run that the ledger holds as a change check, and in no other."""
    change = is_change_check(bundle, contract)
    if change != bundle.has(COMPARISON):
        yield failed(
            Text(
                "una comparación de versiones falta, o está donde no corresponde",
                "a comparison of versions is missing, or stands where none is due",
            )
        )
    elif change:
        yield from _same(COMPARISON, bundle.json(COMPARISON), compare_versions(contract.model, records), within=1)


def _results_beside(bundle: Bundle, path: str, again: JsonObject | None) -> Iterator[Part]:
    """Leak tests and dispersion again from draw and scores; that an item is a honeytoken is compared with the annex."""
    if again is not None:
        yield from _same(path, bundle.json(path), again, within=1)
    elif bundle.has(path):
        yield failed(Text(f"{path} no corresponde a esta corrida", f"{path} does not belong to this run"))


def _people(bundle: Bundle, contract: LoadedContract) -> Iterator[Part]:
    """Draw, figures and gate again from ledger, scores and labels; that people gave these labels is attested."""
    again = record_again(bundle, contract)
    for key in sorted(unfounded_rulings(bundle, contract)):
        yield failed(
            Text(
                f"{SCORES} {key}: no es lo que dijeron las personas",
                f"{SCORES} {key}: it is not what the people said",
            )
        )
    if again is None:
        return
    yield from _same(CALIBRATION, bundle.json(CALIBRATION), again, within=1)
    wrong = calibration_committed(bundle, contract)
    if wrong is not None:
        yield failed(
            Text(
                f"{CALIBRATION}: el libro no lo registra antes de los puntajes ({wrong})",
                f"{CALIBRATION}: the ledger does not commit to it before the scores ({wrong})",
            )
        )


def _limitations(bundle: Bundle, contract: LoadedContract) -> Iterator[Part]:
    yield from _same(
        LIMITATIONS, bundle.json(LIMITATIONS), limitations(contract.model, limitation_facts(bundle, contract))
    )


def _report(material: Material, bundle: Bundle) -> Iterator[Part]:
    if material.report is None:
        return
    for key, path in (("decision", DECISION), ("limitations", LIMITATIONS)):
        yield from _same(f"report.json {key}", obj(material.report, key), bundle.json(path))
    yield from page_of_bundle(material)


def _same(name: str, stored: JsonObject, computed: JsonObject, within: int = 0) -> Iterator[Part]:
    """Compare to the byte; `within` is how many units of the ninth place a computed real may be off."""
    if jcs(stored) == jcs(computed):
        return
    found = first_difference(_snapped(stored, computed, within), computed)
    if found is None:
        return
    path, there, here = found
    yield failed(
        Text(f"{name}: {path} no es lo que resulta", f"{name}: {path} is not what results"),
        expected=here,
        found=there,
    )


def _snapped(stored: JsonValue, computed: JsonValue, within: int) -> JsonValue:
    """Return the stored tree with each real that lies within the tolerance replaced by the computed one."""
    if within == 0:
        return stored
    if isinstance(stored, dict) and isinstance(computed, dict):
        return {
            key: _snapped(value, computed[key], within) if key in computed else value for key, value in stored.items()
        }
    if isinstance(stored, list) and isinstance(computed, list | tuple) and len(stored) == len(computed):
        return [_snapped(one, other, within) for one, other in zip(stored, computed, strict=True)]
    if isinstance(stored, str) and isinstance(computed, str) and _near(stored, computed, within):
        return computed
    return stored


def _near(one: str, other: str, within: int) -> bool:
    first, second = _billionths(one), _billionths(other)
    return first is not None and second is not None and abs(first - second) <= within


def _billionths(text: str) -> int | None:
    match = _REAL.fullmatch(text)
    if match is None or len(text) > 40:
        return None
    number = int(match[2] + match[3])
    return -number if match[1] else number
