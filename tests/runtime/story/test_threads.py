"""Threads as an author keeps them."""

from pathlib import Path

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.memory.ledger import LedgerEntry
from novelgen.models.position import END_OF_STORY, StoryPosition, place_told
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from runtime.ingest.ingest import ingest_scenes
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.agents.guild_story import scene

pytestmark = pytest.mark.usefixtures("unindexed_edits")


def test_what_does_not_wait_cannot_end(guild: Story) -> None:
    """Nor can move what is not planted; both are named."""
    guild.threads.abandon(loop_id="OL0", summary="dropped")
    with pytest.raises(UserInputError, match="no thread 'OL0' is open, and no other one"):
        guild.threads.resolve(loop_id="OL0", summary="x")
    with pytest.raises(UserInputError, match="no thread 'OL7' is planted"):
        guild.threads.advance(loop_id="OL7", note="x")


def test_notes_are_the_authors_and_in_no_context(guild: Story, stores: MemoryStores, project: str) -> None:
    """Seed 000.10: notes and the moment of planting are listed and can be set; what readers are given has neither."""
    planted = guild.threads.add(description="Who lit the lamp?", notes="Marcus, in chapter 9")
    assert planted.created_at is not None
    (noted,) = [each for each in guild.threads.list() if each.loop_id == planted.loop_id]
    assert (noted.notes, noted.created_at) == ("Marcus, in chapter 9", planted.created_at)
    assert guild.threads.edit(loop_id=planted.loop_id, notes="").notes == ""
    with stores.database(project).read() as unit:
        told = unit.threads.get(planted.loop_id)
        outline = unit.outline(as_of=END_OF_STORY)
    assert "notes" not in told.model_dump()
    assert not any("notes" in each.model_dump() for each in outline.open_loops)


def test_the_people_of_a_thread_can_be_said_later(guild: Story) -> None:
    """They take the place of those before; a name that nobody bears is refused."""
    planted = guild.threads.add(description="Who lit the lamp?")
    person = guild.entities.list()[0]
    edited = guild.threads.edit(loop_id=planted.loop_id, characters=[person.name])
    assert (edited.related_entities, edited.description) == ([person.entity_id], planted.description)
    assert guild.threads.edit(loop_id=planted.loop_id, characters=[]).related_entities == []
    with pytest.raises(UnknownEntityError, match="Nobody Known"):
        guild.threads.edit(loop_id=planted.loop_id, characters=["Nobody Known"])


def test_what_an_author_says_of_a_recorded_thread_survives_its_scene(
    guild: Story, stores: MemoryStores, project: str
) -> None:
    """Seed 000.10: a record that plants the thread again does not take notes, weight and description back."""
    stored = guild.threads.get(loop_id="OL0")
    edited = guild.threads.edit(loop_id="OL0", description="Where does it lead?", importance="critical", notes="n")
    assert (edited.chapter_index, edited.scene_index, edited.created_at) == (1, 1, stored.created_at)
    changed = scene(1, 1).model_copy(update={"text": "Elena Thorne broke into the Archive. It was dark."})
    ingest_scenes(stores, project, [changed], index=False)
    again = guild.threads.get(loop_id="OL0", as_of=StoryPosition(1, 2))
    assert (again.description, again.importance, again.notes) == ("Where does it lead?", "critical", "n")
    guild.threads.edit(loop_id="OL0", notes="m")
    with stores.database(project).read() as unit:
        assert len([each for each in unit.exchange.contents().loop_events if each.loop_id == "OL0"]) == 2


@pytest.mark.parametrize(
    ("changes", "message"), [({}, "nothing to change"), ({"description": " "}, "the description is empty")]
)
def test_a_thread_is_not_described_by_nothing(guild: Story, changes: dict[str, str], message: str) -> None:
    """What would change nothing, or leave no question, is refused, and so is a thread that nobody planted."""
    with pytest.raises(UserInputError, match=message):
        guild.threads.edit(loop_id="OL0", **changes)
    with pytest.raises(UserInputError, match="no thread 'OL9' is planted"):
        guild.threads.edit(loop_id="OL9", notes="x")


def test_the_ledger_holds_at_its_position(guild: Story, stores: MemoryStores, project: str) -> None:
    """Before it was planted, before a death and before it ended nothing of them is told."""
    loop_id = guild.threads.add(
        description="Marcus vows to return", characters=["C1"], start=StoryPosition(2, 1)
    ).loop_id
    death = StateChange(entity_id="C1", attribute="status", value="dead", chapter_index=2, scene_index=1)
    with stores.database(project).write() as unit:
        unit.states.append([death])

    def told(as_of: StoryPosition | None) -> LedgerEntry | None:
        entries = guild.threads.ledger(as_of=as_of).entries
        return next((each for each in entries if each.loop_id == loop_id), None)

    assert told(StoryPosition(1, 2)) is None
    living, waiting = told(StoryPosition(2, 1)), told(None)
    assert (living.stage, living.dead_ids) == ("planted", [])
    assert (waiting.stage, waiting.moot_since, waiting.ending) == ("planted", (2, 1), None)
    guild.threads.abandon(loop_id=loop_id, summary="he died")
    ended = told(None)
    assert (ended.stage, ended.ending) == ("over", "moot")
    assert told(StoryPosition(2, 1)) == living


def test_who_comes_back_to_life_keeps_their_threads(guild: Story, stores: MemoryStores, project: str) -> None:
    """A death that was none leaves no thread without its people."""
    with stores.database(project).write() as unit:
        unit.states.append(
            [
                StateChange(entity_id="C1", attribute="status", value=value, chapter_index=1, scene_index=scene)
                for scene, value in ((1, "dead"), (2, "alive, he had feigned his death"))
            ]
        )
    loop_id = guild.threads.add(description="Marcus vows to return", characters=["C1"]).loop_id
    (entry,) = [each for each in guild.threads.ledger().entries if each.loop_id == loop_id]
    assert (entry.dead_ids, entry.moot_since) == ([], None)


def test_an_author_says_when_a_thread_is_due_and_what_it_needs(
    guild: Story, stores: MemoryStores, project: str
) -> None:
    """It is listed with the thread, counts in the ledger and survives the re-ingest of the scene that planted it."""
    edited = guild.threads.edit(
        loop_id="OL0", pay_off="the lake is seen", due_from=StoryPosition(1, 2), due_by=StoryPosition(2)
    )
    assert (edited.pay_off, edited.due_from, edited.due_by) == ("the lake is seen", (1, 2), (2, 0))
    ingest_scenes(stores, project, [scene(1, 1)], index=False)
    (entry,) = guild.threads.ledger().entries
    assert (entry.stage, entry.pay_off) == ("overdue", "the lake is seen")
    assert guild.threads.ledger(as_of=StoryPosition(1, 2)).entries[0].stage == "due"
    with pytest.raises(UserInputError, match="overdue at 2 before it is due at 3:1"):
        guild.threads.edit(loop_id="OL0", due_from=StoryPosition(3, 1))


def test_taking_a_scene_in_warns_of_a_thread_that_it_ends_without_a_word(guild: Story) -> None:
    """The warning comes with the scene that did it, not with every later one."""
    ending = SceneRecord.model_validate({"chapter_index": 3, "scene_index": 1, "open_loops_resolved": [{"id": "OL0"}]})
    place = StoryPosition(3, 1)
    text = "Elena Thorne crossed the frozen lake."
    report = guild.scenes.store(position=place, text=text, record=ending)
    assert [each for each in report.warnings if "OL0" in each] == [
        "scene 3:1 ended a thread without saying how: OL0 What does the fragment lead to?"
    ]
    later = guild.scenes.store(position=StoryPosition(3, 2), text="Snow fell.")
    assert not any("OL0" in each for each in later.warnings)


def test_a_record_says_how_a_thread_ended(guild: Story) -> None:
    """`ending` of a resolution counts in the ledger, and stands in the record only where it says something."""
    said = [{"id": "OL0", "resolution_summary": "she burnt the map", "ending": "broken"}]
    record = SceneRecord.model_validate({"chapter_index": 3, "scene_index": 1, "open_loops_resolved": said})
    place = StoryPosition(3, 1)
    guild.scenes.store(position=place, text="The map burns.", record=record)
    (entry,) = guild.threads.ledger().entries
    assert (entry.status, entry.ending) == ("resolved", "broken")
    assert record.model_dump()["open_loops_resolved"][0]["ending"] == "broken"
    unsaid = record.open_loops_resolved[0].model_copy(update={"ending": None})
    assert "ending" not in unsaid.model_dump()


@pytest.mark.slow
def test_a_new_thread_takes_what_an_edit_takes(guild: Story) -> None:
    """When it is due, what its pay-off needs and its parts; refused is what an edit refuses."""
    added = guild.threads.add("A debt.", due_from="2:1", due_by=3, pay_off="the coins", parts=2)
    assert (added.due_from, added.due_by, added.pay_off, added.parts) == ((2, 1), (3, 0), "the coins", 2)
    count = len(guild.threads.list())
    with pytest.raises(UserInputError, match="overdue at 2 before it is due at 3:1"):
        guild.threads.add("A debt.", due_from="3:1", due_by=2)
    with pytest.raises(UserInputError, match="1 parts"):
        guild.threads.add("A debt.", parts=1)
    assert len(guild.threads.list()) == count


def test_a_record_says_when_a_thread_is_due_and_what_pays_a_part(
    guild: Story, stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """It holds until the author says otherwise, comes back from an export, and no later payment is seen."""
    vow = {"id": "V1", "description": "Marcus will pay it back", "due_by": 4, "pay_off": "by the spring fair"}
    records = [
        {"chapter_index": 3, "scene_index": 1, "open_loops_created": [{**vow, "parts": 2}]},
        {"chapter_index": 3, "scene_index": 2, "open_loops_advanced": [{"id": "V1", "pays_part": True}]},
    ]
    for number, record in enumerate(map(SceneRecord.model_validate, records), start=1):
        place = StoryPosition(3, number)
        guild.scenes.store(position=place, text=f"Marcus paid {number}.", record=record)
    guild.project.export(folder=tmp_path / "out")
    Story(stores, f"{project}-copy").project.import_source(source=tmp_path / "out")

    def told(name: str, as_of: StoryPosition | None = None) -> LedgerEntry:
        entries = Story(stores, name).threads.ledger(as_of=as_of).entries
        return next(each for each in entries if each.description == vow["description"])

    for name in (project, f"{project}-copy"):
        entry = told(name)
        assert (entry.window.source, entry.window.due_by, entry.pay_off) == ("record", (4, 0), "by the spring fair")
        assert (entry.parts, entry.parts_paid, entry.stage) == (2, 1, "moved")
        assert told(name, StoryPosition(3, 2)).parts_paid == 0
        assert told(name, StoryPosition(4, 1)).stage == "overdue"
    loop_id = told(project).loop_id
    edited = guild.threads.edit(loop_id=loop_id, due_by=StoryPosition(9), parts=3)
    assert (edited.due_by, edited.parts) == ((9, 0), 3)
    guild.threads.advance(loop_id=loop_id, note="a purse", pays_part=True)
    entry = told(project)
    assert (entry.window.source, entry.parts, entry.parts_paid) == ("author", 3, 2)
    with pytest.raises(UserInputError, match="in 1 parts; give two or more"):
        guild.threads.edit(loop_id=loop_id, parts=1)


@pytest.mark.slow
def test_a_record_words_a_thread_anew_from_its_scene_on(
    guild: Story, stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """Before, the old words stand; without the record they come back; the author's own words outrank both."""
    first = guild.threads.get(loop_id="OL0").description
    grown = {"id": "OL0", "note": "two maps", "description": "Where do both maps lead?", "pay_off": "at full moon"}
    place = StoryPosition(3, 1)

    def ingest(**said: object) -> None:
        record = SceneRecord.model_validate({"chapter_index": 3, "scene_index": 1, **said})
        guild.scenes.store(position=place, text="Two maps lie there.", record=record)

    def told(name: str, as_of: StoryPosition | None = None) -> LedgerEntry:
        [entry] = Story(stores, name).threads.ledger(as_of=as_of).entries
        return entry

    ingest(open_loops_advanced=[grown])
    guild.project.export(folder=tmp_path / "out")
    Story(stores, f"{project}-copy").project.import_source(source=tmp_path / "out")
    for name in (project, f"{project}-copy"):
        now, before = told(name), told(name, place)
        assert (now.description, now.worded_in, now.first_worded) == ("Where do both maps lead?", (3, 1), first)
        assert (before.description, before.worded_in, before.pay_off, now.pay_off) == (first, None, "", "at full moon")
    guild.threads.edit(loop_id="OL0", importance="low")
    assert told(project).description == "Where do both maps lead?"
    ingest(summary=["Two maps lie there."])
    assert (told(project).description, told(project).pay_off) == (first, "")
    ingest(open_loops_advanced=[grown])
    guild.threads.edit(loop_id="OL0", description="Who drew the maps?")
    assert told(project).description == "Who drew the maps?"


def test_where_its_author_said_that_it_begins_a_thread_is_told(guild: Story) -> None:
    """It is told of at the place from which on it waits, and is of no scene before; the last scene stays its own."""
    threads = guild
    said = threads.threads.add(description="Who lit the lamp?", start=StoryPosition(2, 1))
    assert place_told(said) == (2, 1)
    assert said.scenes() == set()
    assert said.loop_id in [each.loop_id for each in threads.threads.list(as_of=StoryPosition(2, 1))]
    assert said.loop_id not in [each.loop_id for each in threads.threads.list(as_of=StoryPosition(1, 2))]
    planted = threads.threads.add(description="Who holds the key?", scene_id="1:1")
    assert (place_told(planted), planted.scenes()) == ((1, 1), {(1, 1)})
    moved = threads.threads.advance(loop_id=said.loop_id, note="a light")
    assert (place_told(moved), len(moved.scenes())) == ((2, 1), 1)


def test_a_thread_is_planted_elsewhere(guild: Story) -> None:
    """It waits from there on, `undo` moves it back; a recorded one, and one that moved before, stays."""
    loop_id = guild.threads.add(description="Who lit the lamp?", start=StoryPosition(2, 1)).loop_id
    assert place_told(guild.threads.edit(loop_id=loop_id, start=StoryPosition(1, 2))) == (1, 2)
    assert loop_id in [thread.loop_id for thread in guild.threads.list(as_of=StoryPosition(1, 2))]
    assert loop_id not in [thread.loop_id for thread in guild.threads.list(as_of=StoryPosition(1, 1))]
    later = guild.threads.edit(loop_id=loop_id, description="Who lit it?", start=StoryPosition(2, 1))
    assert (place_told(later), later.description) == ((2, 1), "Who lit it?")
    guild.undo()
    assert place_told(guild.threads.get(loop_id=loop_id)) == (1, 2)
    guild.threads.advance(loop_id=loop_id, note="a light", start=StoryPosition(1, 2))
    with pytest.raises(UserInputError, match=f"thread '{loop_id}' moved or ended at 1:1, before"):
        guild.threads.edit(loop_id=loop_id, start=StoryPosition(3, 1))
    with pytest.raises(UserInputError, match="'OL0' is planted stands in the record of scene 1:1"):
        guild.threads.edit(loop_id="OL0", start=StoryPosition(2, 1))


def test_an_end_is_taken_back(guild: Story) -> None:
    """What the author ended waits again as before; what has not ended, or is over by a record, stays as it is."""
    planted = guild.threads.add(description="Who lit the lamp?", start=StoryPosition(1, 2))
    loop_id = planted.loop_id
    moved = guild.threads.advance(loop_id=loop_id, note="a light", start=StoryPosition(2, 1))
    with pytest.raises(UserInputError, match="has not ended"):
        guild.threads.reopen(loop_id=loop_id)
    assert loop_id not in guild.threads.list_reopenable()
    guild.threads.abandon(loop_id=loop_id, summary="nobody asks")
    assert loop_id in guild.threads.list_reopenable()
    assert loop_id not in guild.threads.list_reopenable(as_of=StoryPosition(2, 1))
    with pytest.raises(UserInputError, match="has not ended"):
        guild.threads.reopen(loop_id=loop_id, start=StoryPosition(2, 1))
    again = guild.threads.reopen(loop_id=loop_id)
    assert (again.status, again.last_scene_index) == ("advanced", moved.last_scene_index)
    with pytest.raises(UserInputError, match="has not ended"):
        guild.threads.reopen(loop_id="OL999")


def test_an_end_that_a_record_tells_is_corrected_there(guild: Story, stores: MemoryStores, project: str) -> None:
    """Taking back is the author's word alone."""
    planted = guild.threads.add(description="Who lit the lamp?", start=StoryPosition(1, 2))
    record = SceneRecord.model_validate(
        {
            "chapter_index": 2,
            "scene_index": 2,
            "open_loops_resolved": [{"id": planted.loop_id, "resolution_summary": "Elena did"}],
        }
    )
    told = scene(2, 1).model_copy(update={"scene_index": 2, "record": record})
    ingest_scenes(stores, project, [told], index=False)
    with pytest.raises(UserInputError, match="stands in the record of scene 2:2"):
        guild.threads.reopen(loop_id=planted.loop_id)
    assert guild.threads.list_reopenable() == frozenset()


@pytest.mark.slow
def test_how_a_thread_ended_is_kept_over_an_export(
    guild: Story, stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """A broken promise comes back broken, with its window."""
    guild.threads.edit(loop_id="OL0", due_by=StoryPosition(9))
    guild.threads.resolve(loop_id="OL0", summary="it was burnt", ending="broken")
    guild.project.export(folder=tmp_path / "out")
    Story(stores, f"{project}-copy").project.import_source(source=tmp_path / "out")
    (entry,) = Story(stores, f"{project}-copy").threads.ledger().entries
    assert (entry.ending, entry.window and entry.window.due_by) == ("broken", (9, 0))
