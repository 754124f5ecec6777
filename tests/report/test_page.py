"""Page 1 says all that it must in each state; the clauses are answered; the colours can be read."""

from __future__ import annotations

import copy
import re
import tomllib
from decimal import Decimal
from functools import cache
from itertools import pairwise

import pytest
from tinyhtml5 import parse

from slaverify.errors import ReportError
from slaverify.report.catalogue import Catalogue, sentences
from slaverify.report.page import page_html, stylesheet
from slaverify.resources import resource
from tests.report import sample
from tests.report.pages import EVERY, LANGUAGES, drawable_characters, model, page

XHTML = "{http://www.w3.org/1999/xhtml}"
NEXT = {
    "es": {
        "PASS": ["rige para la versión 4.2.1", "1 de agosto de 2027", "cada 3 meses"],
        "BREACH": ["cláusula de remedios", "Monto: ninguno calculado", "20 días", "15 días"],
        "INCONCLUSIVE": ["la duda la asume el proveedor", "Con 2.190 preguntas más (2.310 en total)", "CUMPLE", "80 %"],
        "NOT_MEASURED": ["Código no_observations", "Debe actuar el auditor", "van 1 de 2 pactadas"],
        "INVALID_RUN": ["Código engine_version", "Debe actuar el proveedor", "van 1 de 2 pactadas"],
    },
    "en": {
        "PASS": ["holds for version 4.2.1", "1 August 2027", "every 3 months"],
        "BREACH": ["remedies clause", "Amount: none computed", "20 days", "15 days"],
        "INCONCLUSIVE": ["the vendor bears the doubt", "2,190 more questions (2,310 in all)", "PASS", "80%"],
        "NOT_MEASURED": ["Code no_observations", "auditor must act", "1 of 2 agreed are used"],
        "INVALID_RUN": ["Code engine_version", "vendor must act", "1 of 2 agreed are used"],
    },
}
BOUND = {
    "es": {
        "PASS": "92,8 %",
        "BREACH": "79,6 %",
        "INCONCLUSIVE": "85,2 % a 96,0 %",
        "NOT_MEASURED": "No hay cota",
        "INVALID_RUN": "no hay cota",
    },
    "en": {
        "PASS": "92.8%",
        "BREACH": "79.6%",
        "INCONCLUSIVE": "85.2% to 96.0%",
        "NOT_MEASURED": "no bound",
        "INVALID_RUN": "no bound",
    },
}


@cache
def tree_of(html: str):
    return parse(html)


def words(element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def by_class(tree, name):
    return [e for e in tree.iter() if isinstance(e.tag, str) and name in e.get("class", "").split()]


def first_page(state, language) -> str:
    return words(by_class(tree_of(page(state, language)), "summary")[0])


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_page_1_says_verdict_threshold_bound_next_step_and_check(state, language):
    said = first_page(state, language)
    assert sentences(language)[f"state.{state}"]["other"] in said
    assert ("90 %" if language == "es" else "90%") in said
    assert BOUND[language][state] in said
    for expected in NEXT[language][state]:
        assert expected in said, expected
    assert "slaverify verify" in said
    digest = model(state, language)["bundle_digest"].removeprefix("sha256:")[:16]
    assert " ".join(digest[i : i + 4] for i in range(0, 16, 4)) in said


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_the_sentence_of_the_verdict_has_at_most_30_words(state, language):
    sentence = words(by_class(tree_of(page(state, language)), "sentence")[0])
    assert len(sentence.replace("\u00a0", "").split()) <= 30, sentence


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_of_a_verdict_can_grow_beyond_30_words(language):
    held = {key: forms["other"] for key, forms in sentences(language).items()}
    longest = max((held[key] for key in held if key.startswith("reason.")), key=lambda text: len(text.split()))
    figures = {
        "metric": "Exactitud de citas",
        "observed": "1.110 de 1.200 (92,5 %)",
        "interval": "90,9 % a 93,9 %",
        "required": "al menos 90 %",
        "reason": longest,
    }
    for key, form in held.items():
        if key.startswith("sentence."):
            said = re.sub(r"\{(\w+)\}", lambda match: figures.get(match[1], "90,0 %"), form)
            assert len(said.replace(" %", "%").split()) <= 30, (key, said)


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_three_things_it_means_and_three_it_does_not(state, language):
    blocks = {block["id"]: block for block in model(state, language)["sections"][1]["blocks"]}
    assert len(blocks["means"]["items"]) == len(blocks["means_not"]["items"]) == 3
    assert len(blocks["metrics"]["columns"]) <= 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_inconclusive_names_no_winner(language):
    said = first_page("INCONCLUSIVE", language)
    assert not re.search(r"gana|favor(ece|s) a(l| la) |wins|in favour of the", said)


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_no_measured_zero_or_hundred_percent(state, language):
    assert not re.search(r"(?<![\d,.])(0|100)([.,]0+)?\s?%", words(tree_of(page(state, language))))


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_no_cell_is_blank_and_no_braces_are_left(state, language):
    tree = tree_of(page(state, language))
    for cell in tree.iter():
        assert cell.tag not in (f"{XHTML}td", f"{XHTML}th") or words(cell), "blank cell"
    assert "{" not in words(tree.find(f"{XHTML}body"))
    assert "None" not in words(tree.find(f"{XHTML}body")).split()


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_headings_do_not_skip_and_headers_have_a_scope(state, language):
    tree = tree_of(page(state, language))
    levels = [int(e.tag[-1]) for e in tree.iter() if isinstance(e.tag, str) and re.fullmatch(r".*}h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert all(th.get("scope") in ("row", "col") for th in tree.iter(f"{XHTML}th"))


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_each_drawing_says_itself_in_words(state, language):
    drawings = list(tree_of(page(state, language)).iter("{http://www.w3.org/2000/svg}svg"))
    assert drawings
    for drawing in drawings:
        if drawing.get("class") != "shape":
            assert words(drawing[0])
            assert drawing[0].tag.endswith("title")


def checklist():
    return tomllib.loads(resource("plantillas", "checklist-17025-7.8.toml").read_text(encoding="utf-8"))["clause"]


def test_each_clause_has_its_comment_and_its_fields():
    source = resource("plantillas", "report", "clauses.html.j2").read_text(encoding="utf-8")
    lines = dict(re.findall(r"\{# 17025 (\S+(?: [a-p])?) #\}(.*)", source))
    assert list(lines) == [clause["id"] for clause in checklist()]
    for clause in checklist():
        assert f'"{clause["anchor"]}"' in lines[clause["id"]]
        assert re.findall(r'"([a-z-]+)"', lines[clause["id"]].split("[", 1)[1]) == clause["fields"]


@pytest.mark.parametrize(("state", "language"), EVERY)
def test_each_clause_is_answered_on_the_page(state, language):
    answered: dict[str, list[str]] = {}
    for element in tree_of(page(state, language)).iter():
        for name in element.get("data-clause", "").split() if isinstance(element.tag, str) else ():
            answered.setdefault(name, []).append(words(element))
    for clause in checklist():
        found = answered.get(clause["anchor"], [])
        assert found, clause["id"]
        assert all(found), clause["id"]
        if clause["applies"] != "always":
            assert sentences(language)[clause["if_not"]]["other"] in " ".join(found)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_text_colour_can_be_read_on_every_ground_it_may_stand_on():
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", stylesheet(), flags=re.DOTALL))
    pairs = []
    for _, body in rules:
        colour = re.search(r"(?<![-\w])color: (#[0-9A-F]{6})", body)
        ground = re.search(r"background: (#[0-9A-F]{6})", body)
        if colour or ground:
            pairs.append((colour[1] if colour else "#1A1A1A", ground[1] if ground else "#FFFFFF"))
    drawn = resource("plantillas", "report", "charts.html.j2").read_text(encoding="utf-8")
    pairs += [(fill, "#FFFFFF") for fill in re.findall(r'fill="(#(?!FFFFFF|E8F1FA)[0-9A-F]{6})"', drawn)]
    assert len(pairs) > 10
    for colour, ground in pairs:
        assert contrast(colour, ground) >= 4.5, (colour, ground)
        assert colour != "#D55E00"


def test_the_states_keep_their_agreed_contrasts():
    assert contrast("#1A1A1A", "#FFFFFF") == pytest.approx(17.4, abs=0.1)
    assert contrast("#0B4F8A", "#E8F1FA") == pytest.approx(7.4, abs=0.1)
    assert contrast("#A63200", "#FDEEE6") == pytest.approx(6.0, abs=0.1)
    assert contrast("#4A4A4A", "#FFFFFF") == pytest.approx(8.9, abs=0.1)


HOSTILE = [
    "</td><script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
    '"><img src="https://evil.example/x.png">',
    "url(https://evil.example/a.css)",
    "ACME \u202e GPJ.exe",
    "zero\u200bwidth\u2066isolate",
    "nul\x00 and \x1b[31m escape",
    "\u6f22\u5b57 and \U0001f600",
    "Zalgo\u0301\u0302\u0303\u0304",
    "<style>*{display:none}</style>",
    "&lt;b&gt; &amp; &#x3c;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_text_on_the_page(text):
    language = "es"
    from slaverify.canonical import loads_object
    from slaverify.report import build

    changed = {"parties.vendor.name": text, "engine.name": text, "scope.intended_purpose": text}
    plain = page("PASS", language)
    html = page_html(loads_object(build(sample.bundle("PASS", **changed), language)), drawable_characters())
    # The same elements, whatever the text says.
    count = lambda source: sorted(str(e.tag) for e in tree_of(source).iter())  # noqa: E731
    hidden = not all(ord(c) in drawable_characters() for c in text) or any(c in text for c in "\u200b\u2066\u0303")
    assert len(count(html)) - len(count(plain)) == (2 if hidden else 0)
    assert "evil.example" not in re.sub(r">[^<]*<", "><", html)
    body = words(tree_of(html).find(f"{XHTML}body"))
    for character in text:
        assert character in body or f"[U+{ord(character):04X}]" in body or character in "\u0301\u0302"
    assert ("[U+202E]" in body) == ("\u202e" in text or hidden)  # the note names it as its example


@pytest.mark.parametrize(
    "edit",
    [
        lambda tree: tree["sections"].pop(),
        lambda tree: tree["sections"].reverse(),
        lambda tree: tree["sections"][1]["blocks"].pop(),
        lambda tree: tree["sections"][2]["blocks"].append({"kind": "script"}),
        lambda tree: tree["sections"][2]["blocks"].append({"kind": "paragraph"}),
        lambda tree: tree["sections"][3]["blocks"][1].update(chart="pie"),
        lambda tree: tree["sections"][3]["blocks"][1]["data"]["panels"][0].update(threshold="2"),
        lambda tree: tree["sections"][3]["blocks"][1]["data"]["panels"][0].update(threshold="nan"),
        lambda tree: tree["sections"][1]["blocks"][4].update(state="MAYBE"),
        lambda tree: tree["sections"][1]["blocks"][4].update(state=["PASS"]),
        lambda tree: tree["sections"][1].update(blocks="text"),
        lambda tree: tree.update(sections={}),
        lambda tree: tree.update(language="fr"),
        lambda tree: tree.update(language=7),
    ],
)
def test_a_report_of_another_shape_is_refused_and_not_a_crash(edit):
    tree = copy.deepcopy(model("PASS", "es"))
    edit(tree)
    with pytest.raises(ReportError) as refused:
        page_html(tree, drawable_characters())
    assert refused.value.code == "SLV-R014"


def test_what_was_made_visible_is_said_twice():
    from slaverify.canonical import loads_object
    from slaverify.report import build

    bundle = sample.bundle("PASS", **{"parties.vendor.name": "ACME\u202e"})
    html = page_html(loads_object(build(bundle, "es")), drawable_characters())
    assert html.count(sentences("es")["page.altered"]["other"]) == 2
    assert sentences("es")["page.altered"]["other"] not in page("PASS", "es")


def test_the_marks_stand_on_the_page_where_they_apply():
    from slaverify.canonical import loads_object
    from slaverify.report import build

    html = page_html(loads_object(build(sample.bundle("PASS", sample.marked()), "es")), drawable_characters())
    assert "DEMOSTRACIÓN · SIN VALOR PROBATORIO" in html
    assert "NO FIRMADO POR TODAS LAS PARTES" in html
    assert "DEMOSTRACIÓN" not in page("PASS", "es")
    assert "NO FIRMADO" not in page("PASS", "es")


def test_every_limitation_is_written_with_all_its_arguments():
    said = Catalogue("es-CL", drawable_characters())
    items = {item["code"]: item for item in model("PASS", "es")["sections"][9]["blocks"][2]["items"]}
    assert set(items) == {item["code"] for item in sample.LIMITATIONS}
    for item in items.values():
        assert item["sentences"], item["code"]
        assert all(said.say(sentence) for sentence in item["sentences"])


def test_thresholds_are_printed_as_agreed():
    assert Decimal(sample.METRICS[0]["threshold"]) == Decimal("0.90")
    assert "al menos 90 %" in first_page("PASS", "es")
