"""From SQL to a real Chroma index."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest
from sqlalchemy import create_engine, text

from novelgen.errors import EmbeddingError
from novelgen.models.position import StoryPosition
from runtime.ingest import indexing
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.ingest.ingest import ingest_scenes
from runtime.model_providers.embeddings import CheckedEmbeddings
from runtime.settings import load_settings
from runtime.storage.models import MemoryEdit
from runtime.stores import MemoryStores
from runtime.story.scenes import StoryScenes
from tests.runtime.ingest.made_up_story import record, recorded_scenes, scene


def _other_stores(stores: MemoryStores, model: str = "fake:32", **memory: object) -> MemoryStores:
    settings = load_settings(
        projects_dir=stores.settings.projects_dir,
        memory={"embedding_model": model, **memory},
        database_url=stores.settings.database_url,
    )
    return MemoryStores(settings)


@contextmanager
def _writing_elsewhere(stores: MemoryStores, project: str) -> Iterator[Callable[[], object]]:
    """Give what makes another program keep the database, to the end of the block, from being written to."""
    url = stores.settings.database_url
    if url is None:
        with closing(sqlite3.connect(stores.paths(project).database, isolation_level=None)) as other:
            yield lambda: other.execute("BEGIN IMMEDIATE")
        return
    engine = create_engine(url)
    with engine.connect() as server:
        yield lambda: server.execute(text("LOCK TABLE index_outbox, projects IN EXCLUSIVE MODE"))
    engine.dispose()


def _semantic_ids(stores: MemoryStores, project: str) -> set[str]:
    with stores.database(project).read() as unit:
        chunks = [memory.chunk for memory in unit.memories.list_matching()]
    return {chunk.chunk_id for chunk in chunks if chunk.is_indexed}


class _Counting:
    """Counts the texts that a model embeds, and fails on demand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self.is_failing = False
        original = CheckedEmbeddings.embed_documents

        def embed_documents(embeddings: CheckedEmbeddings, texts: list[str]) -> list[list[float]]:
            if self.is_failing:
                raise EmbeddingError("the model is away")
            self.texts += texts
            return original(embeddings, texts)

        monkeypatch.setattr(CheckedEmbeddings, "embed_documents", embed_documents)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Counting]:
    """The texts that are embedded during a test."""
    return _Counting(monkeypatch)


@pytest.mark.slow
def test_ingest_brings_the_index_up_to_sql(stores: MemoryStores, project: str, counting: _Counting) -> None:
    """After ingest the index holds the memories and bullets; passages beside a record stay out of it."""
    result = ingest_scenes(stores, project, recorded_scenes()).indexing
    assert (result.indexed, result.embedded, result.waiting, result.issues) == (9, 9, 0, [])
    assert len(counting.texts) == 9
    assert verify_index(stores, project).is_sound
    known = _semantic_ids(stores, project)
    assert stores.vectors(project).list_ids(known) == known
    again = ingest_scenes(stores, project, recorded_scenes()).indexing
    assert (again.indexed, again.embedded) == (0, 0)
    with stores.database(project).read() as unit:
        stored = unit.projects.require()
    assert (stored.embedding_model, stored.embedding_dimension) == ("fake:32", 32)


@pytest.mark.slow
def test_a_changed_scene_is_embedded_alone(stores: MemoryStores, project: str, counting: _Counting) -> None:
    """Only texts that are new are embedded; what is gone leaves the index; the record's arrival takes passages out."""
    ingest_scenes(stores, project, [scene(1, 1), scene(1, 2)])
    assert len(counting.texts) == 2
    counting.texts.clear()
    changed = record(1, 2, summary=["A new bullet.", "A new bullet."], memories=[])
    result = ingest_scenes(stores, project, [scene(1, 1), scene(1, 2, record=changed)]).indexing
    assert counting.texts == ["A new bullet."]
    assert (result.indexed, result.removed, result.embedded) == (2, 1, 1)
    assert verify_index(stores, project).is_sound
    StoryScenes(stores, project).delete(StoryPosition(1, 2))
    known = _semantic_ids(stores, project)
    assert stores.vectors(project).list_ids(known) == known
    assert verify_index(stores, project).is_sound


def test_a_kill_between_index_and_mark_is_harmless(stores: MemoryStores, project: str, counting: _Counting) -> None:
    """Entries that were done but not marked are done again with the same outcome, without embedding again."""
    ingest_scenes(stores, project, recorded_scenes())
    counting.texts.clear()
    with stores.database(project).write() as unit:
        unit.outbox.queue(sorted(unit.memories.index_ids()), "upsert")
    result = drain_outbox(stores, project)
    assert (result.indexed, result.embedded, counting.texts) == (9, 0, [])
    assert verify_index(stores, project).is_sound


def test_a_limit_is_kept_and_progress_told(stores: MemoryStores, project: str) -> None:
    """At most so many entries are done; the rest waits. Progress is in characters of what is indexed."""
    ingest_scenes(stores, project, recorded_scenes(), index=False)
    told: list[tuple[int, int]] = []
    with stores.database(project).read() as unit:
        chunks = unit.memories.by_ids([entry.chunk_id for entry in unit.outbox.claim(limit=5)])
    characters = sum(len(chunk.content) for chunk in chunks if chunk.is_indexed)
    result = drain_outbox(stores, project, limit=5, progress=lambda done, total: told.append((done, total)))
    assert (result.waiting, told) == (10, [(0, characters), (characters, characters)])
    assert drain_outbox(stores, project).waiting == 0


def test_an_interruption_is_taken_up_where_it_came(
    stores: MemoryStores, project: str, counting: _Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while a step is embedded loses that step alone; what goes on has the vectors of an unbroken run."""
    monkeypatch.setattr(indexing, "ENTRIES_PER_STEP", 4)
    ingest_scenes(stores, project, recorded_scenes(), index=False)

    def interrupted(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        drain_outbox(stores, project, progress=interrupted)
    before = list(counting.texts)
    assert before
    told: list[tuple[int, int]] = []
    result = drain_outbox(stores, project, progress=lambda done, total: told.append((done, total)))
    assert result.waiting == 0
    assert not set(before) & set(counting.texts[len(before) :])
    with stores.database(project).read() as unit:
        chunks = unit.memories.by_ids(sorted(unit.memories.index_ids()))
        names, vectors = unit.embeddings.matrix("fake:32")
    assert told[-1] == (told[0][1], sum(len(each.content) for each in chunks if each.content not in before))
    own = {each.chunk_id: each.content for each in chunks}
    assert (
        vectors.tolist()
        == np.asarray(stores.embeddings.embed_documents([own[name] for name in names]), np.float32).tolist()
    )
    assert verify_index(stores, project).is_sound


def test_a_failing_model_leaves_entries_waiting(stores: MemoryStores, project: str, counting: _Counting) -> None:
    """Ingest succeeds without the embedding model, says so, and the index is repaired when it is back."""
    counting.is_failing = True
    result = ingest_scenes(stores, project, recorded_scenes())
    assert result.count("added") == 3
    (issue,) = result.indexing.issues
    assert (issue.stage, issue.kind) == ("index", "unavailable")
    assert "the model is away" in issue.message
    assert result.indexing.waiting == 15
    counting.is_failing = False
    assert drain_outbox(stores, project).waiting == 0
    assert verify_index(stores, project).is_sound


def test_what_is_found_by_words_needs_no_model(
    stores: MemoryStores, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model that does not even tell its dimension, words-only memories are settled; others wait."""

    def fail(embeddings: CheckedEmbeddings) -> int:
        raise EmbeddingError("no dimension")

    monkeypatch.setattr(CheckedEmbeddings, "dimension", property(fail))
    by_words = record(1, 1, memories=[], summary=[])
    assert ingest_scenes(stores, project, [scene(1, 1, record=by_words)]).indexing.waiting == 0
    result = ingest_scenes(stores, project, [scene(1, 2)]).indexing
    assert (result.waiting, ["no dimension" in each.message for each in result.issues]) == (1, [True])


@pytest.mark.slow
def test_a_database_that_fails_after_the_commit_undoes_nothing(
    stores: MemoryStores, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When another program locks the database while texts are embedded, the scenes are stored and it is said."""
    original = CheckedEmbeddings.embed_documents
    with _writing_elsewhere(stores, project) as lock:

        def lock_and_embed(embeddings: CheckedEmbeddings, texts: list[str]) -> list[list[float]]:
            lock()
            return original(embeddings, texts)

        monkeypatch.setattr(CheckedEmbeddings, "embed_documents", lock_and_embed)
        result = ingest_scenes(stores, project, recorded_scenes()[:1])
        monkeypatch.undo()
    assert result.count("added") == 1
    assert ["the scenes are stored" in each.message for each in result.indexing.issues] == [True]
    assert drain_outbox(stores, project).indexed == 3


def test_a_broken_index_leaves_entries_waiting(stores: MemoryStores, new_project: Callable[[], str]) -> None:
    """With a file where the index should be, ingest still succeeds; reindex repairs when the way is clear."""
    project = new_project()
    folder = stores.paths(project).vectors
    folder.unlink()
    folder.write_text("not a folder", encoding="utf-8")
    result = ingest_scenes(stores, project, recorded_scenes())
    assert result.count("added") == 3
    assert ["is a file, not a folder" in each.message for each in result.indexing.issues] == [True]
    assert result.indexing.waiting == 15
    folder.unlink()
    with _other_stores(stores) as later:
        assert reindex(later, project).waiting == 0
        assert verify_index(later, project).is_sound


def test_reindex_uses_the_stored_vectors(stores: MemoryStores, project: str, counting: _Counting) -> None:
    """A lost index is rebuilt from SQL without embedding anything."""
    ingest_scenes(stores, project, recorded_scenes())
    stores.vectors(project).drop()
    assert len(verify_index(stores, project).missing_ids) == 9
    counting.texts.clear()
    told: list[tuple[int, int]] = []
    result = reindex(stores, project, progress=lambda done, total: told.append((done, total)))
    assert (result.indexed, result.embedded, counting.texts) == (9, 0, [])
    assert told[-1] == (9, 9)
    assert verify_index(stores, project).is_sound


def test_reindex_embeds_only_what_lacks_a_vector(stores: MemoryStores, project: str, counting: _Counting) -> None:
    """What was never indexed is embedded by reindex, and the outbox is settled with it."""
    ingest_scenes(stores, project, recorded_scenes()[:2])
    ingest_scenes(stores, project, recorded_scenes()[2:], index=False)
    counting.texts.clear()
    result = reindex(stores, project)
    assert (result.indexed, result.embedded, result.waiting) == (9, 3, 0)
    assert len(counting.texts) == 3


def test_another_model_needs_a_reindex(stores: MemoryStores, project: str) -> None:
    """A changed model is said aloud instead of mixing vectors; reindex embeds everything with it."""
    ingest_scenes(stores, project, recorded_scenes()[:2])
    with _other_stores(stores, "fake:64") as other:
        result = ingest_scenes(other, project, recorded_scenes())
        assert [f"run `novelgen reindex {project}`" in each.message for each in result.indexing.issues] == [True]
        assert result.indexing.waiting == 5
        rebuilt = reindex(other, project)
        assert (rebuilt.indexed, rebuilt.embedded, rebuilt.waiting) == (9, 9, 0)
        assert verify_index(other, project).is_sound


def test_an_authors_edit_reaches_the_index(stores: MemoryStores, project: str) -> None:
    """An edited memory is embedded anew, a deleted one leaves the index, and re-ingest changes neither."""
    ingest_scenes(stores, project, recorded_scenes())
    with stores.database(project).read() as unit:
        ids = {each.chunk.source_id: each.chunk.chunk_id for each in unit.memories.list_matching()}
    with stores.database(project).write() as unit:
        unit.memories.edit(ids["M11"], MemoryEdit(content="edited by the author"))
        unit.memories.decide(ids["M12"], "delete")
    result = ingest_scenes(stores, project, recorded_scenes()).indexing
    assert (result.indexed, result.removed, result.embedded) == (1, 1, 1)
    question = stores.embeddings.embed_query("edited by the author")
    (hits,) = stores.vectors(project).query([question], top_k=1)
    assert [hit.content for hit in hits] == ["edited by the author"]
    assert ids["M12"] not in stores.vectors(project).list_ids(ids.values())


@pytest.mark.slow
def test_moved_scenes_keep_their_vectors_and_change_place(
    stores: MemoryStores, project: str, counting: _Counting
) -> None:
    """After a move the index cuts by the new place, without embedding anything again."""
    ingest_scenes(stores, project, [scene(1, 1)])
    counting.texts.clear()
    with stores.database(project).write() as unit:
        unit.scenes.move_scene(StoryPosition(1, 1), StoryPosition(5, 1))
    drain_outbox(stores, project)
    question = stores.embeddings.embed_query("Mary Grey")
    index = stores.vectors(project)
    assert index.texts_before([question], StoryPosition(5, 1), top_k=5) == [[]]
    (hits,) = index.texts_before([question], StoryPosition(5, 2), top_k=5)
    assert [(hit.chapter_index, hit.scene_index) for hit in hits] == [(5, 1)]
    assert counting.texts == []
