"""What one character may recall of the story at a position, kept until the project is written to."""

from typing import NamedTuple

from novelgen.characters.from_story import StoryShare, share_of_story
from novelgen.memory.character_view import CharacterView, StoryKnowledge
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import StoryPosition
from runtime.search.kept_readings import KeptReadings, knowledge_rules
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores

MAX_SHARES = 64
"""Of so many characters and positions it stays at hand what they know, for each opened set of stores."""


class _Known(NamedTuple):
    view: CharacterView
    share: StoryShare


_shares: KeptReadings[_Known] = KeptReadings(MAX_SHARES)


def story_share(
    stores: MemoryStores, project_id: str, character_id: str, *, as_of: StoryPosition, model: str | None
) -> StoryShare:
    """Return what a character knows of the story strictly before a position, with its vectors."""

    def read(former: _Known | None) -> _Known:
        rules = knowledge_rules(stores, project_id, as_of=as_of)
        view = former.view if former is not None else None
        if view is None or view.shared.rules is not rules:
            view = StoryKnowledge(rules).of(character_id, is_shown=True)
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
        return _Known(view, share_of_story(view, chunks, entities=entities, vectors=vectors, settings=settings))

    # What has no vector yet may have one at the next remark, without the story being written to.
    asked = (character_id, as_of, model)
    known = _shares.read(stores, project_id, asked, read=read, is_whole=lambda known: not known.share.without_vector)
    return known.share
