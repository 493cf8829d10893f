"""One story for Python programs: the services as methods of an object, each that blocks with an async twin."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from novelgen.chains.story_memory_retriever import StoryMemoryRetriever
from novelgen.errors import UserInputError
from novelgen.models.chunk_context import ChunkContext, MemoryPriority
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.memory import ContentType
from novelgen.models.position import StoryPosition
from runtime.agents.langgraph import (
    CONTEXT_KEY,
    PROMPT_KEY,
    RECORD_KEY,
    REPORT_KEY,
    TEXT_KEY,
    ContextStep,
    StoryStore,
    build_context_node,
    build_scene_node,
)
from runtime.context_chain import build_chunk_context
from runtime.files.project_files import in_first_shape, own_scene_plan
from runtime.memory_tools import DEFAULT_TOP_K
from runtime.story.base import (
    PLACE_NUMBERS,
    CallerObject,
    Language,
    Number,
    Passage,
    Place,
    as_part,
    async_twin,
    named_place,
    position_of,
)
from runtime.story.character import Character
from runtime.story.characters import StoryCharacters
from runtime.story.conflicts import StoryConflicts
from runtime.story.contexts import ContextBuilder, ContextOptions
from runtime.story.continuity import StoryChecks, StoryContinuity
from runtime.story.extraction import StoryExtraction, is_extraction_model_set
from runtime.story.ingest import StoryIngest, read_given
from runtime.story.knowledge import StoryKnowledge
from runtime.story.lore import StoryLore
from runtime.story.parts import ChangesPart, EntitiesPart, MemoriesPart, ScenesPart, WorldPart
from runtime.story.relationships import StoryRelationships
from runtime.story.search import StorySearch
from runtime.story.summaries import StorySummarizing
from runtime.story.threads import StoryThreads
from runtime.story.transfer import StoryTransfer
from runtime.story.undo import StoryUndo
from runtime.story.who_is_who import StoryNameCandidates

ToolKind = Literal["planner", "editor", "attachments"]
"""Agents that tools are for."""


class Story(StorySearch, StoryIngest, StoryExtraction, StoryContinuity, StoryUndo):
    """The memory of one story, safe between threads.

    `Memory.story` gives it.

    Positions are `StoryPosition`s, `(chapter, scene)` pairs or chapter numbers; what is read at a position lies
    strictly before it. Entities are named by id, name or alias.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        chat_model: Chat model in place of the setting's.
    """

    def __repr__(self) -> str:
        return f"Story({self.project_id!r})"

    # --- Parts ---

    @cached_property
    def memories(self) -> MemoriesPart:
        """Memories: list, add, correct, attach and consolidate them."""
        return as_part(self, MemoriesPart)

    @cached_property
    def entities(self) -> EntitiesPart:
        """Entities with their cards and states."""
        return as_part(self, EntitiesPart)

    @cached_property
    def candidates(self) -> StoryNameCandidates:
        """Names of the text that no entity has."""
        return as_part(self, StoryNameCandidates)

    @cached_property
    def threads(self) -> StoryThreads:
        """Threads, and the ledger of them."""
        return as_part(self, StoryThreads)

    @cached_property
    def relationships(self) -> StoryRelationships:
        """Relationships of characters."""
        return as_part(self, StoryRelationships)

    @cached_property
    def knowledge(self) -> StoryKnowledge:
        """Knowledge of characters and of the reader."""
        return as_part(self, StoryKnowledge)

    @cached_property
    def scenes(self) -> ScenesPart:
        """Stored scenes with their texts and records."""
        return as_part(self, ScenesPart)

    @cached_property
    def summaries(self) -> StorySummarizing:
        """Summaries of scenes, chapters and parts."""
        return as_part(self, StorySummarizing)

    @cached_property
    def lore(self) -> StoryLore:
        """Lorebooks of other tools."""
        return as_part(self, StoryLore)

    @cached_property
    def changes(self) -> ChangesPart:
        """Changes by the author, and by the scenes of a stretch."""
        return as_part(self, ChangesPart)

    @cached_property
    def checks(self) -> StoryChecks:
        """Checks of stored scenes, checks in chains, and waivers."""
        return as_part(self, StoryChecks)

    @cached_property
    def conflicts(self) -> StoryConflicts:
        """Contradictions in the stored story."""
        return as_part(self, StoryConflicts)

    @cached_property
    def world(self) -> WorldPart:
        """Flags and events of a game."""
        return as_part(self, WorldPart)

    @cached_property
    def project(self) -> StoryTransfer:
        """The whole project: export, import, health and index."""
        return as_part(self, StoryTransfer)

    # --- Writing the next scene ---

    def context(
        self,
        chapter_index: Number,
        scene_index: Number,
        scene_plan: CallerObject | None = None,
        *,
        chapter_plan: CallerObject | None = None,
        characters: CallerObject | None = None,
        characters_config: CallerObject | None = None,
        settings: CallerObject | None = None,
        hints: Sequence[str] = (),
        pov: Annotated[str, Field(max_length=400)] = "",
        knowledge: KnowledgeMode | None = None,
        top_k: Annotated[int, Field(ge=1, le=1000)] | None = None,
        selector: Literal["rules", "model"] | None = None,
        write_file: bool = False,
    ) -> SceneMemoryContext:
        """Build the memory context of a planned scene.

        Args:
            chapter_index: Chapter of the planned scene.
            scene_index: The scene within its chapter.
            scene_plan: A mapping, a ScenePlan, or a Pydantic model or dataclass of your own with its fields: location,
                characters, purpose, key_actions, … None takes the scene of the chapter plan, else the project's own.
            chapter_plan: The plan of the whole chapter, in the same forms, also as novel-gen writes it.
            characters: The characters, as a CharactersConfig or alike; None takes those of the project.
            characters_config: Another name of `characters`.
            settings: What the story says of itself; None takes the project's settings.json.
            hints: Free remarks that the search should heed.
            pov: From whose point of view: a name, an alias or an id; over the plan's own.
            knowledge: What becomes of what that one does not know: `separate`, `exclude` or `mark`; None takes the
                settings', and `separate` where they say nothing.
            top_k: At most so many memories, beside their budget; None takes the setting's, by default no such bound.
            selector: `model` lets the chat model also choose from the list of the memories before the scene, in one
                more call; `rules` does not; None takes the setting's, by default `model` where there is one.
            write_file: Keep the context as `scene_<chapter>_<scene>_memory.json` in the project's folder, too.

        Returns:
            The context; `as_prompt()` renders it. What fails inside stands in its `report.issues`.

        Raises:
            UserInputError: When the plan is none, or a field is misspelt; names the right one.
        """
        request_fields = {
            "chapter_index": chapter_index,
            "scene_index": scene_index,
            "scene_plan": scene_plan,
            "chapter_plan": chapter_plan,
            "characters": characters,
            "characters_config": characters_config,
            "settings": settings,
            "hints": list(hints),
            "pov": pov,
            "knowledge": knowledge,
            "top_k": top_k,
            "selector": selector,
        }
        return self._built([request_fields], write_files=write_file)[0]

    def contexts(self, plans: Iterable[Mapping[str, Any]], *, write_file: bool = False) -> list[SceneMemoryContext]:
        """Build the contexts of several planned scenes, in their order.

        Args:
            plans: Mappings of the arguments of `context`: chapter_index, scene_index, scene_plan, ….
            write_file: As for `context`.

        Raises:
            UserInputError: As `context`.
        """
        return self._built(plans, write_files=write_file)

    def chunk_context(
        self,
        text: Passage,
        *,
        chapter_index: Number | None = None,
        limit: Annotated[int, Field(ge=0, le=200)] | None = None,
        language: Language | None = None,
        to: Language = "",
        priority: MemoryPriority | None = None,
        touch: bool | None = None,
        scene_index: Number | None = None,
        with_left_out: bool = False,
        selector: Literal["rules", "model"] | None = None,
    ) -> ChunkContext:
        """Build the glossary and memories that a translator or editor of a piece of text must know.

        Args:
            text: The piece of text, a paragraph to a few pages.
            chapter_index: The chapter in which it stands; None means the whole book.
            limit: At most so many memories; None takes the project's setting, by default 10.
            language: Language of the headings; None takes the story's.
            to: Language of the translations, such as en; empty takes the first of each.
            priority: `score`, or `least_recently_read` for what no context showed for longest; None takes the setting.
            touch: Note on the memories shown that they were read now; None takes the setting, by default no.
            scene_index: The scene of the chapter: what its earlier scenes established counts, too; None means none of
                the chapter.
            with_left_out: List the memories that fit beyond the limit, as far as they were retrieved.
            selector: `model` lets the chat model choose from the list of all memories before the text, in one call;
                None takes the setting, by default `rules`.
        """
        self._awaken()
        return build_chunk_context(
            self.project_id,
            text,
            chapter_index,
            limit,
            stores=self._stores,
            language=language,
            to=to,
            priority=priority,
            touch=touch,
            scene_index=scene_index,
            with_left_out=with_left_out,
            selector=selector,
            model=self._chat_model,
        )

    # --- Care ---

    def as_retriever(
        self,
        *,
        k: int = DEFAULT_TOP_K,
        as_of: Place = None,
        entities: Sequence[str] = (),
        content_type: ContentType | None = None,
        tags: Sequence[str] = (),
        min_relevance: float = 0.0,
    ) -> BaseRetriever:
        """Return the story's memory as a LangChain retriever.

        Args:
            k: At most so many documents.
            as_of: Only what lies strictly before this position.
            entities: Only memories of one of these.
            content_type: Only this kind of memory.
            tags: Only memories with one of these tags.
            min_relevance: Only what fits at least so well; see `search`.
        """
        self._awaken()
        return StoryMemoryRetriever(
            memory=self._tools,
            project_id=self.project_id,
            as_of=position_of(as_of),
            k=k,
            entities=list(entities),
            content_type=content_type,
            memory_tags=list(tags),
            min_relevance=min_relevance,
        )

    def as_tools(
        self,
        *,
        kind: ToolKind = "planner",
        as_of: Place = None,
        names: Sequence[str] | None = None,
        reads_only: bool = False,
    ) -> list[BaseTool]:
        """Return LangChain tools for an agent, which reach this story alone.

        Those of a planner search, look up states and the timeline, find characters and places, make new ones, and tell
        of relationships, threads and who knows what. What goes wrong in a call is answered as data.

        Args:
            kind: `planner` of scenes; `editor`, whose tools change cards, states and threads, delete, and undo; or
                `attachments`, for the memories of a finished text (`runtime.doors.langchain.attachment_guidance` is
                the text that tells an agent of them). The tools of the last two see the whole story.
            as_of: Position that is being planned: only what lies strictly before it is read, and what a tool states
                holds after the last scene before it.
            names: Only these, by their names, in this order; None gives all.
            reads_only: Whether those are left out that store something.

        Raises:
            UserInputError: When there is no tool of a name; names the nearest.
        """
        # Tools are a door: they stand above the story that they are made of.
        from runtime.doors.langchain import build_story_tools

        return build_story_tools(self._stores, self, kind, as_of=position_of(as_of), names=names, reads_only=reads_only)

    def as_runnable(self, *, as_prompt: bool = False, write_file: bool = True) -> Runnable[Any, Any]:
        """Return a step for LangChain chains that builds contexts.

        It takes a mapping of the arguments of `context` (chapter_index, scene_index, scene_plan, …), or a
        MemoryContextRequest; other keys are ignored, but a misspelt one is refused. As a node of a graph take
        `as_context_node`: this one is refused there.

        Args:
            as_prompt: Give the text for a prompt in place of the SceneMemoryContext.
            write_file: Keep each context as `scene_<chapter>_<scene>_memory.json` in the project's folder; where that
                fails, the report says so and the chain goes on.
        """

        def build(request: Any) -> Any:
            [context] = self._built([request], write_files=write_file)
            return context.as_prompt() if as_prompt else context

        return ContextStep(build, name="story_memory")

    # --- LangGraph ---

    def as_context_node(
        self, *, prompt_key: str | None = PROMPT_KEY, json_key: str | None = CONTEXT_KEY
    ) -> Runnable[Any, dict[str, Any]]:
        """Return a node for LangGraph that puts the context of a planned scene into the graph's state.

        Of the state it reads chapter_index and scene_index, and where they are there scene_plan, chapter_plan, pov,
        hints, knowledge and top_k, as `context` takes them; all else is the graph's own.

        Args:
            prompt_key: Key of the state for the block of a prompt; None leaves it out.
            json_key: Key for the context as JSON, which checkpoints can keep; None leaves it out.
        """
        return build_context_node(
            lambda requested_fields: self._built([requested_fields], write_files=False)[0],
            prompt_key=prompt_key,
            json_key=json_key,
        )

    def as_scene_node(
        self, *, text_key: str = TEXT_KEY, record_key: str = RECORD_KEY, report_key: str = REPORT_KEY
    ) -> Runnable[Any, dict[str, Any]]:
        """Return a LangGraph node that ingests, and optionally reads, a scene.

        Of the state it reads chapter_index, scene_index, the text, and where there is one the record of the scene. What
        could not be stored or read stands in the report with the reason, and the graph goes on.

        Args:
            text_key: Key of the state for the text.
            record_key: Key for what the scene established; with a record no model reads it.
            report_key: Key for what became of it, a `SceneReport` as JSON.
        """
        has_model = self._chat_model is not None or is_extraction_model_set(self._stores.settings)
        return build_scene_node(
            self.ingest,
            self.extract if has_model else None,
            self.changes.between,
            text_key=text_key,
            record_key=record_key,
            report_key=report_key,
        )

    def as_store(self, *, as_of: Place = None) -> StoryStore:
        """Return the story's memory as a store of LangGraph, for agents that put, get and search.

        Args:
            as_of: Only what lies strictly before is read, and what is put is read from there on; None means the end of
                what is stored, and that what is put holds everywhere.
        """
        return StoryStore(self._stores, self.project_id, as_of=position_of(as_of))

    acontext = async_twin(context)
    acontexts = async_twin(contexts)
    achunk_context = async_twin(chunk_context)

    def _built(self, queries: Iterable[Any], *, write_files: bool) -> list[SceneMemoryContext]:
        requests = [self._request(item) for item in queries]
        options = ContextOptions(model=self._chat_model)
        builder = ContextBuilder(self._stores, self.project_id, options, write_files=write_files)
        self._awaken()
        return [builder.chain.invoke(builder.completed(request)) for request in requests]

    def _request(self, request: Any) -> MemoryContextRequest:
        """Read a context request, with the project's plans by default."""
        said_names = request.model_fields_set if isinstance(request, BaseModel) else dict(request)
        payload = {name: value for name, value in dict(request).items() if name in said_names}
        # Before the project's own plan takes the place of a misspelt one.
        try:
            MemoryContextRequest.require_spelt(payload)
        except ValueError as error:
            raise UserInputError(str(error)) from error
        if payload.setdefault("project_id", self.project_id) != self.project_id:
            raise UserInputError(
                f"a context of project {payload['project_id']!r} was asked of {self!r}; ask memory.story for it"
            )
        if isinstance(payload.get("chapter_index"), str):
            payload |= named_place(self, {name: payload.get(name) for name in PLACE_NUMBERS})
        place = StoryPosition(payload.get("chapter_index"), payload.get("scene_index"))
        if place.chapter_index is None or place.scene_index is None:
            raise UserInputError("a context needs its place; pass chapter_index and scene_index")
        payload["chapter_plan"] = in_first_shape(payload.get("chapter_plan"))
        own_plan, own_chapter_plan = own_scene_plan(
            self._stores.paths(self.project_id), chapter_index=place.chapter_index, scene_index=place.scene_index
        )
        if payload["chapter_plan"] is None:
            payload["chapter_plan"] = own_chapter_plan
        if payload.get("scene_plan") is None:
            in_chapter = read_given(MemoryContextRequest, {**payload, "scene_plan": {}}).chapter_plan
            payload["scene_plan"] = (in_chapter and in_chapter.scene(place.scene_index)) or own_plan
        if payload["scene_plan"] is None:
            raise UserInputError(
                f"there is no plan of scene {str(place)!r}; pass scene_plan, such as "
                '{"location": "…", "characters": ["…"], "purpose": "…"}'
            )
        return read_given(MemoryContextRequest, payload)

    def character(
        self, name: str, *, create: bool = False, clock: Callable[[], datetime] | None = None, as_of: Place = None
    ) -> Character:
        """Return a character with its own memory, for games and role-play.

        Args:
            name: Id, name or alias.
            create: Make a character of that name where there is none; the project, too.
            clock: Tells the present moment of the game; None takes the computer's.
            as_of: An error names nobody that the story shows only from this position on.

        Raises:
            UnknownEntityError: When nobody bears the name and `create` is not set; names who is near.
        """
        people = StoryCharacters(self._stores, self.project_id)
        entity = people.open_character(name=name, create=create, as_of=as_of)
        return Character(self._stores, self.project_id, entity, clock=clock)

    acharacter = async_twin(character)
