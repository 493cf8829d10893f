"""Places that people are shown are scenes that stand there, or say after which scene."""

from types import SimpleNamespace

import pytest

from novelgen.models.memory import memory_place_text
from runtime.files.chapter_names import ChapterNames, TitledScene

NAMES = ChapterNames.of(TitledScene(chapter, scene, "") for chapter, scene in ((1, 1), (1, 2), (2, 1)))


@pytest.mark.parametrize(
    ("place", "shown"),
    [((1, 1), "1:2"), ((1, 2), "after 1:2"), ((2, 0), "2:1"), ((3, 0), "3:1"), ((2, 1), "after 2:1")],
)
def test_a_note_stands_where_it_begins(place: tuple[int, int], shown: str) -> None:
    """At no scene that is not there."""
    note = SimpleNamespace(chunk_id="note-N0", chapter_index=place[0], scene_index=place[1])
    assert memory_place_text(note, always="always", after="after {0}", is_scene=NAMES.has_scene) == shown


@pytest.mark.parametrize(("place", "shown"), [((2, 0), "2:1"), ((1, 2), "1:2"), ((2, None), "2")])
def test_no_place_is_before_the_first_scene_of_a_chapter(place: tuple[int, int | None], shown: str) -> None:
    """What stands at 2:0 is read on entering 2:1."""
    assert NAMES.place(*place) == shown


def test_a_scene_of_the_number_zero_stays_as_it_is() -> None:
    """Where an author counts from it."""
    assert ChapterNames.of([TitledScene(1, 0, "")]).place(1, 0) == "1:0"
