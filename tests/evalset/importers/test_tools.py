"""Files of evaluation tools: what each key becomes, and what is refused because it would run or guess."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from slaverify.errors import ProblemsError, SlaverifyError
from slaverify.evalset import ImportOptions, import_any

BASE = ImportOptions(ids="p", stratum="direct")


def one(data: str, form: str, **more: Any) -> dict[str, Any]:
    imported = import_any(data.encode(), "f.yaml" if form == "promptfoo" else "f", replace(BASE, format=form, **more))
    assert len(imported.items) == 1
    return dict(imported.items[0].to_json())


def refused(data: str, form: str, name: str = "f", **more: Any) -> list[str]:
    with pytest.raises(SlaverifyError) as caught:
        import_any(data.encode(), name, replace(BASE, format=form, **more))
    problems = caught.value.problems if isinstance(caught.value, ProblemsError) else [caught.value]
    return [problem.code for problem in problems]


def test_yaml_words_and_times_stay_text() -> None:
    for word in ("no", "12:30", "1.10", "on", "0x1F", "2026-01-01", "1e3"):
        item = one(f"- vars: {{p: ¿?}}\n  assert: [{{type: equals, value: {word}}}]\n", "promptfoo")
        assert item["reference"] == {"kind": "text", "value": word}


@pytest.mark.parametrize(
    "assertion",
    [
        "{type: javascript, value: 'true'}",
        "{type: python, value: 'file://x.py'}",
        "{type: not-javascript, value: 'true'}",
        "{type: equals, value: 'file://x.txt'}",
        "{type: equals, value: a, transform: 'output.trim()'}",
    ],
)
def test_what_would_run_code_is_refused(assertion: str) -> None:
    assert "SLV-I018" in refused(f"- vars: {{p: ¿?}}\n  assert: [{assertion}]\n", "promptfoo", "f.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "tests: file://more.yaml",
        "defaultTest: {assert: []}\ntests: []",
        "- &a {vars: {p: x}}\n- *a\n",
        "a: [",
        "- file://x.yaml",
        "[" * 200,
        "- {vars: {p: x}, provider: openai, assert: [{type: equals, value: y}]}",
    ],
)
def test_yaml_that_is_elsewhere_or_hostile_is_refused(text: str) -> None:
    assert set(refused(text, "promptfoo", "f.yaml")) <= {"SLV-I015", "SLV-I018", "SLV-I019"}


def test_promptfoo_kinds() -> None:
    anyof = one("- vars: {p: q}\n  assert: [{type: icontains-any, value: [a, b]}]\n", "promptfoo")
    assert anyof["reference"] == {"kind": "entity", "value": "a", "accepted": [{"kind": "entity", "value": "b"}]}
    every = one("- vars: {p: q}\n  assert: [{type: contains-all, value: [a, b]}]\n", "promptfoo")
    assert every["reference"]["set_rule"] == "at_least"
    rubric = one("- vars: {p: q}\n  assert: [{type: llm-rubric, value: ok}]\n", "promptfoo")
    assert rubric["criteria"] == ["promptfoo-1"] and rubric["reference"] == {"kind": "text", "value": "—"}


def test_promptfoo_csv_shorthand() -> None:
    text = "q,__expected\n¿A?,icontains:b\n¿C?,d\n¿E?,http://x\n"
    imported = import_any(text.encode(), "f.csv", replace(BASE, format="promptfoo"))
    kinds = [item.to_json()["reference"] for item in imported.items]
    assert kinds == [
        {"kind": "entity", "value": "b"},
        {"kind": "text", "value": "d"},
        {"kind": "text", "value": "http://x"},
    ]
    assert refused("q,__expected\n¿A?,fn:x\n", "promptfoo", "f.csv").count("SLV-I018") == 1


def test_deepeval_in_either_case_and_lists_only_where_declared() -> None:
    snake = one('[{"input":"q","expected_output":"a","context":["x","y"]}]', "deepeval")
    camel = one('[{"input":"q","expectedOutput":"a","context":["x","y"]}]', "deepeval")
    assert snake == camel and snake["official_text"] == "x\n\ny"
    table = "input,expected_output,context\nq,a,x|y\n"
    assert one(table, "deepeval")["official_text"] == "x|y"
    assert one(table, "deepeval", list_separator="|")["official_text"] == "x\n\ny"


def test_ragas_lists_are_literals_and_nothing_else() -> None:
    good = 'user_input,reference,reference_contexts\nq,a,"[\'x, y\', ""z\'s""]"\n'
    assert one(good, "ragas")["official_text"] == "x, y\n\nz's"
    for cell in ("[[[['x']]]]", "[1]", "['a'", "[__import__('os')]", "[" * 5000, "[f'{1}']"):
        line = f'user_input,reference,reference_contexts\nq,a,"{cell}"\n'
        assert refused(line, "ragas") == ["SLV-I019"], cell


def test_inspect_samples() -> None:
    choice = one('{"input":"q","target":"B","choices":["x","y"]}', "inspect")
    assert choice["reference"] == {"kind": "choice", "value": "B", "options": {"A": "x", "B": "y"}}
    several = one('{"input":"q","target":["x","y"]}', "inspect")
    assert several["reference"]["accepted"] == [{"kind": "text", "value": "y"}]
    turns = one('{"input":[{"role":"system","content":"s"},{"role":"user","content":"q"}],"target":"x"}', "inspect")
    assert [turn["role"] for turn in turns["messages"]] == ["system", "user"]
    exact = one('{"input":"q","target":1234.50}', "inspect")
    assert exact["reference"] == {"kind": "number", "value": "1234.50"}
    for key in ("files", "setup", "sandbox"):
        assert refused(json.dumps({"input": "q", "target": "x", key: "docker"}), "inspect") == ["SLV-I018"]


@pytest.mark.parametrize(
    "line",
    ['{"id":3,"input":"q","target":"x"}', '{"id":"a","id":"b","input":"q","target":"x"}', '{"input":NaN,"target":"x"}'],
)
def test_numeric_ids_duplicate_keys_and_nan_are_refused(line: str) -> None:
    assert refused(line, "inspect", ids=None, stratum="x")[0] in ("SLV-I001", "SLV-I004")


def test_facts_go_to_the_judge_and_say_so() -> None:
    from slaverify.contract.words import Outcome
    from slaverify.evalset import Answer
    from slaverify.scoring import default_settings, score

    text = "system_instruction,user_request,context_document\nSolo el documento.,¿Plazo?,Son 30 días.\n"
    imported = import_any(text.encode(), "f.csv", replace(BASE, format="facts"))
    assert "juez" in imported.report.facts.notes[0].es
    for answer in ("Son 30 días.", "—", "30", "— —", "Es — ."):
        record = score(imported.items[0], Answer(answer), Outcome.ANSWERED, default_settings("qa@1", "es-CL")).record
        assert record.correctness != "correct", answer


def test_plain_json_by_a_mapping() -> None:
    text = '[{"codigo":"a","texto":"¿?","resp":"x","otro":1}]'
    mapping = (("codigo", "id"), ("texto", "query"), ("resp", "reference"))
    item = one(text, "json", ids=None, mapping=mapping)
    assert (item["id"], item["query"]) == ("a", "¿?")
    assert refused(text, "json", mapping=(("nada", "query"),)) == ["SLV-I015"]
