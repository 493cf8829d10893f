"""One story for Python programs: the services as methods of an object, each that blocks with an async twin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from novelgen.chains.story_memory_retriever import StoryMemoryRetriever
from novelgen.errors import UserInputError
from novelgen.models.chunk_context import ChunkContext
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.entity import Entity, EntityType
from novelgen.models.given import given_record
from novelgen.models.knowledge import CharacterKnowledge, KnowledgeKind, KnowledgeMode, KnowledgeSource
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import EntityStateSnapshot, LoopStatus, OpenLoop, Relationship
from novelgen.names.candidates import MIN_COUNT, NameCandidate
from novelgen.names.sightings import CandidateKind
from novelgen.nearest import did_you_mean
from runtime.async_twins import async_twin
from runtime.chunk_context import DEFAULT_LIMIT as DEFAULT_CHUNK_LIMIT
from runtime.chunk_context import build_chunk_context
from runtime.files.file_reading import described
from runtime.files.project_files import chapter_files, in_first_shape
from runtime.files.scene_plans import own_scene_plan
from runtime.langchain_tools import build_memory_tools
from runtime.services import conflicts as conflict_services
from runtime.services import entities as entity_services
from runtime.services import knowledge as knowledge_services
from runtime.services import memories as memory_services
from runtime.services import relationships as relationship_services
from runtime.services import threads as thread_services
from runtime.services import transfer as transfer_services
from runtime.services.conflicts import ListedConflict
from runtime.services.contexts import ContextBuilder, ContextOptions
from runtime.services.diagnosis import Diagnosis, diagnose
from runtime.services.extraction import ExtractionReport, extract_project
from runtime.services.indexing import ReindexResult, await_index, reindex_project
from runtime.services.ingest import IngestReport, ingest_finished_scene, ingest_project
from runtime.services.knowledge import MemoryKnowers, SharedLife, StoredKnowledge
from runtime.services.memories import DEFAULT_LIMIT, AddedNote, MemoryListing, MemoryStatus
from runtime.services.name_candidates import list_candidates
from runtime.services.relationships import DEFAULT_INTENSITY
from runtime.services.transfer import ProjectExport
from runtime.stores import MemoryStores
from runtime.story_memory import DEFAULT_CONTEXT_WINDOW, DEFAULT_TOP_K, StoryMemoryTools
from runtime.story_tools.toolset import build_story_tools

Place = StoryPosition | tuple[int, int] | int | None
"""A point of the story: `(5, 4)` on entering scene 4 of chapter 5, `5` on entering chapter 5, None after the end."""

_PLAN_KEYS = ("chapter_index", "scene_index", "scene_plan", "chapter_plan")

Progress = Callable[[int, int], Any]
Model = TypeVar("Model", bound=BaseModel)


class Story:
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

    def note(self, text: str, *, entities: Sequence[str] = (), start: Place = None) -> AddedNote:
        """Store a fact of the author.

        Args:
            text: What holds in the story.
            entities: Whom it is about.
            start: It is read from this position on; None means everywhere.

        Raises:
            UserInputError: When the text is empty.
            UnknownEntityError: When it is about somebody unknown.
        """
        return memory_services.add_note(
            self._stores, self.project_id, text=text, entities=list(entities), start=_position(start)
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
        limit: int = DEFAULT_CHUNK_LIMIT,
        language: str | None = None,
    ) -> ChunkContext:
        """Build the glossary and memories that a translator or editor of a piece of text must know.

        Args:
            text: The piece of text, a paragraph to a few pages.
            chapter_index: The chapter in which it stands; None means the whole book.
            limit: At most so many memories.
            language: Language of the headings; None takes the story's.
        """
        self._awaken()
        return build_chunk_context(
            self.project_id, text, chapter_index, limit, stores=self._stores, language=language
        )

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
    ) -> list[StoryMemoryChunk]:
        """Search what the story has established, by meaning and by words; best first.

        Args:
            query: What to look for, in the story's language.
            entities: Only memories of one of these.
            content_type: Only this kind: scene, dialogue, description, summary, memory or note.
            tags: Only memories with one of these tags.
            top_k: At most so many.
            as_of: Only what lies strictly before this position.

        Raises:
            UserInputError: When the query is empty.
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

    def threads(self, statuses: Sequence[LoopStatus] = (), *, as_of: Place = None) -> list[OpenLoop]:
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

    def memories(
        self,
        *,
        entities: Sequence[str] = (),
        content_types: Sequence[ContentType] = (),
        status: MemoryStatus = "active",
        limit: int | None = DEFAULT_LIMIT,
        as_of: Place = None,
    ) -> MemoryListing:
        """Return stored memories in story order, and how many there are in all.

        Args:
            entities: Only memories of one of these.
            content_types: Only memories of these kinds.
            status: What was decided about them: active, pinned, banned, ….
            limit: At most so many; None means all.
            as_of: Only what lies strictly before this position.
        """
        return memory_services.list_memories(
            self._stores,
            self.project_id,
            entities=list(entities),
            content_types=list(content_types),
            status=status,
            limit=limit,
            as_of=_position(as_of),
        )

    def conflicts(self, *, with_waived: bool = False) -> list[ListedConflict]:
        """Return where the story contradicts itself.

        Args:
            with_waived: Whether to list what the author means to be so, too.
        """
        return conflict_services.list_conflicts(self._stores, self.project_id, with_waived=with_waived)

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
    ) -> BaseRetriever:
        """Return the story's memory as a LangChain retriever.

        Args:
            k: At most so many documents.
            as_of: Only what lies strictly before this position.
            entities: Only memories of one of these.
            content_type: Only this kind of memory.
            tags: Only memories with one of these tags.
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
        return [*looking_up, *build_story_tools(self._stores, self.project_id, position)]

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
    acontext = async_twin(context)
    acontexts = async_twin(contexts)
    achunk_context = async_twin(chunk_context)
    asearch = async_twin(search)
    astate = async_twin(state)
    atimeline = async_twin(timeline)
    aentities = async_twin(entities)
    acandidates = async_twin(candidates)
    athreads = async_twin(threads)
    arelationships = async_twin(relationships)
    aadd_relationship = async_twin(add_relationship)
    aedit_relationship = async_twin(edit_relationship)
    aknowledge = async_twin(knowledge)
    awho_knows = async_twin(who_knows)
    alived_together = async_twin(lived_together)
    aset_knowledge = async_twin(set_knowledge)
    aforget_knowledge = async_twin(forget_knowledge)
    amemories = async_twin(memories)
    aconflicts = async_twin(conflicts)
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


def _position(place: Place) -> StoryPosition | None:
    return None if place is None else _required_position(place)


def _required_position(place: StoryPosition | tuple[int, int] | int) -> StoryPosition:
    if isinstance(place, StoryPosition):
        return place
    return StoryPosition(*place) if isinstance(place, tuple) else StoryPosition(place)


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
