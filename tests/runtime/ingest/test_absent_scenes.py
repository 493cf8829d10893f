"""Stored scenes that their chapter has no more."""

from __future__ import annotations

from novelgen.models.position import StoryPosition
from runtime.ingest.ingest import absent_scenes, ingest_scenes
from runtime.stores import MemoryStores
from tests.runtime.ingest.made_up_story import recorded_scenes, scene


def test_only_scenes_of_the_given_chapters_count(stores: MemoryStores, project: str) -> None:
    """A scene that its chapter lost is found; chapters that were not given are left out."""
    ingest_scenes(stores, project, recorded_scenes(), index=False)
    assert absent_scenes(stores, project, [scene(1, 1)]) == [StoryPosition(1, 2)]
    assert absent_scenes(stores, project, recorded_scenes()) == []
    assert absent_scenes(stores, project, []) == []
