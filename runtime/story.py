"""One story for Python programs: the services as methods of an object, each that blocks with an async twin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from novelgen.chains.story_memory_retriever import StoryMemoryRetriever
from novelgen.character_memory.memory import as_moment
from novelgen.errors import UserInputError
from novelgen.models.chunk_context import ChunkContext, MemoryPriority
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.entity import Entity, EntityType
from novelgen.models.given import given_record
from novelgen.models.knowledge import CharacterKnowledge, KnowledgeKind, KnowledgeMode, KnowledgeSource
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import EntityStateSnapshot, LoopStatus, Relationship
from novelgen.names.candidates import MIN_COUNT, NameCandidate
from novelgen.names.sightings import CandidateKind
from novelgen.nearest import did_you_mean
from runtime.async_twins import async_twin
from runtime.character import Character, given_event
from runtime.chunk_context import build_chunk_context
from runtime.files.file_reading import described
from runtime.files.project_files import chapter_files, in_first_shape
from runtime.files.scene_plans import own_scene_plan
from runtime.langchain_tools import build_memory_tools
from runtime.services import attachments as attachment_services
from runtime.services import character_news as news_services
from runtime.services import characters as character_services
from runtime.services import conflicts as conflict_services
from runtime.services import entities as entity_services
from runtime.services import knowledge as knowledge_services
from runtime.services import memories as memory_services
from runtime.services import relationships as relationship_services
from runtime.services import secrets as secret_services
from runtime.services import threads as thread_services
from runtime.services import transfer as transfer_services
from runtime.services.attachments import DEFAULT_ABOUT, MemoriesAbout
from runtime.services.character_news import WorldEvent
from runtime.services.conflicts import ListedConflict
from runtime.services.contexts import ContextBuilder, ContextOptions
from runtime.services.diagnosis import Diagnosis, diagnose
from runtime.services.extraction import ExtractionReport, extract_project
from runtime.services.indexing import ReindexResult, await_index, reindex_project
from runtime.services.ingest import IngestReport, ingest_finished_scene, ingest_project
from runtime.services.knowledge import MemoryKnowers, SharedLife, StoredKnowledge
from runtime.services.memories import DEFAULT_LIMIT, AddedNote, MemoryChange, MemoryListing, MemoryStatus
from runtime.services.name_candidates import list_candidates
from runtime.services.relationships import DEFAULT_INTENSITY
from runtime.services.scene_summary import summarize_scene
from runtime.services.threads import ListedThread
from runtime.services.transfer import ProjectExport
from runtime.stores import MemoryStores
from runtime.story_editing import StoryEditing
from runtime.story_memory import DEFAULT_CONTEXT_WINDOW, DEFAULT_TOP_K, StoryMemoryTools
from runtime.story_places import Place
from runtime.story_places import position_of as _position
from runtime.story_places import required_position as _required_position
from runtime.story_tools.attachment_tools import build_attachment_tools
from runtime.story_tools.toolset import build_story_tools

_PLAN_KEYS = ("chapter_index", "scene_index", "scene_plan", "chapter_plan")

Progress = Callable[[int, int], Any]
Model = TypeVar("Model", bound=BaseModel)


class Story(StoryEditing):
    """The memory of one story; safe to share between threads. `Memory.story` gives it.

    Positions are `StoryPosition`s, `(chapter, scene)` pairs or chapter numbers; what is read at a position lies
    strictly before it. Entities are named by id, name or alias.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        chat_model: Chat model in place of the setting's.
    """

    def __init__(
        self, stores: MemoryStores, project_id: str, *, chat_model: BaseChatModel | None = None
    ) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._tools = StoryMemoryTools(stores)
        self._is_awake = False
        self.project_id = project_id

    def __repr__(self) -> str:
        return f"Story({self.project_id!r})"

    # --- Filling the memory ---

    def ingest(
        self,
        files: str | Path | Sequence[str | Path] = (),
        *,
        text: str | None = None,
        record: SceneRecord | Mapping[str, Any] | None = None,
        chapter_index: int | None = None,
        scene_index: int | None = None,
        title: str = "",
        records: bool | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take finished scenes in: a text, files, or what the project's folder holds.

        What is stored already and has not changed is left alone; a changed scene takes the place of what came from
        it before, and of nothing else.

        Args:
            files: Chapter files or folders of them, in place of those in the project's `chapters` folder.
            text: One scene's text, at `chapter_index` and `scene_index`.
            record: What that scene established; without `text`, of the scene that is stored there.
            chapter_index: Chapter of the text; with files, only this chapter.
            scene_index: Scene of the text within its chapter.
            title: Title of that scene.
            records: Of files: True wants their records, False leaves them, None takes those that are there.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene. Parts that are wrong stand in `failures` and do not stop the others.

        Raises:
            UserInputError: When a text comes without its place, or the record is none.
            DatabaseError: When the database fails.
        """
        if text is None and record is None:
            return ingest_project(
                self._stores,
                self.project_id,
                files=_chapter_files(files),
                records=records,
                chapter_index=chapter_index,
                progress=progress,
            )
        if files:
            raise UserInputError(
                "ingest takes either files, or one scene's text and record; leave one of them out"
            )
        if chapter_index is None or scene_index is None:
            raise UserInputError(
                "a scene's text or record needs its place; pass chapter_index and scene_index"
            )
        return ingest_finished_scene(
            self._stores,
            self.project_id,
            position=StoryPosition(chapter_index, scene_index),
            text=text,
            record=None if record is None else _record(record, chapter_index, scene_index),
            title=title,
        )

    def extract(
        self,
        *,
        scenes: Sequence[StoryPosition | tuple[int, int]] = (),
        chapter_index: int | None = None,
        retry_failed: bool = False,
        again: bool = False,
        model: BaseChatModel | str | None = None,
        progress: Progress | None = None,
    ) -> ExtractionReport:
        """Let a chat model read the scenes that have no record and store what they establish.

        Args:
            scenes: Only these.
            chapter_index: Only this chapter; None means all.
            retry_failed: Also scenes whose extraction failed before.
            again: Also scenes that a model read before.
            model: Chat model or its name; None takes that of `novelgen.open`, else that of the settings.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene; a failed one keeps its text.

        Raises:
            ConfigurationError: When there is no model, or it cannot be built.
            UnknownSceneError: When a scene that is named is not stored.
            DatabaseError: When the database fails.
        """
        return extract_project(
            self._stores,
            self.project_id,
            scenes=[_required_position(each) for each in scenes],
            chapter_index=chapter_index,
            retry_failed=retry_failed,
            again=again,
            model=model or self._chat_model,
            progress=progress,
        )

    def note(
        self,
        text: str,
        *,
        entities: Sequence[str] = (),
        attached_to: Sequence[str] = (),
        start: Place = None,
        short: str | None = None,
        importance: int | None = None,
        tags: Sequence[str] = (),
    ) -> AddedNote:
        """Store a fact of the author, attached to what is said and to whom its text names.

        Args:
            text: What holds in the story.
            entities: Whom it is about.
            attached_to: What it is attached to besides: entities, chapters as `chapter:3`, or `book`.
            start: It is read from this position on; None means everywhere.
            short: Short form that may stand for the text.
            importance: Weight, 1 to 10; None takes that of notes.
            tags: Tags.

        Raises:
            UserInputError: When the text is empty.
            UnknownEntityError: When it is about somebody unknown.
            UnknownSceneError: When no scene of a chapter is stored.
        """
        return memory_services.add_note(
            self._stores,
            self.project_id,
            text=text,
            entities=list(entities),
            attached_to=list(attached_to),
            start=_position(start),
            short=short,
            importance=importance,
            tags=list(tags),
        )

    def edit_memory(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        short: str | None = None,
        importance: int | None = None,
        tags: Sequence[str] | None = None,
        attach: Sequence[str] = (),
        detach: Sequence[str] = (),
        attached_to: Sequence[str] | None = None,
    ) -> MemoryChange:
        """Change a memory, what it is attached to included; no ingest takes that back.

        Args:
            memory_id: Its chunk_id or source_id.
            content: New text; None leaves it, as for all.
            short: New short form.
            importance: New weight, 1 to 10.
            tags: New tags, all of them.
            attach: What to attach it to: entities, chapters as `chapter:3`, or `book`.
            detach: What to take it off.
            attached_to: All that it shall be attached to.

        Raises:
            UserInputError: When nothing is to be changed.
            UnknownMemoryError: When there is none of that id.
            UnknownEntityError: When an entity is not stored.
            UnknownSceneError: When no scene of a chapter is stored.
        """
        return memory_services.edit_memory(
            self._stores,
            self.project_id,
            memory_id=memory_id,
            content=content,
            short=short,
            importance=importance,
            tags=tags,
            attach=list(attach),
            detach=list(detach),
            attached_to=attached_to,
        )

    # --- Writing the next scene ---

    def context(
        self,
        chapter_index: int,
        scene_index: int,
        scene_plan: Any = None,
        *,
        chapter_plan: Any = None,
        characters: Any = None,
        settings: Any = None,
        hints: Sequence[str] = (),
        pov: str = "",
        knowledge: KnowledgeMode | None = None,
        top_k: int | None = None,
        write_file: bool = False,
    ) -> SceneMemoryContext:
        """Build the memory context of a planned scene: what it must not contradict and should pick up.

        Args:
            chapter_index: Chapter of the planned scene.
            scene_index: The scene within its chapter.
            scene_plan: A mapping, a ScenePlan, or a Pydantic model or dataclass of your own with its fields: location,
                characters, purpose, key_actions, … None takes the scene of the chapter plan, else the project's own.
            chapter_plan: The plan of the whole chapter, in the same forms, also as novel-gen writes it.
            characters: The characters, as a CharactersConfig or alike; None takes those of the project.
            settings: What the story says of itself; None takes the project's settings.json.
            hints: Free remarks that the search should heed.
            pov: From whose point of view: a name, an alias or an id; over the plan's own.
            knowledge: What becomes of what that one does not know: `separate`, `exclude` or `mark`; None takes the
                settings', and `separate` where they say nothing.
            top_k: At most so many memories, beside their budget; None takes the setting's, by default no such bound.
            write_file: Keep the context as `scene_<chapter>_<scene>_memory.json` in the project's folder, too.

        Returns:
            The context; `as_prompt()` renders it. What fails inside stands in its `report.issues`.

        Raises:
            UserInputError: When the plan is none, or a field is misspelt; names the right one.
        """
        asked = {
            "chapter_index": chapter_index,
            "scene_index": scene_index,
            "scene_plan": scene_plan,
            "chapter_plan": chapter_plan,
            "characters": characters,
            "settings": settings,
            "hints": list(hints),
            "pov": pov,
            "knowledge": knowledge,
            "top_k": top_k,
        }
        return self._built([asked], write_files=write_file)[0]

    def contexts(
        self, plans: Iterable[Mapping[str, Any]], *, write_file: bool = False
    ) -> list[SceneMemoryContext]:
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
        text: str,
        *,
        chapter_index: int | None = None,
        limit: int | None = None,
        language: str | None = None,
        priority: MemoryPriority | None = None,
        touch: bool | None = None,
    ) -> ChunkContext:
        """Build the glossary and memories that a translator or editor of a piece of text must know.

        Args:
            text: The piece of text, a paragraph to a few pages.
            chapter_index: The chapter in which it stands; None means the whole book.
            limit: At most so many memories; None takes the project's setting, by default 10.
            language: Language of the headings; None takes the story's.
            priority: `score`, or `least_recently_read` for what no context showed for longest; None takes the setting.
            touch: Note on the memories shown that they were read now; None takes the setting, by default no.
        """
        self._awaken()
        return build_chunk_context(
            self.project_id,
            text,
            chapter_index,
            limit,
            stores=self._stores,
            language=language,
            priority=priority,
            touch=touch,
        )

    def summarize_scene(self, text: str, *, max_bullets: int | None = None) -> list[str]:
        """Sum a scene up in three to five bullets, by the model where there is one, else in its own sentences.

        Nothing is stored. Where the model fails, the sentences are told, and a warning is logged.

        Args:
            text: The scene.
            max_bullets: Most bullets; None takes the setting's.

        Raises:
            UserInputError: When the text is empty or too long.
        """
        return summarize_scene(
            text, chat_model=self._chat_model, max_bullets=max_bullets, settings=self._stores.settings
        ).bullets

    # --- Looking things up ---

    def search(
        self,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = DEFAULT_TOP_K,
        as_of: Place = None,
        min_relevance: float = 0.0,
    ) -> list[StoryMemoryChunk]:
        """Search what the story has established, by meaning and by words; best first.

        Args:
            query: What to look for, in the story's language.
            entities: Only memories of one of these: entities, chapters as `chapter:3`, or `book`.
            content_type: Only this kind: scene, dialogue, description, summary, memory or note.
            tags: Only memories with one of these tags.
            top_k: At most so many.
            as_of: Only what lies strictly before this position.
            min_relevance: Only what fits at least so well, from 0 (all) to 1: by the cosine of the embedding model, or
                by the share of the query's words that it holds. With the built-in model .84 (English) or .87
                (Chinese) keeps out what has nothing to do with the story.

        Raises:
            UserInputError: When the query is empty, or the relevance is not from 0 to 1.
            StoreError: When nothing of the search could answer.
        """
        self._awaken()
        return self._tools.search_story_memory(
            self.project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=_position(as_of),
            min_relevance=min_relevance,
        )

    def state(
        self, entity: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Return how an entity stands at a point of the story: where it is, what it holds, wants and knows.

        Args:
            entity: Id, name or alias.
            chapter_index: Chapter at whose beginning to look; None means after the last stored scene.
            scene_index: Scene on entering which to look.

        Returns:
            The state, or None when nothing is known of the entity by then.
        """
        return self._tools.get_entity_state(
            self.project_id, entity, chapter_index=chapter_index, scene_index=scene_index
        )

    def timeline(
        self, chapter_index: int, *, context_window: int = DEFAULT_CONTEXT_WINDOW, as_of: Place = None
    ) -> list[EntityStateSnapshot]:
        """Return how entities stood at the end of the chapters around one chapter, in story order.

        Args:
            chapter_index: The chapter in the middle.
            context_window: Chapters before and after it.
            as_of: Only what lies strictly before this position.
        """
        return self._tools.get_recent_timeline(
            self.project_id, chapter_index, context_window=context_window, as_of=_position(as_of)
        )

    def entities(self, entity_type: EntityType | None = None, *, as_of: Place = None) -> list[Entity]:
        """Return the characters, places, things, factions and terms of the story, in order of id.

        Args:
            entity_type: Only these: character, location, item, faction or term.
            as_of: As far as the story has shown them before this position.
        """
        return entity_services.list_entities(
            self._stores, self.project_id, entity_type=entity_type, as_of=_position(as_of)
        )

    def candidates(
        self, kind: CandidateKind | None = None, *, min_count: int = MIN_COUNT, as_of: Place = None
    ) -> list[NameCandidate]:
        """List who and what the text names that no entity is, told by rules; they are no facts.

        Args:
            kind: Only these: character, location, item, faction, term or unknown.
            min_count: Only those that the text names so many times.
            as_of: Only scenes before this position count.
        """
        return list_candidates(
            self._stores, self.project_id, kind=kind, min_count=min_count, as_of=_position(as_of)
        ).candidates

    def threads(self, statuses: Sequence[LoopStatus] = (), *, as_of: Place = None) -> list[ListedThread]:
        """Return the questions, promises and threats that the story leaves open, in the order of their planting.

        Args:
            statuses: Only those of these statuses (open, advanced, resolved, abandoned); empty means those that wait.
            as_of: As they stand at this position.
        """
        return thread_services.list_threads(
            self._stores, self.project_id, statuses=list(statuses), as_of=_position(as_of)
        )

    def relationships(
        self, character: str | None = None, *, status: str | None = None, as_of: Place = None
    ) -> list[Relationship]:
        """Return how pairs of characters stand.

        Args:
            character: Only pairs of this character.
            status: Only pairs of this status, such as strained.
            as_of: As they stand at this position.
        """
        return relationship_services.list_relationships(
            self._stores, self.project_id, character=character, status=status, as_of=_position(as_of)
        )

    def knowledge(
        self, character: str, *, as_of: Place = None, about: str | None = None
    ) -> CharacterKnowledge:
        """Tell what a character knows and what not: every memory before the position in one of two lists.

        Args:
            character: Id, name or alias; `reader` for whoever reads the book.
            as_of: Position of the read.
            about: Only memories about this entity, or else with these words.

        Raises:
            UnknownEntityError: When nobody bears the name by then, or several do.
        """
        return knowledge_services.character_knowledge(
            self._stores, self.project_id, character=character, as_of=_position(as_of), about=about
        )

    def who_knows(self, memory_id: str, *, as_of: Place = None) -> MemoryKnowers:
        """Tell who knows a memory, since when and how, and who does not and might have been told.

        Args:
            memory_id: Its source_id or chunk_id.
            as_of: Position of the read.

        Raises:
            UnknownMemoryError: When there is no such memory by then.
        """
        return knowledge_services.who_knows(
            self._stores, self.project_id, memory_id=memory_id, as_of=_position(as_of)
        )

    def lived_together(self, first: str, second: str, *, as_of: Place = None) -> SharedLife:
        """Return the scenes that two characters were in together, and which of them alone.

        Args:
            first: One of them.
            second: The other.
            as_of: Only scenes before this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
        """
        return knowledge_services.lived_together(
            self._stores, self.project_id, first=first, second=second, as_of=_position(as_of)
        )

    def set_knowledge(
        self,
        character: str,
        memory_id: str,
        kind: KnowledgeKind = "knows",
        *,
        how: KnowledgeSource = "author",
        learned_from: str | None = None,
        certainty: float = 1.0,
        start: Place = None,
    ) -> StoredKnowledge:
        """Say whether a character knows a memory; it outranks the record and all rules.

        Args:
            character: Id, name or alias; `reader` for whoever reads the book.
            memory_id: Its source_id or chunk_id; `*` for all that `learned_from` has lived through.
            kind: knows, hidden (does not), deceived (believes the contrary) or doubts.
            how: own_doing, witnessed, told, overheard, read, deduced or author.
            learned_from: Whom they know it from.
            certainty: 1 is sure; less is a rumour.
            start: It holds on entering this position; None means from the memory's own scene on.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UnknownMemoryError: When there is no such memory before the position.
        """
        return knowledge_services.set_knowledge(
            self._stores,
            self.project_id,
            character=character,
            memory_id=memory_id,
            kind=kind,
            how=how,
            learned_from=learned_from,
            certainty=certainty,
            start=_position(start),
        )

    def forget_knowledge(self, character: str, memory_id: str) -> list[StoredKnowledge]:
        """Take back all that `set_knowledge` said of a character and a memory, and return it.

        Args:
            character: Id, name or alias; `reader` for whoever reads the book.
            memory_id: Its source_id or chunk_id; `*` for whole tales.

        Raises:
            UserInputError: When nothing was said.
        """
        return knowledge_services.forget_knowledge(
            self._stores, self.project_id, character=character, memory_id=memory_id
        )

    def add_relationship(
        self,
        first: str,
        second: str,
        relationship_type: str,
        *,
        perspective_a: str = "",
        perspective_b: str = "",
        status: str = "neutral",
        intensity: int = DEFAULT_INTENSITY,
        dimensions: Mapping[str, int] | None = None,
        start: Place = None,
    ) -> Relationship:
        """Say how two characters stand who have no relationship yet.

        Args:
            first: One of the two.
            second: The other one.
            relationship_type: mentor-student, friends, rivals, family, …; of two roles, that of the first comes first.
            perspective_a: How the first sees the second.
            perspective_b: How the second sees the first.
            status: close, strained, hostile, …
            intensity: How much it matters, 0 to 10.
            dimensions: Trust, respect, affection, fear and familiarity that both feel.
            start: It holds on entering this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UserInputError: When they have a relationship already.
        """
        return relationship_services.add_relationship(
            self._stores,
            self.project_id,
            first=first,
            second=second,
            relationship_type=relationship_type,
            perspective_a=perspective_a,
            perspective_b=perspective_b,
            status=status,
            intensity=intensity,
            dimensions=dimensions,
            start=_position(start),
        )

    def edit_relationship(
        self,
        first: str,
        second: str,
        *,
        relationship_type: str | None = None,
        perspective_a: str | None = None,
        perspective_b: str | None = None,
        status: str | None = None,
        event: str | None = None,
        intensity: int | None = None,
        dimensions: Mapping[str, int] | None = None,
        mutual_dimensions: Mapping[str, int] | None = None,
        scene_id: str | None = None,
        start: Place = None,
    ) -> Relationship:
        """Change how two characters stand; what is not given stays as it is.

        Args:
            first: One of the two.
            second: The other one.
            relationship_type: The new type.
            perspective_a: How the first sees the second now.
            perspective_b: How the second sees the first now.
            status: The new status.
            event: What happened between them.
            intensity: How much it matters now, 0 to 10.
            dimensions: What the first feels for the second now; the second's side stays.
            mutual_dimensions: What both feel alike now.
            scene_id: Scene in which it happened, as S001 or 3:2.
            start: It holds on entering this position.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UserInputError: When they have no relationship, or nothing is to be changed.
        """
        return relationship_services.edit_relationship(
            self._stores,
            self.project_id,
            first=first,
            second=second,
            relationship_type=relationship_type,
            perspective_a=perspective_a,
            perspective_b=perspective_b,
            status=status,
            event=event,
            intensity=intensity,
            dimensions=dimensions,
            mutual_dimensions=mutual_dimensions,
            scene_id=scene_id,
            start=_position(start),
        ).relationship

    def memories(
        self,
        *,
        attached_to: Sequence[str] = (),
        entities: Sequence[str] = (),
        content_types: Sequence[ContentType] = (),
        status: MemoryStatus = "active",
        limit: int | None = DEFAULT_LIMIT,
        as_of: Place = None,
    ) -> MemoryListing:
        """Return stored memories in story order, and how many there are in all.

        Args:
            attached_to: Only memories attached to one of these: entities, chapters as `chapter:3`, or `book`.
            entities: The same, by its older name.
            content_types: Only memories of these kinds.
            status: What was decided about them: active, pinned, banned, ….
            limit: At most so many; None means all.
            as_of: Only what lies strictly before this position.
        """
        return memory_services.list_memories(
            self._stores,
            self.project_id,
            attached_to=list(attached_to),
            entities=list(entities),
            content_types=list(content_types),
            status=status,
            limit=limit,
            as_of=_position(as_of),
        )

    def memories_about(
        self, entity: str, *, limit: int = DEFAULT_ABOUT, as_of: Place = None
    ) -> MemoriesAbout:
        """Return what is remembered of an entity: what is attached to it, and what its names stand in.

        Args:
            entity: Id, name or alias.
            limit: At most so many, what holds and weighs most first.
            as_of: Only what lies strictly before this position.
        """
        return attachment_services.memories_about(
            self._stores, self.project_id, entity=entity, limit=limit, as_of=_position(as_of)
        )

    def conflicts(self, *, with_waived: bool = False) -> list[ListedConflict]:
        """Return where the story contradicts itself.

        Args:
            with_waived: Whether to list what the author means to be so, too.
        """
        return conflict_services.list_conflicts(self._stores, self.project_id, with_waived=with_waived)

    # --- Characters who remember ---

    def character(
        self, name: str, *, create: bool = False, clock: Callable[[], datetime] | None = None
    ) -> Character:
        """Return a character who remembers and recalls by itself, for games and role-play.

        Args:
            name: Id, name or alias.
            create: Make a character of that name where there is none; the project, too.
            clock: Tells the present moment of the game; None takes the computer's.

        Raises:
            UnknownEntityError: When nobody bears the name and `create` is not set; names who is near.
        """
        entity = character_services.open_character(self._stores, self.project_id, name=name, create=create)
        return Character(self._stores, self.project_id, entity, clock=clock)

    def set_flag(
        self,
        name: str,
        value: Any = True,
        *,
        at: tuple[int, int] | datetime | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Let a flag of a game take a value, which may unlock what characters keep secret.

        Args:
            name: The flag.
            value: Anything that JSON holds.
            at: When: session and turn, or a datetime; None means now.
            clock: Tells the present moment of the game; None takes the computer's.

        Raises:
            UserInputError: When the name is empty, or JSON cannot hold the value.
        """
        secret_services.set_flag(
            self._stores,
            self.project_id,
            name=name,
            value=value,
            at=as_moment(at),
            now=(clock or self._stores.clock)(),
        )

    def flags(self, *, as_of: tuple[int, int] | datetime | None = None) -> dict[str, Any]:
        """Return the flags of a game with their values.

        Args:
            as_of: The values that they had then: session and turn, or a datetime; None means now.
        """
        return secret_services.read_flags(self._stores, self.project_id, as_of=as_moment(as_of))

    def world_event(
        self,
        text: str,
        *,
        witnesses: Mapping[str, str] | Sequence[str] | str = (),
        told_to: Mapping[str, float] | Sequence[str] | str = (),
        heard_from: str | None = None,
        delay: timedelta | int = timedelta(0),
        delay_per_distance: timedelta | int | None = None,
        max_distance: float | None = None,
        at: tuple[int, int] | datetime | None = None,
        clock: Callable[[], datetime] | None = None,
        **event: Any,
    ) -> WorldEvent:
        """Let an event of the world be remembered by those who see it, and by others once the news reaches them.

        Args:
            text: What happened.
            witnesses: Who sees it; a mapping tells what each of them remembers, in their own words.
            told_to: Who hears of it; a mapping tells how far away each of them is, in a measure of your own.
            heard_from: Who brings the news.
            delay: How long the news takes to anybody: a time, or turns of the game with `at=(session, turn)`.
            delay_per_distance: How long it takes for each step of distance; None takes as long as `delay`.
            max_distance: Beyond it the news never comes.
            at: When it happens: a pair of session and turn, a datetime, or None for now.
            clock: Tells the present moment of the game; None takes the computer's.
            **event: What else there is to say of it, as for `Character.remember`: event_type, importance, …

        Raises:
            UnknownEntityError: When somebody is unknown; nothing is stored then.
            UserInputError: When an argument is wrong, or nobody is named.
        """
        return news_services.spread_event(
            self._stores,
            self.project_id,
            event=given_event(text=text, **event),
            witnesses=witnesses,
            told_to=told_to,
            heard_from=heard_from,
            delay=delay,
            delay_per_distance=delay_per_distance,
            max_distance=max_distance,
            at=as_moment(at),
            now=(clock or self._stores.clock)(),
        )

    # --- Care ---

    def export(self, folder: str | Path) -> ProjectExport:
        """Write everything that the story's memory holds to `memory/` in a folder; an import reads it back.

        Raises:
            UserInputError: When there is something already.
        """
        return transfer_services.export_project(self._stores, self.project_id, folder=Path(folder))

    def check_health(self, *, repair: bool = False) -> Diagnosis:
        """Look at everything that can keep the memory from working, as `novelgen doctor` does.

        Args:
            repair: Whether to bring the vector index to what the database says first.
        """
        return diagnose(self._stores, self.project_id, repair=repair)

    def reindex(self, *, progress: Progress | None = None) -> ReindexResult:
        """Build the vector index anew, as is needed when the embedding model changes; the database stays as it is.

        Args:
            progress: Called with the memories done and the memories in all.

        Raises:
            StoreError: When the database, the embedding model or the index fails; the old index stays.
        """
        return reindex_project(self._stores, self.project_id, progress=progress)

    # --- LangChain ---

    def retriever(
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
            as_of=_position(as_of),
            k=k,
            entities=list(entities),
            content_type=content_type,
            memory_tags=list(tags),
            min_relevance=min_relevance,
        )

    def tools(self, *, as_of: Place = None) -> list[BaseTool]:
        """Return LangChain tools for an agent, which reach this story alone.

        They search, look up states and the timeline, find characters and places, make new ones, and tell of
        relationships, threads and who knows what. What goes wrong in a call is answered as data.

        Args:
            as_of: Position that is being planned: only what lies strictly before it is read, and what a tool states
                holds after the last scene before it.
        """
        position = _position(as_of)
        looking_up = build_memory_tools(self._stores, project_id=self.project_id, as_of=position)
        story_tools = build_story_tools(self._stores, self.project_id, position, chat_model=self._chat_model)
        return [*looking_up, *story_tools]

    def attachment_tools(self) -> list[BaseTool]:
        """Return LangChain tools for an agent that keeps this story's memories and what they are attached to in order.

        They reach the whole story, what is still to come included: they are for editors and translators. What such an
        agent should be told of attachments is the text of `runtime.story_tools.attachment_tools.attachment_guidance`.
        """
        return build_attachment_tools(self._stores, self.project_id)

    def as_step(self, *, as_prompt: bool = False, write_file: bool = False) -> Runnable[Any, Any]:
        """Return a step for LangChain chains that builds contexts.

        It takes a mapping of the arguments of `context` (chapter_index, scene_index, scene_plan, …; other keys are
        ignored), or a MemoryContextRequest.

        Args:
            as_prompt: Give the text for a prompt in place of the SceneMemoryContext.
            write_file: As for `context`.
        """

        def build(asked: Any) -> Any:
            [context] = self._built([asked], write_files=write_file)
            return context.as_prompt() if as_prompt else context

        return RunnableLambda(build).with_config(run_name="story_memory")

    aingest = async_twin(ingest)
    aextract = async_twin(extract)
    anote = async_twin(note)
    aedit_memory = async_twin(edit_memory)
    acontext = async_twin(context)
    acontexts = async_twin(contexts)
    achunk_context = async_twin(chunk_context)
    asummarize_scene = async_twin(summarize_scene)
    asearch = async_twin(search)
    astate = async_twin(state)
    atimeline = async_twin(timeline)
    aentities = async_twin(entities)
    acandidates = async_twin(candidates)
    athreads = async_twin(threads)
    arelationships = async_twin(relationships)
    aknowledge = async_twin(knowledge)
    awho_knows = async_twin(who_knows)
    alived_together = async_twin(lived_together)
    aset_knowledge = async_twin(set_knowledge)
    aforget_knowledge = async_twin(forget_knowledge)
    aadd_relationship = async_twin(add_relationship)
    aedit_relationship = async_twin(edit_relationship)
    amemories = async_twin(memories)
    amemories_about = async_twin(memories_about)
    aconflicts = async_twin(conflicts)
    acharacter = async_twin(character)
    aset_flag = async_twin(set_flag)
    aflags = async_twin(flags)
    aworld_event = async_twin(world_event)
    aexport = async_twin(export)
    acheck_health = async_twin(check_health)
    areindex = async_twin(reindex)

    def _built(self, asked: Iterable[Any], *, write_files: bool) -> list[SceneMemoryContext]:
        requests = [self._request(each) for each in asked]
        options = ContextOptions(model=self._chat_model)
        builder = ContextBuilder(self._stores, self.project_id, options, write_files=write_files)
        self._awaken()
        return [builder.build_request(each) for each in requests]

    def _request(self, asked: Any) -> MemoryContextRequest:
        """Read what a caller asks a context for, with the project's own plans where it has none."""
        given = {name: value for name, value in dict(asked).items() if name in _fields_said(asked)}
        _require_plan_keys(given)
        if given.setdefault("project_id", self.project_id) != self.project_id:
            raise UserInputError(
                f"a context of project {given['project_id']!r} was asked of {self!r}; ask memory.story for it"
            )
        place = StoryPosition(given.get("chapter_index"), given.get("scene_index"))
        if place.chapter_index is None or place.scene_index is None:
            raise UserInputError("a context needs its place; pass chapter_index and scene_index")
        given["chapter_plan"] = in_first_shape(given.get("chapter_plan"))
        own_plan, own_chapter_plan = own_scene_plan(
            self._stores.paths(self.project_id),
            chapter_index=place.chapter_index,
            scene_index=place.scene_index,
        )
        if given["chapter_plan"] is None:
            given["chapter_plan"] = own_chapter_plan
        if given.get("scene_plan") is None:
            in_chapter = _read(MemoryContextRequest, {**given, "scene_plan": {}}).chapter_plan
            given["scene_plan"] = (in_chapter and in_chapter.scene(place.scene_index)) or own_plan
        if given["scene_plan"] is None:
            raise UserInputError(
                f"there is no plan of scene {str(place)!r}; pass scene_plan, such as "
                '{"location": "…", "characters": ["…"], "purpose": "…"}'
            )
        return _read(MemoryContextRequest, given)

    def _awaken(self) -> None:
        """Let the vector index start before the first search, whose deadline its start would use up."""
        if not self._is_awake:
            await_index(self._stores, self.project_id)
            self._is_awake = True


def _require_plan_keys(given: Mapping[str, Any]) -> None:
    """Refuse a key that is nearly one of place or plan where that is missing; other keys are a chain's own."""
    missing = [key for key in _PLAN_KEYS if key not in given]
    for key in map(str, given):
        if key not in MemoryContextRequest.model_fields and (
            meant := did_you_mean(key, missing, likeness=0.85)
        ):
            raise UserInputError(f"a context takes no key {key!r}{meant}")


def _fields_said(asked: Any) -> Iterable[str]:
    return asked.model_fields_set if isinstance(asked, BaseModel) else dict(asked)


def _chapter_files(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return chapter files, those of a folder in its place."""
    paths = [Path(files)] if isinstance(files, str | Path) else [Path(each) for each in files]
    found: list[Path] = []
    for path in paths:
        in_folder = list(chapter_files(path).values()) if path.is_dir() else [path]
        if not in_folder:
            raise UserInputError(
                f"there are no chapters in {str(path)!r}; name them chapter_001.json, .txt or .md"
            )
        found += in_folder
    return found


def _record(record: Any, chapter_index: int, scene_index: int) -> SceneRecord:
    try:
        fields = given_record(record, chapter_index=chapter_index, scene_index=scene_index)
    except ValueError as error:
        raise UserInputError(str(error)) from error
    return _read(SceneRecord, fields)


def _read(model: type[Model], given: Any) -> Model:
    """Read what a caller holds; what is wrong in it is told as any other wrong argument."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        reason = error.errors()[0].get("ctx", {}).get("error")
        raise UserInputError(str(reason) if reason is not None else described(error)) from error
