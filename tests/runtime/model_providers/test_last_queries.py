"""A query that is asked again, or by several at once, is embedded once."""

import threading

import pytest
from langchain_core.embeddings import Embeddings

from novelgen.errors import EmbeddingError
from runtime.model_providers.embeddings import MAX_QUERIES, CheckedEmbeddings, LastQueries


class Counting(Embeddings):
    """Counts what it embeds, waits where it is told to, and fails where it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.fails = False

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        self.may_answer.wait(30)
        if self.fails:
            raise RuntimeError("out of order")
        return [float(len(text)), 1.0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def test_a_query_is_embedded_once_until_many_others_came() -> None:
    """The vector is the model's own, and the oldest query makes room for new ones."""
    model, last = Counting(), LastQueries()
    embeddings = CheckedEmbeddings(model, model_name="counting")
    assert last.vector(embeddings, "Hello?") == last.vector(embeddings, "Hello?") == [6.0, 1.0]
    assert model.asked == ["Hello?"]
    for number in range(MAX_QUERIES):
        last.vector(embeddings, f"Remark {number}")
    last.vector(embeddings, "Hello?")
    assert model.asked.count("Hello?") == 2


def test_several_who_hear_one_remark_cost_one_embedding() -> None:
    """Who asks while it is embedded waits for that vector."""
    model, last = Counting(), LastQueries()
    embeddings = CheckedEmbeddings(model, model_name="counting")
    model.may_answer.clear()
    heard: list[list[float]] = []
    threads = [threading.Thread(target=lambda: heard.append(last.vector(embeddings, "Fire!"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    model.may_answer.set()
    for thread in threads:
        thread.join(30)
    assert heard == [[5.0, 1.0]] * 8
    assert model.asked == ["Fire!"]


def test_a_failure_is_told_and_not_kept() -> None:
    """The model is asked again the next time, and the same remark has a vector per model."""
    model, last = Counting(), LastQueries()
    embeddings = CheckedEmbeddings(model, model_name="counting")
    model.fails = True
    with pytest.raises(EmbeddingError, match="out of order"):
        last.vector(embeddings, "Hello?")
    model.fails = False
    assert last.vector(embeddings, "Hello?") == [6.0, 1.0]
    one, other, last = Counting(), Counting(), LastQueries()
    last.vector(CheckedEmbeddings(one, model_name="one"), "Hello?")
    last.vector(CheckedEmbeddings(other, model_name="other"), "Hello?")
    assert (len(one.asked), len(other.asked)) == (1, 1)
