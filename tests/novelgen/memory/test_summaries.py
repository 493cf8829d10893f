"""Summaries that roll up and are cut by position."""

import pytest

from novelgen.memory.outline import OutlineScene, chapter_summaries
from novelgen.models.position import END_OF_STORY, StoryPosition


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
