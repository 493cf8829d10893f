"""What one machine holds: bytes per project, scene and memory, and what an opened project costs.

`python -m tests.benchmarks.holdings` stores many small projects and one large one with vectors of 384 values, the
length of the local model's, and prints what they take on disk, in memory and in descriptors; also on PostgreSQL, where
NOVELGEN_TEST_POSTGRES_URL names a database (`. .ci/postgres` starts one). Linux only.
"""

import argparse
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from pydantic import BaseModel, Field
from sqlalchemy import create_engine, text

from novelgen.deadlines import Deadline
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import import_book, ingest_scenes
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from tests.benchmarks.marked_scenes import ENTITIES, marked_scene
from tests.benchmarks.retrieval.book import load_bench_book
from tests.benchmarks.retrieval.fillers import fill_project
from tests.benchmarks.samples import children_of, descriptors, disk_bytes, rss_mb
from tests.benchmarks.workers import LONGEST_S, chroma_server

BOOK = Path(__file__).parents[1] / "data" / "bench_book"
"""Lends its words to the large project."""
SCENES = 6
"""Of a small project with an index; those without one have one scene."""
OPENED = 40
"""Projects that are opened one after another to see what one costs."""


class Stored(BaseModel):
    """What projects of one size take on disk, per project."""

    projects: int
    memories: int = Field(description="Of all kinds, passages included.")
    database_bytes: float
    index_bytes: float = Field(description="0 where the index was left out.")
    memories_per_s: float = Field(description="Stored, the creation of projects included.")


class Opening(BaseModel):
    """What opening a project among many costs."""

    projects: int
    first_ms: float = Field(description="Median, at the first use in a program.")
    again_ms: float = Field(description="Median, of a project that was closed for room.")
    rss_mb_per_project: float = Field(description="While it is among those kept open.")
    descriptors_per_project: float
    descriptors_of_all: int = Field(description="After all were opened, with the default bound.")
    rss_growth_of_all_mb: float = Field(description="From the bound being reached to all having been opened.")


class HoldingsReport(BaseModel):
    """What one machine holds."""

    stored: dict[str, Stored]
    opening: Opening
    index_process_mb: float = Field(description="Resident, of one embedded index after a query.")


def store(stores: MemoryStores, project_ids: Sequence[str], *, scenes: int, index: bool) -> Stored:
    """Create projects of so many scenes and measure them.

    Args:
        stores: Open stores.
        project_ids: Names of projects that do not exist.
        scenes: Scenes per project.
        index: Whether the vector index follows.
    """
    started_s = time.monotonic()
    for number, project_id in enumerate(project_ids):
        stores.create_project(project_id, language="en")
        store_entities(stores, project_id, ENTITIES)
        written = [marked_scene(number, place, 1) for place in range(scenes)]
        ingest_scenes(stores, project_id, written, index=index)
    took_s = time.monotonic() - started_s
    return _stored(stores, project_ids, memories_per_s=_memories(stores, project_ids[0]) * len(project_ids) / took_s)


def store_large(stores: MemoryStores, project_id: str, *, memories: int) -> Stored:
    """Create a project of so many made-up memories, written directly, and measure it."""
    book = load_bench_book(BOOK)
    started_s = time.monotonic()
    import_book(stores, BOOK, project_id=project_id, records=True)
    fill_project(stores, project_id, book, size=memories, progress=lambda *_: None)
    return _stored(stores, [project_id], memories_per_s=memories / (time.monotonic() - started_s))


def _stored(stores: MemoryStores, project_ids: Sequence[str], *, memories_per_s: float) -> Stored:
    """Measure projects of one size, and close them: a closed database has no write-ahead log any more."""
    memories = _memories(stores, project_ids[0])
    stores.close()
    return Stored(
        projects=len(project_ids),
        memories=memories,
        database_bytes=_mean_bytes(stores, project_ids, "novel.db*"),
        index_bytes=_mean_bytes(stores, project_ids, "vectors/**/*"),
        memories_per_s=memories_per_s,
    )


def _memories(stores: MemoryStores, project_id: str) -> int:
    with stores.database(project_id).read() as unit:
        return unit.memories.count()


def measure_opening(settings: NovelgenSettings, project_ids: Sequence[str]) -> Opening:
    """Open projects one after another in a fresh set of stores, then the first ones again.

    Args:
        settings: With the default bound on open databases.
        project_ids: More than the bound.
    """
    bound = settings.max_open_databases
    with MemoryStores(settings) as stores:
        _open(stores, project_ids[0])
        before = (rss_mb(os.getpid()), descriptors())
        first_ms = [_open(stores, each) for each in project_ids[1:bound]]
        at_bound = (rss_mb(os.getpid()), descriptors())
        first_ms += [_open(stores, each) for each in project_ids[bound:]]
        at_end = (rss_mb(os.getpid()), descriptors())
        again_ms = [_open(stores, each) for each in project_ids[:OPENED]]
    opened = min(bound, len(project_ids)) - 1
    return Opening(
        projects=len(project_ids),
        first_ms=median(first_ms),
        again_ms=median(again_ms),
        rss_mb_per_project=(at_bound[0] - before[0]) / opened,
        descriptors_per_project=(at_bound[1] - before[1]) / opened,
        descriptors_of_all=at_end[1],
        rss_growth_of_all_mb=at_end[0] - at_bound[0],
    )


def measure(folder: Path, *, small: int, indexed: int, large: int, postgres: str | None) -> HoldingsReport:
    """Measure small projects, a few with an embedded index, as many on a Chroma server, and a large one.

    Args:
        folder: Empty folder.
        small: Projects of one scene without an index, whose databases are opened in turn.
        indexed: Projects with an index of their own, and again on one Chroma server.
        large: Memories of the large project.
        postgres: A database for the projects on a Chroma server; None leaves that out.
    """
    own, names = _settings(folder / "projects"), [f"small-{number}" for number in range(small)]
    stored: dict[str, Stored] = {}
    with MemoryStores(own) as stores:
        stored["one scene, words only"] = store(stores, names, scenes=1, index=False)
        some = [f"own-{number}" for number in range(indexed)]
        stored["small, own index"] = store(stores, some, scenes=SCENES, index=True)
        stored["large, own index"] = store_large(stores, "large", memories=large)
        process_mb = _index_process_mb(stores, "large")
    stored["small, Chroma server"] = _store_on_servers(folder / "sqlite", indexed, database_url=None)
    if postgres is not None:
        stored["the same, PostgreSQL"] = _store_on_servers(folder / "pg", indexed, database_url=postgres)
    return HoldingsReport(stored=stored, opening=measure_opening(own, names), index_process_mb=process_mb)


def _store_on_servers(folder: Path, projects: int, *, database_url: str | None) -> Stored:
    """Create small projects on a Chroma server, and on PostgreSQL where it is given."""
    with chroma_server(folder / "chroma") as url, MemoryStores(_settings(folder, url, database_url)) as stores:
        # Opened first, so that the empty tables count as nobody's.
        stores.project_ids()
        sizes = [_server_bytes(folder, database_url)]
        names = [f"shared-{uuid.uuid4().hex[:8]}" for _ in range(projects)]
        stored = store(stores, names, scenes=SCENES, index=True)
        sizes.append(_server_bytes(folder, database_url))
    (index_before, sql_before), (index_after, sql_after) = sizes
    database_bytes = stored.database_bytes or (sql_after - sql_before) / projects
    index_bytes = (index_after - index_before) / projects
    return stored.model_copy(update={"index_bytes": index_bytes, "database_bytes": database_bytes})


def _server_bytes(folder: Path, database_url: str | None) -> tuple[int, int]:
    """Return what a Chroma server and a PostgreSQL database take on disk; 0 for a database that is none."""
    index = disk_bytes(folder / "chroma")
    if database_url is None:
        return index, 0
    engine = create_engine(database_url)
    try:
        with engine.connect() as connection:
            size = text("SELECT pg_database_size(current_database())")
            return index, int(connection.execute(size).scalar_one())
    finally:
        engine.dispose()


def _open(stores: MemoryStores, project_id: str) -> float:
    """Open a project's database, read its outline and return the milliseconds."""
    started_s = time.monotonic()
    with stores.database(project_id).read() as unit:
        unit.projects.require()
        unit.memories.count()
    return 1000 * (time.monotonic() - started_s)


def _index_process_mb(stores: MemoryStores, project_id: str) -> float:
    """Return the memory of an index process that has answered a question."""
    index = stores.vectors(project_id)
    index.query(project_id, [[1.0] * index.dimension], top_k=50, deadline=Deadline.after(LONGEST_S))
    return sum(rss_mb(child) for child in children_of(os.getpid()))


def _mean_bytes(stores: MemoryStores, project_ids: Sequence[str], pattern: str) -> float:
    sizes = [
        file.lstat().st_blocks * 512
        for project_id in project_ids
        for file in stores.paths(project_id).database.parent.glob(pattern)
        if file.is_file()
    ]
    return sum(sizes) / len(project_ids)


def _settings(projects_dir: Path, url: str | None = None, database_url: str | None = None) -> NovelgenSettings:
    memory = {"embedding_model": "fake:384", "vector_store": {"url": url}}
    return load_settings(projects_dir=projects_dir, database_url=database_url, memory=memory)


def render(report: HoldingsReport) -> str:
    """Return the report as text."""
    titles = ("projects", "memories", "KB SQL", "KB index", "KB a memory", "memories/s")
    lines = [f"{'per project':22}" + "".join(f"{title:>12}" for title in titles)]
    for name, each in report.stored.items():
        per_memory = (each.database_bytes + each.index_bytes) / each.memories / 1024
        sizes = f"{each.database_bytes / 1024:12.0f}{each.index_bytes / 1024:12.0f}{per_memory:12.1f}"
        lines.append(f"{name:22}{each.projects:12}{each.memories:12}{sizes}{each.memories_per_s:12.1f}")
    opening = report.opening
    kept = f"{opening.rss_mb_per_project:.2f} MB, {opening.descriptors_per_project:.1f} descriptors"
    everything = f"{opening.descriptors_of_all} descriptors, {opening.rss_growth_of_all_mb:+.1f} MB"
    lines += [
        f"opening one of {opening.projects}: {opening.first_ms:.0f} ms, again {opening.again_ms:.0f} ms",
        f"a project kept open: {kept}; all opened in turn: {everything}",
        f"process of an embedded index: {report.index_process_mb:.0f} MB",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.holdings", description=__doc__)
    parser.add_argument("--small", type=int, default=1000, help="small projects, without an index")
    parser.add_argument("--indexed", type=int, default=20, help="small projects with an index")
    parser.add_argument("--large", type=int, default=20_000, help="memories of the large project")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="novelgen-holdings-") as folder:
        report = measure(
            Path(folder),
            small=given.small,
            indexed=given.indexed,
            large=given.large,
            postgres=os.environ.get("NOVELGEN_TEST_POSTGRES_URL"),
        )
    print(render(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
