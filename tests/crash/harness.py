"""Kills one of two programs on a story at random moments and compares the stores with what both acknowledged."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue

from sqlalchemy import create_engine, make_url, text

from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import StoryPosition
from runtime.ingest.indexing import verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.settings import NovelgenSettings
from runtime.storage.database import DatabaseManager, UnitOfWork
from runtime.stores import MemoryStores
from tests.crash.victim import PLACES, PROJECT, contents_of, scene_of, settings_of
from tests.support.forked_index_processes import SINGLE_THREADED

REPOSITORY = Path(__file__).resolve().parents[2]
ACTS_OF_A_LIFE = (0, 1, 2, 4, 8)
LONGEST_REST_S = 0.4
GUARD_S = 120.0


@dataclass
class Acknowledged:
    """What stands at each place as far as the victim said; an act under way may have happened or not."""

    first_place: int = 1
    versions: dict[int, str | None] = field(default_factory=dict)
    under_way: tuple[int, str | None] | None = None
    acts: int = 0

    @property
    def program(self) -> str:
        """Return the name of the program that acknowledges, as a server knows it."""
        return f"novelgen-from-{self.first_place}"

    def hear(self, what: str, place: int, version: str | None) -> None:
        """Take a line of the victim in."""
        if what == "begin":
            self.under_way = (place, version)
        elif what == "done":
            self.versions[place] = version
            self.under_way = None
            self.acts += 1


def kill_again_and_again(
    nursery: Nursery, folder: Path, *, seed: int, kills: int, database_url: str | None = None
) -> tuple[int, int]:
    """Kill a project's program so often, check the database after each kill and all stores at the end.

    Another program writes to other places of the same story all the while, and is killed at the end alone. What both
    acknowledged is returned, as the numbers of their acts.
    """
    chance = random.Random(seed)
    settings = settings_of(folder, database_url)
    acknowledged, beside = Acknowledged(), Acknowledged(first_place=PLACES + 1)
    companion = nursery.begin(settings, beside, life=kills, seed=chance.randrange(1 << 30))
    companion.wait_for_acts(1)
    for number in range(kills):
        life = nursery.begin(settings, acknowledged, life=number, seed=chance.randrange(1 << 30))
        life.wait_for_acts(chance.choice(ACTS_OF_A_LIFE))
        time.sleep(chance.uniform(0.0, LONGEST_REST_S))
        life.kill(with_worker=chance.random() < 0.5)
        require_acknowledged(settings, acknowledged, where=f"seed {seed}, after kill {number + 1}")
    companion.kill(with_worker=False)
    require_acknowledged(settings, beside, where=f"seed {seed}, the other program's")
    require_stores_agree(settings, where=f"seed {seed}, at the end")
    return acknowledged.acts, beside.acts


def require_acknowledged(settings: NovelgenSettings, acknowledged: Acknowledged, *, where: str) -> None:
    """Compare the database with what was acknowledged; what was under way is taken as it is found, whole."""
    file = settings.projects_dir / PROJECT / "data" / "novel.db"
    if settings.database_url is None and not file.exists():
        assert not acknowledged.versions, f"{where}: the database is gone"
        return
    database = DatabaseManager.open(settings.database_url or file, busy_timeout_s=GUARD_S)
    try:
        if settings.database_url is not None:
            _wait_for_ends(settings.database_url, acknowledged)
        with database.project(PROJECT).read() as unit:
            if unit.projects.get() is None:
                assert not acknowledged.versions, f"{where}: the project is gone"
                return
            for place in range(acknowledged.first_place, acknowledged.first_place + PLACES):
                found = _version_at(unit, place, where=where)
                allowed = {acknowledged.versions.get(place)}
                if acknowledged.under_way is not None and acknowledged.under_way[0] == place:
                    allowed.add(acknowledged.under_way[1])
                assert found in allowed, f"{where}: place {place} holds {found!r}, allowed {allowed!r}"
                acknowledged.versions[place] = found
            acknowledged.under_way = None
    finally:
        database.close()


def _wait_for_ends(database_url: str, acknowledged: Acknowledged) -> None:
    """Wait until the server has ended what a killed program asked of it, which it may still commit."""
    asked = text(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = :name AND datname = current_database()"
    )
    engine = create_engine(database_url)
    end = time.monotonic() + GUARD_S
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while connection.execute(asked, {"name": acknowledged.program}).scalar_one():
            assert time.monotonic() < end, f"the server still works for {acknowledged.program}"
            time.sleep(0.02)
    engine.dispose()


def _version_at(unit: UnitOfWork, place: int, *, where: str) -> str | None:
    """Return which version stands at a place, having checked that all of it is there, once, and nothing else."""
    stored = unit.scenes.get(StoryPosition(1, place))
    memories = [chunk.content for chunk in unit.memories.of_scenes([(1, place)], content_types=["memory"])]
    changes = [change.value for change in unit.states.changes_of() if change.scene_index == place]
    if stored is None:
        assert (memories, changes) == ([], []), f"{where}: place {place} is empty, but {memories!r} {changes!r}"
        return None
    (version,) = changes
    assert stored.text == scene_of(place, version).text, f"{where}: place {place} is of two versions"
    assert sorted(memories) == contents_of(place, version), f"{where}: place {place} of {version!r}: {memories!r}"
    return str(version)


def require_stores_agree(settings: NovelgenSettings, *, where: str) -> None:
    """After one more scene the index holds exactly what SQL says, and every context file is whole."""
    with MemoryStores(settings) as stores:
        stores.ensure_project(PROJECT, language="en")
        # Whatever the kills cost the index is found and mended by who writes next.
        result = ingest_scene(stores, PROJECT, scene_of(2 * PLACES + 1, "last")).indexing
        assert (result.waiting, result.issues) == (0, []), f"{where}: {result!r}"
        verification = verify_index(stores, PROJECT)
        assert verification.is_sound, f"{where}: {verification}: {verification.lost_ids!r}"
    for file in (settings.projects_dir / PROJECT).glob("scene_*_memory.json"):
        SceneMemoryContext.model_validate_json(file.read_bytes())


class Nursery:
    """The victims' parent process, seen from the harness."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lives: dict[int, Life] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def begin(self, settings: NovelgenSettings, acknowledged: Acknowledged, *, life: int, seed: int) -> Life:
        """Let a program begin to act on a project, beside another one at most."""
        url = settings.database_url
        if url is not None:
            named = make_url(url).update_query_dict({"application_name": acknowledged.program})
            url = named.render_as_string(hide_password=False)
        first_place = acknowledged.first_place
        begun = self._lives[first_place] = Life(acknowledged)
        told = {"folder": str(settings.projects_dir), "database_url": url, "first_place": first_place}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({**told, "life": life, "seed": seed}) + "\n")
        self._process.stdin.flush()
        begun.pid = begun.wait_for("pid")
        return begun

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            what, number, more = json.loads(line)
            first_place = more if what in ("pid", "ended") else number - (number - 1) % PLACES
            self._lives[first_place].lines.put((what, number, more))


class Life:
    """A program that acts until it is killed."""

    def __init__(self, acknowledged: Acknowledged) -> None:
        self.pid = 0
        self.lines: Queue[tuple[str, int, str | None]] = Queue()
        self._acknowledged = acknowledged
        self._acts_before = acknowledged.acts

    def wait_for_acts(self, number: int) -> None:
        """Wait until it has acknowledged so many acts; however slow the machine is, it gets to them."""
        while self._acknowledged.acts - self._acts_before < number:
            self.wait_for("done")

    def kill(self, *, with_worker: bool) -> None:
        """Kill it, and with it the process of its index where asked and where there is one."""
        workers = _children_of(self.pid) if with_worker else []
        for pid in (self.pid, *workers):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status = self.wait_for("ended")
        assert os.WIFSIGNALED(status), f"the victim ended by itself: {status}"

    def wait_for(self, what: str) -> int:
        """Take in what it says up to a line of this kind, and return that line's number."""
        while True:
            try:
                said, number, more = self.lines.get(timeout=GUARD_S)
            except Empty:
                raise AssertionError(f"the victim's parent never said {what!r}") from None
            self._acknowledged.hear(said, number, more)
            if said == what:
                return number


@contextlib.contextmanager
def opened_nursery() -> Iterator[Nursery]:
    """A process from which victims come."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.victim"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env=os.environ | SINGLE_THREADED,
    )
    try:
        yield Nursery(process)
    finally:
        process.kill()
        process.communicate()


def _children_of(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text(encoding="ascii").split()]
    return found
