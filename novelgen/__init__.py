"""A story memory that keeps long fiction consistent.

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

from novelgen.errors import NovelgenError as NovelgenError
from novelgen.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition as StoryPosition
    from runtime.ephemeral import open_ephemeral as open_ephemeral
    from runtime.front_door import Memory as Memory
    from runtime.front_door import open as open
    from runtime.front_door import summarize_scene as summarize_scene
    from runtime.story.story import Story as Story
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "novelgen.models.position": "StoryPosition",
            "runtime.ephemeral": "open_ephemeral",
            "runtime.front_door": "Memory open summarize_scene",
            "runtime.story.story": "Story",
        },
    )
    __all__ += ["NovelgenError", "__version__"]

__version__ = "0.1.0"
