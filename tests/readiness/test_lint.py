"""Every refusal and every warning: its code, at its place, with the number that proves it; silence otherwise."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from slaverify.contract.load import dump_yaml, parse_contract
from slaverify.errors import ProblemsError
from slaverify.readiness import Level, amendment, examine, refuse_undecidable, work_plan
from slaverify.resources import resource
from tests.contract.support import DEMO, errors, load_tree, raw_tree, set_at
from tests.tools.plain_draft import plain

TREE = plain(raw_tree(DEMO))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RAG = raw_tree(resource("contratos", "asistente-normativo-cl.yaml"))
SPEECH = raw_tree(resource("contratos", "transcripcion-audiencias.yaml"))
AGENT = raw_tree(resource("contratos", "agente-crm.yaml"))
CHAT = raw_tree(resource("contratos", "atencion-clientes.yaml"))


def found(tree: dict, now: datetime = NOW) -> dict[str, tuple]:
    """Code: (level, line) of each finding."""
    text = dump_yaml(tree)
    seen = examine(parse_contract(text.encode(), "c.yaml"), now)
    return {one.finding.code: (one.level, int(one.where.split(":")[1])) for one in seen.advice}


def line_of(tree: dict, fragment: str) -> int:
    lines = dump_yaml(tree).splitlines()
    return next(number for number, line in enumerate(lines, 1) if fragment in line)


@pytest.mark.parametrize(
    ("tree", "path", "value", "code", "fragment"),
    [
        (RAG, "endpoint.control_urls", ..., "SLV-C080", "endpoint:"),
        (RAG, "repetitions.dispersion_sample", ..., "SLV-S027", "per_item: 1"),
        (RAG, "metrics.1.decision.rule", "simple", "SLV-S023", "rule: simple"),
        (RAG, "metrics.1.decision.rule", "guarded_rejection", "SLV-S030", "rule: guarded_rejection"),
        (RAG, "verdict.multiplicity", "none", "SLV-S031", "multiplicity: none"),
        (RAG, "evaluation_set.exposure", "reuse", "SLV-K082", "exposure: reuse"),
        (RAG, "parties.custodian.name", "AUDITORA Independiente Ltda (ficticia)", "SLV-K080", "method: seeded"),
        (RAG, "evaluation_set.sample.reserve", 100, "SLV-K081", "direct: 1100"),
        (RAG, "judge.on_uncalibrated", "declared_limitation", "SLV-J030", "on_uncalibrated:"),
        (RAG, "judge.calibration.annotators", 1, "SLV-J031", "annotators: 1"),
        (CHAT, "judge.criteria.2.threshold", "0.9", "SLV-C082", "criteria:"),
        (SPEECH, "metrics.0.cluster.icc_floor", "0", "SLV-S025", 'icc_floor: "0"'),
        (SPEECH, "metrics.0.cluster", ..., "SLV-S026", "- id: good_segments"),
        (AGENT, "metrics.2.id", "adjusted_score", "SLV-S024", "id: adjusted_score"),
        (RAG, "metrics.2.margin", "0.01", "SLV-S020", "id: fabrication"),
        (RAG, "metrics.2.margin", "0.02", "SLV-S021", "id: fabrication"),
    ],
)
def test_a_warning_at_its_place(tree: dict, path: str, value: object, code: str, fragment: str) -> None:
    changed = set_at(tree, path, value)
    level, line = found(changed)[code]
    assert level is Level.WARNING
    assert abs(line - line_of(changed, fragment)) <= 6, (line, line_of(changed, fragment))
    if code not in ("SLV-S024",):
        assert code not in found(tree), code


def test_no_hostile_stratum_bound() -> None:
    tree = set_at(TREE, "metrics.1.among.stratum", ["direct"])
    assert found(tree)["SLV-C081"][0] is Level.WARNING
    assert "SLV-C081" not in found(TREE)


def test_breach_that_cannot_occur() -> None:
    tree = set_at(TREE, "metrics.0.threshold", "0.20")
    tree = set_at(tree, "evaluation_set.sample.per_stratum.direct", 12)
    tree = set_at(set_at(tree, "remedies", ...), "metrics.0.decision.alpha_breach", "0.001")
    assert "SLV-S022" in found(tree)


def test_clusters_that_leave_nothing_to_decide_with() -> None:
    tree = set_at(TREE, "metrics.0.cluster", {"by": "norm", "icc_floor": "1"})
    tree = set_at(tree, "evaluation_set.sample.per_stratum.direct", 40)
    assert "SLV-S029" in found(tree)


def test_a_census() -> None:
    tree = set_at(set_at(TREE, "evaluation_set.sample", {"method": "full"}), "evaluation_set.estimand", "bank")
    assert "SLV-S028" in found(set_at(tree, "metrics.0.among.stratum", ["direct", "out_of_corpus"]))


def test_an_amendment_that_mixes_engine_and_method() -> None:
    old, new = load_tree(RAG).tree, load_tree(set_at(RAG, "engine.version", "4.3.0")).tree
    assert list(amendment(old, new)) == []
    both = set_at(set_at(RAG, "engine.version", "4.3.0"), "evaluation_set.bank_digest", "sha256:" + "9" * 64)
    (one,) = amendment(old, load_tree(both).tree)
    assert (one.code, one.path) == ("SLV-C083", ("engine", "version"))
    method = set_at(set_at(RAG, "engine.version", "4.3.0"), "repetitions.per_item", 2)
    (one,) = amendment(old, load_tree(method).tree)
    assert "method" in one.what.en


@pytest.mark.parametrize("path", ["contract.effective", "contract.expires"])
def test_dates_in_the_past_of_a_draft(path: str) -> None:
    tree = set_at(TREE, path, "2025-06-01T00:00:00Z")
    assert found(tree)["SLV-C055"][0] is Level.REFUSED
    assert "SLV-C055" not in found(tree, datetime(2025, 1, 1, tzinfo=UTC))
    with pytest.raises(ProblemsError) as caught:
        refuse_undecidable(load_tree(tree), NOW)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("tree", "changes"),
    [
        (AGENT, {"metrics.2.severity": "binding", "metrics.2.threshold": "0.999"}),
        (SPEECH, {"metrics.2.severity": "binding", "metrics.2.threshold": "0.0005"}),
        (SPEECH, {"metrics.0.threshold": "0.9999"}),
        (RAG, {"metrics.0.threshold": "0.9999"}),
    ],
)
def test_what_can_never_pass_is_refused_without_integers_too(tree: dict, changes: dict) -> None:
    for path, value in changes.items():
        tree = set_at(tree, path, value)
    text = set_at(tree, "remedies", ...)
    codes = {error.code for error in errors(dump_yaml(text))}
    if not codes:
        codes = {code for code, (level, _) in found(text).items() if level is Level.REFUSED}
    assert codes == {"SLV-S007"}


def test_the_refusal_says_the_number_and_the_mend() -> None:
    tree = set_at(set_at(TREE, "metrics.0.threshold", "0.98"), "evaluation_set.sample.per_stratum.direct", 100)
    tree = set_at(tree, "remedies", ...)
    (error,) = errors(dump_yaml(tree))
    assert error.code == "SLV-S007"
    assert "183" in error.fix.en
    (softer,) = errors(dump_yaml(set_at(tree, "metrics.0.decision.alpha_pass", "0.05")))
    assert "149" in softer.fix.en


def test_a_lonely_stratum_under_weights() -> None:
    tree = set_at(TREE, "evaluation_set.weights", {"direct": "0.9", "out_of_corpus": "0.1"})
    tree = set_at(tree, "evaluation_set.sample.per_stratum.out_of_corpus", 1)
    tree = set_at(tree, "metrics.0.among.stratum", ["direct", "out_of_corpus"])
    assert found(tree)["SLV-S011"][0] is Level.REFUSED


def test_a_pilot_binds_nothing_and_is_refused_nothing() -> None:
    tree = set_at(set_at(TREE, "contract.purpose", "pilot"), "metrics.0.threshold", "0.9999")
    tree = set_at(tree, "remedies", ...)
    seen = examine(load_tree(tree), NOW)
    assert not seen.refused
    assert seen.whole.binding == 0


def test_the_plan_counts_calls_labels_and_burnt_items() -> None:
    work = work_plan(load_tree(RAG).model, NOW)
    assert (work.items, work.calls) == (1620, 1620 + 30 * 8)
    assert (work.judged_items, work.labels, work.label_hours) == (500, 1200, 60)
    assert work.judge_cost == work.judge_calls * work.judge_cost / work.judge_calls
    assert {burn.stratum: burn.audits for burn in work.burns}["direct"] == 2
    tree = set_at(RAG, "contract.expires", "2027-01-01T00:00:00Z")
    assert work_plan(load_tree(tree).model, NOW).audits_until_expiry == 5
    staged = set_at(TREE, "evaluation_set.sample.release", "at_start")
    staged = set_at(
        staged, "verdict.inconclusive", {"extend": {"per_stratum": {"direct": 50}, "spending": ["0.005", "0.0225"]}}
    )
    assert work_plan(load_tree(staged).model, NOW).most_calls == (150 + 50) * 3
