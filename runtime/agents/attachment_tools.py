"""Making memories, and keeping what they are attached to in order, as LangChain tools for function calling.

create_memory, update_memory, list_memories, memory_attach, memory_detach and memory_attach_by_mention.
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import read_prompt_file
from novelgen.models.memory import DISTILLED_TYPES, StoryMemoryChunk
from novelgen.models.position import StoryPosition, require_project_id
from runtime.agents.arguments import (
    AttachArguments,
    AttachByMentionArguments,
    CreateMemoryArguments,
    ListMemoriesArguments,
    UpdateMemoryArguments,
)
from runtime.agents.structured_tool import Answer, structured_tool
from runtime.stores import MemoryStores
from runtime.story.attachments import AttachmentChange, StoryAttachments
from runtime.story.memories import StoryMemories

MAX_SHOWN_MEMORIES = 20
"""So many of the memories that name an entity are shown to the model; the rest is counted."""


def build_attachment_tools(stores: MemoryStores, project_id: str) -> list[BaseTool]:
    """Build the tools with which an editor's model keeps attachments in order.

    They reach the whole project, what is still to come in the story included: they are for editors and
    translators of a finished text, not for the planner of a scene.
    """
    bodies = _AttachmentToolBodies(stores, require_project_id(project_id))
    return [
        structured_tool(
            "create_memory",
            "Store one fact that holds in the story and attach it to what it is about, so that it is at hand wherever"
            " that appears. Look with list_memories whether it is stored already. One fact per memory; do not repeat"
            " names in it to make it findable: attach it instead.",
            bodies.create,
            CreateMemoryArguments,
        ),
        structured_tool(
            "update_memory",
            "Change a memory's text, weight or tags, or replace all that it is attached to: attached_to takes it off"
            " everything that is not listed. To add or take off single things use memory_attach and memory_detach.",
            bodies.update,
            UpdateMemoryArguments,
        ),
        structured_tool(
            "list_memories",
            "List the facts that are attached to characters, places, items, terms, chapters or the whole book, in story"
            " order.",
            bodies.list_attached,
            ListMemoriesArguments,
        ),
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


def attachment_guidance(language: StoryLanguage) -> str:
    """Return what the system prompt of an agent with these tools should say of attachments."""
    return read_prompt_file(f"memory_attachments.{language}.txt").strip()


class _AttachmentToolBodies:
    def __init__(self, stores: MemoryStores, project_id: str) -> None:
        self._stores = stores
        self._project_id = project_id

    def create(
        self,
        *,
        content: str,
        attached_to: list[str] | None = None,
        short: str | None = None,
        importance: int | None = None,
        tags: list[str] | None = None,
        chapter_index: int | None = None,
        scene_index: int | None = None,
    ) -> Answer:
        added = StoryMemories(self._stores, self._project_id).note(
            text=content,
            attached_to=attached_to or (),
            start=None if chapter_index is None else StoryPosition(chapter_index, scene_index),
            short=short,
            importance=importance,
            tags=tags or (),
        )
        return {"success": True, "memory": _shown(added.note)}

    def update(self, *, memory_id: str, **changes: Any) -> Answer:
        changed = StoryMemories(self._stores, self._project_id).edit_memory(memory_id=memory_id, **changes)
        return {"success": True, "memory": _shown(changed.memory.chunk)}

    def list_attached(self, *, attached_to: list[str], limit: int = MAX_SHOWN_MEMORIES) -> Answer:
        found = StoryMemories(self._stores, self._project_id).memories(
            attached_to=attached_to, content_types=DISTILLED_TYPES, limit=limit
        )
        return {"success": True, "count": found.total, "memories": [_shown(each.chunk) for each in found.memories]}

    def attach(self, *, memory_ids: list[str], attached_to: list[str]) -> Answer:
        return _answer(
            StoryAttachments(self._stores, self._project_id).attach_memories(memory_ids=memory_ids, targets=attached_to)
        )

    def detach(self, *, memory_ids: list[str], attached_to: list[str]) -> Answer:
        return _answer(
            StoryAttachments(self._stores, self._project_id).detach_memories(memory_ids=memory_ids, targets=attached_to)
        )

    def attach_by_mention(self, *, entity: str, preview: bool = True) -> Answer:
        found = StoryAttachments(self._stores, self._project_id).attach_mentions(entity=entity, is_applied=not preview)
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
        "attached_to": [each.model_dump() for each in chunk.attached_to],
    }
