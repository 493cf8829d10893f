"""One project of 3,000,000 characters and 100,000 memories: stored, asked, moved, merged, exported and read back.

    python -m tests.benchmarks.large_project [--scenes 5000] [--memories 20] [--keep DIR]

Scenes are made up, embeddings are hashed; the local model comes on top. Linux only.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

from novelgen.models.record import RecordedMemory
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.benchmarks.marked_scenes import ENTITIES, marked_contents, marked_scene, plan_for, position_of
from tests.benchmarks.samples import children_of, disk_bytes, rss_mb

SCENES_AT_ONCE = 100
CONTEXTS = 10


def rich_scene(place: int, memories: int) -> SceneInput:
    """Return a scene whose record holds so many memories."""
    scene = marked_scene(0, place, 1)
    assert scene.record is not None
    kept = list(scene.record.memories)
    version = 2
    while len(kept) < memories:
        contents = marked_contents(0, place, version)[: memories - len(kept)]
        more = [
            RecordedMemory(
                memory_id=f"{place}-{version}-{number}",
                content=content,
                short=content.partition(":")[0],
                importance=5,
                entities=kept[number].entities,
            )
            for number, content in enumerate(contents)
        ]
        kept += more
        version += 1
    record = scene.record.model_copy(update={"memories": kept})
    return scene.model_copy(update={"record": record})


def measure(folder: Path, *, scenes: int, memories: int, tell: Callable[[str], None] = print) -> None:
    """Store a project of so many scenes and time what an author does with it.

    Args:
        folder: Empty folder.
        scenes: How many.
        memories: Of each scene.
        tell: Gets one line for each act.
    """
    settings = load_settings(None, projects_dir=folder / "projects", memory={"embedding_model": "fake:384"})

    def timed(act: str, done: Callable[[], Any], *, times: int = 1) -> None:
        wall_s, cpu_s = time.monotonic(), time.process_time()
        for _ in range(times):
            done()
        wall_s, cpu_s = (time.monotonic() - wall_s) / times, (time.process_time() - cpu_s) / times
        index_mb = sum(rss_mb(child) for child in children_of(os.getpid()))
        peak_mb = getrusage(RUSAGE_SELF).ru_maxrss / 1024
        tell(f"{act:34} {wall_s:8.2f} s {cpu_s:8.2f} CPU s   peak {peak_mb:6.0f} MB, index {index_mb:5.0f} MB")

    with MemoryStores(settings) as stores:
        stores.ensure_project("large", language="en")
        store_entities(stores, "large", ENTITIES)
        characters = 0

        def store_all() -> None:
            nonlocal characters
            for begin in range(0, scenes, SCENES_AT_ONCE):
                written = [rich_scene(place, memories) for place in range(begin, min(scenes, begin + SCENES_AT_ONCE))]
                characters += sum(len(scene.text) for scene in written)
                ingest_scenes(stores, "large", written, index=True)

        timed("ingest, with the index", store_all)
        tell(f"{characters:,} characters, {scenes * memories:,} memories")
        story = Story(stores, "large")
        dice = random.Random(7)

        def context() -> None:
            place = dice.randrange(scenes // 2, scenes)
            at = position_of(place)
            told = story.context(at.chapter_index, at.scene_index, plan_for(place, dice))
            issues.update(issue.message for issue in told.report.issues) if told.report else None

        issues: set[str] = set()
        timed("the first context", context)
        timed(f"a context, mean of {CONTEXTS}", context, times=CONTEXTS)
        for issue in sorted(issues):
            tell(f"  issue: {issue}")
        timed("a search", lambda: story.search("Anna hid the silver ring at the mill"))
        timed("scene list", story.list_scenes)
        timed("a card", lambda: story.entity("Anna"))
        last = position_of(scenes - 1)
        timed("a scene moved to the end", lambda: story.move_scene(source=(2, 1), target=last))
        timed("and back", lambda: story.move_scene(source=last, target=(2, 1)))
        timed("two people merged", lambda: story.merge_entities(keep="C0", gone="C1"))
        timed("undone", story.undo)
        timed("a scene replaced", lambda: ingest_scenes(stores, "large", [marked_scene(0, scenes // 2, 2)]))
        timed("export", lambda: story.export(folder / "export"))
        disk = {part: disk_bytes(folder / part) / 2**20 for part in ("projects", "export")}
        tell(f"disk: project {disk['projects']:.0f} MB, export {disk['export']:.0f} MB")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=5000)
    parser.add_argument("--memories", type=int, default=20, help="of each scene")
    parser.add_argument("--keep", type=Path, help="leave the project in this folder, and go on with what is there")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="novelgen-large-") as folder:
        measure(chosen.keep or Path(folder), scenes=chosen.scenes, memories=chosen.memories)
    return 0


if __name__ == "__main__":
    sys.exit(main())
