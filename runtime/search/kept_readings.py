"""Cached readings of a story at a position, until a write."""

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeStory
from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores, RecentlyUsed

Reading = TypeVar("Reading")
Question = tuple[str, Hashable]


class _Kept(NamedTuple, Generic[Reading]):
    """A reading, and the write to the project up to which it is known to hold."""

    last_write: tuple[str, int]
    reading: Reading


class KeptReadings(Generic[Reading]):
    """Cache of story readings, invalidated by a project's writes.

    The position belongs to the question, so that nothing is told at one which was read at another. Answers are
    shared between all who ask: nobody may change one. Safe between threads.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: weakref.WeakKeyDictionary[MemoryStores, RecentlyUsed[Question, _Kept[Reading]]]
        self._kept = weakref.WeakKeyDictionary()

    def read(
        self,
        stores: MemoryStores,
        project_id: str,
        key: Hashable,
        *,
        last_write: tuple[str, int],
        read: Callable[[Reading | None], Reading],
        is_whole: Callable[[Reading], bool] = lambda _: True,
    ) -> Reading:
        """Return the cached reading, reading incomplete ones again.

        Args:
            stores: The stores of the project.
            project_id: The project.
            key: What is read, with its position.
            last_write: The project's write, read before: a reading is never older than the write it is kept under.
            read: Reads, given the former reading.
            is_whole: Tells whether a kept reading needs no other.
        """
        question = (project_id, key)
        with self._lock:
            kept_recently_used = self._kept.setdefault(stores, RecentlyUsed(self._limit))
            result = kept_recently_used.get(question)
        if result is not None and result.last_write == last_write and is_whole(result.reading):
            return result.reading
        reading = read(None if result is None else result.reading)
        with self._lock:
            kept_recently_used.use(question, _Kept(last_write, reading))
            kept_recently_used.take_surplus()
        return reading


def last_write_of(stores: MemoryStores, project_id: str) -> tuple[str, int]:
    """Return the mark of a project's last write."""
    with stores.database(project_id).read() as unit:
        return unit.projects.require().last_write


REMEMBERED_RULES = 4
"""Of so many positions the story as it was read is kept in memory, for each opened set of stores."""

_rules: KeptReadings[KnowledgeRules] = KeptReadings(REMEMBERED_RULES)


def knowledge_story(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
    """Return the story before a position, for knowledge rules."""
    return knowledge_rules(stores, project_id, as_of=as_of).story


def knowledge_rules(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> KnowledgeRules:
    """Return the knowledge rules, cached until a relevant write.

    What a character of a game remembers is a write, too, and changes nothing here. The rules keep the words of all
    scenes once they were asked who could have told what.
    """

    with stores.database(project_id).read() as unit:

        def read(former: KnowledgeRules | None) -> KnowledgeRules:
            story = unit.knowledge_story(as_of=as_of)
            return former if former is not None and former.story == story else KnowledgeRules(story)

        last_write = unit.projects.require().last_write
        return _rules.read(stores, project_id, as_of, last_write=last_write, read=read)
