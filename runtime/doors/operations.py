"""Every operation of a story once: the method that does it, and what its signature cannot say of the doors to it.

The method tells arguments, bounds, defaults, descriptions and the result. A row adds the address and the name at each
door; a door makes its route, command or tool of both. What is streamed, uploaded or runs as a job has a route or a
command of its own, beside the table.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, create_model

from novelgen.models.context import ReportIssue
from novelgen.models.shown import ShownList

if TYPE_CHECKING:
    from runtime.doors.arguments import Method
    from runtime.story.base import StoryBase


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that users do with a story, and how it is called at each door.

    Args:
        name: Its name over HTTP and in traces.
        method: `module:Class.method` below `runtime.story`.
        http: Method and path below a project; empty where it has none.
        status: Of the answer over HTTP.
        key: Under which a result that is a list, or none of our models, stands in JSON.
        has_issues: Whether such a list tells beside what was missing.
        is_read: Whether it changes nothing, whatever its HTTP method.
        without: Arguments that no door but Python offers.
        position: Path parameters `chapter_index` and `scene_index` are this one argument.
        fixed: Arguments that HTTP gives by itself.
        has_prompt: Whether who accepts plain text is given the result as a block for a prompt.
        may_create: Whether `create` in the body makes the character, and the project, where there is none.
    """

    name: str
    method: str
    http: str = ""
    status: int = 200
    key: str = ""
    has_issues: bool = False
    is_read: bool = False
    without: tuple[str, ...] = ()
    position: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict, hash=False)
    has_prompt: bool = False
    may_create: bool = False
    tags: tuple[str, ...] = field(default=())

    @property
    def is_of_character(self) -> bool:
        """Whether a character does it, which the path names."""
        return self.method.startswith("character:")

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
        if not self.key:
            return result
        issues = {"issues": result.issues} if self.has_issues else {}
        return self.result(**{self.key: result, **issues})


@cache
def _result_of(operation: Operation) -> Any:
    returned = get_type_hints(operation.function)["return"]
    if not operation.key:
        return returned
    name = "".join(part.capitalize() for part in operation.name.split("_")) + "Result"
    if get_origin(returned) is ShownList:
        returned = list[get_args(returned)]  # type: ignore[misc]
    fields: dict[str, Any] = {operation.key: (returned, ...)}
    if operation.has_issues:
        fields["issues"] = (list[ReportIssue], ...)
    return create_model(name, __base__=BaseModel, **fields)


def _of(tag: str, *rows: tuple[str, str, str, dict[str, Any]]) -> tuple[Operation, ...]:
    """Return the operations of one subject: name, method, address over HTTP, and what else there is to say."""
    return tuple(
        Operation(name=name, method=method, http=http, tags=(tag,), **more) for name, method, http, more in rows
    )


_SCENE = "/scenes/{chapter_index}/{scene_index}"
_WHO = "/characters/{character}"

OPERATIONS: tuple[Operation, ...] = (
    *_of(
        "projects",
        ("export_project", "transfer:StoryTransfer.project_documents", "GET /export", {"key": "files"}),
        (
            "check_health",
            "diagnosis:StoryDiagnosis.check_health",
            "GET /doctor",
            {"fixed": {"repair": False, "ask_network": False}},
        ),
        (
            "repair_project",
            "diagnosis:StoryDiagnosis.check_health",
            "POST /doctor",
            {"fixed": {"repair": True, "ask_network": False}},
        ),
    ),
    *_of(
        "writing",
        (
            "build_context",
            "story:Story.context",
            "POST /context",
            {"is_read": True, "has_prompt": True, "without": ("write_file",)},
        ),
        (
            "build_chunk_context",
            "story:Story.chunk_context",
            "POST /chunk-context",
            {"is_read": True, "fixed": {"touch": False}},
        ),
        ("summarize_scene", "scene_summary:StorySceneSummary.sum_up_scene", "POST /summarize", {"is_read": True}),
        ("get_entity_state", "states:StoryStates.state", "GET /states/{entity}", {"key": "state"}),
        (
            "search_story_memory",
            "search:StorySearch.search",
            "POST /search",
            {"key": "memories", "is_read": True, "has_issues": True},
        ),
        ("get_recent_timeline", "states:StoryStates.get_timeline", "GET /timeline", {}),
    ),
    *_of(
        "scenes",
        ("list_scenes", "scenes:StoryScenes.list_scenes", "GET /scenes", {"key": "scenes"}),
        ("get_scene", "scenes:StoryScenes.get_scene", f"GET {_SCENE}", {"position": "position"}),
        ("ingest_scene", "ingest:StoryIngest.ingest_finished_scene", f"PUT {_SCENE}", {"position": "position"}),
        ("move_scene", "scenes:StoryScenes.move_scene", f"POST {_SCENE}/move", {"position": "source"}),
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
        ("add_character", "entities:StoryEntities.add_character", "POST /characters", {"status": 201}),
        ("add_location", "entities:StoryEntities.add_location", "POST /locations", {"status": 201}),
        ("get_entity", "entities:StoryEntities.entity", "GET /entities/{name}", {}),
        ("list_memories_about", "attachments:StoryAttachments.memories_about", "GET /entities/{entity}/memories", {}),
        ("edit_entity", "entities:StoryEntities.edit_entity", "PATCH /entities/{name}", {}),
        ("delete_entity", "deletion:StoryDeletion.delete_entity", "DELETE /entities/{name}", {}),
        ("split_entity", "entities:StoryEntities.split_entity", "POST /entities/{name}/split", {}),
        ("undo_last_change", "entities:StoryEntities.undo", "POST /changes/undo", {"without": ("change_id",)}),
        ("undo_change", "entities:StoryEntities.undo", "POST /changes/{change_id}/undo", {}),
        ("list_candidates", "name_candidates:StoryNameCandidates.candidates", "GET /candidates", {"key": "candidates"}),
        (
            "confirm_candidates",
            "name_candidates:StoryNameCandidates.confirm_candidates",
            "POST /candidates/confirm-several",
            {"key": "confirmed", "status": 201},
        ),
        (
            "confirm_candidate",
            "name_candidates:StoryNameCandidates.confirm_candidate",
            "POST /candidates/confirm",
            {"status": 201},
        ),
        ("merge_candidate", "name_candidates:StoryNameCandidates.merge_candidate", "POST /candidates/merge", {}),
        ("drop_candidate", "name_candidates:StoryNameCandidates.drop_candidate", "POST /candidates/drop", {}),
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
        ("consolidate_memories", "extraction:StoryConsolidation.consolidate_memories", "POST /consolidate", {}),
        (
            "undo_consolidations",
            "extraction:StoryConsolidation.undo_consolidations",
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
        ("check_draft", "continuity:StoryContinuity.check", "POST /check", {"is_read": True, "without": ("model",)}),
        (
            "check_stored_scenes",
            "continuity:StoryContinuity.check_stored",
            "GET /check/stored/{chapter_index}",
            {"without": ("model", "workers"), "fixed": {"use_model": False}},
        ),
        ("list_changes", "story_difference:StoryDifferences.what_changed", "GET /changes", {}),
        ("list_story_times", "story_time:StoryTimes.story_times", "GET /story-times", {}),
    ),
    *_of(
        "characters",
        ("list_character_memories", "character:Character.memories", f"GET {_WHO}/memories", {"key": "memories"}),
        (
            "remember_event",
            "character:Character.remember",
            f"POST {_WHO}/memories",
            {"status": 201, "may_create": True},
        ),
        ("edit_character_memory", "character:Character.edit", f"PATCH {_WHO}/memories/{{memory_id}}", {}),
        ("delete_character_memory", "character:Character.delete", f"DELETE {_WHO}/memories/{{memory_id}}", {}),
        ("list_character_changes", "character:Character.changes", f"GET {_WHO}/changes", {"key": "changes"}),
        ("undo_character_change", "character:Character.undo", f"POST {_WHO}/undo", {}),
        (
            "recall_memories",
            "character:Character.recall",
            f"POST {_WHO}/recall",
            {"is_read": True, "has_prompt": True, "without": ("protected",)},
        ),
        ("consolidate_character", "character:Character.consolidate", f"POST {_WHO}/consolidate", {}),
        ("tell_memories", "character:Character.tell", f"POST {_WHO}/tell", {}),
        ("get_feelings", "character:Character.feelings", f"GET {_WHO}/feelings", {}),
        ("change_feelings", "character:Character.feel", f"POST {_WHO}/feelings", {}),
        (
            "list_feelings_changes",
            "character:Character.feelings_history",
            f"GET {_WHO}/feelings/history",
            {"key": "changes"},
        ),
        ("list_secrets", "character:Character.secrets", f"GET {_WHO}/secrets", {"key": "secrets"}),
        ("keep_secret", "character:Character.keep_secret", f"PUT {_WHO}/secrets", {}),
        ("drop_secret", "character:Character.drop_secret", f"DELETE {_WHO}/secrets/{{secret_id}}", {}),
        ("reveal_secret", "character:Character.reveal", f"POST {_WHO}/secrets/{{secret_id}}/reveal", {}),
        ("show_item", "character:Character.see_item", f"POST {_WHO}/items", {}),
        (
            "check_reply",
            "character:Character.check_reply",
            f"POST {_WHO}/check-reply",
            {"key": "findings", "is_read": True},
        ),
        ("tell_world_event", "character_news:StoryCharacterNews.world_event", "POST /world-events", {"status": 201}),
        ("list_flags", "secrets:StorySecrets.flags", "GET /flags", {"key": "flags"}),
        ("set_flag", "secrets:StorySecrets.set_flag", "PUT /flags/{name}", {"key": "flags"}),
    ),
)
"""In the order in which routes are tried: a fixed path stands before one with a name in its place."""

WITHOUT_ADDRESS: tuple[Operation, ...] = _of(
    "",
    ("list_entity_changes", "entities:StoryEntities.list_entity_changes", "", {"key": "changes", "is_read": True}),
    ("get_relationship", "relationships:StoryRelationships.get_relationship", "", {"is_read": True}),
    (
        "list_consolidations",
        "extraction:StoryConsolidation.list_consolidations",
        "",
        {"key": "consolidations", "is_read": True},
    ),
    ("find_cards", "cards:StoryCards.find_cards", "", {"is_read": True}),
    ("extract_scenes", "extraction:StoryExtraction.extract", "", {}),
    ("attach_memories", "attachments:StoryAttachments.attach_memories", "", {}),
    ("detach_memories", "attachments:StoryAttachments.detach_memories", "", {}),
    ("attach_mentions", "attachments:StoryAttachments.attach_mentions", "", {}),
)
"""What commands or tools alone offer: none has a route made of it."""

BY_NAME = {each.name: each for each in (*OPERATIONS, *WITHOUT_ADDRESS)}
"""Every operation."""
