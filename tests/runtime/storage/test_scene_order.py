"""The arithmetic of moving scenes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.errors import UnknownSceneError
from runtime.storage.records import ScenePlace
from runtime.storage.scenes import Relocation, chapter_gap, chapter_move, scene_gap, scene_move

PLACES = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1)
PLACE = st.tuples(st.integers(0, 4), st.integers(0, 6))


def _after(places: set[ScenePlace], relocation: Relocation) -> dict[ScenePlace, ScenePlace]:
    return {place: relocation.places.get(place, place) for place in places}


@given(places=PLACES, target=PLACE, data=st.data())
def test_no_operation_puts_two_scenes_on_one_place(
    places: set[ScenePlace], target: ScenePlace, data: st.DataObject
) -> None:
    """Whatever is done, distinct scenes stay distinct and none is dropped."""
    source = data.draw(st.sampled_from(sorted(places)))
    for relocation in (
        scene_gap(places, target),
        chapter_gap(places, target[0]),
        scene_move(places, source, target),
        chapter_move(places, source[0], target[0]),
    ):
        new = _after(places, relocation)
        assert len(set(new.values())) == len(places)
        assert min(min(place) for place in new.values()) >= 0


@given(places=PLACES, target=PLACE)
def test_a_gap_is_free_and_keeps_the_order(places: set[ScenePlace], target: ScenePlace) -> None:
    """After it nothing stands there, and the scenes follow each other as before."""
    new = _after(places, scene_gap(places, target))

    assert target not in new.values()
    assert [new[place] for place in sorted(places)] == sorted(new.values())


@given(places=PLACES, target=PLACE, data=st.data())
def test_a_moved_scene_stands_at_its_target(places: set[ScenePlace], target: ScenePlace, data: st.DataObject) -> None:
    """And the others keep their order among themselves."""
    source = data.draw(st.sampled_from(sorted(places)))
    new = _after(places, scene_move(places, source, target))
    others = [new[place] for place in sorted(places) if place != source]

    assert new[source] == target
    assert others == sorted(others)


def test_a_chapter_moves_with_what_has_no_scene() -> None:
    """Something that stands in a chapter as a whole follows it."""
    relocation = chapter_move([(1, 1), (2, 1), (3, 1)], 1, 3)

    assert [relocation.of(chapter, None) for chapter in (1, 2, 3, 4)] == [(3, None), (1, None), (2, None), (4, None)]


def test_a_chapter_without_scenes_cannot_move() -> None:
    """The message names it."""
    with pytest.raises(UnknownSceneError, match="chapter 9 has no scene"):
        chapter_move([(1, 1)], 9, 1)
