"""Retrievers of other packages over the same memories; none of them is a dependency of novelgen."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from runtime.bench.bm25 import words_and_bigrams
from runtime.bench.book import BenchPlan
from runtime.bench.chroma_rivals import corpus_documents, ranked_documents
from runtime.bench.corpus import Corpus, whole_plan
from runtime.bench.mem0_peer import mem0_ranking
from runtime.bench.rivals import Ranking, Rival
from runtime.bench.scoring import RankedText

RESULTS = 100
"""More memories than fill the largest usual budget."""
FUSION_CONSTANT = 60
DECAY_PER_HOUR = 0.01
"""The time-weighted retriever's own default; a scene counts as an hour."""


class _CosineStore(InMemoryVectorStore):
    """A store in memory whose similarity, a cosine, is the relevance that the retriever asks for."""

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return float


@dataclass
class Peers:
    """Peers that can run, and why the others cannot."""

    rivals: list[Rival] = field(default_factory=list)
    not_installed: dict[str, str] = field(default_factory=dict)


def peer_rivals(memories: Corpus, store: Chroma, embeddings: Embeddings, work_dir: Path) -> Peers:
    """Return the peers that are installed.

    Args:
        memories: The memories, or passages.
        store: Chroma that holds them.
        embeddings: The same as novelgen's.
        work_dir: Where peers keep their files.
    """
    peers = Peers()
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
        "mem0 infer=False, cut": (
            {"mem0": "mem0ai"},
            lambda: mem0_ranking(memories, embeddings, work_dir / "mem0"),
        ),
    }
    for name, (modules, build) in candidates.items():
        lacking = [package for module, package in modules.items() if not importlib.util.find_spec(module)]
        if lacking:
            peers.not_installed[name] = f"not installed: pip install {' '.join(lacking)}"
        else:
            peers.rivals.append(_peer(name, build()))
    return peers


def _peer(name: str, ranking: Ranking) -> Rival:
    return Rival("peers", name, (ranking,))


def _ensemble(memories: Corpus, store: Chroma) -> Ranking:
    from langchain_classic.retrievers import EnsembleRetriever  # noqa: PLC0415 - not a dependency
    from langchain_community.retrievers import BM25Retriever  # noqa: PLC0415 - not a dependency

    documents = corpus_documents(memories)

    def rank(plan: BenchPlan) -> Sequence[RankedText]:
        visible = memories.visible(plan.place)
        words = BM25Retriever.from_documents(
            documents[:visible], preprocess_func=words_and_bigrams, k=RESULTS
        )
        meaning = store.as_retriever(search_kwargs={"k": RESULTS, "filter": {"number": {"$lt": visible}}})
        both = EnsembleRetriever(
            retrievers=[words, meaning], weights=[0.5, 0.5], c=FUSION_CONSTANT, id_key="number"
        )
        return ranked_documents(memories, both.invoke(whole_plan(plan.scene_plan)))

    return rank


def _time_weighted(memories: Corpus, embeddings: Embeddings) -> Ranking:
    """Build one retriever per plan: it writes what it reads, and its clock is the story's, an hour a scene."""
    from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever  # noqa: PLC0415 - as above

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
