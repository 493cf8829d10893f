"""Where the story left off: the scene that is followed, and its last sentences word for word."""

import pytest

from novelgen.context.earlier_scenes import left_off, scene_before, story_so_far
from novelgen.context.labels import labels_for
from novelgen.context.rendering import render_left_off, render_told_before
from novelgen.language.language import estimate_tokens
from novelgen.memory.outline import ChapterSummary, OutlineScene, PartSummary, StoryOutline
from novelgen.models.context import LeftOff, PointOfView, ToldBefore
from novelgen.models.position import StoryPosition, story_place

ENGLISH = labels_for("en")

AT_THE_MILL = OutlineScene(
    1, 1, title="The mill", location_id="L0", participants=("C0", "C1"), summary=("Anna waits",), story_time="at dusk"
)
ON_THE_ROAD = OutlineScene(1, 2, participants=("C1",))
ENGLISH_TEXT = 'Anna rose. The lamp was out.\n\nTom laughed. "Not yet," he said.\n\nThen the bell rang. She ran.'
CHINESE = "林凡起身。灯灭了。\n\n“还早，”他说，“等钟响。”\n\n钟响了。她跑了出去。"


def end_of(text: str, budget_tokens: int) -> LeftOff | None:
    """Return the end of a scene at the mill."""
    return left_off(AT_THE_MILL, text, budget_tokens=budget_tokens, count_tokens=estimate_tokens)


@pytest.mark.parametrize(("text", "last"), [(ENGLISH_TEXT, "She ran."), (CHINESE, "她跑了出去。")])
@pytest.mark.parametrize("budget_tokens", range(1, 60))
def test_the_end_is_verbatim_begins_with_a_sentence_and_fits(text: str, last: str, budget_tokens: int) -> None:
    """Whatever the budget: a suffix of the text from the beginning of a sentence on, or nothing."""
    found = end_of(text, budget_tokens)
    if found is None:
        assert budget_tokens < estimate_tokens(last)
        return
    assert text.endswith(found.text)
    assert found.tokens == estimate_tokens(found.text) <= budget_tokens
    before = text.removesuffix(found.text).rstrip()
    assert not before or before[-1] in '.。”"'


def test_paragraphs_are_kept_whole_where_they_fill_half_of_the_room() -> None:
    """Unless little is left; a sentence without a beginning in sight gives nothing."""
    assert getattr(end_of(ENGLISH_TEXT, 21), "text", "").startswith("Tom laughed.")
    long = "One. " * 30 + "\nTwo."
    assert getattr(end_of(long, 40), "text", "").startswith("One. One.")
    assert end_of("x" * 100_000, 50) is None
    assert getattr(end_of("x" * 100_000 + ". She ran.", 50), "text", "") == "She ran."


def test_a_scene_of_the_story_so_far_says_when_it_played() -> None:
    """The hour stands with the title, so that nobody has to count back how long ago something was."""
    story = StoryOutline(project_id="p", scenes=[AT_THE_MILL])
    (told,) = story_so_far(
        story, as_of=StoryPosition(1, 2), budget_tokens=99, labels=ENGLISH, count_tokens=estimate_tokens
    )
    assert render_told_before(told, labels=ENGLISH) == "- [1:1] The mill; at dusk: Anna waits."


@pytest.mark.parametrize(
    ("mode", "character_id", "expected"),
    [
        ("mark", "C0", ON_THE_ROAD),
        ("separate", "C1", ON_THE_ROAD),
        ("separate", "C0", AT_THE_MILL),
        ("exclude", "C9", None),
        ("exclude", None, None),
    ],
)
def test_a_point_of_view_goes_on_where_it_was(mode: str, character_id: str | None, expected: OutlineScene) -> None:
    """Where the unknown is set apart, the scene before is the last in which that one was."""
    view = PointOfView.model_validate({"character_id": character_id, "mode": mode})
    assert scene_before([AT_THE_MILL, ON_THE_ROAD], view, as_of=StoryPosition(2)) is expected


@pytest.mark.parametrize(("scene", "expected"), [(3, ON_THE_ROAD), (2, AT_THE_MILL), (1, None)])
def test_a_memory_that_tells_the_future_is_passed_over(scene: int, expected: OutlineScene | None) -> None:
    """The scene before lies strictly before the planned one, whatever an outline holds."""
    assert scene_before([AT_THE_MILL, ON_THE_ROAD], None, as_of=StoryPosition(1, scene)) is expected


def test_a_scene_of_two_million_characters_is_not_counted_sentence_by_sentence() -> None:
    """However large scene and budget are, the text is counted a few dozen times."""
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text)

    text = "She ran on. " * 20_000
    found = left_off(AT_THE_MILL, text, budget_tokens=200_000, count_tokens=count)
    assert found is not None
    assert 199_000 < found.tokens <= 200_000
    assert len(counted) < 40


def scene(chapter: int, number: int, *, summary: str = "", guessed: bool = False) -> OutlineScene:
    """Return a scene with one sentence of summary."""
    told = summary or f"Something of {chapter}:{number} happened to Anna."
    return OutlineScene(chapter, number, location_id="L0", participants=("C0",), summary=(told,), is_guessed=guessed)


def book(chapters: int, *, in_parts: int = 0) -> StoryOutline:
    """Return a story of ten scenes a chapter, as the stores outline it; parts hold ten chapters."""
    scenes = [scene(chapter, number) for chapter in range(1, chapters + 1) for number in range(1, 11)]
    return StoryOutline(
        project_id="mill",
        scenes=scenes,
        chapter_summaries=[
            ChapterSummary(chapter_index=each, scene_index=10, summary=f"Chapter {each} began. It ended.")
            for each in range(max(1, chapters - 11), chapters + 1)
        ],
        part_summaries=[
            PartSummary(
                part_number=each,
                title=f"Book {each}",
                first_chapter=10 * each - 9,
                last_chapter=10 * each,
                chapter_index=10 * each,
                summary=f"In part {each} they left. They came back.",
            )
            for each in range(1, in_parts + 1)
        ],
    )


def so_far(story: StoryOutline, as_of: StoryPosition, budget_tokens: int = 300) -> list[ToldBefore]:
    """Tell the story so far."""
    return story_so_far(story, as_of=as_of, budget_tokens=budget_tokens, labels=ENGLISH, count_tokens=estimate_tokens)


@pytest.mark.parametrize(("chapters", "parts"), [(4, 0), (7, 0), (25, 2), (200, 20)])
@pytest.mark.parametrize("budget_tokens", [0, 20, 60, 300, 2000])
def test_the_story_so_far_fits_and_grows_coarser_with_distance(chapters: int, parts: int, budget_tokens: int) -> None:
    """Books of 20 and of 2,000 scenes: within the budget, oldest first, parts before chapters before scenes."""
    told = so_far(book(chapters, in_parts=parts), StoryPosition(chapters + 1, 1), budget_tokens)
    assert sum(each.tokens for each in told) <= budget_tokens
    levels = [("part", "chapter", "scene").index(each.level) for each in told]
    assert levels == sorted(levels)
    places = [(each.level != "part", each.level == "scene", *story_place(each)) for each in told]
    assert places == sorted(places)
    if budget_tokens >= 300:
        assert (told[-1].chapter_index, told[-1].scene_index) == (chapters, 10)
        assert any(each.level != "scene" for each in told) or len(told) == 10 * chapters
    if budget_tokens == 300:
        assert {each.level for each in told} == {"scene", "chapter", *(["part"] if parts else [])}


def test_nothing_is_told_early_or_twice() -> None:
    """Scenes, chapters and parts that are not over are passed over; a chapter leaves out what its last scenes tell."""
    told = so_far(book(25, in_parts=2), StoryPosition(20, 3), 5000)
    assert max((each.chapter_index, each.scene_index or 0) for each in told) == (20, 2)
    assert all(each.chapter_index < 20 for each in told if each.level != "scene")
    scenes = [scene(1, number, summary=f"Scene {number} went by.") for number in range(1, 4)]
    chapter = ChapterSummary(chapter_index=1, scene_index=3, summary="Scene 1 went by. Scene 3 went by.")
    story = StoryOutline(project_id="mill", scenes=scenes, chapter_summaries=[chapter])
    assert [each.level for each in so_far(story, StoryPosition(2, 1))] == ["scene"] * 3
    short = so_far(story, StoryPosition(2, 1), 40)
    assert [each.text for each in short] == ["Scene 1 went by.", "Scene 2 went by.", "Scene 3 went by."][-len(short) :]


def test_a_scene_that_rules_read_has_no_certain_place_and_people() -> None:
    """Where no record says it, the end of the scene before does not say either who was there and where."""
    found = left_off(scene(1, 1, guessed=True), ENGLISH_TEXT, budget_tokens=300, count_tokens=estimate_tokens)
    assert found is not None
    assert (found.location_id, found.present) == (None, [])


def test_what_came_before_the_last_chapter_of_a_part_is_told_by_the_part() -> None:
    """A chapter that an author wrote of stands beside its scenes, too, a made one does not."""
    told = so_far(book(10, in_parts=1), StoryPosition(11, 1))
    assert (told[0].level, told[0].first_chapter) == ("part", 1)
    chapter = ChapterSummary(chapter_index=1, scene_index=1, summary="It was the last good year.")
    story = StoryOutline(project_id="mill", scenes=[scene(1, 1)], chapter_summaries=[chapter])
    assert [each.level for each in so_far(story, StoryPosition(2, 1))] == ["scene"]
    by_author = story.model_copy(update={"chapter_summaries": [chapter.model_copy(update={"origin": "author"})]})
    assert [each.level for each in so_far(by_author, StoryPosition(2, 1))] == ["chapter", "scene"]


def test_place_and_people_come_with_it() -> None:
    """What is known of the scene stands beside its words."""
    found = end_of(ENGLISH_TEXT, 300)
    assert found is not None
    told = (found.chapter_index, found.scene_index, found.title, found.location_id, found.present, found.story_time)
    assert told == (1, 1, "The mill", "L0", ["C0", "C1"], "at dusk")
    assert (
        render_left_off(found, {"L0": "Mill", "C0": "Anna"}, labels=ENGLISH)[0]
        == "[1:1] The mill; at dusk; Mill; with Anna"
    )
    assert found.text == ENGLISH_TEXT
