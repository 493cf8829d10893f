"""Another name through the whole memory, and all of it taken back."""

from typing import Any

import pytest

from novelgen.errors import UserInputError
from novelgen.language.matching import NameSwap, longer_names
from novelgen.models.position import StoryPosition
from runtime.front_door import Memory
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story

TEXTS = {
    (1, 1): "林凡坐在树下，摩挲着戒指。林雪儿说：“哥，你又在发呆。”林凡笑了。",
    (2, 1): "信上写着：莫信林凡尘。林凡问：“林凡尘是谁？”林凡哥哥收起了信。",
}
RECORD = {
    "summary": ["林凡听说了林凡尘。"],
    "state_changes": [{"entity_id": "C0", "changes": {"emotional_state": "林凡很警觉"}, "evidence": "林凡问"}],
    "open_loops_created": [{"id": "OL7", "description": "林凡的父亲在哪里？"}],
    "memories": [
        {"memory_id": "M1", "content": "林凡得知有林凡尘。", "short": "林凡得知", "evidence": "林凡问：“林凡尘是谁？”"},
        {"memory_id": "M2", "content": "林凡有一封信。", "evidence": "莫信林凡尘"},
    ],
}


@pytest.fixture
def story(stores: MemoryStores, request: pytest.FixtureRequest) -> Story:
    """Two chapters, of which the second has a record, and all that an author may write by hand."""
    project = f"lin-{abs(hash(request.node.name))}"
    stores.create_project(project, language="zh")
    told = Story(stores, project)
    told.entities.add("林凡", aliases=["林凡哥哥", "小凡"], description="林凡是少年。", start=StoryPosition(1, 1))
    told.entities.add("林雪儿", description="林凡的妹妹", start=StoryPosition(1, 1))
    scenes = [
        SceneInput(
            chapter_index=chapter,
            scene_index=scene,
            text=text,
            record={"chapter_index": chapter, "scene_index": scene, **RECORD} if chapter == 2 else None,
            record_origin="supplied",
        )
        for (chapter, scene), text in TEXTS.items()
    ]
    ingest_scenes(stores, project, scenes, index=False)
    told.memories.add("林凡起誓绝不外传，林凡尘也不告诉。", start=StoryPosition(2, 1))
    told.threads.add(description="林凡为何发誓？", start=StoryPosition(2, 1))
    told.relationships.add(
        character_a="林凡", character_b="林雪儿", relationship_type="兄妹", perspective_b="林凡是她的依靠"
    )
    told.summaries.write(level="chapter", number=1, text="林凡在树下。")
    told.memories.pin(memory_id="M2")
    return told


def _whole(story: Story) -> dict[str, Any]:
    """Return all that is stored, but for the list of changes, moments, and the order within a scene."""
    files = {name: text for name, text in story.project.export_documents().items() if "change" not in name}
    return {name: _timeless(text) for name, text in files.items()}


def _timeless(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _timeless(each) for name, each in told.items() if name not in ("created_at", "updated_at")}
    return sorted(map(_timeless, told), key=str) if isinstance(told, list) else told


@pytest.mark.slow
def test_a_preview_counts_places_and_changes_nothing(story: Story) -> None:
    """It tells what says the name, which longer names stay, and how often the text says it."""
    before = _whole(story)
    preview = story.entities.rename("林凡", "林枫")
    assert (preview.is_applied, preview.change) == (False, None)
    assert preview.names == {"林凡": "林枫", "林凡哥哥": "林枫哥哥"}
    assert preview.other_names == ["小凡"]
    assert preview.kept_within["林凡尘"] >= 2
    assert {"card", "scene", "memory", "thread", "relationship", "summary"} <= set(preview.counts)
    assert preview.in_text == 4
    assert "林枫的妹妹" in [each.words for each in preview.places]
    assert _whole(story) == before
    note = story.memories.add("林凡怕水。").note
    assert story.entities.rename("林凡", "林枫").counts["memory"] == preview.counts["memory"] + 1
    story.memories.delete(note.memory_id)
    assert story.entities.rename("林凡", "林枫").counts == preview.counts


@pytest.mark.slow
def test_all_that_is_told_says_the_new_name_and_the_text_the_old_one(story: Story) -> None:
    """Who is called something like it stays; the old name is an alias; quotes are still found in the text."""
    renamed = story.entities.rename("林凡", "林枫", also={"小凡": "小枫"}, is_applied=True)
    card = story.entities.get("林枫").entity
    assert card.names()[0] == "林枫"
    assert {"林凡", "林凡哥哥", "小凡", "林枫哥哥", "小枫"} <= set(card.names())
    assert card.description == "林枫是少年。"
    told = {each.chunk.source_id: each.chunk for each in story.memories.list(limit=100).memories}
    assert told["M1"].content == "林枫得知有林凡尘。"
    assert (told["M1"].short, told["M1"].verified) == ("林枫得知", True)
    assert told["M2"].content == "林枫有一封信。"
    assert "林枫起誓绝不外传，林凡尘也不告诉。" in [each.content for each in told.values()]
    assert {each.description for each in story.threads.list()} == {"林枫的父亲在哪里？", "林枫为何发誓？"}
    [pair] = story.relationships.list()
    assert pair.perspective_b == "林枫是她的依靠"
    first = story.summaries.list()[0]
    assert (first.told, first.state) == ("林枫在树下。", "current")
    assert story.entities.state("林枫").state_data["emotional_state"] == "林枫很警觉"
    assert [story.scenes.get(position=StoryPosition(*place)).scene.text for place in TEXTS] == list(TEXTS.values())
    assert [each.chunk.source_id for each in story.memories.list(limit=100).memories].count("M2") == 1
    assert renamed.change is not None


@pytest.mark.slow
@pytest.mark.parametrize("in_text", [False, True])
def test_one_undo_takes_all_of_it_back(story: Story, in_text: bool) -> None:
    """Texts, records, memories by hand, cards and summaries are as they were."""
    before = _whole(story)
    story.entities.rename("林凡", "林枫", in_text=in_text, is_applied=True)
    assert _whole(story) != before
    story.undo()
    assert _whole(story) == before


@pytest.mark.slow
def test_in_the_text_names_and_quotes_change_and_longer_names_stay(story: Story) -> None:
    """What an author noted by its words still stands at them; a rename within a longer name is said."""
    story.entities.rename("林凡", "林小枫", in_text=True, is_applied=True)
    scene = story.scenes.get(position=StoryPosition(2, 1)).scene
    assert scene.text == "信上写着：莫信林凡尘。林小枫问：“林凡尘是谁？”林小枫哥哥收起了信。"
    told = {each.chunk.source_id: each.chunk for each in story.memories.list(limit=100).memories}
    assert all(told[each].verified for each in ("M1", "M2"))
    assert told["M2"].source_span is not None
    assert scene.text[slice(*told["M2"].source_span)] == "莫信林凡尘"
    story.undo()
    within = story.entities.rename("林凡", "林小枫", within=["林凡尘"])
    assert within.names["林凡尘"] == "林小枫尘"


@pytest.mark.parametrize(
    ("name", "alias", "new_name", "new_alias"),
    [
        ("Tulloch", "Sam Tulloch", "Sam Tully", "Sam Tully"),
        ("Tulloch", "Old Tulloch", "Sam Tully", "Old Sam Tully"),
        ("Ada", "Ada Fry", "Ida Fry", "Ida Fry"),
        ("Ada", "Miss Ada", "Ida", "Miss Ida"),
        ("林凡", "林凡儿", "林枫儿", "林枫儿"),
        ("林凡", "小林凡", "小林枫", "小林枫"),
        ("林凡", "林凡哥", "林小枫", "林小枫哥"),
    ],
)
def test_a_longer_name_says_the_parts_of_a_new_name_once(
    memory: Memory, name: str, alias: str, new_name: str, new_alias: str
) -> None:
    """Sam Tulloch becomes Sam Tully, where Tulloch becomes Sam Tully."""
    story = memory.create("renamed")
    story.entities.add(name, aliases=[alias])
    assert story.entities.rename(name, new_name).names == {name: new_name, alias: new_alias}


@pytest.mark.slow
def test_a_rename_is_refused_where_it_would_lose_somebody(story: Story) -> None:
    """Two of a kind are not made to bear one name, and only own names can change."""
    with pytest.raises(UserInputError, match="C1 bears the name '林雪儿' already"):
        story.entities.rename("林凡", "林雪儿", is_applied=True)
    with pytest.raises(UserInputError, match="'林浩' is no name of C0"):
        story.entities.rename("林凡", "林枫", also={"林浩": "林豪"})
    with pytest.raises(UserInputError, match=r"no entity '雪儿' is known by then; near it: 林雪儿"):
        story.entities.rename("雪儿", "林霜", is_applied=True)
    with pytest.raises(UserInputError, match="is called '林凡' already"):
        story.entities.rename("林凡", "林凡")


def test_english_names_change_as_words_alone() -> None:
    """Possessives and capitals follow; longer words and other names stay."""
    swap = NameSwap({"Ada": "Ida"}, ["Ada Vane"])
    assert swap.said("Ada's lamp. ADA! Adam and Ada Vane saw Ada.") == "Ida's lamp. IDA! Adam and Ada Vane saw Ida."
    text = "Ada, Ada."
    longer = NameSwap({"Ada": "Adelaide"})
    assert longer.said(text)[longer.moved(text, 5) :] == "Adelaide."


@pytest.mark.slow
def test_a_longer_name_is_told_by_the_text() -> None:
    """A character that comes again and ends a phrase makes another name; a verb or a particle does not."""
    text = "林凡尘从石阶下来。林凡问林凡尘。林凡的剑，林凡笑。林凡笑。"
    assert longer_names([text], "林凡") == ["林凡尘"]
    assert longer_names(["Adam and Ada"], "Ada") == []
