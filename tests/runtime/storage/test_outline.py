"""What a story has shown before a position, and the summaries of its chapters and parts, made and written."""

import pytest

from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.columns import SummaryLevel, SummaryWriter
from runtime.storage.database import DatabaseManager
from runtime.storage.models import SceneWrite
from runtime.storage.outline import MAX_CHAPTERS
from tests.runtime.storage.stories import at, change, memory, record, scene, store
from tests.support.databases import on_both_databases


@on_both_databases
def test_scenes_tell_place_and_presence_and_the_last_ones_what_happened(database: DatabaseManager) -> None:
    """In story order, whatever order they were stored in; of older scenes no record is read."""
    told = {"key_events": ["A key is lost"], "summary": ["Emma searches, in vain"], "story_time": "at dusk"}
    store(
        database,
        scene(2, 1, participants=["C1"], record=record(2, 1, **told)),
        scene(1, 1, participants=["C0", "C1"], location_id="L0", title="“A” — 门", record=record(1, 1, **told)),
        scene(1, 2),
        scene(3, 1, record=record(3, 1)),
        *(scene(2, each) for each in range(2, 6)),
    )
    with database.project("demo").read() as unit:
        scenes = unit.outline(as_of=at(4)).scenes

    assert scenes == [
        OutlineScene(1, 1, "“A” — 门", "L0", ("C0", "C1"), is_guessed=True),
        OutlineScene(1, 2, is_guessed=True),
        OutlineScene(2, 1, "", None, ("C1",), ("A key is lost",), ("Emma searches, in vain",), True, "at dusk"),
        *(OutlineScene(2, each, is_guessed=True) for each in range(2, 6)),
        OutlineScene(3, 1, is_guessed=True),
    ]


def test_scenes_are_cut_strictly_before_the_position(database: DatabaseManager) -> None:
    """The planned scene itself and what follows are not read, and of a story without earlier scenes nothing."""
    store(database, scene(1, 1), scene(1, 2, participants=["C9"]), scene(2, 1))
    with database.project("demo").read() as unit:
        before_it = unit.outline(as_of=at(1, 2)).scenes
        nothing = unit.outline(as_of=at(1, 1)).scenes

    assert before_it == [OutlineScene(1, 1, is_guessed=True)]
    assert nothing == []


def test_the_author_says_who_holds_a_thing_whatever_is_read_anew(database: DatabaseManager) -> None:
    """A correction outlives the re-ingest of its scene, in the outline as in the item's state."""
    key = scene(1, 1, states=[change("I0", "holder", "C9", entity_type="item")])
    store(database, key)
    with database.project("demo").write() as unit:
        corrected = change("I0", "holder", "C0", entity_type="item", chapter_index=1, scene_index=1)
        unit.states.append([corrected])
    store(database, key.model_copy(update={"text": "Told anew."}))
    with database.project("demo").read() as unit:
        (state,) = unit.states.snapshots(["I0"])
        assert state.state_data == {"holder": "C0"}
        assert unit.outline(as_of=at(2)).holders == {"C0": ["I0"]}


def told(chapter: int, number: int = 1, event: str = "") -> SceneWrite:
    """Return a scene with one key event."""
    happened = event or f"Event {chapter}:{number}"
    return scene(chapter, number, record=record(chapter, number, key_events=[happened]))


def summed_up(database: DatabaseManager, as_of: StoryPosition) -> dict[int, str]:
    """Return the summaries by chapter."""
    with database.project("demo").read() as unit:
        outline = unit.outline(as_of=as_of)
    return {each.chapter_index: each.summary for each in outline.chapter_summaries}


def test_only_chapters_that_are_over_are_summed_up(database: DatabaseManager) -> None:
    """A chapter is summed up from the next one on, whatever is stored of it."""
    store(database, told(1, 1), told(1, 2), told(2, 1))
    first, second = "Event 1:1. Event 1:2.", "Event 2:1."
    for as_of, over in ((at(1, 2), {}), (at(2), {1: first}), (at(2, 9), {1: first})):
        assert summed_up(database, as_of) == over
    assert summed_up(database, END_OF_STORY) == {1: first, 2: second}


def test_the_chapters_of_the_part_that_goes_on_are_summed_up_oldest_first(database: DatabaseManager) -> None:
    """Of a part that is over only the chapters just before are told each by itself."""
    store(database, *(told(chapter, 1) for chapter in range(1, 16)))
    assert list(summed_up(database, at(7))) == [1, 2, 3, 4, 5, 6]
    assert list(summed_up(database, at(11))) == [8, 9, 10]
    assert list(summed_up(database, at(14))) == [11, 12, 13]
    assert list(summed_up(database, END_OF_STORY)) == [11, 12, 13, 14, 15]


def test_of_a_very_long_part_only_the_last_chapters_are_read(database: DatabaseManager) -> None:
    """What a context has no room for is not looked up."""
    store(database, *(told(chapter, 1) for chapter in range(1, 16)))
    with database.project("demo").read() as unit:
        summaries = unit.outline(as_of=at(16), chapters_per_part=100).chapter_summaries
    assert [each.chapter_index for each in summaries] == list(range(16 - MAX_CHAPTERS, 16))


def outline(database: DatabaseManager, as_of: StoryPosition, *, chapters_per_part: int = 2) -> StoryOutline:
    """Read the outline with parts of two chapters."""
    with database.project("demo").read() as unit:
        return unit.outline(as_of=as_of, chapters_per_part=chapters_per_part)


def chapters(database: DatabaseManager, as_of: StoryPosition = END_OF_STORY) -> dict[int, str]:
    """Return the summaries of chapters by number."""
    return {each.chapter_index: each.summary for each in outline(database, as_of).chapter_summaries}


def parts(database: DatabaseManager, as_of: StoryPosition = END_OF_STORY) -> dict[int, str]:
    """Return the summaries of parts by number."""
    return {each.part_number: each.summary for each in outline(database, as_of).part_summaries}


def write(
    database: DatabaseManager,
    level: SummaryLevel,
    number: int,
    text: str,
    chapters: tuple[int, int],
    origin: SummaryWriter = "author",
) -> None:
    """Write a summary."""
    with database.project("demo").write() as unit:
        unit.summaries.write(level, number, text, chapters=chapters, origin=origin)


def standings(database: DatabaseManager) -> list[tuple[str, int, str]]:
    """Return level, number and standing of all written summaries."""
    with database.project("demo").read() as unit:
        listed = unit.summaries.list_as_of()
    return [(each.summary.level, each.summary.number, each.standing) for each in listed]


def test_only_parts_that_are_over_are_summed_up(database: DatabaseManager) -> None:
    """A part is told from the chapter after its last on; one whose end is not stored is not over."""
    store(database, *(told(chapter) for chapter in range(1, 6)))
    first, second = "Event 1:1. Event 2:1.", "Event 3:1. Event 4:1."
    for as_of, over in ((at(2, 9), {}), (at(3), {1: first}), (at(4, 1), {1: first}), (at(5), {1: first, 2: second})):
        assert parts(database, as_of) == over
    assert parts(database) == {1: first, 2: second}


@on_both_databases
def test_the_weightiest_scene_speaks_for_its_stretch(database: DatabaseManager) -> None:
    """Of more bullets than a part has room for, those of scenes with important memories are told."""
    weighty = scene(2, 1, memory("M1", importance=9), record=record(2, 1, key_events=["She opens the iron door."]))
    others = [told(1, number, f"They walk on, day {number}, " + "and on " * 20) for number in range(1, 9)]
    store(database, *others, weighty)
    assert "She opens the iron door." in parts(database, at(3))[1]


@pytest.mark.slow
def test_a_consolidated_memory_gives_its_scene_no_weight(database: DatabaseManager) -> None:
    """It stands in the scene of its last source, but what it tells happened in others."""
    weights = [2, 2, 2, 2, 2, 2, 2, 9, 2, 2, 2, 2, 2, 2, 2, 1]
    scenes = [
        scene(
            1,
            number,
            memory(f"M{number}", importance=weight),
            record=record(1, number, key_events=[f"They walk on, day {number}, " + "and on " * 20]),
        )
        for number, weight in enumerate(weights, start=1)
    ]
    store(database, *scenes, told(2))
    before = parts(database, at(3))
    sources = [each.chunks[0] for each in scenes[7:]]
    with database.project("demo").write() as unit:
        assert unit.consolidations.add(memory("consolidated-1", "All of it.", importance=9), sources)
    assert parts(database, at(3)) == before


def test_the_authors_parts_go_before_a_fixed_length(database: DatabaseManager) -> None:
    """Parts that the author said are numbered and titled; chapters outside of them are in none."""
    store(database, *(told(chapter) for chapter in range(1, 6)))
    said = [
        {"title": "雾", "first_chapter": 1, "last_chapter": 1},
        {"title": "海", "first_chapter": 3, "last_chapter": 4},
    ]
    with database.project("demo").write() as unit:
        unit.projects.update(settings={"parts": said})
    summaries = outline(database, at(9)).part_summaries
    assert [(each.part_number, each.title, each.summary) for each in summaries] == [
        (1, "雾", "Event 1:1."),
        (2, "海", "Event 3:1. Event 4:1."),
    ]


def test_a_written_summary_stands_as_it_is_once_its_scenes_are_over(database: DatabaseManager) -> None:
    """A person's words take the place of the made summary, in no earlier chapter than the next."""
    store(database, told(1), told(2), told(3))
    write(database, "chapter", 1, "阿黛立誓。", (1, 1))
    write(database, "part", 1, "The vow and what it cost.", (0, 2))
    assert chapters(database, at(1, 9)) == {}
    assert chapters(database, at(2)) == {1: "阿黛立誓。"}
    assert parts(database, at(2, 5)) == {}
    assert parts(database, at(3)) == {1: "The vow and what it cost."}
    [part] = outline(database, at(3)).part_summaries
    assert part.origin == "author"


def test_an_empty_text_takes_the_written_summary_away(database: DatabaseManager) -> None:
    """The made one stands again."""
    store(database, told(1))
    write(database, "chapter", 1, "Mine.", (1, 1))
    write(database, "chapter", 1, " \n", (1, 1))
    assert chapters(database) == {1: "Event 1:1."}
    assert standings(database) == []


@on_both_databases
def test_a_changed_scene_puts_a_models_summary_aside_and_a_persons_not(database: DatabaseManager) -> None:
    """Both are listed as older than their scenes; that of the model is not used until they are as they were."""
    store(database, told(1), told(2))
    write(database, "chapter", 1, "The model's.", (1, 1), "model")
    write(database, "chapter", 2, "The person's.", (2, 2))
    assert chapters(database) == {1: "The model's.", 2: "The person's."}
    store(database, told(1, event="Another event"), told(2, event="Another event"))
    assert chapters(database) == {1: "Another event.", 2: "The person's."}
    assert standings(database) == [("chapter", 1, "outdated"), ("chapter", 2, "outdated")]
    store(database, told(1))
    assert chapters(database)[1] == "The model's."


def test_a_deleted_scene_outdates_what_summed_it_up(database: DatabaseManager) -> None:
    """Of a chapter that is gone nothing is told."""
    store(database, told(1, 1), told(1, 2), told(2))
    write(database, "chapter", 1, "The model's.", (1, 1), "model")
    write(database, "chapter", 2, "The person's.", (2, 2))
    with database.project("demo").write() as unit:
        unit.scenes.delete_scene(at(1, 2))
        unit.scenes.delete_scene(at(2, 1))
    assert chapters(database) == {1: "Event 1:1."}


def test_a_summary_goes_with_its_chapter(database: DatabaseManager) -> None:
    """A chapter that moves takes its summary along, unchanged and current."""
    store(database, told(1), told(2), told(3))
    write(database, "chapter", 1, "The vow.", (1, 1), "model")
    with database.project("demo").write() as unit:
        unit.scenes.move_chapter(1, 3)
    assert standings(database) == [("chapter", 3, "current")]
    assert "The vow." not in chapters(database, at(3)).values()
    assert chapters(database)[3] == "The vow."


@on_both_databases
def test_what_sums_up_scenes_that_left_is_withheld(database: DatabaseManager) -> None:
    """A person's words about a scene that now lies ahead are listed, not told; where it is back they hold again."""
    store(database, told(1, 1), told(1, 2), told(2), told(3))
    write(database, "chapter", 1, "The vow and the fire.", (1, 1))
    write(database, "part", 1, "Vow, fire, flight.", (0, 2))
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(1, 2), at(3, 1))
    assert standings(database) == [("chapter", 1, "withheld"), ("part", 1, "withheld")]
    assert chapters(database, at(3))[1] == "Event 1:1."
    assert parts(database, at(3)) == {1: "Event 1:1. Event 2:1."}
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(3, 1), at(1, 2))
    assert standings(database) == [("chapter", 1, "current"), ("part", 1, "current")]
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(1, 2), at(3, 1))
    write(database, "chapter", 1, "The vow.", (1, 1))
    assert standings(database) == [("chapter", 1, "current"), ("part", 1, "withheld")]


@pytest.mark.parametrize("keeps_summary", [False, True])
def test_what_sums_up_a_chapter_that_is_gone_does_not_tell_the_one_that_takes_its_place(
    database: DatabaseManager, keeps_summary: bool
) -> None:
    """A chapter that moves to where one was deleted is told in its own words, written or made."""
    store(database, told(1), told(2), told(3))
    write(database, "chapter", 2, "Of what is gone.", (2, 2))
    if keeps_summary:
        write(database, "chapter", 3, "The flight.", (3, 3))
    with database.project("demo").write() as unit:
        unit.scenes.delete_scene(at(2, 1))
        unit.scenes.move_chapter(3, 2)
    assert chapters(database)[2] == ("The flight." if keeps_summary else "Event 3:1.")
    assert ("chapter", 2, "withheld") in standings(database)


def test_a_part_that_has_other_chapters_now_is_made_anew(database: DatabaseManager) -> None:
    """What was written of chapters 1 and 2 does not tell a part of chapter 1 alone: it would give away the rest."""
    store(database, told(1), told(2))
    write(database, "part", 1, "Vow and fire.", (0, 2))
    shorter = outline(database, at(2), chapters_per_part=1).part_summaries
    assert [each.summary for each in shorter] == ["Event 1:1."]
