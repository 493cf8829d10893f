"""A program corrects its story through the front door: cards, threads, deletions and their undoing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.errors import InvalidPositionError, UnknownIdError, UserInputError
from novelgen.language.normalise import is_deeper
from novelgen.models.position import StoryPosition
from runtime.files.file_reading import MAX_DEPTH
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.agents.guild_story import ENTITIES, scene

pytestmark = pytest.mark.usefixtures("unindexed_edits")


def _places(story: Story) -> list[tuple[int, int]]:
    return [(scene.scene.chapter_index, scene.scene.scene_index) for scene in story.scenes.list()]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """The guild's story."""
    settings = load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})
    with MemoryStores(settings) as stores:
        stores.create_project("guild", language="en")
        store_entities(stores, "guild", ENTITIES, origin="author")
        ingest_scenes(stores, "guild", [scene(*place) for place in ((1, 1), (1, 2), (2, 1))], index=False)
        yield Story(stores, "guild")


@pytest.mark.slow
def test_moves_are_taken_back_to_the_very_places(story: Story) -> None:
    """Gaps of a numbering come back with a scene, and chapters whole; what moved since is refused."""
    story.scenes.delete(position=StoryPosition(1, 1))
    story.ingest(text="The guild met at the lake.", chapter_index=1, scene_index=5)
    before = _places(story)
    assert before == [(1, 2), (1, 5), (2, 1)]
    chapter = story.scenes.move(source=StoryPosition(2), target=StoryPosition(1))
    assert _places(story) == [(1, 1), (2, 2), (2, 5)]
    change = story.changes.list()[0]
    assert (change.kind, change.position, change.was) == ("move", "1:1", "2")
    moved = story.scenes.move(source=StoryPosition(2, 2), target=StoryPosition(1, 1))
    assert _places(story) == [(1, 1), (1, 2), (2, 4)]
    with pytest.raises(UserInputError, match="changed"):
        story.undo(chapter.change_id)
    story.undo(moved.change_id)
    assert _places(story) == [(1, 1), (2, 2), (2, 5)]
    story.undo()
    assert _places(story) == before
    assert story.scenes.move(source=StoryPosition(2, 1), target=StoryPosition(2, 1)).change_id is None


def test_an_end_and_a_change_by_hand_are_taken_back(story: Story) -> None:
    """A thread opens again, and a scene gets its title back by the number of the change, which counts once."""
    story.scenes.edit((1, 2), title="The lake")
    (change,) = story.changes.list()
    assert (change.kind, change.what, change.position) == ("title", "The lake", "1:2")
    assert story.changes.list(as_of=(1, 2)) == []
    asyncio.run(story.aundo(change.change_id))
    assert story.changes.list()[0].undone_at is not None
    with pytest.raises(UserInputError, match="undone already"):
        story.undo(change.change_id)
    with pytest.raises(UserInputError, match="OL0"):
        story.threads.reopen("OL0")


@pytest.mark.slow
def test_undo_without_a_number_takes_back_the_last_change_of_any_kind(story: Story) -> None:
    """Edits, decisions, endings, memories of characters, merges and deletions stand in one list, the last comes first.

    At every position the story is then as it was before.
    """
    before = _read(story)
    note = story.memories.add("Elena owes Odile.", attached_to=["Elena Thorne"])
    story.memories.edit(note.note.chunk_id, content="Elena owes Odile a map.", attach=["Odile Brandt"])
    story.scenes.edit((1, 2), title="The lake")
    story.threads.resolve(loop_id="OL0", summary="To the lake.")
    elena = story.character("Elena Thorne")
    elena.remember("Odile smuggles maps.")
    story.entities.merge(keep="Marcus Vale", gone="Odile Brandt")
    story.entities.delete("the Archive")
    story.threads.reopen("OL0")

    undone = []
    while any(each.undone_at is None for each in [*story.changes.list(), *story.entities.list_changes()]):
        undone.append(story.undo().change)
    assert [(each.subject, each.kind) for each in undone] == [
        ("thread", "reopen"),
        ("entity", "delete"),
        ("entity", "merge"),
        ("character", "remember"),
        ("thread", "resolve"),
        ("scene", "title"),
        ("memory", "edit"),
        ("memory", "add"),
    ]
    assert _read(story) == before
    assert elena.memories() == []
    story.threads.resolve(loop_id="OL0", summary="To the lake.")
    assert story.undo().change.kind == "resolve"
    assert _read(story) == before
    story.scenes.edit((1, 2), title="The lake")
    story.scenes.delete(position=StoryPosition(1, 2))
    assert [story.undo().change.kind for _ in range(2)] == ["delete", "title"]
    assert _read(story) == before
    with pytest.raises(UserInputError, match="nothing was changed"):
        story.undo()


@pytest.mark.slow
def test_undo_takes_back_what_was_said_of_threads_and_relationships(story: Story) -> None:
    """Planting, describing, moving and how two stand are changes like any other, not passed over for older ones.

    A card of which all of that was taken back goes, too.
    """
    bare = _read(story)
    story.entities.add("Tomas")
    before = _read(story)
    story.memories.add("Tomas limps.", known_by=["Tomas"])
    thread = story.threads.add(description="Who drew the map?").loop_id
    story.threads.edit(thread, importance="high", due_by=(3, 1))
    story.threads.advance(loop_id=thread, note="Odile has ink on her hands.")
    pair = ("Elena Thorne", "Tomas")
    for change in (story.relationships.add, story.relationships.edit):
        change(*pair, relationship_type="rivals" if change == story.relationships.add else "enemies")
    undone = [story.undo().change for _ in range(6)]
    assert [each.kind for each in undone] == ["relate", "relate", "advance", "edit", "add", "add"]
    assert undone[4].other_id == "Who drew the map?"
    assert _read(story) == before
    story.relationships.add(*pair, relationship_type="friends")
    assert story.relationships.get(character_a=pair[0], character_b=pair[1]).relationship_type == "friends"
    assert [story.undo().change.kind for _ in range(2)] == ["relate", "add"]
    assert _read(story) == bare


@pytest.mark.slow
def test_undo_takes_back_what_games_keep(story: Story) -> None:
    """Feelings, secrets, what was disclosed and flags come back, the last first."""
    elena = story.character("Elena Thorne")
    elena.keep_secret({"secret_id": "deal", "text": "She sold the map."})

    def standing() -> list[object]:
        secrets = [(each.secret.text, each.standing) for each in elena.secrets(to="Odile Brandt")]
        feelings = elena.feelings("Odile Brandt").disposition
        return [secrets, feelings, story.world.get_flags()]

    stood = [standing()]
    for change in (
        lambda: elena.feel("Odile Brandt", deltas={"trust": 5}),
        lambda: elena.keep_secret({"secret_id": "deal", "text": "She sold both maps.", "unlock": {"flag": "met"}}),
        lambda: elena.reveal("deal", to="Odile Brandt"),
        lambda: elena.drop_secret("deal"),
        lambda: story.world.set_flag("met"),
    ):
        change()
        stood.append(standing())
    elena.see_item("a map", by="Odile Brandt")
    assert story.undo().change.kind == "show"
    kinds = ["flag", "secret", "reveal", "secret", "feel"]
    for kind in kinds:
        assert standing() == stood.pop()
        assert story.undo().change.kind == kind
    assert [standing()] == stood
    felt = elena.feel("player", values={"fear": 40}).change_id
    elena.feel("player", deltas={"fear": 1})
    assert (story.undo(felt).change.kind, elena.feelings().disposition.fear) == ("feel", 1)
    assert elena.undo().kind == "feel"


@pytest.mark.slow
def test_undo_takes_back_all_scenes_of_one_taking_in(story: Story) -> None:
    """New scenes go, replaced ones are as before, in one undo; where one was changed since, nothing is taken back."""

    def told() -> list[object]:
        memories = [(each.chunk.chunk_id, each.chunk.content) for each in story.memories.list().memories]
        return [memories, *_read(story)[4:], _places(story)]

    before = told()
    story.ingest(text="The guild met.", chapter_index=1, scene_index=2)
    taken = story.ingest(text="The guild waited.", chapter_index=1, scene_index=3)
    story.scenes.edit((1, 3), title="The wait")
    with pytest.raises(UserInputError, match="scene 1:3 changed since"):
        story.undo(taken.change_id)
    assert [story.undo().change.kind for _ in range(3)] == ["title", "ingest", "ingest"]
    assert told() == before
    folder = story._stores.paths("guild").chapters
    folder.mkdir(parents=True)
    (folder / "chapter_001.txt").write_text("The guild met.\n\n***\n\nIt waited.\n\n***\n\nIt went home.", "utf-8")
    taken = story.ingest(folder / "chapter_001.txt", records=False)
    assert _places(story) == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert [(each.kind, each.position) for each in story.changes.list()[:1]] == [("ingest", "1:1–1:3")]
    with pytest.raises(UserInputError, match=f"undo guild {taken.change_id}"):
        story.undo()
    assert story.undo(taken.change_id).what == "1:1–1:3"
    assert told() == before


@pytest.mark.slow
def test_of_runs_as_many_are_kept_as_of_other_changes(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that writes one scene again and again does not let the journal grow; the last runs can be undone."""
    monkeypatch.setattr("runtime.storage.journal.MAX_KEPT_CHANGES", 2)
    texts = ["The guild met.", "The guild waited.", "The guild went home."]
    numbers = [story.ingest(text=each, chapter_index=1, scene_index=2).change_id for each in texts]
    assert [each.change_id for each in story.changes.list() if each.kind == "ingest"] == numbers[:0:-1]
    with pytest.raises(UnknownIdError):
        story.undo(numbers[0])
    assert [story.undo().change.kind for _ in range(2)] == ["ingest", "ingest"]
    assert story.scenes.get((1, 2)).scene.text == texts[0]


@pytest.mark.slow
def test_undo_takes_back_insertions_summaries_and_waivers(story: Story) -> None:
    """A new scene goes and the others close up; an older summary and an older word on a finding come back."""
    before, places = _read(story), _places(story)
    finding = "K0123456789ab"
    story.scenes.insert((1, 2), text="The guild waited.", title="The wait")
    assert _places(story) == [(1, 1), (1, 2), (1, 3), (2, 1)]
    for text in ("They met.", "They met again."):
        story.summaries.write(level="chapter", number=1, text=text)
    story.checks.waive(finding, note="a dream")
    story.checks.unwaive(finding)
    assert story.undo().change.kind == "waive"
    assert [each.note for each in story.checks.list_waivers()] == ["a dream"]
    assert [story.undo().change.kind for _ in range(2)] == ["waive", "summary"]
    assert story.checks.list_waivers() == []
    assert story.summaries.get(level="chapter", number=1).told == "They met."
    assert [story.undo().change.kind for _ in range(2)] == ["summary", "insert"]
    assert (_places(story), _read(story)) == (places, before)
    for place, moved in (((1, 2), [(1, 1), (1, 3), (2, 1)]), ((1,), [(2, 1), (2, 2), (3, 1)])):
        room = story.scenes.insert(StoryPosition(*place))
        assert _places(story) == moved
        story.ingest(text="The guild waited.", chapter_index=1, scene_index=2)
        with pytest.raises(InvalidPositionError, match="first"):
            story.undo(room.change_id)
        story.scenes.delete((1, 2))
        assert [story.undo(number).change.kind for number in (room.change_id,)] == ["insert"]
        assert (_places(story), _read(story)) == (places, before)
    assert story.scenes.insert(StoryPosition(9)).change_id is None
    inserted = story.scenes.insert((1, 2), text="The guild waited.")
    story.scenes.edit((1, 2), text="The guild waited in vain.")
    with pytest.raises(UserInputError, match="changed since"):
        story.undo(inserted.change_id)


def _read(story: Story) -> list[object]:
    """What is told at positions before, between and after the scenes."""
    places = [(1, 1), (1, 2), (2, 1), (3, 1)]
    return [
        [
            story.entities.list(as_of=place),
            story.memories.list(as_of=place),
            story.relationships.list(as_of=place),
            story.threads.list(as_of=place),
            story.knowledge.table(as_of=place),
        ]
        for place in places
    ] + [story.scenes.get(place).scene.model_dump(exclude={"updated_at"}) for place in _places(story)]


def test_an_edit_of_before_a_merge_or_deletion_names_nobody_who_is_gone(story: Story) -> None:
    """Undone after both, it brings back the link to who is one with the other now, and none to who was deleted."""
    note = story.memories.add("Two of them lied.", attached_to=["Odile Brandt", "the Archive"]).note.chunk_id
    edited = story.memories.edit(note, detach=["Odile Brandt", "the Archive"])
    story.entities.merge(keep="Marcus Vale", gone="Odile Brandt")
    story.entities.delete("the Archive")
    story.undo(edited.change_id)
    assert story.memories.get(memory_id=note).chunk.entities_mentioned == ["C1"]


def test_every_correction_can_be_awaited(story: Story) -> None:
    """A deletion and its undo alike."""
    done = asyncio.run(story.threads.adelete("OL0"))
    assert asyncio.run(story.aundo(done.change.change_id)).change.undone_at is not None


def test_what_nests_too_deep_is_refused(story: Story) -> None:
    """Whatever the door: what could not be shown, exported and imported again is not stored; one level less is."""

    def nested(levels: int) -> dict[str, object]:
        value: object = "end"
        for _ in range(levels):
            value = {"in": value}
        return {"profile_x": value}

    for changes, state in ((nested(400), None), ({"role": "minor"}, nested(400))):
        with pytest.raises(UserInputError, match="nests deeper than 90 levels"):
            story.entities.edit("C0", changes, state=state)
    assert "profile_x" not in story.entities.get("C0").model_dump_json()
    story.entities.edit("C0", {}, state=nested(88))
    assert story.entities.get("C0").model_dump_json()
    assert not is_deeper(story.project.export_documents(), than=MAX_DEPTH)
