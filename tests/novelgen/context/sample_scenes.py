"""The three scenes that the recorded models were asked about, and what their stories know before them."""

from dataclasses import dataclass

from novelgen.language.language import StoryLanguage
from novelgen.language.resolver import NameResolver
from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.models.plan import ScenePlan


@dataclass(frozen=True)
class SampleScene:
    """A planned scene with the entities known before it."""

    language: StoryLanguage
    entities: list[Entity]
    scene_plan: ScenePlan

    @property
    def names(self) -> NameResolver:
        """Resolver over the known entities."""
        return NameResolver(self.entities)

    @property
    def request(self) -> MemoryContextRequest:
        """The request for the scene."""
        return MemoryContextRequest(project_id="samples", chapter_index=3, scene_index=2, scene_plan=self.scene_plan)


def known(entity_id: str, entity_type: EntityType, name: str, *aliases: str) -> Entity:
    """Return an entity with these names."""
    return Entity(
        entity_id=entity_id, entity_type=entity_type, name=name, aliases=[EntityAlias(alias=alias) for alias in aliases]
    )


SALT_GATE = SampleScene(
    language="en",
    entities=[
        known("C1", "character", "Mara Venn", "Mara"),
        known("C2", "character", "Tobias Crake", "Tobias"),
        known("C3", "character", "Edric Venn", "Edric"),
        known("C4", "character", "Lord Aldous Kerrin", "Lord Kerrin"),
        known("L1", "location", "Harrowgate Keep", "the keep"),
        known("L2", "location", "the Salt Gate"),
        known("I1", "item", "the brass compass", "brass compass"),
        known("I2", "item", "the Petrel"),
        known("F1", "faction", "the Lamplighters' Guild", "the Guild"),
        known("T1", "term", "Saint Orrin"),
    ],
    scene_plan=ScenePlan(
        scene_number=2,
        location="The Salt Gate, two hours before dawn",
        characters=["Mara Venn", "Tobias"],
        purpose="Mara must choose between the drains and the Guild to whom she broke her oath.",
        key_actions=[
            "Tobias knows her by the cracked brass compass of her brother Edric",
            "Mara steps into the drains as the bell rings for a death in the keep",
        ],
    ),
)

CALDER = SampleScene(
    language="en",
    entities=[
        known("C1", "character", "Imani Okafor", "Imani", "Dr. Okafor"),
        known("C2", "character", "Pell Ruiz", "Pell"),
        known("C3", "character", "Juniper"),
        known("C4", "character", "Commander Sato", "Sato"),
        known("L1", "location", "Calder-9"),
        known("L2", "location", "the hydroponics deck"),
        known("I1", "item", "the Anselm"),
        known("T1", "term", "greyvine"),
        known("T2", "term", "the Kessler Accord"),
    ],
    scene_plan=ScenePlan(
        scene_number=2,
        location="the hydroponics deck of Calder-9",
        characters=["Imani", "Pell", "Juniper"],
        purpose="Imani and Pell quarrel over the failing reactor shield and over waking Sato.",
        key_actions=["Imani shows the greyvine in the coolant lines", "Juniper breaks her silence"],
    ),
)

FERRY = SampleScene(
    language="zh",
    entities=[
        known("C1", "character", "沈怀舟"),
        known("C2", "character", "柳如烟"),
        known("C3", "character", "顾长风"),
        known("C4", "character", "苏晚晴"),
        known("C5", "character", "厉无咎"),
        known("C6", "character", "老赵"),
        known("L1", "location", "旧渡口"),
        known("L2", "location", "雁回岭"),
        known("I1", "item", "霜眠剑", "霜眠"),
        known("I2", "item", "青鸾印"),
        known("F1", "faction", "黑水教"),
        known("F2", "faction", "天机阁"),
    ],
    scene_plan=ScenePlan(
        scene_number=2,
        location="青石镇外的旧渡口，雨夜",
        characters=["沈怀舟", "柳如烟", "老赵"],
        purpose="沈怀舟从血书与半枚青鸾印里看出破绽，想起对苏晚晴的誓言",
        key_actions=["柳如烟交出血书", "老赵说出天机阁的暗语", "老赵折断船桨，露出霜眠剑的剑尖"],
    ),
)

SCENES = {"en1": SALT_GATE, "en2": CALDER, "zh1": FERRY}
