"""Looking up characters, places and scenes by their cards, as of a position."""

import pytest

from novelgen.errors import EmbeddingError
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from runtime.ingest.entities import store_entities
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.entities import StoryEntities
from runtime.story.search import FoundCards, StoryCardSearch, likeness_above_typical


def _ids(found: FoundCards) -> list[str]:
    return [each.entity_id for each in found.results]


def test_a_hit_says_what_it_is_and_why(stores: MemoryStores, project: str) -> None:
    """With relevance and a snippet, a scene by its label; types and limit are kept, nothing of later is found."""
    found = StoryCardSearch(stores, project).find("underground library", limit=1)
    (hit,) = found.results
    assert (hit.entity_id, hit.entity_type, hit.name) == ("L0", "location", "the Archive")
    assert hit.snippet == "A vast underground library"
    assert 0.5 < hit.relevance_score <= 1
    assert found.issues == []
    best = StoryCardSearch(stores, project).find("false bottom", entity_types=["scene"]).results[0]
    assert (best.entity_id, best.name) == ("S001", "The hidden fragment")
    assert best.snippet == "She finds a map fragment in a false bottom"
    cards, now = StoryCardSearch(stores, project), StoryPosition(2, 1)
    later = StoryPosition(2, 2)
    assert _ids(cards.find("Odile Brandt", as_of=later))[0] == "C2"
    assert "C2" not in _ids(cards.find("Odile Brandt", as_of=now))
    assert "S003" not in _ids(cards.find("passage over the frozen lake", as_of=now))
    assert "hopeful" in cards.find("hopeful", as_of=later).results[0].snippet
    assert not any("hopeful" in each.snippet for each in cards.find("hopeful", as_of=now).results)
    cards = StoryCardSearch(stores, project)
    found = cards.find("Elena Archive Marcus", entity_types=["character"])
    assert {each.entity_type for each in found.results} == {"character"}
    assert len(cards.find("Elena Archive Marcus", limit=2).results) == 2


def test_chinese_cards_are_found_by_part_of_a_name(stores: MemoryStores) -> None:
    """A scene without a record goes by its opening; an empty story has no results."""
    stores.create_project("blank")
    search = StoryCardSearch(stores, "blank")
    assert search.find("anything") == FoundCards()
    stores.create_project("west", language="zh")
    monkey = Entity(entity_id="C0", entity_type="character", name="孙悟空", description="花果山水帘洞的石猴")
    store_entities(stores, "west", [monkey], origin="author")
    ingest_scenes(stores, "west", [SceneInput(chapter_index=1, scene_index=1, text="孙悟空大闹天宫。")], index=False)
    search = StoryCardSearch(stores, "west")
    assert _ids(search.find("水帘洞"))[:1] == ["C0"]
    assert _ids(search.find("大闹天宫", entity_types=["scene"])) == ["S001"]


def test_scenes_are_found_by_meaning_without_shared_words(stores: MemoryStores, project: str) -> None:
    """The vectors of a scene's own memories speak for it; here they share parts of words."""
    drain_outbox(stores, project)
    search = StoryCardSearch(stores, project)
    results = search.find("frozenlakes passagesover", entity_types=["scene"]).results
    assert results[0].entity_id == "S003"


def test_without_embeddings_words_answer_and_it_is_said(
    stores: MemoryStores, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that fails costs the meaning, not the answer."""

    def fail(_: str) -> list[float]:
        raise EmbeddingError("embedding model 'fake:64' failed: out of memory")

    monkeypatch.setattr(stores.embeddings, "embed_query", fail)
    answer = StoryCardSearch(stores, project).find("smuggler")
    assert _ids(answer) == ["C2"]
    assert answer.results[0].relevance_score == 1.0
    assert "out of memory" in answer.issues[0]


def test_cards_that_did_not_change_are_embedded_once(
    stores: MemoryStores, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are kept by the text of the card."""
    embed, batches = stores.embeddings.embed_documents, []

    def counted(texts: list[str]) -> list[list[float]]:
        batches.append(len(texts))
        return embed(texts)

    monkeypatch.setattr(stores.embeddings, "embed_documents", counted)
    search = StoryCardSearch(stores, project)
    search.find("mapmaker", entity_types=["character"])
    search.find("smuggler", entity_types=["character", "location"])
    assert batches == [3, 1]
    again = StoryCardSearch(stores, project)
    assert again.find("smuggler", entity_types=["character", "location"]).results
    assert batches == [3, 1], "another process finds the vectors on disk"
    file = stores.paths(project).data / "card_vectors.npz"
    StoryEntities(stores, project).edit("C0", {"description": "A mapmaker who limps."})
    StoryCardSearch(stores, project).find("smuggler", entity_types=["character"])
    assert batches == [3, 1, 1]
    file.write_bytes(b"no archive")
    found = StoryCardSearch(stores, project).find("smuggler", entity_types=["character"])
    assert (batches, found.issues) == ([3, 1, 1, 3], [])


@pytest.mark.slow
def test_likeness_counts_above_what_is_typical() -> None:
    """The middle card counts nothing, one like the query everything; of two cards none is typical."""
    assert likeness_above_typical({"a": 0.8, "b": 0.8, "c": 0.9, "d": 1.0, "e": 0.7}) == pytest.approx(
        {"a": 0.0, "b": 0.0, "c": 0.5, "d": 1.0, "e": 0.0}
    )
    assert likeness_above_typical({"a": 0.25, "b": -0.1}) == pytest.approx({"a": 0.25, "b": 0.0})
