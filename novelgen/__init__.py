"""A story memory that keeps long fiction consistent: a scene plan in, what the scene must remember out.

    import novelgen

    with novelgen.open("projects") as memory:
        story = memory.story("demo")
        context = story.context(chapter_index=5, scene_index=4, scene_plan={"purpose": "Open the iron door."})
        print(context.as_prompt())

`open` gives a `Memory`, which gives one `Story` per project. The models that go in and out are in
`novelgen.models`, the errors in `novelgen.errors`. Importing this package loads none of the libraries below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from novelgen.errors import NovelgenError
from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition
    from runtime.ephemeral import open_ephemeral
    from runtime.front_door import Memory, open, summarize_scene
    from runtime.story.story import Story
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "Memory": "runtime.front_door",
            "Story": "runtime.story.story",
            "StoryPosition": "novelgen.models.position",
            "open": "runtime.front_door",
            "open_ephemeral": "runtime.ephemeral",
            "summarize_scene": "runtime.front_door",
        },
    )

__version__ = "0.1.0"
__all__ = [
    "Memory",
    "NovelgenError",
    "Story",
    "StoryPosition",
    "__version__",
    "open",
    "open_ephemeral",
    "summarize_scene",
]
