"""A server that is killed under load loses nothing that it answered for: 2 ends here, any number by hand."""

import os
from pathlib import Path

import pytest

from runtime.ingest.ingest import ingest_scenes
from runtime.stores import MemoryStores
from runtime.story.scenes import StoryScenes
from tests.crash.clients import check_project
from tests.crash.served_kills import kill_servers, render
from tests.support.demo_project import settings_for
from tests.support.marked_scenes import mark_of, marked_scene, misplaced_marks, position_of

KILLS = int(os.environ.get("NOVELGEN_TEST_SERVED_KILLS", "2"))
SEED = int(os.environ.get("NOVELGEN_TEST_SEED", "20261123"))


@pytest.mark.slow
@pytest.mark.timeout(max(600, KILLS * 60))
def test_no_end_of_a_server_loses_what_it_answered_for(tmp_path: Path) -> None:
    """Ended by SIGTERM and SIGKILL in turn, a server starts again over a whole database with every answered write."""
    report = kill_servers(tmp_path, seed=SEED, kills=KILLS)
    assert report.holds, render(report)
    assert report.writes >= KILLS
    assert (report.found["checked"], len(report.ends_s)) == (60, -(-KILLS // 2))


@pytest.mark.slow
def test_the_end_check_finds_lost_and_foreign_rows(tmp_path: Path) -> None:
    """A scene that is gone, one in another version, and one of another project's text are each counted."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        stores.create_project("p", language="en")
        scenes = [marked_scene(0, 0, 1), marked_scene(0, 1, 1), marked_scene(7, 2, 1)]
        ingest_scenes(stores, "p", scenes, index=False)
        StoryScenes(stores, "p").delete(position_of(0))
        found = check_project(stores, "p", 0, {0: {1}, 1: {2}, 2: {1}, 3: {None}})
    assert (found["checked"], found["lost"], found["index not repaired"]) == (4, 3, 0)
    assert found["foreign rows"] > 0


def test_misplaced_marks_are_told_apart() -> None:
    """Marks of other projects are foreign, marks of the planned scene or after it are late."""
    text = " ".join([mark_of(3, 4, 1), mark_of(3, 5, 1), mark_of(3, 9, 2), mark_of(2, 1, 1)])
    assert misplaced_marks(text, project=3, before=5) == (1, 2)
    assert misplaced_marks(text, project=3, before=None) == (1, 0)
