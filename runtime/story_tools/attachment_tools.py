"""memory_attach, memory_detach and memory_attach_by_mention as LangChain tools for function calling."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field

from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import require_project_id
from runtime.attachment_tools import (
    AttachmentChange,
    memory_attach,
    memory_attach_by_mention,
    memory_detach,
)
from runtime.stores import MemoryStores
from runtime.story_tools.refusals import Answer
from runtime.story_tools.structured_tool import structured_tool

SHOWN_MEMORIES = 20
"""So many of the memories that name an entity are shown to the model; the rest is counted."""

_Ids = Annotated[list[str], Field(min_length=1, max_length=100)]
_TARGETS = "Entities by id or name, chapters as chapter:3, or book."


class AttachArguments(BaseModel):
    """Arguments of memory_attach and memory_detach."""

    model_config = ConfigDict(extra="forbid")

    memory_ids: _Ids = Field(description="chunk_id or source_id of each memory.")
    attached_to: _Ids = Field(description=_TARGETS)


class AttachByMentionArguments(BaseModel):
    """Arguments of memory_attach_by_mention."""

    model_config = ConfigDict(extra="forbid")

    entity: str = Field(min_length=1, description="Id, name or alias of the entity.")
    preview: bool = Field(default=True, description="True: only show which memories would be attached.")


def build_attachment_tools(stores: MemoryStores, project_id: str) -> list[BaseTool]:
    """Build the tools with which an editor's model keeps attachments in order.

    They reach the whole project, what is still to come in the story included: they are for editors and
    translators of a finished text, not for the planner of a scene.

    Args:
        stores: Open stores; they are not closed by the tools.
        project_id: The only project that the tools can reach.

    Returns:
        memory_attach, memory_detach and memory_attach_by_mention; their answers are JSON objects, what goes
        wrong `{success: false, error, hint}`.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
    """
    bodies = _AttachmentToolBodies(stores, require_project_id(project_id))
    return [
        structured_tool(
            "memory_attach",
            "Attach memories to what they are about, so that they are at hand wherever it appears: characters,"
            " places, items, terms, chapters, or the whole book. An unknown name is refused with the nearest.",
            bodies.attach,
            AttachArguments,
        ),
        structured_tool(
            "memory_detach",
            "Take memories off what they are wrongly attached to. A new ingest does not attach them again.",
            bodies.detach,
            AttachArguments,
        ),
        structured_tool(
            "memory_attach_by_mention",
            "Attach every memory whose text names an entity to that entity. Call it with preview first, look at"
            " the memories, then call it again with preview=false.",
            bodies.attach_by_mention,
            AttachByMentionArguments,
        ),
    ]


class _AttachmentToolBodies:
    def __init__(self, stores: MemoryStores, project_id: str) -> None:
        self._stores = stores
        self._project_id = project_id

    def attach(self, *, memory_ids: list[str], attached_to: list[str]) -> Answer:
        return _answer(memory_attach(self._project_id, memory_ids, attached_to, stores=self._stores))

    def detach(self, *, memory_ids: list[str], attached_to: list[str]) -> Answer:
        return _answer(memory_detach(self._project_id, memory_ids, attached_to, stores=self._stores))

    def attach_by_mention(self, *, entity: str, preview: bool = True) -> Answer:
        found = memory_attach_by_mention(self._project_id, entity, preview=preview, stores=self._stores)
        return {
            "success": True,
            "attached": found.is_attached,
            "count": len(found.memories),
            "memories": [_shown(chunk) for chunk in found.memories[:SHOWN_MEMORIES]],
        }


def _answer(change: AttachmentChange) -> Answer:
    return {"success": True, **change.model_dump(mode="json")}


def _shown(chunk: StoryMemoryChunk) -> Answer:
    return {
        "memory_id": chunk.source_id or chunk.chunk_id,
        "chapter_index": chunk.chapter_index,
        "scene_index": chunk.scene_index,
        "content": chunk.content,
    }
