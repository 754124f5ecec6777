"""Questions follow from the state contract alone: the same ones anywhere, each with one truth, each reachable."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from slaverify.errors import ProblemsError
from slaverify.trajectory import Kind, Track, derive, generate, public_view, read_question, read_view
from slaverify.trajectory.public_view import KEYS
from slaverify.trajectory.state_files import read_state_files
from slaverify.trajectory.state_model import instant
from tests.trajectory.state import NONCE, crm, files, questions
from tests.trajectory.test_state_contract import EVALUATION, LOG, edit

PRINT = """
import sys
from slaverify.canonical import jsonl
from slaverify.trajectory import generate
from slaverify.trajectory.state_files import read_state_files
from tests.trajectory.state import NONCE, files
given = files()
if sys.argv[1] == "backwards":
    given = dict(reversed(given.items()))
contract, locale = read_state_files(given)
sys.stdout.buffer.write(jsonl(one.to_json() for one in generate(contract, locale, NONCE)))
"""


def test_the_candidates_are_those_of_the_specification() -> None:
    assert derive(crm(), "es-CL").counts() == {
        "positive": 89,
        "negative_temporal": 89,
        "negative_permission": 127,
        "negative_participation": 7,
        "linked": 13,
        "adjacent_unlinked": 4,
        "present": 8,
        "absent": 6,
        "mixed": 40,
        "partial": 10,
        "window_open": 3,
    }


def test_quotas_are_filled_with_one_question_a_root() -> None:
    assert Counter(one.track for one in questions()) == {
        Track.PERSPECTIVE: 16,
        Track.COUNTERFACTUAL: 12,
        Track.SILENCE: 12,
    }
    kinds = Counter(one.kind for one in questions())
    assert kinds[Kind.POSITIVE] == 8 and kinds[Kind.NEGATIVE_PARTICIPATION] == 2
    assert kinds[Kind.ADJACENT_UNLINKED] == 4 and kinds[Kind.ABSENT] == 6
    for track in Track:
        roots = [one.root_event_id for one in questions() if one.track is track]
        assert len(set(roots)) == len(roots)


def test_generation_is_byte_identical() -> None:
    """Hash seeds, locales and the order in which files are listed move nothing."""
    seen = set()
    for number in range(4):
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "LC_ALL": ("C", "es_ES.UTF-8")[number % 2]}
        order = ("forwards", "backwards")[number % 2]
        done = subprocess.run([sys.executable, "-c", PRINT, order], env=environment, capture_output=True, check=True)
        seen.add(done.stdout)
    assert len(seen) == 1 and seen.pop().count(b"\n") == 40


def test_the_truth_holds_in_the_corpus() -> None:
    corpus = crm().corpus
    for one in questions():
        at = instant(one.as_of)
        seen = {artifact.id for artifact in corpus.ordered if corpus.visible(artifact, one.actor, one.role, at)}
        recorded = {a.id for a in corpus.ordered if one.root_event_id in json.dumps(a.document["recorded_events"])}
        if one.kind is Kind.POSITIVE:
            assert set(one.evidence) == recorded <= seen
        elif one.track is Track.PERSPECTIVE:
            assert not recorded & seen and one.evidence == ()
        assert set(one.required) <= seen


def test_a_public_view_is_a_closed_list_and_betrays_nothing() -> None:
    for one in questions():
        view = public_view(one, crm(), "es-CL")
        assert tuple(view) == KEYS and read_view(view).public_id == one.public_id
        text = json.dumps(view, ensure_ascii=False)
        hidden = {one.question_id, one.kind.value, *one.required} - {"none"}
        assert not [word for word in hidden if word in text]
        assert not re.search(r"EV-\d+", text)
    ids = [one.public_id for one in questions()]
    assert len(set(ids)) == len(ids)
    # Without the set's nonce an id says nothing: another nonce gives other ids of the same questions.
    others = generate(crm(), "es-CL", bytes(32))
    assert {one.question_id for one in others} == {one.question_id for one in questions()}
    assert not {one.public_id for one in others} & set(ids)


def test_a_question_contract_is_read_back_strictly() -> None:
    for one in questions():
        assert read_question(one.to_json()) == one
    tree = questions()[0].to_json()
    for changed in ({**tree, "extra": 1}, {**tree, "actor": "otro"}, {key: tree[key] for key in list(tree)[1:]}):
        with pytest.raises(Exception, match="SLV-T002"):
            read_question(changed)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (edit(EVALUATION, "quota: {perspective: 16", "quota: {perspective: 900"), "SLV-T016"),
        (edit(EVALUATION, "{facts.cuenta} presentó", "{facts.nada} presentó"), "SLV-T014"),
        (edit(EVALUATION, "{facts.cuenta} presentó", "{actors} presentó"), "SLV-T014"),
        (edit(EVALUATION, 'terms: ["{facts.reclamo_id}", "{facts.cuenta}"]', 'terms: ["R-"]', 9), "SLV-T015"),
        (edit(EVALUATION, "search_limit: 10", "search_limit: 1"), "SLV-T015"),
        (edit(EVALUATION, "max_calls: 16", "max_calls: 1"), "SLV-T015"),
    ],
)
def test_a_set_that_cannot_be_made_is_refused(changed: dict[str, bytes], code: str) -> None:
    contract, locale = read_state_files(changed)
    with pytest.raises(Exception, match=code):
        generate(contract, locale, NONCE)


def test_a_quota_that_falls_short_says_what_there_is() -> None:
    contract, locale = read_state_files(edit(EVALUATION, "silence: 12}", "silence: 40}"))
    with pytest.raises(ProblemsError) as caught:
        generate(contract, locale, NONCE)
    assert [(one.code, "absent 6" in one.why.en) for one in caught.value.problems] == [("SLV-T016", True)] * 2


def test_adjacency_is_no_cause() -> None:
    """What merely follows is a decoy: the answer is that nothing would have changed."""
    for one in questions():
        if one.kind is Kind.ADJACENT_UNLINKED:
            assert (one.boolean, one.mechanism, one.cause_event_id, one.actors) == (False, "none", None, ())


def test_the_event_log_decides_not_the_order_of_its_lines() -> None:
    lines = files()[LOG].splitlines()
    contract, locale = read_state_files({**files(), LOG: b"\n".join(reversed(lines))})
    assert generate(contract, locale, NONCE) == questions()
