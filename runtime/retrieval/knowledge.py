"""Who knows what at a position, with the reading of the story kept for the next question."""

from __future__ import annotations

import threading
import weakref

from novelgen.knowledge.rules import KnowledgeRules
from novelgen.knowledge.story import KnowledgeStory
from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores, RecentlyUsed

REMEMBERED_STORIES = 4
"""Of so many positions the story as it was read is kept in memory, for each opened set of stores."""

_Key = tuple[str, int, StoryPosition]

_lock = threading.Lock()
_remembered: weakref.WeakKeyDictionary[MemoryStores, RecentlyUsed[_Key, KnowledgeRules]] = (
    weakref.WeakKeyDictionary()
)


def knowledge_story(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
    """Return the story strictly before a position, as far as it tells who knows what.

    Args:
        stores: The stores.
        project_id: The project.
        as_of: Position of the read.

    Raises:
        UnknownProjectError: When no such project is stored.
        DatabaseError: When the database fails.
    """
    return knowledge_rules(stores, project_id, as_of=as_of).story


def knowledge_rules(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeRules:
    """Return the rules over that story, which are the same until the project is written to.

    They keep the words of all scenes once they were asked who could have told what.
    """
    with stores.database(project_id).read() as unit:
        key = (project_id, unit.projects.require().story_revision, as_of)
        with _lock:
            kept = _remembered.setdefault(stores, RecentlyUsed(REMEMBERED_STORIES))
            found = kept.get(key)
        if found is not None:
            return found
        read = KnowledgeRules(unit.knowledge_story(as_of=as_of))
    with _lock:
        kept.use(key, read)
        kept.take_surplus()
    return read
