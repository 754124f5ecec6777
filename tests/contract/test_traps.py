"""The traps of the format: what a person writes by habit and what is said back, at its line and column."""

from __future__ import annotations

import unicodedata

import pytest

from slaverify.canonical import jcs
from tests.contract.support import DEMO, FULL, errors, load, place, problems, raw_tree, set_at, text_of

TEXT = text_of(DEMO)


def changed(old: str, new: str) -> str:
    assert TEXT.count(old) == 1, (TEXT.count(old), old)
    return TEXT.replace(old, new)


THRESHOLD = 'direction: at_least\n    threshold: "0.90"'


@pytest.mark.parametrize(
    ("written", "code", "mend"),
    [
        ('"0,90"', "SLV-C014", '"0.90"'),
        ("0,90", "SLV-C014", '"0.90"'),
        ('"90 %"', "SLV-C014", '"0.90"'),
        ("90 %", "SLV-C014", '"0.90"'),
        ('"90%"', "SLV-C014", '"0.90"'),
        ('"90"', "SLV-C015", '"0.90"'),
        ('"97.5"', "SLV-C015", '"0.975"'),
        ("0.90", "SLV-C013", '"0.90"'),
        ("1.10", "SLV-C013", '"1.10"'),
        ("9e-1", "SLV-C013", '"9e-1"'),
        ("1", "SLV-C013", '"1"'),
        ('"9e-1"', "SLV-C014", '"0.9"'),
        ('".9"', "SLV-C014", '"0.9"'),
        ('"0.90 "', "SLV-C014", '"0.90"'),
        ('"+0.90"', "SLV-C014", '"0.90"'),
        ('"00.90"', "SLV-C014", '"0.90"'),
        ('"٠.٩"', "SLV-C014", "0.90"),
        ('"NaN"', "SLV-C014", "0.90"),
        ('"-0.9"', "SLV-C015", "0"),
        (".inf", "SLV-C013", ".inf"),
        ("true", "SLV-C012", ""),
    ],
)
def test_a_threshold_that_is_no_decimal_in_quotes_is_refused_with_its_mend(written: str, code: str, mend: str) -> None:
    text = changed(THRESHOLD, THRESHOLD.replace('"0.90"', written))
    found = errors(text)
    line, _ = place(text, f"direction: at_least\n    threshold: {written}")
    assert (found[0].code, found[0].where) == (code, f"c.yaml:{line + 1}:16"), found
    assert mend in found[0].fix.es
    assert mend in found[0].fix.en


def test_words_of_yaml_1_1_stay_texts() -> None:
    text = changed("governing_law: Ley chilena", "governing_law: no")
    assert load(text).model.contract.governing_law == "no"
    for word in ("on", "off", "yes", "12:30", "2026-01-01", "1_000_000x"):
        assert load(changed("Ley chilena", word)).model.contract.governing_law == word


@pytest.mark.parametrize("word", ["true", "12", "0x1F", "0o17", "1_000", "007", "+5", "1.", "-0"])
def test_what_yaml_would_type_is_refused_where_a_text_is_due(word: str) -> None:
    text = changed("governing_law: Ley chilena", f"governing_law: {word}")
    assert problems(text) == [("SLV-C013", *place(text, f"governing_law: {word}", value=True))]
    assert f'"{word}"' in errors(text)[0].fix.es


def test_a_boolean_of_yaml_1_1_is_no_boolean() -> None:
    text = changed("  retest: true", "  retest: yes")
    assert problems(text) == [("SLV-C012", *place(text, "retest: yes", value=True))]


def test_an_integer_in_quotes() -> None:
    text = changed("size: 620", 'size: "620"')
    assert problems(text) == [("SLV-C012", *place(text, 'size: "620"', value=True))]
    assert "620" in errors(text)[0].fix.es


def test_duplicate_keys_are_refused_at_the_second() -> None:
    text = changed("  version: 1\n", "  version: 1\n  version: 1\n")
    assert problems(text) == [("SLV-C003", place(text, "  version: 1\n  version: 1\n")[0] + 1, 3)]


def test_keys_that_are_one_after_normalisation() -> None:
    composed = "definitions: {Ítem: uno, " + unicodedata.normalize("NFD", "Ítem") + ": dos}"
    text = changed("  governing_law: Ley chilena", f"  governing_law: Ley chilena\n  {composed}")
    assert [code for code, *_ in problems(text)] == ["SLV-C003"]


def test_anchors_aliases_merges_tags_directives_and_documents() -> None:
    text = changed("governing_law: Ley chilena", "governing_law: &ley Ley chilena")
    assert problems(text) == [("SLV-C004", *place(text, "governing_law: &ley", value=True))]
    text = changed("  retest: true", "  retest: *x")
    assert ("SLV-C004", *place(text, "retest: *x", value=True)) in problems(text)
    text = changed("  parent_agreement:\n", "  parent_agreement:\n    <<: {clause: x}\n")
    assert "SLV-C004" in {code for code, *_ in problems(text)}
    text = changed('    clause: "12.3"', "    clause: !!str 12.3")
    assert "SLV-C005" in {code for code, *_ in problems(text)}
    assert problems("%YAML 1.1\n---\n" + TEXT) == [("SLV-C005", 2, 1)]
    assert [code for code, *_ in problems(TEXT + "---\na: 1\n")] == ["SLV-C006"]
    assert problems("--- \n" + TEXT + "...\n") == []


def test_size_depth_encoding_and_emptiness() -> None:
    assert problems(TEXT + "#" + "x" * (1024 * 1024)) == [("SLV-C008", 1, 1)]
    assert problems("[" * 1000, "c.yaml")[0][0] == "SLV-C007"
    assert problems("a: " + "[" * 20 + "]" * 20)[0][0] == "SLV-C007"
    assert problems("{" * 30 + "}" * 30)[0][0] in ("SLV-C002", "SLV-C007")
    assert problems('{"a":' * 30 + "1" + "}" * 30, "c.json")[0][0] == "SLV-C007"
    assert problems(TEXT.encode("latin-1")) == [("SLV-C001", 1, TEXT.index("ó") + 1)]
    for empty in ("", "# nada\n", "---\n", "null\n", "[]", "hola"):
        assert [code for code, *_ in problems(empty)] == ["SLV-C009"], empty
    assert problems(b"\xef\xbb\xbf" + TEXT.encode()) == []


def test_characters_that_cannot_be_seen() -> None:
    for escape in ("\\u202e", "\\0", "\\ud800", "\\x1b"):
        text = changed("governing_law: Ley chilena", f'governing_law: "Ley{escape} chilena"')
        assert problems(text)[0][0] in ("SLV-C009", "SLV-C002"), escape


def test_names_that_differ_only_in_form_are_one_party() -> None:
    for name in ("PROVEEDOR DEMO SPA (FICTICIO)", "Proveedor  Demo SpA — ficticio", "Proveedor Demo ＳｐＡ (ficticio)"):
        text = TEXT.replace("    name: Demo Auditora Ltda. (ficticia)", f"    name: {name}", 1)
        assert [code for code, *_ in problems(text)] == ["SLV-K005"], name
    text = TEXT.replace("legal_id: 76.000.002-7", "legal_id: 76000001-9", 1)
    assert problems(text) == [("SLV-K005", *place(text, "legal_id: 76000001-9", value=True))]
    self_check = text.replace("purpose: audit", "purpose: self_check")
    assert problems(self_check) == []


def test_a_key_of_the_vendor_in_the_auditors_hand() -> None:
    key = '    keys:\n      - spki_sha256: "' + "0" * 63 + '1"\n'
    text = changed("    exposure_group: proveedor-demo\n", "    exposure_group: proveedor-demo\n" + key)
    assert [code for code, *_ in problems(text)] == ["SLV-K005", "SLV-C038"]


def test_times_need_an_offset_and_an_order() -> None:
    def with_dates(first: str, last: str) -> str:
        return changed("  governing_law: Ley chilena", f"  effective: {first}\n  expires: {last}")

    assert problems(with_dates("2026-01-01T00:00:00-03:00", "2026-12-31T23:59:59Z")) == []
    text = with_dates("2026-01-01T00:00:00", "2026-12-31T23:59:59Z")
    assert problems(text) == [("SLV-C016", *place(text, "effective: 2026", value=True))]
    assert "-03:00" in errors(text)[0].fix.es
    text = with_dates("2026-12-31T21:00:00-03:00", "2027-01-01T00:00:00Z")  # the same moment
    assert problems(text) == [("SLV-C033", *place(text, "expires: 2027", value=True))]
    assert problems(with_dates("2026-02-30T00:00:00Z", "2026-12-31T23:59:59Z"))[0][0] == "SLV-C016"


def test_at_least_so_many_errors() -> None:
    text = changed("direction: at_most", "direction: at_least")
    assert {code for code, *_ in problems(text)} == {"SLV-C047", "SLV-C037"}  # its credit is upside down too
    tree = raw_tree(DEMO)
    tree = set_at(set_at(tree, "metrics.1.library", ...), "metrics.1.direction", "at_least")
    tree = set_at(tree, "remedies.credits", [])
    assert [code for code, *_ in problems(jcs(tree), "c.json")] == ["SLV-C047"]


def test_strata_and_sample() -> None:
    text = changed("size: 620", "size: 630")
    assert problems(text) == [("SLV-C020", *place(text, "size: 630", value=True))]
    assert "size: 620" in errors(text)[0].fix.es
    text = changed("direct: 90", "direct: 241")
    assert problems(text) == [("SLV-C022", *place(text, "direct: 241", value=True))]
    text = changed("trap: 30, out_of_corpus: 20, adv", "trap: 30, out_of_corpo: 20, adv")
    assert ("SLV-C023", *place(text, "out_of_corpo: 20")) in problems(text)
    text = changed("    per_stratum: {direct: 90, applied: 45, trap: 30, out_of_corpus: 20, adversarial: 30}\n", "")
    assert problems(text) == [("SLV-C021", *(place(text, "  sample:\n")[0], 3))]
    text = changed("method: seeded", "method: full")
    assert problems(text) == [("SLV-C021", *place(text, "per_stratum:"))]
    text = changed("among: {stratum: [direct, applied]}", "among: {stratum: [directo, applied]}")
    assert problems(text) == [("SLV-C023", place(text, "[directo,")[0], place(text, "[directo,")[1] + 1)]


def test_two_metrics_with_one_id() -> None:
    text = changed("- id: hallucination", "- id: accuracy")
    assert ("SLV-C026", *place(text, "- id: accuracy\n    library: hall", value=True)) in problems(text)


def test_regular_expressions_are_anchored_and_end() -> None:
    for bad in ("demo", "^demo", "demo$", "^a|b$", r"^demo\$", "^(a+)+$", "^[$", "^.*$", "^" + "a" * 300 + "$"):
        text = changed("accepted_echoes: [asistente-demo-1.0.0]", f"accepted_echoes: [{{regex: '{bad}'}}]")
        codes = [code for code, *_ in problems(text)]
        assert codes in (["SLV-C028"], ["SLV-C027"]), (bad, codes)
    for good in (r"^asistente-demo-1\.0\.[0-9]+$", r"^(a1|b1)$", r"^x1\\$"):
        assert (
            problems(changed("accepted_echoes: [asistente-demo-1.0.0]", f"accepted_echoes: [{{regex: '{good}'}}]"))
            == []
        )


def test_floating_versions() -> None:
    for alias in ("latest", "default", "asistente", "demo-latest", "stable-2", "modelo-preview"):
        text = changed("version: asistente-demo-1.0.0", f"version: {alias}")
        assert problems(text) == [("SLV-C027", *place(text, f"  version: {alias}\n", value=True))], alias
    assert problems(changed("version: asistente-demo-1.0.0", "version: modelo-preview-2025-01-01")) == []


def test_secrets_in_headers_and_anywhere() -> None:
    def with_header(line: str) -> str:
        return changed("  request:\n    query:", f"  headers:\n    {line}\n  request:\n    query:")

    for line in (
        "Authorization: abc",
        "X-Api-Key: abc",
        "Cookie: a=b",
        "X-Ok: Bearer abcdefgh",
        "X-Ok: Ab3dEf6hIj9lMn2pQr5tUv8x",
        "X-Ok: 0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d",
        "X-Ok: sk-abcdefghijklmnop",
    ):
        text = with_header(line)
        assert {code for code, *_ in problems(text)} == {"SLV-C029"}, line
        assert {found[1:] for found in problems(text)} == {place(text, f"    {line}\n", value=True)}
        printed = "\n".join("\n".join(error.lines("es") + error.lines("en")) for error in errors(text))
        assert line.split(": ")[1] not in printed.replace("Authorization", "")
    for line in ("Accept: application/vnd.api2+json", "X-Version: 2023-06-01", "Accept-Language: es-CL"):
        assert problems(with_header(line)) == [], line
    text = changed("  request:\n    query:", "  auth: {secret: MiClaveSecreta123}\n  request:\n    query:")
    assert problems(text) == [("SLV-C029", *place(text, "secret: MiClave", value=True))]
    assert all("MiClaveSecreta123" not in line for line in errors(text)[0].lines("es"))
    text = changed("governing_law: Ley chilena", "governing_law: ghp_0123456789abcdefghij")
    assert problems(text) == [("SLV-C029", *place(text, "governing_law: ghp_", value=True))]
    text = changed("http://127.0.0.1:8099/consulta", "https://x.example.org/?api_key=1")
    assert [code for code, *_ in problems(text)] == ["SLV-C029"]


@pytest.mark.parametrize(
    ("url", "ok"),
    [
        ("https://api.example.org/v1", True),
        ("http://localhost:1/x", True),
        ("http://[::1]:8/x", True),
        ("http://127.9.9.9/", True),
        ("http://api.example.org/v1", False),
        ("http://127.0.0.1.example.org/", False),
        ("https://user:pass@api.example.org/", False),
        ("https://api.example.org/#x", False),
        ("ftp://api.example.org/", False),
        ("https://", False),
        ("https://api.example.org:99999/", False),
    ],
)
def test_https_except_loopback(url: str, ok: bool) -> None:
    text = changed("url: http://127.0.0.1:8099/consulta", f'url: "{url}"')
    assert {code for code, *_ in problems(text)} <= (set() if ok else {"SLV-C030", "SLV-C016"})
    assert bool(problems(text)) != ok


@pytest.mark.parametrize(
    ("template", "ok"),
    [
        ("{q: '${query}'}", True),
        ("{q: 'Pregunta: ${query}.'}", True),
        ("{messages: '${messages}'}", True),
        ("[['${query}'], '${nonce}']", True),
        ("'${query}'", True),
        ("{q: '$${query}'}", False),
        ("{q: 'nada'}", False),
        ("{q: '${query}', x: '${reference}'}", False),
        ("{q: '${query}', x: '${item_id}'}", False),
        ("{q: '${query}', x: 'id ${nonce}'}", False),
        ("{q: '${query}', x: '${tools}'}", False),
        ("{'${query}': '${query}'}", False),
        ("{q: '${query}', x: '${query'}", True),
        ("{q: '${query}', t: 0.2}", False),
    ],
)
def test_what_a_template_may_name(template: str, ok: bool) -> None:
    text = changed("  request:\n    query: ${query}\n", f"  request: {template}\n")
    assert {code for code, *_ in problems(text)} <= ({"SLV-C034", "SLV-C013"} if not ok else set()), problems(text)
    assert bool(problems(text)) != ok


@pytest.mark.parametrize(
    ("path", "ok"),
    [
        ("$.answer", True),
        ("$.choices[0].message.content", True),
        ("$['a b'][-1][1:3].*", True),
        ("$..answer", False),
        ("$.a[?@.b]", False),
        ("$.a[", False),
        ("header:X-Answer", False),
    ],
)
def test_paths_are_names_indexes_slices_and_wildcards(path: str, ok: bool) -> None:
    text = changed("answer: $.answer", f'answer: "{path}"')
    assert [code for code, *_ in problems(text)] == ([] if ok else ["SLV-C035"])


def test_a_header_serves_the_identity_alone() -> None:
    assert problems(changed("version: $.engine.version", "version: header:X-Engine")) == []


def test_faults_of_the_vendor_count_against_it_and_only_they() -> None:
    limit = 'failed_calls:\n  unresolved_max: "0.01"'
    text = changed(limit, "failed_calls:\n  vendor_failure: {counts_as: bounds}")
    assert problems(text) == [("SLV-C036", *place(text, "counts_as: bounds", value=True))]
    text = changed(
        'failed_calls:\n  unresolved_max: "0.01"', "failed_calls:\n  auditor_failure: {counts_as: incorrect}"
    )
    assert problems(text) == [("SLV-C036", *place(text, "counts_as: incorrect", value=True))]


def test_something_has_to_bind_and_not_errors_alone() -> None:
    text = TEXT.replace("severity: binding", "severity: reported")
    assert problems(text) == [("SLV-C031", *place(text, "metrics:\n"))]
    text = TEXT.replace("severity: binding", "severity: reported", 1)
    assert problems(text) == [("SLV-C032", *place(text, "metrics:\n"))]
    pilot = TEXT.replace("severity: binding", "severity: reported").replace("purpose: audit", "purpose: pilot")
    assert problems(pilot) == []


def test_a_denominator_that_an_answer_can_leave() -> None:
    text = changed("among: {stratum: [direct, applied]}", "among: {stratum: [direct, applied], class: [answer]}")
    assert problems(text) == [("SLV-C032", *place(text, "class: [answer]"))]


def test_what_a_draft_still_owes() -> None:
    text = changed("url: http://127.0.0.1:8099/consulta", "url: {pending: vendor}")
    assert problems(text) == [("SLV-C017", *place(text, "url: {pending"))]
    text = changed("url: http://127.0.0.1:8099/consulta", "url: {pending: vendedor}")
    assert problems(text) == [("SLV-C012", *place(text, "pending: vendedor", value=True))]
    tree = set_at(raw_tree(DEMO), "ledger", {"pending": "custodian"})
    assert [code for code, *_ in problems(jcs(tree), "c.json")] == ["SLV-C017"]


def test_every_problem_at_once_in_order_of_place() -> None:
    text = TEXT.replace("size: 620", "size: 621").replace("purpose: audit", "purpos: audit")
    text = text.replace('cap: "0.15"', "cap: 0.15").replace("direction: at_most", "direction: at_mots")
    found = problems(text)
    assert [code for code, *_ in found] == ["SLV-C011", "SLV-C020", "SLV-C012", "SLV-C013"]
    assert found == sorted(found, key=lambda problem: problem[1:])
    assert "purpose" in errors(text)[0].fix.es


def test_credits_that_overlap_or_exceed_the_cap() -> None:
    text = changed('below: "0.80", share: "0.10"', 'below: "0.80", share: "0.01"')
    assert [code for code, *_ in problems(text)] == ["SLV-C037"]
    text = changed('below: "0.80", share: "0.10"', 'below: "0.80", share: "0.30"')
    assert problems(text) == [("SLV-C037", *place(text, 'share: "0.30"', value=True))]
    text = changed('above: "0.10"', 'below: "0.10"')
    assert [code for code, *_ in problems(text)] == ["SLV-C037"]
    text = changed("metric: hallucination, above", "metric: halucination, above")
    assert problems(text) == [("SLV-C037", *place(text, "metric: halucination", value=True))]


def test_the_signing_key_is_one_of_the_auditors_and_the_annex_is_not_the_vendors() -> None:
    text = changed('auditor_spki_sha256: "' + "0" * 63 + '1"', 'auditor_spki_sha256: "' + "0" * 63 + '2"')
    assert problems(text) == [("SLV-C040", *place(text, "auditor_spki_sha256: ", value=True))]
    key = "age1" + "q" * 58
    text = changed("annex_recipients: {}", f"annex_recipients: {{PROVEEDOR demo spa (ficticio): {key}}}")
    assert [code for code, *_ in problems(text)] == ["SLV-C039"]


def test_a_binding_pattern_that_nothing_shows_is_refused_with_its_mend() -> None:
    def found(patterns: list[str], ceiling: str | None) -> list[tuple[str, str]]:
        tree = raw_tree(FULL)
        tree["verdict"]["integrity"].update(binding_patterns=patterns, latency_ceiling_s=ceiling)
        return [(problem.code, problem.fix.en) for problem in errors(jcs(tree), "c.json")]

    assert found(["constant_output", "partial_body", "declared_trace_only"], None) == []
    assert found(["latency_ceiling"], "2.5") == []
    assert found(["constant_outputs"], None) == [("SLV-C048", "did you mean `constant_output`?")]
    ((code, mend),) = found(["floating_version"], None)
    assert code == "SLV-C048" and "partial_body" in mend
    ((code, mend),) = found(["latency_ceiling"], None)
    assert code == "SLV-C048" and "latency_ceiling_s" in mend
