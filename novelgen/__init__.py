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
    from novelgen.chains.checked_writing_chain import CheckedWritingChain as CheckedWritingChain
    from novelgen.chains.memory_context_chain import MemoryContextChain as MemoryContextChain
    from novelgen.models.position import StoryPosition as StoryPosition
    from runtime.agents.langgraph import StoryStore as StoryStore
    from runtime.ephemeral import open_ephemeral as open_ephemeral
    from runtime.front_door import Memory as Memory
    from runtime.front_door import open as open
    from runtime.front_door import summarize_scene as summarize_scene
    from runtime.story.character import Character as Character
    from runtime.story.conflicts import StoryConflicts as StoryConflicts
    from runtime.story.continuity import StoryChecks as StoryChecks
    from runtime.story.knowledge import StoryKnowledge as StoryKnowledge
    from runtime.story.lore import StoryLore as StoryLore
    from runtime.story.parts import ChangesPart as ChangesPart
    from runtime.story.parts import EntitiesPart as EntitiesPart
    from runtime.story.parts import MemoriesPart as MemoriesPart
    from runtime.story.parts import ScenesPart as ScenesPart
    from runtime.story.parts import WorldPart as WorldPart
    from runtime.story.relationships import StoryRelationships as StoryRelationships
    from runtime.story.story import Story as Story
    from runtime.story.summaries import StorySummarizing as StorySummarizing
    from runtime.story.threads import StoryThreads as StoryThreads
    from runtime.story.transfer import StoryTransfer as StoryTransfer
    from runtime.story.who_is_who import StoryNameCandidates as StoryNameCandidates
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "novelgen.chains.checked_writing_chain": "CheckedWritingChain",
            "novelgen.chains.memory_context_chain": "MemoryContextChain",
            "novelgen.models.position": "StoryPosition",
            "runtime.agents.langgraph": "StoryStore",
            "runtime.ephemeral": "open_ephemeral",
            "runtime.front_door": "Memory open summarize_scene",
            "runtime.story.character": "Character",
            "runtime.story.conflicts": "StoryConflicts",
            "runtime.story.continuity": "StoryChecks",
            "runtime.story.knowledge": "StoryKnowledge",
            "runtime.story.lore": "StoryLore",
            "runtime.story.parts": "ChangesPart EntitiesPart MemoriesPart ScenesPart WorldPart",
            "runtime.story.relationships": "StoryRelationships",
            "runtime.story.story": "Story",
            "runtime.story.summaries": "StorySummarizing",
            "runtime.story.threads": "StoryThreads",
            "runtime.story.transfer": "StoryTransfer",
            "runtime.story.who_is_who": "StoryNameCandidates",
        },
    )
    __all__ += ["NovelgenError", "__version__"]

__version__ = "0.1.0"
