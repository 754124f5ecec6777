"""What a person reads: outcome and verdict on the first line, hostile text shown as what it is."""

from __future__ import annotations

from html.parser import HTMLParser

from slaverify.errors import Text
from slaverify.verify import Check, Level, Outcome, Result, Verdict, Verification, render_html, render_text
from slaverify.verify.checks import EXIT_PIN, PASSED, exit_code_of, failed, fold, noted, outcome_of, skipped
from slaverify.verify.text import sentence, visible
from slaverify.verify.verification import Identity, MetricVerdict
from tests.verify.checking import check
from tests.verify.sample import closed, line, public

NO = Text("no", "no")


def test_the_first_two_lines() -> None:
    audit = line(8)
    found = check(audit, closed(audit))
    spanish, english = render_text(found, "es-CL").splitlines(), render_text(found, "en").splitlines()
    assert spanish[0] == "VERIFICADO · el paquete declara NO CONCLUYENTE"
    assert spanish[1].startswith("accuracy: NO CONCLUYENTE (8 fallos de 20, cumple hasta 3, no cumple desde 14); ")
    assert english[0] == "VERIFIED · the bundle declares INCONCLUSIVE"
    assert english[1].startswith("accuracy: INCONCLUSIVE (8 failures of 20, PASS up to 3, BREACH from 14); ")


def test_what_is_withheld_and_what_is_not_claimed() -> None:
    audit = line(8)
    text = render_text(check(audit, public(closed(audit))), "es")
    assert "run/exchanges.jsonl" in text and "nunca por uno anterior" in text
    tree = check(audit, public(closed(audit))).to_json("en")
    assert [row["path"] for row in tree["withheld"]] == ["run/exchanges.jsonl", "sealed/annex.age"]  # type: ignore[index, union-attr, call-overload]
    assert len(tree["non_claims"]) == 3  # type: ignore[arg-type]


def test_text_of_the_evidence_moves_nothing_on_a_terminal() -> None:
    assert visible("a\u202eb\x1b[2Kc\u200b\nñ") == "a[U+202E]b[U+001B][2Kc[U+200B][U+000A]ñ"
    found = Verification(
        outcome=Outcome.VERIFIED,
        exit_code=0,
        verdict=Verdict("PASS\x1b[31m", (MetricVerdict("m\r", "PASS", None, True, 3, 0, 1, None),)),
        checks=(),
        identities=(Identity("auditor", "CN=\u202eevil\x07"),),
    )
    text = render_text(found)
    assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text and "\r" not in text


def test_a_verdict_without_counts_has_a_sentence_too() -> None:
    metric = MetricVerdict("m", "NOT_MEASURED", "no_observations", True, None, None, None, None)
    verdict = Verdict("NOT_MEASURED", (metric,))
    assert sentence(verdict, "es") == "m: NO MEDIDO"
    assert sentence(Verdict("NOT_MEASURED", ()), "en") == "no clause was measured"


def _check(result: Result, required: bool = True, exit_code: int | None = None) -> Check:
    return Check("V01", NO, result, required, Level.RE_DERIVABLE, NO, NO, exit_code=exit_code)


def test_outcome_and_exit_code() -> None:
    ok, open_ = _check(Result.PASSED), _check(Result.NOT_PERFORMED)
    four, five = _check(Result.FAILED, False, 4), _check(Result.FAILED, True, 5)
    table = [
        ([ok], False, Outcome.VERIFIED, 0),
        ([ok], True, Outcome.DEMO, 3),
        ([ok, open_], False, Outcome.INDETERMINATE, 3),
        ([ok, open_], True, Outcome.INDETERMINATE, 3),
        ([ok, _check(Result.NOT_PERFORMED, False)], False, Outcome.VERIFIED, 0),
        ([ok, five], False, Outcome.NOT_VERIFIED, 5),
        ([ok, five, four], False, Outcome.NOT_VERIFIED, 4),
        ([four, open_], True, Outcome.NOT_VERIFIED, 4),
        ([], False, Outcome.INDETERMINATE, 3),
    ]
    for checks, demo, outcome, exit_code in table:
        assert (outcome_of(checks, demo=demo), exit_code_of(checks, demo=demo)) == (outcome, exit_code)
    assert exit_code_of([ok], demo=True, allow_demo=True) == 0
    assert exit_code_of([ok, open_], demo=True, allow_demo=True) == 3


def test_parts_fold_into_one_check() -> None:
    assert fold("V17", [], required=True).result is Result.NOT_PERFORMED
    assert fold("V17", [skipped(NO, optional=True)], required=True).result is Result.NOT_PERFORMED
    assert fold("V17", [PASSED, skipped(NO, optional=True)], required=True).result is Result.PASSED
    assert fold("V17", [PASSED, skipped(NO)], required=True).result is Result.NOT_PERFORMED
    assert fold("V17", [PASSED, skipped(NO), failed(NO)], required=True).result is Result.FAILED
    assert fold("V16", [failed(NO, exit_code=EXIT_PIN), failed(NO)], required=True).exit_code == 4
    assert fold("V16", [failed(NO, exit_code=EXIT_PIN)], required=True).exit_code == EXIT_PIN
    many = fold("V17", [failed(Text(f"n{n}", f"n{n}")) for n in range(40)], required=True)
    assert many.reason.en.endswith("and 28 more") and many.reason.es.endswith("y 28 más")
    assert fold("V18", [noted(Text("a", "b"))], required=True).reason == Text("a", "b")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.lasttag not in ("style", "title"):
            self.words.append(data.strip())


def test_the_html_page_says_the_lines_of_the_text_and_loads_nothing() -> None:
    audit = line(8)
    for found in (check(audit, public(closed(audit))), check(audit, {**closed(audit), "run/plan.json": b"{}"})):
        page = _Page()
        page.feed(render_html(found, "es"))
        said = [word for word in page.words if word]
        assert said == [row.strip() for row in render_text(found, "es").splitlines() if row.strip()]
        assert not page.tags & {"script", "img", "link", "a", "iframe"} and page.names <= {"lang", "charset", "class"}
        assert ("class" in page.names) is (found.exit_code != 0)


def test_markup_of_the_evidence_stays_text_in_the_html_page() -> None:
    identity = Identity("auditor", "<script>alert(1)</script>&\u202e")
    page = render_html(
        Verification(outcome=Outcome.VERIFIED, exit_code=0, verdict=None, checks=(), identities=(identity,))
    )
    assert "<script>" not in page and "&lt;script&gt;" in page and "\u202e" not in page
