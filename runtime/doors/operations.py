"""Every operation of a story once: the method that does it, and what its signature cannot say of the doors to it.

The method tells arguments, bounds, defaults, descriptions and the result. A row adds the address and the name at each
door; a door makes its route, command or tool of both. What is streamed, uploaded or runs as a job has a route or a
command of its own, beside the table.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel, create_model

if TYPE_CHECKING:
    from runtime.doors.arguments import Method
    from runtime.story.base import StoryBase


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that users do with a story, and how it is called at each door.

    Args:
        name: Its name over HTTP and in traces.
        method: `module:Class.method` below `runtime.story`.
        http: Method and path below a project.
        status: Of the answer over HTTP.
        key: Under which a result that is a list, or none of our models, stands in JSON.
        is_read: Whether it changes nothing, whatever its HTTP method.
        without: Arguments that no door but Python offers.
        position: Path parameters `chapter_index` and `scene_index` are this one argument.
    """

    name: str
    method: str
    http: str
    status: int = 200
    key: str = ""
    is_read: bool = False
    without: tuple[str, ...] = ()
    position: str = ""
    tags: tuple[str, ...] = field(default=())

    @property
    def part(self) -> type[StoryBase]:
        """The part of a story that does it."""
        module, _, name = self.method.partition(":")
        part: type[StoryBase] = getattr(importlib.import_module(f"runtime.story.{module}"), name.partition(".")[0])
        return part

    @property
    def function(self) -> Method:
        """The method, unbound."""
        method: Method = getattr(self.part, self.method.rpartition(".")[2])
        return method

    @property
    def result(self) -> Any:
        """The type of the answer as JSON."""
        return _result_of(self)

    def answer(self, result: Any) -> Any:
        """Return a result as it stands in JSON at every door."""
        return self.result(**{self.key: result}) if self.key else result


@cache
def _result_of(operation: Operation) -> Any:
    returned = get_type_hints(operation.function)["return"]
    if not operation.key:
        return returned
    name = "".join(part.capitalize() for part in operation.name.split("_")) + "Result"
    fields: dict[str, Any] = {operation.key: (returned, ...)}
    return create_model(name, __base__=BaseModel, **fields)


def _of(tag: str, *rows: tuple[str, str, str, dict[str, Any]]) -> tuple[Operation, ...]:
    """Return the operations of one subject: name, method, address over HTTP, and what else there is to say."""
    return tuple(
        Operation(name=name, method=method, http=http, tags=(tag,), **more) for name, method, http, more in rows
    )


_SCENE = "/scenes/{chapter_index}/{scene_index}"

OPERATIONS: tuple[Operation, ...] = (
    *_of(
        "writing",
        ("search_story_memory", "search:StorySearch.search", "POST /search", {"key": "memories", "is_read": True}),
        ("get_recent_timeline", "states:StoryStates.get_timeline", "GET /timeline", {}),
    ),
    *_of(
        "scenes",
        ("list_scenes", "scenes:StoryScenes.list_scenes", "GET /scenes", {"key": "scenes"}),
        ("get_scene", "scenes:StoryScenes.get_scene", f"GET {_SCENE}", {"position": "position"}),
        ("delete_scene", "scenes:StoryScenes.delete_scene", f"DELETE {_SCENE}", {"position": "position"}),
        (
            "edit_scene",
            "scene_editing:StorySceneEditing.edit_scene",
            f"PATCH {_SCENE}",
            {"position": "place", "without": ("evidence",)},
        ),
        (
            "preview_scene_text",
            "scene_editing:StorySceneEditing.preview_scene_text",
            f"POST {_SCENE}/preview",
            {"position": "position", "is_read": True},
        ),
        (
            "amend_recorded_fact",
            "scene_editing:StorySceneEditing.amend_recorded_fact",
            f"POST {_SCENE}/record/amend",
            {"position": "position"},
        ),
        ("get_scene_record", "scenes:StoryScenes.get_record", f"GET {_SCENE}/record", {"position": "position"}),
        (
            "insert_scene",
            "scenes:StoryScenes.insert_scene",
            f"POST {_SCENE}/insert",
            {"position": "position", "status": 201},
        ),
        ("list_summaries", "summaries:StorySummarizing.list_summaries", "GET /summaries", {"key": "summaries"}),
        ("write_summary", "summaries:StorySummarizing.write_author_summary", "PUT /summaries/{level}/{number}", {}),
        (
            "list_author_changes",
            "author_changes:StoryAuthorChanges.author_changes",
            "GET /author-changes",
            {"key": "changes"},
        ),
        (
            "undo_last_author_change",
            "author_changes:StoryAuthorChanges.undo_author_change",
            "POST /author-changes/undo",
            {"without": ("change_id",)},
        ),
        (
            "undo_author_change",
            "author_changes:StoryAuthorChanges.undo_author_change",
            "POST /author-changes/{change_id}/undo",
            {},
        ),
    ),
    *_of(
        "memories",
        ("list_memories", "memories:StoryMemories.memories", "GET /memories", {}),
        ("add_note", "memories:StoryMemories.note", "POST /memories", {"status": 201}),
        ("get_memory", "memories:StoryMemories.find_memory", "GET /memories/{memory_id}", {}),
        ("edit_memory", "memories:StoryMemories.edit_memory", "PATCH /memories/{memory_id}", {}),
        ("delete_memory", "memories:StoryMemories.delete_memory", "DELETE /memories/{memory_id}", {}),
        ("confirm_memory", "memories:StoryMemories.confirm_memory", "PUT /memories/{memory_id}/confirm", {}),
        ("pin_memory", "memories:StoryMemories.pin_memory", "PUT /memories/{memory_id}/pin", {}),
        ("unpin_memory", "memories:StoryMemories.unpin_memory", "DELETE /memories/{memory_id}/pin", {}),
        ("ban_memory", "memories:StoryMemories.ban_memory", "PUT /memories/{memory_id}/ban", {}),
        ("unban_memory", "memories:StoryMemories.unban_memory", "DELETE /memories/{memory_id}/ban", {}),
    ),
    *_of(
        "entities",
        ("list_entities", "entities:StoryEntities.entities", "GET /entities", {"key": "entities"}),
        (
            "list_appearances",
            "appearances:StoryAppearances.list_appearances",
            "GET /appearances",
            {"key": "appearances"},
        ),
        ("preview_merge", "appearances:StoryAppearances.preview_merge", "GET /entities/merge/preview", {}),
        ("merge_entities", "entities:StoryEntities.merge_entities", "POST /entities/merge", {}),
        ("get_entity", "entities:StoryEntities.entity", "GET /entities/{name}", {}),
        ("list_memories_about", "attachments:StoryAttachments.memories_about", "GET /entities/{entity}/memories", {}),
        ("edit_entity", "entities:StoryEntities.edit_entity", "PATCH /entities/{name}", {}),
        ("delete_entity", "deletion:StoryDeletion.delete_entity", "DELETE /entities/{name}", {}),
        ("split_entity", "entities:StoryEntities.split_entity", "POST /entities/{name}/split", {}),
        ("undo_last_change", "entities:StoryEntities.undo", "POST /changes/undo", {"without": ("change_id",)}),
        ("undo_change", "entities:StoryEntities.undo", "POST /changes/{change_id}/undo", {}),
        ("list_candidates", "name_candidates:StoryNameCandidates.candidates", "GET /candidates", {"key": "candidates"}),
    ),
    *_of(
        "threads",
        ("list_threads", "threads:StoryThreads.threads", "GET /threads", {"key": "threads"}),
        ("add_thread", "threads:StoryThreads.add_thread", "POST /threads", {"status": 201}),
        ("get_thread_ledger", "thread_ledger:StoryThreadLedger.thread_ledger", "GET /threads/ledger", {}),
        (
            "list_reopenable_threads",
            "threads:StoryThreads.reopenable_threads",
            "GET /threads/reopenable",
            {"key": "thread_ids"},
        ),
        ("get_thread", "threads:StoryThreads.get_thread", "GET /threads/{thread_id}", {}),
        ("edit_thread", "threads:StoryThreads.edit_thread", "PATCH /threads/{thread_id}", {}),
        ("advance_thread", "threads:StoryThreads.advance_thread", "POST /threads/{thread_id}/advance", {}),
        ("resolve_thread", "threads:StoryThreads.resolve_thread", "POST /threads/{thread_id}/resolve", {}),
        ("abandon_thread", "threads:StoryThreads.abandon_thread", "POST /threads/{thread_id}/abandon", {}),
        ("reopen_thread", "threads:StoryThreads.reopen_thread", "POST /threads/{thread_id}/reopen", {}),
        ("delete_thread", "deletion:StoryDeletion.delete_thread", "DELETE /threads/{thread_id}", {}),
    ),
    *_of(
        "story",
        (
            "list_relationships",
            "relationships:StoryRelationships.relationships",
            "GET /relationships",
            {"key": "relationships"},
        ),
        (
            "get_relationship_course",
            "relationships:StoryRelationships.relationship_course",
            "GET /relationships/course",
            {},
        ),
        (
            "add_relationship",
            "relationships:StoryRelationships.add_relationship",
            "POST /relationships",
            {"status": 201},
        ),
        ("edit_relationship", "relationships:StoryRelationships.edit_relationship", "PATCH /relationships", {}),
        ("delete_relationship", "deletion:StoryDeletion.delete_relationship", "DELETE /relationships", {}),
        ("get_knowledge_table", "knowledge_table:StoryKnowledgeTable.knowledge_table", "GET /knowledge", {}),
        ("list_knowledge", "knowledge:StoryKnowledge.knowledge", "GET /knowledge/{character}", {}),
        ("set_knowledge", "knowledge:StoryKnowledge.set_knowledge", "PUT /knowledge/{character}/{memory_id}", {}),
        (
            "forget_knowledge",
            "knowledge:StoryKnowledge.forget_knowledge",
            "DELETE /knowledge/{character}/{memory_id}",
            {"key": "forgotten"},
        ),
        ("who_knows", "knowledge:StoryKnowledge.who_knows", "GET /who-knows/{memory_id}", {}),
        ("list_shared_scenes", "knowledge:StoryKnowledge.lived_together", "GET /lived-together", {}),
        ("list_conflicts", "conflicts:StoryConflicts.conflicts", "GET /conflicts", {"key": "conflicts"}),
        ("waive_conflict", "conflicts:StoryConflicts.waive_conflict", "POST /conflicts/{conflict_id}/waive", {}),
        ("settle_conflict", "conflicts:StoryConflicts.settle_conflict", "POST /conflicts/{conflict_id}/settle", {}),
        ("consolidate_memories", "consolidation:StoryConsolidation.consolidate_memories", "POST /consolidate", {}),
        (
            "undo_consolidations",
            "consolidation:StoryConsolidation.undo_consolidations",
            "DELETE /consolidate",
            {"key": "gone"},
        ),
    ),
    *_of(
        "drafts",
        (
            "list_waived_findings",
            "continuity:StoryContinuity.waived_findings",
            "GET /check/waivers",
            {"key": "waivers"},
        ),
        ("add_waiver", "continuity:StoryContinuity.waive_finding", "POST /check/waivers", {"status": 201}),
        ("remove_waiver", "continuity:StoryContinuity.unwaive_finding", "DELETE /check/waivers/{issue_id}", {}),
        ("list_changes", "story_difference:StoryDifferences.what_changed", "GET /changes", {}),
        ("list_story_times", "story_time:StoryTimes.story_times", "GET /story-times", {}),
    ),
)
"""In the order in which routes are tried: a fixed path stands before one with a name in its place."""

COMMANDS_ALONE: tuple[Operation, ...] = _of(
    "",
    ("move_scene", "scenes:StoryScenes.move_scene", "", {}),
    ("add_character", "entities:StoryEntities.add_character", "", {}),
    ("add_location", "entities:StoryEntities.add_location", "", {}),
    ("list_entity_changes", "entities:StoryEntities.list_entity_changes", "", {"key": "changes"}),
    ("confirm_candidate", "name_candidates:StoryNameCandidates.confirm_candidate", "", {}),
    ("drop_candidate", "name_candidates:StoryNameCandidates.drop_candidate", "", {}),
    ("get_relationship", "relationships:StoryRelationships.get_relationship", "", {}),
    ("list_consolidations", "consolidation:StoryConsolidation.list_consolidations", "", {"key": "consolidations"}),
    ("attach_memories", "attachments:StoryAttachments.attach_memories", "", {}),
    ("detach_memories", "attachments:StoryAttachments.detach_memories", "", {}),
    ("attach_mentions", "attachments:StoryAttachments.attach_mentions", "", {}),
)
"""What commands alone offer so far: without an address over HTTP."""
