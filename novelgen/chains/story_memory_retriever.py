"""The story memory as a LangChain retriever, for any chain that takes one."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import Field, SkipValidation

from novelgen.memory.protocol import MemoryTools
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition


class StoryMemoryRetriever(BaseRetriever):
    """Retriever of memories established strictly before a position.

    `k` and `as_of` may also be given to a single call: `retriever.invoke(query, k=3, as_of=position)`. A
    failing memory raises, as LangChain's `with_fallbacks` and `with_retry` expect of a retriever. LangChain
    itself takes the field `tags` for tracing, so that the filter is called `memory_tags`.
    """

    memory: SkipValidation[MemoryTools] = Field(
        exclude=True, repr=False, description="The memory tools, runtime's or a double; a search is enough."
    )
    project_id: str = Field(min_length=1)
    as_of: StoryPosition | None = Field(
        default=None, description="Only what lies strictly before it; None: all that is stored."
    )
    k: int = Field(default=10, ge=1, description="At most so many documents.")
    entities: list[str] = Field(
        default_factory=list, description="Only memories of one of these: ids, names or aliases; empty: all."
    )
    content_type: ContentType | None = Field(default=None, description="Only this kind of memory.")
    memory_tags: list[str] = Field(
        default_factory=list, description="Only memories with one of these tags; empty: all."
    )
    min_relevance: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Only what fits at least so well; other than 0 only where the memory's search takes it.",
    )

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        as_of: StoryPosition | None = None,
    ) -> list[Document]:
        if not query.strip():
            return []
        # A memory of one's own need not know of relevance.
        bound: dict[str, Any] = {"min_relevance": self.min_relevance} if self.min_relevance else {}
        memories = self.memory.search_story_memory(
            self.project_id,
            query,
            entities=self.entities or None,
            content_type=self.content_type,
            tags=self.memory_tags or None,
            top_k=self.k if k is None else k,
            as_of=as_of or self.as_of,
            **bound,
        )
        return [document_of(chunk) for chunk in memories]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        search = self._get_relevant_documents
        return await run_in_executor(None, search, query, run_manager=run_manager.get_sync(), **options)


def document_of(chunk: StoryMemoryChunk) -> Document:
    """Return a memory as a Document.

    Args:
        chunk: The memory.

    Returns:
        Its content under its chunk_id. The metadata has chunk_id, source_id, project_id, chapter_index,
        scene_index, importance, entities (ids), tags, content_type and superseded_by (what holds in its place; None
        where it holds itself); a position or source that the memory lacks is None. Where the memory says what it is
        attached to, also attached_to (type and id of each thing).
    """
    metadata = chunk.model_dump(
        include={
            "chunk_id",
            "source_id",
            "project_id",
            "chapter_index",
            "scene_index",
            "importance",
            "tags",
            "content_type",
            "superseded_by",
        }
    )
    metadata["entities"] = list(chunk.entities_mentioned)
    if chunk.attached_to:
        metadata["attached_to"] = [attachment.model_dump() for attachment in chunk.attached_to]
    return Document(chunk.content, id=chunk.chunk_id, metadata=metadata)
