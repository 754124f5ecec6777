"""The commands as people type them: exit codes, what is printed, files that appear and files that are left alone."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from slaverify.cli import run
from slaverify.contract.load import dump_yaml, load_contract, load_draft
from slaverify.resources import resource
from tests.contract.support import DEMO, FULL, raw_tree, set_at

EXAMPLE = resource("contratos", "asistente-normativo-cl.yaml")
ANSWERS = [
    "Asistente de permisos de construcción",
    "Municipalidad de Ejemplo",
    "Responder a vecinos sobre permisos",
    "Vecinos que preguntan requisitos y plazos",
    "1",
    "10",
    "5",
    "5",
    "1",
    "2.500.000 CLP",
    "5",
    "3",
]


@pytest.fixture(autouse=True)
def spanish(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLAVERIFY_LANG", "es")
    monkeypatch.setenv("SLAVERIFY_KEY_PASSPHRASE", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))


def answer(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))


def written(path: Path, tree: dict) -> Path:
    path.write_text(dump_yaml(tree), encoding="utf-8")
    return path


def test_all_examples_are_ok_with_their_table(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(EXAMPLE.parent.glob("*.yaml"))
    assert run(["contract", "check", *map(str, files)]) == 0
    out = capsys.readouterr().out
    assert out.count("OK ") == len(files) >= 7
    assert "n 80/90 %" in out
    assert "el contrato entero" in out


@pytest.mark.parametrize(("alpha", "due"), [("0.05", "149"), ("0.025", "183")])
def test_a_promise_that_can_never_be_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], alpha: str, due: str
) -> None:
    tree = set_at(set_at(raw_tree(DEMO), "metrics.0.threshold", "0.98"), "remedies", ...)
    tree = set_at(tree, "evaluation_set.sample.per_stratum.direct", 100)
    path = written(tmp_path / "c.yaml", set_at(tree, "metrics.0.decision.alpha_pass", alpha))
    for command in ("check", "freeze"):
        assert run(["contract", command, str(path)]) == 2
        err = capsys.readouterr().err
        assert "SLV-S007" in err
        assert f"suba n a {due}" in err
        assert "c.yaml:" in err
    assert not list(tmp_path.glob("*.frozen.yaml"))


def test_check_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contract", "check", "--json", str(DEMO), str(EXAMPLE)]) == 0
    document = json.loads(capsys.readouterr().out)
    first = document["contracts"][0]
    assert first["readiness"]["metrics"][0]["n_pass_80"] == 255
    assert first["readiness"]["whole"]["binding"] == 2
    assert {finding["level"] for finding in first["readiness"]["findings"]} == {"warning"}


def test_a_buyer_who_knows_no_statistics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tender: twelve answers, debts by party, the others fill in, freeze, clause."""
    draft = tmp_path / "bases.yaml"
    answer(monkeypatch, ANSWERS)
    assert run(["contract", "new", "--out", str(draft)]) == 0
    assert capsys.readouterr().err.count("?") <= 14
    assert run(["contract", "check", str(draft)]) == 2
    out = capsys.readouterr().out
    assert "INCOMPLETO" in out
    for role in ("vendor (3)", "auditor (2)", "custodian (3)"):
        assert f"pendiente de {role}" in out
    assert "accuracy ≥ 0.9" in out
    owed = load_draft(draft)
    assert owed.problems == ()
    assert {debt.role for debt in owed.owed} == {"vendor", "auditor", "custodian"}
    assert run(["contract", "freeze", str(draft)]) == 2
    assert "SLV-C017" in capsys.readouterr().err
    text = draft.read_text("utf-8")
    demo = raw_tree(DEMO)
    filled = {
        "  vendor: pending": "  vendor: {name: Proveedor SpA}",
        "  auditor: pending": f'  auditor: {{name: Auditora Ltda., keys: [{{spki_sha256: "{"a" * 64}"}}]}}',
        "  custodian: pending": "  custodian: {name: Notaría Ejemplo}",
        "bank_digest: {pending: custodian}": f"bank_digest: sha256:{'b' * 64}",
        "engine: {pending: vendor}": dump_yaml({"engine": demo["engine"]}).rstrip(),
        "endpoint: {pending: vendor}": dump_yaml({"endpoint": demo["endpoint"]}).rstrip(),
        "ledger: {pending: custodian}": dump_yaml({"ledger": demo["ledger"]}).rstrip(),
    }
    for old, new in filled.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    signature = {**demo["report"]["signature"], "auditor_spki_sha256": "a" * 64}
    block = "\n".join("  " + line for line in dump_yaml({"signature": signature}).rstrip().splitlines())
    draft.write_text(text.replace("  signature: {pending: auditor}", block), encoding="utf-8")
    assert run(["contract", "check", str(draft)]) == 0
    assert run(["contract", "freeze", str(draft)]) == 0
    (frozen,) = tmp_path.glob("*.frozen.yaml")
    capsys.readouterr()
    assert run(["contract", "clause", str(frozen)]) == 0
    article = capsys.readouterr().out
    assert load_contract(frozen).digest in article
    assert "[x]" in article
    assert "{" not in article.split("LISTA")[0]


@pytest.mark.parametrize("doubt", ["1", "2", "3"])
@pytest.mark.parametrize(("hostile", "money"), [("0", ""), ("4", "100000 UF")])
@pytest.mark.parametrize("lang", ["es", "en"])
def test_every_road_through_the_dialogue_gives_a_decidable_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doubt: str, hostile: str, money: str, lang: str
) -> None:
    lines = [*ANSWERS[:7], hostile, doubt, money, *(["5"] if money and money != "100000 UF" else []), "6"]
    answer(monkeypatch, lines)
    path = tmp_path / "d.yaml"
    assert run(["contract", "new", "--out", str(path), "--lang", lang]) == 0
    draft = load_draft(path)
    assert draft.problems == (), [problem.lines("en") for problem in draft.problems]
    assert draft.loaded is not None


def test_new_from_an_example_keeps_what_is_not_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("asistente-normativo-cl", "atencion-clientes", "agente-crm"):
        answer(monkeypatch, ["Mi contrato", "Mi organización"])
        path = tmp_path / f"{name}.yaml"
        assert run(["contract", "new", "--from", name, "--out", str(path)]) == 0
        draft = load_draft(path)
        assert draft.problems == ()
        assert {debt.role for debt in draft.owed} == {"vendor", "auditor", "custodian"}
        assert draft.loaded.model.contract.id == "mi-contrato"
        same = load_contract(resource("contratos", f"{name}.yaml")).model
        assert draft.loaded.model.metrics == same.metrics


def test_new_overwrites_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("mío", encoding="utf-8")
    answer(monkeypatch, ANSWERS)
    assert run(["contract", "new", "--out", str(path)]) == 2
    assert path.read_text("utf-8") == "mío"


def test_a_dialogue_that_ends_early_writes_nothing_and_names_no_option_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, ANSWERS[:3])
    assert run(["contract", "new", "--out", str(tmp_path / "d.yaml")]) == 130
    said = capsys.readouterr().err
    assert said.endswith("interrumpido: la orden no terminó; repítala\n")
    assert "--resume" not in said
    assert list(tmp_path.iterdir()) == []


def test_diff_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = raw_tree(EXAMPLE)
    changed = set_at(set_at(tree, "metrics.0.threshold", "0.83"), "engine.version", "4.3.0")
    changed = set_at(changed, "evaluation_set.bank_digest", "sha256:" + "9" * 64)
    del changed["metrics"][4]
    new = written(tmp_path / "b.yaml", changed)
    assert run(["contract", "diff", str(EXAMPLE), str(new)]) == 0
    seen = capsys.readouterr()
    assert "`metrics.accuracy.threshold` baja de 0.85 a 0.83" in seen.out
    assert "`metrics.unnecessary_abstention` quitado" in seen.out
    assert "SLV-C083" in seen.err
    assert run(["contract", "diff", str(EXAMPLE), str(EXAMPLE)]) == 0
    assert "sin cambios de fondo" in capsys.readouterr().out
    assert run(["contract", "check", str(new), "--against", str(EXAMPLE)]) == 0
    assert "SLV-C083" in capsys.readouterr().err


def test_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contract", "plan", str(EXAMPLE)]) == 0
    out = capsys.readouterr().out
    assert "1620 preguntas, 1860 llamadas" in out
    assert "1200 etiquetas de personas, unas 60 horas" in out
    assert run(["contract", "plan", "--json", str(EXAMPLE)]) == 0
    assert json.loads(capsys.readouterr().out)["work"]["calls"] == 1860
    assert run(["contract", "plan", "--answer-s", "0", str(EXAMPLE)]) == 2


def test_explain_on_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    target = tmp_path / "e.pdf"
    assert run(["contract", "explain", str(EXAMPLE), "--lang", "es", "--pdf", str(target)]) == 0
    assert "CLP 400.000" in capsys.readouterr().out
    with pikepdf.open(target) as document:
        assert len(document.pages) <= 2
        assert document.Root.MarkInfo.Marked


def test_markup_in_a_contract_stays_text() -> None:
    from slaverify.cli.commands.contract_explain import page_html, page_of

    tree = set_at(raw_tree(DEMO), "contract.title", '<img src="https://x.example/"><script>x</script>')
    loaded = load_contract_of(tree)
    html = page_html(page_of(loaded, "es"))
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script" in html


def load_contract_of(tree: dict):
    from tests.contract.support import load_tree

    return load_tree(tree)


def _signed(tmp_path: Path) -> tuple[Path, Path]:
    """A contract signed by three parties, each with another tool: openssl, our command, ssh-keygen."""
    for tool in ("openssl", "ssh-keygen"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")

    def do(*words: str) -> bytes:
        return subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout

    do("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "b.key",
       "-out", "b.crt", "-subj", "/CN=Comprador", "-days", "40",
       "-addext", "keyUsage=critical,digitalSignature")  # fmt: skip
    do("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "a_ssh", "-C", "auditora")
    assert run(["keys", "new", "--role", "vendor", "--org", "Proveedor RAG SpA", "--json"]) == 0
    from hashlib import sha256

    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    from slaverify.cli.wiring import keys_folder
    from slaverify.evidence.envelope import load_key

    buyer = x509.load_pem_x509_certificate((tmp_path / "b.crt").read_bytes()).public_key()
    spki = sha256(buyer.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
    vendor = load_key(keys_folder() / "vendor.signing.pem", str).spki_sha256
    ssh = " ".join((tmp_path / "a_ssh.pub").read_text("utf-8").split()[:2])
    tree = raw_tree(EXAMPLE)
    tree["parties"]["buyer"]["keys"] = [{"spki_sha256": spki}]
    tree["parties"]["vendor"]["keys"] = [{"spki_sha256": vendor}]
    tree["parties"]["auditor"]["keys"].append({"ssh": ssh})
    draft = written(tmp_path / "c.yaml", tree)
    assert run(["contract", "freeze", str(draft), "--out", str(tmp_path / "f.yaml")]) == 0
    frozen, folder = tmp_path / "f.yaml", tmp_path / "asistente-normativo-cl.signatures"
    assert run(["contract", "digest", str(frozen), "--bytes", str(tmp_path / "c.jcs")]) == 0
    assert run(["contract", "sign", str(frozen), "--role", "vendor"]) == 0
    do("openssl", "cms", "-sign", "-binary", "-in", "c.jcs", "-signer", "b.crt", "-inkey", "b.key", "-md", "sha256",
       "-outform", "DER", "-out", str(folder / "buyer.p7s"))  # fmt: skip
    do("ssh-keygen", "-q", "-Y", "sign", "-f", "a_ssh", "-n", "slaverify-contract", "c.jcs")
    shutil.move(tmp_path / "c.jcs.sig", folder / "auditor.sshsig")
    return frozen, folder


def test_three_parties_sign_with_three_tools_and_every_tampered_byte_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from slaverify.cli.commands.contract_sign import standing_of

    frozen, folder = _signed(tmp_path)
    capsys.readouterr()
    assert run(["contract", "check", str(frozen)]) == 0
    out = capsys.readouterr().out
    for role in ("auditor", "buyer", "vendor"):
        assert f"firmado por {role}" in out
    assert "faltan las firmas de: custodian" in out
    loaded = load_contract(frozen)
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        for offset in range(0, len(good), 37):
            path.write_bytes(good[:offset] + bytes([good[offset] ^ 1]) + good[offset + 1 :])
            standing = standing_of(frozen, loaded)
            assert standing.exit_code == 5, (path.name, offset)
            assert standing.faulty[0][0] == path.name
            assert path.stem not in standing.signed
        path.write_bytes(good)
    assert standing_of(frozen, loaded).exit_code == 0
    changed = frozen.read_text("utf-8").replace('threshold: "0.85"', 'threshold: "0.84"')
    other = tmp_path / "g.yaml"
    other.write_text(changed, encoding="utf-8")
    assert run(["contract", "check", str(other)]) == 5
    assert capsys.readouterr().out.count("FIRMA NO VÁLIDA") >= 4
    (folder / "nobody.p7s").write_bytes(b"x")
    assert run(["contract", "check", str(frozen)]) == 5
    assert "nobody.p7s" in capsys.readouterr().out


def test_a_signature_with_its_timestamp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The token is of the signature, verified against the roots of the contract, shown by `check`, and by openssl."""
    from slaverify.cli.demo.servers import serve
    from slaverify.cli.wiring import keys_folder, now
    from slaverify.evidence.envelope import load_key
    from slaverify.evidence.pades.demo import demo_tsa_reply, make_authority

    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    authority = make_authority(now(), name="TSA", policy="1.3.6.1.4.1.99999.1")

    def stamp(request: bytes) -> tuple[int, str, bytes]:
        keys = (authority.key_pem, authority.certificate_pem)
        return 200, "application/timestamp-reply", demo_tsa_reply(request, *keys, now(), policy="1.3.6.1.4.1.99999.1")

    assert run(["keys", "new", "--role", "vendor", "--org", "Proveedor RAG SpA", "--json"]) == 0
    tree = raw_tree(EXAMPLE)
    spki = load_key(keys_folder() / "vendor.signing.pem", str).spki_sha256
    tree["parties"]["vendor"]["keys"] = [{"spki_sha256": spki}]
    with serve(stamp) as url:
        tree["report"]["signature"] |= {"tsa_urls": [f"{url}/tsa"], "tsa_roots": [authority.root_pem.decode()]}
        draft, frozen = written(tmp_path / "c.yaml", tree), tmp_path / "f.yaml"
        assert run(["contract", "freeze", str(draft), "--out", str(frozen)]) == 0
        assert run(["contract", "sign", str(frozen), "--role", "vendor", "--timestamp"]) == 0
    folder = tmp_path / "asistente-normativo-cl.signatures"
    (tmp_path / "root.pem").write_bytes(authority.root_pem)
    words = ["openssl", "ts", "-verify", "-data", "vendor.p7s", "-in", "vendor.tsr", "-CAfile", "../root.pem"]
    assert b"OK" in subprocess.run(words, cwd=folder, capture_output=True, check=True).stdout
    capsys.readouterr()
    assert run(["contract", "check", str(frozen)]) == 0
    assert f"firmado por vendor ({now():%Y-%m-%d}" in capsys.readouterr().out
    token = (folder / "vendor.tsr").read_bytes()
    (folder / "vendor.tsr").write_bytes(token[:-9] + bytes([token[-9] ^ 1]) + token[-8:])
    assert run(["contract", "check", str(frozen)]) == 5
    assert "FIRMA NO VÁLIDA vendor.tsr" in capsys.readouterr().out


def test_sign_refuses_drafts_unknown_keys_and_the_undecidable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frozen, _folder = _signed(tmp_path)
    assert run(["contract", "sign", str(tmp_path / "c.yaml"), "--role", "vendor"]) == 2
    assert "SLV-C053" in capsys.readouterr().err
    from slaverify.cli.wiring import keys_folder

    key = str(keys_folder() / "vendor.signing.pem")
    assert run(["contract", "sign", str(frozen), "--role", "custodian", "--key", key]) == 5
    assert "SLV-C057" in capsys.readouterr().err
    assert run(["contract", "sign", str(frozen), "--role", "auditor"]) == 5
    assert run(["contract", "sign", str(frozen), "--role", "nadie"]) == 2
    assert run(["contract", "sign", str(frozen), "--role", "vendor"]) == 2  # it stands already


def test_a_timestamp_authority_prints_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from slaverify.cli.demo.servers import serve
    from slaverify.cli.wiring import now
    from slaverify.evidence.pades.demo import demo_tsa_reply, make_authority

    authority = make_authority(now())

    def stamp(request: bytes) -> tuple[int, str, bytes]:
        reply = demo_tsa_reply(request, authority.key_pem, authority.certificate_pem, now())
        return 200, "application/timestamp-reply", reply

    with serve(stamp) as url:
        assert run(["keys", "tsa", f"{url}/tsa"]) == 0
        seen = capsys.readouterr()
        assert f'tsa_urls: ["{url}/tsa"]' in seen.out
        assert "BEGIN CERTIFICATE" in seen.out
        assert "política 2.999.1" in seen.err
        assert run(["keys", "tsa", f"{url}/tsa", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["root_in_reply"] is False
    with serve(lambda request: (200, "application/timestamp-reply", request)) as url:
        assert run(["keys", "tsa", f"{url}/tsa"]) == 6
        assert "SLV-R020" in capsys.readouterr().err


def test_schema_is_current(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["contract", "schema", "--check"]) == 0
    assert run(["contract", "schema", "--out", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "s.json").read_text("utf-8"))["$id"] == "urn:slaverify:schema:contract:1"


def test_explain_says_what_is_asked_again_and_what_takes_pass_away() -> None:
    from slaverify.cli.commands.contract_explain import page_html, page_of

    tree = raw_tree(FULL)
    patterns = ["constant_output", "duplicate_answer_bytes", "constant_confidence", "partial_body"]
    tree["verdict"]["integrity"].update(
        binding_patterns=[*patterns, "latency_ceiling", "declared_trace_only"], latency_ceiling_s="2.5"
    )
    loaded = load_contract_of(tree)
    spanish, english = (page_html(page_of(loaded, language)) for language in ("es", "en"))
    assert "un mismo texto para muchas preguntas distintas" in spanish
    assert "una respuesta que tarda más de 2.5 s" in spanish, "es-MX writes a point"
    assert "30 de ellas se hacen 8 veces más" in spanish
    assert "more than 2.5 s" in english and "30 of them are asked 8 more times" in english
    assert "one text for many different questions" in english and "a path that only the vendor declares" in english
