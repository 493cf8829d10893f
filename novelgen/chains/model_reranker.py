"""The selection of memories by a chat model as a LangChain reranker, for the documents of any retriever."""

import logging
from collections.abc import Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import BaseChatModel
from pydantic import ConfigDict, Field, SkipValidation

from novelgen.context.memory_list import MemoryList, memory_line
from novelgen.context.model_selector import ModelSelector
from novelgen.language.language import estimate_tokens, has_cjk
from novelgen.memory.search import Candidate
from novelgen.models.context import MemoryContextRequest
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan

logger = logging.getLogger(__name__)


class ModelReranker(BaseDocumentCompressor):
    """Reranks documents by what a chat model says that a planned scene needs.

    The query is the plan in words. Documents keep their order in the prompt, with `chapter_index` and `scene_index` of
    their metadata. Where the model fails they come back as they were, and a warning is logged.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: SkipValidation[BaseChatModel] = Field(exclude=True, repr=False)
    top_n: int = Field(default=60, ge=1, description="At most so many documents.")
    timeout_s: float = Field(default=20.0, gt=0, description="For the call and its one repair.")

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the documents that the scene needs, the most needed first.

        Args:
            documents: What a retriever found.
            query: The plan of the scene, in words.
            callbacks: Taken for LangChain's sake.

        Returns:
            At most `top_n` documents.
        """
        if not documents or not query.strip():
            return list(documents)[: self.top_n]
        chunks = [
            StoryMemoryChunk(
                chunk_id=str(number),
                project_id="documents",
                content=document.page_content,
                chapter_index=document.metadata.get("chapter_index"),
                scene_index=document.metadata.get("scene_index"),
            )
            for number, document in enumerate(documents)
        ]
        memory_list = MemoryList(
            tuple(map(Candidate, chunks)),
            tuple(memory_line(number, chunk, estimate_tokens) for number, chunk in enumerate(chunks, start=1)),
        )
        plan = ScenePlan(purpose=query)
        request = MemoryContextRequest(project_id="documents", chapter_index=1, scene_index=1, scene_plan=plan)
        selection = ModelSelector(self.model, timeout_s=self.timeout_s).select(
            request, memory_list, open_loops=(), language="zh" if has_cjk(query) else "en"
        )
        for issue in selection.issues:
            logger.warning("the documents keep their order: %s", issue.message)
        chosen_documents = [documents[int(chunk_id)] for chunk_id in selection.chunk_ids] or list(documents)
        return chosen_documents[: self.top_n]
