"""Who knows what at a position, with the reading of the story kept for the next question."""

from __future__ import annotations

import threading
import weakref
from typing import NamedTuple

from novelgen.knowledge.rules import KnowledgeRules
from novelgen.knowledge.story import KnowledgeStory
from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores, RecentlyUsed

REMEMBERED_STORIES = 4
"""Of so many positions the story as it was read is kept in memory, for each opened set of stores."""

_Key = tuple[str, StoryPosition]


class _Read(NamedTuple):
    """The rules over a story, and the write to the project up to which it is known to be the same."""

    last_write: tuple[str, int]
    rules: KnowledgeRules


_lock = threading.Lock()
_remembered: weakref.WeakKeyDictionary[MemoryStores, RecentlyUsed[_Key, _Read]] = weakref.WeakKeyDictionary()


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
    """Return the rules over that story, which are the same until a write changes what it tells.

    What a character of a game remembers is a write, too, and changes nothing here. The rules keep the words of all
    scenes once they were asked who could have told what.
    """
    with stores.database(project_id).read() as unit:
        key, last_write = (project_id, as_of), unit.projects.require().last_write
        with _lock:
            kept = _remembered.setdefault(stores, RecentlyUsed(REMEMBERED_STORIES))
            found = kept.get(key)
        if found is not None and found.last_write == last_write:
            return found.rules
        story = unit.knowledge_story(as_of=as_of)
    rules = found.rules if found is not None and found.rules.story == story else KnowledgeRules(story)
    with _lock:
        kept.use(key, _Read(last_write, rules))
        kept.take_surplus()
    return rules
