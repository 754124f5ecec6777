"""A vendor for benchmarks, in a process of its own: chat completions over HTTP, a fixed delay, one answer in 20 wrong.

`python -m tests.bench.throughput_stub [--delay SECONDS]` listens on a free port of loopback and prints it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys

from aiohttp import web

CODE = re.compile(r"CODE-(\d+)")


def application(delay_s: float) -> web.Application:
    counts = {"requests": 0, "in_flight": 0, "most_in_flight": 0}
    seen: dict[int, int] = {}

    async def answer(request: web.Request) -> web.Response:
        counts["requests"] += 1
        counts["in_flight"] += 1
        counts["most_in_flight"] = max(counts["most_in_flight"], counts["in_flight"])
        try:
            body = json.loads(await request.read())
            found = CODE.search(body["messages"][-1]["content"])
            number = int(found.group(1)) if found else -1
            seen[number] = seen.get(number, 0) + 1
            await asyncio.sleep(delay_s)
            text = f"El número es {number if number % 20 else number + 1}."
            message = {"role": "assistant", "content": text}
            tree = {
                "id": f"c{counts['requests']}",
                "object": "chat.completion",
                "created": 1,
                "model": "stub-1.0",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
            }
            return web.json_response(tree)
        finally:
            counts["in_flight"] -= 1

    async def statistics(_: web.Request) -> web.Response:
        return web.json_response({**counts, "repeated": sum(times - 1 for times in seen.values())})

    made = web.Application()
    made.router.add_post("/v1/chat/completions", answer)
    made.router.add_get("/stats", statistics)
    return made


async def main(delay_s: float) -> None:
    runner = web.AppRunner(application(delay_s), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.05)
    asyncio.run(main(parser.parse_args().delay))
