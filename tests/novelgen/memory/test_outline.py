"""Summaries of chapters and parts: they roll up and are cut by position."""

from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.language.language import estimate_tokens
from novelgen.memory.outline import (
    PART_TOKENS,
    OutlineScene,
    StoryOutline,
    WrittenSummary,
    chapter_summaries,
    finished_parts,
    part_summaries,
    story_parts,
)
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.user_file import Settings, StoryPart


def told(chapter: int, index: int, *events: str, summary: tuple[str, ...] = ()) -> OutlineScene:
    """Return a stored scene with key events."""
    return OutlineScene(chapter_index=chapter, scene_index=index, key_events=list(events), summary=list(summary))


SCENES = [
    told(1, 1, "Ada hides the key"),
    told(1, 2, "Ben makes a vow", "The lamp is lit"),
    told(2, 1, summary=("The logbook is read.", "It names a wreck.")),
    told(2, 2, "The key is sold!"),
    told(3, 1, "The lamp goes out"),
]


def test_an_id_in_place_of_a_name_is_no_name() -> None:
    """A place that no text has named yet has no name, whoever was seen there."""
    unnamed = Entity(entity_id="L3", entity_type="location", name="L3", first_chapter=1, first_scene=3)
    inn = Entity(entity_id="L4", entity_type="location", name="the Three Herrings")
    assert StoryOutline(project_id="p", entities=[unnamed, inn]).names == {"L4": "the Three Herrings"}


def test_chapters_are_summed_up_from_their_scenes() -> None:
    """Key events tell, else the summary, each ending as its own language does."""
    summaries = chapter_summaries(SCENES)
    assert [(each.chapter_index, each.scene_index) for each in summaries] == [(1, 2), (2, 2), (3, 1)]
    assert summaries[0].summary == "Ada hides the key. Ben makes a vow. The lamp is lit."
    assert summaries[1].summary == "The logbook is read. It names a wreck. The key is sold!"
    [summary] = chapter_summaries([told(1, 1, "阿黛藏起钥匙", "阿本立誓。")])
    assert summary.summary == "阿黛藏起钥匙。阿本立誓。"
    scenes = [told(1, 1, "Ben reads the sign 酒 over the door", "Ada leaves")]
    assert chapter_summaries(scenes)[0].summary == "Ben reads the sign 酒 over the door. Ada leaves."


@pytest.mark.parametrize(
    ("position", "chapters"),
    [
        (StoryPosition(1, 2), []),
        (StoryPosition(1, 3), []),
        (StoryPosition(2), [1]),
        (StoryPosition(2, 2), [1]),
        (StoryPosition(2, 3), [1]),
        (StoryPosition(3, 1), [1, 2]),
        (END_OF_STORY, [1, 2, 3]),
    ],
)
def test_a_summary_is_seen_only_after_its_chapter(position: StoryPosition, chapters: list[int]) -> None:
    """A summary that was derived from a later scene is never read before it."""
    assert [each.chapter_index for each in chapter_summaries(SCENES, as_of=position)] == chapters


def test_bullets_are_chosen_whole_and_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the whole course, within both bounds, passed over rather than cut; nothing that fits is no summary."""
    scenes = [told(1, number, f"Event {number} happens") for number in range(1, 40)]
    monkeypatch.setattr("novelgen.memory.outline.CHAPTER_BULLETS", 3)
    [few] = chapter_summaries(scenes)
    assert few.summary == "Event 1 happens. Event 20 happens. Event 39 happens."
    long = [told(1, number, f"{number} " * 200) for number in range(1, 5)]
    assert chapter_summaries(long)[0].summary == "1 " * 199 + "1. " + "4 " * 199 + "4."
    assert chapter_summaries([told(1, 1, "x" * 1000)]) == []
    assert chapter_summaries([told(1, 1)]) == []
    assert chapter_summaries([]) == []
    scenes = [told(1, 1, "long " * 300), told(1, 2, "Ada leaves"), told(1, 3, "Ben stays")]
    assert [each.summary for each in chapter_summaries(scenes)] == ["Ada leaves. Ben stays."]


def bounds(stated: list[StoryPart], last_chapter: int, length: int = 10) -> list[tuple[int, int, int]]:
    """Return number, first and last chapter of every part."""
    parts = story_parts(stated, last_chapter=last_chapter, chapters_per_part=length)
    return [(part.number, part.first_chapter, part.last_chapter) for part in parts]


@pytest.mark.parametrize(
    ("last_chapter", "parts"), [(-1, []), (0, [(1, 0, 10)]), (10, [(1, 0, 10)]), (11, [(1, 0, 10), (2, 11, 20)])]
)
def test_parts_of_a_fixed_length_begin_with_the_first_chapter(
    last_chapter: int, parts: list[tuple[int, int, int]]
) -> None:
    """A prologue, chapter 0, belongs to the first."""
    assert bounds([], last_chapter) == parts


def test_stated_parts_are_numbered_in_order_and_known_when_they_begin() -> None:
    """A part that has no chapter yet is not there."""
    stated = [StoryPart(first_chapter=1, last_chapter=3), StoryPart(first_chapter=5, last_chapter=9)]
    assert bounds(stated, 4) == [(1, 1, 3)]
    assert bounds(stated, 5) == [(1, 1, 3), (2, 5, 9)]


@pytest.mark.parametrize(
    ("as_of", "numbers"),
    [(StoryPosition(2, 9), []), (StoryPosition(3), [1]), (StoryPosition(9, 1), [1, 2]), (END_OF_STORY, [1])],
)
def test_a_part_is_over_after_its_last_chapter(as_of: StoryPosition, numbers: list[int]) -> None:
    """At the end of the story, one whose last chapter is not stored goes on."""
    parts = story_parts([], last_chapter=3, chapters_per_part=2)
    assert [part.number for part in finished_parts(parts, as_of=as_of, last_chapter=3)] == numbers


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"first_chapter": 4, "last_chapter": 2}], "last_chapter 2 lies before first_chapter 4"),
        ([{"first_chapter": 5, "last_chapter": 6}, {"first_chapter": 1, "last_chapter": 2}], "in order"),
        ([{"first_chapter": 1, "last_chapter": 4}, {"first_chapter": 4, "last_chapter": 6}], "in two of them"),
        ([{"first_chapter": -1, "last_chapter": 4}], "greater than or equal to 0"),
        ([{"title": "卷一"}], "first_chapter"),
    ],
)
def test_parts_that_make_no_sense_are_refused(parts: list[dict[str, Any]], said: str) -> None:
    """The message names what is wrong."""
    with pytest.raises(ValidationError, match=said):
        Settings.model_validate({"parts": parts})


@pytest.mark.parametrize(
    "event", ["阿黛在第{n}天把铜钥匙藏在灯塔的楼梯下面", "On day {n} Ada hides the brass key under the third stair"]
)
def test_a_part_is_told_shortly_in_whole_bullets_of_its_whole_course(event: str) -> None:
    """In either language it costs no more than its bound, and first, middle and last chapters speak."""
    scenes = [told(chapter, 1, event.format(n=chapter)) for chapter in range(1, 11)]
    [part] = part_summaries(story_parts([], last_chapter=10), scenes, as_of=StoryPosition(11))
    said = [chapter for chapter in range(1, 11) if event.format(n=chapter) in part.summary]
    assert estimate_tokens(part.summary) <= PART_TOKENS
    assert len(said) >= 4
    assert (said[0] <= 3, said[-1] >= 8) == (True, True)
    assert part.summary.endswith(("。", "."))


def test_weight_decides_within_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weightiest bullet is told, never cut; a part without records has no summary but the author's."""
    monkeypatch.setattr("novelgen.memory.outline.PART_BULLETS", 2)
    scenes = [told(chapter, 1, f"Event {chapter}") for chapter in (1, 2, 3, 4)]
    weights = {(2, 1): 9.0, (3, 1): 8.0, (4, 1): 7.0}
    [part] = part_summaries(story_parts([], last_chapter=4, chapters_per_part=4), scenes, weights=weights)
    assert part.summary == "Event 2. Event 3."
    parts = story_parts([], last_chapter=1, chapters_per_part=1)
    assert part_summaries(parts, [told(1, 1)]) == []
    assert part_summaries(parts, [told(1, 1, "x" * 1000)]) == []
    [written] = part_summaries(parts, [told(1, 1)], written_summaries={1: WrittenSummary(text="Mine.")})
    assert (written.summary, written.origin) == ("Mine.", "author")
