"""One audit with a judge, all of it real: vendor, judge and timestamp authority on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slaverify.canonical import JsonValue, digest_of
from slaverify.cli.demo.servers import serve
from tests.e2e.line import Place, make_place, tsa, write_contract
from tests.simulator.arithmetic import items as sums
from tests.simulator.judges import MODEL, VERSION, Clerk, JudgeServer, sentinel_lines, text_items


def judge_block(url: str, sentinels: bytes, **changes: JsonValue) -> dict[str, JsonValue]:
    """Return the block `judge` of a contract with one member behind `url`."""
    from slaverify.judging import RUBRICS

    member: JsonValue = {
        "id": "uno",
        "provider": "Laboratorio J",
        "family": "familia-j",
        "snapshot": MODEL,
        "endpoint": {"url": url},
        "adapter": "openai_chat@1",
        "expected_model_echo": MODEL,
        "context_tokens": 32000,
        "response_format": "json_schema",
    }
    return {
        "panel": [member],
        "rubric": {"name": "reglab@1", "digest": RUBRICS["reglab@1"].digest},
        "aggregation": "single",
        "sentinels": {"digest": digest_of(sentinels)},
        "on_uncalibrated": "declared_limitation",
        "repeats": {"sample": 6, "max_flip_rate": {"compliance": "0.5", "quality": "0.5"}},
        "budget": {"calls": 5000, "price_per_call": "0.01"},
        **changes,
    }


@contextmanager
def judged_audit(
    folder: Path, judge: JudgeServer, clerk: Clerk | None = None, *, count: int = 60, **changes: JsonValue
) -> Iterator[Place]:
    """Set up an audit whose answers go to `judge`; serve all until the block ends."""
    place = make_place(folder, [*text_items(count), *sums(0, 20)])
    sentinels = sentinel_lines()
    vendor = clerk or Clerk()
    with serve(vendor.respond) as engine, serve(judge.respond) as panel, tsa(place.authority) as authority:
        write_contract(
            place,
            f"{engine}/q",
            authority,
            {
                "engine.version": VERSION,
                "engine.accepted_echoes": [VERSION],
                "engine.family": "familia-v",
                "engine.base_families": [],
                "method.judge_stage": {"strata": ["direct"], "ask": ["correctness"]},
                "judge": judge_block(f"{panel}/v1/chat/completions", sentinels, **changes),
            },
        )
        (place.folder / "prueba-lineal.sentinels.jsonl").write_bytes(sentinels)
        yield place
