"""The table of operations: methods, and their details for doors.

The method tells arguments, bounds, defaults, descriptions and the result. A row adds the address and the name at each
door; a door makes its route, command or tool of both. What is streamed, uploaded or runs as a job has a route or a
command of its own, beside the table.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, create_model

from novelgen.models.context import ReportIssue
from novelgen.models.shown import ShownList
from runtime.story.base import ReadsArguments, as_part

if TYPE_CHECKING:
    from runtime.doors.arguments import Method
    from runtime.story.base import StoryBase


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that users do with a story, and how it is called at each door.

    Args:
        name: Its name over HTTP and in traces.
        module: Of the part of a story that does it, below `runtime.story`.
        method: The method that does it.
        http: Method and path below a project; empty where it has none.
        status: Of the answer over HTTP.
        key: Under which a result that is a list, or none of our models, stands in JSON.
        has_issues: Whether JSON has the `issues` of such a list beside it.
        is_read: Whether it changes nothing, whatever its HTTP method.
        without: Arguments that no door but Python offers.
        position: Path parameters `chapter_index` and `scene_index` are this one argument.
        fixed: Arguments that HTTP gives by itself.
        for_readers: Arguments of who may only read, whatever the settings say.
        has_prompt: Whether who accepts plain text is given the result as a block for a prompt.
        may_create: Whether `create` in the body makes the character, and the project, where there is none.
    """

    name: str
    module: str
    method: str
    http: str = ""
    status: int = 200
    key: str = ""
    has_issues: bool = False
    is_read: bool = False
    without: tuple[str, ...] = ()
    position: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict, hash=False)
    for_readers: Mapping[str, Any] = field(default_factory=dict, hash=False)
    has_prompt: bool = False
    may_create: bool = False
    tags: tuple[str, ...] = field(default=())

    @property
    def is_of_character(self) -> bool:
        """Whether a character does it, which the path names."""
        return self.module == "character"

    @property
    def changes(self) -> bool:
        """Whether it may change something."""
        return not (self.is_read or self.http.startswith("GET "))

    @property
    def part(self) -> type[StoryBase]:
        """The part of a story that does it."""
        module = importlib.import_module(f"runtime.story.{self.module}")
        parts = (value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__)
        part: Any = next(
            part
            for part in parts
            if isinstance(part, type) and issubclass(part, ReadsArguments) and hasattr(part, self.method)
        )
        own_part: type[StoryBase] = part
        return own_part

    @property
    def function(self) -> Method:
        """The method, unbound."""
        method: Method = getattr(self.part, self.method)
        return method

    def run(self, story: StoryBase, payload: Mapping[str, Any]) -> Any:
        """Do it with a story, or with one of its characters."""
        return self.function(story if self.is_of_character else as_part(story, self.part), **payload)

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


def change_number(result: Any) -> int | None:
    """Return the undo number of a change, None without a single one."""
    numbers: set[int | None] = set()
    for item in result if isinstance(result, list) else [result]:
        change = getattr(item, "change", None) or item
        numbers.add(None if getattr(change, "undone_at", None) else getattr(change, "change_id", None))
    return numbers.pop() if len(numbers) == 1 else None


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


def _row(name: str, where: str, http: str = "", **more: Any) -> Operation:
    """Return an operation, by its method's name or a qualified one."""
    module, _, method = where.partition(".")
    return Operation(name=name, module=module, method=method or name, http=http, **more)


def _of(tag: str, *rows: Operation) -> tuple[Operation, ...]:
    """Return the operations of one subject."""
    return tuple(replace(operation, tags=(tag,)) for operation in rows)


_SCENE = "/scenes/{chapter_index}/{scene_index}"
_WHO = "/characters/{character_id}"

OPERATIONS: tuple[Operation, ...] = (
    *_of(
        "projects",
        _row("export_project", "transfer.export_documents", "GET /export", key="files"),
        _row("export_text", "transfer.export_text", "GET /text", key="text"),
        _row("check_health", "condition", "GET /doctor", fixed={"repair": False, "ask_network": False}),
        _row("repair_project", "condition.check_health", "POST /doctor", fixed={"repair": True, "ask_network": False}),
    ),
    *_of(
        "writing",
        _row("build_context", "story.context", "POST /context", is_read=True, without=("write_file",), has_prompt=True),
        _row(
            "build_chunk_context",
            "story.chunk_context",
            "POST /chunk-context",
            is_read=True,
            for_readers={"touch": False},
            has_prompt=True,
        ),
        _row("summarize_scene", "summaries.summarize", "POST /summarize", is_read=True),
        _row("get_entity_state", "states.state", "GET /states/{entity_id}", key="state"),
        _row("search_story_memory", "search.search", "POST /search", key="memories", has_issues=True, is_read=True),
        _row("get_recent_timeline", "states.states_around", "GET /timeline"),
    ),
    *_of(
        "scenes",
        _row("list_scenes", "scenes.list", "GET /scenes", key="scenes"),
        _row("get_scene", "scenes.get", f"GET {_SCENE}", position="position"),
        _row("store_text", "ingest", "POST /scenes"),
        _row("ingest_scene", "ingest.store", f"PUT {_SCENE}", position="position"),
        _row("move_scene", "scenes.move", f"POST {_SCENE}/move", position="source"),
        _row("delete_scene", "scenes.delete", f"DELETE {_SCENE}", position="position"),
        _row("edit_scene", "scene_editing.edit", f"PATCH {_SCENE}", without=("evidence",), position="position"),
        _row("set_staging", "scene_editing", f"PUT {_SCENE}/staging", position="position"),
        _row(
            "preview_scene_text",
            "scene_editing.preview_text",
            f"POST {_SCENE}/preview",
            is_read=True,
            position="position",
        ),
        _row("amend_recorded_fact", "scene_editing.amend_fact", f"POST {_SCENE}/record/amend", position="position"),
        _row("get_scene_record", "scenes.get_record", f"GET {_SCENE}/record", position="position"),
        _row("insert_scene", "scenes.insert", f"POST {_SCENE}/insert", status=201, position="position"),
        _row("list_summaries", "summaries.list", "GET /summaries", key="summaries"),
        _row("write_summary", "summaries.write", "PUT /summaries/{level}/{number}"),
        _row("list_author_changes", "changes.list", "GET /author-changes", key="changes"),
    ),
    *_of(
        "memories",
        _row("list_memories", "memories.list", "GET /memories"),
        _row("add_note", "memories.add", "POST /memories", status=201),
        _row("preview_note", "memories.preview", "POST /memories/preview", is_read=True),
        _row("list_lore", "lore.list", "GET /lore", key="entries"),
        _row("import_lore", "lore.import_book", "POST /lore", status=201),
        _row("export_lore", "lore.export_book", "GET /lore/export", key="lorebook"),
        _row("get_memory", "memories.get", "GET /memories/{memory_id}"),
        _row("edit_memory", "memories.edit", "PATCH /memories/{memory_id}"),
        _row("delete_memory", "memories.delete", "DELETE /memories/{memory_id}"),
        _row("end_memory", "memories.end", "POST /memories/{memory_id}/end"),
        _row("confirm_memory", "memories.confirm", "PUT /memories/{memory_id}/confirm"),
        _row("pin_memory", "memories.pin", "PUT /memories/{memory_id}/pin"),
        _row("unpin_memory", "memories.unpin", "DELETE /memories/{memory_id}/pin"),
        _row("ban_memory", "memories.ban", "PUT /memories/{memory_id}/ban"),
        _row("unban_memory", "memories.unban", "DELETE /memories/{memory_id}/ban"),
    ),
    *_of(
        "entities",
        _row("list_entities", "entities.list", "GET /entities", key="entities"),
        _row("list_appearances", "who_is_who", "GET /appearances", key="appearances"),
        _row("preview_merge", "who_is_who", "GET /entities/merge/preview"),
        _row("merge_entities", "entities.merge", "POST /entities/merge"),
        _row("add_card", "entities.add", "POST /entities", status=201),
        _row("import_glossary", "glossary", "POST /glossary", status=201),
        _row("export_glossary", "glossary", "GET /glossary", key="glossary"),
        _row("list_card_fields", "entity_fields.list_fields", "GET /card-fields", key="fields"),
        _row("get_entity", "entities.get", "GET /entities/{entity_id}"),
        _row("list_memories_about", "attachments.list_about", "GET /entities/{entity_id}/memories"),
        _row("edit_entity", "entities.edit", "PATCH /entities/{entity_id}"),
        _row("rename_card", "renaming.rename", "POST /entities/{entity_id}/rename"),
        _row("delete_entity", "entities.delete", "DELETE /entities/{entity_id}"),
        _row("split_entity", "entities.split", "POST /entities/{entity_id}/split"),
        _row("undo_last_change", "undo.undo", "POST /changes/undo", without=("change_id",)),
        _row("undo_change", "undo.undo", "POST /changes/{change_id}/undo"),
        _row("list_candidates", "who_is_who.list", "GET /candidates", key="candidates"),
        _row(
            "confirm_candidates",
            "who_is_who.confirm_several",
            "POST /candidates/confirm-several",
            status=201,
            key="confirmed",
            has_issues=True,
        ),
        _row("confirm_candidate", "who_is_who.confirm", "POST /candidates/confirm", status=201),
        _row("merge_candidate", "who_is_who.merge", "POST /candidates/merge"),
        _row("drop_candidate", "who_is_who.drop", "POST /candidates/drop"),
    ),
    *_of(
        "threads",
        _row("list_threads", "threads.list", "GET /threads", key="threads"),
        _row("add_thread", "threads.add", "POST /threads", status=201),
        _row("get_thread_ledger", "threads.ledger", "GET /threads/ledger"),
        _row("list_reopenable_threads", "threads.list_reopenable", "GET /threads/reopenable", key="loop_ids"),
        _row("get_thread", "threads.get", "GET /threads/{loop_id}"),
        _row("edit_thread", "threads.edit", "PATCH /threads/{loop_id}"),
        _row("advance_thread", "threads.advance", "POST /threads/{loop_id}/advance"),
        _row("resolve_thread", "threads.resolve", "POST /threads/{loop_id}/resolve"),
        _row("abandon_thread", "threads.abandon", "POST /threads/{loop_id}/abandon"),
        _row("reopen_thread", "threads.reopen", "POST /threads/{loop_id}/reopen"),
        _row("delete_thread", "threads.delete", "DELETE /threads/{loop_id}"),
    ),
    *_of(
        "story",
        _row("list_relationships", "relationships.list", "GET /relationships", key="relationships"),
        _row(
            "query_relationships",
            "relationships.query",
            "GET /characters/{character_id}/relationships",
            key="relationships",
        ),
        _row("get_relationship_course", "relationships.course", "GET /relationships/course"),
        _row("add_relationship", "relationships.add", "POST /relationships", status=201),
        _row("edit_relationship", "relationships.edit", "PATCH /relationships"),
        _row("delete_relationship", "relationships.delete", "DELETE /relationships"),
        _row("get_knowledge_table", "knowledge.table", "GET /knowledge"),
        _row("list_knowledge", "knowledge.list", "GET /knowledge/{character_id}"),
        _row("set_knowledge", "knowledge.set", "PUT /knowledge/{character_id}/{memory_id}"),
        _row("forget_knowledge", "knowledge.forget", "DELETE /knowledge/{character_id}/{memory_id}", key="forgotten"),
        _row("who_knows", "knowledge", "GET /who-knows/{memory_id}"),
        _row("list_shared_scenes", "knowledge.list_shared_scenes", "GET /lived-together"),
        _row("list_conflicts", "conflicts.list", "GET /conflicts", key="conflicts"),
        _row("waive_conflict", "conflicts.waive", "POST /conflicts/{conflict_id}/waive"),
        _row("settle_conflict", "conflicts.settle", "POST /conflicts/{conflict_id}/settle"),
        _row("consolidate_memories", "extraction.consolidate", "POST /consolidate"),
        _row("undo_consolidations", "extraction", "DELETE /consolidate", key="gone"),
    ),
    *_of(
        "drafts",
        _row("list_waived_findings", "continuity.list_waivers", "GET /check/waivers", key="waivers"),
        _row("add_waiver", "continuity.waive", "POST /check/waivers", status=201),
        _row("remove_waiver", "continuity.unwaive", "DELETE /check/waivers/{finding_id}"),
        _row("check_draft", "continuity.check", "POST /check", is_read=True, without=("model",)),
        _row(
            "check_stored_scenes",
            "continuity.check_stored",
            "GET /check/stored/{chapter_index}",
            without=("model", "workers"),
            fixed={"use_model": False},
        ),
        _row("list_changes", "story_difference.between", "GET /changes"),
        _row("list_story_times", "states.times", "GET /story-times"),
    ),
    *_of(
        "characters",
        _row("list_character_memories", "character.memories", f"GET {_WHO}/memories", key="memories"),
        _row("remember_event", "character.remember", f"POST {_WHO}/memories", status=201, may_create=True),
        _row("edit_character_memory", "character.edit", f"PATCH {_WHO}/memories/{{memory_id}}"),
        _row("delete_character_memory", "character.delete", f"DELETE {_WHO}/memories/{{memory_id}}"),
        _row("list_character_changes", "character.changes", f"GET {_WHO}/changes", key="changes"),
        _row("undo_character_change", "character.undo", f"POST {_WHO}/undo"),
        _row(
            "recall_memories",
            "character.recall",
            f"POST {_WHO}/recall",
            is_read=True,
            without=("protected",),
            has_prompt=True,
        ),
        _row("consolidate_character", "character.consolidate", f"POST {_WHO}/consolidate"),
        _row("tell_memories", "character.tell", f"POST {_WHO}/tell"),
        _row("get_feelings", "character.feelings", f"GET {_WHO}/feelings"),
        _row("change_feelings", "character.feel", f"POST {_WHO}/feelings"),
        _row("list_feelings_changes", "character.feelings_history", f"GET {_WHO}/feelings/history", key="changes"),
        _row("list_secrets", "character.secrets", f"GET {_WHO}/secrets", key="secrets"),
        _row("keep_secret", "character", f"PUT {_WHO}/secrets"),
        _row("drop_secret", "character", f"DELETE {_WHO}/secrets/{{secret_id}}"),
        _row("reveal_secret", "character.reveal", f"POST {_WHO}/secrets/{{secret_id}}/reveal"),
        _row("show_item", "character.see_item", f"POST {_WHO}/items"),
        _row("check_reply", "character", f"POST {_WHO}/check-reply", key="findings", is_read=True),
        _row("tell_world_event", "character_news.announce", "POST /world-events", status=201),
        _row("list_world_events", "character_news.list_events", "GET /world-events", key="events", is_read=True),
        _row("list_flags", "secrets.get_flags", "GET /flags", key="flags"),
        _row("set_flag", "secrets", "PUT /flags/{name}"),
    ),
)
"""In the order in which routes are tried: a fixed path stands before one with a name in its place."""

WITHOUT_ADDRESS: tuple[Operation, ...] = (
    _row("add_character", "entities"),
    _row("add_location", "entities"),
    _row("list_entity_changes", "entities.list_changes", key="changes", is_read=True),
    _row("get_relationship", "relationships.get", is_read=True),
    _row("list_consolidations", "extraction", key="consolidations", is_read=True),
    _row("find_cards", "search.find", is_read=True),
    _row("extract_scenes", "extraction.extract"),
    _row("attach_memories", "attachments.attach"),
    _row("detach_memories", "attachments.detach"),
    _row("attach_mentions", "attachments"),
)
"""What commands or tools alone offer: none has a route made of it."""

BY_NAME = {operation.name: operation for operation in (*OPERATIONS, *WITHOUT_ADDRESS)}
"""Every operation."""
