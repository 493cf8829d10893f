"""Contexts and searches while part of a story waits to be indexed by meaning."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.memory.search import SearchQuery, SearchRequest
from runtime.context_chain import build_context_chain
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.model_providers.embeddings import CheckedEmbeddings
from runtime.search.search import ranked_memories
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story

QUERY = SearchQuery(text="the heron key")


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores with a story of which nothing is indexed by meaning."""
    texts = ["Mira hid the heron key under the stair.", "Tobin asked for the heron key in vain."]
    scenes = [SceneInput(chapter_index=1, scene_index=n, text=text) for n, text in enumerate(texts, 1)]
    with MemoryStores(load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})) as stores:
        stores.create_project("story")
        ingest_scenes(stores, "story", scenes, index=False)
        yield stores


def _asked() -> SearchRequest:
    return SearchRequest(project_id="story", queries=[QUERY], timeout_s=120.0)


@pytest.mark.slow
def test_words_answer_and_the_wait_is_said(waiting: MemoryStores) -> None:
    """Also where nothing is found; the issue goes with what waited, and meaning takes part."""
    found = StoryMemoryTools(waiting).search(_asked())
    assert {each.chunk.scene_index for each in found.candidates} == {1, 2}
    (issue,) = [each for each in found.issues if each.kind == "stale"]
    assert issue.stage == "index"
    assert "2 memories are found by words and names only" in issue.message
    assert "`novelgen index story`" in issue.message
    found = ranked_memories(waiting, "story", "zeppelin")
    assert found.memories == []
    assert "stale" in {issue.kind for issue in found.issues}
    drain_outbox(waiting, "story")
    found = StoryMemoryTools(waiting).search(_asked())
    assert "stale" not in {issue.kind for issue in found.issues}
    assert "semantic" in {hit.retriever for each in found.candidates for hit in each.hits}


@pytest.mark.slow
def test_a_story_of_which_nothing_is_indexed_needs_no_index(
    waiting: MemoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No index starts, and no query is embedded, for a search that can find nothing by meaning."""

    def refused(*_: object) -> None:
        raise AssertionError("nothing is there to be found")

    monkeypatch.setattr(MemoryStores, "vectors", refused)
    monkeypatch.setattr(CheckedEmbeddings, "embed_queries", refused)
    assert [each.scene_index for each in Story(waiting, "story").search("the heron key")] == [1, 2]
    monkeypatch.undo()
    drain_outbox(waiting, "story")
    monkeypatch.setattr(CheckedEmbeddings, "embed_queries", refused)
    with pytest.raises(AssertionError):
        Story(waiting, "story").search("the heron key")


def test_the_report_of_a_context_says_it(waiting: MemoryStores) -> None:
    """A context is built all the same."""
    request = {
        "project_id": "story",
        "chapter_index": 3,
        "scene_index": 1,
        "scene_plan": {"purpose": "Mira fetches the heron key."},
    }
    context = build_context_chain(waiting, write_files=False).invoke(request)
    assert "heron key" in context.as_prompt()
    assert [issue.stage for issue in context.report.issues if issue.kind == "stale"] == ["index"]
