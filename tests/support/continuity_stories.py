"""A short story before a draft, in both languages, as a check of that draft sees it; no store is needed."""

from collections.abc import Callable
from typing import Any

from novelgen.checking.story import Draft, StoryBefore, read_draft
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import OpenLoop, Relationship, RelationshipEvent, StateChange

AS_OF = StoryPosition(2, 1)

ENGLISH_DRAFT = (
    "Ada Fenn set the brass lamp on the sill. 'Tobin rowed me over this morning,' she said. "
    "Ben Orrick rubbed his hands together, all ten fingers of them. The rain had stopped."
)

CHINESE_DRAFT = "阿禾把铜灯放在窗台上。“今早是老秦摇船送我过来的。”她说。柳娘搓着两只手，十个指头都冻红了。雨停了。"

_WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "names": ("Ada Fenn", "Ben Orrick", "Old Tobin", "the brass lamp", "the salt house"),
        "alias": "Tobin",
        "scenes": (
            "Old Tobin drowned at the weir, and Ada saw it. They carried him up on a door.",
            "Ben Orrick held up his hand. The press had taken two fingers of it in the spring. Ada gave him the lamp.",
        ),
        "memories": (
            ("M1", "Old Tobin drowned at the weir; Ada Fenn saw it.", (1, 1), ("C0", "C2")),
            ("M2", "The press took two fingers of Ben Orrick's hand.", (1, 2), ("C1",)),
            ("M3", "Ada Fenn gave Ben Orrick the brass lamp.", (1, 2), ("C0", "C1", "I0")),
        ),
        "dead": "dead, drowned at the weir",
        "thread": "Ada owes Ben for the lamp.",
        "tie": "friends",
        "event": "the gift of the lamp",
    },
    "zh": {
        "names": ("阿禾", "柳娘", "秦老汉", "铜灯", "盐仓"),
        "alias": "老秦",
        "scenes": (
            "秦老汉在堰口落水淹死了，阿禾亲眼看见。众人用门板把他抬上来。",
            "柳娘举起手来。春天里压盐的机子轧掉了她两个指头。阿禾把铜灯给了她。",
        ),
        "memories": (
            ("M1", "秦老汉在堰口淹死，阿禾亲眼看见。", (1, 1), ("C0", "C2")),
            ("M2", "压盐的机子轧掉了柳娘两个指头。", (1, 2), ("C1",)),
            ("M3", "阿禾把铜灯给了柳娘。", (1, 2), ("C0", "C1", "I0")),
        ),
        "dead": "死亡，在堰口淹死",
        "thread": "阿禾欠着柳娘的灯钱。",
        "tie": "朋友",
        "event": "赠灯",
    },
}

_TYPES = ("character", "character", "character", "item", "location")
_IDS = ("C0", "C1", "C2", "I0", "L0")


def story_before_draft(language: str = "en", **changes: Any) -> StoryBefore:
    """Return a story of two scenes: one of them drowns, one loses two fingers and is given a lamp."""
    words = _WORDS[language]
    entities = [
        Entity.model_validate({"entity_id": entity_id, "entity_type": kind, "name": name})
        for entity_id, kind, name in zip(_IDS, _TYPES, words["names"], strict=True)
    ]
    entities[2].aliases.append(EntityAlias(alias=words["alias"]))
    present = (frozenset({"C0", "C2"}), frozenset({"C0", "C1"}))
    scenes = [
        KnowledgeScene(StoryPosition(1, number), present=present[number - 1], text=text)
        for number, text in enumerate(words["scenes"], start=1)
    ]
    memories = words["memories"]
    knowledge = KnowledgeStory(
        as_of=AS_OF,
        scenes=scenes,
        memories=[
            KnowledgeMemory(source_id, content, StoryPosition(*place), entities=about)
            for source_id, content, place, about in memories
        ],
        names={each.entity_id: each.names() for each in entities},
        character_ids=frozenset({"C0", "C1", "C2"}),
        language=language,
    )
    given: dict[str, Any] = {
        "as_of": AS_OF,
        "language": language,
        "entities": entities,
        "changes": [
            _change("C2", "status", words["dead"], 1),
            _change("C2", "presence", {"location_id": "L0"}, 1, kind="presence"),
            _change("I0", "holder", "C1", 2),
        ],
        "memories": [
            StoryMemoryChunk(
                chunk_id=source_id,
                project_id="salt",
                chapter_index=place[0],
                scene_index=place[1],
                content=content,
                content_type="memory",
                source_id=source_id,
                entities_mentioned=list(about),
            )
            for source_id, content, place, about in memories
        ],
        "relationships": [
            Relationship(
                relationship_id="R0",
                character_a="C0",
                character_b="C1",
                relationship_type=words["tie"],
                history=[RelationshipEvent(event=words["event"])],
            )
        ],
        "threads": [OpenLoop(loop_id="OL0", description=words["thread"], related_entities=["C0", "C1"])],
        "knowledge": KnowledgeRules(knowledge),
    }
    return StoryBefore(**{**given, **changes})


def draft_of(story: StoryBefore, text: str = "") -> Draft:
    """Return a draft read for a story; by default one with two contradictions."""
    return read_draft(text or (CHINESE_DRAFT if story.language == "zh" else ENGLISH_DRAFT), story)


def gathering(story: StoryBefore) -> Callable[[object], list[ContinuityEvidence]]:
    """Return what gathers every memory of a story, whatever the draft is."""

    def gather(_: object) -> list[ContinuityEvidence]:
        return [
            ContinuityEvidence(
                source_id=each.source_id or "",
                chapter_index=each.chapter_index,
                scene_index=each.scene_index,
                text=each.content,
                entity_ids=each.entities_mentioned,
            )
            for each in story.memories
        ]

    return gather


def _change(entity_id: str, attribute: str, value: Any, scene: int, **more: Any) -> StateChange:
    return StateChange(
        entity_id=entity_id, attribute=attribute, value=value, chapter_index=1, scene_index=scene, **more
    )
