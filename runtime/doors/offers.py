"""What agents are offered: each tool once, with its name over MCP and in LangChain, and what an answer tells of it."""

from __future__ import annotations

from typing import Any

from novelgen.context.difference_block import difference_lines
from runtime.doors.operations import BY_NAME
from runtime.doors.tools import Tool

_ISSUES: Any = {"__all__": {"stage", "message"}}
_INDEXING = {"issues": _ISSUES}
_ENTITY = {"entity_id": True, "entity_type": True, "name": True, "role": True, "aliases": {"__all__": {"alias"}}}
_STATE = {"entity_id", "chapter_index", "scene_index", "state_data", "unverified", "holds"}
_MEMORY = {"chunk_id", "source_id", "content", "chapter_index", "scene_index", "importance"}
_FOUND = _MEMORY | {"content_type", "event_type", "entities_mentioned", "superseded_by", "held_by", "verified"}
_ATTACHED = _MEMORY | {"attached_to"}
_THREAD = {"loop_id", "description", "category", "importance", "status", "notes"}
_RELATIONSHIP = {"relationship_id", "character_a", "character_b", "relationship_type", "status", "intensity"} | {
    "perspective_a",
    "perspective_b",
}
_KNOWN = {"source_id", "content", "how", "learned_from", "since_chapter", "since_scene", "certainty"}
_UNKNOWN = {"source_id", "content", "why", "might_know_from"}
_EVIDENCE = {"source_id", "chapter_index", "scene_index", "text", "quote"}
_CHANGED_MEMORY = {"memory": {"chunk": _ATTACHED, "status": True, "pinned": True}, "indexing": _INDEXING}
_CHANGED_ENTITY = {"change": {"change_id", "kind", "entity_id"}, "entity": _ENTITY, "other": _ENTITY}
_LEDGER = {"loop_id", "description", "category", "importance", "stage", "pressure", "chapter_index", "scene_index"} | {
    "age_scenes",
    "silent_scenes",
    "window",
    "pay_off",
    "parts",
    "related_entities",
}
_FINDING = dict.fromkeys(("issue_id", "kind", "severity", "draft_quote", "message", "fix", "by", "confidence"), True)
_DELETED = {
    "deleted": True,
    "name": True,
    "unlinked_memories": True,
    "removed_relationships": True,
    "changed_threads": True,
    "changed_scenes": True,
    "changed_entities": True,
    "removed_character_memories": True,
    "changed_character_memories": True,
    "change": {"change_id"},
}

_OF_GAMES = (
    "at",
    "short",
    "interaction_type",
    "is_milestone",
    "state_deltas",
    "supersedes",
    "how",
    "heard_from",
    "witnesses",
    "details",
)
"""What programs of games give beside an event, and no model."""

_DECIDED = "Only when the author says so; no ingest takes it back."


def _tool(operation: str, hint: str, **more: Any) -> Tool:
    return Tool(operation=BY_NAME[operation], hint=hint, **more)


def _decision(operation: str, hint: str) -> Tool:
    return _tool(operation, f"{hint} {_DECIDED}", mcp=operation, include=_CHANGED_MEMORY)


TOOLS: tuple[Tool, ...] = (
    _tool(
        "build_context",
        "Build what the next scene must not contradict and should pick up: how everybody stands, what they know, what"
        " was established, open threads. Call it once before you write or plan a scene, and write from what it says."
        " Give the plan as fully as you have it. Returns a block of text.",
        mcp="build_scene_context",
        without=("write_file",),
        include={"chapter_index": True, "scene_index": True, "report": {"story_version": True, "issues": _ISSUES}},
        block=lambda context: context.as_prompt(),
    ),
    _tool(
        "check_draft",
        "Check the draft of a scene against everything before it: the dead who act, things in wrong hands, what"
        " somebody cannot know, broken promises, wrong numbers and days, events that never were. Call it after you"
        " wrote a scene and before {ingest_scene}. Returns findings with quotes of both sides; nothing is stored.",
        mcp="check_draft",
        langchain="continuity_check",
        without=("model",),
        include={
            "chapter_index": True,
            "scene_index": True,
            "issues": {"__all__": {**_FINDING, "evidence": dict.fromkeys(range(3), _EVIDENCE)}},
            "waived": {"__all__": {"issue_id"}},
            "checked": {"facts_before", "model_calls"},
            "report": {"issues": _ISSUES},
        },
    ),
    _tool(
        "list_changes",
        "Tell what the last stored scene changed, or all from one on: facts, states, who holds what, threads, who"
        " learnt what, newcomers, deaths. Call it when you come back to a story, before you plan on.",
        mcp="what_changed",
        langchain="story_changes",
        include=set(),
        block=lambda difference: "\n".join(difference_lines(difference)),
    ),
    _tool(
        "search_story_memory",
        "Search what the story has established, by meaning and by words: facts, events, promises, secrets. One question"
        " per call. Call it whenever you are about to state something of the past that you have not read. A memory with"
        " superseded_by is outdated; held_by is the source_id of what holds.",
        mcp="search_story_memory",
        langchain="search_story_memory_tool",
        include={"memories": {"__all__": _FOUND}, "issues": _ISSUES},
    ),
    _tool(
        "get_entity_state",
        "Look up where a character, place or thing is at a point of the story, what it holds, wants and suffers; null"
        " where nothing is known of it by then. For who somebody is, call {get_entity}.",
        mcp="get_entity_state",
        langchain="get_entity_state_tool",
        include={"state": _STATE},
        with_names=True,
    ),
    _tool(
        "get_recent_timeline",
        "List how everybody and everything stood at the end of the chapters around one chapter, to see what changed"
        " lately. For one of them alone, call {get_entity_state}.",
        mcp="get_recent_timeline",
        langchain="get_recent_timeline_tool",
        include={"snapshots": {"__all__": _STATE}},
        with_names=True,
    ),
    _tool(
        "list_entities",
        "List characters, places, things, factions and terms with ids and aliases. Call it to find an id, and before"
        " you invent a name.",
        mcp="list_entities",
        defaults={"limit": 100},
        include={"entities": {"__all__": _ENTITY}},
    ),
    _tool(
        "get_entity",
        "Tell who a character or what a place or thing is: role, description, traits, aliases, and how it stands.",
        mcp="get_entity_card",
        include={
            "entity": {**_ENTITY, "description": True, "profile": True, "first_chapter": True, "first_scene": True},
            "state": _STATE,
        },
    ),
    _tool(
        "who_knows",
        "Tell who knows one fact, since when and from whom, and who does not. Call it before somebody speaks of a"
        " secret; {search_story_memory} tells the memory's source_id.",
        mcp="who_knows",
        include={
            "source_id": True,
            "content": True,
            "known_by": {"__all__": _KNOWN - {"source_id", "content"} | {"character_id", "name"}},
            "not_known_by": {"__all__": {"character_id", "name", "why", "might_know_from"}},
        },
    ),
    _tool(
        "list_knowledge",
        "List what a character knows, and what is true but unknown to them, the latest last. Call it before you let"
        " them speak, hint or act on something. might_know_from: has met one since who knows it, and may have heard.",
        mcp="get_character_knowledge",
        langchain="knowledge_query",
        defaults={"limit": 20},
        include={
            "character_id": True,
            "known": {"__all__": _KNOWN},
            "not_known": {"__all__": _UNKNOWN},
            "more_known": True,
            "more_not_known": True,
        },
    ),
    _tool(
        "get_thread_ledger",
        "List the questions, promises and threats that the story has opened and not ended, those first that press most."
        " Call it before you plan a scene.",
        mcp="list_threads",
        langchain="open_loop_list",
        defaults={"stages": ["planted", "moved", "due", "overdue"], "limit": 10},
        include={"entries": {"__all__": _LEDGER}, "more": True},
    ),
    _tool(
        "list_scenes",
        "List the last stored scenes with who was on stage and their summaries; tells which place comes next.",
        mcp="list_scenes",
        defaults={"limit": 30},
        include={
            "scenes": {
                "__all__": {
                    "on_stage": True,
                    "scene": {"chapter_index": True, "scene_index": True, "title": True, "record": {"summary"}},
                }
            }
        },
    ),
    _tool(
        "get_scene",
        "Return the text of a stored scene word by word, such as the last one, to go on in its voice.",
        mcp="read_scene",
        defaults={"length": 20_000},
        include={"scene": {"chapter_index", "scene_index", "title", "text"}, "characters": True},
    ),
    _tool(
        "add_note",
        "Store one fact that the author decided and no scene tells: a rule of the world, a plan, a secret. Not for what"
        " happens in a scene. Search first whether it is known. One fact per note, attached to what it is about.",
        mcp="add_note",
        langchain="create_memory",
        given_to="attachments",
        without=("evidence",),
        include={"note": _ATTACHED, "named": True},
    ),
    _tool(
        "ingest_scene",
        "Store a finished scene that the author has approved. The same text again changes nothing; another text at a"
        " place where a scene is stored takes its place, with all that came from it. Then call {extract_scenes}, unless"
        " you give the record; {list_changes} tells what it changed.",
        mcp="ingest_scene",
        needs=("text",),
        include={
            "scenes": {
                "__all__": {"outcome": True, "added": True, "changed": True, "unchanged": True, "issues": _ISSUES}
            },
            "failures": True,
            "warnings": True,
            "memories": True,
            "indexing": _INDEXING,
        },
    ),
    _tool(
        "extract_scenes",
        "Let the memory's own language model read out what stored scenes establish: facts with quotes, states, threads,"
        " who learnt what. Call it once after {ingest_scene} without a record; it can take a minute or two.",
        mcp="extract_scene",
        effect="changes",
        asks_model=True,
        needs=("scenes",),
        without=("model", "progress", "workers", "prices", "tell_changes", "index_progress", "chapter_index"),
        include={
            "scenes": {
                "__all__": {
                    "outcome": True,
                    "reason": True,
                    "memories": True,
                    "new_entities": {"__all__": _ENTITY},
                    "unverified": True,
                    "issues": _ISSUES,
                }
            },
            "stopped": True,
            "thread_warnings": True,
            "indexing": _INDEXING,
        },
        block=lambda report: "" if report.changes is None else "\n".join(difference_lines(report.changes)),
    ),
    _tool(
        "add_thread",
        "Record a question, promise or threat that the story has opened and must answer later. What {extract_scenes}"
        " has found is recorded already: look at {get_thread_ledger} first.",
        mcp="add_thread",
        langchain="open_loop_create",
        include=_THREAD,
    ),
    _tool(
        "resolve_thread",
        "Record that a thread was answered in the last stored scene, where {extract_scenes} has not found it.",
        mcp="resolve_thread",
        langchain="open_loop_resolve",
        include=_THREAD,
    ),
    _tool(
        "abandon_thread",
        "Record that a thread was dropped without an answer.",
        mcp="abandon_thread",
        langchain="open_loop_abandon",
        include=_THREAD,
    ),
    _tool(
        "add_waiver",
        "Mark a finding of {check_draft} as meant by the author, who must have said so; it stays silent while the words"
        " and the evidence stand.",
        mcp="waive_finding",
        effect="adds-once",
    ),
    _tool(
        "edit_memory",
        "Correct one memory that the author says is wrong: text, weight, tags, or what it is attached to; attached_to"
        " takes it off everything else. Not for what a new scene changes: that supersedes the old by itself.",
        mcp="edit_memory",
        langchain="update_memory",
        given_to="attachments",
        without=("evidence",),
        include=_CHANGED_MEMORY,
    ),
    _decision("pin_memory", "Keep a memory in every context where it fits at all."),
    _decision("unpin_memory", "Take back a pin."),
    _decision("ban_memory", "Hide a memory that is useless."),
    _decision("unban_memory", "Show a memory again that was banned or deleted."),
    _decision("delete_memory", "Delete a memory that is wrong."),
    _tool(
        "edit_entity",
        "Correct what a card says: name, role, description, alias, fields of the profile; current_state is an object of"
        " what holds now. Not for what a scene changes.",
        mcp="correct_entity",
        langchain="entity_update",
        given_to="editor",
        include={"entity": {**_ENTITY, "description": True}, "updated_fields": True, "change": {"change_id"}},
    ),
    _tool(
        "merge_entities",
        "Make two entries of the same character, place or thing one. Call it when the author says that they are one;"
        " {undo_change} takes it back.",
        mcp="merge_entities",
        effect="changes",
        include=_CHANGED_ENTITY,
    ),
    _tool(
        "undo_change",
        "Take back a change of a card, a merge, split or deletion by its change_id, unless something changed since.",
        mcp="undo_change",
        langchain="change_undo",
        given_to="editor",
        effect="changes",
        include=_CHANGED_ENTITY,
    ),
    _tool(
        "remember_event",
        "Games: keep an event in one character's own memory, in the character's words: what the character would still"
        " know in a week. Not for scenes of a book.",
        mcp="character_remember",
        langchain="character_remember",
        given_to="character",
        without=_OF_GAMES,
        include={"memory": {"memory_id"}, "ended": True, "issues": _ISSUES},
    ),
    _tool(
        "recall_memories",
        "Games: what comes back to a character at a remark. Call it before the character answers: what is not in it,"
        " the character does not know.",
        mcp="character_recall",
        langchain="character_recall",
        given_to="character",
        without=("protected", "as_of"),
        include={"items": {"__all__": {"memory": {"memory_id"}}}, "issues": _ISSUES},
        block=lambda recall: recall.as_prompt(),
    ),
    _tool(
        "find_cards",
        "Search characters, locations and scenes by name or meaning. Use it before you create anything, and whenever"
        " you need an id. Returns the best fits with id, name, relevance from 0 to 1 and a snippet.",
        langchain="memory_search",
    ),
    _tool(
        "add_card",
        "Make a card of a character, place, thing, faction or term that the author wants and no card has yet: search"
        " first. fields are those of the story's template; a wrong one is refused with those that there are.",
        mcp="add_card",
        langchain="card_add",
        given_to="editor",
        include={"entity": {**_ENTITY, "profile": True}, "holds_after": True, "change": {"change_id"}},
    ),
    _tool(
        "rename_card",
        "Give somebody or something another name in all that the memory tells; the old one stays an alias. Call it"
        " without is_applied, show the author the counts, then call it with is_applied=true. {undo_change} takes it"
        " back.",
        mcp="rename_card",
        langchain="card_rename",
        given_to="editor",
        include={
            "entity": _ENTITY,
            "names": True,
            "is_applied": True,
            "counts": True,
            "kept_within": True,
            "other_names": True,
            "in_text": True,
            "change": {"change_id"},
        },
    ),
    _tool(
        "add_character",
        "Create a new character. Only for somebody who is not known yet: search first. Returns the new entity_id.",
        langchain="character_generate",
        needs=("description",),
        include={"entity": _ENTITY, "holds_after": True},
    ),
    _tool(
        "add_location",
        "Create a new location. Only for a place that is not known yet: search first. Returns the new entity_id.",
        langchain="location_generate",
        needs=("description",),
        include={"entity": _ENTITY, "holds_after": True},
    ),
    _tool(
        "add_relationship",
        "Record how two characters stand who have no relationship yet, seen from both sides.",
        langchain="relationship_create",
        needs=("perspective_a", "perspective_b"),
        include=_RELATIONSHIP,
    ),
    _tool(
        "edit_relationship",
        "Record that the relationship of two characters changed, named in either order: a new status, type or"
        " intensity, an event between them, how one sees the other, or what the first feels. Give at least one.",
        langchain="relationship_update",
        include={"relationship": _RELATIONSHIP, "is_changed": True},
    ),
    _tool(
        "list_relationships",
        "List how one character stands to others, optionally only relationships of one status such as strained. Use it"
        " before you write a scene with that character.",
        langchain="relationship_query",
        needs=("character",),
        include={"relationships": {"__all__": _RELATIONSHIP}},
        with_names=True,
    ),
    _tool(
        "list_story_times",
        "List when the last scenes play: the words of the story, the running day with how certain it is, the days since"
        " the scene before, and whether a scene tells of the past. Use it before you say how much time has passed. With"
        " a character, the days are those since the last scene with them.",
        langchain="story_time_query",
        defaults={"limit": 10},
        include={
            "scenes": {
                "__all__": {
                    "chapter_index": True,
                    "scene_index": True,
                    "told": {"text"},
                    "story_day": True,
                    "until_day": True,
                    "certainty": True,
                    "since_previous": True,
                    "is_flashback": True,
                    "lived": True,
                }
            }
        },
    ),
    _tool(
        "summarize_scene",
        "Sum up the text of a finished scene in three to five bullets: key events, decisions, what came out. Nothing"
        " is stored.",
        langchain="scene_summarize",
        include={"bullets": True, "made_by": True, "issues": _ISSUES},
    ),
    _tool(
        "delete_entity",
        "Delete a character, place, thing, group or term that should not be there. Memories about it stay without"
        " the link. Returns a change_id, by which {undo_change} takes it back.",
        mcp="delete_card",
        langchain="entity_delete",
        given_to="editor",
        include=_DELETED,
    ),
    _tool(
        "delete_relationship",
        "Delete how two characters stand, with its history. Returns a change_id for {undo_change}.",
        langchain="relationship_delete",
        given_to="editor",
        include=_DELETED,
    ),
    _tool(
        "edit_thread",
        "Change how a thread is described, when it is due, or note something about it for the author.",
        langchain="open_loop_update",
        given_to="editor",
        include=_THREAD,
    ),
    _tool(
        "delete_thread",
        "Delete a thread that is none. One that was answered is resolved instead. Returns a change_id for"
        " {undo_change}.",
        langchain="open_loop_delete",
        given_to="editor",
        include=_DELETED,
    ),
    _tool(
        "list_memories",
        "List the facts that are attached to characters, places, items, terms, chapters or the whole book, in story"
        " order.",
        langchain="list_memories",
        given_to="attachments",
        needs=("attached_to",),
        defaults={"limit": 20, "content_types": ["memory", "note"]},
        include={"memories": {"__all__": {"chunk": _ATTACHED}}, "total": True},
    ),
    _tool(
        "attach_memories",
        "Attach memories to what they are about, so that they are at hand wherever it appears: characters, places,"
        " items, terms, chapters, or the whole book. An unknown name is refused with the nearest.",
        langchain="memory_attach",
        given_to="attachments",
    ),
    _tool(
        "detach_memories",
        "Take memories off what they are wrongly attached to. A new ingest does not attach them again.",
        langchain="memory_detach",
        given_to="attachments",
    ),
    _tool(
        "attach_mentions",
        "Attach every memory whose text names an entity to that entity. Call it first without is_applied, look at the"
        " memories, then call it again with is_applied=true.",
        langchain="memory_attach_by_mention",
        given_to="attachments",
        include={"target": True, "memories": {"__all__": _ATTACHED}, "is_attached": True},
    ),
)
"""In the order in which they are listed."""

MCP_TOOLS = tuple(each for each in TOOLS if each.mcp)

MCP_NAMES = {each.operation.name: each.mcp for each in MCP_TOOLS} | {"list_projects": "list_projects"}

LANGCHAIN_NAMES = {
    "list_entities": "memory_search",
    "list_scenes": "memory_search",
    "list_projects": "the program",
    "ingest_scene": "it is finished",
    "extract_scenes": "ingest",
    "get_entity": "memory_search",
} | {each.operation.name: each.langchain for each in TOOLS if each.langchain}
"""What a LangChain tool calls another; what has none there is called by what does its work."""
