"""The dry run: what it shows is what is sent, it sends nothing itself, and its numbers are those of the contract."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal

import pytest

from slaverify.canonical import JsonValue, jcs
from slaverify.contract import edited
from slaverify.contract.load import dump_yaml, load_contract, parse_contract
from slaverify.engine import compile_endpoint
from slaverify.engine.wire import Secrets
from slaverify.resources import resource
from slaverify.run.forecast import forecast
from slaverify.run.runner import probe_endpoint
from tests.engine.answering_server import AnsweringServer, answer
from tests.run.world import now
from tests.tools.plain_draft import plain

SECRET = "muy-secreto-123456"
AUTH: JsonValue = {"header": "X-Api-Key", "scheme": "", "secret": "env:VENDOR_KEY", "owner": "auditor"}


def contract(url: str, **changes: JsonValue):
    draft = load_contract(resource("contratos", "demo-normativa-cl.yaml"))
    dotted = {name.replace("__", "."): value for name, value in changes.items()}
    return edited(plain(draft.tree), {"endpoint.url": url, **dotted})


def model(url: str = "http://127.0.0.1:9/q", **changes: JsonValue):
    return parse_contract(jcs(contract(url, **changes)), "draft").model


def test_what_is_shown_is_what_is_sent():
    with AnsweringServer(lambda seen: answer("Sí.")) as server:
        found = model(server.url, endpoint__auth=AUTH, endpoint__response={"answer": "$.answer"})
        spec = compile_endpoint(found)
        shown = forecast(found, spec)
        assert server.seen == []
        probe_endpoint(spec, Secrets({"env:VENDOR_KEY": SECRET}), now)
        seen = server.seen[0]
    head, _, body = seen.raw.partition(b"\r\n\r\n")
    assert body == shown.body
    headers = {name.lower(): value for name, value in shown.headers}
    assert headers.pop("x-api-key") == "***"
    lines = (line.partition(": ") for line in head.decode("ascii").split("\r\n")[1:])
    sent = {name.lower(): value for name, _, value in lines}
    assert sent.pop("x-api-key") == SECRET
    assert headers == sent


@pytest.mark.parametrize(
    ("changes", "latency", "likely", "longest"),
    [
        ({"endpoint__call": {"concurrency": 4, "total_timeout_s": "10", "attempts": 1}}, None, 38, 375),
        ({"endpoint__call": {"concurrency": 4, "total_timeout_s": "10", "attempts": 1}}, "2", 75, 375),
        ({"endpoint__call": {"concurrency": 150, "attempts": 1, "rate_per_s": "0.5"}}, None, 300, 300),
        ({"endpoint__call": {"concurrency": 150, "attempts": 2, "total_timeout_s": "10"}}, None, 1, 22),
    ],
)
def test_time(changes, latency, likely, longest):
    found = model(**changes)
    shown = forecast(found, compile_endpoint(found), latency_s=None if latency is None else Decimal(latency))
    assert (shown.likely_s, shown.longest_s) == (likely, longest)


def test_counts_and_cost():
    found = model(repetitions__per_item=2, endpoint__call={"attempts": 3})
    shown = forecast(found, compile_endpoint(found), price=Decimal("0.10"))
    assert (shown.items, shown.exchanges, shown.most_requests, shown.probes) == (150, 300, 900, 7)
    assert (shown.least_cost, shown.most_cost) == (Decimal("30.70"), Decimal("90.70"))


def test_a_second_stage_is_in_what_a_run_takes_at_the_most() -> None:
    doubt = {"extend": {"per_stratum": {"direct": 50}, "spending": ["0.005", "0.0225"]}}
    plain_one, staged = model(), model(verdict__inconclusive=doubt, evaluation_set__sample__release="at_start")
    one, two = (forecast(found, compile_endpoint(found)) for found in (plain_one, staged))
    assert (two.exchanges, two.least_cost) == (one.exchanges, one.least_cost)
    per_item = staged.repetitions.per_item * compile_endpoint(staged).call.attempts
    assert two.most_requests == one.most_requests + 50 * per_item
    assert two.longest_s > one.longest_s


def test_the_command_sends_nothing_reads_no_secret_and_names_ignored_proxies(tmp_path):
    with AnsweringServer(lambda seen: answer("Sí.")) as server:
        path = tmp_path / "contract.yaml"
        path.write_text(dump_yaml(contract(server.url, endpoint__auth=AUTH)), encoding="utf-8")
        environment = {**os.environ, "VENDOR_KEY": SECRET, "HTTPS_PROXY": "http://127.0.0.1:9", "SLAVERIFY_LANG": "en"}
        command = [sys.executable, "-m", "slaverify", "run", str(path), "--dry-run", "--price", "0.1"]
        plain = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        told = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=True)
        assert server.seen == []
    assert "nothing was sent" in plain.stdout and "X-Api-Key: ***" in plain.stdout
    assert "HTTPS_PROXY" in plain.stderr
    assert SECRET not in plain.stdout + plain.stderr + told.stdout + told.stderr
    assert json.loads(told.stdout)["exchanges"] == 150


def test_what_is_asked_beside_the_sample_is_counted():
    arms = {"anchor": 2, "twin": 3, "probe": 4}
    again = {"items": 30, "repeats": 8}
    plain_one, more = model(), model(evaluation_set__sample__arms=arms, repetitions__dispersion_sample=again)
    one, two = (forecast(found, compile_endpoint(found)) for found in (plain_one, more))
    assert two.exchanges - one.exchanges == 2 + 2 * 3 + 4 + 30 * 8
    assert two.most_requests - one.most_requests == (2 + 6 + 4 + 240) * plain_one.endpoint.call.attempts
