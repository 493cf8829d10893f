"""Stored rows are shown only when whole, of the project, and before the reader."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.models.position import StoryPosition
from runtime.index.rows import cut_key, decode_hit, decode_position, encode_metadata, encode_rows, may_be_shown
from tests.runtime.index.story_rows import make_row

chapters = st.one_of(st.none(), st.integers(0, 1_000_000))
scenes = st.one_of(st.none(), st.integers(0, 1_000_000))


def whole(**changes: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = encode_metadata(make_row("a", [1.0], position=(3, 2)))
    return metadata | changes


@given(chapters, scenes, chapters, scenes)
def test_the_cut_is_that_of_story_positions(
    chapter: int | None, scene: int | None, as_of_chapter: int | None, as_of_scene: int | None
) -> None:
    """One comparison of story keys says what StoryPosition.admits says, in every combination."""
    scene = scene if chapter is not None else None
    as_of = StoryPosition(as_of_chapter, as_of_scene if as_of_chapter is not None else None)
    metadata: dict[str, Any] = encode_metadata(make_row("a", [1.0], position=(chapter, scene)))
    assert decode_position(metadata) == (chapter, scene)
    key = cut_key(as_of)
    assert may_be_shown(metadata, project_id="demo", before_key=key) == as_of.admits(chapter, scene)
    if key is not None:
        assert (metadata["story_key"] < key) == as_of.admits(chapter, scene)


@pytest.mark.parametrize("key", list(whole()))
def test_a_row_that_lacks_a_key_is_not_shown(key: str) -> None:
    """Every key must be there: a missing one may have hidden a later position or another project."""
    metadata = {name: value for name, value in whole().items() if name != key}
    assert not may_be_shown(metadata, project_id="demo", before_key=None)


@pytest.mark.parametrize(
    "changes",
    [
        {"project_id": "other"},
        {"project_id": ["demo"]},
        {"chapter_index": "3"},
        {"chapter_index": 3.0},
        {"scene_index": True},
        {"story_key": None},
    ],
)
def test_foreign_and_mistyped_rows_are_not_shown(changes: dict[str, Any]) -> None:
    """A row of another project, or with a value of another type, is no row of ours."""
    assert may_be_shown(whole(), project_id="demo", before_key=None)
    assert not may_be_shown(whole(**changes), project_id="demo", before_key=None)


def test_rows_go_in_and_come_out_as_they_may_be_shown() -> None:
    """The position decides over a stored key, half characters are replaced, no sentinel leaves the room."""
    assert not may_be_shown(whole(story_key=-1), project_id="demo", before_key=cut_key(StoryPosition(3, 2)))
    columns = encode_rows([make_row("a", [1.0], content="林\ud800")], dimension=1)
    assert columns["documents"] == ["林?"]
    hit = decode_hit("a", "text", encode_metadata(make_row("a", [1.0], source_id=None)), similarity=1.0000001)
    assert (hit.source_id, hit.chunk_id, hit.similarity) == (None, "a", 1.0)
