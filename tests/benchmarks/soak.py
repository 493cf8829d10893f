"""A soak: clients of one program store, edit and ask for minutes on end, while faults strike at random.

`python -m tests.benchmarks.soak --minutes 30 --clients 8 --seed 1` prints a table, writes JSON with `--out`, and
ends with 1 when a promise is broken. Linux only: what the program holds is read from /proc. With many threads glibc
keeps up to 8 heaps per core, each as large as its own peak: a program that runs for long sets MALLOC_ARENA_MAX=2, and
so should the soak.

Warm-up means two things. Before the clients begin, each database opens as many connections at once as its pool ever
does: 8 stay open, and SQLite keeps the descriptor of the database file of each of the other 16 for the next one (a
descriptor that is closed takes all locks of the program on that file with it), so that otherwise the count creeps up
whenever more threads read at the same moment than ever before. Descriptors beyond this level are a leak. And growth is
measured from the end of the first fifth of the run on, for what fills up as it is used.

`--through http` starts a real `novelgen serve` over the projects and asks it over HTTP; what it holds is then the
server's. Its connections are not opened in advance, so its descriptors are told and not judged.

`--calm` leaves the faults out, to compare the times of few clients and many.

`--chroma` starts a Chroma server, which all projects share and which is killed and frozen as well. What it and a
database server take on disk is told beside the folder of the projects and not judged: neither gives back by itself what
edits leave behind.
"""

import argparse
import logging
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, Field
from sqlalchemy import QueuePool, create_engine, text

from runtime.ingest.entities import store_entities
from runtime.settings import NovelgenSettings, load_settings
from runtime.storage.database import ProjectDatabase
from runtime.stores import MemoryStores
from tests.benchmarks.marked_scenes import ENTITIES
from tests.benchmarks.samples import Sample, disk_bytes, growth, take_sample
from tests.benchmarks.soak_clients import Client, Version, check_project
from tests.benchmarks.soak_faults import DIMENSION, Faults, Outages, answering
from tests.benchmarks.soak_subjects import ServerSubject, StoresSubject, Subject
from tests.runtime.index.conftest import ServerProcess
from tests.support.openai_stub import openai_stub

Through = Literal["calls", "http"]
"""How clients reach the memory: in this program, or a server process."""

WARM_UP = 0.2
"""Share of the run after which what the program holds must not grow."""
MAX_GROWTH: dict[Through, dict[str, float]] = {
    "calls": {"rss_mb": 1.05, "descriptors": 1.05, "disk_mb": 1.2},
    "http": {"rss_mb": 1.05, "disk_mb": 1.2},
}
"""End over base, see `samples.growth`. Disk may wobble: an index keeps room for what was deleted."""
MIN_JUDGED_S = 300.0
"""A shorter run does not get warm, and its growth is reported but not judged."""
SAMPLE_EVERY_S = 3.0
LONGEST_ACT_S = 120.0
BUDGET_S = 10.5


class ActTimes(BaseModel):
    """How often something was done, and how long it took."""

    count: int
    per_s: float
    p50_ms: float
    p95_ms: float
    max_ms: float


class SoakReport(BaseModel):
    """What a soak came to."""

    through: Through
    minutes: float
    load: float = Field(description="Of the machine, the median.")
    most_rss_mb: float
    clients: int
    projects: int
    places: int
    seed: int
    database: str
    index: str
    malloc_arenas: str = Field(description="MALLOC_ARENA_MAX of the run.")
    acts: dict[str, ActTimes]
    contexts_over_budget: int = Field(description="Contexts that took longer than 10.5 s.")
    counts: dict[str, int]
    issues: dict[str, int] = Field(description="What contexts reported, by stage and kind.")
    faults: dict[str, int]
    growth: dict[str, dict[str, float]] = Field(description="Per figure: base after warm-up, end, ratio, slope.")
    samples: list[Sample]
    errors: list[str]
    promises: dict[str, bool | None] = Field(description="None: the run was too short to judge.")

    @property
    def holds(self) -> bool:
        """Whether no promise was broken."""
        return False not in self.promises.values()


class Soak:
    """One run; see `run_soak`."""

    def __init__(
        self,
        folder: Path,
        *,
        clients: int,
        projects: int,
        places: int,
        seed: int,
        database_url: str | None,
        through: Through,
        with_chroma: bool,
        with_faults: bool,
    ) -> None:
        self._folder = folder
        self._chroma = ServerProcess(folder / "chroma") if with_chroma else None
        self._seed = seed
        self._places = places
        self._through = through
        self._outages = Outages()
        self._project_ids = [f"soak-{seed}-{number}" for number in range(projects)]
        self._stop = threading.Event()
        self._ending = ExitStack()
        self._settings = self._settled(database_url)
        self._subject = self._begun()
        self._clients = [
            Client(
                number,
                clients,
                door=self._subject.door(),
                project_ids=self._project_ids,
                places=places,
                stop=self._stop,
                seed=seed,
            )
            for number in range(clients)
        ]
        self._faults = Faults(
            self._subject,
            self._settings,
            self._project_ids,
            self._outages,
            stop=self._stop,
            seed=seed,
            chroma=self._chroma,
        )
        self._actors = (*self._clients, self._faults) if with_faults else tuple(self._clients)

    def _settled(self, database_url: str | None) -> NovelgenSettings:
        memory: dict[str, Any] = {"embedding_model": f"fake:{DIMENSION}"}
        if self._through == "http":
            # A server has no embeddings of this program, so this program answers for them over HTTP.
            providers = self._ending.enter_context(openai_stub(answering(self._outages)))
            memory = {"embedding_model": f"openai:hashed-{DIMENSION}", "embedding_base_url": providers.base_url}
        if self._chroma is not None:
            self._chroma.start()
            self._ending.callback(self._chroma.kill)
            memory["vector_store"] = {"url": self._chroma.url}
        return load_settings(projects_dir=self._folder / "projects", database_url=database_url, memory=memory)

    def _begun(self) -> Subject:
        if self._through == "calls":
            subject = StoresSubject(self._settings, self._outages)
            self._create_projects(subject.stores)
            for project_id in self._project_ids:
                _open_all_connections(subject.stores.database(project_id))
            return subject
        with MemoryStores(self._settings) as stores:
            self._create_projects(stores)
        return ServerSubject(
            self._settings, model_url=str(self._settings.memory.embedding_base_url), log=self._folder / "server.log"
        )

    def _create_projects(self, stores: MemoryStores) -> None:
        for project_id in self._project_ids:
            stores.create_project(project_id, language="en")
            store_entities(stores, project_id, ENTITIES)

    def run(self, *, duration_s: float) -> SoakReport:
        """Let everybody act for so long, then read everything back."""
        started_s = time.monotonic()
        samples: list[Sample] = []
        for thread in self._actors:
            thread.start()
        while (passed_s := time.monotonic() - started_s) < duration_s:
            samples.append(self._sample(passed_s))
            time.sleep(min(SAMPLE_EVERY_S, duration_s / 4))
        self._stop.set()
        errors = self._ended()
        passed_s = time.monotonic() - started_s
        errors += self._subject.close()
        self._outages.end_all()
        with self._ending:
            counts = sum((client.counts for client in self._clients), self._checked())
        return self._report(passed_s, samples, counts, errors)

    def _sample(self, passed_s: float) -> Sample:
        """Look at what is soaked and at its servers."""
        sample = take_sample(self._settings.projects_dir, at_s=passed_s, pid=self._subject.pid)
        return sample._replace(
            database_mb=_database_mb(self._settings.database_url),
            index_server_mb=disk_bytes(self._folder / "chroma") / 2**20,
        )

    def _ended(self) -> list[str]:
        """Wait for all threads and return what should not have happened."""
        for thread in self._actors:
            thread.join(LONGEST_ACT_S)
        errors = [error for client in self._clients for error in client.errors]
        return errors + [f"{each.name} hangs" for each in self._actors if each.is_alive()]

    def _checked(self) -> Counter[str]:
        found: Counter[str] = Counter()
        with MemoryStores(self._settings) as stores:
            for number, project_id in enumerate(self._project_ids):
                found += check_project(stores, project_id, number, self._allowed(number))
        return found

    def _allowed(self, project: int) -> dict[int, set[Version]]:
        nothing: dict[int, set[Version]] = {place: {None} for place in range(self._places)}
        return nothing | {
            place: versions
            for client in self._clients
            for (owner, place), versions in client.ledger.allowed.items()
            if owner == project
        }

    def _report(self, passed_s: float, samples: list[Sample], counts: Counter[str], errors: list[str]) -> SoakReport:
        contexts = [taken_s for client in self._clients for taken_s in client.times_s["context"]]
        grown = {
            name: growth(samples, name, warm_up=WARM_UP)
            for name in (
                *("rss_mb", "children_rss_mb", "children", "descriptors"),
                *("disk_mb", "database_mb", "index_server_mb"),
            )
        }
        return SoakReport(
            through=self._through,
            minutes=passed_s / 60,
            load=median(each.load for each in samples),
            most_rss_mb=max(each.rss_mb for each in samples),
            clients=len(self._clients),
            projects=len(self._project_ids),
            places=self._places,
            seed=self._seed,
            database="SQLite" if self._settings.database_url is None else "PostgreSQL",
            index="embedded" if self._chroma is None else "Chroma server",
            malloc_arenas=os.environ.get("MALLOC_ARENA_MAX", "default" if self._through == "calls" else "2"),
            acts={name: self._times(name, passed_s) for name in ("ingest", "edit", "delete", "context")},
            contexts_over_budget=sum(taken_s > BUDGET_S for taken_s in contexts),
            counts=dict(sorted(counts.items())),
            issues=dict(sum((client.issues for client in self._clients), Counter()).most_common()),
            faults=dict(self._faults.done),
            growth=grown,
            samples=samples,
            errors=errors,
            promises=_promises(
                counts, errors, grown, most=MAX_GROWTH[self._through], is_judged=passed_s >= MIN_JUDGED_S
            ),
        )

    def _times(self, name: str, passed_s: float) -> ActTimes:
        times_ms = np.array([taken_s for client in self._clients for taken_s in client.times_s[name]]) * 1000
        p50, p95, longest = np.percentile(times_ms, [50, 95, 100]) if len(times_ms) else (0, 0, 0)
        count = len(times_ms)
        return ActTimes(count=count, per_s=count / passed_s, p50_ms=p50, p95_ms=p95, max_ms=longest)


def run_soak(
    folder: Path,
    *,
    duration_s: float,
    clients: int,
    projects: int,
    places: int = 40,
    seed: int = 1,
    database_url: str | None = None,
    through: Through = "calls",
    with_chroma: bool = False,
    with_faults: bool = True,
) -> SoakReport:
    """Run a soak in an empty folder.

    Args:
        folder: Takes the projects.
        duration_s: How long clients act; reading everything back comes on top.
        clients: Threads that share the stores.
        projects: Projects on which all clients work.
        places: Scenes that a project may hold, so that it stops growing.
        seed: Of acts and faults.
        database_url: One database for all projects; None is SQLite per project.
        through: How clients reach the memory.
        with_chroma: Whether all projects have their index on one Chroma server.
        with_faults: Whether anything is harmed meanwhile.
    """
    soak = Soak(
        folder,
        clients=clients,
        projects=projects,
        places=places,
        seed=seed,
        database_url=database_url,
        through=through,
        with_chroma=with_chroma,
        with_faults=with_faults,
    )
    return soak.run(duration_s=duration_s)


def _open_all_connections(database: ProjectDatabase) -> None:
    pool = database.database._engine.pool
    assert isinstance(pool, QueuePool)
    with ExitStack() as held:
        for _ in range(pool.size() + pool._max_overflow):
            held.enter_context(database.read())


def _database_mb(url: str | None) -> float:
    """Return what a database server keeps of the projects; 0 where each has a file of its own."""
    if url is None:
        return 0.0
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return float(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0) / 2**20
    finally:
        engine.dispose()


def _promises(
    counts: Counter[str],
    errors: Sequence[str],
    grown: dict[str, dict[str, float]],
    *,
    most: dict[str, float],
    is_judged: bool,
) -> dict[str, bool | None]:
    none_of = {
        "nothing acknowledged is lost": "lost",
        "nothing is half applied": "half applied",
        "no foreign row": "foreign rows",
        "no row of a later scene": "rows of later scenes",
        "every index agrees after repair": "index not repaired",
    }
    promises: dict[str, bool | None] = {text: not counts[name] for text, name in none_of.items()}
    promises["no call raised what it should not, none hangs"] = not errors
    for name, ratio in most.items():
        promises[f"{name} at the end at most {ratio} x after warm-up"] = (
            grown[name]["ratio"] <= ratio if is_judged else None
        )
    return promises


def render(report: SoakReport) -> str:
    """Return the report as text."""
    lines = [
        f"{report.minutes:.1f} minutes, {report.clients} clients, seed {report.seed}",
        f"{report.database}, index: {report.index}, through {report.through}, load of the machine {report.load:.1f}",
        f"{report.projects} projects of up to {report.places} scenes, malloc arenas: {report.malloc_arenas}",
        "",
        f"{'act':10}{'count':>8}{'per s':>8}{'p50 ms':>9}{'p95 ms':>9}{'max ms':>9}",
    ]
    lines += [
        f"{name:10}{each.count:8}{each.per_s:8.2f}{each.p50_ms:9.0f}{each.p95_ms:9.0f}{each.max_ms:9.0f}"
        for name, each in report.acts.items()
    ]
    lines += ["", f"at most {report.most_rss_mb:.0f} MB"]
    lines += ["", f"{'held':16}{'after warm-up':>14}{'end':>10}{'ratio':>8}{'per hour':>10}"]
    lines += [
        f"{name:16}{each['base']:14.1f}{each['end']:10.1f}{each['ratio']:8.3f}{each['slope_per_hour']:10.1f}"
        for name, each in report.growth.items()
    ]
    for title, counted in (("counts", report.counts), ("issues", report.issues), ("faults", report.faults)):
        lines += ["", f"{title}: " + ", ".join(f"{name} {number}" for name, number in counted.items())]
    lines += ["", f"contexts over {BUDGET_S} s: {report.contexts_over_budget}", *report.errors[:20], ""]
    told = {True: "holds", False: "BROKEN", None: "too short to judge"}
    return "\n".join(lines + [f"{told[kept]:8} {text}" for text, kept in report.promises.items()])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 when a promise is broken."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--projects", type=int, default=4)
    parser.add_argument("--places", type=int, default=40, help="scenes that a project may hold")
    parser.add_argument("--through", choices=("calls", "http"), default="calls")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database-url", help="one database for all projects; default: SQLite per project")
    parser.add_argument("--chroma", action="store_true", help="one Chroma server for all projects")
    parser.add_argument("--calm", action="store_true", help="without faults")
    parser.add_argument("--out", type=Path, help="file for the report as JSON")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="novelgen-soak-") as folder:
        report = run_soak(
            Path(folder),
            duration_s=given.minutes * 60,
            clients=given.clients,
            projects=given.projects,
            places=given.places,
            through=given.through,
            seed=given.seed,
            database_url=given.database_url,
            with_chroma=given.chroma,
            with_faults=not given.calm,
        )
    if given.out is not None:
        given.out.write_text(report.model_dump_json(indent=1), encoding="utf-8")
    print(render(report))
    return 0 if report.holds else 1


if __name__ == "__main__":
    sys.exit(main())
