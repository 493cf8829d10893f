"""Who is on stage, told from the text."""

import pytest

from novelgen.language.resolver import NameResolver
from novelgen.language.speech import ScenePresence, presence_of
from novelgen.models.entity import Entity
from tests.novelgen.language.story_entities import journey, london


def presence(text: str, story: list[Entity], previous_location_id: str | None = None) -> ScenePresence:
    """The presence in a text of a story."""
    mentions = NameResolver(story).find_mentions(text)
    return presence_of(text, mentions, story, previous_location_id=previous_location_id)


@pytest.mark.parametrize(
    ("text", "story", "participants"),
    [
        ("“Come,” said Holmes.", london(), ["C0"]),
        ("Holmes looked up.", london(), ["C0"]),
        ("行者道：“三藏何在？”", journey(), ["C1"]),
        ("行者取出铁棒。八戒也来。八戒打。", journey(), ["C1", "C2"]),
        ("It was late. Holmes climbed the stairs.", london(), ["C0"]),
        ("那时天晚。行者提着铁棒。", journey(), ["C1"]),
        ("那时天晚。行者站在一旁。八戒冲进门。", journey(), ["C1", "C2"]),
        ("It was late. Holmes, of course. And Holmes again.", london(), ["C0"]),
        ("Holmes met Athelney Jones in the archive.", london(), ["C0", "C4"]),
        ("Holmes and Athelney Jones met in the archive.", london(), ["C0", "C4"]),
        ("Holmes told Athelney Jones a tale of nobody.", london(), ["C0", "C4"]),
        ("Holmes thought of Athelney Jones.", london(), ["C0"]),
        ("行者在山中遇见了八戒。", journey(), ["C1", "C2"]),
        ("行者遇到八戒。", journey(), ["C1", "C2"]),
        ("行者想起八戒。", journey(), []),
        ("那时天晚。行者从后窗进去。", journey(), ["C1"]),
        ("那时天晚。行者心里难过。他没有睡。八戒之棒不在。", journey(), ["C1"]),
        ("行者的棒不见了。他不在。", journey(), []),
        ("行者心里难过。“他没有睡。”", journey(), []),
        ("Late. Holmes is tired. He cannot sleep.", london(), ["C0"]),
        ("Late. Holmes is tired. Athelney Jones, too. He cannot sleep.", london(), ["C4"]),
        ("Late. Holmes’s pipe is cold. He is away.", london(), []),
        ("Holmes was out on the moor. Athelney Jones sat down. He smoked.", london(), ["C4"]),
        ("行者不在洞里。八戒坐下来。他叹气。", journey(), ["C2"]),
    ],
)
def test_who_speaks_or_acts_is_on_stage(text: str, story: list[Entity], participants: list[str]) -> None:
    """A verb beside a name in narration, or two mentions there, put a character on stage."""
    assert sorted(presence(text, story).participant_ids) == participants


@pytest.mark.parametrize(
    ("text", "story"), [("“Holmes told Jones,” she said.", london()), ("“八戒、三藏，”那人说。", journey())]
)
def test_who_is_spoken_of_is_not_on_stage(text: str, story: list[Entity]) -> None:
    """A name inside somebody's speech alone does not put its bearer on stage."""
    assert presence(text, story).participant_ids == []


def test_the_narrator_is_on_stage() -> None:
    """In a first person's narration the character whose role is narrator takes part."""
    assert presence("I rose and went out.", london()).participant_ids == ["C1"]
    assert presence("“I am late,” she said.", london()).participant_ids == []


@pytest.mark.parametrize(
    ("text", "previous", "place"),
    [
        ("We drove to Baker Street. “Camberwell! Camberwell!”", "L3", "L0"),
        ("They talked of nothing.", "L3", "L3"),
        ("“To Camberwell!” he cried.", "L3", "L3"),
        ("“To Camberwell!” he cried.", None, None),
        ("They walked down Baker Street. " * 500, "L3", None),
        ("They talked of nothing.", None, None),
    ],
)
def test_the_place_is_the_narrated_one(text: str, previous: str | None, place: str | None) -> None:
    """Narration tells the place, else the scene before; speech does not, and a long chapter has no one place."""
    assert presence(text, london(), previous).location_id == place


@pytest.mark.parametrize(
    ("text", "place", "location_id"),
    [
        ("They stood in the old churchyard and talked.", "Ferris Office", None),
        ("They stood in the office and talked.", "Ferris Office", "L0"),
        ("“In the churchyard,” he said. They talked.", "Ferris Office", "L0"),
        ("她在市立医院坐了一夜。", "灯塔巷九号", None),
        ("她在医院坐了一夜。", "市立医院", "L0"),
        ("“她在医院。”他说。", "灯塔巷九号", "L0"),
    ],
)
def test_a_place_without_a_name_is_not_the_one_before(text: str, place: str, location_id: str | None) -> None:
    """Where the narration names another place plainly, none is guessed in place of the scene before."""
    story = [Entity(entity_id="L0", entity_type="location", name=place)]
    assert presence_of(text, [], story, previous_location_id="L0").location_id == location_id
