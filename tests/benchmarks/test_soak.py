"""The soak still runs, and finds what it is there to find."""

from pathlib import Path

import pytest

from runtime.ingest.ingest import ingest_scenes
from runtime.stores import MemoryStores
from runtime.story.scenes import StoryScenes
from tests.benchmarks.marked_scenes import mark_of, marked_scene, misplaced_marks, position_of
from tests.benchmarks.samples import Sample, growth
from tests.benchmarks.soak import render, run_soak
from tests.benchmarks.soak_clients import check_project
from tests.support.demo_project import settings_for


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what a program holds is read from /proc")
def test_a_short_soak_keeps_its_promises(tmp_path: Path) -> None:
    """A few seconds with two clients lose nothing; growth is not judged in so short a time."""
    report = run_soak(tmp_path, duration_s=3.0, clients=2, projects=1, places=6)
    assert report.holds, render(report)
    assert report.counts["checked"] == 6
    assert report.promises["nothing acknowledged is lost"] is True
    assert list(report.promises.values()).count(None) == 3
    assert sum(each.count for each in report.acts.values()) > 0


def test_the_end_check_finds_lost_and_foreign_rows(tmp_path: Path) -> None:
    """A scene that is gone, one in another version, and one of another project's text are each counted."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        stores.create_project("p", language="en")
        scenes = [marked_scene(0, 0, 1), marked_scene(0, 1, 1), marked_scene(7, 2, 1)]
        ingest_scenes(stores, "p", scenes, index=False)
        StoryScenes(stores, "p").delete_scene(position_of(0))
        found = check_project(stores, "p", 0, {0: {1}, 1: {2}, 2: {1}, 3: {None}})
    assert (found["checked"], found["lost"], found["index not repaired"]) == (4, 3, 0)
    assert found["foreign rows"] > 0


def test_misplaced_marks_are_told_apart() -> None:
    """Marks of other projects are foreign, marks of the planned scene or after it are late."""
    text = " ".join([mark_of(3, 4, 1), mark_of(3, 5, 1), mark_of(3, 9, 2), mark_of(2, 1, 1)])
    assert misplaced_marks(text, project=3, before=5) == (1, 2)
    assert misplaced_marks(text, project=3, before=None) == (1, 0)


def test_growth_compares_the_end_with_what_came_after_the_warm_up() -> None:
    """The first share is left out, and a steady climb shows in ratio and slope."""
    samples = [Sample(3600.0 * hour, 100.0 + 10 * max(hour, 2), 1, 0, 9, 0) for hour in range(10)]
    grown = growth(samples, "rss_mb", warm_up=0.2)
    assert (grown["base"], grown["end"]) == (125.0, 185.0)
    assert grown["slope_per_hour"] == pytest.approx(10.0)
    assert growth(samples, "descriptors", warm_up=0.2)["ratio"] == 1.0
    assert growth(samples[:1], "rss_mb", warm_up=0.2)["slope_per_hour"] == 0.0
