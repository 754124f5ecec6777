"""The bare client for the benchmark: the same requests with aiohttp alone, nothing kept. What no product can beat.

`python -m tests.bench.throughput_loop URL ITEMS CONNECTIONS` prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import aiohttp

from tests.bench.memory import peak_mb


async def main(url: str, count: int, connections: int) -> int:
    numbers = iter(range(count))
    right = 0

    async def worker(session: aiohttp.ClientSession) -> None:
        nonlocal right
        for number in numbers:
            body = {"model": "stub-1", "messages": [{"role": "user", "content": f"¿El número de CODE-{number}?"}]}
            async with session.post(url, json=body) as response:
                tree = await response.json()
            right += f" {number}." in tree["choices"][0]["message"]["content"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=connections)) as session:
        await asyncio.gather(*(worker(session) for _ in range(connections)))
    return right


if __name__ == "__main__":
    began, cpu = time.perf_counter(), time.process_time()
    accurate = asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    print(
        json.dumps(
            {
                "wall_s": time.perf_counter() - began,
                "cpu_s": time.process_time() - cpu,
                "rss_mb": peak_mb(),
                "accurate": accurate,
            }
        )
    )
