"""Two small stories, one in English and one in Chinese, that a memory under test is filled with.

Both tell the same: same ids, same places, so that every case holds for both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from novelgen.models.context import SceneMemoryContext
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord


@dataclass(frozen=True)
class SampleScene:
    """A finished scene.

    Args:
        text: Its prose; every name that is introduced there stands in it.
        record: What it established.
    """

    text: str
    record: SceneRecord

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the scene."""
        return StoryPosition(self.record.chapter_index, self.record.scene_index)


@dataclass(frozen=True)
class SampleStory:
    """A story to fill a memory with.

    Args:
        project_id: Id of its project.
        language: `en` or `zh`.
        entities: All entities, each with the place where it first appears.
        scenes: In story order.
        canon: A note without a place: what holds everywhere.
        queries: Memory id to a question that this memory answers best.
        aliases: Entity id to another name of it, used from `alias_from` on.
    """

    project_id: str
    language: str
    entities: Sequence[Entity]
    scenes: Sequence[SampleScene]
    canon: str
    queries: Mapping[str, str]
    aliases: Mapping[str, str]

    @property
    def records(self) -> list[SceneRecord]:
        """The records of all scenes."""
        return [scene.record for scene in self.scenes]

    @property
    def positions(self) -> list[StoryPosition]:
        """Every position worth reading at: on entering each scene and each chapter, and after the end."""
        chapters = {scene.record.chapter_index for scene in self.scenes}
        entering = [StoryPosition(number) for number in sorted({*chapters, max(chapters) + 1})]
        return [*entering, *(scene.position for scene in self.scenes), StoryPosition()]


def _story(project_id: str, language: str, words: Mapping[str, Any]) -> SampleStory:
    names, aliases, memories = words["names"], words["aliases"], words["memories"]

    def entity(entity_id: str, entity_type: Any, chapter: int, scene: int, **fields: Any) -> Entity:
        return Entity(
            entity_id=entity_id,
            entity_type=entity_type,
            name=names[entity_id],
            first_chapter=chapter,
            first_scene=scene,
            **fields,
        )

    def memory(memory_id: str, *entities: str, tags: Sequence[str] = ()) -> dict[str, Any]:
        content = memories[memory_id]
        return {"memory_id": memory_id, "content": content, "entities": list(entities), "tags": list(tags)}

    def scene(chapter: int, number: int, present: Sequence[str], **fields: Any) -> SampleScene:
        place = {"chapter_index": chapter, "scene_index": number}
        record = SceneRecord.model_validate(
            {**place, "location_id": "L0", "characters_present": list(present), **fields}
        )
        return SampleScene(words["texts"][len(scenes)], record)

    scenes: list[SampleScene] = []
    scenes.append(
        scene(
            0,
            1,
            ["C0"],
            state_changes=[{"entity_id": "I0", "changes": {"holder": "C0"}}],
            memories=[memory("M0", "C0", "I0", tags=["key"])],
        )
    )
    scenes.append(
        scene(
            1,
            1,
            ["C0", "C1"],
            state_changes=[{"entity_id": "C1", "changes": {"goals": words["goals"], "disguise": words["disguise"]}}],
            relationship_changes=[
                {"character_a": "C1", "character_b": "C0", "status": "friendly", "dimensions": {"trust": 20}}
            ],
            open_loops_created=[
                {"id": "OL0", "description": memories["M1"], "importance": "high", "related_characters": ["C1"]}
            ],
            memories=[memory("M1", "C1", "C0", tags=["promise"])],
        )
    )
    scenes.append(
        scene(
            1,
            2,
            ["C1"],
            state_changes=[{"entity_id": "C1", "changes": {"disguise": None}}],
            open_loops_advanced=[{"id": "OL0", "note": words["goals"][0]}],
            open_loops_created=[{"id": "OL1", "description": memories["M2"], "related_characters": ["C1"]}],
            memories=[memory("M2", "C1")],
        )
    )
    scenes.append(scene(2, 1, ["C0"], memories=[memory("M3", "C0", "L0")]))
    scenes.append(
        scene(
            3,
            1,
            ["C0", "C1", "C2"],
            state_changes=[
                {"entity_id": "I0", "changes": {"holder": "C2"}},
                {"entity_id": "C1", "changes": {"goals": words["goals"][:1]}},
            ],
            relationship_changes=[
                {"character_a": "C0", "character_b": "C1", "status": "hostile", "dimensions": {"fear": 30}}
            ],
            open_loops_resolved=[{"id": "OL0", "resolution_summary": memories["M4"]}],
            memories=[memory("M4", "C1", "C2", "I0", tags=["key"])],
        )
    )
    return SampleStory(
        project_id=project_id,
        language=language,
        entities=[
            entity("C0", "character", 0, 1),
            entity("C1", "character", 1, 1, aliases=[EntityAlias(alias=aliases["C1"], first_chapter=2, first_scene=1)]),
            entity("C2", "character", 3, 1),
            entity("I0", "item", 0, 1),
            entity("L0", "location", 0, 1),
        ],
        scenes=scenes,
        canon=words["canon"],
        queries=words["queries"],
        aliases=aliases,
    )


ENGLISH_STORY = _story(
    "conformance-en",
    "en",
    {
        "names": {
            "C0": "Ada Winter",
            "C1": "Ben Marsh",
            "C2": "Cornelius Vane",
            "I0": "the brass key",
            "L0": "Gull Rock",
        },
        "aliases": {"C1": "the lamplighter"},
        "goals": ["keep the lamp burning", "leave Gull Rock"],
        "disguise": "a pedlar",
        "canon": "Nobody on the island can swim.",
        "memories": {
            "M0": "Ada Winter hid the brass key under the third stair.",
            "M1": "Ben Marsh promised Ada Winter to keep the lamp burning until her return.",
            "M2": "Ben Marsh owes forty crowns to the smugglers of the northern bay.",
            "M3": "Ada Winter found the logbook of a wreck called Marigold.",
            "M4": "Ben Marsh sold the brass key to Cornelius Vane, the harbour master.",
        },
        "queries": {
            "M0": "Who hid the brass key under the third stair?",
            "M1": "Ben Marsh promised to keep the lamp burning until her return",
            "M2": "owes forty crowns to the smugglers of the northern bay",
            "M3": "the logbook of a wreck called Marigold",
            "M4": "sold the brass key to Cornelius Vane, the harbour master",
        },
        "texts": [
            "Ada Winter came to Gull Rock at dusk. She hid the brass key under the third stair.",
            "Ben Marsh promised Ada Winter to keep the lamp burning until her return.",
            "Ben Marsh counted his coins. He owed forty crowns to the smugglers of the northern bay.",
            "Ada Winter searched the shelves while the lamplighter slept. She found the logbook of the Marigold.",
            "Ben Marsh sold the brass key to Cornelius Vane, and Ada Winter saw it.",
        ],
    },
)
"""Five scenes on an island, from a prologue in chapter 0 to chapter 3."""

CHINESE_STORY = _story(
    "conformance-zh",
    "zh",
    {
        "names": {"C0": "林霜", "C1": "马本", "C2": "范康", "I0": "铜钥匙", "L0": "鸥岩岛"},
        "aliases": {"C1": "点灯人"},
        "goals": ["守住灯火", "离开鸥岩岛"],
        "disguise": "货郎",
        "canon": "岛上无人会游泳。",
        "memories": {
            "M0": "林霜把铜钥匙藏在第三级石阶下面。",
            "M1": "马本答应林霜守住灯火，直到她归来。",
            "M2": "马本欠北湾私盐贩子四十两银子。",
            "M3": "林霜翻到一艘名叫金盏号的沉船日志。",
            "M4": "马本把铜钥匙卖给了港务官范康。",
        },
        "queries": {
            "M0": "谁把铜钥匙藏在第三级石阶下面",
            "M1": "马本答应守住灯火，直到她归来",
            "M2": "欠北湾私盐贩子四十两银子",
            "M3": "名叫金盏号的沉船日志",
            "M4": "把铜钥匙卖给了港务官范康",
        },
        "texts": [
            "黄昏时分，林霜来到鸥岩岛，把铜钥匙藏在第三级石阶下面。",
            "马本答应林霜守住灯火，直到她归来。",
            "马本数着铜板。他欠北湾私盐贩子四十两银子。",
            "点灯人睡着的时候，林霜翻遍书架，翻到一艘名叫金盏号的沉船日志。",
            "马本把铜钥匙卖给了范康，林霜看在眼里。",
        ],
    },
)
"""The same five scenes in Chinese."""


def sample_context(
    chapter_index: int, scene_index: int, *, project_id: str = "story", **fields: Any
) -> SceneMemoryContext:
    """Return a context as a test of an orchestrator writes it by hand: of the same place always an equal one.

    Args:
        chapter_index: Of the planned scene.
        scene_index: Its number within the chapter.
        project_id: The project.
        **fields: Any other fields of the context; `retrieval_timestamp` is the beginning of 2000 unless given.
    """
    told = {"retrieval_timestamp": datetime(2000, 1, 1, tzinfo=UTC)} | fields
    return SceneMemoryContext(project_id=project_id, chapter_index=chapter_index, scene_index=scene_index, **told)
