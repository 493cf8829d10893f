"""Several worker processes store scenes at once: how many per second, and whether everything is there afterwards.

`python -m tests.benchmarks.workers` measures SQLite with embedded indexes and with a Chroma server, and PostgreSQL with
a Chroma server where NOVELGEN_TEST_POSTGRES_URL names a database (`. .ci/postgres` starts one). Embeddings are hashed,
so that storage is measured. It ends with 1 when something is lost, doubled or does not reach the index.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import product
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import Queue
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.errors import DatabaseBusyError, DeadlineExceededError, VectorIndexError
from runtime.ingest.entities import store_entities
from runtime.ingest.indexing import drain_outbox, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from tests.benchmarks.marked_scenes import ENTITIES, marked_scene
from tests.benchmarks.soak_clients import check_project
from tests.runtime.index.conftest import ServerProcess

Index = Literal["embedded", "server"]
START_TIMEOUT_S = 120.0
LONGEST_S = 1_800.0


class Setting(NamedTuple):
    """What is measured."""

    database_url: str | None
    index: Index
    is_same_project: bool
    workers: int


class Job(NamedTuple):
    """What one worker does."""

    settings: NovelgenSettings
    project_id: str
    project: int
    places: list[int]


class Done(NamedTuple):
    """What one worker did, in the seconds of the monotonic clock, which all processes share."""

    started_s: float
    ended_s: float
    busy: int
    issues: int


class WorkersResult(BaseModel):
    """What one setting came to."""

    database: str
    index: Index
    projects: str
    workers: int
    scenes: int
    scenes_per_s: float
    busy: int = Field(description="Times that a scene had to be offered again, because another writer held on.")
    left_to_owner: int = Field(description="Index entries that waited when the workers had ended.")
    problems: dict[str, int] = Field(description="Lost, half applied, doubled or not indexed; empty is good.")


def measure(folder: Path, setting: Setting, *, scenes: int) -> WorkersResult:
    """Let workers store scenes, then read everything back.

    Args:
        folder: Empty folder for projects and indexes.
        setting: Databases, index, who works on what.
        scenes: Scenes per worker.
    """
    with chroma_server(folder / "chroma") if setting.index == "server" else nullcontext() as url:
        settings = _settings(folder / "projects", setting.database_url, url)
        jobs = _jobs(settings, setting, scenes)
        with MemoryStores(settings) as stores:
            for project_id in {job.project_id for job in jobs}:
                stores.create_project(project_id, language="en")
                store_entities(stores, project_id, ENTITIES)
        done = _worked(jobs)
        left, problems = _read_back(settings, jobs)
    took_s = max(each.ended_s for each in done) - min(each.started_s for each in done)
    return WorkersResult(
        database="SQLite" if setting.database_url is None else "PostgreSQL",
        index=setting.index,
        projects="one" if setting.is_same_project else "one each",
        workers=setting.workers,
        scenes=scenes * setting.workers,
        scenes_per_s=scenes * setting.workers / took_s,
        busy=sum(each.busy for each in done),
        left_to_owner=left,
        problems={name: number for name, number in problems.items() if number},
    )


def _jobs(settings: NovelgenSettings, setting: Setting, scenes: int) -> list[Job]:
    run = uuid.uuid4().hex[:8]
    if setting.is_same_project:
        places = range(scenes * setting.workers)
        return [
            Job(settings, f"workers-{run}", 0, list(places[number :: setting.workers]))
            for number in range(setting.workers)
        ]
    return [Job(settings, f"workers-{run}-{number}", number, list(range(scenes))) for number in range(setting.workers)]


def _worked(jobs: Sequence[Job]) -> list[Done]:
    """Run a process per job; all begin together when each has opened what it can open."""
    context = multiprocessing.get_context("spawn")
    barrier, answers = context.Barrier(len(jobs)), context.Queue()
    processes = [context.Process(target=_work, args=(job, barrier, answers)) for job in jobs]
    for process in processes:
        process.start()
    done = [answers.get(timeout=LONGEST_S) for _ in processes]
    for process in processes:
        process.join()
    return done


def _work(job: Job, barrier: Barrier, answers: Queue[Done]) -> None:
    busy = issues = 0
    with MemoryStores(job.settings) as stores:
        stores.database(job.project_id)
        _start_index(stores, job.project_id)
        barrier.wait(START_TIMEOUT_S)
        started_s = time.monotonic()
        for place in job.places:
            scene = marked_scene(job.project, place, 1)
            while True:
                try:
                    issues += len(ingest_scene(stores, job.project_id, scene).issues)
                    break
                except DatabaseBusyError:
                    busy += 1
        ended_s = time.monotonic()
        # Nobody ends, and gives an index free, before all are done.
        barrier.wait(LONGEST_S)
    answers.put(Done(started_s, ended_s, busy, issues))


def _start_index(stores: MemoryStores, project_id: str) -> None:
    """Start the index where this worker may; of several on one embedded index all but one are refused."""
    try:
        stores.vectors(project_id).wait_started(timeout_s=START_TIMEOUT_S)
    except (VectorIndexError, DeadlineExceededError):
        return


def _read_back(settings: NovelgenSettings, jobs: Sequence[Job]) -> tuple[int, Counter[str]]:
    """Return how many entries the workers left, and what is wrong once the next owner has done them."""
    left, problems = 0, Counter[str]()
    with MemoryStores(settings) as stores:
        for project_id, number in {(job.project_id, job.project) for job in jobs}:
            with stores.database(project_id).read() as unit:
                counts = unit.outbox.counts()
            left += counts["pending"] + counts["failed"]
            problems["not indexed"] += drain_outbox(stores, project_id).waiting
            problems["index differs"] += not verify_index(stores, project_id).is_sound
            places = {place for job in jobs if job.project_id == project_id for place in job.places}
            found = check_project(stores, project_id, number, {place: {1} for place in places})
            problems += found - Counter({name: found[name] for name in ("checked", "indexed")})
    return left, problems


def _settings(projects_dir: Path, database_url: str | None, index_url: str | None) -> NovelgenSettings:
    memory: dict[str, Any] = {"embedding_model": "fake:256", "vector_store": {"url": index_url}}
    return load_settings(projects_dir=projects_dir, database_url=database_url, memory=memory)


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """Run a Chroma server over a folder and give its URL."""
    server = ServerProcess(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.kill()


def render(results: Sequence[WorkersResult]) -> str:
    """Return the results as a table, each beside one worker in the same setting."""
    lines = ["database    index     projects  workers  scenes/s  to one worker  busy  left  problems"]
    single: dict[tuple[str, str, str], float] = {}
    for each in results:
        alone = single.setdefault((each.database, each.index, each.projects), each.scenes_per_s)
        lines.append(
            f"{each.database:11} {each.index:9} {each.projects:9} {each.workers:7} {each.scenes_per_s:9.1f} "
            f"{each.scenes_per_s / alone:14.2f} {each.busy:5} {each.left_to_owner:5}  {each.problems or 'none'}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 when anything is wrong."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.workers", description=__doc__)
    parser.add_argument("--scenes", type=int, default=40, help="scenes per worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    given = parser.parse_args(arguments)
    postgres = os.environ.get("NOVELGEN_TEST_POSTGRES_URL")
    # PostgreSQL is for several machines, and those share a Chroma server.
    places: list[tuple[str | None, Index]] = [(None, "embedded"), (None, "server")]
    places += [(postgres, "server")] if postgres else []
    results: list[WorkersResult] = []
    for (url, index), is_same_project, workers in product(places, (False, True), given.workers):
        with tempfile.TemporaryDirectory(prefix="novelgen-workers-") as folder:
            setting = Setting(url, index, is_same_project, workers)
            results.append(measure(Path(folder), setting, scenes=given.scenes))
        print(render(results).splitlines()[-1], file=sys.stderr)
    print(render(results))
    return 1 if any(each.problems for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
