"""Checks of drafts as methods of a story, with their async twins."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.errors import UserInputError
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.story.drowned_story import DEAD_ACT, tell_drowned_story
from tests.support.scripted_chat_model import answering

PLAN = {"purpose": "breakfast", "characters": ["Ilse Moor"]}


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """The story in which Tobias drowns in 2:1."""
    with MemoryStores(load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:8"})) as stores:
        tell_drowned_story(stores, "mill")
        yield Story(stores, "mill")


def test_a_step_after_the_writer_checks_and_repairs(story: Story) -> None:
    """The draft comes out with its check; with a writer what was found is changed once, and checked again."""
    written = {"chapter_index": 3, "scene_index": 1, "draft": DEAD_ACT, "scene_plan": PLAN}
    checked = story.check_step(use_model=False).invoke(written)
    assert (checked.draft, len(checked.check.issues)) == (DEAD_ACT, 1)
    quote = checked.check.issues[0].draft_quote
    mended = {"passages": [{"id": ["K1"], "old": quote, "new": "Ilse Moor"}]}
    writer = answering(json.dumps(mended))
    repaired = story.check_step(writer=writer, repair=True, use_model=False).invoke(written)
    assert len(writer.prompts) == 1
    assert repaired.is_repaired
    assert repaired.check.issues == []
    with pytest.raises(UserInputError):
        story.check_step(repair=True)
