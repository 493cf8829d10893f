"""Whom a scene's text touches, and how surely."""

import pytest

from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.reading.request import EntitySighting
from novelgen.reading.scene_touch import StoryClock, name_evidence, recency, touches

CLOCK = StoryClock([(1, number) for number in range(1, 101)])


def entity(entity_id: str, name: str, *aliases: str, kind: EntityType = "character", told: str = "") -> Entity:
    """Return an entity with its names."""
    return Entity(
        entity_id=entity_id,
        entity_type=kind,
        name=name,
        aliases=[EntityAlias(alias=alias) for alias in aliases],
        description=told,
    )


def touched(text: str, *entities: Entity, seen: int = 99) -> dict[str, float]:
    """Return what a text touches of entities that were last seen in that scene."""
    sightings = {each.entity_id: EntitySighting(chapter_index=1, scene_index=seen) for each in entities}
    return touches(text, entities, sightings=sightings, clock=CLOCK)


@pytest.mark.parametrize(
    ("surer", "less_sure"),
    [
        (("Isidore Vane came in.", entity("C1", "Isidore Vane")), ("Vane came in.", entity("C1", "Isidore Vane"))),
        (("the brass key", entity("I1", "the brass key", kind="item")), ("a key", entity("I1", "key", kind="item"))),
        (("Vane came in.", entity("C1", "Isidore Vane")), ("The doctor came.", entity("C1", "Doctor Isidore Vane"))),
        (("那李守真来了", entity("C1", "李守真")), ("那店小二来了", entity("C1", "店小二"))),
        (("那道士来了", entity("C1", "青袍道士")), ("那道士来了", entity("C1", "李守真", told="城外的道士。"))),
    ],
)
def test_a_name_that_tells_more_touches_more(surer: tuple[str, Entity], less_sure: tuple[str, Entity]) -> None:
    """A name of its own outweighs a part of it, a description, a title, a common noun; all of them touch."""
    [much], [little] = touched(*surer).values(), touched(*less_sure).values()
    assert much > little > 0


def test_a_title_alone_finds_its_bearer() -> None:
    """Pronouns and address touch nobody, and words that stand pages apart make no name."""
    found = touched("The Professor sat down.", entity("C1", "Professor de Worms"), entity("C2", "Captain Orme"))
    assert set(found) == {"C1"}
    assert touched("Yes, sir, said the old man. He went.", entity("C1", "Sir Henry Orme")) == {}
    text = "Tom came. " + "The rain fell on. " * 30 + "Hale was a village."
    assert name_evidence("Tom Hale", text) == "garbled"


def test_what_many_bear_or_is_long_unseen_touches_little() -> None:
    """What is shared is divided, a common word fades with time, a name of its own does not."""
    [alone] = touched("The Captain!", entity("C1", "Captain Orme")).values()
    shared = touched("The Captain!", entity("C1", "Captain Orme"), entity("C2", "Captain Bligh"))
    assert shared == {"C1": alone / 2, "C2": alone / 2}
    keeper = entity("C1", "the innkeeper")
    [lately] = touched("The innkeeper bowed.", keeper).values()
    [long_ago] = touched("The innkeeper bowed.", keeper, seen=3).values()
    assert long_ago < lately / 2
    vane = entity("C1", "Isidore Vane")
    assert touched("Isidore Vane!", vane) == touched("Isidore Vane!", vane, seen=3)


def test_scenes_are_counted_back() -> None:
    """The scene just before is one ago; nobody can tell how long ago nowhere is."""
    assert [CLOCK.scenes_since(1, number) for number in (100, 99, 1)] == [1, 2, 100]
    assert CLOCK.scenes_since(None, None) is None
    assert recency(1) == 1 > recency(2) > recency(50) > recency(None) == 0


@pytest.mark.parametrize(
    ("name", "text", "quote", "evidence"),
    [
        ("Tom Hale", "Tom Hale came.", "", "verbatim"),
        ("Tom Hale", "'My name is Tom,' he said. 'Hale, as my father was.'", "", "parts"),
        ("Mr. Tom Hale", "Tom spoke. Hale is his other name.", "", "parts"),
        ("金翠莲", "奴家姓金，名翠莲。", "", "parts"),
        ("史进", "小人姓史名进，人唤九纹龙。", "", "parts"),
        ("史进", "史家庄上，众人走进去。", "", "garbled"),
        ("The Chief", "He who had engaged them sat there.", "He who had engaged them", "quote"),
        ("the narrator", "“Who is there?” said I.", "said I", "quote"),
        ("the narrator", "“Who is there?” said I.", "I", "none"),
        ("说书人", "我道：“是谁？”", "我道", "quote"),
        ("说书人", "我道：“是谁？”", "我", "none"),
        ("Tom Hale", "Tom came alone.", "", "garbled"),
        ("Napoleon", "Tom came alone.", "", "none"),
        ("Napoleon", "Tom came alone.", "words that stand nowhere", "none"),
        ("孙悟空", "高太公出来迎接。", "", "none"),
    ],
)
def test_a_name_stands_whole_in_parts_or_in_a_quote(name: str, text: str, quote: str, evidence: str) -> None:
    """What proves a name is told from what merely resembles it, and from nothing."""
    assert name_evidence(name, text, quote=quote) == evidence
