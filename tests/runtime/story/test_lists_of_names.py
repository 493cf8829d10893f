"""Lists of names that an author types: several in one text, none of them dropped in silence."""

from typing import NamedTuple

import pytest

from novelgen.errors import UnknownEntityError
from runtime.front_door import Memory
from runtime.story.story import Story
from tests.support.copied_stories import copied


class Mill(NamedTuple):
    """The words of one small story."""

    language: str
    first: str
    second: str
    comma: str
    both: str
    text: str


MILLS = (
    Mill("en", "Ines", "Ben Marsh", ", ", "Ines and Ben Marsh", 'Ines sat in the mill. "Rain," said Ben Marsh.'),
    Mill("zh", "沈青", "柳十三", "、", "沈青和柳十三", "沈青坐在磨坊里。“下雨了。”柳十三说。"),
)


@pytest.fixture(params=MILLS, ids=lambda mill: mill.language)
def mill(request: pytest.FixtureRequest) -> Mill:
    words: Mill = request.param
    return words


@pytest.fixture
@copied
def story(memory: Memory, mill: Mill) -> Story:
    told = memory.create("mill", language=mill.language)
    told.ingest(text=mill.text, chapter_index=1, scene_index=1)
    for name in (mill.first, mill.second):
        told.entities.add(name, start="1:1")
    return told


def test_each_list_of_names_takes_several_in_one_text(story: Story, mill: Mill) -> None:
    """Cast, threads, notes, searches and plans."""
    names = f"{mill.first}{mill.comma}{mill.second}"
    story.scenes.set_staging("1:1", cast=[names])
    assert story.scenes.read("1:1").on_stage == [mill.first, mill.second]
    assert story.threads.add("?", characters=[names]).related_entities == ["C0", "C1"]
    note = story.memories.add("X.", attached_to=[names], known_by=[names])
    assert set(note.named) == {"C0", "C1"}
    known = story.knowledge.who_knows(note.note.memory_id)
    assert {knower.character_id for knower in known.known_by} >= {"C0", "C1"}
    context = story.context(2, 1, scene_plan={"characters": [names], "purpose": "x"})
    assert context.report is not None
    assert not [issue for issue in context.report.issues if names in issue.message]


@pytest.mark.parametrize("separated", [True, False], ids=["in a list", "within words"])
def test_a_name_that_nobody_bears_is_refused_and_nothing_is_stored(story: Story, mill: Mill, separated: bool) -> None:
    """It stands in quotes, beside the nearest cards."""
    other = "Nobody" if mill.language == "en" else "某人"
    names = f"{mill.first}{mill.comma}{other}" if separated else mill.both
    refused = other if separated else mill.both
    before = story.scenes.read("1:1").on_stage
    with pytest.raises(UnknownEntityError, match=f"'{refused}'.*{mill.first}"):
        story.scenes.set_staging("1:1", cast=[names])
    with pytest.raises(UnknownEntityError, match=f"'{refused}'.*{mill.first}"):
        story.memories.add("X.", hidden_from=[names])
    with pytest.raises(UnknownEntityError, match=f"'{refused}'.*{mill.first}"):
        story.threads.add("?", characters=[names])
    assert story.scenes.read("1:1").on_stage == before
    assert not story.threads.list()
    assert [memory for memory in story.memories.list().memories if memory.chunk.content_type == "note"] == []


def test_a_place_without_a_card_leaves_the_cast(story: Story, mill: Mill) -> None:
    """What is missing is said, with the command that makes it; alone it is refused."""
    edit = story.scenes.set_staging("1:1", cast=[mill.second], location="the old mill")
    assert story.scenes.read("1:1").on_stage == [mill.second]
    [issue] = edit.issues
    assert '`novelgen card add mill "the old mill" --kind location`' in issue.message
    report = story.scenes.store_text(mill.text, at="2:1", cast=[mill.second], location="the old mill")
    assert any("the old mill" in warning for warning in report.warnings)
    assert story.scenes.read("2:1").on_stage == [mill.second]
    with pytest.raises(UnknownEntityError, match="the old mill"):
        story.scenes.set_staging("1:1", location="the old mill")


@pytest.mark.parametrize("field", ["alias", "aliases", "Nickname", "别名", "化名", "外号"])
def test_other_names_are_added_whatever_the_field_is_called(story: Story, mill: Mill, field: str) -> None:
    """Several between commas; they are names and no state, and the older ones stay."""
    story.entities.edit(mill.first, {"alias": "Oldname"})
    edited = story.entities.edit(mill.first, {field: "Onename，Twoname"})
    assert edited.updated_fields == ["alias"]
    assert edited.attributes == []
    assert [alias.alias for alias in edited.entity.aliases] == ["Oldname", "Onename", "Twoname"]
    assert story.entities.get("Twoname").entity.entity_id == "C0"
    added = story.entities.add("Kit", {field: "Kitty, Kitten"}, aliases=["Boy, Lad"])
    assert [alias.alias for alias in added.entity.aliases] == ["Boy", "Lad", "Kitty", "Kitten"]


def test_a_list_of_other_names_takes_the_rest_away(story: Story, mill: Mill) -> None:
    """A name of a list is one, with a comma too."""
    story.entities.edit(mill.first, {}, aliases=["One, Two"])
    edited = story.entities.edit(mill.first, {"aliases": ["Two", "Three, the Third"]})
    assert [alias.alias for alias in edited.entity.aliases] == ["Two", "Three, the Third"]
