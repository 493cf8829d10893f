"""The story tools as LangChain tools for function calling.

Function names cannot hold dots: `memory_search` is memory.search, `character_generate` character.generate,
`location_generate` location.generate, `relationship_create`, `relationship_update` and `relationship_query`
are relationship.create, .update and .query, `knowledge_query` is knowledge.query, `open_loop_create` and
`open_loop_resolve` open_loop.create and .resolve, `story_changes` story.changes, `scene_summarize` summarize_scene,
`continuity_check` continuity.check. memory.upsert is `runtime.story.entities.edit_entity`, for code, the command
line and an editor's model (`editing_tools`): a planner that could change any field could undo the author's work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from novelgen.context.difference_block import difference_lines
from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id
from runtime.agents import arguments
from runtime.agents.structured_tool import Answer, structured_tool
from runtime.stores import MemoryStores
from runtime.story.cards import CARD_TYPES, CardSearch, CardType
from runtime.story.continuity import StoryContinuity
from runtime.story.entities import StoryEntities
from runtime.story.knowledge import StoryKnowledge
from runtime.story.relationships import StoryRelationships
from runtime.story.scene_summary import summarize_scene
from runtime.story.story_difference import StoryDifferences
from runtime.story.story_time import StoryTimes
from runtime.story.thread_ledger import StoryThreadLedger
from runtime.story.threads import StoryThreads

_DESCRIPTIONS = {
    "memory_search": (
        "Search the story's memory for characters, locations and scenes by name or meaning. Use it before you"
        " create anything, and whenever you need an id. Returns the best fits with id, name, relevance from 0"
        " to 1 and a snippet."
    ),
    "character_generate": (
        "Create a new character. Only for somebody who is not known yet: search first. Returns the new character's id."
    ),
    "location_generate": (
        "Create a new location. Only for a place that is not known yet: search first. Returns the new location's id."
    ),
    "relationship_create": (
        "Record how two characters stand who have no relationship yet, seen from both sides. Returns the"
        " relationship's id."
    ),
    "relationship_update": (
        "Record that the relationship of two characters changed, named in either order: a new status, type or"
        " intensity, an event between them, how one sees the other, or what character_a feels. Give at least one."
    ),
    "relationship_query": (
        "List how one character stands to others, from that character's side, optionally only relationships"
        " of one status such as strained. Use it before you write a scene with that character."
    ),
    "knowledge_query": (
        "List what a character knows at this point of the story, and what is true but unknown to them, the latest"
        " first. Use it before you let somebody speak of, hint at or act on a fact. might_know says that they have"
        " met somebody since who knows it: they may have been told, but nothing says so."
    ),
    "story_time_query": (
        "List when the last scenes play: the words of the story, the running day with how certain it is, the days"
        " since the scene before, and whether a scene tells of the past. Use it before you say how much time has"
        " passed. With a character, the days are those since the last scene with them."
    ),
    "open_loop_create": (
        "Record a question, promise or threat that the story has opened and must answer later. Returns the"
        " open loop's id."
    ),
    "open_loop_list": (
        "List the questions, promises and threats that the story has opened and not ended, those first that press"
        " most, with when each is due. Use it before you plan a scene. on_stage says whom and what the scene has."
    ),
    "story_changes": (
        "Tell what the last finished scene changed, or all scenes from one on: new facts, states, who holds what,"
        " threads, who learnt what, relationships, newcomers, deaths. Use it before you plan the next scene."
    ),
    "scene_summarize": (
        "Sum up the text of a finished scene in three to five bullets: key events, decisions, what came out. Nothing"
        " is stored."
    ),
    "open_loop_resolve": "Record that an open loop was answered, or that it was dropped (abandoned).",
    "continuity_check": (
        "Check the draft of the scene that is being written against everything before it: the dead who act, things"
        " in wrong hands, what somebody cannot know, broken promises, wrong numbers and days, events that never"
        " were. Use it before a scene is finished. Returns what contradicts what, with a quote of the draft and the"
        " evidence. Nothing is stored."
    ),
}


def build_story_tools(
    stores: MemoryStores,
    project_id: str,
    as_of: StoryPosition | None = None,
    *,
    chat_model: BaseChatModel | None = None,
) -> list[BaseTool]:
    """Build the tools of a planner for one project.

    Every answer is a JSON object; what goes wrong comes back as `{success: false, error, hint}` instead of
    an exception. What a tool states holds after the last scene before the position.
    """
    bodies = _StoryToolBodies(stores, require_project_id(project_id), as_of or END_OF_STORY, chat_model)
    tools: dict[str, tuple[Callable[..., Answer], type[BaseModel]]] = {
        "memory_search": (bodies.memory_search, arguments.MemorySearchArguments),
        "character_generate": (bodies.character_generate, arguments.CharacterGenerateArguments),
        "location_generate": (bodies.location_generate, arguments.LocationGenerateArguments),
        "relationship_create": (bodies.relationship_create, arguments.RelationshipCreateArguments),
        "relationship_update": (bodies.relationship_update, arguments.RelationshipUpdateArguments),
        "relationship_query": (bodies.relationship_query, arguments.RelationshipQueryArguments),
        "knowledge_query": (bodies.knowledge_query, arguments.KnowledgeQueryArguments),
        "story_time_query": (bodies.story_time_query, arguments.StoryTimeQueryArguments),
        "open_loop_create": (bodies.open_loop_create, arguments.OpenLoopCreateArguments),
        "open_loop_resolve": (bodies.open_loop_resolve, arguments.OpenLoopResolveArguments),
        "open_loop_list": (bodies.open_loop_list, arguments.OpenLoopListArguments),
        "story_changes": (bodies.story_changes, arguments.StoryChangesArguments),
        "scene_summarize": (bodies.scene_summarize, arguments.SceneSummarizeArguments),
        "continuity_check": (bodies.continuity_check, arguments.ContinuityCheckArguments),
    }
    return [structured_tool(name, _DESCRIPTIONS[name], body, schema) for name, (body, schema) in tools.items()]


class _StoryToolBodies:
    """What the tools do: a call of a service, and its result as the JSON object that a model reads."""

    def __init__(
        self, stores: MemoryStores, project_id: str, as_of: StoryPosition, chat_model: BaseChatModel | None
    ) -> None:
        self._story = (stores, project_id)
        self._chat_model = chat_model
        self._as_of = as_of
        self._cards = CardSearch(stores, project_id, as_of=as_of)

    def memory_search(self, *, query: str, entity_types: Sequence[CardType] | None = None, **bounds: Any) -> Answer:
        found = self._cards.search(query, card_types=entity_types or CARD_TYPES, **bounds)
        answer: Answer = {"results": [each.model_dump(mode="json") for each in found.results]}
        return answer | ({"issues": found.issues} if found.issues else {})

    def character_generate(
        self, *, traits: Sequence[str] | None = None, goals: Sequence[str] | None = None, **fields: Any
    ) -> Answer:
        added = (
            StoryEntities(*self._story)
            .add_character(traits=traits or (), goals=goals or (), start=self._as_of, **fields)
            .entity
        )
        return {"success": True, "character_id": added.entity_id, "name": added.name}

    def location_generate(self, *, features: Sequence[str] | None = None, **fields: Any) -> Answer:
        added = StoryEntities(*self._story).add_location(features=features or (), start=self._as_of, **fields).entity
        return {"success": True, "location_id": added.entity_id, "name": added.name}

    def relationship_create(self, *, character_a: str, character_b: str, **fields: Any) -> Answer:
        added = StoryRelationships(*self._story).add_relationship(
            first=character_a, second=character_b, start=self._as_of, **fields
        )
        return {"success": True, "relationship_id": added.relationship_id}

    def relationship_update(self, *, character_a: str, character_b: str, **changes: Any) -> Answer:
        edited = StoryRelationships(*self._story).edit_relationship(
            first=character_a, second=character_b, start=self._as_of, **changes
        )
        return {"success": True, "relationship_id": edited.relationship.relationship_id, "updated": edited.is_changed}

    def relationship_query(self, *, character_id: str, status_filter: str | None = None) -> Answer:
        views = StoryRelationships(*self._story).relationships_of(
            character=character_id, status=status_filter, as_of=self._as_of
        )
        names = StoryEntities(*self._story).entity_names(as_of=self._as_of)
        fields = {"character_id", "relationship_type", "status", "your_view", "intensity"}
        return {
            "relationships": [
                {"character_name": names.get(view.character_id, view.character_id), **view.model_dump(include=fields)}
                for view in sorted(views, key=lambda view: -view.intensity)
            ]
        }

    def knowledge_query(
        self, *, character_id: str, about: str | None = None, limit: int = arguments.KNOWN_MEMORIES
    ) -> Answer:
        found = StoryKnowledge(*self._story).knowledge(character=character_id, about=about, as_of=self._as_of)
        told = found.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {
            "character_id": found.character_id,
            **{name: told[name][-limit:][::-1] for name in ("known", "not_known")},
            "known_in_all": len(found.known),
            "not_known_in_all": len(found.not_known),
        }

    def story_time_query(self, *, character_id: str | None = None, limit: int) -> Answer:
        found = StoryTimes(*self._story).story_times(character=character_id, as_of=self._as_of)
        fields = {"chapter_index", "scene_index", "story_day", "until_day", "certainty", "since_previous"}
        fields |= {"is_flashback", "lived"}
        scenes = [
            {"told": each.told.text if each.told is not None else None, **each.model_dump(mode="json", include=fields)}
            for each in found.scenes[-limit:]
        ]
        return {"scenes": scenes, "scenes_in_all": len(found.scenes)}

    def open_loop_create(
        self,
        *,
        related_characters: Sequence[str] | None = None,
        related_locations: Sequence[str] | None = None,
        related_items: Sequence[str] | None = None,
        **fields: Any,
    ) -> Answer:
        thread = StoryThreads(*self._story).add_thread(
            characters=related_characters or (),
            locations=related_locations or (),
            items=related_items or (),
            start=self._as_of,
            **fields,
        )
        return {"success": True, "open_loop_id": thread.loop_id}

    def open_loop_resolve(
        self, *, open_loop_id: str, resolution_summary: str, abandoned: bool = False, scene_id: str | None = None
    ) -> Answer:
        end = StoryThreads.abandon_thread if abandoned else StoryThreads.resolve_thread
        thread = end(
            StoryThreads(*self._story),
            thread_id=open_loop_id,
            summary=resolution_summary,
            scene_id=scene_id,
            start=self._as_of,
        )
        return {"success": True, "open_loop_id": thread.loop_id, "status": thread.status}

    def open_loop_list(
        self, *, on_stage: Sequence[str] | None = None, category: str = "", only_due: bool, limit: int
    ) -> Answer:
        ledger = StoryThreadLedger(*self._story).thread_ledger(as_of=self._as_of, on_stage=on_stage or ())
        ledger = ledger.of_category(category) if category else ledger
        waiting = ledger.at("due", "overdue") if only_due else [each for each in ledger.entries if each.is_waiting]
        fields = {"loop_id", "category", "description", "importance", "related_entities", "stage", "pressure"}
        fields |= {"age_scenes", "silent_scenes", "window", "pay_off", "parts"}
        told = [each.model_dump(mode="json", include=fields, exclude_none=True) for each in waiting[:limit]]
        return {"open_loops": told, "waiting_in_all": len(waiting)}

    def story_changes(self, *, chapter_index: int | None = None, scene_index: int | None = None) -> Answer:
        since = None if chapter_index is None else StoryPosition(chapter_index, scene_index)
        difference = StoryDifferences(*self._story).what_changed(since=since, until=self._as_of)
        return {"changes": difference_lines(difference), "is_empty": difference.is_empty}

    def scene_summarize(self, *, scene_text: str, max_bullets: int) -> Answer:
        summary = summarize_scene(
            scene_text, chat_model=self._chat_model, max_bullets=max_bullets, settings=self._story[0].settings
        )
        issues = [each.message for each in summary.issues]
        return {"summary": summary.bullets} | ({"issues": issues} if issues else {})

    def continuity_check(self, *, text: str, pov: str | None = None) -> Answer:
        stores, project_id = self._story
        chapter, scene = StoryContinuity(stores, project_id).scene_of_draft(as_of=self._as_of)
        check = StoryContinuity(stores, project_id).check(
            text=text, chapter_index=chapter, scene_index=scene, pov=pov, model=self._chat_model
        )
        fields = {"issue_id", "kind", "severity", "draft_quote", "message", "by", "confidence", "fix"}
        fields_of_evidence = {"source_id", "chapter_index", "scene_index", "text", "quote"}
        told = [
            each.model_dump(mode="json", include=fields)
            | {
                "evidence": [
                    piece.model_dump(mode="json", include=fields_of_evidence)
                    for piece in each.evidence[: arguments.EVIDENCE_OF_FINDING]
                ]
            }
            for each in check.issues
        ]
        problems = [each.message for each in check.report.issues]
        return {"chapter_index": chapter, "scene_index": scene, "findings": told} | (
            {"issues": problems} if problems else {}
        )
