"""Checks of drafts as methods of a story, with their async twins."""

from __future__ import annotations

import asyncio
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


def test_a_draft_is_checked(story: Story) -> None:
    """Sync and async say the same, and a plan that is none is refused."""
    check = story.check(DEAD_ACT, chapter_index=3, scene_index=1, scene_plan=PLAN, pov="Ilse Moor", use_model=False)
    assert [each.kind for each in check.issues] == ["dead_or_absent"]
    again = asyncio.run(story.acheck(DEAD_ACT, chapter_index=3, scene_index=1, scene_plan=PLAN, use_model=False))
    assert [each.issue_id for each in again.issues] == [each.issue_id for each in check.issues]
    with pytest.raises(UserInputError):
        story.check(DEAD_ACT, chapter_index=3, scene_index=1, scene_plan=7)


def test_what_is_stored_is_checked(story: Story) -> None:
    """The book, or one chapter of it."""
    assert [each.chapter_index for each in story.check_stored(use_model=False).checks] == [1, 2, 3]
    chapter = asyncio.run(story.acheck_stored(chapter_index=2, use_model=False, workers=2))
    assert [each.chapter_index for each in chapter.checks] == [2]


def test_a_finding_is_waived_and_told_again(story: Story) -> None:
    """The waiver is listed with its note while it holds."""
    [found] = story.check(DEAD_ACT, chapter_index=3, scene_index=1, use_model=False).issues
    story.waive_finding(found.issue_id, note="a dream")
    check = story.check(DEAD_ACT, chapter_index=3, scene_index=1, use_model=False)
    assert (check.issues, [each.waived_note for each in check.waived]) == ([], ["a dream"])
    assert [(each.issue_id, each.note) for each in story.waived_findings()] == [(found.issue_id, "a dream")]
    asyncio.run(story.aunwaive_finding(found.issue_id))
    assert asyncio.run(story.awaived_findings()) == []
    with pytest.raises(UserInputError):
        asyncio.run(story.awaive_finding("X1"))


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
