"""langchain-chroma as it is commonly used: one query, passages or memories, with and without a cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chromadb
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from runtime.bench.book import BenchPlan
from runtime.bench.corpus import Corpus, whole_plan
from runtime.bench.rivals import Rival
from runtime.bench.scoring import RankedText

RESULTS = 100
"""More than fill the largest usual budget."""


def chroma_store(corpus: Corpus, embeddings: Embeddings, folder: Path, *, name: str) -> Chroma:
    """Fill a collection with a corpus, each text with its number in story order; one that is there is used.

    Args:
        corpus: The texts.
        embeddings: Embed texts and queries.
        folder: Where Chroma keeps its files.
        name: Name of the collection.
    """
    client = chromadb.PersistentClient(str(folder))
    store = Chroma(
        name, embedding_function=embeddings, client=client, collection_metadata={"hnsw:space": "cosine"}
    )
    if len(store.get(limit=len(corpus.texts) + 1, include=[])["ids"]) != len(corpus.texts):
        store.reset_collection()
        documents = corpus_documents(corpus)
        for start in range(0, len(documents), 1000):
            store.add_documents(documents[start : start + 1000])
    return store


def corpus_documents(corpus: Corpus) -> list[Document]:
    """Return the texts as documents whose `number` and id are their place in story order."""
    return [
        Document(page_content=each.text, metadata={"number": number}, id=str(number))
        for number, each in enumerate(corpus.texts)
    ]


def chroma_rivals(group: str, corpus: Corpus, store: Chroma) -> list[Rival]:
    """Return similarity search without and with a cut at the planned scene."""
    return [
        Rival(group, "langchain-chroma similarity_search", (similarity(corpus, store, is_cut=False),)),
        Rival(group, "langchain-chroma similarity_search, cut", (similarity(corpus, store, is_cut=True),)),
    ]


def similarity(corpus: Corpus, store: Chroma, *, is_cut: bool) -> Callable[[BenchPlan], Sequence[RankedText]]:
    """Rank by one similarity search for the whole plan."""

    def rank(plan: BenchPlan) -> list[RankedText]:
        cut: dict[str, Any] | None = {"number": {"$lt": corpus.visible(plan.place)}} if is_cut else None
        found = store.similarity_search(whole_plan(plan.scene_plan), k=RESULTS, filter=cut)
        return ranked_documents(corpus, found)

    return rank


def ranked_documents(corpus: Corpus, documents: Sequence[Document]) -> list[RankedText]:
    """Return documents of a corpus as a ranking."""
    return [corpus.texts[document.metadata["number"]].ranked() for document in documents]
