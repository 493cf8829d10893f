"""Who knows what at a position, with the reading of the story kept for the next question."""

from __future__ import annotations

from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeStory
from novelgen.models.position import StoryPosition
from runtime.search.kept_readings import KeptReadings
from runtime.stores import MemoryStores

REMEMBERED_STORIES = 4
"""Of so many positions the story as it was read is kept in memory, for each opened set of stores."""

_remembered: KeptReadings[KnowledgeRules] = KeptReadings(REMEMBERED_STORIES)


def knowledge_story(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
    """Return the story strictly before a position, as far as it tells who knows what."""
    return knowledge_rules(stores, project_id, as_of=as_of).story


def knowledge_rules(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeRules:
    """Return the rules over that story, which are the same until a write changes what it tells.

    What a character of a game remembers is a write, too, and changes nothing here. The rules keep the words of all
    scenes once they were asked who could have told what.
    """

    def read(former: KnowledgeRules | None) -> KnowledgeRules:
        with stores.database(project_id).read() as unit:
            story = unit.knowledge_story(as_of=as_of)
        return former if former is not None and former.story == story else KnowledgeRules(story)

    return _remembered.read(stores, project_id, as_of, read=read)
