"""A made-up story before a draft, in English or Chinese, of a few people and things, told by states and memories."""

from collections.abc import Sequence

from novelgen.checking.story import StoryBefore
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeScene, KnowledgeStory
from novelgen.models.entity import ID_PREFIXES, Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange

AS_OF = StoryPosition(5, 1)


def entity(entity_id: str, *names: str) -> Entity:
    """An entity with its names; the id's letter says of which type it is."""
    entity_type = next(each for each, prefix in ID_PREFIXES.items() if entity_id.startswith(prefix))
    aliases = [EntityAlias(alias=each) for each in names[1:]]
    return Entity(entity_id=entity_id, entity_type=entity_type, name=names[0], aliases=aliases)


ENGLISH = (
    entity("C0", "Anselm Rook", "Anselm", "Rook"),
    entity("C1", "Mrs. Ottoline Fenn", "Ottoline", "Mrs. Fenn"),
    entity("C2", "Captain Varley", "Varley"),
    entity("C3", "Sergeant Pym", "Pym"),
    entity("I0", "the brass astrolabe", "the astrolabe"),
    entity("I1", "the Harrow ledger", "the ledger"),
)
CHINESE = (
    entity("C0", "陆青崖", "青崖"),
    entity("C1", "苏晚棠", "晚棠"),
    entity("C2", "韩铁山", "铁山"),
    entity("C3", "顾捕头"),
    entity("I0", "青铜罗盘", "罗盘"),
    entity("I1", "盐帮账册", "账册"),
)


def state(entity_id: str, attribute: str, value: object, *, chapter: int = 3) -> StateChange:
    """A state that the second scene of a chapter gave."""
    entity_type = "item" if entity_id.startswith("I") else "character"
    return StateChange(
        entity_id=entity_id,
        entity_type=entity_type,
        attribute=attribute,
        value=value,
        chapter_index=chapter,
        scene_index=2,
    )


def memory(
    content: str, *entities: str, event_type: str = "other", slot: str | None = None, chapter: int = 3
) -> StoryMemoryChunk:
    """A memory of the second scene of a chapter."""
    return StoryMemoryChunk(
        chunk_id=content,
        project_id="p",
        chapter_index=chapter,
        scene_index=2,
        content=content,
        content_type="memory",
        entities_mentioned=list(entities),
        source_id=f"M{chapter}",
        event_type=event_type,
        slot_type=slot,
    )


def told(
    entities: Sequence[Entity],
    *,
    changes: Sequence[StateChange] = (),
    memories: Sequence[StoryMemoryChunk] = (),
    on_stage: Sequence[tuple[int, str]] = ((2, "C0 C1 C2 C3"), (4, "C0 C1")),
    plan: ScenePlan | None = None,
    text: str = "",
) -> StoryBefore:
    """The story before chapter 5, each scene with the same text; `on_stage` says who was there in which chapter's."""
    scenes = [
        KnowledgeScene(StoryPosition(chapter, 2), frozenset(present.split()), text) for chapter, present in on_stage
    ]
    names = {each.entity_id: each.names() for each in entities}
    people = frozenset(each for each in names if each.startswith("C"))
    language = "zh" if entities is CHINESE else "en"
    return StoryBefore(
        as_of=AS_OF,
        language=language,
        entities=entities,
        changes=changes,
        memories=memories,
        knowledge=KnowledgeRules(KnowledgeStory(AS_OF, scenes, [], names, people)),
        plan=plan,
    )
