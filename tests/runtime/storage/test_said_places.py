"""What an author says from a position on keeps it when scenes move: nothing is read early, nothing is lost."""

import itertools
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.models.position import StoryPosition
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.settings import load_settings
from runtime.storage.said_places import StoryOrder, moved_out_of_order
from runtime.storage.scenes import Relocation, chapter_gap, chapter_move, scene_gap, scene_move
from runtime.stores import MemoryStores
from runtime.story.lore import StoryKeyedNotes
from runtime.story.story import Story
from tests.support.databases import postgres_database
from tests.support.variants import variants

PLACES = [(chapter, scene) for chapter in (1, 2, 3) for scene in (1, 2, 3)]
SAID_FROM = [(2, 1), (2, 2), (2, 3), (3, 1), (4, 1)]

MARKS = [f"zq{chapter}{scene}" for chapter, scene in [*SAID_FROM, (6, 2)]]

Scene = tuple[int, int]


def _open(folder: Path, database_url: str | None = None) -> MemoryStores:
    settings = load_settings(projects_dir=folder, memory={"embedding_model": "fake:32"})
    return MemoryStores(settings.model_copy(update={"database_url": database_url}))


def _fill(stores: MemoryStores) -> Story:
    """Store nine scenes in which two people are known, whose texts say nothing of what the author says."""
    stores.create_project("st", language="en")
    story = Story(stores, "st")
    for name in ("Ada", "Ben"):
        story.entities.add(name, start=(1, 1))
    texts = {place: f"Rain fell on day {place[0]}{place[1]}." for place in PLACES}
    scenes = [SceneInput(chapter_index=one, scene_index=two, text=text) for (one, two), text in texts.items()]
    ingest_scenes(stores, "st", scenes, index=False)
    story.relationships.add("Ada", "Ben", relationship_type="friends", start=(1, 1))
    return story


@pytest.fixture
def story(database_url: str, tmp_path: Path) -> Iterator[Story]:
    """The nine scenes, in a database of the test's own."""
    with _open(tmp_path, database_url if "://" in database_url else None) as stores:
        yield _fill(stores)


@pytest.fixture(scope="module")
def stated_folder(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A projects folder with the nine scenes and what the author says from five positions on."""

    def fill(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch, _open(folder) as stores:
            patch.setattr("runtime.story.base.ENTRIES_OF_AN_EDIT", 0)
            story = _fill(stores)
            for start in SAID_FROM:
                tell(story, start)

    return made_once("said-places", fill)


@pytest.fixture(scope="module")
def readings_before(stated_folder: Path) -> dict[Scene | None, dict[str, str]]:
    """What is read at each scene of that folder, and at its end."""
    with _open(stated_folder) as stores:
        return {place: read(Story(stores, "st"), place) for place in [*PLACES, None]}


@pytest.fixture(autouse=True)
def unindexed_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the vector index for later: nothing here is searched."""
    monkeypatch.setattr("runtime.story.base.ENTRIES_OF_AN_EDIT", 0)


def _keyed(story: Story) -> StoryKeyedNotes:
    return StoryKeyedNotes(story._stores, story.project_id)


def tell(story: Story, start: Scene) -> str:
    """Say something of every kind from a position on, and return the word by which it is known."""
    mark = f"zq{start[0]}{start[1]}"
    story.memories.add(f"The note {mark}.", start=start, pinned=True, attached_to=["book"], known_by=["Ada"])
    story.threads.add(f"thread {mark}", start=start)
    story.entities.edit("Ada", {}, state={f"mood {mark}": mark}, start=start)
    story.entities.edit("Ben", {"description": f"Said to be {mark}."}, start=start)
    story.relationships.edit("Ada", "Ben", event=mark, status=mark, start=start)
    story.entities.add(f"Card {mark}", start=start)
    _keyed(story).put_keyed_note(target="book", key=f"key {mark}", content=f"Lore {mark}.", as_of=start)
    return mark


def read(story: Story, as_of: Scene | None) -> dict[str, str]:
    """Return what is read at a position, by kind, as text."""
    lore = (_keyed(story).find_keyed_memory(target="book", key=f"key {mark}", as_of=as_of) for mark in MARKS)
    return {
        "notes": str(story.memories.list(as_of=as_of)),
        "threads": str(story.threads.list(as_of=as_of)),
        "states": str(story.entities.state("Ada", as_of=as_of)),
        "relationships": str(story.relationships.course("Ada", "Ben", as_of=as_of)),
        "cards": str(story.entities.list(name="Card", as_of=as_of)),
        "card fields": str(story.entities.get("Ben", as_of=as_of)),
        "knowledge": str(story.knowledge.list("Ada", as_of=as_of)),
        "lore": str([note.content for note in lore if note is not None]),
    }


KINDS = ("notes", "threads", "states", "relationships", "cards", "card fields", "knowledge", "lore")


def expected_start(order: Sequence[Scene], start: Scene, moved: set[Scene]) -> Scene | None:
    """Return the scene from which on something is read, of those that stay; None where it is read after all."""
    return next((place for place in order if place >= start and place not in moved), None)


MOVES: dict[str, tuple[Callable[[Story], object], Callable[[], Relocation]]] = {
    "back": (lambda story: story.scenes.move("2:1", "1:2"), lambda: scene_move(PLACES, (2, 1), (1, 2))),
    "away": (lambda story: story.scenes.move("2:2", "3:3"), lambda: scene_move(PLACES, (2, 2), (3, 3))),
    "to the end": (lambda story: story.scenes.move("1:3", "3:4"), lambda: scene_move(PLACES, (1, 3), (3, 4))),
    "the last": (lambda story: story.scenes.move("3:3", "1:1"), lambda: scene_move(PLACES, (3, 3), (1, 1))),
    "within": (lambda story: story.scenes.move("2:3", "2:1"), lambda: scene_move(PLACES, (2, 3), (2, 1))),
    "chapter back": (lambda story: story.scenes.move("3", "1"), lambda: chapter_move(PLACES, 3, 1)),
    "chapter on": (lambda story: story.scenes.move("2", "3"), lambda: chapter_move(PLACES, 2, 3)),
    "room": (lambda story: story.scenes.insert("2:2", text="New rain."), lambda: scene_gap(PLACES, (2, 2))),
    "room before": (lambda story: story.scenes.insert("1:1", text="New rain."), lambda: scene_gap(PLACES, (1, 1))),
    "chapter's room": (lambda story: story.scenes.insert("2"), lambda: chapter_gap(PLACES, 2)),
}


def _marks(readings: dict[Scene | None, dict[str, str]]) -> dict[Scene, str]:
    """Return the word of each position, after checking that it is read from there on alone."""
    marks = dict(zip(SAID_FROM, MARKS, strict=False))
    for place, (start, mark) in itertools.product(PLACES, marks.items()):
        is_read = {kind: mark in readings[place][kind] for kind in KINDS}
        assert is_read == dict.fromkeys(KINDS, place >= start), (place, start)
    return marks


@pytest.mark.slow
@pytest.mark.parametrize("name", variants(MOVES, ["back", "within", "chapter back", "room"]))
def test_nothing_is_read_early_or_lost_when_scenes_move(
    stated_folder: Path, readings_before: dict[Scene | None, dict[str, str]], tmp_path: Path, name: str
) -> None:
    """Every kind of statement is read where the order of scenes has it, and nowhere else; undo is exact."""
    shutil.copytree(stated_folder, tmp_path, dirs_exist_ok=True)
    with _open(tmp_path) as stores:
        _require_kept_order(Story(stores, "st"), readings_before, name)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("name", variants(["away", "chapter back", "room"]))
def test_nothing_is_read_early_or_lost_on_a_server(postgres_url: str, tmp_path: Path, name: str) -> None:
    """One move of each kind; the others read and write by the same statements."""
    with postgres_database(postgres_url) as url, _open(tmp_path, url) as stores:
        story = _fill(stores)
        for start in SAID_FROM:
            tell(story, start)
        _require_kept_order(story, {place: read(story, place) for place in [*PLACES, None]}, name)


def _require_kept_order(story: Story, before: dict[Scene | None, dict[str, str]], name: str) -> None:
    marks = _marks(before)
    act, relocation_of = MOVES[name]
    relocation = relocation_of()
    act(story)

    places = {place: relocation.places.get(place, place) for place in PLACES}
    texts = {place: read(story, places[place]) for place in PLACES}
    at_the_end = read(story, None)
    for start, mark in marks.items():
        before_it = [place for place in PLACES if place < start]
        together = start in places and _are_neighbours(places, before_it[-1], start)
        first = start if together else expected_start(PLACES, start, set(relocation.moved))
        for place, now in places.items():
            is_expected = first is not None and now >= places[first]
            is_read = {kind: mark in texts[place][kind] for kind in KINDS}
            assert is_read == dict.fromkeys(KINDS, is_expected), (name, mark, place, now)
        assert all(mark in text for text in at_the_end.values())

    [change, *_] = story.changes.list()
    story.undo(change.change_id)
    after = {place: read(story, place) for place in [*PLACES, None]}
    assert [(place, kind) for place in after for kind in KINDS if after[place][kind] != before[place][kind]] == []


def _are_neighbours(places: dict[Scene, Scene], first: Scene, second: Scene) -> bool:
    order = sorted(places.values())
    return order.index(places[second]) == order.index(places[first]) + 1


@pytest.mark.slow
def test_what_is_said_ahead_of_the_story_waits_for_its_position(story: Story) -> None:
    """Scenes that are written meanwhile do not read it, nor does it go along with the one before it."""
    mark = tell(story, (6, 2))
    for chapter, number in ((3, 4), (5, 1), (6, 1)):
        at = StoryPosition(chapter, number)
        assert not any(mark in text for text in read(story, (chapter, number)).values()), at
        scene = SceneInput(chapter_index=chapter, scene_index=number, text="More rain.")
        ingest_scenes(story._stores, "st", [scene], index=False)
        assert not any(mark in text for text in read(story, (chapter, number)).values()), at
    assert all(mark in text for text in read(story, (6, 2)).values())
    story.scenes.move("6:1", "1:1")
    assert not any(mark in text for text in read(story, (1, 2)).values())
    assert all(mark in text for text in read(story, None).values())


@pytest.mark.slow
def test_a_deleted_scene_leaves_positions_as_they_are(story: Story) -> None:
    """Nor does its coming back tie to it what was said from the next position on."""
    mark = tell(story, (2, 2))
    deleted = story.scenes.delete("2:1")
    assert all(mark in text for text in read(story, (2, 2)).values())
    assert not any(mark in text for text in read(story, (2, 1)).values())
    story.undo(deleted.change_id)
    story.scenes.move("2:1", "1:1")
    assert not any(mark in text for text in read(story, (1, 2)).values())


_moves = st.one_of(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)).map(lambda pair: scene_move(PLACES, *pair)),
    st.tuples(st.integers(1, 3), st.integers(1, 4)).map(lambda pair: chapter_move(PLACES, *pair)),
    st.sampled_from(PLACES).map(lambda place: scene_gap(PLACES, place)),
    st.integers(1, 3).map(lambda chapter: chapter_gap(PLACES, chapter)),
)


@given(relocation=_moves, place=st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(0, 4))))
def test_the_order_of_what_stays_is_kept(relocation: Relocation, place: tuple[int, int | None]) -> None:
    """For any move a place stays between its neighbours, or else between the scenes that stay."""
    order = StoryOrder(PLACES, relocation.places, moved_places=relocation.moved, chapter_of=relocation.chapter_of)
    moved_place = order.place_after_move(place)
    new = {old: relocation.places.get(old, old) for old in PLACES}
    reads = {old: StoryPosition(*old).admits(*place) for old in PLACES}
    around = [
        max((old for old in PLACES if not reads[old]), default=None),
        min((o for o in PLACES if reads[o]), default=None),
    ]
    is_between = None not in around and _are_neighbours(new, *around)
    for old in around if is_between else [old for old in PLACES if old not in relocation.moved]:
        assert StoryPosition(*new[old]).admits(*moved_place) == reads[old], (old, new[old], place, moved_place)


@given(st.permutations(PLACES))
def test_the_fewest_scenes_are_out_of_order(new: list[Scene]) -> None:
    """Without them the others keep their order, and none of them could stay."""
    moved = moved_out_of_order(PLACES, dict(zip(PLACES, new, strict=True)))
    stays = [now for place, now in zip(PLACES, new, strict=True) if place not in moved]
    assert stays == sorted(stays)
    longest = max(
        sum(1 for _ in kept)
        for size in range(len(PLACES) + 1)
        for kept in itertools.combinations(new, size)
        if list(kept) == sorted(kept)
    )
    assert len(stays) == longest
