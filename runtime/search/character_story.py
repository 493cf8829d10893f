"""What a character knows of the story, with its vectors, kept for the next remark."""

from __future__ import annotations

import threading
import weakref
from typing import NamedTuple

from novelgen.characters.from_story import StoryShare, share_of_story
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import StoryPosition
from runtime.search.knowledge import knowledge_rules
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores, RecentlyUsed

MAX_SHARES = 64
"""Of so many characters and positions it stays at hand, for each opened set of stores."""

_Key = tuple[str, str, StoryPosition, str | None]


class _Kept(NamedTuple):
    last_write: tuple[str, int]
    view: CharacterView
    share: StoryShare


_lock = threading.Lock()
_kept: weakref.WeakKeyDictionary[MemoryStores, RecentlyUsed[_Key, _Kept]] = weakref.WeakKeyDictionary()


def story_share(
    stores: MemoryStores, project_id: str, character_id: str, *, as_of: StoryPosition, model: str | None
) -> StoryShare:
    """Return what a character knows of the story strictly before a position."""
    key = (project_id, character_id, as_of, model)
    with stores.database(project_id).read() as unit:
        last_write = unit.projects.require().last_write
    with _lock:
        shares = _kept.setdefault(stores, RecentlyUsed(MAX_SHARES))
        found = shares.get(key)
    # What has no vector yet may have one at the next remark, without the story being written to.
    if found is not None and found.last_write == last_write and not found.share.without_vector:
        return found.share
    rules = knowledge_rules(stores, project_id, as_of=as_of)
    if found is not None and found.view.shared.rules is rules:
        view = found.view
    else:
        view = StoryKnowledge(rules).of(character_id, is_shown=True)
    share = _read_share(stores, project_id, view, as_of=as_of, model=model)
    with _lock:
        shares.use(key, _Kept(last_write, view, share))
        shares.take_surplus()
    return share


def _read_share(
    stores: MemoryStores, project_id: str, view: CharacterView, *, as_of: StoryPosition, model: str | None
) -> StoryShare:
    wanted = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)
    with stores.database(project_id).read() as unit:
        ids = [each.chunk.chunk_id for each in unit.memories.list_matching(wanted)]
        # Read again by id, which tells what replaced a memory before the position.
        chunks = unit.memories.by_ids(ids, as_of=as_of, with_sources=True)
        vectors = {}
        if model is not None:
            names, matrix = unit.embeddings.matrix(model, as_of=as_of, ids=ids, with_sources=True)
            vectors = dict(zip(names, matrix, strict=True))
        entities = unit.entities.list_as_of(as_of=as_of)
    settings = stores.settings.memory.character_memory
    return share_of_story(view, chunks, entities=entities, vectors=vectors, settings=settings)
