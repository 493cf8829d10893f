"""Retrievers of other packages over the same memories; none of them is a dependency of novelgen."""

import importlib.util
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from tests.benchmarks.retrieval.book import BenchPlan, whole_plan
from tests.benchmarks.retrieval.quality import Ranking, Rival, Rivals
from tests.benchmarks.retrieval.scoring import RankedText
from tests.benchmarks.rival_corpus import Corpus, corpus_documents, ranked_documents, words_and_bigrams

RESULTS = 100
"""More memories than fill the largest usual budget."""
FUSION_CONSTANT = 60
DECAY_PER_HOUR = 0.01
"""The time-weighted retriever's own default; a scene counts as an hour."""


class _CosineStore(InMemoryVectorStore):
    """A store in memory whose similarity, a cosine, is the relevance that the retriever asks for."""

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return float


def peer_rivals(memories: Corpus, store: Chroma, embeddings: Embeddings, work_dir: Path) -> Rivals:
    """Return the peers that are installed.

    Args:
        memories: The memories, or passages.
        store: Chroma that holds them.
        embeddings: The same as novelgen's.
        work_dir: Where peers keep their files.
    """
    peers = Rivals()
    candidates: dict[str, tuple[dict[str, str], Callable[[], Ranking]]] = {
        "EnsembleRetriever (BM25 + Chroma), cut": (
            {
                "langchain_classic": "langchain-classic",
                "langchain_community": "langchain-community",
                "rank_bm25": "rank-bm25",
            },
            lambda: _ensemble(memories, store),
        ),
        "TimeWeightedVectorStoreRetriever, cut": (
            {"langchain_classic": "langchain-classic"},
            lambda: _time_weighted(memories, embeddings),
        ),
        "mem0 infer=False, cut": ({"mem0": "mem0ai"}, lambda: mem0_ranking(memories, embeddings, work_dir / "mem0")),
    }
    for name, (modules, build) in candidates.items():
        lacking = [package for module, package in modules.items() if not importlib.util.find_spec(module)]
        if lacking:
            peers.not_measured[name] = f"not installed: pip install {' '.join(lacking)}"
        else:
            peers.rivals.append(_peer(name, build()))
    return peers


def _peer(name: str, ranking: Ranking) -> Rival:
    return Rival("peers", name, (ranking,))


def _ensemble(memories: Corpus, store: Chroma) -> Ranking:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever

    documents = corpus_documents(memories)

    def rank(plan: BenchPlan) -> Sequence[RankedText]:
        visible = memories.visible(plan.place)
        words = BM25Retriever.from_documents(documents[:visible], preprocess_func=words_and_bigrams, k=RESULTS)
        meaning = store.as_retriever(search_kwargs={"k": RESULTS, "filter": {"number": {"$lt": visible}}})
        both = EnsembleRetriever(retrievers=[words, meaning], weights=[0.5, 0.5], c=FUSION_CONSTANT, id_key="number")
        return ranked_documents(memories, both.invoke(whole_plan(plan.scene_plan)))

    return rank


def _time_weighted(memories: Corpus, embeddings: Embeddings) -> Ranking:
    """Build one retriever per plan: it writes what it reads, and its clock is the story's, an hour a scene."""
    from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever

    documents = corpus_documents(memories)
    scenes = {place: number for number, place in enumerate(sorted({each.place for each in memories.texts}))}

    def rank(plan: BenchPlan) -> Sequence[RankedText]:
        now = datetime.now(UTC).replace(tzinfo=None)
        visible = memories.visible(plan.place)
        here = sum(place < plan.place for place in scenes)
        retriever = TimeWeightedVectorStoreRetriever(
            vectorstore=_CosineStore(embeddings),
            decay_rate=DECAY_PER_HOUR,
            other_score_keys=["importance"],
            k=RESULTS,
            search_kwargs={"k": RESULTS},
        )
        dated = [
            _dated(document, memories, now - timedelta(hours=here - scenes[memories.texts[number].place]))
            for number, document in enumerate(documents[:visible])
        ]
        retriever.add_documents(dated)
        return ranked_documents(memories, retriever.invoke(whole_plan(plan.scene_plan)))

    return rank


def _dated(document: Any, memories: Corpus, moment: datetime) -> Any:
    importance = memories.texts[document.metadata["number"]].importance / 10
    marks = {"last_accessed_at": moment, "created_at": moment, "importance": importance}
    return document.model_copy(update={"metadata": {**document.metadata, **marks}})


USER = "bench"


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
    from mem0 import Memory

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
