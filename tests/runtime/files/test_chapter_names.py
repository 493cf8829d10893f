"""Names that authors give their chapters, and the places that they mean."""

import pytest

from novelgen.errors import InvalidPositionError, UnknownSceneError
from novelgen.models.position import StoryPosition
from runtime.files.chapter_names import ChapterNames, TitledScene, UnwrittenPosition, chapter_name


def names(*titles: str) -> ChapterNames:
    """Return the names of chapters of one scene each."""
    return ChapterNames.of(TitledScene(number, 1, title) for number, title in enumerate(titles, start=1))


DOUBLED = names("第1章 A", "第2章 B", "第7章 夜奔", "第7章 血压", "第八章 C", "番外 旧信")


@pytest.mark.parametrize(
    ("heading", "label", "number", "section"),
    [
        ("第7章（下） 血压", "第7章（下）", 7, "下"),
        ("第十二章 归途（求月票）", "第十二章", 12, ""),
        ("正文 第一章 雪夜", "第一章", 1, ""),
        ("第二卷 风起 第三章 雪夜", "第三章", 3, ""),
        ("第二章上 夜", "第二章上", 2, "上"),
        ("012章 归途", "012章", 12, ""),
        ("Chapter Twelve: The Storm", "Chapter Twelve", 12, ""),
        ("III. The Sea", "III", 3, ""),
        ("三、雪夜", "三", 3, ""),
        ("番外 旧信", "番外 旧信", None, ""),
        ("Prologue", "Prologue", None, ""),
        ("第1.5章 间", "第1.5章 间", None, ""),
        ("The Adventure", "The Adventure", None, ""),
    ],
)
def test_a_heading_gives_its_chapter_a_name(heading: str, label: str, number: int | None, section: str) -> None:
    """Number and part as the author writes them; without a number the whole heading."""
    name = chapter_name(heading)
    assert name is not None
    assert (name.label, name.number, name.section) == (label, number, section)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("第十二章 归途", "第12章  归途（求月票）", True),
        ("第12章", "第十二章 归途", True),
        ("Chapter 12: The Storm", "Ch. 12 – the storm!", True),
        ("第7章 夜奔", "第7章 血压", False),
        ("第7章（上）", "第7章（下）", False),
        ("第十二章 归途", "第13章 归途", False),
        ("番外 旧信", "番外 新年", False),
        ("番外", "第3章", False),
    ],
)
def test_the_same_heading_is_the_same_chapter(one: str, other: str, is_same: bool) -> None:
    """Whatever its digits, gaps and remarks to readers; another number, part or title is another chapter."""
    left, right = chapter_name(one), chapter_name(other)
    assert left is not None
    assert right is not None
    assert left.is_same(right) is is_same
    assert right.is_same(left) is is_same


@pytest.mark.parametrize(
    ("called", "position"),
    [
        ("第8章", StoryPosition(5)),
        ("第八章:1", StoryPosition(5, 1)),
        ("第7章 血压", StoryPosition(4)),
        ("第7章 血压：2", StoryPosition(4, 2)),
        ("番外", StoryPosition(6)),
        ("番外 旧信:1", StoryPosition(6, 1)),
        ("第9章:1", StoryPosition(6, 1)),
        ("next", StoryPosition(6, 1)),
        ("下一章", StoryPosition(6, 1)),
    ],
)
def test_a_name_means_its_place_in_the_order(called: str, position: StoryPosition) -> None:
    """Doubled numbers shift nothing that a person says; what is not written yet stands before the 番外 at the end."""
    assert DOUBLED.position_of(called) == position
    assert isinstance(DOUBLED.position_of(called), UnwrittenPosition) == (called in ("第9章:1", "next", "下一章"))


@pytest.mark.parametrize("called", ["第7章", "血压的", "3:x", "-1"])
def test_what_may_mean_several_chapters_or_none_is_refused(called: str) -> None:
    """The error lists the places of a number that several chapters bear."""
    with pytest.raises(InvalidPositionError, match="3 \\(第7章 夜奔\\), 4" if called == "第7章" else "no place"):
        DOUBLED.position_of(called)


def test_a_number_far_ahead_is_no_chapter() -> None:
    """Only the one after the last is a chapter that is not written yet; without headings numbers are places."""
    with pytest.raises(UnknownSceneError, match="第20章"):
        DOUBLED.position_of("第20章")
    assert names("Arrival", "Departure").position_of("第8章:2") == StoryPosition(8, 2)


def test_a_place_is_told_as_its_author_calls_it() -> None:
    """Beside the place in the order, where the number does not say it."""
    told = [DOUBLED.place(number, 1) for number in range(1, 7)]
    assert told == ["1:1", "2:1", "第7章 夜奔:1 (3:1)", "第7章 血压:1 (4:1)", "第八章:1 (5:1)", "番外 旧信:1 (6:1)"]
    assert DOUBLED.place(5) == "第八章 (5)"
    assert names("第一章", "第二章").place(2, 1) == "2:1"
    assert DOUBLED.place(None) == "end"


def test_an_interlude_within_a_chapter_has_its_own_scenes() -> None:
    """As an import puts it between two numbers that follow; parts of a chapter likewise."""
    within = ChapterNames.of(
        [
            TitledScene(1, 1, "第一章 雪 · 夜"),
            TitledScene(1, 2, "第一章 雪 · 番外 灯"),
            TitledScene(1, 3, "第一章 雪 · 番外 灯"),
            TitledScene(2, 1, "第二章"),
        ]
    )
    assert [within.place(1, scene) for scene in (1, 2, 3)] == ["1:1", "番外 灯:1 (1:2)", "番外 灯:2 (1:3)"]
    assert within.position_of("番外:2") == StoryPosition(1, 3)
    assert within.position_of("番外 灯") == StoryPosition(1, 2)
    assert within.next_chapter == 3


@pytest.mark.parametrize(
    ("titles", "following"),
    [
        (("第一章", "第二章", "番外", "后记"), 3),
        (("第一章", "第二章", "大结局"), 4),
        (("番外一", "番外二"), 3),
        (("Chapter 1", "Epilogue"), 2),
        ((), 1),
    ],
)
def test_the_next_chapter_stands_before_afterwords(titles: tuple[str, ...], following: int) -> None:
    """The end of the story itself is none; a book of nothing but 番外 goes on after them."""
    assert names(*titles).next_chapter == following
