"""Every case of `endpoint.jsonl`, played by a raw socket server on loopback."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from slaverify.contract.words import Outcome
from slaverify.engine.wire import Secrets
from slaverify.errors import ContractError, EndpointError
from slaverify.run import RunRules, Span
from slaverify.run.progress import Progress
from slaverify.run.runner import RunState, close_run, export_run, probe_endpoint
from tests.engine.certificates import Authority
from tests.engine.endpoints import MAPPING, endpoint_spec
from tests.engine.raw_server import ControlServer, RawServer, SilentListener
from tests.run.killed import FileLedger
from tests.run.world import World, now

KNOWN_GIVEN = {
    *("preflight", "control", "window_ends_after_s", "maintenance", "tls", "resume_with_new_secret", "parameters"),
    *("items", "auth", "canaries", "url", "env", "own_estimate_tokens", "requested_model", "listen"),
    *("kill_9_after_durable_results", "exposure_withdrawn_items"),
}
KNOWN_SETTINGS = {
    *("adapter", "accepted_echoes", "on_missing", "on_mismatch", "attempts", "total_timeout_s", "retry_after_max_s"),
    *("concurrency", "mapping", "finish_reason_map", "quota_codes", "model_error_codes", "agreed_latency_s"),
    *("max_response_bytes", "repetitions", "error_texts", "cut_markers", "answer_deadline_s", "rate_per_s"),
}
KNOWN_OPTIONS = {"calls_paid_by", "spki_pinned", "notice_as_contract_says", "on_missing", "on_mismatch", "control"}
KNOWN_EFFECTS = {
    "stop_resumable",
    "invalid_run",
    "pause",
    "abort_before_first_item",
    "limitation",
    "flag",
    "none",
    None,
}
KNOWN_EXPECTED = {
    *("retry", "outcomes", "requests", "run_effect", "flags", "record", "by_option", "waits_s_min", "waits_s_max"),
    *("answer", "answers", "denominator", "effective_n", "attribution", "private_items_sent", "proxy_bytes"),
    *("second_origin_bytes", "requests_max", "decoded_bytes_max", "elapsed_s_max_per_attempt"),
    *("request_headers_allowed", "request_must_not_contain", "exit_code"),
}


def cases(vectors_dir: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    found = []
    for line in (vectors_dir / "endpoint.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        option = case["expected"]["by_option"]
        if option is None:
            found.append((case, {}))
        else:
            found += [(case, {option["option"]: name}) for name in option["cases"]]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder = metafunc.config.getoption("--vectors-dir")
    if "case" in metafunc.fixturenames and (folder / "endpoint.jsonl").is_file():
        listed = cases(folder)
        names = [case["id"] + "".join(f"-{key}={value}" for key, value in option.items()) for case, option in listed]
        metafunc.parametrize(("case", "option"), listed, ids=names)


def missing_feature(case: dict[str, Any], option: dict[str, str]) -> str | None:
    unknown = (set(case["given"]) - KNOWN_GIVEN) | (set(case["settings"]) - KNOWN_SETTINGS)
    unknown |= set(option) - KNOWN_OPTIONS
    if case["given"].get("listen") not in (None, True, False):
        unknown.add("given.listen")
    unknown |= {f"expected.{key}" for key in set(case["expected"]) - KNOWN_EXPECTED}
    return f"feature not built yet: {', '.join(sorted(unknown))}" if unknown else None


def compiled(case: dict[str, Any], option: dict[str, str], url: str, controls: list[str], pins: list[str]):
    """The endpoint of a case, from real contract blocks."""
    settings, given = {**case["settings"], **option}, case["given"]
    response = dict(settings.get("mapping", {}))
    if settings["adapter"] == "json_http@1" and not response:
        response = dict(MAPPING)
    if "finish_reason_map" in settings:
        response["finish_reason"] = {
            "path": response.get("finish_reason", "$.choices[0].finish_reason"),
            "values": settings["finish_reason_map"],
        }
    request = {"q": "${query}"} if settings["adapter"] == "json_http@1" else {"model": "m", "messages": "${messages}"}
    request |= given.get("parameters", {})
    if "requested_model" in given:
        request["model"] = given["requested_model"]
    call: dict[str, Any] = {
        "attempts": settings["attempts"],
        "concurrency": settings["concurrency"],
        "paid_by": option.get("calls_paid_by", "auditor"),
    }
    for key in ("total_timeout_s", "retry_after_max_s", "agreed_latency_s", "answer_deadline_s", "rate_per_s"):
        if key in settings:
            call[key] = str(settings[key])
    if case["kind"] == "rate_limit" or "waits_s_min" in case["expected"]:
        call["backoff"] = {"base_s": "1", "jitter_s": "1", "cap_s": "30"}
    if "max_response_bytes" in settings:
        call["max_response_bytes"] = settings["max_response_bytes"]
    more: dict[str, Any] = {}
    if given.get("auth") or "resume_with_new_secret" in given:
        more["auth"] = {"secret": "env:KEY"}
    return endpoint_spec(
        url,
        engine={key: settings[key] for key in ("accepted_echoes", "on_missing", "on_mismatch") if key in settings},
        adapter=settings["adapter"],
        response=response,
        request=request,
        call=call,
        quota_codes=settings.get("quota_codes", []),
        model_codes=settings.get("model_error_codes", []),
        error_texts=settings.get("error_texts", []),
        cut_markers=settings.get("cut_markers", []),
        control_urls=controls,
        tls={"spki_pins": pins},
        **more,
    )


def rules(given: dict[str, Any], option: dict[str, str]) -> RunRules:
    start = now()
    limits = RunRules()
    if "window_ends_after_s" in given:
        until = start + timedelta(seconds=given["window_ends_after_s"])
        limits = replace(limits, window=Span(start - timedelta(seconds=60), until))
    if "maintenance" in given and option.get("notice_as_contract_says") == "yes":
        span = given["maintenance"]
        limits = replace(
            limits,
            maintenance=(Span(start + timedelta(seconds=span["from_s"] - 1), start + timedelta(seconds=span["to_s"])),),
        )
    return limits


def test_vector(case, option, tmp_path, monkeypatch):
    reason = missing_feature(case, option)
    if reason:
        pytest.skip(reason)
    given = case["given"]
    expected = {**case["expected"]}
    for choice in (expected["by_option"] or {"cases": {}})["cases"]:
        if choice in option.values():
            expected |= expected["by_option"]["cases"][choice]
    controls = [ControlServer(behaviour) for behaviour in given["control"]]
    authority = Authority() if "tls" in given else None
    with SilentListener() as second, SilentListener() as proxy:
        substitutions = {"second_port": str(second.port), "proxy_port": str(proxy.port)}
        for name, value in given.get("env", {}).items():
            monkeypatch.setenv(name, value.replace("{proxy_port}", str(proxy.port)))
        tls = authority and authority.chooser(given)
        with RawServer(
            case["script"], substitutions=substitutions, tls=tls, listen=given.get("listen", True)
        ) as server:
            substitutions["port"] = str(server.port)
            url = server._text(given.get("url", f"{'https' if authority else 'http'}://127.0.0.1:{server.port}/v1"))
            pins = [authority.spki("k1")] if authority and option.get("spki_pinned") == "yes" else []
            played = Played(case, option, url, [control.url for control in controls], pins, authority and authority.pem)
            try:
                world = played.world(tmp_path / "run")
            except ContractError as error:
                assert expected["run_effect"] == "abort_before_first_item"
                assert expected.get("exit_code", error.exit_code) == error.exit_code
                return
            effect = play(played, world)
            if effect == "abort_before_first_item":
                assert expected["run_effect"] == effect
                assert not [
                    one for one in server.requests if any(text.encode() in one for text in world.texts.values())
                ]
                return
            check(case, expected, world, effect, server)
        assert second.connections() == 0
        assert proxy.connections() == 0
    for control in controls:
        control.close()


@dataclass
class Played:
    """One case as it is played; another process can build the same world from it."""

    case: dict[str, Any]
    option: dict[str, str]
    url: str
    controls: list[str]
    pins: list[str]
    roots: str | None

    def world(self, folder: Path) -> World:
        given, count = self.case["given"], self.case["exchanges"]
        repetitions = self.case["settings"].get("repetitions", 1)
        items = count // repetitions
        canary = given.get("canaries", {})
        spec = compiled(self.case, self.option, self.url, self.controls, self.pins)
        return World(
            folder,
            spec,
            count=items,
            repetitions=repetitions,
            rules=rules(given, self.option),
            queries=given.get("items") or questions(given.get("own_estimate_tokens"), items),
            ids=[f"{canary['item_id']}-{number}" for number in range(items)] if canary else None,
            secrets=Secrets({"env:KEY": "secret-of-the-run"} if spec.auth else {}),
            probes=bool(given.get("preflight")),
            roots=self.roots,
        )


def questions(estimate: int | list[int] | None, items: int) -> list[str] | None:
    """Return questions of which we estimate so many tokens: one for each word."""
    if estimate is None:
        return None
    sizes = estimate if isinstance(estimate, list) else [estimate] * items
    return [" ".join(f"palabra{number}" for number in range(size)) for size in sizes]


class Deadly(Progress):
    """Kills its own process when so many results are durable."""

    def __init__(self, results: int) -> None:
        super().__init__()
        self.results = results

    def done(self, outcome: Outcome) -> None:
        super().done(outcome)
        if self.count >= self.results:
            os.kill(os.getpid(), signal.SIGKILL)


def live_and_die(played: Played, folder: str, results: int) -> None:
    """Run in a process of its own until the kill."""
    world = played.world(Path(folder))
    world.ledger = FileLedger(Path(folder) / "ledger.jsonl")
    world.folder.mkdir(parents=True, exist_ok=True)
    world.run(progress=Deadly(results))


def play(played: Played, world: World) -> str:
    given = played.case["given"]
    if given.get("preflight"):
        try:
            probe_endpoint(world.spec, world.secrets, now, roots=world.roots)
        except EndpointError:
            return "abort_before_first_item"
    withdrawn = frozenset(
        world.plan.exchanges[place - 1].item_id for place in given.get("exposure_withdrawn_items", [])
    )
    if "kill_9_after_durable_results" in given:
        results = given["kill_9_after_durable_results"]
        process = multiprocessing.get_context("spawn").Process(
            target=live_and_die, args=(played, str(world.folder), results)
        )
        process.start()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        world.ledger = FileLedger(world.folder / "ledger.jsonl")
    result = world.run(withdrawn=withdrawn)
    if given.get("resume_with_new_secret"):
        assert result.state is RunState.STOPPED
        world.secrets = Secrets({"env:KEY": "refreshed-secret"})
        assert world.run().state is RunState.COMPLETE
        return "stop_resumable"
    if result.state is RunState.STOPPED:
        with world.open() as journal:
            close_run(journal, world.spec, world.rules)
            export_run(journal, world.spec, world.rules, world.plan, world.folder)
        return "stop_resumable"
    if result.state is RunState.INVALID:
        return "invalid_run"
    return "pause" if result.reason == "maintenance" else "none"


EXIT = {"stop_resumable": 6, "invalid_run": 3}


def check(case, expected, world: World, effect: str, server: RawServer) -> None:
    derived = world.derived()
    assert derived.mismatches == ()
    counts = {outcome.value: number for outcome, number in derived.counts.items() if number}
    assert counts == expected["outcomes"]
    assert sum(counts.values()) == case["exchanges"] == expected.get("denominator", case["exchanges"])
    if expected["requests"] is not None:
        assert len(server.requests) == expected["requests"]
    flags = {flag for one in derived.exchanges for flag in one.flags} | world.signals().keys()
    assert set(expected["flags"]) <= flags
    wanted = expected["run_effect"]
    assert wanted in KNOWN_EFFECTS
    if wanted in ("stop_resumable", "invalid_run", "pause", "abort_before_first_item"):
        assert effect == wanted
    else:
        # What is flagged or printed does not stop a run.
        assert effect == "none"
    if "exit_code" in expected and effect in EXIT:
        assert expected["exit_code"] == EXIT[effect]
    waits = [second - first for first, second in zip(server.times, server.times[1:], strict=False)]
    for wait, least in zip(waits, expected.get("waits_s_min", []), strict=False):
        assert wait >= least
    for wait, most in zip(waits, expected.get("waits_s_max", []), strict=False):
        assert wait <= most
    answers = [one.answer.text for one in derived.exchanges if one.answer is not None]
    if "answer" in expected:
        assert answers == [expected["answer"]]
    if "answers" in expected:
        assert sorted(answers) == sorted(expected["answers"])
    if "attribution" in expected:
        assert {one.attribution.value for one in derived.exchanges} == {expected["attribution"]}
    if "decoded_bytes_max" in expected:
        with world.open() as journal:
            sizes = [row[0] for row in journal.connection.execute("SELECT decoded_bytes FROM attempt")]
        assert max(sizes) <= expected["decoded_bytes_max"]
    if "effective_n" in expected:
        assert len({one.planned.item_id for one in derived.exchanges}) == expected["effective_n"]
    if "private_items_sent" in expected:
        assert len(server.requests) == expected["private_items_sent"]
    if "requests_max" in expected:
        assert len(server.requests) <= expected["requests_max"]
    if "elapsed_s_max_per_attempt" in expected:
        with world.open() as journal:
            spent = [row[0] for row in journal.connection.execute("SELECT end_ns - start_ns FROM attempt")]
        assert max(spent) / 1e9 <= expected["elapsed_s_max_per_attempt"]
    for request in server.requests:
        head = request.partition(b"\r\n\r\n")[0].decode("latin-1")
        names = {line.partition(":")[0].lower() for line in head.split("\r\n")[1:]}
        assert names <= set(expected.get("request_headers_allowed", names))
        for word in expected.get("request_must_not_contain", []):
            assert word.encode() not in request
