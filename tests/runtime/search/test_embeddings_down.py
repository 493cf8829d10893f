"""A remote embedding model that cannot be asked: what words and entities find is there all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from novelgen.memory.search import SearchQuery, SearchRequest
from runtime.search.search import ranked_memories, search_memories
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for

REMOTE = {
    "embedding_model": "openai:text-embedding-3-small",
    "embedding_base_url": "http://127.0.0.1:9/v1",
    "tool_timeout_s": 20.0,
}


@pytest.mark.parametrize("key", ["sk-nobody-listens", None], ids=["dead address", "no key"])
def test_words_and_entities_still_answer(demo_folder: Path, monkeypatch: pytest.MonkeyPatch, key: str | None) -> None:
    """The semantic retriever alone is missing, which is said."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("OPENAI_API_KEY", key)
    with MemoryStores(settings_for(demo_folder, **REMOTE)) as stores:
        found = ranked_memories(stores, "demo", "the heron key")
        planned = search_memories(
            stores,
            SearchRequest(
                project_id="demo", queries=[SearchQuery(text="the heron key")], entity_ids=["C0"], timeout_s=20.0
            ),
        )
    assert found.memories
    assert all(set(each.found_by) <= {"lexical"} for each in found.memories)
    assert [each.stage for each in found.issues] == ["semantic"]
    assert {hit.retriever for each in planned.candidates for hit in each.hits} >= {"lexical", "entity"}
    assert {each.stage for each in planned.issues} == {"semantic"}
