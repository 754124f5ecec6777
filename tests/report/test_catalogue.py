"""The catalogues: complete, equal in both languages, drawable, and within the rules of wording."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaverify.decision import Reason
from slaverify.errors import ReportError
from slaverify.report import figures
from slaverify.report.catalogue import Catalogue, sentences
from slaverify.report.sections import annexes, custody, item, limits, next_steps, paths, results, signals, statement
from slaverify.resources import resource
from tests.report.pages import EVERY, LANGUAGES, drawable_characters, model
from tests.report.sample import STATES

PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")
FORBIDDEN = {
    "es": r"certific|acreditad|garantiza|no alucina|demuestra|\bscore\b"
    r"|firma (electr[oó]nica|avanzada|cualificada|simple)",
    "en": r"certif|accredited|guarantee|does not hallucinate|proves|\bscore\b"
    r"|(electronic|advanced|qualified) signature",
}
ALLOWED = {"limitation.L23.accreditation": r"acreditad\w*|accredited"}
X509 = re.compile(r"X\.509 (signing )?certificate|certificado de firma X\.509|certificado X\.509")


def forms(language):
    return [(key, form) for key, held in sentences(language).items() for form in held.values()]


def test_both_catalogues_have_the_same_keys():
    assert set(sentences("es")) == set(sentences("en"))


def test_both_catalogues_have_the_same_placeholders():
    for key, held in sentences("es").items():
        for name, form in held.items():
            other = sentences("en")[key].get(name, sentences("en")[key]["other"])
            assert set(PLACEHOLDER.findall(form)) == set(PLACEHOLDER.findall(other)), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_string_can_be_drawn(language):
    for key, form in forms(language):
        assert not {c for c in form if ord(c) not in drawable_characters()}, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_wording_keeps_to_its_rules(language):
    for key, form in forms(language):
        cleared = X509.sub("", form)
        cleared = re.sub(ALLOWED[key], "", cleared) if key in ALLOWED else cleared
        assert not re.search(FORBIDDEN[language], cleared, re.IGNORECASE), (key, form)


@pytest.mark.parametrize("language", LANGUAGES)
def test_braces_are_placeholders_and_nothing_else(language):
    for key, form in forms(language):
        assert not re.search(r"[{}<>]", PLACEHOLDER.sub("", form)), key


def closed_words():
    yield from (f"reason.{word}" for word in figures.REASONS | {"none", "other"})
    yield from (f"by_count.{word}" for word in STATES)
    yield from (f"verdict.{word}" for word in statement.VERDICTS)
    yield from (f"rule.{word}" for word in statement.RULES | {"other", "by_tail"})
    yield from (f"why.{word}" for word in results.RULE_REASONS)
    yield from (f"path_reason.{word.lower()}" for word in paths.REASONS)
    yield from (f"path_pattern.{word}" for word in paths.PATTERNS)
    yield from (f"path_group.{word}" for word in paths.GROUPS)
    yield from (f"outcome.{word}" for word in item.OUTCOMES)
    yield from (f"whose.{word}" for word in item.ATTRIBUTIONS)
    yield from (f"signal.word.{word}" for word in signals.SIGNALS)
    yield from (f"event.word.{word}" for word in signals.EVENTS)
    yield from (f"ledger.{word}" for word in custody.LEDGER_TYPES)
    yield from (f"next.actor.{word}" for word in {*next_steps.ACTORS.values(), "auditor"})
    yield from (f"next.consequence.{word}" for word in ("no_consequence", "withhold", "extend", "retest", "unknown"))
    yield from (f"next.settle.{word}" for word in ("PASS", "BREACH"))
    yield from (f"glossary.{word}{end}" for word in annexes.TERMS for end in ("", "_means"))
    yield from (f"mapping.{word}{end}" for word in annexes.SOURCES for end in ("", "_asks", "_answered"))
    yield from (f"role.{word}" for word in figures.ROLES)
    yield from (f"validity.{word}" for word in set(limits.VALIDITY.values()))
    yield from (f"custody.level.{number}" for number in range(4))


def test_every_word_of_a_closed_list_has_a_sentence():
    for key in closed_words():
        assert key in sentences("es"), key


def test_the_reasons_are_those_of_the_decision():
    assert set(Reason) <= figures.REASONS


def test_the_reasons_of_rules_are_those_of_scoring():
    from slaverify.scoring.reasons import Reason as RuleReason

    assert set(RuleReason) <= results.RULE_REASONS


def test_custody_facts_are_those_of_custody():
    from slaverify.custody.levels import FACTS

    assert {f"custody.fact.{name}" for name in FACTS} <= set(sentences("es"))


def test_every_limitation_has_validity_condition_and_sentences():
    tree = tomllib.loads(resource("plantillas", "limitations.toml").read_text(encoding="utf-8"))
    codes = [f"L{number:02d}" for number in range(1, 29)]
    assert list(tree) == codes == list(limits.WRITERS)
    for code, entry in tree.items():
        assert entry["validity"] == limits.VALIDITY[code]
        assert entry["condition"]
        assert all(set(forms) == {"es", "en"} for forms in entry["sentences"].values())


def keys_of(node):
    if isinstance(node, dict):
        if "key" in node and "args" in node:
            yield node["key"]
        for value in node.values():
            yield from keys_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from keys_of(value)


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_every_message_of_a_report_is_in_the_catalogue(state, language):
    assert set(keys_of(model(state, language))) <= set(sentences(language))


@pytest.mark.parametrize(
    "node",
    [
        "text",
        None,
        True,
        [],
        {},
        {"key": "no.such.key", "args": {}},
        {"key": "figure.rate", "args": {}},
        {"key": "figure.rate"},
        {"share": "0.5"},
        {"share": "nan", "rounding": "near", "against": None},
        {"share": "1e9", "rounding": "near", "against": None},
        {"share": "0", "rounding": "near", "against": None},
        {"share": "0.5", "rounding": "sideways", "against": None},
        {"real": "0.5", "digits": 99, "against": None},
        {"instant": "yesterday"},
        {"instant": "2026-09-03T10:05:09"},
        {"list": []},
        {"foreign": 7},
    ],
)
def test_a_message_of_no_known_form_is_refused(node):
    with pytest.raises(ReportError) as refused:
        Catalogue("es-CL", drawable_characters()).say(node)
    assert refused.value.code == "SLV-R014"
    assert refused.value.exit_code == 4


json_like = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["key", "args", "list", "share", "real", "foreign", "code", "instant", "day", "span", "digits"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_like)
def test_any_tree_is_said_or_refused(node):
    try:
        said = Catalogue("es-CL", drawable_characters()).say(node)
    except ReportError as error:
        assert error.code == "SLV-R014"
    else:
        assert not re.search(r"<(?!/?span)", said)


@pytest.mark.parametrize(("text", "said"), [("P3M", "3 meses"), ("P1Y6M", "año y 6 meses"), ("mañana", "mañana")])
def test_durations_are_said_in_words(text, said):
    assert Catalogue("es-CL", drawable_characters()).say({"span": text}) == said


def test_one_and_many():
    catalogue = Catalogue("es-CL", drawable_characters())
    assert catalogue.say({"key": "item.retries", "args": {"n": 1}}) == "Reintentos: uno."
    assert catalogue.say({"key": "item.retries", "args": {"n": 1234}}) == "Reintentos: 1.234."


def test_a_zero_is_said_with_its_bound():
    entry = {"provenance": "measured", "rate": "0.000000000", "n": 500, "x": 500, "failures": 0, "failures_vendor": 0,
             "unresolved": 0, "open": 0, "zero_bound": str(Decimal("0.005973554")), "confidence": "0.95",
             "direction": "at_most", "kind": "rate", "threshold": "0.02"}  # fmt: skip
    note = figures.zero_note(entry, {"foreign": "Alucinación"})
    said = Catalogue("es-CL", drawable_characters()).say(note)
    assert said == "Alucinación: 0 de 500 (cota superior al 95\u00a0%, unilateral: 0,6\u00a0%)."
