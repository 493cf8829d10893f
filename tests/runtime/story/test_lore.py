"""A lorebook among the author's notes: what calls an entry, from where on, and how it goes in and out."""

import itertools
import json
from typing import Any

import pytest

from novelgen.errors import InvalidFileError, UserInputError
from novelgen.models.memory import BOOK
from runtime.stores import MemoryStores
from runtime.story.story import Story

_numbers = itertools.count(1)

WORLD = {
    "entries": {
        "0": {"key": ["灵石"], "comment": "灵石", "content": "一块灵石换一年口粮。"},
        "1": {"key": [], "comment": "天道", "content": "此界无人可飞升。", "constant": True},
        "2": {"key": ["魔教"], "comment": "魔教", "content": "魔教总坛在血海。", "disable": True},
        "3": {"key": ["坊市"], "content": "坊市三日一开。", "extensions": {"novelgen": {"from": "3:1"}}},
    }
}


@pytest.fixture
def story(stores: MemoryStores) -> Story:
    """An empty Chinese story with the lorebook."""
    project = f"lore-{next(_numbers)}"
    stores.create_project(project, language="zh")
    found = Story(stores, project)
    found.import_lore(json.dumps(WORLD))
    return found


def _read(story: Story, chapter: int, purpose: str) -> dict[str, Any]:
    context = story.context(chapter, 1, {"purpose": purpose})
    return {each.content: each for each in context.relevant_memories}


def _reasons(story: Story, chapter: int, purpose: str) -> dict[str, list[str]]:
    report = story.context(chapter, 1, {"purpose": purpose}).report
    notes = {each.note_id: each.title or each.text for each in story.lore()}
    return {
        notes[each.chunk_id]: [name for name in ("keyword", "pinned") if name in each.reasons]
        for each in report.items
        if each.chunk_id in notes
    }


def test_an_entry_is_read_at_its_key_or_always_and_never_before_its_place(story: Story) -> None:
    """The plan's words call it; one that is off, or of later chapters, stays away; all know what the lorebook says."""
    told = _reasons(story, 2, "林凡带着灵石去坊市，遇上魔教")
    assert told["灵石"] == ["keyword"]
    assert told["天道"] == ["pinned"]
    assert {"魔教", "坊市三日一开。"}.isdisjoint(told)
    assert _reasons(story, 3, "去坊市")["坊市三日一开。"] == ["keyword"]
    assert _reasons(story, 3, "夜里读书").get("灵石", []) == []
    [memory] = [each for text, each in _read(story, 2, "灵石").items() if "灵石" in text]
    assert BOOK in [each.id for each in memory.attached_to]


def test_a_note_is_an_entry_by_its_keys(story: Story) -> None:
    """What is noted with a key or as always read stands in the lorebook, and what is exported brings it back."""
    story.note("教主怕水。", keys=["教主"], start="14:1")
    story.note("月有两轮。", always=True)
    told = {each.text: each for each in story.lore()}
    assert (told["教主怕水。"].keys, told["教主怕水。"].start, told["月有两轮。"].always) == (["教主"], "14:1", True)
    assert "教主怕水。" not in [each.text for each in story.lore(as_of="14:0")]
    forms: tuple[Any, ...] = ("sillytavern", "novelai")
    for form in forms:
        again = story.import_lore(json.dumps(story.export_lore(form)))
        assert (again.added, again.were_there, again.change_id) == ([], 6, None)


def test_an_import_is_undone_whole(story: Story) -> None:
    """One change takes all entries back; what else is noted stays."""
    story.undo()
    assert story.lore() == []
    added = story.import_lore(json.dumps(WORLD), start="2:1")
    assert sorted(each.start for each in story.lore()) == ["2:1", "2:1", "2:1", "3:1"]
    assert added.change_id is not None
    story.undo(added.change_id)
    assert story.lore() == []


def test_what_is_no_lorebook_changes_nothing(story: Story) -> None:
    """Text that is no JSON and a position that is none are refused or told."""
    with pytest.raises(InvalidFileError, match="the lorebook is not JSON"):
        story.import_lore("{]")
    with pytest.raises(UserInputError, match="no lorebook"):
        story.import_lore("{}")
    entry = {"text": "Moss.", "keys": ["moss"], "extensions": {"novelgen": {"from": "soon"}}}
    taken = story.import_lore(json.dumps({"entries": [entry]}))
    assert len(taken.added) == 1
    assert "soon" in taken.issues[0].message
