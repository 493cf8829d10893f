"""What the tools read: bodies that call a story and answer shortly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from novelgen.context.difference_block import difference_lines
from novelgen.models.entity import EntityType
from novelgen.models.memory import ContentType
from novelgen.models.position import GREATEST_INDEX, StoryPosition
from runtime.doors.mcp.answers import (
    CardAnswer,
    ChangesAnswer,
    CheckAnswer,
    EntitiesAnswer,
    EntityState,
    EntityStateAnswer,
    FoundMemory,
    ListedEntity,
    SceneContextAnswer,
    SceneLine,
    ScenesAnswer,
    SceneTextAnswer,
    SearchAnswer,
    Thread,
    ThreadsAnswer,
    TimelineAnswer,
    messages,
)
from runtime.doors.mcp.arguments import (
    LONGEST_PART,
    MAX_SCENES,
    POSITION_PATTERN,
    AsOf,
    Chapter,
    Draft,
    EntityName,
    Fact,
    Limit,
    Name,
    Plan,
    PointOfView,
    Scene,
    position,
)
from runtime.doors.mcp.knowledge_answers import CharacterKnowledgeAnswer, KnowersAnswer
from runtime.doors.mcp.shelf import OpenStory
from runtime.story.scenes import StoryScenes
from runtime.story.search import StorySearch


def build_scene_context(
    here: OpenStory,
    *,
    chapter_index: Chapter,
    scene_index: Scene,
    scene_plan: Plan = None,
    pov: PointOfView = "",
    hints: Annotated[Sequence[Fact], Field(max_length=50, description="Remarks that the search should heed.")] = (),
) -> SceneContextAnswer:
    """Build what a planned scene must remember."""
    plan = None if scene_plan is None else scene_plan.model_dump(exclude_unset=True)
    context = here.story.context(chapter_index, scene_index, plan, hints=hints, pov=pov)
    return SceneContextAnswer.of(context)


def check_draft(
    here: OpenStory,
    *,
    text: Draft,
    chapter_index: Chapter,
    scene_index: Scene,
    scene_plan: Plan = None,
    pov: PointOfView = "",
    use_model: Annotated[bool, Field(description="False: rules alone check, which is quicker.")] = True,
) -> CheckAnswer:
    """Check a draft against everything before its scene."""
    plan = None if scene_plan is None else scene_plan.model_dump(exclude_unset=True)
    check = here.story.check(
        text,
        chapter_index=chapter_index,
        scene_index=scene_index,
        scene_plan=plan,
        pov=pov or None,
        use_model=use_model,
    )
    return CheckAnswer.of(check)


def what_changed(
    here: OpenStory,
    *,
    since: Annotated[
        str | None,
        Field(
            pattern=POSITION_PATTERN,
            description="Scene from which on to tell, such as 3:2. Default: only the last stored scene.",
        ),
    ] = None,
    as_of: AsOf = None,
) -> ChangesAnswer:
    """Tell what scenes changed."""
    difference = here.story.what_changed(since=position(since), until=position(as_of))
    return ChangesAnswer(lines=difference_lines(difference), is_empty=difference.is_empty)


def search_story_memory(
    here: OpenStory,
    *,
    query: Annotated[str, Field(min_length=1, max_length=20_000, description="In the story's language; one question.")],
    entities: Annotated[
        Sequence[Name],
        Field(max_length=100, description="Only memories of one of these: ids, names, chapter:3, or book."),
    ] = (),
    content_type: Annotated[ContentType | None, Field(description="Only this kind.")] = None,
    as_of: AsOf = None,
    limit: Limit = 10,
) -> SearchAnswer:
    """Search what the story has established."""
    found = StorySearch(*here.place).rank_memories(
        query=query, entities=entities, content_type=content_type, as_of=position(as_of), top_k=limit
    )
    return SearchAnswer(memories=[FoundMemory.of(each) for each in found.memories], problems=messages(found.issues))


def get_entity_state(here: OpenStory, *, entity: EntityName, as_of: AsOf = None) -> EntityStateAnswer:
    """Tell how somebody or something stands."""
    place = position(as_of) or StoryPosition()
    found = here.story.state(entity, chapter_index=place.chapter_index, scene_index=place.scene_index)
    state = None if found is None else EntityState.of(found)
    return EntityStateAnswer(state=state, names=_names(here, [] if state is None else [state], place))


def get_recent_timeline(
    here: OpenStory,
    *,
    chapter_index: Annotated[int, Field(ge=0, le=GREATEST_INDEX, description="The chapter in the middle.")],
    context_window: Annotated[int, Field(ge=0, le=100, description="Chapters on either side.")] = 2,
    as_of: AsOf = None,
) -> TimelineAnswer:
    """Tell how everybody stood at the end of chapters."""
    place = position(as_of)
    found = here.story.timeline(chapter_index, context_window=context_window, as_of=place)
    states = [EntityState.of(each) for each in found]
    return TimelineAnswer(states=states, names=_names(here, states, place))


def list_entities(
    here: OpenStory,
    *,
    entity_type: Annotated[EntityType | None, Field(description="Only these.")] = None,
    name: Annotated[
        str, Field(max_length=400, description="Only those one of whose names holds these characters.")
    ] = "",
    as_of: AsOf = None,
    limit: Annotated[int, Field(ge=1, le=500, description="At most so many.")] = 100,
) -> EntitiesAnswer:
    """List who and what is in the story."""
    wanted = name.casefold().strip()
    found = [
        each
        for each in here.story.entities(entity_type, as_of=position(as_of))
        if not wanted or any(wanted in one.casefold() for one in each.names())
    ]
    return EntitiesAnswer(entities=[ListedEntity.of(each) for each in found[:limit]], in_all=len(found))


def get_entity_card(here: OpenStory, *, entity: EntityName, as_of: AsOf = None) -> CardAnswer:
    """Tell who somebody or what something is."""
    return CardAnswer.of(here.story.entity(entity, as_of=position(as_of)))


def who_knows(
    here: OpenStory,
    *,
    memory_id: Annotated[
        str, Field(min_length=1, max_length=400, description="The fact's memory_id, as a search tells it.")
    ],
    as_of: AsOf = None,
) -> KnowersAnswer:
    """Tell who knows a fact."""
    return KnowersAnswer.of(here.story.who_knows(memory_id, as_of=position(as_of)))


def get_character_knowledge(
    here: OpenStory,
    *,
    character: EntityName,
    about: Annotated[
        str | None,
        Field(min_length=1, max_length=2_000, description="Only about this: a name, or words. Default: anything."),
    ] = None,
    as_of: AsOf = None,
    limit: Limit = 20,
) -> CharacterKnowledgeAnswer:
    """Tell what a character knows."""
    found = here.story.knowledge(character, about=about, as_of=position(as_of))
    return CharacterKnowledgeAnswer.of(found, limit=limit)


def list_threads(
    here: OpenStory,
    *,
    on_stage: Annotated[
        Sequence[Name],
        Field(
            max_length=100,
            description="Whom and what the next scene has, by id or name: their threads press more."
            " Default: the last scene's.",
        ),
    ] = (),
    category: Annotated[
        str, Field(max_length=400, description="Only of this kind: promise, question, threat, plan, debt, …")
    ] = "",
    only_due: Annotated[bool, Field(description="Only those that are due or overdue.")] = False,
    as_of: AsOf = None,
    limit: Limit = 10,
) -> ThreadsAnswer:
    """List what the story left open."""
    ledger = here.story.thread_ledger(on_stage, as_of=position(as_of))
    ledger = ledger.of_category(category) if category else ledger
    waiting = [each for each in ledger.entries if each.is_waiting]
    told = ledger.at("due", "overdue") if only_due else waiting
    return ThreadsAnswer(threads=[Thread.of(each) for each in told[:limit]], waiting_in_all=len(waiting))


def list_scenes(
    here: OpenStory,
    *,
    limit: Annotated[int, Field(ge=1, le=MAX_SCENES, description="At most so many, the last ones.")] = 30,
) -> ScenesAnswer:
    """List the stored scenes."""
    found = StoryScenes(*here.place).list_scenes()
    return ScenesAnswer(scenes=[SceneLine.of(each) for each in found[-limit:]], in_all=len(found))


def read_scene(
    here: OpenStory,
    *,
    chapter_index: Chapter,
    scene_index: Scene,
    begin: Annotated[int, Field(ge=0, description="First character of the part.")] = 0,
    length: Annotated[int, Field(ge=1, le=200_000, description="Most characters of the part.")] = LONGEST_PART,
) -> SceneTextAnswer:
    """Return the text of a stored scene."""
    scene = StoryScenes(*here.place).get_scene(position=StoryPosition(chapter_index, scene_index)).scene
    text = scene.text or ""
    return SceneTextAnswer(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        text=text[begin : begin + length],
        characters_in_all=len(text),
    )


def _names(here: OpenStory, states: list[EntityState], place: StoryPosition | None) -> dict[str, str]:
    """Return the names of those whose states are told, and of whom and what those speak of."""
    told = " ".join(each.model_dump_json() for each in states)
    known = here.story.entities(as_of=place) if states else []
    return {each.entity_id: each.name for each in known if f'"{each.entity_id}"' in told}
