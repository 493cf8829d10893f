"""A remote embedding model that cannot be asked: what words and entities find is there all the same."""

from pathlib import Path

import pytest

from runtime.search.search import ranked_memories
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for

REMOTE = {
    "embedding_model": "openai:text-embedding-3-small",
    "embedding_base_url": "http://127.0.0.1:9/v1",
    "tool_timeout_s": 20.0,
}


def test_what_nobody_finds_is_an_answer_while_meaning_is_out(demo_folder: Path) -> None:
    """Words were asked and hold nothing: that is an empty answer that says what is missing, not a failure to retry."""
    with MemoryStores(settings_for(demo_folder, **REMOTE)) as stores:
        found = ranked_memories(stores, "demo", "zyxwvu")
    assert found.memories == []
    assert [each.stage for each in found.issues] == ["semantic"]


@pytest.mark.parametrize(("query", "shown"), [("灯" * 600, 512), ("heron key " * 1_000, 2_048)])
def test_a_long_query_is_cut_to_what_a_model_sees(read_demo_stores: MemoryStores, query: str, shown: int) -> None:
    """The rest would cost seconds of processor time; the answer says how much was searched."""
    found = ranked_memories(read_demo_stores, "demo", query)
    short = ranked_memories(read_demo_stores, "demo", query[:shown])
    assert f"its first {shown} were searched" in found.issues[0].message
    assert [each.chunk.chunk_id for each in found.memories] == [each.chunk.chunk_id for each in short.memories]
