"""A model's input on a scene and the story before it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from novelgen.language.candidates import find_name_candidates
from novelgen.language.language import estimate_tokens, stated_language, story_language
from novelgen.language.matching import NameFinder
from novelgen.language.sentences import split_sentences
from novelgen.models.entity import Entity, revealed_identity
from novelgen.models.position import Place, StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.reading.chapter_reading import ChapterEntity, ChapterRequest, ChapterScene
from novelgen.reading.knowledge_reading import SceneKnowledgeRequest, earlier_memories, judged_memories, scene_cast
from novelgen.reading.request import EntitySighting, PromptMemory, SceneBefore, SceneRecordRequest, in_shown_ids
from runtime.ingest.scene_writes import lately_on_stage, memories_still_true
from runtime.storage.database import UnitOfWork
from runtime.storage.entities import is_unmasked
from runtime.storage.records import Scene, Staging

LAST_SCENES = 3

LAST_WORDS_TOKENS = 150
"""How much is shown of the end of a scene that nobody has read yet."""


def record_request(unit: UnitOfWork, scene: Scene, *, max_bullets: int) -> SceneRecordRequest:
    """Return the extraction request of a scene.

    Entities are those known by the end of the scene: also who is named in it for the first time, and of those whom
    an earlier reading of it unmasked the one who was behind the mask.
    """
    position = scene.position
    entities = _described(unit, scene)
    states = unit.states.snapshots([entity.entity_id for entity in entities], as_of=position)
    stagings = unit.scenes.stagings(as_of=position)
    memories = memories_still_true(unit, position)
    lines = [((memory.chapter_index, memory.scene_index), memory.entities_mentioned) for memory in memories]
    lines += [((snapshot.chapter_index, snapshot.scene_index), [snapshot.entity_id]) for snapshot in states]
    request = SceneRecordRequest(
        project_id=scene.project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        text=scene.text or "",
        language=stated_language(unit.projects.require().language),
        present_ids=lately_on_stage(unit, position),
        max_bullets=max_bullets,
        entities=entities,
        open_loops=unit.threads.list_as_of(as_of=position),
        states=states,
        relationships=unit.relationships.list_as_of(as_of=position),
        stand_ins=_stand_ins(unit, StoryPosition(scene.chapter_index, scene.scene_index + 1)),
        memories=[
            PromptMemory(
                memory_id=chunk.memory_id,
                says=chunk.content,
                short=chunk.short or "",
                chapter_index=chunk.chapter_index,
                scene_index=chunk.scene_index,
                importance=chunk.importance,
                entities=chunk.entities_mentioned,
            )
            for chunk in memories
        ],
        scenes_before=[
            _scene_before(scene) for scene in unit.scenes.list_as_of(as_of=position, last=LAST_SCENES, with_text=True)
        ],
        story_places=[staging.place for staging in stagings],
        sightings={
            who: EntitySighting(chapter_index=places[-1][0], scene_index=places[-1][1], scenes=len(places))
            for who, places in _sighting_places(entities, stagings, lines, as_of=position).items()
        },
    )
    return in_shown_ids(request)


def knowledge_request(unit: UnitOfWork, scene: Scene) -> SceneKnowledgeRequest:
    """Return the knowledge request of a recorded scene."""
    record = scene.record or SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index)
    text = scene.text or ""
    after = StoryPosition(scene.chapter_index, scene.scene_index + 1)
    cast = scene_cast(text, unit.entities.list_as_of(as_of=after), record)
    return SceneKnowledgeRequest(
        project_id=scene.project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        text=text,
        language=stated_language(unit.projects.require().language) or story_language(text),
        cast=cast,
        memories=judged_memories(record, cast),
        earlier=earlier_memories(text, unit.knowledge_story(as_of=scene.position), cast),
        stand_ins=unit.merges.survivors(),
    )


def _stand_ins(unit: UnitOfWork, position: StoryPosition) -> dict[str, str]:
    """Merged entities and revealed identities by then."""
    masks = {
        one.entity.entity_id: revealed.entity_id
        for one in unit.entities.list_all()
        if is_unmasked(one.entity, position) and (revealed := revealed_identity(one.entity))
    }
    return {**unit.merges.survivors(), **masks}


def _described(unit: UnitOfWork, scene: Scene) -> list[Entity]:
    """The entities by a scene's end, with earlier descriptions by models.

    A read as of a position hides such descriptions, for nobody can tell what of a supplied one is yet to come.
    One that a model wrote says no more than the scene that showed the entity first.
    """
    after = StoryPosition(scene.chapter_index, scene.scene_index + 1)
    texts = {
        stored_entity.entity.entity_id: stored_entity.entity.description
        for stored_entity in unit.entities.list_all()
        if stored_entity.origin == "extracted"
    }
    return [
        entity.model_copy(update={"description": texts[entity.entity_id]})
        if entity.entity_id in texts and scene.position.admits(entity.first_chapter, entity.first_scene)
        else entity
        for entity in unit.entities.list_as_of(as_of=after)
    ]


def _scene_before(scene: Scene) -> SceneBefore:
    place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
    if scene.record is None and scene.text:
        # Nobody has read it yet: it is being read at the same time, or failed.
        candidates = find_name_candidates([(scene.chapter_index, scene.scene_index, scene.text)], min_count=1)
        # The last sentences of a text, whole ones, that fit; of a last one that does not, its end.
        kept_text = ""
        for span in reversed(split_sentences(scene.text)):
            text = scene.text[span.start :].strip()
            if estimate_tokens(text) > LAST_WORDS_TOKENS:
                break
            kept_text = text
        return SceneBefore(
            **place,
            characters_present=scene.participants,
            names=[candidate.name for candidate in candidates],
            last_words=kept_text or scene.text.strip()[-LAST_WORDS_TOKENS:],
        )
    return SceneBefore(
        **place,
        story_time=scene.story_time or "",
        location_id=scene.location_id,
        characters_present=scene.participants,
        summary=scene.record.summary if scene.record else [],
    )


def _sighting_places(
    entities: Iterable[Entity],
    scenes: Iterable[Staging],
    lines: Iterable[tuple[tuple[int | None, int | None], Sequence[str]]],
    *,
    as_of: StoryPosition,
) -> dict[str, list[Place]]:
    """Return where each entity first appeared, was on stage, or was told of, in story order, each scene once."""
    places: dict[str, set[Place]] = defaultdict(set)
    first = ((entity.first_chapter, entity.first_scene, entity.entity_id) for entity in entities)
    on_stage = ((*staging.place, who) for staging in scenes for who in (*staging.participants, staging.location_id))
    for chapter, scene, who in (*first, *on_stage, *((*place, who) for place, ids in lines for who in ids)):
        if chapter is not None and scene is not None and who is not None and as_of.admits(chapter, scene):
            places[who].add((chapter, scene))
    return {who: sorted(seen_places) for who, seen_places in places.items()}


def chapter_request(unit: UnitOfWork, chapter_index: int) -> ChapterRequest:
    """Return the review request of a chapter: scenes, entities, threads."""
    after = StoryPosition(chapter_index + 1, 0)
    everything = unit.scenes.list_as_of(as_of=after)
    scenes = [unit.scenes.require(scene.position) for scene in everything if scene.chapter_index == chapter_index]
    descriptions = {one.entity.entity_id: one.entity.description for one in unit.entities.list_all()}
    entities = unit.entities.list_as_of(as_of=after)
    lines = [
        ((scene.chapter_index, scene.scene_index), memory.entities)
        for scene in everything
        for memory in (scene.record.memories if scene.record else ())
    ]
    places_by_id = _sighting_places(entities, unit.scenes.stagings(as_of=after), lines, as_of=after)
    return ChapterRequest(
        chapter_index=chapter_index,
        language=story_language("\n".join(scene.text or "" for scene in scenes)),
        scenes=[
            ChapterScene(
                chapter_index=scene.chapter_index,
                scene_index=scene.scene_index,
                text=scene.text or "",
                summary=scene.record.summary if scene.record else [],
            )
            for scene in scenes
        ],
        entities=[
            _list_entity(entity, descriptions.get(entity.entity_id, ""), places_by_id.get(entity.entity_id, []), scenes)
            for entity in entities
        ],
        threads=unit.threads.list_as_of(as_of=after),
        memories=[
            PromptMemory(
                memory_id=memory.memory_id,
                chapter_index=scene.chapter_index,
                scene_index=scene.scene_index,
                says=memory.content,
                importance=memory.importance,
                evidence=memory.evidence or "",
            )
            for scene in scenes
            for memory in (scene.record.memories if scene.record else ())
        ],
    )


def _list_entity(entity: Entity, description: str, seen_places: list[Place], scenes: Sequence[Scene]) -> ChapterEntity:
    is_new = entity.first_chapter == scenes[0].chapter_index
    return ChapterEntity(
        entity=entity,
        description=description,
        is_new=is_new,
        seen=seen_places,
        first_quote=_first_sentence(entity, scenes) if is_new else "",
    )


def _first_sentence(entity: Entity, scenes: Sequence[Scene]) -> str:
    finder = NameFinder(entity.names())
    for scene in scenes:
        text = scene.text or ""
        match = next(iter(finder.find(text)), None)
        if match is not None:
            spans = (span for span in split_sentences(text) if span.end > match.start)
            return next((text[span.start : span.end].strip() for span in spans), "")
    return ""
