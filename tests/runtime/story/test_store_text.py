"""Storing a finished text as the next chapter or scene, or at a place."""

import itertools
from collections.abc import Sequence

import pytest

from novelgen.errors import InvalidPositionError, UnknownSceneError, UserInputError
from runtime.files.chapter_names import chapter_name
from runtime.files.chapter_text import chapter_from_text
from runtime.stores import MemoryStores
from runtime.story.scene_plans import StoryScenePlans
from runtime.story.story import Story
from runtime.story.text_placing import split_title

_numbers = itertools.count(1)
STORED = {
    "第1章 雪夜": "沈砚提灯入山。雪落无声。他没有回头。",
    "第7章 夜奔": "马跑了一夜。天亮时他到了渡口。",
    "第7章 血压": "大夫按着他的手腕。他说不出话。",
    "番外 旧信": "多年以后，那封信还在箱底。",
}


@pytest.fixture
def story(stores: MemoryStores) -> Story:
    """Two chapters with one number, and a 番外 at the end."""
    project_id = f"next-{next(_numbers)}"
    stores.create_project(project_id, language="zh")
    story = Story(stores, project_id)
    for number, (title, text) in enumerate(STORED.items(), start=1):
        story.ingest(text=text, chapter_index=number, scene_index=1, title=title)
    return story


def titles(story: Story) -> list[tuple[str, str]]:
    """Return place and title of each stored scene."""
    return [(str(each.scene.position), each.scene.title) for each in story.scenes.list()]


NEW = "第8章 渡口\n\n船来了。船上无人。\n\n***\n\n只有一盏灯。"


@pytest.mark.slow
@pytest.mark.parametrize("at", ["next", "第八章", "第8章"])
def test_the_next_chapter_is_appended_before_what_stands_at_the_end(story: Story, at: str) -> None:
    """Its heading is its title, its breaks cut it, and nothing that is stored is lost; the same again is unchanged."""
    asked = story.ingest(text=NEW, at=at)
    assert [(each.chapter_index, each.scene_index, each.outcome) for each in asked.scenes] == [
        (4, 1, "added"),
        (4, 2, "added"),
    ]
    assert asked.place is not None
    assert (asked.place.called, asked.place.moved, asked.place.needs_replace) == ("第8章 (4:1)", 1, False)
    assert titles(story)[2:] == [
        ("3:1", "第7章 血压"),
        ("4:1", "第8章 渡口"),
        ("4:2", "第8章 渡口"),
        ("5:1", "番外 旧信"),
    ]
    assert story.scenes.get("第8章:2").scene.text == "只有一盏灯。"
    before = titles(story)
    again = story.scenes.store_text(NEW)
    assert again.scenes == []
    assert again.place is not None
    assert again.place.position == "4:1"
    assert titles(story) == before


@pytest.mark.slow
def test_what_was_stored_is_taken_back(story: Story) -> None:
    """First the text, then the room that was made for it."""
    before = titles(story)
    change_id = story.scenes.store_text(NEW).change_id
    story.undo(change_id)
    story.undo()
    assert titles(story) == before


@pytest.mark.slow
def test_a_dry_run_tells_where_a_text_would_go(story: Story) -> None:
    """What a page shows before somebody says yes."""
    before = titles(story)
    place = story.scenes.store_text(NEW, dry_run=True).place
    assert place is not None
    assert (place.position, place.title, place.scenes, place.words, place.moved) == ("4:1", "第8章 渡口", 2, 12, 1)
    place = story.scenes.store_text(NEW, at="3:1", dry_run=True).place
    assert place is not None
    assert place.needs_replace
    assert place.replaced == ["3:1 第7章 血压 “大夫按着他的手腕。他说不出话。”"]
    assert titles(story) == before


@pytest.mark.slow
def test_another_text_takes_a_place_only_when_that_is_said(story: Story) -> None:
    """An edited one does at once; a new one is refused with what stands there and both ways out."""
    edited = STORED["第7章 血压"] + "窗外下雨。"
    assert story.scenes.store_text(f"第7章 血压\n{edited}", at="3").scenes[0].outcome == "replaced"
    with pytest.raises(UserInputError, match=r"3:1 is stored as '第7章 血压'.*say replace.*'next'"):
        story.scenes.store_text(NEW, at="3:1")
    assert story.scenes.store_text(NEW, at="3:1", replace=True).scenes[0].outcome == "replaced"
    assert story.scenes.get("3:1").scene.title == "第8章 渡口"


def test_an_edited_chapter_is_not_appended(story: Story) -> None:
    """A heading that is stored with a text like this is that chapter."""
    with pytest.raises(UserInputError, match=r"stored as chapter 2 already.*store it at '2'"):
        story.scenes.store_text(f"第七章 夜奔\n\n{STORED['第7章 夜奔']}雪停了。")
    assert len(titles(story)) == len(STORED)


@pytest.mark.slow
def test_the_next_scene_of_a_chapter_follows_its_last(story: Story) -> None:
    """`C:next`, with the chapter's own name or its number."""
    assert story.scenes.store_text("夜半，有人敲门。", at="第7章 血压:next").place.called == "第7章 血压:2 (3:2)"  # type: ignore[union-attr]
    assert story.scenes.store_text("没有人应。", at="3:next").place.position == "3:3"  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "at", "error"),
    [
        ("  \n", "next", UserInputError),
        ("第9章 甲\n\n甲。\n\n第10章 乙\n\n乙。", "next", UserInputError),
        ("有雪。", "血压的", InvalidPositionError),
        ("有雪。", "第7章", InvalidPositionError),
        ("有雪。", "第30章", UnknownSceneError),
    ],
)
def test_what_is_no_text_or_no_place_is_refused(story: Story, text: str, at: str, error: type[Exception]) -> None:
    """Nothing is stored then."""
    with pytest.raises(error):
        story.scenes.store_text(text, at=at)
    assert len(titles(story)) == len(STORED)


@pytest.mark.slow
def test_a_scene_by_its_place_makes_room_too(story: Story) -> None:
    """As agents and programs store it: the chapter after the last never takes the place of the 番外."""
    done = story.scenes.store(position="第8章:1", text="船来了。", title="第8章 渡口")
    again = story.scenes.store(position="next:1", text="船来了。", title="第8章 渡口")
    assert [(each.chapter_index, each.outcome) for each in (*done.scenes, *again.scenes)] == [
        (4, "added"),
        (4, "unchanged"),
    ]
    assert titles(story)[-1] == ("5:1", "番外 旧信")
    told: Sequence[str] = ("第9章 灯", "灯灭了。")
    with pytest.raises(UserInputError, match="is stored as '番外 旧信'"):
        story.scenes.store(position="5:1", title=told[0], text=told[1])
    story.scenes.store(position="5:1", title=told[0], text=told[1], replace=True)
    assert titles(story)[-1] == ("5:1", "第9章 灯")


@pytest.mark.slow
def test_a_chapter_is_named_wherever_a_place_is_asked(stores: MemoryStores, story: Story) -> None:
    """By position, by the two numbers, and as the whole place of a scene."""
    assert story.scenes.get("番外:1").scene.chapter_index == 4
    context = story.context("第7章 血压", 1, {"purpose": "他说话"})  # type: ignore[arg-type]
    assert (context.chapter_index, context.scene_index) == (3, 1)
    plans = StoryScenePlans(stores, story.project_id)
    assert plans.scene_to_write(None, None) == (4, 1)
    assert plans.scene_to_write(None, "第7章 血压:1") == (3, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidPositionError, match="not in chapter"):
        plans.scene_to_write("番外", "3:1")  # type: ignore[arg-type]


NUMERAL_TITLES = [
    "5. 黑帆",
    "5 黑帆",
    "五、黑帆",
    "（五）黑帆",
    "5. The Black Sail",
    "Five: The Black Sail",
    "V. The Black Sail",
]


@pytest.mark.slow
@pytest.mark.parametrize("title", NUMERAL_TITLES)
def test_a_number_with_a_title_is_a_heading(story: Story, title: str) -> None:
    """As the desk and `ingest --as` store one text, and as a file of chapter 5; its number is the chapter's."""
    story.ingest(text=f"{title}\n\n船来了。", at="next")
    assert ("4:1", title) in titles(story)
    assert (name := chapter_name(title)) is not None
    assert (name.number, name.title) == (5, "黑帆" if "黑" in title else "theblacksail")
    assert split_title(f"{title}\n　　船来了。") == (title, "　　船来了。")
    chapter = chapter_from_text(f"{title}\n\n船来了。", chapter_number=5)
    assert (chapter.chapter_title, [scene.content for scene in chapter.scenes]) == (title, ["船来了。"])


@pytest.mark.parametrize(
    "text",
    [
        "5. The Black Sail came in at dusk.\n\nNobody spoke.",
        "5. The Black Sail\nwas the fifth ship.",
        "五、他没有回头。\n\n船来了。",
        "五、黑帆\n船来了。",
        "1. Dawn\n\nHe woke.\n\n2. Noon\n\nHe ate.",
        "一、晨\n\n他醒了。\n\n二、午\n\n他吃饭。",
        "Five men came\n\nNobody spoke.",
    ],
)
def test_a_sentence_and_the_title_of_a_part_are_no_heading(text: str) -> None:
    assert split_title(text) == ("", text)
    assert all(chapter_from_text(text, chapter_number=number).chapter_title == "" for number in (1, 5))
