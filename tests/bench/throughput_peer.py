"""A peer for the benchmark: inspect-ai asks the same questions of the same stub and scores them. Not part of any check.

It runs in an environment of its own, since none of it is a dependency of ours:
`python -m venv V && V/bin/pip install inspect-ai openai`, then
`V/bin/python tests/bench/throughput_peer.py URL ITEMS CONNECTIONS`.
"""

import json
import resource
import sys
import tempfile
import time


def main(url: str, count: int, connections: int) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    from inspect_ai import Task, __version__
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate

    samples = [
        Sample(input=f"¿Cuál es el número del expediente CODE-{number}?", target=f" {number}.")
        for number in range(count)
    ]
    config = GenerateConfig(max_connections=connections)
    base = url.removesuffix("/chat/completions")
    model = get_model("openai/stub-1", base_url=base, api_key="none", responses_api=False, config=config)
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
    with tempfile.TemporaryDirectory() as folder:
        (log,) = evaluate(task, model=model, log_dir=folder, display="none", max_samples=connections)
    if log.results is None:
        raise SystemExit(str(log.error.message if log.error else log.status))
    accuracy = log.results.scores[0].metrics["accuracy"].value
    told = {
        "peer": f"inspect-ai {__version__}",
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - cpu,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "accurate": round(accuracy * count),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
