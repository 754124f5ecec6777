"""A vendor that echoes the credential and then points elsewhere: the secret stands nowhere, and nothing goes there."""

from __future__ import annotations

import base64
import json
import re
import zipfile
from pathlib import Path
from urllib.parse import quote

from slaverify.canonical import JsonValue, loads_jsonl
from tests.e2e.line import Place, audit_arguments, make_place, slaverify, tsa, write_contract
from tests.engine.answering_server import AnsweringServer, Reply, Seen
from tests.simulator.arithmetic import VERSION, Calculator, items

SECRET = "clave/canario+8f3a"
FORMS = (SECRET, quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode().rstrip("="))
ENOUGH = 15


def places_with_the_secret(folder: Path) -> list[str]:
    """Return every file under a folder that holds the secret in one of its forms, whole or in what it packs."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found += [str(path) for form in FORMS if form.encode() in data]
    return found


def audited(place: Place, vendor: AnsweringServer) -> tuple[int, str]:
    with tsa(place.authority) as authority:
        auth: JsonValue = {"header": "Authorization", "scheme": "Bearer", "secret": "env:CLAVE", "owner": "vendor"}
        changes: dict[str, JsonValue] = {
            "engine.version": VERSION,
            "engine.accepted_echoes": [VERSION],
            "endpoint.auth": auth,
        }
        write_contract(place, vendor.url, authority, changes)
        done = slaverify(place, *audit_arguments(place))
    return done.returncode, done.stdout + done.stderr


def test_a_credential_in_an_echo_a_redirect_and_a_proxy_variable(tmp_path, monkeypatch):
    calculator = Calculator()
    elsewhere: list[bytes] = []

    def strange(seen: Seen) -> Reply:
        elsewhere.append(seen.raw)
        return Reply({"answer": "1"})

    with AnsweringServer(strange) as other, AnsweringServer(strange) as relay:

        def behaviour(seen: Seen) -> Reply:
            if sum(calculator.asked.values()) >= ENOUGH:
                return Reply({}, status=307, headers=(("Location", other.url), ("X-Key", SECRET)))
            tree = json.loads(calculator.respond(json.dumps(seen.body).encode())[2])
            sent = re.search(rb"Bearer ([^\r]+)", seen.raw)
            return Reply({**tree, "debug": [form for form in FORMS if sent], "echo": sent and sent[1].decode()})

        with AnsweringServer(behaviour) as vendor:
            monkeypatch.setenv("CLAVE", SECRET)
            monkeypatch.setenv("SLAVERIFY_TRACE", "1")
            for name in ("HTTP_PROXY", "http_proxy", "all_proxy"):
                monkeypatch.setenv(name, relay.url)
            place = make_place(tmp_path / "lugar", items(40))
            code, said = audited(place, vendor)
    assert code == 3, said
    assert elsewhere == []
    assert all(f"Bearer {SECRET}".encode() in seen.raw for seen in vendor.seen), "the vendor itself did get it"
    lines = loads_jsonl((place.run / "run" / "outcomes.jsonl").read_bytes())
    assert any("secret_echo" in line["flags"] for line in lines)
    assert any(line["fault"] == "redirect" and line["outcome"] == "engine_mismatch" for line in lines)
    assert not any(form in said for form in FORMS)
    # Journal, bundle, private files, ledger, report: nothing holds it. Archives are stored or opened below.
    assert places_with_the_secret(tmp_path) == []
    for archive in place.run.rglob("*.zip"):
        with zipfile.ZipFile(archive) as opened:
            held = [name for name in opened.namelist() for form in FORMS if form.encode() in opened.read(name)]
        assert held == []
    bodies = [line["response"] for line in loads_jsonl((place.run / "run" / "exchanges.jsonl").read_bytes())[1:]]
    told = [base64.b64decode(body) for body in bodies if body]
    assert any(b"***" in body for body in told)
    assert not any(form.encode() in body for body in told for form in FORMS)
