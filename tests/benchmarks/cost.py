"""What the chain costs in time and memory, beside one bare embedding and one bare Chroma query.

    python -m tests.benchmarks.cost DIR SIZE [SIZE ...] [--runs N] [--work-dir DIR]

A size is 20000 memories in the project, or 2000/100000 with another project of 100,000 beside it; JSON on stdout.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple, TypeVar

import chromadb
import numpy as np
from pydantic import BaseModel, Field

from novelgen.deadlines import Deadline
from novelgen.errors import UserInputError
from novelgen.memory.search import NAMES_ONLY_PURPOSES
from novelgen.models.context import SceneMemoryContext
from runtime.context_chain import build_context_chain
from runtime.doors.cli.parameters import settle_imports
from runtime.ingest.ingest import import_book
from runtime.stores import MemoryStores
from tests.benchmarks.retrieval.bench_stores import load_bench_settings, open_bench_stores
from tests.benchmarks.retrieval.book import BenchBook, BenchPlan, load_bench_book, whole_plan
from tests.benchmarks.retrieval.fillers import chapter_after, fill_project

try:
    import resource
except ImportError:  # Windows counts no peak of this kind
    resource = None  # type: ignore[assignment]

T = TypeVar("T")

RUNS = 20
MEMORY_BUDGET = 2000
BARE_RESULTS = 10
GOAL_FACTOR = 3
HELP_RUNS = 3
MAX_STORED = 1_000_000


class StoredSize(NamedTuple):
    """How much is stored: memories in the project, and in another one beside it."""

    in_project: int
    beside: int = 0


class Timing(BaseModel):
    """Wall times of one thing, in milliseconds."""

    p50_ms: float
    p95_ms: float


class SizeCost(BaseModel):
    """The cost at one size."""

    stored: int = Field(description="Memories in all projects.")
    in_project: int
    chain: Timing
    bare_embedding: Timing = Field(description="One query embedded.")
    bare_search: Timing = Field(description="One Chroma query in this process, without filters.")
    extra_embeddings: Timing = Field(description="The other queries that a context embeds, in one batch.")
    queries_mean: float = Field(description="Queries that a context embeds.")
    goal_p95_ms: float = Field(description="3 x (bare embedding + bare search) + extra embeddings, at p95.")
    stages_ms: dict[str, float] = Field(description="Median per stage of the chain, the largest first.")
    peak_rss_mb: float = Field(description="Peak of this process so far, filling included.")
    problems: list[str] = Field(default_factory=list)


class CostReport(BaseModel):
    """The cost at all sizes."""

    book: str
    runs: int
    sizes: list[SizeCost]
    index_peak_rss_mb: float = Field(description="Peak of the largest process of an index.")
    help_import_s: float = Field(description="Fastest `novelgen --help`, in seconds.")
    python_start_s: float = Field(description="Fastest start of a bare Python, in seconds.")


def parse_size(text: str) -> StoredSize:
    """Read a size: `20000` memories in the project, `2000/100000` with another project of 100,000 beside it."""
    parts = text.strip().split("/")
    is_number = all(part.isascii() and part.isdigit() for part in parts)
    if len(parts) > 2 or not is_number or not all(1 <= int(part) <= MAX_STORED for part in parts):
        raise UserInputError(
            f"size {text!r} cannot be used; write 20000, or 2000/100000 for 2,000 beside another project's 100,000"
        )
    return StoredSize(*(int(part) for part in parts))


def measure_cost(book: BenchBook, work_dir: Path, sizes: Sequence[StoredSize], *, runs: int = RUNS) -> CostReport:
    """Measure the chain without a model, on entering the scene after all that is stored."""
    for count in dict.fromkeys(count for size in sizes for count in size if count):
        _prepare(book, work_dir, count)
    measured = [_measure(book, work_dir, size, runs) for size in sizes]
    return CostReport(
        book=book.folder.resolve().name,
        runs=runs,
        sizes=measured,
        index_peak_rss_mb=_peak_rss_mb(of_children=True),
        help_import_s=_fastest([sys.executable, "-m", "novelgen", "--help"]),
        python_start_s=_fastest([sys.executable, "-c", ""]),
    )


def _project_of(count: int) -> str:
    return f"cost-{count}"


def _prepare(book: BenchBook, work_dir: Path, count: int) -> None:
    """Fill a project, and keep a copy of its index that this process may open."""
    with open_bench_stores(work_dir, memory_budget=MEMORY_BUDGET) as stores:
        import_book(stores, book.folder, project_id=_project_of(count), records=True)
        fill_project(stores, _project_of(count), book, size=count)
        index_folder = stores.paths(_project_of(count)).vectors
    shutil.rmtree(_bare_folder(work_dir, count), ignore_errors=True)
    shutil.copytree(index_folder, _bare_folder(work_dir, count))


def _bare_folder(work_dir: Path, count: int) -> Path:
    return work_dir / "bare-indexes" / str(count)


def _measure(book: BenchBook, work_dir: Path, size: StoredSize, runs: int) -> SizeCost:
    settings = load_bench_settings(work_dir / "projects", memory_budget=MEMORY_BUDGET)
    with MemoryStores(settings) as stores:
        trial = _Trial(stores, book, work_dir, size)
        trial.run_once(book.plans[0], is_counted=False)
        for number in range(runs):
            trial.run_once(book.plans[number % len(book.plans)])
        return trial.result()


class _Trial:
    """Runs the chain and the bare things in turn, so that a loaded machine slows all alike."""

    def __init__(self, stores: MemoryStores, book: BenchBook, work_dir: Path, size: StoredSize) -> None:
        self._stores = stores
        self._project_id = _project_of(size.in_project)
        self._size = size
        self._chapter = chapter_after(book, memories=size.in_project)
        self._chain = build_context_chain(stores, write_files=False)
        client = chromadb.PersistentClient(str(_bare_folder(work_dir, size.in_project)))
        self._bare = max(client.list_collections(), key=lambda each: each.count())
        if size.beside:
            other = _project_of(size.beside)
            stores.vectors(other).query([self._any_vector()], top_k=1, deadline=Deadline.after(60))
        self._times_s: dict[str, list[float]] = {name: [] for name in ("chain", "one", "search", "extra")}
        self._contexts: list[SceneMemoryContext] = []
        self._embedded: list[int] = []

    def run_once(self, plan: BenchPlan, *, is_counted: bool = True) -> None:
        """Time one context, one embedding, one search and the embedding of the chain's other queries."""
        request = {
            "project_id": self._project_id,
            "chapter_index": self._chapter,
            "scene_index": 1,
            "scene_plan": plan.scene_plan.model_copy(update={"scene_number": None}),
        }
        context, chain_s = _timed(lambda: self._chain.invoke(request))
        asked = context.report.queries if context.report else []
        embedded = [query.text for query in asked if query.purpose not in NAMES_ONLY_PURPOSES]
        embeddings = self._stores.embeddings
        vector, one_s = _timed(lambda: embeddings.embed_query(whole_plan(plan.scene_plan)))
        _, search_s = _timed(lambda: self._bare.query(query_embeddings=[np.asarray(vector)], n_results=BARE_RESULTS))
        _, extra_s = _timed(lambda: embeddings.embed_queries(embedded[1:]))
        if is_counted:
            self._contexts.append(context)
            self._embedded.append(len(embedded))
            for name, taken_s in (("chain", chain_s), ("one", one_s), ("search", search_s), ("extra", extra_s)):
                self._times_s[name].append(taken_s)

    def result(self) -> SizeCost:
        """Sum up."""
        timings = {name: _timing(times_s) for name, times_s in self._times_s.items()}
        pair = _timing(
            [one + search for one, search in zip(self._times_s["one"], self._times_s["search"], strict=True)]
        )
        reports = [context.report for context in self._contexts]
        stages = {stage for report in reports for stage in report.timings_s}
        medians = {stage: 1000 * median(report.timings_s.get(stage, 0.0) for report in reports) for stage in stages}
        in_project = self._count(self._project_id)
        beside = self._count(_project_of(self._size.beside)) if self._size.beside else 0
        return SizeCost(
            stored=in_project + beside,
            in_project=in_project,
            chain=timings["chain"],
            bare_embedding=timings["one"],
            bare_search=timings["search"],
            extra_embeddings=timings["extra"],
            queries_mean=mean(self._embedded),
            goal_p95_ms=GOAL_FACTOR * pair.p95_ms + timings["extra"].p95_ms,
            stages_ms=dict(sorted(medians.items(), key=lambda entry: (-entry[1], entry[0]))),
            peak_rss_mb=_peak_rss_mb(),
            problems=sorted({f"{i.stage}: {i.message}" for report in reports for i in report.issues}),
        )

    def _count(self, project_id: str) -> int:
        with self._stores.database(project_id).read() as unit:
            return unit.memories.count()

    def _any_vector(self) -> list[float]:
        return [1.0] + [0.0] * (self._stores.embedding_identity.dimension - 1)


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    started_s = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started_s


def _timing(times_s: Sequence[float]) -> Timing:
    p50, p95 = np.percentile(times_s, [50, 95])
    return Timing(p50_ms=1000 * p50, p95_ms=1000 * p95)


def _peak_rss_mb(*, of_children: bool = False) -> float:
    if resource is None:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_CHILDREN if of_children else resource.RUSAGE_SELF).ru_maxrss
    # Kilobytes on Linux, bytes on macOS.
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _fastest(command: Sequence[str]) -> float:
    return min(_timed(lambda: subprocess.run(command, check=True, capture_output=True))[1] for _ in range(HELP_RUNS))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.cost", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="a book with an answer key")
    parser.add_argument("sizes", nargs="+", type=parse_size, metavar="SIZE")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--work-dir", type=Path)
    given = parser.parse_args(arguments)
    settle_imports()
    with tempfile.TemporaryDirectory(prefix="novelgen-bench-") as temporary:
        place = given.work_dir or Path(temporary)
        report = measure_cost(load_bench_book(given.folder), place, given.sizes, runs=given.runs)
    print(report.model_dump_json(indent=2))


if __name__ == "__main__":
    main()
