"""Stories that are made once in a process, of which each test gets a copy of its own."""

import functools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec

import novelgen
from runtime.front_door import Memory
from runtime.story.story import Story

Arguments = ParamSpec("Arguments")
StoryBuilder = Callable[Concatenate[Memory, Arguments], Story]


def copied(build: StoryBuilder[Arguments]) -> StoryBuilder[Arguments]:
    """Let a function that makes a story in an empty memory run once for the same arguments.

    Storing a handful of scenes takes longer than what most tests do with them. The copies are opened as any story of
    a folder is.
    """
    templates: dict[str, tuple[tempfile.TemporaryDirectory[str], str]] = {}

    @functools.wraps(build)
    def open_copy(memory: Memory, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Story:
        key = repr((args, kwargs))
        if key not in templates:
            folder = tempfile.TemporaryDirectory(prefix="novelgen-story-")
            with novelgen.open(folder.name, embeddings=memory.settings.memory.embedding_model) as making:
                templates[key] = folder, build(making, *args, **kwargs).project_id
        folder, project_id = templates[key]
        shutil.copytree(folder.name, Path(memory.settings.projects_dir), dirs_exist_ok=True)
        return memory.story(project_id)

    return open_copy
