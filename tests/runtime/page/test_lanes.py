"""The timeline's pictures: stretches of scenes, lanes with stays and marks, and who is named in which chapters."""

from collections.abc import Sequence
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from novelgen.models.state import StateChange
from novelgen.models.story_time import SceneTime
from runtime.page.scene_lanes import (
    MAX_HEAT_COLUMNS,
    MAX_LANES,
    WINDOW_SCENES,
    changes_in,
    heat_map,
    lane_picture,
    windows_of,
)
from runtime.story.states import StatedStretch

NAMES = {"C0": "Ines", "C1": "Reed", "L0": "the lock shop", "L1": "the bridge"}


def _scene(chapter: int, scene: int, location_id: str = "L0", *cast: str, day: int | None = None) -> SceneTime:
    return SceneTime(
        chapter_index=chapter,
        scene_index=scene,
        told_order=chapter * 1000 + scene,
        location_id=location_id,
        participants=list(cast),
        story_day=day,
    )


def _book(sizes: Sequence[int]) -> list[SceneTime]:
    return [_scene(chapter, number) for chapter, size in enumerate(sizes, 1) for number in range(size)]


def _change(who: str, attribute: str, value: Any, chapter: int, scene: int | None) -> StateChange:
    kind = "item" if who.startswith("I") else "character"
    return StateChange(
        entity_id=who, entity_type=kind, attribute=attribute, value=value, chapter_index=chapter, scene_index=scene
    )


@pytest.mark.slow
@given(st.lists(st.integers(1, 95), max_size=30), st.booleans())
def test_stretches_are_the_whole_story(sizes: list[int], is_told_order: bool) -> None:
    """Every scene is in one stretch, in order; none is too long, and a chapter that fits into one is not cut."""
    scenes = _book(sizes)
    windows = windows_of(scenes, is_told_order=is_told_order)
    assert [index for start, end in windows for index in range(start, end)] == list(range(len(scenes)))
    assert all(0 < end - start <= WINDOW_SCENES for start, end in windows)
    if is_told_order:
        chapters = [{each.chapter_index for each in scenes[start:end]} for start, end in windows]
        for chapter, size in enumerate(sizes, 1):
            if size <= WINDOW_SCENES:
                assert sum(chapter in each for each in chapters) == 1


def test_a_stay_lasts_until_somebody_moves() -> None:
    """Scenes side by side at one place are one stay; after another place it is a move, after an absence a gap."""
    told = [("L0", "C0"), ("L0", "C0"), ("L1", "C0"), ("L1", "C1"), ("L1", "C0")]
    scenes = [_scene(1, number, *each) for number, each in enumerate(told, start=1)]
    picture = lane_picture(scenes, [], NAMES)
    lane = picture.lanes[0]
    x = [each.x for each in picture.columns]
    assert [(each.start, each.end, each.location_id, each.is_move) for each in lane.stays] == [
        (x[0], x[1], "L0", False),
        (x[2], x[2], "L1", True),
        (x[4], x[4], "L1", False),
    ]
    assert [each.label for each in lane.stays] == ["the lock shop", "the bridge", ""]
    assert [each.entity_id for each in picture.lanes] == ["C0", "C1"]


def test_a_guessed_place_is_marked_in_the_picture() -> None:
    """The name of a place that rules guessed has a mark, and a place that is said begins a stay of its own."""
    said, guess = ["participants"], ["participants", "location_id"]
    scenes = [
        _scene(1, number, "L0", "C0").model_copy(update={"guessed": guessed})
        for number, guessed in enumerate([guess, guess, said, ["location_id"]], start=1)
    ]
    (lane,) = lane_picture(scenes, [], NAMES).lanes
    assert [(each.label, each.is_guess, each.is_move) for each in lane.stays] == [
        ("the lock shop?", True, False),
        ("the loc…", False, False),
        ("", True, False),
    ]


def test_chapters_and_days_are_written_where_they_change() -> None:
    """Those most on stage have lanes, the others are listed, and before the first scene there is nothing to draw."""
    scenes = [_scene(1, 1, day=1), _scene(1, 2, day=1), _scene(2, 1, day=3), _scene(2, 2)]
    columns = lane_picture(scenes, [], NAMES).columns
    assert [each.opens_chapter for each in columns] == [True, False, True, False]
    assert [each.opens_day for each in columns] == [True, False, True, False]
    cast = [f"C{number}" for number in range(MAX_LANES + 3)]
    names = {who: who for who in cast[:-1]}
    scenes = [_scene(1, number, "L0", *cast[: MAX_LANES + 3 - number]) for number in range(3)]
    picture = lane_picture(scenes, [], names)
    assert [each.entity_id for each in picture.lanes] == cast[:MAX_LANES]
    assert picture.left_out == cast[MAX_LANES:-1]
    assert windows_of([], is_told_order=True) == []
    assert lane_picture([], [], NAMES).lanes == []
    assert heat_map([], {}, NAMES).rows == {}


def test_a_thing_that_changes_hands_is_lost_and_got() -> None:
    """Saying again who has it is no change, and being where the scene plays is no journey."""
    scenes = [_scene(1, 1, "L0", "C0", "C1"), _scene(1, 2, "L0", "C0")]
    stretch = StatedStretch(
        changes=[_change("I0", "holder", "C0", 1, 1), _change("I0", "holder", "C1", 1, 1)], holders={"I0": "C0"}
    )
    assert [(each.who, each.kind) for each in changes_in(stretch, scenes)] == [("C0", "lost"), ("C1", "got")]
    scenes = [_scene(1, 1, "L0", "C0"), _scene(1, 2, "L1", "C0")]
    stretch = StatedStretch(changes=[_change("C0", "location_id", "L0", 1, 1), _change("C0", "goals", ["x"], 1, None)])
    assert [(each.place, each.kind) for each in changes_in(stretch, scenes)] == [((1, 2), "other_change")]


@pytest.mark.parametrize(
    ("attribute", "value", "kind"),
    [
        ("status", "dead", "died"),
        ("status", "alive after all", "returned"),
        ("physical_state", "a cut hand", "hurt"),
        ("knowledge", ["who did it"], "learnt"),
        ("location_id", "L1", "moved_away"),
        ("goals", ["to go home"], "other_change"),
    ],
)
def test_what_became_of_somebody_has_a_kind(attribute: str, value: Any, kind: str) -> None:
    """Deaths, wounds, knowledge and journeys are told apart, also for who is not on stage."""
    stretch = StatedStretch(changes=[_change("C1", attribute, value, 1, 1)])
    found = changes_in(stretch, [_scene(1, 1, "L0", "C0")])
    assert [each.kind for each in found] == [kind]
    picture = lane_picture([_scene(1, 1, "L0", "C0")], found, NAMES)
    assert [lane.entity_id for lane in picture.lanes] == ["C0", "C1"]
    assert picture.lanes[1].marks[0].kinds == [kind]
    assert (picture.lanes[1].died_at is not None) == (kind == "died")


def test_chapters_of_a_long_book_are_folded() -> None:
    """So many chapters stand in one column that all fit; counts and the way to the first scene are theirs together."""
    scenes = _book([2] * 100)
    named = {"C0": [(chapter, 1) for chapter in range(1, 101)], "C1": [(1, 0), (1, 1), (99, 0)], "C9": [(1, 1)]}
    heat = heat_map(scenes, named, NAMES, shown_places=frozenset([(4, 0)]))
    assert len(heat.columns) <= MAX_HEAT_COLUMNS
    assert [(each.first, each.last, each.start) for each in heat.columns[:2]] == [(1, 3, 0), (4, 6, 6)]
    assert [each.is_shown for each in heat.columns[:3]] == [False, True, False]
    assert list(heat.rows) == ["C0", "C1"]
    assert sum(heat.rows["C0"]) == 100
    assert heat.rows["C1"][0] == 2
    assert heat.levels[max(heat.levels)] == 5
