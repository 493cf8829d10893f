"""The program that is killed: it stores, replaces and deletes scenes, builds contexts, and says what it has done.

Started once for all projects it imports everything, the index's libraries as well, then forks one life per line on
standard input, which holds the arguments of `watch` as JSON. A life prints a JSON line before and after each act; what
was printed after is acknowledged.
"""

import contextlib
import importlib
import json
import os
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from novelgen.errors import UnknownSceneError
from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.index.process import IndexProcess
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from runtime.story.scenes import StoryScenes
from tests.support.demo_project import settings_for
from tests.support.forked_index_processes import IndexForkserver, fork_this_process, launch_with

PROJECT = "killed"
PLACES = 12
MEMORIES = 4


def contents_of(place: int, version: str) -> list[str]:
    """Return the memories that a version of a scene brings; all of them or none may ever be found."""
    return [f"Anna hid ring {number} of {version} at mill {place}." for number in range(MEMORIES)]


def scene_of(place: int, version: str) -> SceneInput:
    """Return a version of the scene at a place."""
    memories = [
        {"memory_id": f"M{place}-{version}-{number}", "content": content}
        for number, content in enumerate(contents_of(place, version))
    ]
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": place,
            "state_changes": [{"entity_id": "C0", "changes": {"version": version}}],
            "memories": memories,
        }
    )
    text = f"Anna came to mill {place} with the ring of {version}."
    return SceneInput(chapter_index=1, scene_index=place, text=text, record=record)


def live(settings: NovelgenSettings, first_place: int, life: int, seed: int) -> None:
    """Act at random until killed."""
    chance = random.Random(seed)
    # A new interpreter for each index process would be killed before it had done anything.
    server = IndexForkserver(fork_this_process)
    server.start()
    IndexProcess.launch = launch_with(server)  # type: ignore[method-assign]
    with MemoryStores(settings) as stores:
        stores.ensure_project(PROJECT, language="en")
        number = 0
        while True:
            number += 1
            _act(stores, chance, first_place, f"v{life}x{number}")


def _act(stores: MemoryStores, chance: random.Random, first_place: int, version: str) -> None:
    kind = chance.choices(("put", "delete", "context"), weights=(6, 1, 2))[0]
    place = first_place + chance.randrange(PLACES)
    if kind == "put":
        _say("begin", place, version)
        # Acknowledged is what SQL has committed; the index follows afterwards.
        done = partial(_acknowledge, place, version)
        ingest_scenes(stores, PROJECT, [scene_of(place, version)], progress=done)
    elif kind == "delete":
        _say("begin", place, None)
        with contextlib.suppress(UnknownSceneError):
            StoryScenes(stores, PROJECT).delete(StoryPosition(1, place))
        _say("done", place, None)
    else:
        plan = ScenePlan(scene_number=place, purpose="Where is the ring of the mill?")
        build_context_chain(stores).invoke(
            MemoryContextRequest(project_id=PROJECT, chapter_index=1, scene_index=place, scene_plan=plan)
        )


def _acknowledge(place: int, version: str, *_: Any) -> None:
    _say("done", place, version)


def _say(what: str, number: int, more: int | str | None) -> None:
    # One write of a short line is whole or not at all, also when the process is killed.
    os.write(1, (json.dumps([what, number, more]) + "\n").encode())


def settings_of(folder: Path, database_url: str | None) -> NovelgenSettings:
    """Return the settings of every program on the story."""
    return settings_for(folder).model_copy(update={"database_url": database_url})


def watch(folder: str, database_url: str | None, first_place: int, life: int, seed: int) -> NoReturn:
    """Fork a life, say its process id and how it ended, each with the first of its places, and end."""
    pid = os.fork()
    if pid == 0:
        live(settings_of(Path(folder), database_url), first_place, life, seed)
    _say("pid", pid, first_place)
    _say("ended", os.waitpid(pid, 0)[1], first_place)
    os._exit(0)


def main() -> None:
    """Let one life begin per line of standard input."""
    # Here and not above: the harness imports this module too, and needs none of the index's libraries.
    importlib.import_module("tests.support.index_forkserver")
    for line in sys.stdin:
        # Lives run side by side: what stands between waits for the end of each.
        if os.fork() == 0:
            watch(**json.loads(line))


if __name__ == "__main__":
    main()
