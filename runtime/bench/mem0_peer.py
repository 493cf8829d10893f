"""mem0 without a language model: texts stored as they are, searched by meaning."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from runtime.bench.book import BenchPlan
from runtime.bench.corpus import Corpus, whole_plan
from runtime.bench.rivals import Ranking
from runtime.bench.scoring import RankedText

USER = "bench"
RESULTS = 100


class _Mem0Embeddings:
    """mem0's interface of an embedding model over LangChain's."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Embed one text; mem0 says whether to add, to update or to search."""
        if memory_action == "search":
            return self._embeddings.embed_query(text)
        return self._embeddings.embed_documents([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """Embed several texts."""
        return [self.embed(text, memory_action) for text in texts]


def mem0_ranking(memories: Corpus, embeddings: Embeddings, folder: Path) -> Ranking:
    """Store all memories in mem0 and return its ranking, cut at the planned scene.

    Args:
        memories: The memories.
        embeddings: The same as novelgen's.
        folder: Where mem0 keeps its files.
    """
    memory = _memory(folder, embeddings)
    for number, each in enumerate(memories.texts):
        memory.add(each.text, user_id=USER, metadata={"number": number}, infer=False)

    def rank(plan: BenchPlan) -> Sequence[RankedText]:
        # Without a filter by range that its vector store honours, everything is asked for and cut afterwards.
        found = memory.search(
            whole_plan(plan.scene_plan), filters={"user_id": USER}, top_k=len(memories.texts), threshold=0.0
        )
        numbers = [int(each["metadata"]["number"]) for each in found["results"]]
        visible = memories.visible(plan.place)
        return [memories.texts[number].ranked() for number in numbers if number < visible][:RESULTS]

    return rank


def _memory(folder: Path, embeddings: Embeddings) -> Any:
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", str(folder))
    from mem0 import Memory  # noqa: PLC0415 - not a dependency

    no_key = {"api_key": "unused"}
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "chroma",
                "config": {"collection_name": "mem0", "path": str(folder / "chroma")},
            },
            "llm": {"provider": "openai", "config": no_key},
            "embedder": {"provider": "openai", "config": no_key},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = _Mem0Embeddings(embeddings)
    return memory
