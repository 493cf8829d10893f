"""Rerankers of LangChain in the place of the selecting model, and ours for another retriever."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document

import novelgen
from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.chains.model_reranker import ModelReranker
from novelgen.errors import ConfigurationError
from novelgen.models.context import ContextReport
from novelgen.settings import ContextSettings
from tests.support.scripted_chat_model import answering
from tests.support.stored_story import patient
from tests.support.stories import lighthouse_memory, lighthouse_request


class LastFirst(BaseDocumentCompressor):
    """Returns the documents from the last to the first, once more the first, and one of its own."""

    queries: list[str]

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Note the query and turn the order round."""
        self.queries.append(query)
        return [*reversed(documents), documents[0], Document("a stranger")]


class Failing(BaseDocumentCompressor):
    """Fails as a provider's package may, or finds nothing relevant."""

    is_empty: bool = False

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Raise, or return nothing."""
        if self.is_empty:
            return []
        raise KeyError("results")


def report_with(reranker: BaseDocumentCompressor, settings: ContextSettings | None = None) -> ContextReport:
    """Build a context whose memories a reranker chooses, and return its report."""
    chain = MemoryContextChain(lighthouse_memory(), reranker=reranker, settings=patient(settings), propagate_bugs=True)
    report = chain.invoke(lighthouse_request()).report
    return report


def test_a_reranker_chooses_in_the_place_of_a_model() -> None:
    reranker = LastFirst(queries=[])
    report = report_with(reranker)
    assert [item.source_id for item in report.items] == ["M3", "M2", "M1"]
    assert "Ada returns and looks for the brass key" in reranker.queries[0]
    assert report.selector is not None
    chosen = report.selector
    assert (chosen.used, chosen.chosen, chosen.repeated, chosen.unknown) == ("reranker", 3, 1, 1)


def test_rules_ask_no_reranker() -> None:
    reranker = LastFirst(queries=[])
    report = report_with(reranker, ContextSettings(selector="rules"))
    assert reranker.queries == []
    assert report.selector is None


@pytest.mark.parametrize(("reranker", "kind"), [(Failing(), "unavailable"), (Failing(is_empty=True), "malformed")])
def test_a_reranker_that_fails_leaves_the_choice_of_the_rules(reranker: Failing, kind: str) -> None:
    by_rules = MemoryContextChain(lighthouse_memory(), settings=patient(), propagate_bugs=True)
    expected = by_rules.invoke(lighthouse_request()).report
    report = report_with(reranker)
    assert expected is not None
    assert [item.text for item in report.items] == [item.text for item in expected.items]
    assert [issue.kind for issue in report.issues if issue.stage == "select"] == [kind]


def test_what_is_no_reranker_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="reranker cannot be str"):
        novelgen.open("projects", reranker="cohere")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_reranker_of_the_program_reaches_its_stories(tmp_path: Path) -> None:
    reranker = LastFirst(queries=[])
    record = {"memories": [{"memory_id": "M1", "event_type": "event", "content": "Ada hid the brass key."}]}
    slow = {"tool_timeout_s": 60, "chain_timeout_s": 120}
    with novelgen.open(tmp_path, embeddings="fake:64", reranker=reranker, **slow) as memory:
        story = memory.create("mill", language="en")
        story.ingest(text="Ada hid the key.", record=record, chapter_index=1, scene_index=1)
        report = story.context(1, 2, {"purpose": "Ada looks for the key."}).report
    assert report.selector is not None
    assert report.selector.used == "reranker"


DOCUMENTS = [
    Document("Ada hid the key.", metadata={"chapter_index": 1, "scene_index": 1}),
    Document("It rained."),
    Document("Ben sold the lamp.", metadata={"chapter_index": 2, "scene_index": 3}),
]


def test_a_model_reranks_the_documents_of_any_retriever() -> None:
    model = answering('{"numbers": [3, 1]}')
    ranked = ModelReranker(model=model).compress_documents(DOCUMENTS, "Ada asks who has the lamp.")
    assert [document.page_content for document in ranked] == ["Ben sold the lamp.", "Ada hid the key."]
    prompt = str(model.prompts[0][-1].content)
    assert "1. [1:1] Ada hid the key.\n2. [*] It rained.\n3. [2:3] Ben sold the lamp." in prompt
    assert "Ada asks who has the lamp." in prompt


def test_documents_keep_their_order_where_the_model_fails() -> None:
    model = answering("no idea", "no idea")
    ranked = ModelReranker(model=model, top_n=2).compress_documents(DOCUMENTS, "阿达要找灯。")
    assert ranked == DOCUMENTS[:2]
    assert ModelReranker(model=model).compress_documents([], "Ada") == []
