"""memory_attach, memory_detach and memory_attach_by_mention as LangChain tools for function calling."""

from __future__ import annotations

from langchain_core.tools import BaseTool

from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import require_project_id
from runtime.services.attachments import (
    AttachmentChange,
    attach_memories,
    attach_mentions,
    detach_memories,
)
from runtime.stores import MemoryStores
from runtime.story_tools.arguments import AttachArguments, AttachByMentionArguments
from runtime.story_tools.structured_tool import Answer, structured_tool

MAX_SHOWN_MEMORIES = 20
"""So many of the memories that name an entity are shown to the model; the rest is counted."""


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
        return _answer(
            attach_memories(self._stores, self._project_id, memory_ids=memory_ids, targets=attached_to)
        )

    def detach(self, *, memory_ids: list[str], attached_to: list[str]) -> Answer:
        return _answer(
            detach_memories(self._stores, self._project_id, memory_ids=memory_ids, targets=attached_to)
        )

    def attach_by_mention(self, *, entity: str, preview: bool = True) -> Answer:
        found = attach_mentions(self._stores, self._project_id, entity=entity, is_applied=not preview)
        return {
            "success": True,
            "attached": found.is_attached,
            "count": len(found.memories),
            "memories": [_shown(chunk) for chunk in found.memories[:MAX_SHOWN_MEMORIES]],
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
