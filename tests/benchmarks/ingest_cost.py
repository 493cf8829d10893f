"""What taking in a book costs per 100,000 characters, and which share of it the embedding model takes.

    python -m tests.benchmarks.ingest_cost ../shared/bench/xiyouji [--records] [--json]

On a machine that others use, too, only the shares can be compared with another run.
"""

import argparse
import json
import resource
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from runtime.files.project_files import load_book
from runtime.index.embeddings import CheckedEmbeddings
from runtime.ingest.ingest import import_book
from runtime.settings import load_settings
from runtime.stores import MemoryStores

CHARACTERS = 100_000


class TimedEmbeddings(CheckedEmbeddings):
    """An embedding model that adds up what its documents cost.

    Args:
        model: The model.
    """

    def __init__(self, model: CheckedEmbeddings) -> None:
        vars(self).update(vars(model))
        self.texts = 0
        self.wall_s = 0.0
        self.cpu_s = 0.0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed, and note the time."""
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        vectors = super().embed_documents(texts)
        self.wall_s += time.perf_counter() - wall_s
        self.cpu_s += time.process_time() - cpu_s
        self.texts += len(texts)
        return vectors


class TimedStores(MemoryStores):
    """Stores whose embedding model is timed."""

    @cached_property
    def embeddings(self) -> TimedEmbeddings:  # type: ignore[override]
        """The timed model, built at the first call."""
        return TimedEmbeddings(super().embeddings)


def measure(folder: Path, *, records: bool, embedding_model: str) -> dict[str, Any]:
    """Take a book in, in a folder of its own, and return what it cost.

    Args:
        folder: A book as `import-book` takes it.
        records: Whether with its records.
        embedding_model: As the setting `memory.embedding_model`.

    Returns:
        Seconds per 100,000 characters, shares of the model from 0 to 1, peak memory in MB of this process (model
        included) and of the index's.
    """
    characters = sum(len(scene.text) for scene in load_book(folder, records=records).scenes)
    with tempfile.TemporaryDirectory() as projects:
        settings = load_settings(projects_dir=Path(projects), memory={"embedding_model": embedding_model})
        with TimedStores(settings) as stores:
            stores.embeddings.embed_query("warm up")
            wall_s, cpu_s = time.perf_counter(), time.process_time()
            result = import_book(stores, folder, project_id="measured", records=records)
            wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
            model = stores.embeddings
    per_unit = CHARACTERS / characters
    return {
        "book": folder.name,
        "records": records,
        "characters": characters,
        "scenes": len(result.scenes),
        "texts_embedded": model.texts,
        "waiting": result.indexing.waiting,
        "wall_s_per_100k": round(wall_s * per_unit, 2),
        "cpu_s_per_100k": round(cpu_s * per_unit, 2),
        "model_share_of_wall": round(model.wall_s / wall_s, 3),
        "model_share_of_cpu": round(model.cpu_s / cpu_s, 3),
        "peak_mb": _peak_mb(resource.RUSAGE_SELF),
        "peak_mb_of_the_index_process": _peak_mb(resource.RUSAGE_CHILDREN),
    }


def _peak_mb(who: int) -> int:
    return resource.getrusage(who).ru_maxrss // 1024


def main() -> None:
    """Measure and print, for people or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("book", type=Path)
    parser.add_argument("--records", action="store_true")
    parser.add_argument("--embedding-model", default="local")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    cost = measure(arguments.book, records=arguments.records, embedding_model=arguments.embedding_model)
    if arguments.json:
        print(json.dumps(cost))
        return
    told = "with records" if cost["records"] else "text alone"
    print(
        f"{cost['book']}, {told}, {cost['characters']:,} characters: {cost['wall_s_per_100k']} s "
        f"({cost['cpu_s_per_100k']} s of CPU) per 100,000 characters, {cost['model_share_of_wall']:.0%} of it "
        f"({cost['model_share_of_cpu']:.0%} of the CPU time) in the embedding model; at most {cost['peak_mb']} MB, "
        f"index process {cost['peak_mb_of_the_index_process']} MB"
    )


if __name__ == "__main__":
    main()
