"""Every case of `endpoint.jsonl`, played by a raw socket server on loopback."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from slaverify.engine.wire import Secrets
from slaverify.errors import EndpointError
from slaverify.run import RunRules, Span
from slaverify.run.inputs import RunState
from slaverify.run.runner import close_run, export_run, probe_endpoint
from tests.engine.certificates import Authority
from tests.engine.endpoints import MAPPING, endpoint_spec
from tests.engine.raw_server import ControlServer, RawServer, SilentListener
from tests.run.world import World, now

KNOWN_GIVEN = {
    *("preflight", "control", "window_ends_after_s", "maintenance", "tls", "resume_with_new_secret", "parameters"),
    *("items", "auth", "canaries", "url", "env", "kill_9_after_durable_results"),
}
KNOWN_SETTINGS = {
    *("adapter", "accepted_echoes", "on_missing", "on_mismatch", "attempts", "total_timeout_s", "retry_after_max_s"),
    *("concurrency", "mapping", "finish_reason_map", "quota_codes", "model_error_codes", "agreed_latency_s"),
    *("max_response_bytes", "repetitions", "error_texts", "cut_markers", "answer_deadline_s", "rate_per_s"),
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
    unknown |= set(option) - {"calls_paid_by", "spki_pinned", "notice_as_contract_says"}
    return f"feature not built yet: {', '.join(sorted(unknown))}" if unknown else None


def compiled(case: dict[str, Any], option: dict[str, str], url: str, controls: list[ControlServer], pins: list[str]):
    settings, given = case["settings"], case["given"]
    response = dict(settings.get("mapping", {}))
    if settings["adapter"] == "json_http@1" and not response:
        response = dict(MAPPING)
    if "finish_reason_map" in settings:
        response["finish_reason"] = {"path": response["finish_reason"], "values": settings["finish_reason_map"]}
    request = {"q": "${query}"} if settings["adapter"] == "json_http@1" else {"model": "m", "messages": "${messages}"}
    request |= given.get("parameters", {})
    call = {
        "total_timeout_s": str(settings["total_timeout_s"]),
        "attempts": settings["attempts"],
        "retry_after_max_s": str(settings["retry_after_max_s"]),
        "concurrency": settings["concurrency"],
        "paid_by": option.get("calls_paid_by", "auditor"),
    }
    for key in ("agreed_latency_s", "answer_deadline_s", "rate_per_s"):
        if key in settings:
            call[key] = str(settings[key])
    if "max_response_bytes" in settings:
        call["max_response_bytes"] = settings["max_response_bytes"]
    more: dict[str, Any] = {}
    if "auth" in given or "resume_with_new_secret" in given:
        more["auth"] = {"secret": "env:KEY"}
    return endpoint_spec(
        given.get("url", url),
        engine={key: settings[key] for key in ("accepted_echoes", "on_missing", "on_mismatch")},
        adapter=settings["adapter"],
        response=response,
        request=request,
        call=call,
        quota_codes=settings.get("quota_codes", []),
        model_codes=settings.get("model_error_codes", []),
        error_texts=settings.get("error_texts", []),
        cut_markers=settings.get("cut_markers", []),
        control_urls=[control.url for control in controls],
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
    for name, value in given.get("env", {}).items():
        monkeypatch.setenv(name, value)
    expected = {**case["expected"]}
    for choice in (expected["by_option"] or {"cases": {}})["cases"]:
        if choice in option.values():
            expected |= expected["by_option"]["cases"][choice]
    controls = [ControlServer(behaviour) for behaviour in given["control"]]
    authority = Authority() if "tls" in given else None
    with SilentListener() as second:
        substitutions = {"second_port": str(second.port)}
        with RawServer(
            case["script"], substitutions=substitutions, tls=authority and authority.chooser(given)
        ) as server:
            scheme = "https" if authority else "http"
            pins = [authority.spki("k1")] if authority and option.get("spki_pinned") == "yes" else []
            spec = compiled(case, option, f"{scheme}://127.0.0.1:{server.port}/v1", controls, pins)
            world = build_world(case, spec, tmp_path, rules(given, option), authority)
            effect = play(world, given)
            check(case, expected, world, effect, server)
        if "second_origin_bytes" in expected:
            assert second.connections() == 0
    for control in controls:
        control.close()


def build_world(case, spec, folder, limits, authority) -> World:
    given, count = case["given"], case["exchanges"]
    repetitions = case["settings"].get("repetitions", 1)
    items = count // repetitions
    canary = given.get("canaries", {})
    ids = [f"{canary['item_id']}-{number}" for number in range(items)] if canary else None
    secrets = Secrets({"env:KEY": "secret-of-the-run"} if spec.auth else {})
    return World(
        folder / "run",
        spec,
        count=items,
        repetitions=repetitions,
        rules=limits,
        queries=given.get("items"),
        ids=ids,
        secrets=secrets,
        roots=authority.pem if authority else None,
    )


def play(world: World, given: dict[str, Any]) -> str:
    if given.get("preflight"):
        try:
            probe_endpoint(world.spec, world.secrets, now)
        except EndpointError:
            return "abort_before_first_item"
    result = world.run()
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


def check(case, expected, world: World, effect: str, server: RawServer) -> None:
    derived = world.derived()
    assert derived.mismatches == ()
    counts = {outcome.value: number for outcome, number in derived.counts.items() if number}
    assert counts == expected["outcomes"]
    assert sum(counts.values()) == case["exchanges"] == expected.get("denominator", case["exchanges"])
    if expected["requests"] is not None:
        assert len(server.requests) == expected["requests"]
    flags = {flag for one in derived.exchanges for flag in one.flags} | {signal.code for signal in derived.signals}
    assert set(expected["flags"]) <= flags
    if expected["run_effect"] in ("stop_resumable", "invalid_run", "pause", "abort_before_first_item"):
        assert effect == expected["run_effect"]
    elif expected["run_effect"] == "limitation" and "request_must_not_contain" not in expected:
        assert "version_missing" in flags
    elif expected["run_effect"] == "none":
        assert effect == "none"
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
    for request in server.requests:
        head = request.partition(b"\r\n\r\n")[0].decode("latin-1")
        names = {line.partition(":")[0].lower() for line in head.split("\r\n")[1:]}
        assert names <= set(expected.get("request_headers_allowed", names))
        for word in expected.get("request_must_not_contain", []):
            assert word.encode() not in request
