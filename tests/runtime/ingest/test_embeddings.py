"""Letting the settings of what is embedded hold for scenes that are stored already."""

from collections.abc import Iterator

import pytest

from novelgen.models.position import END_OF_STORY
from runtime.ingest.entities import store_entities
from runtime.ingest.indexing import apply_embedding_settings, drain_outbox, reindex, stored_otherwise, verify_index
from runtime.ingest.ingest import ingest_scenes
from runtime.storage.models import MemoryEdit, MemoryFilter
from runtime.stores import MemoryStores
from tests.runtime.ingest.made_up_story import ENTITIES, record, scene

ALWAYS = {("memory", 1), ("summary", 1), ("scene", 2)}


@pytest.fixture
def story(stores: MemoryStores, project: str) -> str:
    """A scene with a record and one without, taken in by the default settings."""
    store_entities(stores, project, ENTITIES)
    ingest_scenes(stores, project, [scene(1, 1, record=record(1, 1)), scene(1, 2)])
    return project


@pytest.fixture
def changed(stores: MemoryStores) -> Iterator[MemoryStores]:
    """The same stores under settings that embed passages, too."""
    ingest = stores.settings.memory.ingest.model_copy(update={"embed_passages": True})
    memory = stores.settings.memory.model_copy(update={"ingest": ingest})
    with MemoryStores(stores.settings.model_copy(update={"memory": memory})) as opened:
        yield opened


def embedded(stores: MemoryStores, project: str) -> set[tuple[str, int | None]]:
    """Return type and scene of the memories that the index is to hold."""
    with stores.database(project).read() as unit:
        found = unit.memories.list_matching(MemoryFilter())
    chunks = [stored.chunk for stored in found]
    return {(each.content_type, each.scene_index) for each in chunks if each.is_indexed}


@pytest.mark.slow
def test_nothing_is_otherwise_under_the_same_settings(stores: MemoryStores, story: str) -> None:
    """A scene with a record and one without are as the settings say, and applying them changes nothing."""
    assert stored_otherwise(stores, story) == apply_embedding_settings(stores, story) == 0
    assert embedded(stores, story) == ALWAYS


def test_a_changed_setting_is_applied_and_taken_back(stores: MemoryStores, changed: MemoryStores, story: str) -> None:
    """An unchanged scene is noticed, the index follows, and vectors that are not wanted any more go."""
    ingest_scenes(changed, story, [scene(1, 1, record=record(1, 1))])
    assert stored_otherwise(changed, story) == 1
    assert apply_embedding_settings(changed, story) == 1
    assert stored_otherwise(changed, story) == 0
    assert embedded(changed, story) == {*ALWAYS, ("scene", 1)}
    assert drain_outbox(changed, story).indexed == 1
    assert verify_index(changed, story).is_sound
    assert apply_embedding_settings(stores, story) == 1
    assert drain_outbox(stores, story).removed == 1
    assert embedded(stores, story) == ALWAYS
    assert verify_index(stores, story).is_sound
    with stores.database(story).read() as unit:
        model = stores.embedding_identity.model_name
        assert len(unit.embeddings.matrix(model, with_sources=True)[0]) == len(unit.memories.index_ids())


def test_the_story_does_not_count_as_changed(changed: MemoryStores, story: str) -> None:
    """Contexts of before stay up to date; a reindex after it embeds what is new and nothing else."""
    apply_embedding_settings(changed, story)
    result = reindex(changed, story)
    assert (result.embedded, result.waiting) == (1, 0)
    assert verify_index(changed, story).is_sound
    with changed.database(story).read() as unit:
        before = unit.story_version(END_OF_STORY)
    apply_embedding_settings(changed, story)
    with changed.database(story).read() as unit:
        assert unit.story_version(END_OF_STORY) == before


def test_what_an_author_edited_is_left_alone(changed: MemoryStores, story: str) -> None:
    """A passage that an author rewrote stays as it is embedded."""
    with changed.database(story).write() as unit:
        found = unit.memories.list_matching(MemoryFilter(content_types=["scene"]))
        [passage] = [stored for stored in found if stored.chunk.scene_index == 1]
        unit.memories.edit(passage.chunk.chunk_id, MemoryEdit(content="Mary came by night."))
    assert stored_otherwise(changed, story) == 0
