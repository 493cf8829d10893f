"""Many writers at once lose nothing and never see a locked database within the busy timeout."""

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import InvalidRequestError
from sqlmodel import col

from runtime.storage.database import DatabaseManager
from runtime.storage.records import ConsolidationSource, MemoryRow
from runtime.storage.session import alias_of
from tests.faults.matrix import covers
from tests.runtime.storage.stories import memory, scene
from tests.support.databases import on_both_databases

SCENES_PER_WRITER = 12
OTHER_PROCESS = """
import sys
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import memory, scene
database = DatabaseManager.open(sys.argv[1], create=False, busy_timeout_s=60)
for number in range(int(sys.argv[2])):
    with database.project("demo").write() as unit:
        unit.scenes.replace_scene(scene(90, number, memory(f"P-{number}", "written by another process")))
        print(unit.entities.next_id("character"), flush=True)
database.close()
"""


def _all_at_once(workers: list[Callable[[], None]]) -> list[BaseException]:
    failures: list[BaseException] = []

    def guarded(worker: Callable[[], None]) -> None:
        try:
            worker()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return failures


@pytest.mark.slow
@covers(30)
def test_threads_and_a_second_process_lose_nothing(database_url: str) -> None:
    """All scenes, memories and outbox rows are there, and no id was given twice."""
    database = DatabaseManager.open(database_url, busy_timeout_s=60)
    with database.project("demo").write() as unit:
        unit.projects.create()
    taken: list[str] = []
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, database_url, str(SCENES_PER_WRITER)], stdout=subprocess.PIPE, text=True
    )

    def writer(number: int) -> Callable[[], None]:
        def write() -> None:
            for index in range(SCENES_PER_WRITER):
                with database.project("demo").write() as unit:
                    unit.scenes.replace_scene(scene(number, index, memory(f"T{number}-{index}")))
                    taken.append(unit.entities.next_id("character"))
                with database.project("demo").read() as unit:
                    assert unit.memories.count() > 0

        return write

    failures = _all_at_once([writer(number) for number in range(4)])
    output, _ = process.communicate(timeout=120)
    total = 5 * SCENES_PER_WRITER
    with database.project("demo").read() as unit:
        scenes, chunks = unit.scenes.list_as_of(), unit.memories.index_ids()
        pending = unit.outbox.counts()["pending"]
    database.close()

    assert (failures, process.returncode) == ([], 0)
    assert len(scenes) == len({one.label for one in scenes}) == total
    assert len(chunks) == pending == total
    given = taken + output.split()
    assert len(given) == len(set(given)) == total


@pytest.mark.slow
@on_both_databases
def test_writers_of_one_scene_leave_one_whole_scene(database: DatabaseManager) -> None:
    """Two ingests of the same scene at once: one wins, and nothing of the other remains."""
    versions = {name: [memory(f"{name}-{number}") for number in range(5)] for name in ("A", "B", "C")}

    def writer(name: str) -> Callable[[], None]:
        def write() -> None:
            for _ in range(5):
                with database.project("demo").write() as unit:
                    unit.scenes.replace_scene(scene(1, 1, *versions[name], text=name))

        return write

    failures = _all_at_once([writer(name) for name in versions])
    with database.project("demo").read() as unit:
        (stored,) = unit.scenes.list_as_of(with_text=True)
        ids = unit.memories.index_ids()

    assert failures == []
    assert stored.text is not None
    assert ids == {one.chunk_id for one in versions[stored.text]}


CREATOR = """
import sys
from pathlib import Path
from typing import Any
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from tests.runtime.storage.stories import memory, scene
name = sys.argv[1]
print("ready", flush=True)
for folder in sys.stdin:
    with MemoryStores(NovelgenSettings(projects_dir=Path(folder.strip()))) as stores:
        stores.ensure_project("demo", name="Demo", language="en")
        with stores.database("demo").write() as unit:
            unit.scenes.replace_scene(scene(int(name), 1, memory(f"M{name}")))
    print("stored", flush=True)
"""


@pytest.mark.slow
def test_programs_that_open_a_new_project_at_the_same_moment_all_succeed(tmp_path: Path) -> None:
    """One creates it, the others find it; each stores its scene: as their first deed, and with all of it loaded."""
    with ExitStack() as running:
        creators = [
            running.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", CREATOR, str(number)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for number in range(4)
        ]
        assert [_said_by(each) for each in creators] == ["ready"] * 4
        for attempt in range(3):
            for each in creators:
                assert each.stdin is not None
                each.stdin.write(f"{tmp_path / str(attempt)}\n")
                each.stdin.flush()
            assert [_said_by(each) for each in creators] == ["stored"] * 4
            database = DatabaseManager.open(tmp_path / str(attempt) / "demo" / "data" / "novel.db")
            with database.project("demo").read() as unit:
                assert unit.memories.index_ids() == {"M0", "M1", "M2", "M3"}
            database.close()
        for each in creators:
            each.communicate(timeout=120)
        assert [each.returncode for each in creators] == [0] * 4


def _said_by(program: subprocess.Popen[str]) -> str:
    """Return the next line of a program; nothing where it has ended."""
    assert program.stdout is not None
    return program.stdout.readline().strip()


def test_threads_that_come_together_at_a_new_alias_can_all_join_it() -> None:
    """Its columns are made before any of them asks."""
    failed: list[Exception] = []

    def join(alias: Any, together: threading.Barrier) -> None:
        together.wait()
        links = ConsolidationSource
        try:
            joined = select(col(links.source_row_id)).join(
                alias.row_id.table, alias.row_id == col(links.consolidated_row_id)
            )
            str(joined.where(alias.chapter_index < 3, alias.scene_index < 2))
        except InvalidRequestError as error:
            failed.append(error)

    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            alias, together = alias_of(MemoryRow, "consolidated"), threading.Barrier(8)
            threads = [threading.Thread(target=join, args=(alias, together)) for _ in range(8)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
    finally:
        sys.setswitchinterval(switch_s)
    assert failed == []
